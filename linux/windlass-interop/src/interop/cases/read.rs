//! Reading of cases from their files.

use windlass_cc::Time;
use windlass_script::words::{Word, Words, bounds, named, number, span, times};
use windlass_script::{Bounds, ON_OFF, Problem, ScriptError, Settings};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::{Discipline, Level, Threshold};
use windlass_tcp::mptcp::Scheduler;

use super::super::faults::{Fault, What, Which};
use super::super::plan::{Case, Expected, KernelSocket, Multipath, Outage, Plan};
use super::super::steps::Step;
use super::super::{Direction, Side};
use super::measures::MEASURES;

const SIDES: [(&str, &[Side]); 3] =
    [("sender", &[Side::Sender]), ("receiver", &[Side::Receiver]), ("both", &Side::BOTH)];
const LINES: &str = "a line begins with case, title, source, only, set, with, multipath, transfer, sender:, \
    receiver:, lose, twice, behind, silent or =";
const STEPS: &str = "steps are listen, connect, open N, write N, received N, eof, shutdown, closed, abort, \
    reset, vanish, pause, resume, and a time";
const MOST: u64 = 1 << 30;

/// Reads the cases of a file.
///
/// # Errors
///
/// Returns the first error in the text, with its place and its remedy.
pub(super) fn read(text: &str, file: &str) -> Result<Vec<Case>, ScriptError> {
    let mut cases = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let words = Words::new(line.split('#').next().unwrap_or(""), start);
        read_line(words, &mut cases).map_err(|problem| problem.in_file(file, text))?;
        start += line.len() + 1;
    }
    Ok(cases)
}

fn read_line(mut words: Words<'_>, cases: &mut Vec<Case>) -> Result<(), Problem> {
    let Some(first) = words.next() else { return Ok(()) };
    match (first.text, cases.last_mut()) {
        ("peer", None) => named(words.expect("kernel")?, "peer", &[("kernel", ())])?,
        ("case", _) => {
            let name = words.expect("a name")?.text;
            cases.push(Case::new(name));
        }
        (_, Some(case)) => return line(first, words, case),
        _ => return Err(first.problem("no case has begun", "write before it: case NAME")),
    }
    words.finish()
}

fn line(first: Word<'_>, mut words: Words<'_>, case: &mut Case) -> Result<(), Problem> {
    let plan = &mut case.plan;
    match first.text {
        "title" => case.title = words.rest().text.to_owned(),
        "source" => case.sources.push(words.rest().text.to_owned()),
        "only" => {
            let all = Direction::ALL.map(|direction| (direction.name(), direction));
            case.directions = vec![named(words.expect("a direction")?, "direction", &all)?];
        }
        "set" => {
            let sides = words.peek().and_then(|word| SIDES.iter().find(|side| side.0 == word.text));
            sides.is_some().then(|| words.next());
            for part in words.parts() {
                for side in sides.map_or(&Side::BOTH[..], |sides| sides.1) {
                    set(part.clone(), *side, plan)?;
                }
            }
        }
        "with" => words.clone().parts().into_iter().try_for_each(|part| with(part, plan))?,
        "multipath" => {
            plan.needless = None;
            let multipath = plan.multipath.get_or_insert_with(Multipath::new);
            words.clone().parts().into_iter().try_for_each(|part| path(part, multipath))?;
        }
        "transfer" => {
            let bytes = number(words.expect("a number of bytes")?, 1, MOST)?;
            words.finish()?;
            [plan.ends[0].steps, plan.ends[1].steps] = transfer(bytes);
        }
        "sender:" | "receiver:" => {
            let side = usize::from(first.text == "receiver:");
            let steps: Result<_, _> = words.parts().into_iter().map(step).collect();
            plan.ends[side].steps = steps?;
        }
        "lose" | "twice" | "behind" => fault(first, words, plan)?,
        "silent" => silent(words, plan)?,
        "=" => expect(words, case)?,
        other => return Err(first.problem(format!("unknown line \"{other}\""), LINES)),
    }
    Ok(())
}

fn set(words: Words<'_>, side: Side, plan: &mut Plan) -> Result<(), Problem> {
    let end = &mut plan.ends[side as usize];
    let algorithm = windlass_cc::AnyParams::by_name(end.algorithm).unwrap_or_default();
    let mut settings = Settings { stack: end.stack, algorithm, ..Settings::new() };
    settings.set(words.clone())?;
    if settings.mtu != Settings::new().mtu {
        return Err(words.problem("the MTU of the paths is fixed", "set mss instead"));
    }
    (end.stack, end.algorithm) = (settings.stack, settings.algorithm.info().id);
    Ok(())
}

/// The sender opens, writes and closes; the receiver closes after that.
fn transfer(bytes: u64) -> [Vec<Step>; 2] {
    use Step::{Closed, Connect, Eof, Listen, Open, Received, Shutdown, Write};
    [
        vec![Connect, Write(bytes), Shutdown, Eof, Closed],
        vec![Listen, Open(1), Received(bytes), Eof, Shutdown, Closed],
    ]
}

/// Returns the name and the value of `NAME = VALUE`.
fn assignment<'a>(mut words: Words<'a>) -> Result<(Word<'a>, Word<'a>), Problem> {
    let name = words.expect("NAME = VALUE")?;
    named(words.expect("= and a value")?, "sign", &[("=", ())])?;
    let value = words.expect("a value")?;
    words.finish()?;
    Ok((name, value))
}

/// Returns the number before a unit.
fn quantity(word: Word<'_>, unit: &str, most: u64) -> Result<u64, Problem> {
    let digits = word.text.strip_suffix(unit);
    let digits = digits.ok_or_else(|| {
        word.problem(format!("{unit} is missing"), format!("write a number and {unit}"))
    })?;
    number(Word { text: digits, ..word }, 1, most)
}

fn with(words: Words<'_>, plan: &mut Plan) -> Result<(), Problem> {
    let (name, value) = assignment(words)?;
    match name.text {
        "rate" => plan.rate_bps = 1_000_000 * quantity(value, "Mbps", 10_000)?,
        "delay" => plan.delay = span(value)?,
        "loss" => {
            let probability = quantity(value, "%", 99)? as f64 / 100.0;
            plan.loss = [(); 2].map(|()| Some(LossModel::Drop { probability }));
        }
        "marks" => {
            let mark = Level::Packets(number(value, 1, 1_000)?);
            plan.discipline = Discipline::Threshold(Threshold { mark, probability: 0.0 });
        }
        "patience" => plan.patience = Time::ZERO + span(value)?,
        "needless" if value.text == "any" => plan.needless = None,
        "needless" => plan.needless = Some(number(value, 0, 1_000)? as u32),
        "resets" => plan.resets = named(value, "switch position", &ON_OFF)?,
        _ => {
            let help = "there are rate, delay, loss, marks, patience, needless and resets";
            return Err(name.problem("unknown condition", help));
        }
    }
    Ok(())
}

fn path(words: Words<'_>, multipath: &mut Multipath) -> Result<(), Problem> {
    let (name, value) = assignment(words)?;
    let config = &mut multipath.config;
    match name.text {
        "kernel" => {
            let sockets = [("plain", KernelSocket::Plain), ("checksums", KernelSocket::Checksums)];
            multipath.kernel = named(value, "socket", &sockets)?;
        }
        "checksum" => config.checksum = named(value, "switch position", &ON_OFF)?,
        "peer_capable" => config.peer_capable = named(value, "switch position", &ON_OFF)?,
        "receive_buffer" => config.receive_buffer = number(value, 1, MOST)?,
        "scheduler" => {
            config.scheduler = named(value, "scheduler", &[("redundant", Scheduler::Redundant)])?
        }
        _ => {
            let help = "there are kernel, checksum, peer_capable, receive_buffer and scheduler";
            return Err(name.problem("unknown property of Multipath TCP", help));
        }
    }
    Ok(())
}

fn step(mut words: Words<'_>) -> Result<Step, Problem> {
    let word = words.expect(STEPS)?;
    let mut count = || number(words.expect("a number")?, 1, MOST);
    let step = match word.text {
        "listen" => Step::Listen,
        "connect" => Step::Connect,
        "open" => Step::Open(count()? as u32),
        "write" => Step::Write(count()?),
        "received" => Step::Received(count()?),
        "eof" => Step::Eof,
        "shutdown" => Step::Shutdown,
        "closed" => Step::Closed,
        "abort" => Step::Abort,
        "reset" => Step::Reset,
        "vanish" => Step::Vanish,
        "pause" => Step::Pause,
        "resume" => Step::Resume,
        time => match time.strip_prefix('+') {
            Some(text) => Step::Wait(span(Word { text, start: word.start + 1 })?),
            None if time.starts_with(|c: char| c.is_ascii_digit()) => {
                Step::Until(Time::ZERO + span(word)?)
            }
            None => return Err(word.problem(format!("unknown step \"{time}\""), STEPS)),
        },
    };
    words.finish()?;
    Ok(step)
}

/// Parses `lose SIDE PACKETS`, `twice SIDE PACKETS TIME` and `behind SIDE PACKETS COUNT`, with `second` before the side for
/// the second path.
fn fault(first: Word<'_>, mut words: Words<'_>, plan: &mut Plan) -> Result<(), Problem> {
    let second = words.peek().is_some_and(|word| word.text == "second");
    second.then(|| words.next());
    let from = named(
        words.expect("sender or receiver")?,
        "side",
        &[("sender", Side::Sender), ("receiver", Side::Receiver)],
    )?;
    let which = packets(&mut words)?;
    let what = match first.text {
        "lose" => What::Drop,
        "twice" => What::Twice(span(words.expect("the time until it arrives again")?)?),
        _ => What::Behind(number(words.expect("a number of later packets")?, 1, 1_000)? as u32),
    };
    words.finish()?;
    let faults = match (second, &mut plan.multipath) {
        (false, _) => &mut plan.faults,
        (true, Some(multipath)) => &mut multipath.faults,
        (true, None) => {
            return Err(first.problem("there is one path", "write before it: multipath"));
        }
    };
    faults.push(Fault { from, which, what });
    Ok(())
}

fn packets(words: &mut Words<'_>) -> Result<Which, Problem> {
    let kind = words.expect("syn, byte OFFSET, fin, ack, ack-after-fin or reopening")?;
    let offset = match kind.text {
        "byte" => number(words.expect("the offset of a byte")?, 0, MOST)?,
        _ => 0,
    };
    let Bounds { least, most } = bounds(words.expect("the number of the packet, from 1")?, 1_000)?;
    let (from, to) = (least as u32, most as u32);
    Ok(match kind.text {
        "syn" => Which::Syn(from, to),
        "byte" => Which::Byte(offset, (from, to)),
        "fin" => Which::Fin(from, to),
        "ack" => Which::Ack(from, to),
        "ack-after-fin" => Which::AckAfterFin(from, to),
        "reopening" => Which::Reopening(from, to),
        _ => {
            let help = "there are syn, byte OFFSET, fin, ack, ack-after-fin and reopening";
            return Err(kind.problem("unknown packets", help));
        }
    })
}

/// Parses `silent PATH FROM..TO`: the path delivers nothing in this time.
fn silent(mut words: Words<'_>, plan: &mut Plan) -> Result<(), Problem> {
    let word = words.expect("1 or 2, the path")?;
    let path = number(word, 1, 2)? as u8 - 1;
    let Bounds { least, most } = times(words.expect("a time, such as 250ms..1s")?)?;
    words.finish()?;
    let Some(multipath) = &mut plan.multipath else {
        return Err(word.problem("there is one path", "write before it: multipath"));
    };
    multipath.outages.push(Outage { path, from: Time(least), to: Time(most) });
    Ok(())
}

fn expect(mut words: Words<'_>, case: &mut Case) -> Result<(), Problem> {
    let sides = named(words.expect("sender, receiver or both")?, "side", &SIDES)?;
    let name = words.expect("a measure, such as retransmissions")?;
    let measure = MEASURES.iter().find(|measure| measure.0 == name.text);
    let Some(measure) = measure else {
        let all: Vec<&str> = MEASURES.iter().map(|measure| measure.0).collect();
        return Err(name.problem("unknown measure", format!("there are {}", all.join(", "))));
    };
    let value = bounds(words.expect("its value")?, MOST)?;
    words.finish()?;
    case.expected.extend(sides.iter().map(|side| Expected { measure, side: *side, value }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interop::findings::Findings;
    use crate::interop::trace::Trace;

    #[test]
    fn errors_have_a_place_and_a_remedy() {
        for (line, expected) in [
            (
                "sender: connect, sing",
                "a.cases:2:18: unknown step \"sing\"; steps are listen, connect",
            ),
            (
                "lose sender syn",
                "a.cases:2:16: the line ends here; write the number of the packet, from 1",
            ),
            (
                "lose second sender syn 1",
                "a.cases:2:1: there is one path; write before it: multipath",
            ),
            ("lose nobody syn 1", "no side is called \"nobody\"; there are sender, receiver"),
            ("lose sender song 1", "unknown packets; there are syn, byte OFFSET"),
            ("silent 2 1s..", "there is one path; write before it: multipath"),
            ("with rate = 20", "Mbps is missing; write a number and Mbps"),
            ("with colour = red", "unknown condition; there are rate, delay"),
            ("multipath colour = red", "unknown property of Multipath TCP; there are kernel"),
            ("set sender colour = red", "no setting is called \"colour\"; there are stack"),
            ("set mtu = 1000", "a.cases:2:5: the MTU of the paths is fixed; set mss instead"),
            ("= sender joy 1", "unknown measure; there are syns"),
            ("only up", "there are ours-sends, kernel-sends"),
            ("transfer 1 2", "unexpected \"2\"; remove it"),
            ("sing", "unknown line \"sing\"; a line begins with case"),
        ] {
            let said = read(&format!("case a\n{line}"), "a.cases").unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
        let said = read("transfer 1000", "a.cases").unwrap_err().to_string();
        assert!(said.contains("no case has begun; write before it: case NAME"), "{said}");
    }

    #[test]
    fn result_outside_its_bounds_is_a_finding() {
        let mut found = Findings::default();
        let cases =
            read("case a\n= both syns 0\n= sender fins 1..\n= receiver resets 2..3", "a.cases")
                .unwrap();
        let trace = Trace::of(Vec::new());
        cases[0].expected.iter().for_each(|e| e.check(&cases[0].plan, &trace, &mut found));
        let said: Vec<String> = found.0.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "expected fins of the sender: 1.., found 0",
                "expected resets of the receiver: 2..3, found 0"
            ]
        );
    }
}
