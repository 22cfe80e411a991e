//! Time of a link's radio in each state.

use windlass_cc::Span;

use super::config::Power;

/// State of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Transmit,
    Receive,
    Connect,
    Listen,
    Idle,
    Sleep,
    /// It has no power.
    Off,
}

/// Time in each state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times([u64; 7]);

impl Times {
    pub(crate) fn add(&mut self, state: State, time: Span) {
        self.0[state as usize] += time.0;
    }

    pub(crate) fn ns(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// Sum of all times, nanoseconds.
    pub(crate) fn all_ns(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Energy, femtojoules: a microwatt for a nanosecond is a femtojoule.
    pub(crate) fn spent_fj(&self, power: &Power) -> u128 {
        let Power { transmit_uw, receive_uw, connect_uw, listen_uw, idle_uw, sleep_uw } = *power;
        let powers = [transmit_uw, receive_uw, connect_uw, listen_uw, idle_uw, sleep_uw, 0];
        self.0.iter().zip(powers).map(|(ns, uw)| u128::from(*ns) * u128::from(uw)).sum()
    }
}

/// Time for which a receiver is on during the first `elapsed` of a pattern: it is on for `on` at
/// each multiple of `cycle`, except at the beginning.
pub(crate) fn on_time(elapsed: Span, cycle: Span, on: Span) -> Span {
    if elapsed < cycle {
        return Span::ZERO;
    }
    let (whole, rest) = (elapsed.0 / cycle.0, elapsed.0 % cycle.0);
    Span((whole - 1) * on.0 + rest.min(on.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_is_on_at_each_multiple_of_its_cycle() {
        let on = |elapsed| on_time(Span(elapsed), Span(10), Span(3)).0;
        let found: Vec<u64> = [0, 9, 10, 11, 13, 19, 20, 22, 35].into_iter().map(on).collect();
        assert_eq!(found, [0, 0, 0, 1, 3, 3, 3, 5, 9]);
    }
}
