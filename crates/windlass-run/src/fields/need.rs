//! What a scenario must have for a field to have a value.

/// What a scenario must have for a field to have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A connection over one path.
    Connection,
    /// The delay of each packet is measured.
    Delays,
    /// Losses and progress are counted by intervals.
    Bins,
    /// Messages have a deadline.
    Deadline,
    /// A flow of CoAP has confirmable requests.
    Exchanges,
    /// There is a Wi-Fi station.
    Radio,
    /// It is said what a radio draws.
    Power,
    /// A station has a battery.
    Battery,
    /// Packets find their own way.
    Routing,
    /// The runs have a warm-up, which only those of a sweep have.
    WarmUp,
}
