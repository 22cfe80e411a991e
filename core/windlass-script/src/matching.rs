//! Comparison of a departure with the expected segment, and segments in the language of scripts.

use std::fmt::Write;

use windlass_tcp::accurate_option::{EcnOption, EcnOrder};
use windlass_tcp::{Codepoint, Flags, Options, Segment};

use super::ast::{Bounds, OptionsSpec, SegmentSpec, Stamp, TimestampsSpec};
use super::parse::FLAGS;
use super::peer::{PEER_ISS, Peer, relative};

/// Describes every difference between a segment and the expected segment. The peer has already read the
/// segment. A name given to its timestamp is stored.
pub(crate) fn differences(spec: &SegmentSpec, segment: &Segment, peer: &mut Peer) -> Vec<String> {
    let mut found = Vec::new();
    let compared = |flags: Flags| flags.0 & !Flags::PSH.0;
    if compared(spec.flags) != compared(segment.flags) {
        let (wanted, came) = (flags(spec.flags), flags(segment.flags));
        found.push(format!("flags {came} instead of {wanted}"));
    }
    let seq = relative(segment.seq, peer.own_iss());
    if let Some(wanted) = spec.seq.filter(|wanted| *wanted != seq) {
        found.push(format!("sequence number {seq} instead of {wanted}"));
    }
    if spec.len != segment.len {
        found.push(format!("{} bytes of payload instead of {}", segment.len, spec.len));
    }
    let ack = relative(segment.ack, PEER_ISS);
    if let Some(wanted) = spec.ack.filter(|wanted| *wanted != ack) {
        found.push(format!("acknowledgement {ack} instead of {wanted}"));
    }
    let window = window(segment, peer);
    if let Some(wanted) = spec.window.filter(|wanted| !wanted.allow(window)) {
        found.push(format!("window {window} instead of {}", wanted));
    }
    if let Some(wanted) = spec.ecn.filter(|wanted| *wanted != segment.ecn) {
        found.push(format!("{} instead of {}", codepoint(segment.ecn), codepoint(wanted)));
    }
    compare_options(&spec.options, segment, peer, &mut found);
    found
}

fn compare_options(spec: &OptionsSpec, s: &Segment, peer: &mut Peer, found: &mut Vec<String>) {
    let o = &s.options;
    let mut compare = |name: &str, wanted: Option<Bounds>, came: Option<u64>| match (wanted, came) {
        (Some(wanted), None) => found.push(format!("no {name}, wanted {}", wanted)),
        (Some(wanted), Some(came)) if !wanted.allow(came) => {
            found.push(format!("{name} {came} instead of {}", wanted));
        }
        (None, Some(came)) if !spec.others => found.push(format!("{name} {came}, wanted none")),
        _ => {}
    };
    compare("mss", spec.mss, o.mss.map(u64::from));
    compare("ws", spec.window_scale, o.window_scale.map(u64::from));
    match (spec.sack_permitted, o.sack_permitted) {
        (true, false) => found.push("no sackok".to_owned()),
        (false, true) if !spec.others => found.push("sackok, wanted none".to_owned()),
        _ => {}
    }
    let (wanted, came) = (spec.accurate_ecn, o.accurate_ecn());
    if wanted != came && !(spec.others && wanted.is_none()) {
        let text = |option: Option<EcnOption>| option.map_or("no accecn".to_owned(), accecn);
        found.push(format!("{} instead of {}", text(came), text(wanted)));
    }
    let came = blocks(o);
    if came != spec.sack && !(spec.others && spec.sack.is_empty()) {
        found.push(format!("{} instead of {}", sack(&came), sack(&spec.sack)));
    }
    compare_timestamps(spec, s, peer, found);
}

fn compare_timestamps(spec: &OptionsSpec, s: &Segment, peer: &mut Peer, found: &mut Vec<String>) {
    let came = s.options.timestamps;
    let due = peer.timestamps_agreed() && !s.flags.has(Flags::RST);
    match (&spec.timestamps, came) {
        (TimestampsSpec::Implied, _) if spec.others || s.flags.has(Flags::RST) => {}
        (TimestampsSpec::Implied, None) if due => {
            found.push("no timestamps, though both sides have offered them".to_owned());
        }
        (TimestampsSpec::Implied, Some(_)) if !due => {
            found.push("timestamps, though not both sides have offered them".to_owned());
        }
        (TimestampsSpec::Absent, Some(_)) => found.push("timestamps, wanted none".to_owned()),
        (TimestampsSpec::Given(..), None) => found.push("no timestamps".to_owned()),
        (TimestampsSpec::Given(value, echo), Some(t)) => {
            if let Stamp::Named(name) = value {
                peer.remember(name, t.value);
            }
            if let Stamp::Number(wanted) = echo
                && *wanted as u32 != t.echo
            {
                found.push(format!("TSecr {} instead of {wanted}", t.echo as i32));
            }
        }
        _ => {}
    }
}

/// Returns the window in bytes, scaled except on a SYN.
pub(super) fn window(segment: &Segment, peer: &Peer) -> u64 {
    let shift = if segment.flags.has(Flags::SYN) { 0 } else { peer.own_shift() };
    u64::from(segment.window) << shift
}

/// Formats a departure as in a script.
pub(crate) fn left(segment: &Segment, peer: &Peer) -> String {
    let mut text = head(segment, relative(segment.seq, peer.own_iss()));
    if segment.flags.has(Flags::ACK) {
        let _ = write!(text, " ack {}", relative(segment.ack, PEER_ISS));
    }
    let _ = write!(text, " win {}", window(segment, peer));
    let o = &segment.options;
    tail(&mut text, segment, &blocks(o), |t| format!("ts {} {}", t.0, t.1 as i32));
    text
}

/// Formats a segment of the peer as in a script.
pub(super) fn arrived(segment: &Segment, peer: &Peer) -> String {
    let iss = peer.own_iss();
    let mut text = head(segment, relative(segment.seq, PEER_ISS));
    if segment.flags.has(Flags::ACK) {
        let _ = write!(text, " ack {}", relative(segment.ack, iss));
    }
    let shift = if segment.flags.has(Flags::SYN) { 0 } else { peer.peer_shift() };
    let _ = write!(text, " win {}", u64::from(segment.window) << shift);
    let blocks = segment.options.sack_blocks().iter();
    let blocks: Vec<_> = blocks.map(|b| (relative(b.left, iss), relative(b.right, iss))).collect();
    tail(&mut text, segment, &blocks, |t| format!("ts {} {}", t.0 as i32, t.1));
    text
}

fn head(segment: &Segment, seq: i64) -> String {
    let mut text = format!("{} {seq}", flags(segment.flags));
    if segment.len > 0 {
        let _ = write!(text, "+{}", segment.len);
    }
    text
}

fn tail(
    text: &mut String,
    segment: &Segment,
    sack_blocks: &[(i64, i64)],
    timestamps: impl Fn((u32, u32)) -> String,
) {
    if segment.ecn != Codepoint::NotEct {
        let _ = write!(text, " {}", codepoint(segment.ecn));
    }
    let o = &segment.options;
    let mut parts = Vec::new();
    parts.extend(o.mss.map(|mss| format!("mss {mss}")));
    parts.extend(o.sack_permitted.then(|| "sackok".to_owned()));
    parts.extend(o.timestamps.map(|t| timestamps((t.value, t.echo))));
    parts.extend(o.window_scale.map(|shift| format!("ws {shift}")));
    if !sack_blocks.is_empty() {
        parts.push(sack(sack_blocks));
    }
    parts.extend(o.accurate_ecn().map(accecn));
    if !parts.is_empty() {
        let _ = write!(text, " <{}>", parts.join(", "));
    }
}

pub(super) fn blocks(options: &Options) -> Vec<(i64, i64)> {
    let relative = |seq| relative(seq, PEER_ISS);
    options.sack_blocks().iter().map(|b| (relative(b.left), relative(b.right))).collect()
}

fn sack(blocks: &[(i64, i64)]) -> String {
    if blocks.is_empty() {
        return "no sack".to_owned();
    }
    let blocks: Vec<String> = blocks.iter().map(|b| format!("{}-{}", b.0, b.1)).collect();
    format!("sack {}", blocks.join(" "))
}

/// Formats an option of accurate ECN as in a script.
pub(super) fn accecn(option: EcnOption) -> String {
    let mut names = ["e1", "ce", "e0"];
    if option.order() == EcnOrder::Ect0First {
        names.reverse();
    }
    let counters = names.iter().zip(option.counters());
    let fields: String = counters.map(|(name, counter)| format!(" {name} {counter}")).collect();
    format!("accecn{fields}")
}

pub(super) fn codepoint(codepoint: Codepoint) -> &'static str {
    match codepoint {
        Codepoint::NotEct => "not-ect",
        Codepoint::Ect0 => "ect",
        Codepoint::Ect1 => "ect1",
        Codepoint::Ce => "ce",
    }
}

pub(super) fn flags(all: Flags) -> String {
    let letters: String = FLAGS.iter().filter(|flag| all.has(flag.1)).map(|flag| flag.0).collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
}
