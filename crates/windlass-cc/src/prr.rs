//! Proportional rate reduction (RFC 9937): the window during fast recovery.

use crate::arithmetic::math::{div, divisor, mul};
use crate::event::{Ack, Conn};
use crate::setup::Counting;

/// State of one recovery. Volumes are the low halves of the host's counters, which only ever matter
/// as differences: a recovery may deliver 4 GiB, four times what a receive window can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Prr {
    /// RecoverFS: bytes outstanding and not yet delivered when recovery began.
    recover_fs: u32,
    /// [`Conn::delivered`] at that moment; `prr_delivered` counts from it.
    delivered: u32,
    /// [`Conn::sent`] at that moment; `prr_out` counts from it.
    sent: u32,
}

impl Prr {
    /// Of a new connection.
    pub fn new(c: &Conn) -> Prr {
        Prr { recover_fs: clamp(c.in_flight), delivered: c.delivered as u32, sent: c.sent as u32 }
    }

    /// Outside recovery: any acknowledgement may turn out to be the one that begins it, and what it
    /// delivers belongs to the recovery (RFC 9937 section 6).
    pub fn observe(&mut self, c: &Conn, a: &Ack) {
        *self = Prr {
            recover_fs: clamp(a.prior_in_flight),
            delivered: c.delivered.wrapping_sub(a.delivered) as u32,
            sent: c.sent as u32,
        };
    }

    /// Recovery is over: the next may follow at once, in answer to the same acknowledgement, whose `news` belong to it.
    pub fn leave(&mut self, c: &Conn, news: u64) {
        *self = Prr { delivered: c.delivered.wrapping_sub(news) as u32, ..Prr::new(c) };
    }

    /// Window in bytes on entering recovery with this `ssthresh` from the window `prior`. The first retransmission is always
    /// allowed. `safe` says that the acknowledgement delivers in order and shows no loss.
    ///
    /// A loss found by a timer has no acknowledgement that begins the recovery. What was sent since the
    /// last one, by limited transmit for instance, is outstanding too, and has used up what that one
    /// delivered: nothing is left of it to send for (RFC 9937 section 6 counts what is delivered in
    /// recovery). Linux counts one segment there (`tcp_rack_reo_timeout`), and holds what is delivered against the
    /// window before the cut in place of RecoverFS (`tcp_cwnd_reduction`).
    pub fn enter(
        &mut self,
        c: &Conn,
        prior: u64,
        ssthresh: u64,
        safe: bool,
        counting: Counting,
    ) -> u64 {
        let sent_since = (c.sent as u32).wrapping_sub(self.sent);
        let by_timer = sent_since > 0 || c.delivered as u32 == self.delivered;
        self.recover_fs = match counting {
            Counting::Bytes => self.recover_fs.saturating_add(sent_since),
            Counting::Segments => clamp(prior),
        };
        if by_timer {
            let counted = match counting {
                Counting::Bytes => 0,
                Counting::Segments => c.mss,
            };
            self.delivered = (c.delivered as u32).wrapping_sub(counted);
        }
        self.sent = c.sent as u32;
        let delivered = (c.delivered as u32).wrapping_sub(self.delivered);
        beyond(c, self.allowed(c, delivered, ssthresh, safe, counting), true)
    }

    /// Window in bytes after an acknowledgement during recovery.
    pub fn ack(&self, c: &Conn, a: &Ack, cwnd: u64, ssthresh: u64, counting: Counting) -> u64 {
        if a.delivered == 0 && (a.lost == 0 || counting == Counting::Segments) {
            return cwnd;
        }
        let safe = a.acked > 0 && a.lost == 0;
        let allowed = self.allowed(c, clamp(a.delivered), ssthresh, safe, counting);
        // The first transmission of a recovery is always allowed, and one that keeps the clock of
        // acknowledgements running when all else is lost.
        let must_send = c.sent as u32 == self.sent || c.in_flight == 0;
        beyond(c, allowed, must_send)
    }

    /// `sndcnt` of RFC 9937 section 6: bytes that may be sent now.
    fn allowed(
        &self,
        c: &Conn,
        delivered: u32,
        ssthresh: u64,
        safe: bool,
        counting: Counting,
    ) -> u32 {
        let prr_delivered = (c.delivered as u32).wrapping_sub(self.delivered);
        let prr_out = (c.sent as u32).wrapping_sub(self.sent);
        if c.in_flight > ssthresh {
            let fs = divisor(self.recover_fs.into());
            // Rounded up: one byte less than the divisor is added before the division.
            let share = div(mul(prr_delivered.into(), ssthresh).saturating_add(fs.get() - 1), fs);
            let mss = divisor(c.mss.into());
            let share = match counting {
                Counting::Bytes => share,
                Counting::Segments => mul(div(share.saturating_add(mss.get() - 1), mss), mss.get()),
            };
            return clamp(share).saturating_sub(prr_out);
        }
        let limit = prr_delivered.saturating_sub(prr_out).max(delivered);
        let limit = limit.saturating_add(if safe { c.mss } else { 0 });
        limit.min(clamp(ssthresh - c.in_flight))
    }
}

/// The window that allows so many bytes more than are in flight; a segment at least if the sender `must_send`.
#[inline(never)]
fn beyond(c: &Conn, allowed: u32, must_send: bool) -> u64 {
    let allowed = if must_send && allowed == 0 { c.mss } else { allowed };
    c.in_flight.saturating_add(allowed.into())
}

fn clamp(bytes: u64) -> u32 {
    bytes.min(u64::from(u32::MAX)) as u32
}
