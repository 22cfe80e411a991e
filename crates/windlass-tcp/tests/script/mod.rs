//! One endpoint tested by a script in the style of packetdrill: segments arrive at given times, and expected
//! segments are sent.
//!
//! A line is a time in milliseconds (`+40`: after the line before), and then one of these:
//!
//! * `connect`, `listen`, `close`, `close_both`, `abort`, `offer N`, `read N`: the application acts;
//! * `< SEGMENT`: the segment arrives;
//! * `> SEGMENT`: exactly this segment is sent now (parts that are not given may have any value);
//! * `= NAME VALUE`: the named state has this value;
//! * nothing: time passes up to this point without a sent segment.
//!
//! A segment is `FLAGS SEQ[+LEN] [ack N] [win N] [mss N] [ws N] [sackok] [ts VALUE ECHO] [sack A-B,...]
//! [ect|ce|not-ect]`, with flags of `S`, `F`, `R`, `.` (ACK). Numbers count from the initial sequence
//! numbers. Every sent segment must be expected. The rest of a line after `#` is a comment.

use std::collections::VecDeque;

use windlass_cc::{AnyParams, Span, Time};
use windlass_tcp::{
    Codepoint, Endpoint, Flags, InitialWindow, Options, Profile, SackBlock, Segment, Seq,
    StackConfig, Timestamps, stack,
};

/// Initial sequence number of the scripted peer: its stream wraps after 1000 bytes.
pub const PEER_ISS: Seq = Seq(0u32.wrapping_sub(1000));
/// The endpoint's initial sequence number: its stream wraps after 2000 bytes.
pub const OWN_ISS: Seq = Seq(0u32.wrapping_sub(2000));

/// Segments of 1000 bytes, an initial cwnd of ten segments, no options, immediate acknowledgements.
pub fn plain() -> Profile {
    Profile {
        stack: StackConfig {
            receive_buffer: 10_000,
            window_scaling: false,
            timestamps: false,
            sack: false,
            initial_window: InitialWindow::Segments(10),
            nagle: false,
            delayed_ack_segments: 1,
            limited_transmit: false,
            window_validation: false.into(),
            idle_restart: false,
            ..stack::RFC
        },
        params: AnyParams::by_name("reno").unwrap(),
        mtu: 1040,
    }
}

/// `plain()` with changes to its stack.
pub fn plain_with(change: impl FnOnce(&mut StackConfig)) -> Profile {
    let mut p = plain();
    change(&mut p.stack);
    p
}

pub struct Script {
    pub p: Profile,
    pub e: Endpoint,
    now: Time,
    out: VecDeque<(Time, Segment)>,
}

impl Script {
    pub fn new(p: Profile) -> Script {
        let e = Endpoint::new(&p, OWN_ISS);
        Script { p, e, now: Time::ZERO, out: VecDeque::new() }
    }

    /// An active open with an RTT of 100 ms; the peer offers 60000 bytes.
    pub fn connected(p: Profile) -> Script {
        let mut s = Script::new(p);
        s.run(
            "0 connect
             0 > S 0
             100 < S. 0 ack 1 win 60000 mss 1000
             100 > . 1 ack 1",
        );
        s
    }

    /// [`connected`](Script::connected) with a peer that supports SACK.
    pub fn connected_with_sack(p: Profile) -> Script {
        let mut s = Script::new(p);
        s.run(
            "0 connect
             0 > S 0 sackok
             100 < S. 0 ack 1 win 60000 mss 1000 sackok
             100 > . 1 ack 1",
        );
        s
    }

    pub fn run(&mut self, script: &str) -> &mut Script {
        for line in script.lines() {
            let text = line.split('#').next().unwrap_or("").trim();
            if !text.is_empty() {
                self.line(text);
            }
        }
        self.nothing_left("the end of the script");
        self
    }

    fn line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let at = self.time(words.next().expect("a time"));
        let rest: Vec<&str> = words.collect();
        self.advance(at, line, rest.first() == Some(&">"));
        let number = || rest[1].parse::<u64>().unwrap_or_else(|_| panic!("no number in: {line}"));
        match rest.first().copied() {
            None => {}
            Some("connect") => self.e.connect(),
            Some("listen") => self.e.listen(),
            Some("close") => self.e.close(),
            Some("close_both") => self.e.close_both(),
            Some("abort") => self.e.abort(),
            Some("offer") => self.e.offer(number()),
            Some("read") => {
                assert_eq!(self.e.read(&self.p, self.now, number()), number(), "{line}")
            }
            Some("<") => {
                let s = parse(&rest[1..], PEER_ISS, OWN_ISS).segment;
                self.e.on_segment(&self.p, self.now, &s);
            }
            Some(">") => return self.expect(&rest[1..], line),
            Some("=") => return self.check(rest[1], rest[2], line),
            Some(_) => panic!("cannot read: {line}"),
        }
        self.poll();
        if rest.is_empty() {
            self.nothing_left(line);
        }
    }

    fn time(&self, word: &str) -> Time {
        let ms = |w: &str| Span((w.parse::<f64>().expect("milliseconds") * 1e6).round() as u64);
        match word.strip_prefix('+') {
            Some(more) => self.now + ms(more),
            None => Time::ZERO + ms(word),
        }
    }

    /// Advances the time. Earlier lines must have expected the segments that are sent meanwhile. Segments
    /// sent at `at` itself are excepted if the line expects them.
    fn advance(&mut self, at: Time, line: &str, expecting: bool) {
        assert!(at >= self.now, "time goes backwards: {line}");
        while self.e.deadline() <= at {
            let due = self.e.deadline();
            self.now = self.now.max(due);
            self.e.on_deadline(&self.p, self.now);
            self.poll();
            assert!(self.e.deadline() > due, "the deadline does not advance from {due}");
        }
        self.now = at;
        if !expecting && !line.contains(" = ") {
            self.nothing_left(line);
        }
    }

    fn poll(&mut self) {
        for _ in 0..1000 {
            let Some(s) = self.e.poll_transmit(&self.p, self.now) else { return };
            self.out.push_back((self.now, s));
        }
        panic!("a thousand segments at once");
    }

    fn nothing_left(&self, before: &str) {
        if let Some((at, s)) = self.out.front() {
            panic!("unexpected at {at}: {}\n  before: {before}", show(s));
        }
    }

    fn expect(&mut self, words: &[&str], line: &str) {
        let Some((at, s)) = self.out.pop_front() else { panic!("nothing was sent: {line}") };
        let want = parse(words, OWN_ISS, PEER_ISS);
        let w = &want.segment;
        let mut same = at == self.now && s.seq == w.seq && s.len == w.len;
        same &= s.flags.0 & !Flags::PSH.0 == w.flags.0;
        for &field in &want.given {
            same &= match field {
                "ack" => s.ack == w.ack,
                "win" => s.window == w.window,
                "mss" => s.options.mss == w.options.mss,
                "ws" => s.options.window_scale == w.options.window_scale,
                "sackok" => s.options.sack_permitted,
                "ts" => s.options.timestamps == w.options.timestamps,
                "sack" => s.options.sack_blocks() == w.options.sack_blocks(),
                "ecn" => s.ecn == w.ecn,
                "bare" => s.options == Options::default(),
                _ => unreachable!(),
            };
        }
        assert!(same, "expected: {line}\n   found: at {at} {}", show(&s));
    }

    fn check(&self, name: &str, value: &str, line: &str) {
        let seen = match name {
            "state" => format!("{:?}", self.e.state()),
            "failure" => self.e.failure().map_or("none".into(), |f| format!("{f:?}")),
            "phase" => format!("{:?}", self.e.phase()),
            "cwnd" => self.e.control().cwnd.to_string(),
            "ssthresh" => self.e.control().ssthresh.to_string(),
            "rto_ms" => (self.e.rto(&self.p).0 / 1_000_000).to_string(),
            "srtt_ms" => (self.e.srtt().0 / 1_000_000).to_string(),
            "received" => self.e.received().to_string(),
            "readable" => self.e.readable().to_string(),
            "in_flight" => self.e.in_flight().to_string(),
            "sacked" => self.e.scoreboard().sacked().to_string(),
            "lost" => self.e.scoreboard().pending().to_string(),
            // Only one timer is set: the time from the sending of the segment to its expiry.
            "reordering_ms" => {
                ((self.e.deadline().0 + 100_000_000 - self.now.0) / 1_000_000).to_string()
            }
            "deadline_ms" => (self.e.deadline().0 / 1_000_000).to_string(),
            "acknowledged" => self.e.acknowledged().to_string(),
            "at_end" => self.e.at_end().to_string(),
            "fast_retransmits" => self.e.stats().fast_retransmits.to_string(),
            "dup_acks" => self.e.stats().dup_acks.to_string(),
            "retransmits" => self.e.stats().retransmits.to_string(),
            "rto_count" => self.e.stats().rto_count.to_string(),
            "ecn_reductions" => self.e.stats().ecn_reductions.to_string(),
            "undone" => self.e.stats().undone.to_string(),
            "window_probes" => self.e.stats().window_probes.to_string(),
            _ => panic!("unknown name {name}"),
        };
        assert_eq!(seen, value, "at {}: {line}", self.now);
    }
}

/// A segment from the peer, in the notation after `<`.
pub fn segment(text: &str) -> Segment {
    let words: Vec<&str> = text.split_whitespace().collect();
    parse(&words, PEER_ISS, OWN_ISS).segment
}

struct Parsed {
    segment: Segment,
    given: Vec<&'static str>,
}

fn parse(words: &[&str], from: Seq, to: Seq) -> Parsed {
    let n = |w: &str| w.parse::<u64>().unwrap_or_else(|_| panic!("no number: {w} in {words:?}"));
    let (seq, len) = words[1].split_once('+').map_or((words[1], 0), |(s, l)| (s, n(l)));
    let mut segment = Segment {
        seq: from.add(n(seq)),
        len: len as u32,
        window: 60_000,
        flags: flags(words[0]),
        ..Segment::default()
    };
    let mut given = Vec::new();
    let mut rest = words[2..].iter();
    while let Some(word) = rest.next() {
        let mut next = || *rest.next().expect("a value");
        let o = &mut segment.options;
        given.push(match *word {
            "ack" => {
                segment.ack = to.add(n(next()));
                "ack"
            }
            "win" => {
                segment.window = n(next()) as u16;
                "win"
            }
            "mss" => {
                o.mss = Some(n(next()) as u16);
                "mss"
            }
            "ws" => {
                o.window_scale = Some(n(next()) as u8);
                "ws"
            }
            "sackok" => {
                o.sack_permitted = true;
                "sackok"
            }
            "ts" => {
                o.timestamps = Some(Timestamps { value: n(next()) as u32, echo: n(next()) as u32 });
                "ts"
            }
            "sack" => {
                for block in next().split(',') {
                    let (left, right) = block.split_once('-').expect("A-B");
                    o.sack[usize::from(o.sack_count)] =
                        SackBlock { left: to.add(n(left)), right: to.add(n(right)) };
                    o.sack_count += 1;
                }
                "sack"
            }
            "bare" => "bare",
            "ect" | "not-ect" | "ce" => {
                segment.ecn = match *word {
                    "ect" => Codepoint::Ect0,
                    "ce" => Codepoint::Ce,
                    _ => Codepoint::NotEct,
                };
                "ecn"
            }
            _ => panic!("cannot read {word} in {words:?}"),
        });
    }
    Parsed { segment, given }
}

fn flags(word: &str) -> Flags {
    word.chars().fold(Flags::default(), |all, c| {
        all.with(match c {
            'S' => Flags::SYN,
            'F' => Flags::FIN,
            'R' => Flags::RST,
            'E' => Flags::ECE,
            'C' => Flags::CWR,
            'A' => Flags::AE,
            '.' => Flags::ACK,
            _ => panic!("no flag {c}"),
        })
    })
}

fn show(s: &Segment) -> String {
    let names = [
        ("S", Flags::SYN),
        ("F", Flags::FIN),
        ("R", Flags::RST),
        ("E", Flags::ECE),
        ("C", Flags::CWR),
        ("A", Flags::AE),
        (".", Flags::ACK),
    ];
    let flags: String = names.iter().filter(|f| s.flags.has(f.1)).map(|f| f.0).collect();
    let seq = s.seq.0.wrapping_sub(OWN_ISS.0);
    let ack = s.ack.0.wrapping_sub(PEER_ISS.0);
    format!("{flags} {seq}+{} ack {ack} win {} {:?}", s.len, s.window, s.options)
}
