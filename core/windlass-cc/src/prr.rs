//! Proportional rate reduction (RFC 9937): the window during fast recovery.

use crate::arithmetic::math::{div, divisor, mul};
use crate::event::{Ack, Conn};
use crate::setup::Counting;

/// State of one recovery. Volumes are the low halves of the host's counters, because only differences
/// matter: a recovery may deliver 4 GiB, four times the maximum receive window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Prr {
    /// RecoverFS: bytes outstanding and not yet delivered when recovery began.
    recover_fs: u32,
    /// [`Conn::delivered`] at the start of recovery; origin of `prr_delivered`.
    delivered: u32,
    /// [`Conn::sent`] at the start of recovery; origin of `prr_out`.
    sent: u32,
}

impl Prr {
    /// State of a new connection.
    pub fn new(c: &Conn) -> Prr {
        Prr { recover_fs: clamp(c.in_flight), delivered: c.delivered as u32, sent: c.sent as u32 }
    }

    /// Takes an acknowledgement outside recovery. It may begin a recovery, and then its delivered bytes
    /// belong to the recovery (RFC 9937 section 6).
    // RFC 9937-6.1-3
    pub fn observe(&mut self, c: &Conn, a: &Ack) {
        *self = Prr {
            recover_fs: clamp(a.prior_in_flight),
            delivered: c.delivered.wrapping_sub(a.delivered) as u32,
            sent: c.sent as u32,
        };
    }

    /// Ends a recovery. The next recovery may begin with the same acknowledgement, whose `news` bytes
    /// belong to it.
    pub fn leave(&mut self, c: &Conn, news: u64) {
        *self = Prr { delivered: c.delivered.wrapping_sub(news) as u32, ..Prr::new(c) };
    }

    /// Window in bytes at the start of recovery with this `ssthresh` from the window `prior`. The first
    /// retransmission is always allowed. `safe` is true if the acknowledgement delivers in order and
    /// shows no loss.
    ///
    /// A loss detected by a timer has no acknowledgement that begins the recovery. The data sent since
    /// the last acknowledgement, for example by limited transmit, is outstanding too. It has used up
    /// the bytes that this acknowledgement delivered, so that no further data may be sent for them (RFC
    /// 9937 section 6 counts the bytes delivered in recovery). Linux counts one segment in this case
    /// (`tcp_rack_reo_timeout`). It also compares the delivered bytes with the window before the cut
    /// instead of RecoverFS (`tcp_cwnd_reduction`).
    // RFC 9937-6.1-1
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

    /// Window in bytes at each acknowledgement in recovery.
    pub fn ack(&self, c: &Conn, a: &Ack, cwnd: u64, ssthresh: u64, counting: Counting) -> u64 {
        if a.delivered == 0 && (a.lost == 0 || counting == Counting::Segments) {
            return cwnd;
        }
        // RFC 9937-6.2-4
        let safe = a.acked > 0 && a.lost == 0;
        let allowed = self.allowed(c, clamp(a.delivered), ssthresh, safe, counting);
        // Two transmissions are always allowed: the first of a recovery, and one if all other data is
        // lost, which keeps the acknowledgements coming.
        // RFC 9937-6.2-7
        let must_send = c.sent as u32 == self.sent || c.in_flight == 0;
        beyond(c, allowed, must_send)
    }

    /// `sndcnt` of RFC 9937 section 6: the number of bytes that may be sent now.
    fn allowed(
        &self,
        c: &Conn,
        delivered: u32,
        ssthresh: u64,
        safe: bool,
        counting: Counting,
    ) -> u32 {
        let prr_delivered = (c.delivered as u32).wrapping_sub(self.delivered);
        // RFC 9937-6.3-1
        let prr_out = (c.sent as u32).wrapping_sub(self.sent);
        if c.in_flight > ssthresh {
            let fs = divisor(self.recover_fs.into());
            // Rounded up: the dividend is increased by the divisor minus one.
            // RFC 9937-6.2-5
            let share = div(mul(prr_delivered.into(), ssthresh).saturating_add(fs.get() - 1), fs);
            let mss = divisor(c.mss.into());
            let share = match counting {
                Counting::Bytes => share,
                Counting::Segments => mul(div(share.saturating_add(mss.get() - 1), mss), mss.get()),
            };
            return clamp(share).saturating_sub(prr_out);
        }
        // RFC 9937-6.2-6
        let limit = prr_delivered.saturating_sub(prr_out).max(delivered);
        let limit = limit.saturating_add(if safe { c.mss } else { 0 });
        limit.min(clamp(ssthresh - c.in_flight))
    }
}

/// The window that allows `allowed` bytes more than the flight, at least a segment if the sender
/// `must_send`.
// RFC 9937-6.2-8
#[inline(never)]
fn beyond(c: &Conn, allowed: u32, must_send: bool) -> u64 {
    let allowed = if must_send && allowed == 0 { c.mss } else { allowed };
    c.in_flight.saturating_add(allowed.into())
}

fn clamp(bytes: u64) -> u32 {
    bytes.min(u64::from(u32::MAX)) as u32
}
