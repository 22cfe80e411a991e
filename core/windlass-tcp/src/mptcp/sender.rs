//! Transmission at the level of the connection: the waiting stream, the acknowledged data and the peer's
//! window (RFC 8684 sections 3.3.2 to 3.3.6). Offsets have the same origin as in
//! [`receiver`](super::receiver).

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

/// A part of the stream to retransmit on another path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reinjection {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Paths that have carried it already, as a bit mask.
    pub(super) carried: u8,
    /// True if it is reinjected because it blocks the receive window.
    pub(super) opportunistic: bool,
}

/// The sending half of a connection.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Everything below this offset is acknowledged at data level.
    pub(super) una: u64,
    /// The first byte that is not assigned to a subflow yet.
    pub(super) next: u64,
    /// One past the last byte offered.
    pub(super) end: u64,
    /// True if no more data will be offered.
    pub(super) closed: bool,
    /// Right edge of the peer's window.
    edge: u64,
    /// Largest window that the peer has announced, bytes.
    most_window: u64,
    buffer: u64,
    reinjections: VecDeque<Reinjection>,
    /// Time of the next retransmission of the DATA_FIN, and number of its transmissions.
    pub(super) fin_at: Time,
    pub(super) fin_tries: u32,
    /// Time of the next probe of a closed window, and number of probes.
    pub(super) probe_at: Time,
    pub(super) probe_shift: u32,
    pub(super) probe_now: bool,
    /// Time at which data that no subflow carries any more are retransmitted.
    pub(super) data_rto_at: Time,
    pub(super) data_rto_shift: u32,
    /// Acknowledged offset at the last check for data that block the receive window.
    pub(super) asked_at: u64,
}

/// New data that may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Demand {
    /// Bytes that the send buffer and the receive window allow.
    pub(super) sendable: u64,
    /// Bytes that wait.
    pub(super) unsent: u64,
    /// True if the receive window limits the sendable bytes.
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

    /// Extends the peer's window to `from + window`. The edge never moves back, because subflows overtake
    /// each other (RFC 8684 section 3.3.5: the largest edge counts).
    // RFC 8684-3.3.5-1
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

    /// Processes a data acknowledgement. Returns true if it is valid and acknowledges new data.
    // RFC 8684-3.3.2-3, 8684-4-1
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

    /// One past the highest offset that the peer may acknowledge.
    fn highest(&self) -> u64 {
        self.next + u64::from(self.fin_tries > 0 && self.next == self.end)
    }

    /// True if all offered data are acknowledged.
    pub(super) fn all_acknowledged(&self) -> bool {
        self.una >= self.end
    }

    /// True if the DATA_FIN may be sent: all data are assigned to subflows, so that its position is known.
    pub(super) fn may_end(&self) -> bool {
        self.closed && self.next == self.end && !self.fin_is_acknowledged()
    }

    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.closed && self.una > self.end
    }

    /// True if data are in flight or wait for their acknowledgement.
    pub(super) fn is_outstanding(&self) -> bool {
        self.una < self.next
    }

    /// Window of the connection, bytes from the acknowledged offset on: the smaller of the peer's window and
    /// the send buffer.
    pub(super) fn window(&self) -> u64 {
        self.edge.saturating_sub(self.una).min(self.buffer)
    }

    /// The part of the waiting data that may be sent.
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

    /// True if a piece of `len` bytes, not limited by a path, justifies a segment that can take `full` bytes
    /// (RFC 1122 sections 4.2.3.3 and 4.2.3.4).
    pub(super) fn is_worthwhile(&self, len: u64, full: u64, unsent: u64, nagle: bool) -> bool {
        let last = len == unsent && (!nagle || !self.is_outstanding() || self.closed_by(len));
        len >= full || last || len * 2 >= self.most_window || self.probe_now
    }

    /// True if the stream ends with the next `len` bytes.
    fn closed_by(&self, len: u64) -> bool {
        self.closed && self.next + len == self.end
    }

    /// Adds a part of the stream to the list of data to reinject.
    pub(super) fn reinject(&mut self, again: Reinjection) {
        let start = again.start.max(self.una);
        if start < again.end {
            self.reinjections.push_back(Reinjection { start, ..again });
        }
    }

    /// Notes that a path is new or gone: it has carried no data.
    pub(super) fn forget_carrier(&mut self, path: usize) {
        for again in &mut self.reinjections {
            again.carried &= !(1 << path);
        }
    }

    /// The first part to reinject that some path of the bit mask `paths` has not carried: its index and the
    /// part.
    pub(super) fn next_reinjection(&mut self, paths: u8) -> Option<(usize, Reinjection)> {
        let una = self.una;
        self.reinjections.retain(|a| a.end > una);
        let place = self.reinjections.iter().position(|a| paths & !a.carried != 0)?;
        let again = self.reinjections[place];
        Some((place, Reinjection { start: again.start.max(una), ..again }))
    }

    /// Notes that the first `len` bytes of the part at index `place`, from `start` on, are assigned to
    /// another path.
    pub(super) fn reinjected(&mut self, place: usize, start: u64, len: u64) {
        let again = &mut self.reinjections[place];
        again.start = start + len;
        if again.start >= again.end {
            self.reinjections.remove(place);
        }
    }

    /// True if data wait to be reinjected, on any path.
    pub(super) fn has_reinjections(&self) -> bool {
        !self.reinjections.is_empty()
    }

    /// True if data wait to be reinjected that some path of the bit mask `paths` has not carried.
    pub(super) fn has_reinjections_for(&mut self, paths: u8) -> bool {
        self.next_reinjection(paths).is_some()
    }

    pub(super) fn deadline(&self) -> Time {
        self.fin_at.min(self.probe_at).min(self.data_rto_at)
    }

    /// Sets the timer that probes a closed window, if no data are in flight that would be acknowledged.
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
    fn data_that_all_remaining_paths_have_carried_is_not_reinjected() {
        let mut sender = Sender::new(1 << 20);
        sender.offer(1000);
        sender.next = 1001;
        sender.reinject(Reinjection { start: 1, end: 1001, carried: 0b10, opportunistic: false });
        assert!(sender.has_reinjections_for(0b01));
        assert!(!sender.has_reinjections_for(0b10), "the only remaining path has carried it");
        assert!(sender.has_reinjections());
        sender.reinject(Reinjection { start: 1, end: 1001, carried: 0, opportunistic: false });
        assert!(sender.has_reinjections_for(0b10));
        sender.on_data_ack(1001, 0);
        assert!(!sender.has_reinjections_for(0b11));
    }

    /// A sender with 10 000 bytes to send, of which `sent` are assigned, and a window of `window` bytes.
    fn sender(sent: u64, window: u64) -> Sender {
        let mut sender = Sender::new(1 << 20);
        sender.offer(10_000);
        sender.next = 1 + sent;
        sender.open_window(1, window);
        sender
    }

    #[test]
    fn demand_is_the_smallest_of_stream_window_and_send_buffer() {
        let of = |s: &Sender| {
            let d = s.demand();
            (d.sendable, d.unsent, d.window_limited)
        };
        assert_eq!(of(&sender(0, 4_000)), (4_000, 10_000, true));
        assert_eq!(of(&sender(3_000, 4_000)), (1_000, 7_000, true));
        assert_eq!(of(&sender(4_000, 4_000)), (0, 6_000, true));
        assert_eq!(of(&sender(0, 10_000)), (10_000, 10_000, false));
        assert_eq!(of(&sender(0, 9_999)), (9_999, 10_000, true));
        let small = Sender { buffer: 2_500, ..sender(1_000, 20_000) };
        assert_eq!((of(&small), small.window()), ((1_500, 1_500, false), 2_500));
        assert_eq!(sender(1_000, 2_000).window(), 2_000);
    }

    /// RFC 1122 sections 4.2.3.3 and 4.2.3.4: a full segment, half of the largest window, or the last data.
    #[test]
    fn piece_is_sent_if_it_is_full_or_last_or_half_of_the_largest_window() {
        let worthwhile =
            |s: &Sender, len, nagle| s.is_worthwhile(len, 1_000, 10_000 + 1 - s.next, nagle);
        let quiet = sender(0, 5_000);
        assert!(worthwhile(&quiet, 1_000, true) && worthwhile(&quiet, 2_500, true));
        assert!(!worthwhile(&quiet, 999, true) && !worthwhile(&quiet, 999, false));
        let small = sender(0, 1_000);
        assert!(worthwhile(&small, 500, true) && !worthwhile(&small, 499, true));
        // The last 400 bytes wait by Nagle's rule for outstanding data, unless the stream ends with them.
        let mut end = sender(9_600, 5_000);
        assert!(!worthwhile(&end, 400, true) && worthwhile(&end, 400, false));
        assert!(!worthwhile(&end, 399, false), "not the last data");
        end.closed = true;
        assert!(worthwhile(&end, 400, true));
        end.closed = false;
        end.una = 9_601;
        assert!(worthwhile(&end, 400, true), "nothing is outstanding");
        end.una = 1;
        end.probe_now = true;
        assert!(worthwhile(&end, 1, true));
    }

    // RFC 8684-3.3.2-3
    #[test]
    fn acknowledgement_of_unsent_or_old_data_changes_nothing() {
        let mut s = sender(4_000, 5_000);
        assert!(!s.on_data_ack(4_002, 90_000), "one byte too far");
        assert!(s.on_data_ack(2_001, 5_000) && !s.on_data_ack(2_000, 90_000));
        assert_eq!((s.una, s.window()), (2_001, 5_000));
        assert!(!s.on_data_ack(2_001, 6_000), "no new data, but a larger window");
        assert_eq!(s.window(), 6_000);
        s.on_data_ack(2_001, 1_000);
        assert_eq!(s.window(), 6_000, "the edge never moves back");
        assert!(s.on_data_ack(4_001, 0));
        assert_eq!((s.window(), s.is_outstanding(), s.all_acknowledged()), (4_000, false, false));
    }

    // RFC 8684-3.3.3-1
    #[test]
    fn data_fin_is_acknowledged_only_after_it_was_sent() {
        let mut s = sender(10_000, 20_000);
        assert!(!s.may_end(), "the stream is open");
        s.closed = true;
        assert!(s.may_end());
        assert!(!s.on_data_ack(10_002, 20_000), "not sent yet");
        s.fin_tries = 1;
        s.fin_at = Time::from_secs(1);
        assert!(s.on_data_ack(10_001, 20_000) && !s.fin_is_acknowledged());
        assert_eq!((s.all_acknowledged(), s.deadline()), (true, Time::from_secs(1)));
        assert!(s.on_data_ack(10_002, 20_000) && s.fin_is_acknowledged() && !s.may_end());
        assert_eq!(s.deadline(), Time::NEVER);
        let early = Sender { closed: true, ..sender(9_999, 20_000) };
        assert!(!early.may_end(), "a byte is not assigned yet");
    }

    #[test]
    fn reinjected_data_leave_the_list_piece_by_piece_and_when_they_are_acknowledged() {
        let part = |start, end| Reinjection { start, end, carried: 0b01, opportunistic: false };
        let mut s = sender(10_000, 20_000);
        s.on_data_ack(1_001, 20_000);
        s.reinject(part(1, 1_001));
        assert!(!s.has_reinjections(), "acknowledged already");
        s.reinject(part(1, 3_001));
        s.reinject(part(3_001, 4_001));
        assert_eq!(s.next_reinjection(0b11), Some((0, part(1_001, 3_001))));
        s.reinjected(0, 1_001, 500);
        assert_eq!(s.next_reinjection(0b11), Some((0, part(1_501, 3_001))));
        s.reinjected(0, 1_501, 1_500);
        assert_eq!(s.next_reinjection(0b11), Some((0, part(3_001, 4_001))));
        s.on_data_ack(3_501, 20_000);
        assert_eq!(s.next_reinjection(0b11), Some((0, part(3_501, 4_001))));
        assert_eq!(s.next_reinjection(0b01), None, "this path has carried it");
        s.forget_carrier(1);
        assert_eq!(s.next_reinjection(0b01), None);
        s.forget_carrier(0);
        assert_eq!(s.next_reinjection(0b01).map(|(_, part)| part.carried), Some(0));
        s.on_data_ack(4_001, 20_000);
        assert!(!s.has_reinjections());
    }

    #[test]
    fn probe_timer_runs_only_while_the_window_is_closed_and_nothing_is_outstanding() {
        let second = Span::from_secs(1);
        let watch =
            |s: &mut Sender, at| s.watch_window(Time::from_secs(at), second, Span(5 * second.0));
        let mut s = sender(0, 0);
        watch(&mut s, 10);
        assert_eq!(s.deadline(), Time::from_secs(11));
        watch(&mut s, 11);
        assert_eq!(s.deadline(), Time::from_secs(11), "it is not moved");
        for (shift, expected) in [(1, 22), (2, 24), (3, 25), (40, 25)] {
            (s.probe_at, s.probe_shift) = (Time::NEVER, shift);
            watch(&mut s, 20);
            assert_eq!(s.deadline(), Time::from_secs(expected));
        }
        (s.probe_at, s.probe_now) = (Time::NEVER, true);
        watch(&mut s, 20);
        assert_eq!(s.deadline(), Time::NEVER, "a probe is about to be sent");
        s.open_window(1, 1_000);
        assert!(!s.probe_now && s.probe_shift == 0);
        s.next = 1_001;
        watch(&mut s, 20);
        assert_eq!(s.deadline(), Time::NEVER, "data are outstanding");
        let mut nothing = Sender::new(1 << 20);
        watch(&mut nothing, 10);
        assert_eq!(nothing.deadline(), Time::NEVER, "no data wait");
    }
}
