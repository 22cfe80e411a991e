//! Results of a run: totals of flows and links, time series, and the packet log.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windlass_cc::slow_start::SLOW_STARTS;
use windlass_cc::{ALGORITHMS, Span, Time};
use windlass_tcp::Segment;
use windlass_tcp::quick_start::Carried;

use crate::evidence::Decisions;
use crate::latency::{MessageResult, RttResult, TransitResult, or_infinite};
pub use crate::packet::PathPacket;
use crate::radio::results::is_zero;
pub use crate::radio::results::{RadioResult, RadioUse, StationResult};
pub use crate::session::ConnectionsResult;

/// Totals of one flow. `goodput` counts new payload bytes at the receiving application.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowResult {
    /// Name from the scenario.
    pub name: String,
    /// Algorithm identifier.
    pub algorithm: String,
    /// Time from the start of the flow to its end or to the end of the run, without a source's
    /// pauses. The end of the flow is the delivery of the last byte. For datagrams, it is not
    /// before the source stops.
    pub active_s: f64,
    /// New payload bytes delivered in order to the receiving application. For request and response,
    /// only the responses count.
    pub delivered_bytes: u64,
    /// `delivered_bytes · 8 / active_s`.
    pub goodput_bps: f64,
    /// Payload bits per second that the data sender put on its first link, including
    /// retransmissions.
    pub throughput_bps: f64,
    /// Data segments retransmitted by the data sender.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the data sender's retransmission timer, including the SYN's. If the receiver of
    /// the data opens the connection, the expiries at both ends count.
    pub rto_count: u64,
    /// True if the data sender does not count `fast_retransmits` and `rto_count`, as a QUIC library.
    /// They are then zero.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// Data segments that the data sender sent, including retransmissions.
    pub data_segments: u64,
    /// Packets of any kind that the data sender sent.
    pub packets_sent: u64,
    /// Packets of any kind that the data receiver sent.
    pub peer_packets_sent: u64,
    /// Share of the data sender's packets that the network dropped.
    pub loss_rate: f64,
    /// Smoothed RTT of the data sender at the end; `None` without a sample.
    pub srtt_ms: Option<f64>,
    /// Minimum RTT that the data sender measured.
    pub min_rtt_ms: Option<f64>,
    /// Congestion window of the data sender at the end, bytes.
    pub cwnd_bytes: u64,
    /// Time from the flow's start to the delivery of its last byte; `None` if the flow is
    /// unfinished or endless.
    pub completion_s: Option<f64>,
    /// Completion time of each request, in order.
    pub responses_s: Vec<f64>,
    /// Reason of the connection's failure; `None` without a failure.
    pub failure: Option<String>,
    /// RTT samples of its data sender; `None` unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Box<RttResult>>,
    /// Delays of its data packets; `None` unless requested.
    #[serde(default)]
    pub transit: Option<Box<TransitResult>>,
    /// Results of its messages; `None` if they have no deadline.
    #[serde(default)]
    pub messages: Option<Box<MessageResult>>,
    /// Results of its CoAP exchanges; `None` for other flows and for requests that are not
    /// confirmable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coap: Option<Box<CoapResult>>,
    /// Its connections; `None` for a flow without successive connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Box<ConnectionsResult>>,
    /// Use of the radios at its two ends during the run; `None` if neither node has a radio.
    #[serde(default)]
    pub radio: Option<RadioUse>,
    /// Results of the subflows of a multipath connection. The counts of the flow are their sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Box<MultipathResult>>,
}

/// Results of a flow's CoAP exchanges. The time of an exchange begins when the request is due, so
/// that it includes the wait for its turn. It ends with the response.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CoapResult {
    /// Exchanges begun.
    pub begun: u64,
    /// Exchanges with a response; part of `begun`.
    pub completed: u64,
    /// Exchanges given up after the last retransmission; part of `begun`.
    pub given_up: u64,
    /// Duplicate requests at the server.
    pub duplicates: u64,
    /// Mean time of the exchanges that ended. An exchange that was given up has an infinite time.
    /// In this field and the following fields, `None` means an infinite time if exchanges were
    /// given up, and no time otherwise.
    pub mean_ms: Option<f64>,
    /// Median time.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the time.
    pub p95_ms: Option<f64>,
    /// 99th percentile of the time.
    pub p99_ms: Option<f64>,
    /// Maximum time.
    pub max_ms: Option<f64>,
    /// Handshakes of the security layer that the server has acknowledged.
    #[serde(default)]
    pub handshakes: u64,
    /// UDP payload of the client's flights, repetitions included, bytes.
    #[serde(default)]
    pub handshake_bytes: u64,
}

impl CoapResult {
    /// One of the times, infinite if exchanges that were given up determine it; `None` without
    /// times.
    pub fn time(&self, ms: Option<f64>) -> Option<f64> {
        or_infinite(ms, self.given_up)
    }
}

/// Results of a multipath connection in addition to its flow's totals.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct MultipathResult {
    /// True if the connection fell back to ordinary TCP because the peer does not support Multipath
    /// TCP.
    pub fallen_back: bool,
    /// Parts of the stream that the data sender retransmitted on another subflow.
    pub reinjections: u64,
    /// Bytes of these parts.
    pub reinjected_bytes: u64,
    /// Reinjections of parts that blocked the receive window; part of `reinjections`.
    pub opportunistic: u64,
    /// Window reductions of a path that blocked the receive window.
    pub penalties: u64,
    /// Bytes that the redundant scheduler sent on additional subflows.
    pub redundant_bytes: u64,
    /// Bytes that the data receiver had already received on another subflow.
    pub duplicate_bytes: u64,
    /// Maximum number of bytes that waited at the data receiver for earlier bytes.
    pub max_out_of_order_bytes: u64,
    /// Successful joins of additional subflows.
    pub joins: u64,
    /// Attempts to join that failed.
    pub failed_joins: u64,
    /// Suspensions of subflows by the data sender after timeouts.
    pub suspensions: u64,
    /// Returns of suspended subflows.
    pub returns: u64,
    /// Subflows that ended before the connection did.
    pub lost_subflows: u64,
    /// One entry per subflow, in the scenario's order.
    pub subflows: Vec<SubflowResult>,
}

/// Totals of one subflow, with the definitions of [`FlowResult`].
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SubflowResult {
    /// Name from the scenario.
    pub name: String,
    /// Algorithm identifier.
    pub algorithm: String,
    /// Payload bytes that arrived in the subflow's order, including bytes that another subflow had
    /// delivered before.
    pub delivered_bytes: u64,
    /// `delivered_bytes · 8` over the flow's `active_s`.
    pub goodput_bps: f64,
    /// `delivered_bytes` over the sum of `delivered_bytes` of all the flow's subflows.
    pub share: f64,
    /// Payload bits per second that the data sender put on the path's first link.
    pub throughput_bps: f64,
    /// Data segments retransmitted on the subflow.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the subflow's retransmission timer, including the SYN's.
    pub rto_count: u64,
    /// Data segments sent, including retransmissions.
    pub data_segments: u64,
    /// Packets of any kind that the data sender sent on the path.
    pub packets_sent: u64,
    /// Packets of any kind that the data receiver sent on the path.
    pub peer_packets_sent: u64,
    /// Share of the data sender's packets that the network dropped.
    pub loss_rate: f64,
    /// Smoothed RTT at the end; `None` without a sample.
    pub srtt_ms: Option<f64>,
    /// Minimum RTT; `None` without a sample.
    pub min_rtt_ms: Option<f64>,
    /// Congestion window at the end, bytes.
    pub cwnd_bytes: u64,
    /// Last decision of the connection's coordinator for the subflow; 0 without a coordinator.
    pub mode: u64,
    /// Reason of the subflow's failure; `None` without a failure.
    pub failure: Option<String>,
}

impl FlowResult {
    /// Sets the active time of the flow, and recomputes the rates.
    pub fn set_active(&mut self, active_s: f64) {
        let sent_bits = self.throughput_bps * self.active_s;
        let rate = |bits: f64| if active_s > 0.0 { bits / active_s } else { 0.0 };
        self.active_s = active_s;
        self.throughput_bps = rate(sent_bits);
        self.goodput_bps = rate(self.delivered_bytes as f64 * 8.0);
    }
}

/// Totals of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkResult {
    /// `name:from>to`.
    pub name: String,
    /// Packets handed to the link.
    pub sent: u64,
    /// Packets that arrived at the far end.
    pub delivered: u64,
    /// Packets dropped for any reason.
    pub drops: u64,
    /// Packets dropped by the queue because it was full or because its discipline dropped them;
    /// part of `drops`.
    pub drops_queue: u64,
    /// Packets that the discipline dropped although the queue had room; part of `drops_queue`.
    #[serde(default)]
    pub drops_early: u64,
    /// Packets lost by the error model; part of `drops`.
    pub drops_error: u64,
    /// Acknowledgements that the link dropped in favour of newer acknowledgements; part of `drops`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drops_thinned: u64,
    /// Packets that the queue marked instead of dropping (ECN).
    #[serde(default)]
    pub marks: u64,
    /// Packets still queued or on the wire at the end.
    pub inside: u64,
    /// IP bytes handed to the link and not dropped by the queue.
    pub bytes: u64,
    /// Fraction of the run during which the link transmitted.
    pub utilisation: f64,
    /// Mean number of waiting packets over time.
    pub mean_queue_packets: f64,
    /// Mean queueing delay of the packets whose transmission began within the run, for any
    /// discipline.
    pub mean_queue_delay_ms: f64,
    /// Maximum number of packets that waited at the same time.
    pub max_queue_packets: u64,
}

/// One observation of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the observation.
    pub time: Time,
    /// Flow index. Indices above the flows are the subflows of all multipath flows in order, as
    /// [`Config::track`](crate::Config::track) numbers them.
    pub flow: u32,
    /// Observed series.
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
    /// Each RTT sample of the data sender, nanoseconds: of data without a retransmission.
    Rtt,
    /// Retransmission timeout of the data sender, nanoseconds.
    Rto,
    /// Latency of each message that arrives, nanoseconds, for traffic with a deadline.
    Latency,
    /// Highest stream offset acknowledged by the data receiver, bytes.
    AckNumber,
    /// Receive window that the data receiver advertised last, bytes.
    Rwnd,
    /// Payload bytes that have reached the receiving application.
    Delivered,
    /// Pacing rate of the data sender, payload bits per second; zero without pacing.
    Pacing,
    /// The field with this name in the inner state of the data sender's algorithm or slow start
    /// ([`windlass_cc::Info::trace`]), in the field's unit.
    State(&'static str),
    /// A request to record all such fields. Each sample is of one field.
    States,
}

impl Series {
    /// Every series that all algorithms have, with its column name. The name ends with the unit.
    pub const ALL: [(&'static str, Series); 11] = [
        ("cwnd_bytes", Series::Cwnd),
        ("ssthresh_bytes", Series::Ssthresh),
        ("in_flight_bytes", Series::InFlight),
        ("srtt_ns", Series::Srtt),
        ("rtt_ns", Series::Rtt),
        ("rto_ns", Series::Rto),
        ("latency_ns", Series::Latency),
        ("ack_number_bytes", Series::AckNumber),
        ("rwnd_bytes", Series::Rwnd),
        ("delivered_bytes", Series::Delivered),
        ("pacing_bps", Series::Pacing),
    ];

    /// Name of [`Series::States`], and prefix of the names of its fields.
    const STATE: &'static str = "state";

    /// Every series with its name: the series of [`Series::ALL`], `state` for all inner state, and
    /// `state.` with the name of each field that some algorithm or slow start has.
    pub fn known() -> Vec<(String, Series)> {
        let infos = ALGORITHMS.iter().chain(SLOW_STARTS);
        let mut fields: Vec<&'static str> = Vec::new();
        for field in infos.flat_map(|info| info.trace) {
            if !fields.contains(&field.name) {
                fields.push(field.name);
            }
        }
        let all = Series::ALL.iter().map(|(_, series)| *series).chain([Series::States]);
        let all = all.chain(fields.into_iter().map(Series::State));
        all.map(|series| (series.name().into_owned(), series)).collect()
    }

    /// The name, which is also the column name.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Series::States => Cow::Borrowed(Series::STATE),
            Series::State(field) => Cow::Owned(format!("{}.{field}", Series::STATE)),
            _ => {
                let named = Series::ALL.iter().find(|(_, series)| *series == self);
                Cow::Borrowed(named.map_or("", |(name, _)| name))
            }
        }
    }
}

/// Serialises the name, as in [`Series::known`].
impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Series {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Series, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let known = Series::ALL.iter().find(|(known, _)| *known == name).map(|(_, s)| *s);
        known
            .or_else(|| Series::known().into_iter().find(|(n, _)| *n == name).map(|(_, s)| s))
            .ok_or_else(|| serde::de::Error::custom(format!("unknown series `{name}`")))
    }
}

/// Event of a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PacketFate {
    /// Its transmission began.
    Sent,
    /// It arrived at the far end.
    Delivered,
    /// The queue was full, or its discipline dropped the packet.
    DroppedQueue,
    /// The error model lost the packet.
    DroppedError,
    /// An acknowledgement was dropped in favour of a newer acknowledgement.
    DroppedThinned,
}

/// One line of the packet log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketEvent {
    /// Time of the event.
    pub time: Time,
    /// Link direction.
    pub link: u32,
    /// Flow.
    pub flow: u32,
    /// True from the flow's `from` node to its `to` node.
    pub forward: bool,
    /// Kind of the event.
    pub fate: PacketFate,
    /// The segment, or `None` for a datagram.
    pub segment: Option<Segment>,
    /// IP packet size, bytes.
    pub ip_len: u32,
    /// Additional data of a multipath flow's packet.
    #[serde(default)]
    pub path: Option<PathPacket>,
    /// Quick-Start option and time to live of a packet with such an option.
    #[serde(default)]
    pub quick_start: Option<Carried>,
}

/// All results of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RunResult {
    /// Simulated time at the end.
    pub end: Time,
    /// Events processed.
    pub events: u64,
    /// Frames put on a link, and packets transmitted by a station of a radio, without retries.
    pub packet_hops: u64,
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One entry per link direction.
    pub links: Vec<LinkResult>,
    /// One entry per radio.
    #[serde(default)]
    pub radios: Vec<RadioResult>,
    /// Results of the messages of all flows with a deadline, together; `None` without such a flow.
    #[serde(default)]
    pub messages: Option<MessageResult>,
    /// Connections of all flows with successive connections; `None` without such a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<ConnectionsResult>,
    /// Time series in order of time; empty unless requested.
    pub samples: Vec<Sample>,
    /// Packet log in order of time; empty unless requested.
    pub packets: Vec<PacketEvent>,
    /// Counts by intervals of time; `None` unless requested.
    #[serde(default)]
    pub timeline: Option<Timeline>,
    /// Decisions of the senders with their reasons; `None` unless requested.
    #[serde(skip)]
    pub decisions: Option<Box<Decisions>>,
}

/// Counts by intervals of time, from the start of the run. An interval that the end of the run cuts
/// short is left out. An event at the end of an interval belongs to the interval.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of an interval, nanoseconds.
    pub bin: Span,
    /// One entry per flow.
    pub flows: Vec<FlowTimeline>,
    /// Packets dropped in each interval for any reason, by link direction.
    pub drops: Vec<Vec<u64>>,
    /// Packets that waited at the end of each interval, by link direction.
    #[serde(default)]
    pub waiting: Vec<Vec<u64>>,
}

/// Progress of a flow in each interval.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowTimeline {
    /// New payload bytes that reached the receiving application.
    pub delivered_bytes: Vec<u64>,
    /// Congestion window of the data sender at the end of the interval, bytes; zero for datagrams.
    pub cwnd_bytes: Vec<u64>,
}

/// `part / whole`, or zero if `whole` is zero.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
