//! `windlass audit`.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use windlass_lab::audit::trace::PATH;
use windlass_lab::audit::{
    self, Audited, CHECKS, Observed, Outcome, PROBES, Probe, Subject, Verdict, page, qlog, ranking,
};
use windlass_lab::run::Runner;
use windlass_lab::run::capture::{CaptureOptions, CapturedFlow, write_pcapng};

use windlass_sim::{PacketEvent, PacketFate};

use super::making::runner;
use crate::args::Audit;
use crate::output::{Chatter, Failure, print};

/// Audits the stacks, and writes their pages and a ranking.
pub fn run(args: &Audit, chatter: &Chatter) -> Result<(), Failure> {
    if !args.qlog.is_empty() {
        return recordings(&args.qlog);
    }
    let subjects = subjects(args)?;
    let runner = runner(1);
    let mut all = Vec::new();
    let mut skipped = Vec::new();
    for (subject, repeat) in &subjects {
        match one(subject, repeat, args, &runner, chatter) {
            Ok(audited) => all.push(audited),
            Err(why) if subjects.len() > 1 => {
                chatter.say(format!("{} is left out: {why}", subject.name));
                skipped.push(subject.name.clone());
            }
            Err(why) => return Err(Failure::work(format!("{}: {why}", subject.name))),
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&all).map_err(Failure::work)?;
        return print(&format!("{text}\n"));
    }
    if subjects.len() > 1 {
        let text = ranking(&all);
        write(&args.out, "ranking.md", &text)?;
        print(&format!("{text}\n"))?;
        chatter.say(format!("ranking: {}", args.out.join("ranking.md").display()));
    }
    match all.is_empty() {
        true => Err(Failure::work(format!("no stack could run: {}", skipped.join(", ")))),
        false => Ok(()),
    }
}

/// Judges recorded connections.
fn recordings(files: &[PathBuf]) -> Result<(), Failure> {
    for file in files {
        let place = file.display();
        let text = fs::read_to_string(file).map_err(|e| Failure::input(format!("{place}: {e}")))?;
        let traces = qlog::read(&text).map_err(|e| Failure::input(format!("{place}: {e}")))?;
        let judged: Vec<qlog::Judged> = traces.iter().map(qlog::judge).collect();
        print(&format!("{}\n", qlog::page(&place.to_string(), &judged)))?;
    }
    Ok(())
}

/// The stacks, each with the command that repeats its audit.
fn subjects(args: &Audit) -> Result<Vec<(Subject, String)>, Failure> {
    let mut subjects = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for word in &args.stacks {
        if word.ends_with(".toml") {
            let listed = audit::list(Path::new(word)).map_err(Failure::input)?;
            known.extend(listed.iter().map(|s| s.name.clone()));
            let wanted = |s: &Subject| args.only.is_empty() || args.only.contains(&s.name);
            let found = listed.into_iter().filter(wanted);
            subjects.extend(found.map(|subject| {
                let repeat = format!("windlass audit {word} --only {}", subject.name);
                (subject, repeat)
            }));
        } else {
            let mut repeat = format!("windlass audit {word} --stack {}", args.stack);
            if args.on != windlass_lab::run::World::Sim {
                repeat += &format!(" --on {}", args.on);
            }
            subjects.push((Subject::own(word, &args.stack, args.on), repeat));
        }
    }
    if let Some(command) = &args.command {
        let peer = args.peer.as_deref();
        let mut repeat = format!("windlass audit --command '{command}'");
        if let Some(peer) = peer {
            repeat += &format!(" --peer '{peer}'");
        }
        subjects.push((Subject::program(command, peer), repeat));
    }
    if let Some(name) = args.only.iter().find(|name| !known.contains(name)) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(Failure::unknown("stack of the list", name, &known));
    }
    match subjects.is_empty() {
        true => Err(Failure::input("no stack is selected; name an algorithm, a list or --command")),
        false => Ok(subjects),
    }
}

fn one(
    subject: &Subject,
    repeat: &str,
    args: &Audit,
    runner: &Runner,
    chatter: &Chatter,
) -> Result<Audited, String> {
    let dir = args.out.join(&subject.name);
    let count = PROBES.iter().filter(|p| needed(args, p)).count();
    let progress = chatter.progress(0, count, &subject.name);
    let mut captures = Vec::new();
    let audited = audit::audit(subject, &args.check, runner, |probe, observed| {
        progress.made(format_args!("{} {}", subject.name, probe.id));
        if let Ok(observed) = observed {
            captures.push((probe.id, capture(&dir, probe, observed)));
        }
    });
    progress.end();
    let audited = audited?;
    let breaks = |o: &Outcome| matches!(o.verdict, Verdict::Fails | Verdict::Deviates);
    for (probe, written) in captures {
        let path = written.map_err(|e| format!("capture of {probe}: {e}"))?;
        let judged = CHECKS.iter().filter(|check| check.probe == probe);
        let of = |id: &str| audited.outcomes.iter().find(|o| o.check == id);
        if !judged.filter_map(|check| of(check.id)).any(breaks) {
            fs::remove_file(path).map_err(|e| format!("capture of {probe}: {e}"))?;
        }
    }
    let text = page(&audited, repeat);
    fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    for outcome in audited.outcomes.iter().filter(|o| breaks(o)) {
        if let Some(picture) = &outcome.picture {
            let path = dir.join(format!("{}.svg", outcome.check));
            fs::write(path, picture).map_err(|e| e.to_string())?;
        }
    }
    fs::write(dir.join("audit.md"), &text).map_err(|e| e.to_string())?;
    if !args.json {
        print(&format!("{text}\n")).map_err(|_| "standard output is closed".to_owned())?;
    }
    chatter.say(format!(
        "{}: {} of {} checks fail; page and captures in {}",
        subject.name,
        audited.count(Verdict::Fails),
        audited.outcomes.len(),
        dir.display()
    ));
    Ok(audited)
}

fn needed(args: &Audit, probe: &Probe) -> bool {
    let wanted = |id: &str| args.check.is_empty() || args.check.iter().any(|c| c == id);
    CHECKS.iter().any(|check| check.probe == probe.id && wanted(check.id))
}

/// Writes the packets of the path, and returns the file.
fn capture(dir: &Path, probe: &Probe, observed: &Observed) -> std::io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let path = dir.join(format!("{}.pcapng", probe.id));
    let links: Vec<&str> = observed.links.iter().map(String::as_str).collect();
    let flows: Vec<CapturedFlow> = observed.flows.iter().map(|f| (*f).into()).collect();
    let options =
        CaptureOptions { snap_len: std::num::NonZeroU32::new(96), ..CaptureOptions::default() };
    // Losses of chosen packets are on the access link.
    let here = |e: &&PacketEvent| e.link / 2 == PATH || e.fate == PacketFate::DroppedError;
    let events = observed.events.iter().filter(here);
    write_pcapng(BufWriter::new(File::create(&path)?), &links, &flows, events, options)?;
    Ok(path)
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), Failure> {
    fs::create_dir_all(dir).and_then(|()| fs::write(dir.join(name), text)).map_err(Failure::work)
}
