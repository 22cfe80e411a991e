//! Data in: reassembly, acknowledgement policy and the receive window.

use windlass_cc::Time;

use super::{Endpoint, Profile};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// One past the last data byte received in order (the FIN is not data).
    pub(super) fn data_received(&self) -> u64 {
        match self.fin_at {
            Some(end) => self.rcv_nxt.min(end),
            None => self.rcv_nxt,
        }
    }

    /// Whether the peer's FIN has arrived, and everything before it.
    pub(super) fn fin_received(&self) -> bool {
        self.fin_at.is_some_and(|end| self.rcv_nxt > end)
    }

    /// Payload or FIN of an acceptable segment that starts at offset `start`.
    pub(super) fn on_data(&mut self, p: &Profile, now: Time, start: u64, s: &Segment) {
        let right = self.rcv_adv.max(self.rcv_nxt);
        let text_end = start + u64::from(s.len);
        if s.flags.has(Flags::FIN) && text_end <= right && self.fin_at.is_none() {
            self.fin_at = Some(text_end);
        }
        // Nothing can follow a FIN, whatever the peer says.
        let end = text_end.min(right).min(self.fin_at.unwrap_or(u64::MAX));
        let duplicate = end <= self.rcv_nxt && s.len > 0;
        if s.len > 0 {
            self.on_mark(p, s);
            if duplicate {
                self.acknowledge_quickly(p);
            } else {
                self.follow_stream(p, now, s, start <= self.rcv_nxt);
            }
        }
        self.note_duplicate(p, start, end);
        if start <= self.rcv_nxt {
            let had_gap = !self.ranges.is_empty();
            self.rcv_nxt = self.ranges.advance(self.rcv_nxt.max(end));
            // RFC 5681 section 4.2: at once when a gap is filled, wholly or in part.
            self.ack_now |= duplicate || had_gap;
            self.count_for_delayed_ack(p, now);
        } else {
            self.ranges.insert(start, end);
            self.report_hole(p, now);
        }
        if let Some(fin_at) = self.fin_at
            && self.rcv_nxt >= fin_at
        {
            self.rcv_nxt = fin_at + 1;
            self.ranges.clear();
            self.ack_now = true;
        }
    }

    /// RFC 2883 section 4: what arrives once more is reported, if SACK is in use.
    pub(super) fn note_duplicate(&mut self, p: &Profile, start: u64, end: u64) {
        if !self.sack || !p.stack.dsack {
            return;
        }
        let before = (start, end.min(self.rcv_nxt));
        let twice =
            if before.0 < before.1 { Some(before) } else { self.ranges.overlap(start, end) };
        self.dsack = twice.or(self.dsack);
    }

    /// RFC 1122 section 4.2.3.2.
    fn count_for_delayed_ack(&mut self, p: &Profile, now: Time) {
        self.unacked_segments += 1;
        if self.unacked_segments >= p.stack.delayed_ack_segments {
            self.ack_now = true;
        } else if self.delack_deadline.is_never() {
            self.delack_deadline = now + p.stack.delayed_ack_timeout;
        }
    }

    /// The application read: the window may have opened enough to say so. RFC 1122 section
    /// 4.2.3.3 asks for at least a segment or half the buffer; as in BSD it is two segments, so
    /// that an update does not double every acknowledgement.
    pub(super) fn after_read(&mut self, p: &Profile) {
        let opened = self.window_edge(p).saturating_sub(self.rcv_adv);
        let step = (2 * u64::from(self.mss)).min(p.stack.receive_buffer / 2).max(1);
        if opened >= step && !self.fin_received() {
            self.ack_now = true;
        }
    }

    /// Opens the window as far as it goes now; returns the header's field.
    pub(super) fn advance_window(&mut self, p: &Profile) -> u64 {
        let (field, edge) = if self.layer.on {
            self.layered_window()
        } else {
            let field = (self.window_edge(p) - self.rcv_nxt) >> self.rcv_scale;
            (field, self.rcv_nxt + (field << self.rcv_scale))
        };
        self.rcv_adv = self.rcv_adv.max(edge);
        field
    }

    /// Right edge of the window to advertise. It never moves back (RFC 9293 section 3.8.6), and
    /// moves on only by a worthwhile step.
    pub(super) fn window_edge(&self, p: &Profile) -> u64 {
        let held = self.rcv_nxt.saturating_sub(self.rcv_read);
        let free = p.stack.receive_buffer.saturating_sub(held);
        let most = 0xffff_u64 << self.rcv_scale;
        let edge = self.rcv_nxt + free.min(most).min(self.offered(p));
        let step = u64::from(self.mss).min(p.stack.receive_buffer / 2);
        // A FIN takes sequence space but no room: it may have passed the edge by one.
        let least = self.rcv_adv.max(self.rcv_nxt);
        if edge >= self.rcv_adv + step { edge.max(least) } else { least }
    }
}
