//! Input and output of a scheduler: paths, data, and assignments.

use windlass_cc::{CrossLayer, Span, Time};

/// The state of a path for a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathState {
    /// Number of the path.
    pub path: usize,
    /// Smoothed RTT (SRTT).
    pub srtt: Span,
    /// Mean deviation of the RTT.
    pub rttvar: Span,
    /// The last RTT sample of data; [`Span::NONE`] before the first.
    pub rtt: Span,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Bytes in the network.
    pub in_flight: u64,
    /// Bytes assigned to the path and not acknowledged on it.
    pub queued: u64,
    /// Largest payload of a segment, bytes.
    pub mss: u64,
    /// Payload of a segment that would be sent at once, bytes; 0 if the path must wait.
    pub room: u64,
    /// Data segments sent so far, retransmissions included.
    pub segments: u64,
    /// Retransmissions among these segments.
    pub retransmits: u64,
    /// The lower layers' state of the path; `None` unless the scheduler
    /// [needs](crate::mptcp::Scheduler::wants_layers) it and has received it.
    pub layers: Option<CrossLayer>,
}

/// The data to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// The current time.
    pub now: Time,
    /// Offset of the first byte that is not assigned to a path.
    pub next: u64,
    /// Offset up to which the receive window and the send buffer allow data.
    pub limit: u64,
    /// Everything below this offset is acknowledged.
    pub una: u64,
    /// Bytes that wait for a path, including bytes that the windows do not allow.
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
    /// Number of bytes; at most the path's space.
    pub len: u64,
}

/// The path with the lowest SRTT among the paths that have space.
pub fn lowest_rtt(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().filter(|p| p.room > 0).min_by_key(|p| (p.srtt, p.path))
}

/// The path with the lowest SRTT.
pub fn fastest(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().min_by_key(|p| (p.srtt, p.path))
}
