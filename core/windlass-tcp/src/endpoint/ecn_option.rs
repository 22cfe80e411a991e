//! The use of accurate ECN's option (RFC 9768 section 3.2.3): counters of received bytes, the times at which they are
//! sent, and the counters that the peer reports.

use windlass_cc::{Span, Time};

use crate::accurate_option::{COUNTER_RANGE, EcnOption, EcnOrder};
use crate::segment::{Codepoint, MAX_SACK_BLOCKS};

/// Initial values of the counters of ECT(1), CE and ECT(0) on the wire (section 3.2.1). A middlebox that clears them is
/// recognised.
const INITIAL: [u32; 3] = [1, 0, 1];
/// Options per RTT without a change of a counter (section 3.2.3.3).
const BEACONS: u64 = 3;
/// Options after an event that the peer must not miss.
const REPEATED: u8 = 2;
/// No offset.
const NEVER: u64 = u64::MAX;

/// Fields that a peer's option has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Seen {
    /// No option has arrived.
    #[default]
    Nothing,
    /// An option has arrived, and its first counters were valid.
    Valid,
    /// The first counters were cleared on the way: options are ignored (section 3.2.3.2.4).
    Cleared,
}

/// State of the option at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EcnOptions {
    /// Payload received with ECT(1), CE and ECT(0), bytes.
    received: [u32; 3],
    /// Payload that the peer has received with these fields.
    delivered: [u32; 3],
    seen: Seen,
    /// True if this end's options do not arrive, so that it sends none.
    lost: bool,
    /// Number of counters that include each counter that has changed since the last option.
    needed: u8,
    /// Number of options to send even without a change.
    demanded: u8,
    /// Time of the last option.
    sent_at: Time,
    /// Offset that the last segment reported as a duplicate, if it had an option.
    with_duplicate: u64,
    /// True if the last acknowledgement had an option, so that the next option reports one acknowledgement.
    in_step: bool,
    /// True if the next segment has an option.
    pub(super) due: bool,
}

impl Default for EcnOptions {
    fn default() -> EcnOptions {
        EcnOptions {
            received: [0; 3],
            delivered: [0; 3],
            seen: Seen::Nothing,
            lost: false,
            needed: 0,
            demanded: 0,
            sent_at: Time::ZERO,
            with_duplicate: NEVER,
            in_step: false,
            due: false,
        }
    }
}

/// Place of a field's counter in kind 174.
fn place(field: Codepoint) -> Option<usize> {
    match field {
        Codepoint::NotEct => None,
        Codepoint::Ect1 => Some(0),
        Codepoint::Ce => Some(1),
        Codepoint::Ect0 => Some(2),
    }
}

impl EcnOptions {
    /// The option of a SYN-ACK.
    pub(super) fn initial() -> EcnOption {
        EcnOption::new(EcnOrder::Ect1First, &INITIAL)
    }

    /// Counts a segment's payload.
    pub(super) fn on_data(&mut self, field: Codepoint, len: u32) {
        if let Some(place) = place(field) {
            self.received[place] = self.received[place].wrapping_add(len);
            self.needed = self.needed.max(place as u8 + 1);
        }
    }

    /// Demands options after an event that the peer must not miss, such as the first mark.
    pub(super) fn demand(&mut self) {
        self.demanded = REPEATED;
    }

    /// Reads an option of the handshake, and answers it.
    pub(super) fn on_handshake(&mut self, option: Option<EcnOption>) {
        if let Some(option) = option {
            self.look(&option);
            self.demand();
        }
    }

    /// Looks at the first counters of the peer's first option.
    fn look(&mut self, option: &EcnOption) {
        if self.seen == Seen::Nothing {
            let [first, _, last] = option.by_field();
            let cleared = first == Some(0) || last == Some(0);
            self.seen = if cleared { Seen::Cleared } else { Seen::Valid };
        }
    }

    /// A duplicate of the data at this offset has arrived. If the peer retransmits data although the segment with the
    /// option has reported them, the option was dropped (section 3.2.3.2.2).
    pub(super) fn on_duplicate(&mut self, start: u64) {
        self.lost |= start == self.with_duplicate;
    }

    /// Reads the option of an acknowledgement. Returns the newly reported bytes with marks, or `None` if they do not
    /// belong to this acknowledgement alone.
    pub(super) fn on_ack(&mut self, option: Option<EcnOption>) -> Option<u64> {
        let in_step = std::mem::replace(&mut self.in_step, option.is_some());
        let option = option?;
        self.look(&option);
        if self.seen == Seen::Cleared {
            return None;
        }
        let before = self.delivered[1];
        let mut forward = true;
        for (place, counter) in option.by_field().into_iter().enumerate() {
            let Some(counter) = counter else { continue };
            let known = self.delivered[place].wrapping_add(INITIAL[place]);
            // A step of less than half the range is forward.
            let step = (counter.wrapping_sub(known) % COUNTER_RANGE) << 8;
            forward &= step as i32 >= 0;
            self.delivered[place] = self.delivered[place].wrapping_add((step as i32 >> 8) as u32);
        }
        let marked = self.delivered[1].wrapping_sub(before);
        (in_step && forward).then_some(marked.into())
    }

    /// Payload with ECT(1), CE and ECT(0) that the peer has reported, bytes.
    pub(super) fn delivered(&self) -> [u32; 3] {
        self.delivered
    }

    /// Decides on an option in the next segment. Linux adds one to each segment (`each`). RFC 9768 requires one after a
    /// change of a counter, after the handshake, and three per RTT.
    pub(super) fn plan(&mut self, now: Time, srtt: Span, each: bool) {
        let beacon = || {
            let gap = now.since(self.sent_at).0.saturating_mul(BEACONS);
            !srtt.is_known() || gap >= srtt.0
        };
        let useful = each || self.needed > 0 || self.demanded > 0 || beacon();
        self.due = useful && self.seen != Seen::Nothing && !self.lost;
    }

    /// Number of SACK blocks and of counters in a segment that has this number of blocks to report. Two blocks have
    /// precedence over counters; a third has not if a counter has changed that fits in its place.
    pub(super) fn fit(&self, blocks: usize) -> Option<(usize, usize)> {
        match (blocks, self.needed) {
            _ if !self.due => None,
            (0 | 1, _) => Some((blocks, 3)),
            (2, 0..=2) => Some((2, 2)),
            (MAX_SACK_BLOCKS, 1..=2) => Some((2, 2)),
            _ => None,
        }
    }

    /// The option with this number of counters, which is sent now. `duplicate` is the offset of duplicate data that the
    /// segment reports.
    pub(super) fn send(&mut self, now: Time, counters: usize, duplicate: Option<u64>) -> EcnOption {
        self.sent_at = now;
        self.needed = 0;
        self.demanded = self.demanded.saturating_sub(1);
        self.with_duplicate = duplicate.unwrap_or(NEVER);
        let values = [0, 1, 2].map(|place| self.received[place].wrapping_add(INITIAL[place]));
        EcnOption::new(EcnOrder::Ect1First, &values[..counters])
    }

    /// A segment without an option is sent.
    pub(super) fn send_nothing(&mut self) {
        self.with_duplicate = NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(order: EcnOrder, counters: &[u32]) -> Option<EcnOption> {
        Some(EcnOption::new(order, counters))
    }

    #[test]
    fn counters_of_both_orders_are_read_across_their_wrap() {
        let mut e = EcnOptions::default();
        assert_eq!(
            e.on_ack(option(EcnOrder::Ect0First, &[1, 0, 1])),
            None,
            "the first has no predecessor"
        );
        assert_eq!(e.on_ack(option(EcnOrder::Ect0First, &[1001, 500, 1])), Some(500));
        assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[2, 600])), Some(100));
        assert_eq!(e.delivered(), [1, 600, 1000]);
        for round in 1..10u32 {
            let marked = 600 + round * (COUNTER_RANGE / 2 - 1);
            let step = u64::from(COUNTER_RANGE / 2 - 1);
            assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[2, marked])), Some(step));
        }
    }

    #[test]
    fn an_older_option_and_the_one_after_a_gap_do_not_report_one_acknowledgement() {
        let mut e = EcnOptions::default();
        e.on_ack(option(EcnOrder::Ect1First, &[1, 1000, 1]));
        assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[1, 400, 1])), None, "backward");
        assert_eq!(e.on_ack(None), None);
        assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[1, 1400, 1])), None, "after a gap");
        assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[1, 1500, 1])), Some(100));
    }

    #[test]
    fn cleared_counters_are_ignored_from_then_on() {
        let mut e = EcnOptions::default();
        e.on_handshake(option(EcnOrder::Ect1First, &[0, 0, 0]));
        e.on_ack(option(EcnOrder::Ect1First, &[1, 0, 1]));
        assert_eq!(e.on_ack(option(EcnOrder::Ect1First, &[1, 900, 1])), None);
        assert_eq!(e.delivered(), [0; 3]);
    }

    #[test]
    fn an_end_that_counts_nothing_new_sends_three_options_per_rtt() {
        let rtt = Span::from_millis(90);
        let mut e = EcnOptions::default();
        let mut sent = 0;
        for ms in 0..900 {
            let now = Time(ms * 1_000_000);
            e.plan(now, rtt, false);
            assert!(!e.due || ms > 0, "none before the peer's first");
            if e.fit(0).is_some() {
                e.send(now, 3, None);
                sent += 1;
            }
            if ms == 0 {
                e.seen = Seen::Valid;
            }
        }
        assert_eq!(sent, 29, "each 30 ms from 30 ms on");
    }

    #[test]
    fn three_blocks_leave_room_for_changed_counters_only() {
        let mut e = EcnOptions { due: true, ..EcnOptions::default() };
        assert_eq!([1, 2, 3].map(|blocks| e.fit(blocks)), [Some((1, 3)), Some((2, 2)), None]);
        e.on_data(Codepoint::Ce, 100);
        assert_eq!([2, 3].map(|blocks| e.fit(blocks)), [Some((2, 2)), Some((2, 2))]);
        e.on_data(Codepoint::Ect0, 100);
        assert_eq!([1, 2, 3].map(|blocks| e.fit(blocks)), [Some((1, 3)), None, None]);
    }
}
