//! What a scheduler decides about: paths, data, and which data go where.

use windlass_cc::{CrossLayer, Span, Time};

/// A path as a scheduler sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathState {
    /// Which path it is.
    pub path: usize,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// The last round trip that data made; [`Span::NONE`] before there was one.
    pub rtt: Span,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Bytes in the network.
    pub in_flight: u64,
    /// Bytes that the path has got and that are not acknowledged on it.
    pub queued: u64,
    /// Largest payload of a segment, bytes.
    pub mss: u64,
    /// Payload of a segment that would leave at once, bytes; 0 if the path has to wait.
    pub room: u64,
    /// Data segments sent so far, retransmissions included.
    pub segments: u64,
    /// Of them, retransmissions.
    pub retransmits: u64,
    /// What the sending node's lower layers know of the path; `None` unless the scheduler
    /// [wants](crate::mptcp::Scheduler::wants_layers) it and has been told.
    pub layers: Option<CrossLayer>,
}

/// What is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// The moment.
    pub now: Time,
    /// Offset of the first byte that no path has got.
    pub next: u64,
    /// Offset up to which the receive window and the send buffer let data go.
    pub limit: u64,
    /// Everything below this offset is acknowledged.
    pub una: u64,
    /// Bytes that wait for a path, whether the windows let them go or not.
    pub unsent: u64,
    /// Window of the connection, bytes from `una` on.
    pub window: u64,
}

/// A piece of the stream for a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The path.
    pub path: usize,
    /// Offset of the first byte.
    pub start: u64,
    /// Bytes; no more than the path has room for.
    pub len: u64,
}

/// The path with the lowest round-trip time of those that have room.
pub fn lowest_rtt(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().filter(|p| p.room > 0).min_by_key(|p| (p.srtt, p.path))
}

/// The path with the lowest round-trip time of all.
pub fn fastest(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().min_by_key(|p| (p.srtt, p.path))
}
