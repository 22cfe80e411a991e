//! What a run yields: totals of flows and links, time series, and the packet log.

use serde::{Deserialize, Serialize};
use windlass_cc::Time;
use windlass_tcp::Segment;

/// Totals of one flow. `goodput` counts new payload bytes at the receiving application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Name from the scenario.
    pub name: String,
    /// Algorithm identifier.
    pub algorithm: String,
    /// Time from the start of the flow to its end (the last byte delivered; for datagrams not
    /// before the source stops), or to the end of the run.
    pub active_s: f64,
    /// New payload bytes delivered in order to the receiving application, both directions of a
    /// request and response counted on the response only.
    pub delivered_bytes: u64,
    /// `delivered_bytes · 8 / active_s`.
    pub goodput_bps: f64,
    /// Payload bits per second that the data sender put on its first link, retransmissions
    /// included.
    pub throughput_bps: f64,
    /// Data segments retransmitted by the data sender.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the data sender's retransmission timer, SYN included; of both ends' where the
    /// receiver of the data asks for it.
    pub rto_count: u64,
    /// Data segments that the data sender sent, retransmissions included.
    pub data_segments: u64,
    /// Packets of any kind that the data sender sent.
    pub packets_sent: u64,
    /// Packets of any kind that the data receiver sent.
    pub peer_packets_sent: u64,
    /// Packets of the data sender that the network dropped, over those it sent.
    pub loss_rate: f64,
    /// Smoothed RTT of the data sender at the end, `None` without a sample.
    pub srtt_ms: Option<f64>,
    /// Least RTT that the data sender saw.
    pub min_rtt_ms: Option<f64>,
    /// Congestion window of the data sender at the end, bytes.
    pub cwnd_bytes: u64,
    /// Time from the flow's start to the delivery of its last byte, `None` while unfinished or
    /// endless.
    pub completion_s: Option<f64>,
    /// Completion time of each request, in order.
    pub responses_s: Vec<f64>,
    /// Why the connection failed, if it did.
    pub failure: Option<String>,
}

/// Totals of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkResult {
    /// `name:from>to`.
    pub name: String,
    /// Packets handed to the link.
    pub sent: u64,
    /// Packets that came out at the far end.
    pub delivered: u64,
    /// Packets dropped, for any reason.
    pub drops: u64,
    /// Of `drops`: no room in the queue.
    pub drops_queue: u64,
    /// Of `drops`: lost to the error model.
    pub drops_error: u64,
    /// Packets still queued or on the wire at the end.
    pub inside: u64,
    /// IP bytes handed to the link and not dropped by the queue.
    pub bytes: u64,
    /// Fraction of the run during which the link transmitted.
    pub utilisation: f64,
    /// Mean packets waiting.
    pub mean_queue_packets: f64,
    /// Mean wait of a packet before its transmission began.
    pub mean_queue_delay_ms: f64,
    /// Most packets that waited at once.
    pub max_queue_packets: u64,
}

/// One observation of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Flow index.
    pub flow: u32,
    /// What was observed.
    pub series: Series,
    /// Its value, in the series' unit.
    pub value: u64,
}

/// The observable series of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Series {
    /// Congestion window of the data sender, bytes.
    Cwnd,
    /// Slow-start threshold of the data sender, bytes.
    Ssthresh,
    /// Bytes in flight from the data sender.
    InFlight,
    /// Smoothed RTT of the data sender, nanoseconds.
    Srtt,
    /// Retransmission timeout of the data sender, nanoseconds.
    Rto,
    /// Highest stream offset acknowledged by the data receiver, bytes.
    AckNumber,
    /// Receive window that the data receiver advertised last, bytes.
    Rwnd,
    /// Payload bytes that have reached the receiving application.
    Delivered,
}

impl Series {
    /// Every series with its column name, whose ending is the unit.
    pub const ALL: [(&'static str, Series); 8] = [
        ("cwnd_bytes", Series::Cwnd),
        ("ssthresh_bytes", Series::Ssthresh),
        ("in_flight_bytes", Series::InFlight),
        ("srtt_ns", Series::Srtt),
        ("rto_ns", Series::Rto),
        ("ack_number_bytes", Series::AckNumber),
        ("rwnd_bytes", Series::Rwnd),
        ("delivered_bytes", Series::Delivered),
    ];
}

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketFate {
    /// Its transmission began.
    Sent,
    /// It came out at the far end.
    Delivered,
    /// The queue had no room.
    DroppedQueue,
    /// The error model took it.
    DroppedError,
}

/// One line of the packet log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketEvent {
    /// When.
    pub time: Time,
    /// Link direction.
    pub link: u32,
    /// Flow.
    pub flow: u32,
    /// True from the flow's `from` node to its `to` node.
    pub forward: bool,
    /// What happened.
    pub fate: PacketFate,
    /// The segment, or `None` for a datagram.
    pub segment: Option<Segment>,
    /// IP packet size, bytes.
    pub ip_len: u32,
}

/// Everything that a run yields.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunResult {
    /// Simulated time at the end.
    pub end: Time,
    /// Events processed.
    pub events: u64,
    /// Frames put on a link.
    pub packet_hops: u64,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One entry a link direction.
    pub links: Vec<LinkResult>,
    /// Time series in order of time, empty unless asked for.
    pub samples: Vec<Sample>,
    /// Packet log in order of time, empty unless asked for.
    pub packets: Vec<PacketEvent>,
}
