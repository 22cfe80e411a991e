//! Segments: `FLAGS SEQ[+LEN] [ack N] [win N] [ect|ce|not-ect] [<OPTIONS>]`.

use windlass_tcp::accurate_option::{COUNTER_RANGE, EcnOption, EcnOrder};
use windlass_tcp::segment::MAX_SACK_BLOCKS;
use windlass_tcp::{Codepoint, Flags};

use super::words::{Word, Words, bounds, named, number, offset};
use crate::ast::{Bounds, OptionsSpec, SegmentSpec, Stamp, TimestampsSpec};
use crate::error::Problem;

const HELP: &str = "a segment is written FLAGS SEQ[+LEN] [ack N] [win N] [ect|ce|not-ect] \
    [<OPTIONS>], such as: . 1+1000 ack 1";
const CODEPOINTS: [(&str, Codepoint); 4] = [
    ("not-ect", Codepoint::NotEct),
    ("ect", Codepoint::Ect0),
    ("ect1", Codepoint::Ect1),
    ("ce", Codepoint::Ce),
];
/// Maximum payload of a segment in an IPv4 packet.
const MAX_LEN: u64 = 65_495;

/// Letters of the flags, as in tcpdump.
pub(crate) const FLAGS: [(char, Flags); 8] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('.', Flags::ACK),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
];

/// Parses an arriving segment, in which every value is definite.
pub(super) fn incoming(words: Words<'_>) -> Result<SegmentSpec, Problem> {
    let place = words.peek();
    let spec = segment(words)?;
    let open = |b: Option<Bounds>| b.is_some_and(|b| b.least != b.most);
    let o = &spec.options;
    let vague = spec.seq.is_none() || open(spec.window) || open(o.mss) || open(o.window_scale);
    if let Some(word) = place.filter(|_| vague || o.others) {
        let help = "*, ... and ranges are for segments that are expected";
        return Err(word.problem("a segment that arrives has definite values", help));
    }
    if let (Some(word), TimestampsSpec::Given(Stamp::Named(_), _)) = (place, &o.timestamps) {
        let help = "write a number, or * for the peer's clock; names are only for echoed values";
        return Err(word.problem("the peer's own timestamp has no name", help));
    }
    if let Some(word) = place.filter(|_| spec.flags.has(Flags::ACK) != spec.ack.is_some()) {
        let help = "write \"ack N\" with the flag \".\", and neither without the other";
        return Err(word.problem("flag and acknowledgement number belong together", help));
    }
    Ok(spec)
}

/// Parses a departure.
pub(super) fn outgoing(words: Words<'_>) -> Result<SegmentSpec, Problem> {
    let place = words.peek();
    let spec = segment(words)?;
    let knowable = match &spec.options.timestamps {
        TimestampsSpec::Given(value, echo) => {
            !matches!(value, Stamp::Number(_)) && !matches!(echo, Stamp::Named(_))
        }
        _ => true,
    };
    if let Some(word) = place.filter(|_| !knowable) {
        let help = "write * or a name for TSval, * or a number of the peer's clock for TSecr";
        return Err(word.problem("this timestamp is unpredictable", help));
    }
    Ok(spec)
}

fn segment(mut words: Words<'_>) -> Result<SegmentSpec, Problem> {
    let flags = flags(words.expect("a segment")?)?;
    let (seq, len) = position(words.expect("a sequence number")?)?;
    let mut spec = SegmentSpec {
        flags,
        seq,
        len,
        ack: None,
        window: None,
        ecn: None,
        options: OptionsSpec::default(),
    };
    let mut bracketed = false;
    loop {
        if let Some(inside) = words.bracket()? {
            if bracketed {
                return Err(inside.problem("duplicate options", "write them once"));
            }
            bracketed = true;
            spec.options = options(inside)?;
            continue;
        }
        let Some(word) = words.next() else { return Ok(spec) };
        match word.text {
            "ack" if spec.ack.is_none() => {
                spec.ack = Some(offset(words.expect("a number after ack")?)?);
            }
            "win" if spec.window.is_none() => {
                spec.window = Some(bounds(words.expect("a number after win")?, 1 << 30)?);
            }
            "ack" | "win" => return Err(word.problem("duplicate field", "remove one")),
            _ if spec.ecn.is_none() && CODEPOINTS.iter().any(|c| c.0 == word.text) => {
                spec.ecn = Some(named(word, "codepoint", &CODEPOINTS)?);
            }
            other => {
                return Err(word.problem(format!("\"{other}\" is not a part of a segment"), HELP));
            }
        }
    }
}

fn flags(word: Word<'_>) -> Result<Flags, Problem> {
    if word.text == "-" {
        return Ok(Flags::default());
    }
    let mut all = Flags::default();
    for c in word.text.chars() {
        let Some(flag) = FLAGS.iter().find(|flag| flag.0 == c).filter(|f| !all.has(f.1)) else {
            let help = "flags are S, F, R, P, . for ACK, E for ECE, W for CWR and A for AE, each once; - for none";
            return Err(word.problem(format!("invalid flags \"{}\"", word.text), help));
        };
        all = all.with(flag.1);
    }
    Ok(all)
}

/// Parses `SEQ`, `SEQ+LEN`, `*` or `*+LEN`.
fn position(word: Word<'_>) -> Result<(Option<i64>, u32), Problem> {
    let (seq, len) = word.text.split_once('+').unwrap_or((word.text, ""));
    let at = if seq == "*" { None } else { Some(offset(Word { text: seq, ..word })?) };
    let payload = match word.text.contains('+') {
        true => number(Word { text: len, start: word.start + seq.len() + 1 }, 1, MAX_LEN)?,
        false => 0,
    };
    Ok((at, payload as u32))
}

fn options(inside: Words<'_>) -> Result<OptionsSpec, Problem> {
    let mut options = OptionsSpec::default();
    let mut seen = Vec::new();
    for mut part in inside.parts() {
        let name = part.expect("an option, such as mss 1460")?;
        if seen.contains(&name.text) {
            return Err(name.problem("duplicate option", "remove one"));
        }
        seen.push(name.text);
        option(name, &mut part, &mut options)?;
        part.finish()?;
    }
    Ok(options)
}

fn option(name: Word<'_>, words: &mut Words<'_>, options: &mut OptionsSpec) -> Result<(), Problem> {
    match name.text {
        "..." => options.others = true,
        "mss" => options.mss = Some(bounds(words.expect("a size after mss")?, 65_535)?),
        "ws" => options.window_scale = Some(bounds(words.expect("a shift after ws")?, 255)?),
        "sackok" => options.sack_permitted = true,
        "ts" => {
            let value = stamp(words.expect("TSval after ts")?)?;
            let echo = stamp(words.expect("TSecr after TSval")?)?;
            options.timestamps = TimestampsSpec::Given(value, echo);
        }
        "no-ts" => options.timestamps = TimestampsSpec::Absent,
        "sack" => options.sack = blocks(name, words)?,
        "accecn" => options.accurate_ecn = Some(counters(words)?),
        other => {
            let help = "options are mss N, ws N, sackok, ts TSVAL TSECR, no-ts, sack A-B ..., accecn e1 N ce N e0 N, and ...";
            return Err(name.problem(format!("no option is called \"{other}\""), help));
        }
    }
    Ok(())
}

/// Parses the counters of accurate ECN: `e1 N ce N e0 N` or `e0 N ce N e1 N`, or the first of them. `e1` first is kind
/// 174, and `e0` first is kind 172.
fn counters(words: &mut Words<'_>) -> Result<EcnOption, Problem> {
    let zero = words.peek().is_some_and(|word| word.text == "e0");
    let (order, names) = match zero {
        true => (EcnOrder::Ect0First, ["e0", "ce", "e1"]),
        false => (EcnOrder::Ect1First, ["e1", "ce", "e0"]),
    };
    let mut counters = Vec::new();
    for name in names {
        let Some(word) = words.next() else { break };
        if word.text != name {
            let message = format!("\"{}\" is not the next counter", word.text);
            return Err(word.problem(message, "write e1 N ce N e0 N, or e0 N ce N e1 N"));
        }
        let most = u64::from(COUNTER_RANGE - 1);
        counters.push(number(words.expect("a number of bytes")?, 0, most)? as u32);
    }
    Ok(EcnOption::new(order, &counters))
}

/// Parses `*`, a number or a name.
fn stamp(word: Word<'_>) -> Result<Stamp, Problem> {
    if word.text == "*" {
        return Ok(Stamp::Any);
    }
    if word.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(Stamp::Named(word.text.to_owned()));
    }
    offset(word).map(Stamp::Number).map_err(|_| {
        let message = format!("\"{}\" is not a timestamp", word.text);
        word.problem(message, "write a number, a name, or *")
    })
}

fn blocks(name: Word<'_>, words: &mut Words<'_>) -> Result<Vec<(i64, i64)>, Problem> {
    let mut blocks = Vec::new();
    for word in words.by_ref() {
        let Some((left, right)) = word.text.split_once('-').filter(|b| !b.0.is_empty()) else {
            let message = format!("\"{}\" is not a SACK block", word.text);
            return Err(word.problem(message, "write LEFT-RIGHT, such as 1001-2001"));
        };
        let right = Word { text: right, start: word.start + left.len() + 1 };
        blocks.push((offset(Word { text: left, ..word })?, offset(right)?));
    }
    if blocks.is_empty() || blocks.len() > MAX_SACK_BLOCKS {
        let message = format!("{} SACK blocks", blocks.len());
        let help = format!("write 1 to {MAX_SACK_BLOCKS}, which fit with timestamps");
        return Err(name.problem(message, help));
    }
    Ok(blocks)
}
