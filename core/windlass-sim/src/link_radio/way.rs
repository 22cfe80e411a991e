//! Directions and times of frames.

use windlass_cc::{Span, Time};

/// Direction of a frame on a radio link. Its number is the index in pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// From the device to the network.
    Up,
    /// From the network to the device.
    Down,
}

impl Way {
    pub(crate) const BOTH: [Way; 2] = [Way::Up, Way::Down];

    pub(crate) fn other(self) -> Way {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

/// The later of a time and a time plus a span, which never overflows.
pub(super) fn after(time: Time, span: Span) -> Time {
    Time(time.0.saturating_add(span.0))
}
