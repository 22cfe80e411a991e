//! Sequence diagrams of the packets around a reduction.

use windlass_cc::{Span, Time};
use windlass_sim::PacketEvent;

use crate::passage::{Passage, joined};
use crate::report::model::{Ladder, Message};
use crate::run::RunError;
use crate::why::{Case, Reduction};

/// Numbers of packets that are drawn before and after the decision.
const BEFORE: usize = 14;
const AFTER: usize = 8;
/// Maximum time before and after a decision.
const LONGEST: Span = Span::from_secs(3);

/// The packets around each of these reductions. Empty if the scenario has a radio.
pub(super) fn exchanges(
    case: &Case,
    of: &[&Reduction<'_>],
) -> Result<Vec<Option<Ladder>>, RunError> {
    if of.is_empty() || !case.config.radios.is_empty() {
        return Ok(Vec::new());
    }
    let windows: Vec<[Time; 2]> = of.iter().map(|r| window(r)).collect();
    let log = Case::recording(&case.scenario, case.seed, |record| {
        record.capture = (0..case.config.links.len()).collect();
        record.capture_within = windows.clone();
    })?;
    let ladder = |(r, window): (&&Reduction<'_>, &[Time; 2])| {
        let mine = |e: &&PacketEvent| {
            e.flow == r.sender.flow
                && e.path.map(|p| p.path) == r.sender.path
                && (window[0]..=window[1]).contains(&e.time)
        };
        let events: Vec<PacketEvent> = log.result.packets.iter().filter(mine).copied().collect();
        let ends = |forward| ends(case, r, &events, forward);
        draw(case, r, &joined(&events, ends))
    };
    Ok(of.iter().zip(&windows).map(ladder).collect())
}

/// The time from the transmission of the first lost segment to 1.5 RTT after the decision.
fn window(r: &Reduction<'_>) -> [Time; 2] {
    let d = r.decision;
    let rtt = if d.srtt.is_known() { d.srtt.0.min(LONGEST.0) } else { 1_000_000_000 };
    let sent = r.lost.iter().map(|(l, _)| l.sent.0).min().unwrap_or(d.since.0.saturating_sub(rtt));
    let from = sent.max(d.since.0.saturating_sub(LONGEST.0)).saturating_sub(1_000_000);
    [Time(from), Time(d.since.0.saturating_add(rtt * 3 / 2))]
}

/// The first and the last link direction of the flow's path that its packets used.
fn ends(
    case: &Case,
    r: &Reduction<'_>,
    events: &[PacketEvent],
    forward: bool,
) -> Option<(u32, u32)> {
    let flow = &case.config.flows[r.sender.flow as usize];
    let (from, to) = if forward { (flow.from, flow.to) } else { (flow.to, flow.from) };
    let mut links = events.iter().filter(|e| e.forward == forward).map(|e| e.link);
    let first = links.clone().find(|link| case.end_of_link(*link, 0) == from)?;
    Some((first, links.find(|link| case.end_of_link(*link, 1) == to)?))
}

fn draw(case: &Case, r: &Reduction<'_>, all: &[Passage]) -> Option<Ladder> {
    let decided = r.decision.since;
    let whole: Vec<&Passage> = all.iter().filter(|p| p.received.is_some() || p.lost).collect();
    let at = whole.partition_point(|p| p.sent < decided);
    let near = &whole[at.saturating_sub(BEFORE)..(at + AFTER).min(whole.len())];
    // Up to three earlier lost packets are shown too, regardless of their time.
    let first = whole[..at.saturating_sub(BEFORE)].iter().filter(|p| p.lost).take(3);
    let shown: Vec<&Passage> = first.chain(near).copied().collect();
    if shown.is_empty() {
        return None;
    }
    let spec = &case.config.flows[r.sender.flow as usize];
    let [left, right] = [spec.from, spec.to].map(|node| case.config.nodes[node].clone());
    // Sequence numbers are relative to the first byte of the flow.
    let base = r.lost.first().map(|(l, _)| l.seq.0.wrapping_sub(l.start as u32));
    let number = |seq: u32| base.map_or(seq, |base| seq.wrapping_sub(base));
    let message = |p: &&Passage| {
        let s = &p.segment;
        let marked = if p.echoes() { " ECE" } else { "" };
        let deemed =
            r.lost.iter().any(|(l, _)| l.seq == s.seq && p.sent >= l.sent && l.time == decided);
        Message {
            sent_s: p.sent.as_nanos() as f64 / 1e9,
            received_s: p.received.map(|t| t.as_nanos() as f64 / 1e9),
            rightward: p.forward,
            label: match p.forward {
                true => format!("seq {} len {}", number(s.seq.0), s.len),
                false => {
                    let blocks = s.options.sack_blocks().iter();
                    let sack: Vec<String> = blocks
                        .take(1)
                        .map(|b| format!(" sack {}-{}", number(b.left.0), number(b.right.0)))
                        .collect();
                    format!("ack {}{}{marked}", number(s.ack.0), sack.concat())
                }
            },
            remark: match (p.lost, deemed && p.forward && p.sent >= decided) {
                (true, _) => Some("lost".to_owned()),
                (_, true) => Some("retransmitted".to_owned()),
                _ => None,
            },
        }
    };
    Some(Ladder {
        id: format!("packets-{}", story_id(r)),
        caption: format!(
            "The packets around {:.6} s. Sequence and acknowledgement numbers count the flow's bytes. \
             Only the first lost packets are drawn of the earlier packets, so that a gap may contain other packets.",
            decided.as_nanos() as f64 / 1e9
        ),
        left,
        right,
        messages: shown.iter().map(message).collect(),
    })
}

/// Anchor of a reduction's explanation on the page.
pub(super) fn story_id(r: &Reduction<'_>) -> String {
    let path = r.sender.path.map_or(String::new(), |path| format!("-{path}"));
    let number = r.sender.journal.decisions().iter().position(|d| std::ptr::eq(d, r.decision));
    format!("why-{}{path}-{}", r.sender.flow, number.unwrap_or_default())
}
