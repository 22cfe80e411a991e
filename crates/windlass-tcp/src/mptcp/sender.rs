//! What is sent, at the level of the connection: the stream that waits, what the peer has
//! acknowledged of it and how far its window reaches (RFC 8684 sections 3.3.2 to 3.3.6). Offsets are
//! those of [`receiver`](super::receiver).

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

/// Part of the stream that goes once more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reinjection {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Paths that have it already, a bit each.
    pub(super) carried: u8,
    /// It holds up the receive window, and goes for that reason.
    pub(super) opportunistic: bool,
}

/// The sending half of a connection.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Everything below is acknowledged at data level.
    pub(super) una: u64,
    /// The first byte that no subflow has got yet.
    pub(super) next: u64,
    /// One past the last byte offered.
    pub(super) end: u64,
    /// No more will be offered.
    pub(super) closed: bool,
    /// Right edge of the peer's window.
    edge: u64,
    /// Largest window that the peer has told, bytes.
    most_window: u64,
    buffer: u64,
    reinjections: VecDeque<Reinjection>,
    /// When the DATA_FIN is retransmitted, and how often it went.
    pub(super) fin_at: Time,
    pub(super) fin_tries: u32,
    /// When a closed window is probed, and how often it was.
    pub(super) probe_at: Time,
    pub(super) probe_shift: u32,
    pub(super) probe_now: bool,
    /// When data that no subflow carries any more is retransmitted.
    pub(super) data_rto_at: Time,
    pub(super) data_rto_shift: u32,
    /// The acknowledgement at which it was last asked whether something holds up the window.
    pub(super) asked_at: u64,
}

/// New data that may go now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Demand {
    /// Bytes that send buffer and receive window let go.
    pub(super) sendable: u64,
    /// Bytes that wait.
    pub(super) unsent: u64,
    /// The receive window is what keeps the rest back.
    pub(super) window_limited: bool,
}

impl Sender {
    pub(super) fn new(buffer: u64) -> Sender {
        Sender {
            una: 1,
            next: 1,
            end: 1,
            closed: false,
            edge: 1,
            most_window: 0,
            buffer,
            reinjections: VecDeque::new(),
            fin_at: Time::NEVER,
            fin_tries: 0,
            probe_at: Time::NEVER,
            probe_shift: 0,
            probe_now: false,
            data_rto_at: Time::NEVER,
            data_rto_shift: 0,
            asked_at: 0,
        }
    }

    pub(super) fn offer(&mut self, bytes: u64) {
        if !self.closed {
            self.end = self.end.saturating_add(bytes).min(1 << 60);
        }
    }

    /// The peer's window reaches so far. The edge never moves back (RFC 8684 section 3.3.5: the
    /// greatest counts, since subflows overtake each other).
    pub(super) fn open_window(&mut self, from: u64, window: u64) {
        self.most_window = self.most_window.max(window);
        let edge = from + window;
        if edge > self.edge {
            self.edge = edge;
            self.stop_probing();
        }
    }

    fn stop_probing(&mut self) {
        self.probe_at = Time::NEVER;
        self.probe_shift = 0;
        self.probe_now = false;
    }

    /// The peer has everything below `ack`. Returns whether that is true and news.
    pub(super) fn on_data_ack(&mut self, ack: u64, window: u64) -> bool {
        if ack > self.highest() || ack < self.una {
            return false;
        }
        self.open_window(ack, window);
        let news = ack > self.una;
        if news {
            self.una = ack;
            self.next = self.next.max(ack.min(self.end));
            self.data_rto_at = Time::NEVER;
            self.data_rto_shift = 0;
            self.stop_probing();
            while self.reinjections.front().is_some_and(|a| a.end <= ack) {
                self.reinjections.pop_front();
            }
            if self.fin_is_acknowledged() {
                self.fin_at = Time::NEVER;
            }
        }
        news
    }

    /// One past the highest offset that the peer can have heard of.
    fn highest(&self) -> u64 {
        self.next + u64::from(self.fin_tries > 0 && self.next == self.end)
    }

    /// Whether all that was offered is acknowledged.
    pub(super) fn all_acknowledged(&self) -> bool {
        self.una >= self.end
    }

    /// Whether the DATA_FIN may go: all data is with the subflows, so that its place is known.
    pub(super) fn may_end(&self) -> bool {
        self.closed && self.next == self.end && !self.fin_is_acknowledged()
    }

    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.closed && self.una > self.end
    }

    /// Whether data is under way or waits for its acknowledgement.
    pub(super) fn is_outstanding(&self) -> bool {
        self.una < self.next
    }

    /// Window of the connection, bytes from what is acknowledged on: the smaller of the peer's and
    /// the send buffer.
    pub(super) fn window(&self) -> u64 {
        self.edge.saturating_sub(self.una).min(self.buffer)
    }

    /// What may go of what waits.
    pub(super) fn demand(&self) -> Demand {
        let unsent = self.end - self.next;
        let buffered = self.una.saturating_add(self.buffer).saturating_sub(self.next).min(unsent);
        let offered = self.edge.saturating_sub(self.next);
        Demand {
            sendable: buffered.min(offered),
            unsent: buffered,
            window_limited: offered < buffered,
        }
    }

    /// Whether a piece of `len` bytes, cut by no path, is worth a segment that can take `full`
    /// (RFC 1122 sections 4.2.3.3 and 4.2.3.4).
    pub(super) fn is_worthwhile(&self, len: u64, full: u64, unsent: u64, nagle: bool) -> bool {
        let last = len == unsent && (!nagle || !self.is_outstanding() || self.closed_by(len));
        len >= full || last || len * 2 >= self.most_window || self.probe_now
    }

    /// Whether the stream ends with the next `len` bytes.
    fn closed_by(&self, len: u64) -> bool {
        self.closed && self.next + len == self.end
    }

    /// Part of the stream is to go once more.
    pub(super) fn reinject(&mut self, again: Reinjection) {
        let start = again.start.max(self.una);
        if start < again.end {
            self.reinjections.push_back(Reinjection { start, ..again });
        }
    }

    /// A path is new or gone: nothing has been carried by it.
    pub(super) fn forget_carrier(&mut self, path: usize) {
        for again in &mut self.reinjections {
            again.carried &= !(1 << path);
        }
    }

    /// The first part that is to go once more and that some path of `paths` (a bit each) has not
    /// carried: its place and itself.
    pub(super) fn next_reinjection(&mut self, paths: u8) -> Option<(usize, Reinjection)> {
        let una = self.una;
        self.reinjections.retain(|a| a.end > una);
        let place = self.reinjections.iter().position(|a| paths & !a.carried != 0)?;
        let again = self.reinjections[place];
        Some((place, Reinjection { start: again.start.max(una), ..again }))
    }

    /// The first `len` bytes of the part at `place`, from `start` on, are with another path.
    pub(super) fn reinjected(&mut self, place: usize, start: u64, len: u64) {
        let again = &mut self.reinjections[place];
        again.start = start + len;
        if again.start >= again.end {
            self.reinjections.remove(place);
        }
    }

    /// Whether something waits to go once more, on whatever path.
    pub(super) fn has_reinjections(&self) -> bool {
        !self.reinjections.is_empty()
    }

    /// Whether something waits to go once more that some path of `paths` (a bit each) has not carried
    /// and will take.
    pub(super) fn has_reinjections_for(&mut self, paths: u8) -> bool {
        self.next_reinjection(paths).is_some()
    }

    pub(super) fn deadline(&self) -> Time {
        self.fin_at.min(self.probe_at).min(self.data_rto_at)
    }

    /// Arms the probe of a window that is closed while nothing is under way that would be answered.
    pub(super) fn watch_window(&mut self, now: Time, interval: Span, longest: Span) {
        let demand = self.demand();
        let closed = demand.unsent > 0 && !self.is_outstanding();
        if closed && self.probe_at.is_never() && !self.probe_now {
            let wait = interval.0.saturating_mul(1 << self.probe_shift.min(16)).min(longest.0);
            self.probe_at = now + Span(wait.max(1));
        } else if !closed {
            self.stop_probing();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_path_left_has_carried_waits_for_none_of_them() {
        let mut sender = Sender::new(1 << 20);
        sender.offer(1000);
        sender.next = 1001;
        sender.reinject(Reinjection { start: 1, end: 1001, carried: 0b10, opportunistic: false });
        assert!(sender.has_reinjections_for(0b01));
        assert!(!sender.has_reinjections_for(0b10), "only the path is left that has carried it");
        assert!(sender.has_reinjections());
        sender.reinject(Reinjection { start: 1, end: 1001, carried: 0, opportunistic: false });
        assert!(sender.has_reinjections_for(0b10));
        sender.on_data_ack(1001, 0);
        assert!(!sender.has_reinjections_for(0b11));
    }
}
