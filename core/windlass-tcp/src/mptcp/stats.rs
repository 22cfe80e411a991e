//! Counters of a multipath connection.

/// Counters of a multipath connection since its creation, above its subflows. All volumes are bytes of the
/// stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MultipathStats {
    /// Bytes assigned to a subflow for the first time.
    pub first_bytes: u64,
    /// Mappings reinjected on another subflow: after a timeout, after the end of a subflow, or because they
    /// blocked the receive window.
    pub reinjections: u64,
    /// Bytes of these mappings.
    pub reinjected_bytes: u64,
    /// Reinjections of mappings that blocked the receive window; a part of `reinjections`.
    pub opportunistic: u64,
    /// Bytes that the redundant scheduler assigned to an additional subflow.
    pub redundant_bytes: u64,
    /// Bytes sent to probe a closed receive window.
    pub probe_bytes: u64,
    /// Reductions of the cwnd of a path that blocked the receive window.
    pub penalties: u64,
    /// Bytes that arrived on a subflow and had arrived on another subflow before.
    pub duplicate_bytes: u64,
    /// Maximum number of bytes in the receive buffer that waited for earlier bytes, including gaps within
    /// subflows.
    pub max_out_of_order_bytes: u64,
    /// Subflows that were established in addition to the first.
    pub joins: u64,
    /// Attempts to join that failed.
    pub failed_joins: u64,
    /// Subflows that were suspended after timeouts.
    pub suspensions: u64,
    /// Suspended subflows that returned to use.
    pub returns: u64,
    /// Subflows that ended before the connection.
    pub lost_subflows: u64,
}
