//! Reductions in sentences.

use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Phase, Time, Undo};
use windlass_sim::link::QueueLimit;
use windlass_sim::{Backlog, Fate, Incident};
use windlass_tcp::{Cause, Decision, LossRule, LostSegment};

use super::{Case, Reduction};

/// Maximum number of packets or flows that an explanation names one by one.
const NAMED: usize = 3;

/// A time in seconds, with microseconds.
pub(super) fn at(time: Time) -> String {
    format!("{:.6} s", time.as_nanos() as f64 / 1e9)
}

/// A number of bytes with thousands separators.
pub(super) fn bytes(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn segments(n: u64, mss: u32) -> String {
    let whole = n as f64 / f64::from(mss.max(1));
    let text = format!("{whole:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub(super) fn plural(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// The slow-start threshold. The maximum value means that it has never been set.
fn threshold(n: u64) -> String {
    if n >= MAX_WINDOW { "never set".to_owned() } else { format!("{} B", bytes(n)) }
}

/// One line about a reduction: time, sender, cwnd before and after, cause, and fate of the packets.
pub fn brief(case: &Case, r: &Reduction<'_>) -> [String; 5] {
    let d = r.decision;
    let window = format!("{} → {}", segments(d.before.cwnd, d.mss), segments(least(r), d.mss));
    [at(d.since), case.name(r.sender), window, cause(case, r), fate(case, r)]
}

/// cwnd after the reduction. If a recovery spreads the reduction over time, cwnd at its end.
fn least(r: &Reduction<'_>) -> u64 {
    let d = r.decision;
    match (d.cause, r.over) {
        (Cause::Losses | Cause::Echo, Some((_, window))) => window.min(d.before.cwnd),
        _ => d.after.cwnd,
    }
}

/// The event at the sender, in a few words.
fn cause(case: &Case, r: &Reduction<'_>) -> String {
    match r.decision.cause {
        Cause::Losses => {
            let rule = r.lost.first().map(|(lost, _)| lost.rule);
            match rule {
                Some(LossRule::Overtaken) => "loss detected by time".to_owned(),
                Some(LossRule::Count) => "loss detected by SACK".to_owned(),
                _ => "duplicate acknowledgements".to_owned(),
            }
        }
        Cause::Timeout { .. } => "retransmission timeout".to_owned(),
        Cause::Echo => "congestion mark".to_owned(),
        Cause::RepairedByProbe => "loss repaired by a probe".to_owned(),
        Cause::Idle(_) => "idle".to_owned(),
        Cause::Coupling => "the connection's other paths".to_owned(),
        _ if ends_slow_start(r.decision) => "slow start ended".to_owned(),
        _ => format!("{}'s own rule", algorithm(case, r)),
    }
}

/// The fate of the packets, in a few words.
fn fate(case: &Case, r: &Reduction<'_>) -> String {
    let dropped: Vec<&Incident> = r.lost.iter().filter_map(|(_, i)| *i).collect();
    match (dropped.first(), r.marks.first()) {
        (Some(first), _) => {
            let more = if dropped.len() > 1 {
                format!(" ({} packets)", dropped.len())
            } else {
                String::new()
            };
            format!("{}{more}", place_and_fate(case, first))
        }
        (None, Some(mark)) if r.decision.cause == Cause::Echo => place_and_fate(case, mark),
        _ if !r.lost.is_empty() => "nothing was dropped".to_owned(),
        _ => String::new(),
    }
}

fn place_and_fate(case: &Case, i: &Incident) -> String {
    let place = place(case, i);
    match i.fate {
        Fate::QueueFull => format!("queue full at {place}"),
        Fate::Discipline => format!("dropped early by the queue of {place}"),
        Fate::LinkError => format!("lost on {place}"),
        Fate::Marked => format!("marked by the queue of {place}"),
        Fate::StationRefused => "the station had no room".to_owned(),
        Fate::RetryLimit => "given up at the retry limit".to_owned(),
        Fate::StationOff => "a station went off".to_owned(),
        Fate::NoRoute => "no route".to_owned(),
    }
}

fn place(case: &Case, i: &Incident) -> String {
    let link = i.link.and_then(|link| case.result.links.get(link as usize));
    link.map_or("the radio".to_owned(), |l| l.name.clone())
}

fn algorithm<'a>(case: &'a Case, r: &Reduction<'_>) -> &'a str {
    case.profile(r.sender).params.info().name
}

/// True if a decision ends slow start without a loss: it sets ssthresh to at most cwnd.
fn ends_slow_start(d: &Decision) -> bool {
    d.cause == Cause::Acks && d.before.cwnd < d.before.ssthresh && d.after.cwnd >= d.before.cwnd
}

/// The explanation of a reduction in sentences: the event, the rule, the packets with their fates, and the end of the
/// recovery.
pub fn sentences(case: &Case, r: &Reduction<'_>) -> Vec<String> {
    let mut said = vec![what(case, r), why(case, r)];
    said.extend(Some(how_much(case, r)).filter(|text| !text.is_empty()));
    said.extend(packets(case, r));
    said.extend(marks(case, r));
    said.extend(afterwards(r));
    said
}

fn what(case: &Case, r: &Reduction<'_>) -> String {
    let d = r.decision;
    let (name, id) = (case.name(r.sender), case.profile(r.sender).params.info().id);
    let window = match d.after.cwnd.cmp(&d.before.cwnd) {
        std::cmp::Ordering::Equal => format!("kept cwnd at {} B", bytes(d.before.cwnd)),
        way => format!(
            "{} cwnd from {} to {} B ({} to {} segments)",
            if way.is_lt() { "reduced" } else { "increased" },
            bytes(d.before.cwnd),
            bytes(d.after.cwnd),
            segments(d.before.cwnd, d.mss),
            segments(d.after.cwnd, d.mss),
        ),
    };
    let threshold = match d.before.ssthresh == d.after.ssthresh {
        true => String::new(),
        false => format!(
            ", and changed ssthresh from {} to {}",
            threshold(d.before.ssthresh),
            threshold(d.after.ssthresh)
        ),
    };
    let when = match d.count {
        1 => format!("At {}", at(d.time)),
        n => format!("From {} to {}, over {n} acknowledgements", at(d.since), at(d.time)),
    };
    format!("{when}, flow {name} ({id}) {window}{threshold}.")
}

fn why(case: &Case, r: &Reduction<'_>) -> String {
    let d = r.decision;
    match d.cause {
        Cause::Losses => losses(case, r),
        Cause::Timeout { rto, expiries } => {
            let again = match expiries {
                1 => String::new(),
                n => format!(" (expiry {n} in a row)"),
            };
            format!(
                "The retransmission timer of {:.3} s expired{again}, without an acknowledgement of new data in this time \
                 (RFC 6298 section 5, rules 5.4 to 5.6).",
                rto.0 as f64 / 1e9
            )
        }
        Cause::Echo => "An acknowledgement echoed a congestion mark (ECE). The sender reacts as to a loss, at most once per \
             RTT (RFC 3168 section 6.1.2)."
            .to_owned(),
        Cause::RepairedByProbe => "A tail loss probe repaired a loss that no other rule would detect. The sender reacts as \
             to any other loss (RFC 8985 section 7.4)."
            .to_owned(),
        Cause::Idle(gap) => format!(
            "The sender was idle for {:.3} s, longer than its RTO, and continues with the restart window \
             (RFC 5681 section 4.1).",
            gap.0 as f64 / 1e9
        ),
        Cause::Coupling => "The other paths of the connection, or their scheduler, requested it.".to_owned(),
        _ if ends_slow_start(d) => {
            let slow_start = case.profile(r.sender).params.common().slow_start.info();
            match slow_start.id == "standard" || case.profile(r.sender).params.requirements().slow_start.is_none() {
                true => format!("{} ended slow start without a loss.", algorithm(case, r)),
                false => format!("The slow start {} ({}) ended without a loss.", slow_start.name, slow_start.origin),
            }
        }
        _ => format!(
            "No loss and no timeout occurred. At an acknowledgement, {}'s own rule reduced cwnd.",
            algorithm(case, r)
        ),
    }
}

fn losses(case: &Case, r: &Reduction<'_>) -> String {
    let d = r.decision;
    let stack = &case.profile(r.sender).stack;
    let begun = match d.to {
        Phase::Loss => "slow start restarted from the first loss (Tahoe)",
        _ => "fast recovery began",
    };
    let here: Vec<&LostSegment> =
        r.lost.iter().map(|(lost, _)| lost).filter(|l| l.time == d.time).collect();
    let Some(first) = here.first().copied().or(r.lost.first().map(|(lost, _)| lost)) else {
        return format!("Segments that were deemed lost earlier are missing, and {begun}.");
    };
    let rule = match first.rule {
        LossRule::Duplicates => format!(
            "{} duplicate acknowledgements in a row requested byte {} (RFC 5681 section 3.2, RFC 6675 section 5)",
            stack.dupthresh,
            bytes(first.start)
        ),
        LossRule::Count => format!(
            "SACK blocks reported more than {} segments above byte {} (RFC 6675 section 4, IsLost)",
            stack.dupthresh.saturating_sub(1),
            bytes(first.start)
        ),
        LossRule::Overtaken => format!(
            "a segment that was sent after byte {} arrived, but the byte did not arrive within an RTT plus the \
             reordering window (RACK, RFC 8985 section 6.2 step 5)",
            bytes(first.start)
        ),
        LossRule::Partial => format!(
            "a partial acknowledgement ended at byte {} (RFC 6582 section 3.2 step 3)",
            bytes(first.start)
        ),
        LossRule::Timeout => format!("byte {} was lost in a timeout", bytes(first.start)),
        LossRule::GoBack => format!("the sender goes back to byte {}", bytes(first.start)),
    };
    let count = plural(r.lost.len(), "segment was", "segments were");
    format!("{count} deemed lost and {begun}: {rule}.")
}

fn how_much(case: &Case, r: &Reduction<'_>) -> String {
    let d = r.decision;
    let info = case.profile(r.sender).params.info();
    let share = d.after.ssthresh as f64 / d.before.cwnd.max(1) as f64;
    let set = match d.after.ssthresh >= MAX_WINDOW {
        true => String::new(),
        false => format!(
            " It sets ssthresh to {share:.2} of the previous cwnd; {} B were in flight.",
            bytes(d.flight_size)
        ),
    };
    let mut text = match d.cause {
        Cause::Timeout { .. } => format!(
            "After a timeout cwnd restarts at about one segment (RFC 5681 section 3.1). The rest is {}'s own rule \
             ({}).{set}",
            info.name, info.origin
        ),
        Cause::Losses | Cause::Echo | Cause::RepairedByProbe => {
            format!("{}'s own rule ({}) determines the reduction.{set}", info.name, info.origin)
        }
        Cause::Idle(_) => String::new(),
        _ => format!("Source of the rule: {}.", info.origin),
    };
    if !d.inner.is_empty() {
        let fields: Vec<String> = d
            .inner
            .iter()
            .map(|(name, unit, value)| match *unit {
                "ns" => format!("{} {:.3} ms", name.trim_end_matches("_ns"), *value as f64 / 1e6),
                "B" => format!("{} {} B", name.trim_end_matches("_bytes"), bytes(*value)),
                unit => format!("{name} {value} ({unit})"),
            })
            .collect();
        text.push_str(&format!(" State after the reduction: {}.", fields.join(", ")));
    }
    text
}

fn packets(case: &Case, r: &Reduction<'_>) -> Vec<String> {
    if r.lost.is_empty() {
        return Vec::new();
    }
    let mut said = Vec::new();
    let dropped: Vec<&(LostSegment, Option<&Incident>)> =
        r.lost.iter().filter(|(_, i)| i.is_some()).collect();
    for (lost, incident) in dropped.iter().take(NAMED) {
        said.extend(incident.map(|i| packet(case, lost, i)));
    }
    if dropped.len() > NAMED {
        let more = dropped.len() - NAMED;
        said.push(format!(
            "{} dropped too.",
            plural(more, "more segment was", "more segments were")
        ));
    }
    let intact = r.lost.len() - dropped.len();
    if intact > 0 {
        let which = match (dropped.is_empty(), r.lost.len()) {
            (true, 1) => "The segment was not dropped".to_owned(),
            (true, n) => format!("None of the {n} segments was dropped"),
            (false, n) => {
                format!("{intact} of the {n} segments that were deemed lost had not been dropped")
            }
        };
        let acks = match r.acks_dropped {
            0 => "no acknowledgement was dropped either, so the acknowledgements were late or in flight"
                .to_owned(),
            n => format!(
                "{} on the return path",
                plural(n, "acknowledgement was dropped", "acknowledgements were dropped")
            ),
        };
        said.push(format!("{which} by the network; {acks}."));
    }
    said
}

fn packet(case: &Case, lost: &LostSegment, i: &Incident) -> String {
    let which = match lost.transmission {
        1 => String::new(),
        n => format!(" (transmission {n})"),
    };
    let head = format!(
        "Bytes {} to {}{which}, sent at {}, were",
        bytes(lost.start),
        bytes(lost.start + u64::from(lost.len).saturating_sub(1)),
        at(lost.sent)
    );
    format!("{head} {}.", befell(case, i))
}

/// The fate of a packet, with the queue's content at this time.
fn befell(case: &Case, i: &Incident) -> String {
    let (place, time) = (place(case, i), at(i.time));
    match i.fate {
        Fate::QueueFull => {
            format!("dropped at {time} by the queue of {place}, which was full: {}", full(case, i))
        }
        Fate::Discipline => {
            let discipline =
                i.link.map_or("", |l| case.config.links[l as usize / 2].discipline.id());
            format!(
                "dropped at {time} by the discipline ({discipline}) of the queue of {place}: {}",
                full(case, i)
            )
        }
        Fate::LinkError if was_down(case, i) => {
            format!("lost on {place}, which was down; they would have arrived at {time}")
        }
        Fate::LinkError => format!(
            "lost to bit errors or the loss model of {place}; they would have arrived at {time}"
        ),
        Fate::Marked => format!("marked at {time} by the queue of {place}: {}", full(case, i)),
        Fate::StationRefused => format!(
            "refused at {time} by a station whose queue was full or whose battery was empty"
        ),
        Fate::RetryLimit => {
            format!("dropped at {time} by a station after the maximum number of retries")
        }
        Fate::StationOff => format!("lost at {time} with a station that went off"),
        Fate::NoRoute => format!("dropped at {time} by a station that had no route for them"),
    }
}

/// True if the link was down during the packet's transmission.
fn was_down(case: &Case, i: &Incident) -> bool {
    let Some(link) = i.link.map(|l| &case.config.links[l as usize / 2]) else { return false };
    let left = Time(i.time.0.saturating_sub(link.delay.0));
    let Some(segment) = i.segment else { return false };
    let bits = 8 * u64::from(link.framing.frame_len(segment.ip_len()));
    let began = left.0.saturating_sub(bits.saturating_mul(1_000_000_000) / link.rate_bps.max(1));
    link.down.iter().any(|[from, to]| from.0 < left.0 && began < to.0)
}

fn full(case: &Case, i: &Incident) -> String {
    let Some(backlog) = &i.backlog else { return "the queue's content is unknown".to_owned() };
    let Backlog { packets, bytes: held, by_flow, flows } = backlog;
    let link = i.link.map(|l| &case.config.links[l as usize / 2]);
    // Packets in a device below the discipline wait as well.
    let device = link.map_or(0, |link| link.discipline.device_packets());
    let held = match link.map(|link| link.queue) {
        Some(QueueLimit::Packets(n)) => {
            format!("{packets} of at most {} packets waited", n.saturating_add(device))
        }
        Some(QueueLimit::Bytes(n)) if device == 0 => {
            format!("{packets} packets of {} B waited, of at most {} B", bytes(*held), bytes(n))
        }
        _ => format!(
            "{} of {} B waited",
            plural(*packets as usize, "packet", "packets"),
            bytes(*held)
        ),
    };
    if by_flow.is_empty() {
        return held;
    }
    let name = |flow: u32| case.scenario.flows.get(flow as usize).map_or("?", |f| f.name.as_str());
    let shares: Vec<String> = by_flow
        .iter()
        .take(NAMED)
        .map(|(flow, n)| format!("{n} of flow {}", name(*flow)))
        .collect();
    let rest = (*flows as usize).saturating_sub(NAMED);
    let rest = if rest > 0 {
        format!(" and others of {}", plural(rest, "flow", "flows"))
    } else {
        String::new()
    };
    format!("{held}, {}{rest}", shares.join(", "))
}

fn marks(case: &Case, r: &Reduction<'_>) -> Option<String> {
    let first = r.marks.first()?;
    let count = plural(r.marks.len(), "packet of the flow was", "packets of the flow were");
    let segment = first.segment.map_or(String::new(), |s| format!(" of {} B", s.len));
    Some(format!(
        "{count} marked since its last reaction to a mark. The first, a segment{segment} sent at {}, was {}.",
        at(first.sent),
        befell(case, first)
    ))
}

fn afterwards(r: &Reduction<'_>) -> Vec<String> {
    let mut said = Vec::new();
    if let Some((time, undo)) = r.undone {
        let how = match undo {
            Undo::Dsack => {
                "the receiver reported every retransmission as a duplicate (D-SACK, RFC 3708)"
            }
            Undo::Eifel => {
                "an acknowledgement had the timestamp of the original, not of the retransmission (Eifel, RFC 3522)"
            }
            Undo::Frto => {
                "data that was not retransmitted was acknowledged first (F-RTO, RFC 5682)"
            }
        };
        said.push(format!("At {} the sender undid the reduction: {how}.", at(time)));
    }
    if let Some((time, cwnd)) = r.over {
        said.push(format!("The recovery ended at {} with a cwnd of {} B.", at(time), bytes(cwnd)));
    }
    said
}

/// The state of a sender at a time, by its latest decision.
pub fn in_force(d: &Decision, time: Time) -> String {
    let phase = match d.to {
        Phase::Open if d.after.cwnd < d.after.ssthresh => "in slow start",
        Phase::Open => "in congestion avoidance",
        Phase::Recovery => "in fast recovery",
        Phase::Loss => "recovering from a timeout",
        Phase::Cwr => "reacting to a congestion mark",
    };
    let window = match d.time > time {
        true => format!(
            "between {} and {} B",
            bytes(d.before.cwnd.min(d.after.cwnd)),
            bytes(d.before.cwnd.max(d.after.cwnd))
        ),
        false => format!("{} B", bytes(d.after.cwnd)),
    };
    format!("At {} the sender was {phase}, with a cwnd of {window}.", at(time))
}
