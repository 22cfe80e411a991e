//! The tolerance in time. A kernel's timers expire at ticks, and up to an eighth of their time late.

use windlass_cc::{Span, Time};

/// A kernel's timer may be early by a tick of 4 ms, since the tick in which it was set has begun.
pub(super) const EARLY: Span = Span::from_millis(5);
/// A kernel's timer may be late by a tick, and its packet by the time of the work before it.
const LATE: Span = Span::from_millis(10);
/// Longer timers expire up to an eighth of their time late.
const WHEEL: u64 = 8;

/// How late a kernel may send a segment after a wait.
pub(super) fn late(wait: Span) -> Span {
    let wheel = if wait < Span::from_millis(240) { 0 } else { wait.0 / WHEEL };
    Span(LATE.0 + wheel)
}

/// Returns a later time at which an event does not race a timer that is set for `deadline`. `last` is the
/// latest possible time at which the timer was set.
pub(super) fn beside(at: Time, deadline: Time, last: Time) -> Time {
    if deadline.is_never() {
        return at;
    }
    let first = Time(deadline.0.saturating_sub(EARLY.0 + 1_000_000));
    let past = deadline + late(deadline.since(last));
    if first <= at && at <= past { Time((past.0 / 1_000_000 + 1) * 1_000_000) } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_near_a_timer_is_moved_after_it_and_other_events_keep_their_time() {
        let at = |ms| beside(Time::from_millis(ms), Time::from_millis(300), Time::from_millis(100));
        assert_eq!(at(280), Time::from_millis(280));
        assert_eq!(at(296), Time::from_millis(311));
        assert_eq!(at(305), Time::from_millis(311));
        assert_eq!(at(320), Time::from_millis(320));
        let never = beside(Time::from_millis(5), Time::NEVER, Time::ZERO);
        assert_eq!(never, Time::from_millis(5));
    }
}
