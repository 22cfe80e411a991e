//! What a run yields: totals of flows and links, time series, and the packet log.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windlass_cc::slow_start::SLOW_STARTS;
use windlass_cc::{ALGORITHMS, Span, Time};
use windlass_tcp::Segment;
use windlass_tcp::quick_start::Carried;

use crate::evidence::Decisions;
use crate::latency::{MessageResult, TransitResult, or_infinite};
pub use crate::packet::PathPacket;
use crate::radio::results::is_zero;
pub use crate::radio::results::{RadioResult, RadioUse, StationResult};

/// Totals of one flow. `goodput` counts new payload bytes at the receiving application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Name from the scenario.
    pub name: String,
    /// Algorithm identifier.
    pub algorithm: String,
    /// Time from the start of the flow to its end (the last byte delivered; for datagrams not
    /// before the source stops), or to the end of the run, less a source's pauses.
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
    /// Delays of its data packets, `None` unless asked for.
    #[serde(default)]
    pub transit: Option<Box<TransitResult>>,
    /// What became of its messages, `None` where they have no deadline.
    #[serde(default)]
    pub messages: Option<Box<MessageResult>>,
    /// What became of its exchanges of CoAP; `None` of other flows, and where requests are not confirmable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coap: Option<Box<CoapResult>>,
    /// What the radios at its two ends did during the run; `None` if neither node has one.
    #[serde(default)]
    pub radio: Option<RadioUse>,
    /// Of a multipath connection: what its subflows did. The flow's own counts are their sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Box<MultipathResult>>,
}

/// What became of a flow's exchanges of CoAP. An exchange takes from when the request falls due, waiting for its turn included, to its
/// response.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CoapResult {
    /// Exchanges begun.
    pub begun: u64,
    /// Of these: their response has come.
    pub completed: u64,
    /// Of these: given up after the last retransmission.
    pub given_up: u64,
    /// Requests that came to the server again.
    pub duplicates: u64,
    /// Mean time of the exchanges that ended. An exchange given up takes infinitely long: `None`, as in all that follow, stands for an
    /// infinite time if exchanges were given up, and for no time at all otherwise.
    pub mean_ms: Option<f64>,
    /// Median time.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the time.
    pub p95_ms: Option<f64>,
    /// 99th percentile of the time.
    pub p99_ms: Option<f64>,
    /// Longest time.
    pub max_ms: Option<f64>,
}

impl CoapResult {
    /// One of the times, infinite where exchanges that were given up decide it; `None` without any.
    pub fn time(&self, ms: Option<f64>) -> Option<f64> {
        or_infinite(ms, self.given_up)
    }
}

/// What a multipath connection did beside its flow's totals.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct MultipathResult {
    /// Whether it went on as an ordinary connection, the peer not speaking Multipath TCP.
    pub fallen_back: bool,
    /// Pieces of the stream that the data sender gave to another subflow once more.
    pub reinjections: u64,
    /// Their bytes.
    pub reinjected_bytes: u64,
    /// Of `reinjections`, those that held up the receive window.
    pub opportunistic: u64,
    /// Reductions of the window of a path that held up the receive window.
    pub penalties: u64,
    /// Bytes that the redundant scheduler gave to a further subflow.
    pub redundant_bytes: u64,
    /// Bytes that the data receiver had already got by another subflow.
    pub duplicate_bytes: u64,
    /// Most bytes that waited at the data receiver for others before them.
    pub max_out_of_order_bytes: u64,
    /// Subflows that came up beside the first, each time that they did.
    pub joins: u64,
    /// Attempts to join that failed.
    pub failed_joins: u64,
    /// Subflows that the data sender took out of use after timeouts, each time that it did.
    pub suspensions: u64,
    /// Subflows that came back into use after that.
    pub returns: u64,
    /// Subflows that ended before the connection did.
    pub lost_subflows: u64,
    /// One entry a subflow, in the scenario's order.
    pub subflows: Vec<SubflowResult>,
}

/// Totals of one subflow, in the sense of [`FlowResult`].
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SubflowResult {
    /// Name from the scenario.
    pub name: String,
    /// Algorithm identifier.
    pub algorithm: String,
    /// Payload bytes that arrived in the subflow's order, whether or not they had come by another
    /// subflow before.
    pub delivered_bytes: u64,
    /// `delivered_bytes · 8` over the flow's `active_s`.
    pub goodput_bps: f64,
    /// `delivered_bytes` over that of all the flow's subflows.
    pub share: f64,
    /// Payload bits per second that the data sender put on the path's first link.
    pub throughput_bps: f64,
    /// Data segments retransmitted on the subflow.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the subflow's retransmission timer, SYN included.
    pub rto_count: u64,
    /// Data segments sent, retransmissions included.
    pub data_segments: u64,
    /// Packets of any kind that the data sender sent on the path.
    pub packets_sent: u64,
    /// Packets of any kind that the data receiver sent on the path.
    pub peer_packets_sent: u64,
    /// Packets of the data sender that the network dropped, over those it sent.
    pub loss_rate: f64,
    /// Smoothed RTT at the end, `None` without a sample.
    pub srtt_ms: Option<f64>,
    /// Least RTT, `None` without a sample.
    pub min_rtt_ms: Option<f64>,
    /// Congestion window at the end, bytes.
    pub cwnd_bytes: u64,
    /// What the connection's coordinator last decided for the subflow; 0 where there is none.
    pub mode: u64,
    /// Why the subflow failed, if it did.
    pub failure: Option<String>,
}

impl FlowResult {
    /// Sets the time for which the flow was active, and the rates that follow from it.
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
    /// Packets that came out at the far end.
    pub delivered: u64,
    /// Packets dropped, for any reason.
    pub drops: u64,
    /// Of `drops`: by the queue, for want of room or as its discipline decided.
    pub drops_queue: u64,
    /// Of `drops_queue`: there was room, and the discipline decided so.
    #[serde(default)]
    pub drops_early: u64,
    /// Of `drops`: lost to the error model.
    pub drops_error: u64,
    /// Of `drops`: acknowledgements that the link thinned out, a newer one going in their place.
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
    /// Mean packets waiting, over time.
    pub mean_queue_packets: f64,
    /// Mean wait of the packets whose transmission began within the run, whatever the queue's discipline.
    pub mean_queue_delay_ms: f64,
    /// Most packets that waited at once.
    pub max_queue_packets: u64,
}

/// One observation of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Flow index; beyond the flows, the subflows of all multipath flows in their order, as
    /// [`Config::track`](crate::Config::track) has them.
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
    /// Rate at which the data sender is paced, payload bits per second; zero for not at all.
    Pacing,
    /// The field of this name of the inner state of the data sender's algorithm or slow start
    /// ([`windlass_cc::Info::trace`]), in the field's unit.
    State(&'static str),
    /// To be recorded: every such field. A sample is always of one of them.
    States,
}

impl Series {
    /// Every series that all algorithms have, with its column name, whose ending is the unit.
    pub const ALL: [(&'static str, Series); 9] = [
        ("cwnd_bytes", Series::Cwnd),
        ("ssthresh_bytes", Series::Ssthresh),
        ("in_flight_bytes", Series::InFlight),
        ("srtt_ns", Series::Srtt),
        ("rto_ns", Series::Rto),
        ("ack_number_bytes", Series::AckNumber),
        ("rwnd_bytes", Series::Rwnd),
        ("delivered_bytes", Series::Delivered),
        ("pacing_bps", Series::Pacing),
    ];

    /// Name of [`Series::States`], and the beginning of the names of its fields.
    const STATE: &'static str = "state";

    /// Every series with its name: those of [`Series::ALL`], `state` for all inner state, and
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

    /// The name, which is that of the column.
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

/// By its name, as in [`Series::known`].
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
            .ok_or_else(|| serde::de::Error::custom(format!("no series is called `{name}`")))
    }
}

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PacketFate {
    /// Its transmission began.
    Sent,
    /// It came out at the far end.
    Delivered,
    /// The queue had no room, or its discipline decided so.
    DroppedQueue,
    /// The error model took it.
    DroppedError,
    /// An acknowledgement in whose place a newer one went on.
    DroppedThinned,
}

/// One line of the packet log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Of a multipath flow's packet: what it is besides.
    #[serde(default)]
    pub path: Option<PathPacket>,
    /// Of a packet with an option of Quick-Start: the option and the time to live.
    #[serde(default)]
    pub quick_start: Option<Carried>,
}

/// Everything that a run yields.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RunResult {
    /// Simulated time at the end.
    pub end: Time,
    /// Events processed.
    pub events: u64,
    /// Frames put on a link, and packets transmitted by a station of a radio, retries not counted.
    pub packet_hops: u64,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One entry a link direction.
    pub links: Vec<LinkResult>,
    /// One entry a radio.
    #[serde(default)]
    pub radios: Vec<RadioResult>,
    /// The messages of all flows that have a deadline, together; `None` without such a flow.
    #[serde(default)]
    pub messages: Option<MessageResult>,
    /// Time series in order of time, empty unless asked for.
    pub samples: Vec<Sample>,
    /// Packet log in order of time, empty unless asked for.
    pub packets: Vec<PacketEvent>,
    /// Counts by intervals of time, `None` unless asked for.
    #[serde(default)]
    pub timeline: Option<Timeline>,
    /// What senders decided and why, `None` unless asked for.
    #[serde(skip)]
    pub decisions: Option<Box<Decisions>>,
}

/// Counts by intervals of time, from the start of the run. An interval that the end of the run cuts
/// short is not among them; what happens at the end of one belongs to it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of an interval, nanoseconds.
    pub bin: Span,
    /// One entry a flow.
    pub flows: Vec<FlowTimeline>,
    /// Packets dropped in each interval, for whatever reason, by each link direction.
    pub drops: Vec<Vec<u64>>,
    /// Packets that waited at the end of each interval, at each link direction.
    #[serde(default)]
    pub waiting: Vec<Vec<u64>>,
}

/// What a flow did in each interval.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowTimeline {
    /// New payload bytes that reached the receiving application.
    pub delivered_bytes: Vec<u64>,
    /// Congestion window of the data sender at the end of the interval, bytes; zero for datagrams.
    pub cwnd_bytes: Vec<u64>,
}

/// A part of a whole, zero of nothing.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
