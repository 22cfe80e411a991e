//! The record of decisions as a qlog file: draft-ietf-quic-qlog-main-schema-13 as JSON text sequences (RFC
//! 7464), with the recovery events of draft-ietf-quic-qlog-quic-events-12. [`super::qvis`] writes the same
//! events with older names.

use serde::Serialize;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Control, Phase, Span, Time};
use windlass_sim::Decided;
use windlass_tcp::{Cause, Decision, LossRule, LostSegment};

use super::Case;
use super::found::{Packet, cause, lost_packet};
use crate::run::VERSION;

/// First character of each record (RFC 7464).
const SEPARATOR: char = '\u{1e}';

#[derive(Serialize)]
struct Header<'a> {
    // The drafts require these two within the first 256 bytes.
    file_schema: &'static str,
    serialization_format: &'static str,
    title: &'a str,
    description: String,
    trace: Trace,
}

#[derive(Serialize)]
struct Trace {
    common_fields: CommonFields,
    event_schemas: [&'static str; 1],
}

#[derive(Serialize)]
struct CommonFields {
    time_format: &'static str,
    reference_time: ReferenceTime,
}

#[derive(Serialize)]
struct ReferenceTime {
    clock_type: &'static str,
    epoch: &'static str,
}

/// Names of the events.
pub(super) struct Names {
    pub metrics: &'static str,
    pub state: &'static str,
    pub lost: &'static str,
}

const NAMES: Names = Names {
    metrics: "quic:recovery_metrics_updated",
    state: "quic:congestion_state_updated",
    lost: "quic:packet_lost",
};

/// Events with their times, each of a sender.
pub(super) type Events<'a> = Vec<(Time, Event<'a>)>;

#[derive(Serialize)]
pub(super) struct Event<'a> {
    /// Milliseconds of simulated time.
    time: f64,
    name: &'static str,
    group_id: &'a str,
    data: Data,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Data {
    Metrics(Metrics),
    State {
        #[serde(skip_serializing_if = "Option::is_none")]
        old: Option<&'static str>,
        new: &'static str,
        trigger: &'static str,
    },
    Lost(Box<Lost>),
    Carried(Box<Carried>),
}

/// A packet that was sent or received.
#[derive(Serialize)]
pub(super) struct Carried {
    pub header: PacketHeader,
    pub raw: Raw,
    pub frames: Vec<Frame>,
}

#[derive(Serialize)]
pub(super) struct Raw {
    /// Length of the IP packet, bytes.
    pub length: u32,
}

#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "lowercase")]
pub(super) enum Frame {
    Stream { stream_id: u64, offset: u32, length: u32 },
    Ack { acked_ranges: Vec<[u64; 2]> },
}

/// Window and threshold in bytes, rate in bits per second, times in milliseconds.
#[derive(Serialize, Default)]
pub(super) struct Metrics {
    congestion_window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pacing_rate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pto_count: Option<u32>,
    /// The retransmission timeout, which QUIC does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    rto: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Lost {
    header: PacketHeader,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<&'static str>,
    #[serde(flatten)]
    packet: Packet,
}

/// A packet header of QUIC. A segment is most similar to a packet of type 1RTT.
#[derive(Serialize)]
pub(super) struct PacketHeader {
    packet_type: &'static str,
    packet_number: u64,
}

impl PacketHeader {
    pub(super) fn of(packet_number: u64) -> PacketHeader {
        PacketHeader { packet_type: "1RTT", packet_number }
    }
}

/// The decisions and losses of these senders, as the text of one `.sqlog` file. Each sender is a group.
pub fn qlog(case: &Case, senders: &[&Decided]) -> String {
    let names: Vec<String> = senders.iter().map(|s| case.name(s)).collect();
    let mut events = Vec::new();
    for (sender, name) in senders.iter().zip(&names) {
        // A sequence number is most similar to a packet number.
        losses(case, sender, name, &NAMES, |l| Some(l.seq.0.into()), &mut events);
        decisions(sender, name, &NAMES, &mut events);
    }
    file(&header(case), events)
}

/// A file of a header and its events.
pub(super) fn file(header: &impl Serialize, mut events: Events<'_>) -> String {
    // The sort is stable: events of a sender at one time keep their order, with losses before the reaction.
    events.sort_by_key(|(time, _)| *time);
    let mut out = record(header);
    for (_, event) in &events {
        out.push_str(&record(event));
    }
    out
}

fn record(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("a record is plain data");
    format!("{SEPARATOR}{text}\n")
}

fn header(case: &Case) -> Header<'_> {
    Header {
        file_schema: "urn:ietf:params:qlog:file:sequential",
        serialization_format: "application/qlog+json-seq",
        title: &case.scenario.name,
        description: description(case),
        trace: Trace {
            common_fields: CommonFields {
                time_format: "relative_to_epoch",
                reference_time: ReferenceTime { clock_type: "monotonic", epoch: "unknown" },
            },
            event_schemas: ["urn:ietf:params:qlog:events:quic-12"],
        },
    }
}

pub(super) fn description(case: &Case) -> String {
    format!("seed {}, Windlass {VERSION}", case.seed)
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

fn known(span: Span) -> Option<f64> {
    span.is_known().then_some(millis(span.0))
}

/// The losses of a sender. `number` returns the number of a segment's packet. A segment without a number is left out.
pub(super) fn losses<'a>(
    case: &Case,
    sender: &Decided,
    group: &'a str,
    names: &Names,
    number: impl Fn(&LostSegment) -> Option<u64>,
    out: &mut Events<'a>,
) {
    for lost in sender.journal.losses() {
        let Some(number) = number(lost) else { continue };
        let data = Data::Lost(Box::new(Lost {
            header: PacketHeader::of(number),
            trigger: trigger(lost),
            packet: lost_packet(case, lost, case.befell(sender, lost)),
        }));
        out.push(event(lost.time, names.lost, group, data));
    }
}

/// QUIC's name of the rule, if QUIC has such a rule.
fn trigger(lost: &LostSegment) -> Option<&'static str> {
    match lost.rule {
        LossRule::Duplicates | LossRule::Count => Some("reordering_threshold"),
        LossRule::Overtaken => Some("time_threshold"),
        LossRule::Timeout => Some("pto_expired"),
        LossRule::Partial | LossRule::GoBack => None,
    }
}

/// The decisions of a sender.
pub(super) fn decisions<'a>(sender: &Decided, group: &'a str, names: &Names, out: &mut Events<'a>) {
    let mut state = None;
    for d in sender.journal.decisions() {
        let new = state_after(d);
        if state != Some(new) {
            let data = Data::State { old: state.replace(new), new, trigger: cause(&d.cause) };
            out.push(event(d.since, names.state, group, data));
        }
        let mut add = |time: Time, metrics: Metrics| {
            out.push(event(time, names.metrics, group, Data::Metrics(metrics)));
        };
        // A decision over several acknowledgements also has an event at its start.
        if d.count > 1 {
            add(d.since, metrics(d.before));
        }
        add(d.time, metrics_after(d));
    }
}

/// An event and its time.
pub(super) fn event<'a>(
    time: Time,
    name: &'static str,
    group_id: &'a str,
    data: Data,
) -> (Time, Event<'a>) {
    (time, Event { time: millis(time.as_nanos()), name, group_id, data })
}

/// Name of the state. RFC 9002's names are used for its states.
fn state_after(d: &Decision) -> &'static str {
    match d.to {
        Phase::Open if d.after.cwnd < d.after.ssthresh => "slow_start",
        Phase::Open => "congestion_avoidance",
        Phase::Recovery => "recovery",
        Phase::Loss => "recovery_after_timeout",
        Phase::Cwr => "recovery_from_mark",
    }
}

fn metrics(control: Control) -> Metrics {
    Metrics {
        congestion_window: control.cwnd,
        ssthresh: (control.ssthresh < MAX_WINDOW).then_some(control.ssthresh),
        pacing_rate: (control.pacing.0 > 0).then(|| control.pacing.0.saturating_mul(8)),
        ..Metrics::default()
    }
}

fn metrics_after(d: &Decision) -> Metrics {
    let expiries = match d.cause {
        Cause::Timeout { expiries, .. } => Some(expiries),
        _ => None,
    };
    Metrics {
        bytes_in_flight: Some(d.flight_size),
        smoothed_rtt: known(d.srtt),
        pto_count: expiries,
        rto: known(d.rto),
        ..metrics(d.after)
    }
}
