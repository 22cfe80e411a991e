//! What BBRv3 is doing, and what undoing a loss restores.

/// No bound.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// What the flow is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Doubling the rate each round to find the bandwidth.
    Startup,
    /// Emptying the queue that Startup filled.
    Drain,
    /// ProbeBW_DOWN: slower than the bandwidth, until queue and headroom are free.
    Down,
    /// ProbeBW_CRUISE: at the bandwidth, answering each loss.
    Cruise,
    /// ProbeBW_REFILL: at the bandwidth for a round, without the short-term bounds.
    Refill,
    /// ProbeBW_UP: faster, to find more.
    Up,
    /// Little in flight, to see the round-trip propagation time.
    ProbeRtt,
}

impl State {
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Accelerating: loss is expected and does not set short-term bounds.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// The model before the losses of the current recovery. Zero bounds restore nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub(super) struct Saved {
    pub(super) bw_shortterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    /// The accelerating state that the losses ended.
    pub(super) probing: Option<State>,
    /// It belongs to the current recovery.
    pub(super) current: bool,
}
