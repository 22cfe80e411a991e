//! Reductions as data for JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_cc::Time;
use windlass_sim::{Fate, Incident};
use windlass_tcp::{Cause, LossRule, LostSegment};

use super::{Case, Reduction, sentences};

/// A reduction and its causes.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The flow, or flow and subflow.
    pub flow: String,
    /// Its algorithm.
    pub algorithm: String,
    /// Simulated time of the (first) decision, seconds.
    pub time_s: f64,
    /// Cause: `losses`, `timeout`, `mark`, `probe`, `idle`, `coupling` or `algorithm`.
    pub cause: &'static str,
    /// Congestion window before.
    pub cwnd_before_bytes: u64,
    /// Congestion window after.
    pub cwnd_after_bytes: u64,
    /// Slow-start threshold before.
    pub ssthresh_before_bytes: u64,
    /// Slow-start threshold after.
    pub ssthresh_after_bytes: u64,
    /// Segments deemed lost, and their fates.
    pub lost: Vec<Packet>,
    /// Number of the flow's acknowledgements that were dropped since the first of these transmissions.
    pub acks_dropped: usize,
    /// Packets marked since the last reaction to a mark.
    pub marked: Vec<Packet>,
    /// End of the recovery, seconds.
    pub recovered_s: Option<f64>,
    /// Time at which the reduction was undone as spurious, seconds.
    pub undone_s: Option<f64>,
    /// The explanation in sentences.
    pub sentences: Vec<String>,
}

/// A packet that caused a reduction.
#[derive(Clone, Debug, Serialize)]
pub struct Packet {
    /// Sequence number on the wire.
    pub seq: u32,
    /// Bytes of sequence space.
    pub len: u32,
    /// Time of transmission, seconds.
    pub sent_s: f64,
    /// Rule by which it was deemed lost: `duplicates`, `count`, `overtaken`, `partial`, `timeout` or `go
    /// back`. Null if it was not deemed lost.
    pub rule: Option<&'static str>,
    /// Fate in the network. Null if the network neither dropped nor marked it.
    pub fate: Option<&'static str>,
    /// Time of the fate, seconds.
    pub fate_s: Option<f64>,
    /// The link direction, `name:from>to`. Null on a radio.
    pub link: Option<String>,
    /// The queue's content at this time.
    pub queue: Option<FilledBy>,
}

/// Content of a queue.
#[derive(Clone, Debug, Serialize)]
pub struct FilledBy {
    /// Number of packets.
    pub packets: u64,
    /// IP bytes.
    pub bytes: u64,
    /// Packets by flow, for the 32 flows with the most packets.
    pub by_flow: BTreeMap<String, u32>,
}

fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e9
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::QueueFull => "queue full",
        Fate::Discipline => "queue discipline",
        Fate::LinkError => "lost on the link",
        Fate::StationRefused => "refused by a station",
        Fate::RetryLimit => "retry limit",
        Fate::StationOff => "station off",
        Fate::NoRoute => "no route",
        Fate::Marked => "marked",
    }
}

/// Name of a decision's cause.
pub(super) fn cause(cause: &Cause) -> &'static str {
    match cause {
        Cause::Acks => "algorithm",
        Cause::Losses => "losses",
        Cause::Timeout { .. } => "timeout",
        Cause::Echo => "mark",
        Cause::RepairedByProbe => "probe",
        Cause::Idle(_) => "idle",
        Cause::Coupling => "coupling",
        Cause::RecoveryEnds => "recovery ends",
        Cause::Undo(_) => "undo",
        Cause::Handshake => "handshake",
        Cause::ProbeTimer => "probe timer",
        Cause::PersistTimer => "persist timer",
    }
}

fn rule(rule: LossRule) -> &'static str {
    match rule {
        LossRule::Duplicates => "duplicates",
        LossRule::Count => "count",
        LossRule::Overtaken => "overtaken",
        LossRule::Partial => "partial",
        LossRule::Timeout => "timeout",
        LossRule::GoBack => "go back",
    }
}

impl Explained {
    /// The data of a reduction.
    pub fn of(case: &Case, r: &Reduction<'_>) -> Explained {
        let d = r.decision;
        let lost = r.lost.iter().map(|(lost, incident)| lost_packet(case, lost, *incident));
        let marked = r.marks.iter().map(|mark| {
            let which = mark.segment.map_or([0; 2], |s| [s.seq.0, s.seq_len()]);
            packet(case, which, mark.sent, Some(mark))
        });
        Explained {
            flow: case.name(r.sender),
            algorithm: case.scenario.flows[r.sender.flow as usize].algorithm().into_owned(),
            time_s: seconds(d.since),
            cause: cause(&d.cause),
            cwnd_before_bytes: d.before.cwnd,
            cwnd_after_bytes: d.after.cwnd,
            ssthresh_before_bytes: d.before.ssthresh,
            ssthresh_after_bytes: d.after.ssthresh,
            lost: lost.collect(),
            acks_dropped: r.acks_dropped,
            marked: marked.collect(),
            recovered_s: r.over.map(|(time, _)| seconds(time)),
            undone_s: r.undone.map(|(time, _)| seconds(time)),
            sentences: sentences(case, r),
        }
    }
}

/// A segment that was deemed lost, with its fate.
pub(super) fn lost_packet(case: &Case, lost: &LostSegment, befell: Option<&Incident>) -> Packet {
    Packet {
        rule: Some(rule(lost.rule)),
        ..packet(case, [lost.seq.0, lost.len], lost.sent, befell)
    }
}

fn packet(case: &Case, [seq, len]: [u32; 2], sent: Time, incident: Option<&Incident>) -> Packet {
    let name = |flow: u32| case.scenario.flows[flow as usize].name.clone();
    let link = incident.and_then(|i| case.result.links.get(i.link? as usize));
    let backlog = incident.and_then(|i| i.backlog.as_ref());
    Packet {
        seq,
        len,
        sent_s: seconds(sent),
        rule: None,
        fate: incident.map(|i| fate(i.fate)),
        fate_s: incident.map(|i| seconds(i.time)),
        link: link.map(|l| l.name.clone()),
        queue: backlog.map(|b| FilledBy {
            packets: b.packets,
            bytes: b.bytes,
            by_flow: b.by_flow.iter().map(|(flow, n)| (name(*flow), *n)).collect(),
        }),
    }
}
