//! Each rule finds its violation, and no rule reports a connection without violations.

use windlass_cc::Time;
use windlass_tcp::{SackBlock, Timestamps};

use super::*;
use crate::interop::host::Standing;
use crate::interop::steps::Step;

const ISS: [Seq; 2] = [Seq(u32::MAX - 5), Seq(9_000)];

/// A connection, built packet by packet. Every sent packet arrives.
struct Story(Vec<PacketEvent>);

impl Story {
    fn event(&mut self, from: Side, fate: PacketFate, segment: Segment) {
        let forward = from == Side::Sender;
        self.0.push(PacketEvent {
            time: Time(self.0.len() as u64),
            link: from as u32,
            flow: 0,
            forward,
            fate,
            segment: Some(segment),
            ip_len: segment.ip_len(),
            path: None,
            quick_start: None,
        });
    }

    fn send(mut self, from: Side, segment: Segment) -> Story {
        self.event(from, PacketFate::Sent, segment);
        self.event(from, PacketFate::Delivered, segment);
        self
    }

    fn lose(mut self, from: Side, segment: Segment) -> Story {
        self.event(from, PacketFate::Sent, segment);
        self.event(from, PacketFate::DroppedError, segment);
        self
    }

    /// Returns the findings of the rules.
    fn findings(self, plan: &Plan) -> Vec<String> {
        let trace = Trace::of(self.0);
        let mut findings = Findings::default();
        judge(plan, &trace, &mut findings);
        findings.0.iter().map(ToString::to_string).collect()
    }
}

/// Creates a segment of an end by offsets, with a window of 10 and a shift of 3: 80 bytes.
fn segment(from: Side, start: u64, len: u32, ack: u64, clock: u32, echo: u32) -> Segment {
    Segment {
        seq: ISS[from as usize].add(start),
        ack: ISS[from.other() as usize].add(ack),
        len,
        window: 10,
        flags: Flags::ACK,
        options: Options {
            timestamps: Some(Timestamps { value: clock, echo }),
            ..Options::default()
        },
        ..Segment::default()
    }
}

fn syn(from: Side, ack: bool) -> Segment {
    let flags = if ack { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
    let mut s = segment(from, 0, 0, u64::from(ack), 1, u32::from(ack));
    (s.flags, s.window) = (flags, 100);
    (s.options.mss, s.options.window_scale) = (Some(50), Some(3));
    s.options.sack_permitted = true;
    s
}

/// A handshake, and two segments of data after a hole that is filled later.
fn opened() -> Story {
    Story(Vec::new())
        .send(Side::Sender, syn(Side::Sender, false))
        .send(Side::Receiver, syn(Side::Receiver, true))
        .send(Side::Sender, segment(Side::Sender, 1, 0, 1, 2, 1))
}

fn plan() -> Plan {
    Plan::new()
}

fn with_blocks(mut s: Segment, left: u64, right: u64) -> Segment {
    s.options.sack[0] = SackBlock { left: ISS[0].add(left), right: ISS[0].add(right) };
    s.options.sack_count = 1;
    s
}

#[test]
fn connection_without_violations_has_no_findings() {
    let data = |start, len| segment(Side::Sender, start, len, 1, 3, 1);
    let ack = |ack, clock| segment(Side::Receiver, 1, 0, ack, clock, 3);
    let fin = |mut s: Segment| {
        s.flags = s.flags.with(Flags::FIN);
        s
    };
    let findings = opened()
        .lose(Side::Sender, data(1, 30))
        .send(Side::Sender, data(31, 30))
        .send(Side::Receiver, with_blocks(segment(Side::Receiver, 1, 0, 1, 2, 2), 31, 61))
        .send(Side::Sender, data(1, 30))
        .send(Side::Receiver, ack(61, 3))
        .send(Side::Sender, fin(segment(Side::Sender, 61, 20, 1, 4, 3)))
        .send(Side::Receiver, fin(segment(Side::Receiver, 1, 0, 82, 4, 4)))
        .send(Side::Sender, segment(Side::Sender, 82, 0, 2, 5, 4))
        .findings(&plan());
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn each_rule_finds_its_violation() {
    let data = |start, len| segment(Side::Sender, start, len, 1, 3, 1);
    let ack = |ack| segment(Side::Receiver, 1, 0, ack, 3, 2);
    let changed = |mut s: Segment, change: fn(&mut Segment)| {
        change(&mut s);
        s
    };
    let cases: [(&str, Side, Segment); 12] = [
        ("at most 50 bytes of options and payload", Side::Sender, data(1, 39)),
        ("nothing beyond the window's edge, offset 111", Side::Sender, data(91, 30)),
        ("no acknowledgement beyond offset 31", Side::Receiver, ack(32)),
        ("SACK blocks of arrived data", Side::Receiver, with_blocks(ack(31), 31, 40)),
        ("a window that reaches offset", Side::Receiver, changed(ack(31), |s| s.window = 2)),
        (
            "timestamps exactly if agreed on",
            Side::Sender,
            changed(data(31, 9), |s| s.options.timestamps = None),
        ),
        ("the echo of a timestamp that came", Side::Sender, segment(Side::Sender, 31, 9, 1, 3, 77)),
        (
            "a timestamp clock that never goes back",
            Side::Sender,
            segment(Side::Sender, 31, 9, 1, 1, 1),
        ),
        (
            "nothing of ECN",
            Side::Receiver,
            changed(ack(31), |s| s.flags = s.flags.with(Flags::ECE)),
        ),
        ("no reset", Side::Sender, changed(data(31, 0), |s| s.flags = Flags::RST)),
        ("at most 0 data segments", Side::Sender, data(1, 30)),
        (
            "no segment before the SYN",
            Side::Sender,
            changed(data(1, 0), |s| s.seq = Seq(ISS[0].0 - 40)),
        ),
    ];
    for (expected, from, breach) in cases {
        let story = opened()
            .send(Side::Sender, data(1, 30))
            .send(Side::Receiver, segment(Side::Receiver, 1, 0, 31, 3, 2))
            .send(from, breach);
        let findings = story.findings(&plan());
        assert_eq!(findings.len(), 1, "{expected}: {findings:?}");
        assert!(findings[0].contains(expected), "{expected}: {findings:?}");
    }
}

#[test]
fn marks_are_allowed_only_on_data_and_only_from_the_network() {
    let with = |mut s: Segment, flags: Flags| {
        s.flags = s.flags.with(flags);
        s
    };
    for (len, ecn, expected) in [
        (30, Codepoint::Ect0, 0),
        (30, Codepoint::NotEct, 0),
        (0, Codepoint::Ect0, 1),
        (30, Codepoint::Ce, 1),
    ] {
        let data = Segment { ecn, ..segment(Side::Sender, 1, len, 1, 3, 1) };
        let findings = Story(Vec::new())
            .send(Side::Sender, with(syn(Side::Sender, false), Flags::ECE.with(Flags::CWR)))
            .send(Side::Receiver, with(syn(Side::Receiver, true), Flags::ECE))
            .send(Side::Sender, data)
            .findings(&plan());
        assert_eq!(findings.len(), expected, "{len} {ecn:?}: {findings:?}");
    }
}

#[test]
fn answer_must_not_contain_options_that_were_not_offered() {
    let mut bare = syn(Side::Sender, false);
    bare.options = Options { mss: Some(50), ..Options::default() };
    let story =
        Story(Vec::new()).send(Side::Sender, bare).send(Side::Receiver, syn(Side::Receiver, true));
    let findings = story.findings(&plan());
    assert!(findings.iter().any(|f| f.contains("no option that was not offered")), "{findings:?}");
}

#[test]
fn waiting_failed_or_corrupted_applications_are_found() {
    let trace = |standing: Standing, waiting| Trace {
        standings: [standing, Standing::default()],
        waiting: [waiting, None],
        ..Trace::of(Vec::new())
    };
    let good = Standing { received: 5, at_end: true, over: true, ..Standing::default() };
    let cases = [
        (trace(good, None), 0),
        (trace(good, Some(Step::Eof)), 1),
        (trace(Standing { wrong_at: Some(3), ..good }, None), 1),
        (trace(Standing { reset: true, ..good }, None), 1),
        (trace(Standing { failed: Some("it timed out"), ..good }, None), 1),
        (Trace { unused: vec!["a loss".into()], ..trace(good, None) }, 1),
    ];
    for (trace, expected) in cases {
        let mut findings = Findings::default();
        judge(&plan(), &trace, &mut findings);
        assert_eq!(findings.0.len(), expected, "{:?}", findings.0);
    }
}
