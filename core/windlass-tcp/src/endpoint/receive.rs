//! Processing of received data: reassembly, acknowledgement policy and the receive window.

use windlass_cc::Time;

use super::acks::Acks;
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
    /// Everything below this offset has arrived (RCV.NXT).
    pub(super) nxt: u64,
    /// One past the last byte that the application has read.
    pub(super) read: u64,
    /// Right edge of the window advertised last.
    pub(super) adv: u64,
    /// True if nothing has arrived or been read since the window was advertised.
    pub(super) advertised: bool,
    /// Ranges that have arrived above `nxt`.
    pub(super) ranges: Ranges,
    pub(super) autotune: Autotune,
    /// Range of duplicate data to report (RFC 2883).
    pub(super) dsack: Option<(u64, u64)>,
    /// Offset of the peer's FIN.
    pub(super) fin_at: Option<u64>,
    /// State of Linux's delayed acknowledgements.
    pub(super) acks: Acks,
    /// An acknowledgement of the data before the last segment.
    pub(super) flushed: Option<Segment>,
    /// True if an acknowledgement is due now.
    pub(super) ack_now: bool,
    /// Segments received since the last acknowledgement was sent.
    pub(super) unacked_segments: u32,
    /// Offset that was acknowledged last.
    pub(super) last_ack_sent: u64,
    /// The peer's timestamp to echo (TS.Recent).
    pub(super) ts_recent: u32,
    /// Time at which it was stored; it is invalid after 24 days (RFC 7323 section 5.5).
    pub(super) ts_recent_at: Time,
    /// Time of the last response to an unacceptable segment; [`Time::NEVER`] before the first.
    pub(super) challenged_at: Time,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            irs: Seq(0),
            nxt: 0,
            read: 1,
            adv: 0,
            advertised: false,
            ranges: Ranges::default(),
            autotune: Autotune::default(),
            dsack: None,
            fin_at: None,
            acks: Acks::default(),
            flushed: None,
            ack_now: false,
            unacked_segments: 0,
            last_ack_sent: 0,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            challenged_at: Time::NEVER,
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

    /// True if the peer's FIN and everything before it have arrived.
    pub(super) fn fin_received(&self) -> bool {
        self.fin_at.is_some_and(|end| self.nxt > end)
    }
}

impl Endpoint {
    /// Processes the payload or FIN of an acceptable segment that starts at offset `start`.
    pub(super) fn on_data(&mut self, p: &Profile, now: Time, start: u64, s: &Segment) {
        let right = self.recv.adv.max(self.recv.nxt);
        let text_end = start + u64::from(s.len);
        let hides = p.stack.lies == Lies::HidesLosses;
        let start = if hides { start.min(self.recv.nxt) } else { start };
        if s.flags.has(Flags::FIN) && text_end <= right && self.recv.fin_at.is_none() {
            self.recv.fin_at = Some(text_end);
        }
        // Data after a FIN are ignored.
        let end = text_end.min(right).min(self.recv.fin_at.unwrap_or(u64::MAX));
        let received = self.recv.nxt;
        let (duplicate, beyond) = (end <= self.recv.nxt && s.len > 0, start > self.recv.nxt);
        let echoed = self.ecn.echo;
        if s.len > 0 {
            self.on_mark(p, s);
            if duplicate || beyond {
                self.hasten_for_mark(p, s, echoed);
            }
            if duplicate {
                self.note_duplicate_for_ecn(start);
                self.acknowledge_quickly(p);
            } else {
                self.follow_stream(p, now, s);
            }
            // Without SACK an acknowledgement with a changed window is not a duplicate (RFC 5681 section 2),
            // and the sender must count duplicates (`tcp_data_queue_ofo`).
            if beyond && self.agreed.sack {
                self.grow_window(p, s);
            }
        }
        self.note_duplicate(p, start, end);
        if beyond {
            if self.recv.autotune.reports_wait() && self.recv.ranges.pushes_out(start, end) {
                // The waiting reports are sent before a third range hides them
                // (`tcp_sack_compress_send_ack`).
                self.recv.flushed = Some(self.acknowledgement(p, now));
            }
            // RFC 9293-3.10.7.4-SHLD-31
            self.recv.ranges.insert(start, end);
        } else {
            self.take_in_order(p, now, end, s, (!duplicate).then_some(echoed));
        }
        if let Some(fin_at) = self.recv.fin_at
            && self.recv.nxt >= fin_at
        {
            let fresh = received <= fin_at;
            self.recv.nxt = fin_at + 1;
            self.recv.ranges.clear();
            if fresh && self.on_fin(p, now) {
                return;
            }
        }
        self.acknowledge_data(p, now, beyond);
    }

    /// Processes data up to `end` that begin at or below RCV.NXT. `fresh` is `None` for a duplicate, and otherwise true
    /// if marks were echoed before.
    fn take_in_order(
        &mut self,
        p: &Profile,
        now: Time,
        end: u64,
        s: &Segment,
        fresh: Option<bool>,
    ) {
        let had_gap = !self.recv.ranges.is_empty();
        self.recv.nxt = self.recv.ranges.advance(self.recv.nxt.max(end));
        // RFC 5681 section 4.2: acknowledge at once if a gap is filled, completely or in part. Linux requires
        // the whole gap.
        // RFC 5681-3.2-2
        let filled = had_gap && (!p.stack.quick_acks || self.recv.ranges.is_empty());
        self.recv.ack_now |= fresh.is_none() || filled;
        if s.len > 0
            && let Some(echoed) = fresh
        {
            self.on_fresh_data(p, now, s);
            self.hasten_for_mark(p, s, echoed);
            self.grow_window(p, s);
        }
    }

    /// RFC 2883 section 4: records a duplicate for the next report, if SACK is in use.
    pub(super) fn note_duplicate(&mut self, p: &Profile, start: u64, end: u64) {
        if !self.agreed.sack || !p.stack.dsack {
            return;
        }
        let before = (start, end.min(self.recv.nxt));
        let twice =
            if before.0 < before.1 { Some(before) } else { self.recv.ranges.overlap(start, end) };
        self.recv.dsack = twice.or(self.recv.dsack);
    }

    /// Advances the receive window to its current maximum. Returns the header field.
    // RFC 7323-2.3-5
    #[inline]
    pub(super) fn advance_window(&mut self, p: &Profile) -> u64 {
        let (field, edge) = if self.layer.on {
            self.layered_window()
        } else {
            if self.recv.acks.are_quick() && self.autotunes(p) && self.memory_is_short(p) {
                self.recv.acks.end_quick();
            }
            let field = (self.window_edge(p) - self.recv.nxt) >> self.agreed.rcv_scale;
            (field, self.recv.nxt + (field << self.agreed.rcv_scale))
        };
        // RFC 7323-2.4-2, 7323-2.4-3
        self.recv.adv = self.recv.adv.max(edge);
        self.recv.advertised = true;
        field
    }

    /// Right edge of the window to advertise. It never moves back (RFC 9293 section 3.8.6), and advances only
    /// by at least a segment or half the buffer.
    // RFC 9293-3.8.6-SHLD-14
    pub(super) fn window_edge(&self, p: &Profile) -> u64 {
        let edge = self.recv.nxt + self.receive_room(p);
        // RFC 9293-3.8.6.2.2-MUST-39
        let step = u64::from(self.agreed.mss).min(p.stack.receive_buffer / 2);
        // A FIN takes sequence space but no buffer, so it may exceed the edge by one.
        let least = self.recv.adv.max(self.recv.nxt);
        if edge >= self.recv.adv + step { edge.max(least) } else { least }
    }

    /// Bytes that could be offered now, regardless of the window offered before.
    #[inline]
    pub(super) fn receive_room(&self, p: &Profile) -> u64 {
        let held = self.recv.nxt.saturating_sub(self.recv.read);
        let room = match self.autotunes(p) {
            true => self.window_by_memory(p),
            false => p.stack.receive_buffer.saturating_sub(held),
        };
        room.min(0xffff_u64 << self.agreed.rcv_scale)
    }
}
