//! States of BBRv3, and the values that the undo of a loss restores.

/// No bound.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// State of the state machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Doubling the rate each round to find the bandwidth.
    Startup,
    /// Draining the queue that Startup filled.
    Drain,
    /// ProbeBW_DOWN: sending below the bandwidth until queue and headroom are free.
    Down,
    /// ProbeBW_CRUISE: sending at the bandwidth, with a response to each loss.
    Cruise,
    /// ProbeBW_REFILL: sending at the bandwidth for a round, without the short-term bounds.
    Refill,
    /// ProbeBW_UP: sending above the bandwidth, to probe for more.
    Up,
    /// Small flight, to measure the round-trip propagation time.
    ProbeRtt,
}

impl State {
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// True if the state is accelerating: loss is expected and does not set short-term bounds.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// Model before the losses of the current recovery. Zero bounds restore no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub(super) struct Saved {
    pub(super) bw_shortterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    /// The accelerating state that the losses ended.
    pub(super) probing: Option<State>,
    /// True if the values belong to the current recovery.
    pub(super) current: bool,
}
