//! State of a connection, its counters and the cause of its failure.

use crate::seq::Seq;

/// Connection states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// Cause of a connection's failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Too many transmissions of the SYN remained without a response.
    ConnectTimeout,
    /// Too many retransmissions of the same data.
    DataTimeout,
    /// Too many retransmissions of the FIN, after all data were acknowledged.
    FinTimeout,
    /// Too many probes of a closed window.
    ProbeTimeout,
    /// The peer sent a reset.
    Reset,
    /// The application aborted the connection.
    Aborted,
}

impl Failure {
    /// A sentence for users.
    pub fn describe(self) -> &'static str {
        match self {
            Failure::ConnectTimeout => "the connection attempt timed out",
            Failure::DataTimeout => "data went unacknowledged through all retransmissions",
            Failure::FinTimeout => {
                "the FIN went unacknowledged through all retransmissions, after all data had arrived"
            }
            Failure::ProbeTimeout => "the probes of the closed window had no answer",
            Failure::Reset => "the peer reset the connection",
            Failure::Aborted => "the application aborted the connection",
        }
    }
}

/// Counters of an endpoint since its creation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments of any kind sent.
    pub segments_sent: u64,
    /// Segments with payload sent, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes sent, retransmissions included.
    pub data_bytes: u64,
    /// Data segments retransmitted.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub rto_count: u64,
    /// Duplicate acknowledgements received.
    pub dup_acks: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Reductions of cwnd that were undone.
    pub undone: u64,
    /// Reductions of cwnd in response to an ECN echo.
    pub ecn_reductions: u64,
}

impl Stats {
    /// The sum of both.
    pub fn plus(&self, o: &Stats) -> Stats {
        Stats {
            segments_sent: self.segments_sent + o.segments_sent,
            data_segments: self.data_segments + o.data_segments,
            data_bytes: self.data_bytes + o.data_bytes,
            retransmits: self.retransmits + o.retransmits,
            fast_retransmits: self.fast_retransmits + o.fast_retransmits,
            rto_count: self.rto_count + o.rto_count,
            dup_acks: self.dup_acks + o.dup_acks,
            window_probes: self.window_probes + o.window_probes,
            undone: self.undone + o.undone,
            ecn_reductions: self.ecn_reductions + o.ecn_reductions,
        }
    }
}

/// A reset that waits to be sent: its sequence number and its acknowledgement number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reset {
    pub(super) seq: Seq,
    pub(super) ack: Option<Seq>,
    /// True if it carries timestamps (RFC 7323 section 3.2).
    pub(super) stamped: bool,
}

/// The application's side of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stream {
    /// One past the last byte that the application has offered.
    pub(super) end: u64,
    /// True if the application has closed: a FIN follows the offered data.
    pub(super) fin_queued: bool,
    /// True if the application has closed the receiving direction too (`SHUT_RD`).
    pub(super) shut_read: bool,
    /// True if the application has written data while none were outstanding, and none of these were sent.
    pub(super) resumed: bool,
}
