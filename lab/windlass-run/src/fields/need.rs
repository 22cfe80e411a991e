//! Properties that a scenario needs so that a field has a value.

/// A property that a scenario needs so that a field has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A connection over one path.
    Connection,
    /// The delay of each packet is measured.
    Delays,
    /// Losses and progress are counted per interval.
    Bins,
    /// Messages have a deadline.
    Deadline,
    /// A flow opens connections again, or has dialogues.
    Connections,
    /// A flow of CoAP has confirmable requests.
    Exchanges,
    /// The scenario has a Wi-Fi station.
    Radio,
    /// The power drawn by the radios is set.
    Power,
    /// A station has a battery.
    Battery,
    /// A routing protocol finds the routes.
    Routing,
    /// The runs have a warm-up. Only runs of a sweep have one.
    WarmUp,
}
