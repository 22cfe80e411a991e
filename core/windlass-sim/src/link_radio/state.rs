//! States of a cellular radio, as recorded for explanations.

/// State of a cellular radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RadioState {
    /// Power saving mode. A downlink packet waits until the device connects.
    Sleep,
    /// Without a connection. A downlink packet waits for the next paging occasion.
    Idle,
    /// Random access and set-up.
    Connecting,
    /// Frames pass.
    Connected,
    /// Without power.
    Off,
}
