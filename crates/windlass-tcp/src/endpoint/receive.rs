//! Data in: reassembly, acknowledgement policy and the receive window.

use windlass_cc::Time;

use super::autotune::Autotune;
use super::{Endpoint, Profile};
use crate::reassembly::Ranges;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::stack::Lies;

/// The receiving half of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The peer's initial sequence number.
    pub(super) irs: Seq,
    /// Everything below has arrived (RCV.NXT).
    pub(super) nxt: u64,
    /// One past the last byte that the application has read.
    pub(super) read: u64,
    /// Right edge of the window advertised last.
    pub(super) adv: u64,
    /// What has arrived beyond.
    pub(super) ranges: Ranges,
    pub(super) autotune: Autotune,
    /// Data that arrived once more, to be reported (RFC 2883).
    pub(super) dsack: Option<(u64, u64)>,
    /// Where the peer's FIN stands.
    pub(super) fin_at: Option<u64>,
    /// An acknowledgement is due now.
    pub(super) ack_now: bool,
    /// Segments received since the last acknowledgement was sent.
    pub(super) unacked_segments: u32,
    /// Offset that was acknowledged last.
    pub(super) last_ack_sent: u64,
    /// The peer's timestamp to echo (TS.Recent).
    pub(super) ts_recent: u32,
    /// When it was taken; it is worth nothing after 24 days (RFC 7323 section 5.5).
    pub(super) ts_recent_at: Time,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            irs: Seq(0),
            nxt: 0,
            read: 1,
            adv: 0,
            ranges: Ranges::default(),
            autotune: Autotune::default(),
            dsack: None,
            fin_at: None,
            ack_now: false,
            unacked_segments: 0,
            last_ack_sent: 0,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
        }
    }
}

impl Receiver {
    /// One past the last data byte received in order (the FIN is not data).
    pub(super) fn data_received(&self) -> u64 {
        match self.fin_at {
            Some(end) => self.nxt.min(end),
            None => self.nxt,
        }
    }

    /// Whether the peer's FIN has arrived, and everything before it.
    pub(super) fn fin_received(&self) -> bool {
        self.fin_at.is_some_and(|end| self.nxt > end)
    }
}

impl Endpoint {
    /// Payload or FIN of an acceptable segment that starts at offset `start`.
    pub(super) fn on_data(&mut self, p: &Profile, now: Time, start: u64, s: &Segment) {
        let right = self.recv.adv.max(self.recv.nxt);
        let text_end = start + u64::from(s.len);
        let hides = p.stack.lies == Lies::HidesLosses;
        let start = if hides { start.min(self.recv.nxt) } else { start };
        if s.flags.has(Flags::FIN) && text_end <= right && self.recv.fin_at.is_none() {
            self.recv.fin_at = Some(text_end);
        }
        // Nothing can follow a FIN, whatever the peer says.
        let end = text_end.min(right).min(self.recv.fin_at.unwrap_or(u64::MAX));
        let duplicate = end <= self.recv.nxt && s.len > 0;
        if s.len > 0 {
            self.on_mark(p, s);
            if duplicate {
                self.acknowledge_quickly(p);
            } else {
                self.follow_stream(p, now, s, start <= self.recv.nxt);
            }
        }
        self.note_duplicate(p, start, end);
        if start <= self.recv.nxt {
            let had_gap = !self.recv.ranges.is_empty();
            self.recv.nxt = self.recv.ranges.advance(self.recv.nxt.max(end));
            // RFC 5681 section 4.2: at once when a gap is filled, wholly or in part.
            self.recv.ack_now |= duplicate || had_gap;
            self.count_for_delayed_ack(p, now);
        } else {
            self.recv.ranges.insert(start, end);
            self.report_hole(p, now);
        }
        if let Some(fin_at) = self.recv.fin_at
            && self.recv.nxt >= fin_at
        {
            self.recv.nxt = fin_at + 1;
            self.recv.ranges.clear();
            self.recv.ack_now = true;
        }
    }

    /// RFC 2883 section 4: what arrives once more is reported, if SACK is in use.
    pub(super) fn note_duplicate(&mut self, p: &Profile, start: u64, end: u64) {
        if !self.agreed.sack || !p.stack.dsack {
            return;
        }
        let before = (start, end.min(self.recv.nxt));
        let twice =
            if before.0 < before.1 { Some(before) } else { self.recv.ranges.overlap(start, end) };
        self.recv.dsack = twice.or(self.recv.dsack);
    }

    /// RFC 1122 section 4.2.3.2.
    fn count_for_delayed_ack(&mut self, p: &Profile, now: Time) {
        self.recv.unacked_segments += 1;
        if self.recv.unacked_segments >= p.stack.delayed_ack_segments {
            self.recv.ack_now = true;
        } else if self.timers.delack.is_never() {
            self.timers.delack = now + p.stack.delayed_ack_timeout;
        }
    }

    /// The application read: the window may have opened enough to say so. RFC 1122 section
    /// 4.2.3.3 asks for at least a segment or half the buffer; as in BSD it is two segments, so
    /// that an update does not double every acknowledgement.
    pub(super) fn after_read(&mut self, p: &Profile) {
        let opened = self.window_edge(p).saturating_sub(self.recv.adv);
        let step = (2 * u64::from(self.agreed.mss)).min(p.stack.receive_buffer / 2).max(1);
        if opened >= step && !self.recv.fin_received() {
            self.recv.ack_now = true;
        }
    }

    /// Opens the window as far as it goes now; returns the header's field.
    #[inline]
    pub(super) fn advance_window(&mut self, p: &Profile) -> u64 {
        let (field, edge) = if self.layer.on {
            self.layered_window()
        } else {
            let field = (self.window_edge(p) - self.recv.nxt) >> self.agreed.rcv_scale;
            (field, self.recv.nxt + (field << self.agreed.rcv_scale))
        };
        self.recv.adv = self.recv.adv.max(edge);
        field
    }

    /// Right edge of the window to advertise. It never moves back (RFC 9293 section 3.8.6), and
    /// moves on only by a worthwhile step.
    pub(super) fn window_edge(&self, p: &Profile) -> u64 {
        let held = self.recv.nxt.saturating_sub(self.recv.read);
        let free = p.stack.receive_buffer.saturating_sub(held);
        let most = 0xffff_u64 << self.agreed.rcv_scale;
        let edge = self.recv.nxt + free.min(most).min(self.offered(p));
        let step = u64::from(self.agreed.mss).min(p.stack.receive_buffer / 2);
        // A FIN takes sequence space but no room: it may have passed the edge by one.
        let least = self.recv.adv.max(self.recv.nxt);
        if edge >= self.recv.adv + step { edge.max(least) } else { least }
    }
}
