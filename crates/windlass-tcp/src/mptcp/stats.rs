//! Counters of a multipath connection.

/// What a multipath connection has done since it was made, above its subflows. All volumes are
/// bytes of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MultipathStats {
    /// Bytes given to a subflow for the first time.
    pub first_bytes: u64,
    /// Mappings given to another subflow once more: after a timeout, after the end of a subflow, or
    /// because they held up the receive window.
    pub reinjections: u64,
    /// Their bytes.
    pub reinjected_bytes: u64,
    /// Of `reinjections`, those that held up the receive window.
    pub opportunistic: u64,
    /// Bytes that the redundant scheduler gave to a further subflow.
    pub redundant_bytes: u64,
    /// Bytes sent to probe a closed receive window.
    pub probe_bytes: u64,
    /// Reductions of the window of a path that held up the receive window.
    pub penalties: u64,
    /// Bytes that arrived on a subflow and had arrived before on another.
    pub duplicate_bytes: u64,
    /// Most bytes that waited in the receive buffer for earlier ones, subflows' own gaps included.
    pub max_out_of_order_bytes: u64,
    /// Subflows that came up beside the first.
    pub joins: u64,
    /// Attempts to join that failed.
    pub failed_joins: u64,
    /// Subflows that were taken out of use after timeouts.
    pub suspensions: u64,
    /// Subflows that came back into use after that.
    pub returns: u64,
    /// Subflows that ended before the connection did.
    pub lost_subflows: u64,
}
