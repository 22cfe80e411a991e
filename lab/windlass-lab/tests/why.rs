//! Compares the explanations of cwnd reductions with the packet trace, for five algorithms over three
//! networks. The trace is the log of every packet on every link, which the explanation does not read.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cc::Time;
use windlass_lab::scenario::Scenario;
use windlass_lab::why::{Case, Reduction, sentences};
use windlass_sim::{Fate, Incident, PacketEvent, PacketFate};
use windlass_tcp::{Cause, Flags, LossRule, LostSegment};

const ALGORITHMS: [&str; 5] = ["newreno", "cubic", "westwood", "htcp", "vegas"];
/// Directions of the links: both directions of the sensor's link, and the direction of the link that both flows share.
const OWN: u32 = 0;
const OWN_BACK: u32 = 1;
const SHARED: u32 = 2;
const LIMIT: u64 = 12;

/// The networks have a queue that two flows fill, a link with losses in both directions and an outage, and a queue that
/// marks.
const NETWORKS: [&str; 3] = [
    r#"queue = "12pkt""#,
    r#"loss = { model = "drop", probability = "2%" }
       down = [["6s", "7s"]]"#,
    r#"queue = { discipline = "codel", ecn = true }"#,
];

fn case(algorithm: &str, network: &str) -> Case {
    let text = format!(
        r#"duration = "14s"
        stack = {{ preset = "rfc", ecn = true }}
        [[link]]
        between = ["sensor", "gateway"]
        rate = "20Mbps"
        delay = "1ms"
        [[link]]
        between = ["gateway", "cloud"]
        rate = "2Mbps"
        delay = "15ms"
        {network}
        [[link]]
        between = ["camera", "gateway"]
        rate = "33Mbps"
        delay = "1700us"
        [[flow]]
        name = "reading"
        from = "sensor"
        to = "cloud"
        algorithm = "{algorithm}"
        [[flow]]
        name = "picture"
        from = "camera"
        to = "cloud"
        algorithm = "cubic"
        start = "1s"
        "#
    );
    let scenario = Scenario::from_str(&text, "two.toml").unwrap_or_else(|e| panic!("{e}"));
    Case::recording(&scenario, 1, |record| record.capture = vec![0, 1, 2]).expect("a run")
}

/// The packets of a run on every link.
struct Trace<'a>(&'a [PacketEvent]);

impl<'a> Trace<'a> {
    fn at(&self, link: u32, fate: PacketFate) -> impl Iterator<Item = &'a PacketEvent> + use<'a> {
        self.0.iter().filter(move |e| e.link == link && e.fate == fate)
    }

    /// Acknowledgements that the sender of flow 0 has received at a time.
    fn acks(&self, until: Time) -> impl Iterator<Item = &'a PacketEvent> + use<'a> {
        self.at(OWN_BACK, PacketFate::Delivered).filter(move |e| e.flow == 0 && e.time <= until)
    }

    fn drops(&self) -> impl Iterator<Item = &'a PacketEvent> + use<'a> {
        let dropped = [PacketFate::DroppedQueue, PacketFate::DroppedError];
        self.0.iter().filter(move |e| dropped.contains(&e.fate))
    }

    /// Packets in the shared queue at a time, by flow: they arrived before this time and were transmitted after it.
    fn waiting(&self, at: Time) -> BTreeMap<u32, u32> {
        let mut flows = BTreeMap::new();
        for sent in self.at(SHARED, PacketFate::Sent).filter(|e| e.time > at) {
            let own = if sent.flow == 0 { OWN } else { 4 };
            let same = |e: &&PacketEvent| e.segment == sent.segment && e.time <= sent.time;
            let came = self.at(own, PacketFate::Delivered).filter(same).map(|e| e.time).last();
            if came.is_some_and(|came| came < at) {
                *flows.entry(sent.flow).or_default() += 1;
            }
        }
        flows
    }
}

fn covers(e: &PacketEvent, lost: &LostSegment) -> bool {
    e.flow == 0 && e.forward && e.segment.is_some_and(|s| s.len > 0 && s.seq == lost.seq)
}

/// Checks that the packet was sent and dropped at the times and places of the explanation.
fn check_drop(trace: &Trace<'_>, lost: &LostSegment, said: &Incident, text: &str) {
    let fate = match said.fate {
        Fate::LinkError => PacketFate::DroppedError,
        _ => PacketFate::DroppedQueue,
    };
    let here = |e: &&PacketEvent| {
        covers(e, lost) && e.time == said.time && Some(e.link) == said.link && e.fate == fate
    };
    assert_eq!(trace.drops().filter(here).count(), 1, "{text}");
    let sent = |e: &&PacketEvent| covers(e, lost) && e.time >= lost.sent && e.time <= said.time;
    assert_eq!(trace.at(OWN, PacketFate::Sent).filter(sent).count(), 1, "{text}");
    let Some(backlog) = &said.backlog else { return };
    let counted: BTreeMap<u32, u32> = backlog.by_flow.iter().copied().collect();
    assert_eq!(counted, trace.waiting(said.time), "{text}");
    if said.fate == Fate::QueueFull {
        assert_eq!(backlog.packets, LIMIT, "{text}");
        assert!(text.contains("12 of at most 12 packets waited"), "{text}");
    }
}

/// Checks that a segment without an incident was not dropped between its transmission and the decision.
fn check_intact(trace: &Trace<'_>, lost: &LostSegment, until: Time, text: &str) {
    let mut drops = trace.drops().filter(|e| covers(e, lost));
    assert!(!drops.any(|e| e.time >= lost.sent && e.time <= until), "{text}");
}

/// Checks that enough duplicate acknowledgements requested the segment, or that enough data above it was reported.
fn check_rule(trace: &Trace<'_>, lost: &LostSegment, text: &str) {
    let after = |e: &&PacketEvent| e.time > lost.sent;
    let above = |e: &&PacketEvent| {
        let segment = e.segment.expect("a segment");
        let reported: u32 = (segment.options.sack_blocks().iter())
            .filter(|b| (b.left.0.wrapping_sub(lost.seq.0) as i32) > 0)
            .map(|b| b.right.0.wrapping_sub(b.left.0))
            .sum();
        segment.ack == lost.seq || reported > 2 * lost.len
    };
    match lost.rule {
        LossRule::Duplicates | LossRule::Count => {
            let enough = trace.acks(lost.time).filter(after).filter(above).count() >= 3
                || trace
                    .acks(lost.time)
                    .filter(after)
                    .any(|e| above(&e) && e.segment.unwrap().ack != lost.seq);
            assert!(enough, "{lost:?}: {text}");
        }
        LossRule::Timeout => {}
        other => panic!("{other:?} with a stack that counts losses: {text}"),
    }
}

/// Checks that no new data was acknowledged during the timeout.
fn check_timeout(trace: &Trace<'_>, r: &Reduction<'_>, text: &str) {
    let Cause::Timeout { rto, .. } = r.decision.cause else { return };
    let highest = |until: Time| {
        let acks = trace.acks(until).map(|e| e.segment.expect("a segment").ack.0);
        acks.reduce(|a, b| if (b.wrapping_sub(a) as i32) > 0 { b } else { a })
    };
    let set = Time(r.decision.time.0 - rto.0);
    assert_eq!(highest(set), highest(r.decision.time), "{text}");
}

/// Checks that the acknowledgement had the echo, and that the named packet was marked and arrived.
fn check_mark(trace: &Trace<'_>, r: &Reduction<'_>, text: &str) {
    let echo = |e: &PacketEvent| e.segment.is_some_and(|s| s.flags.has(Flags::ECE));
    assert!(trace.acks(r.decision.time).any(|e| e.time == r.decision.time && echo(e)), "{text}");
    assert!(!r.marks.is_empty(), "{text}");
    let first = r.marks[0];
    let seq = first.segment.expect("a segment").seq;
    let marked = |e: &PacketEvent| {
        e.flow == 0
            && e.segment.is_some_and(|s| s.seq == seq && s.ecn == windlass_tcp::Codepoint::Ce)
    };
    let arrived = trace.at(SHARED, PacketFate::Delivered).filter(|e| marked(e));
    let in_time = |e: &PacketEvent| e.time > first.time && e.time < r.decision.time;
    assert_eq!(arrived.filter(|e| in_time(e)).count(), 1, "{text}");
}

#[test]
fn explanations_of_reductions_agree_with_the_packet_trace() {
    let (mut explained, mut fates, mut causes) = (0, BTreeSet::new(), BTreeSet::new());
    for algorithm in ALGORITHMS {
        for network in NETWORKS {
            let case = case(algorithm, network);
            let trace = Trace(&case.result.packets);
            let mine = case.reductions().into_iter().filter(|r| r.sender.flow == 0);
            for r in mine.take(12) {
                let text =
                    format!("{algorithm} over {network}: {}", sentences(&case, &r).join(" "));
                let d = r.decision;
                let timer = matches!(d.cause, Cause::Timeout { .. } | Cause::Idle(_));
                let heard = trace.acks(d.since).any(|e| e.time == d.since);
                assert!(timer || heard, "{text}");
                for (lost, said) in &r.lost {
                    check_rule(&trace, lost, &text);
                    match said {
                        Some(said) => check_drop(&trace, lost, said, &text),
                        None => check_intact(&trace, lost, d.time, &text),
                    }
                    fates.insert(said.map_or("none".to_owned(), |i| format!("{:?}", i.fate)));
                }
                check_timeout(&trace, &r, &text);
                if d.cause == Cause::Echo {
                    check_mark(&trace, &r, &text);
                }
                let acks = trace.drops().filter(|e| e.flow == 0 && !e.forward);
                let since = r.lost.iter().map(|(l, _)| l.sent).min();
                let dropped =
                    acks.filter(|e| since.is_some_and(|s| e.time >= s) && e.time <= d.time);
                assert_eq!(r.acks_dropped, dropped.count(), "{text}");
                causes.insert(
                    format!("{:?}", d.cause)
                        .split([' ', '('])
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                );
                explained += 1;
            }
        }
    }
    assert!(explained >= 60, "{explained}");
    for wanted in ["QueueFull", "LinkError", "none"] {
        assert!(fates.contains(wanted), "{fates:?}");
    }
    for wanted in ["Losses", "Timeout", "Echo", "Acks"] {
        assert!(causes.contains(wanted), "{causes:?}");
    }
}

/// The number before these words in the summary of a run's page.
fn counted(summary: &str, words: &str) -> u64 {
    let before = summary.split(words).next().expect("a part");
    before.split(' ').next_back().and_then(|n| n.parse().ok()).expect(summary)
}

#[test]
fn the_page_counts_reductions_by_the_share_of_marks_as_reductions_after_marks() {
    let text = r#"duration = "5s"
        stack = { preset = "linux", ecn = true }
        [[link]]
        between = ["sensor", "cloud"]
        rate = "20Mbps"
        delay = "5ms"
        queue = { discipline = "threshold", mark = "20pkt" }
        [[flow]]
        from = "sensor"
        to = "cloud"
        algorithm = "dctcp"
        "#;
    let scenario = Scenario::from_str(text, "marks.toml").unwrap_or_else(|e| panic!("{e}"));
    let page = windlass_lab::run_page::look(&scenario, 1, false).expect("a run");
    let case = Case::recording(&scenario, 1, |_| {}).expect("a run");
    let marks = counted(&page.summary, " times after congestion marks");
    let others = counted(&page.summary, " times for other reasons");
    assert!(marks > 10, "{}", page.summary);
    assert_eq!(marks + others, case.reductions().len() as u64, "{}", page.summary);
}
