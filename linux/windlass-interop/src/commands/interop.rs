//! `windlass-dev interop`.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use serde::Serialize;
use windlass_interop::interop::{Case, Direction, Finding, Report, cases};
use windlass_interop::worlds::interoperate;
use windlass_run::capture::{CaptureOptions, CapturedFlow, write_pcapng};

use crate::args::Interop;
use crate::failure::{Failure, print};

/// Runs cases, or lists them.
pub fn run(args: &Interop) -> Result<(), Failure> {
    let known = cases();
    let chosen = choose(&known, args)?;
    if args.list {
        return list(&chosen, args);
    }
    let done = |report: &Report| eprint!("{}", line(report));
    let outcome = interoperate(args.on, &chosen, args.seed, done);
    let (reports, kernel) = outcome.map_err(Failure::of_run)?;
    if let Some(dir) = &args.out {
        keep(dir, &reports)?;
    }
    print(&if args.json { json(&reports, &kernel)? } else { table(&reports, &kernel) })?;
    match reports.iter().filter(|report| !report.passed()).count() {
        0 => Ok(()),
        failed => Err(Failure::work(format!("{failed} of {} runs failed", reports.len()))),
    }
}

fn choose<'a>(known: &'a [Case], args: &Interop) -> Result<Vec<(&'a Case, Direction)>, Failure> {
    if let Some(name) = args.case.iter().find(|name| !known.iter().any(|case| case.name == **name))
    {
        return Err(Failure::input(format!(
            "no case is called \"{name}\"; `windlass-dev interop --list` prints them"
        )));
    }
    let wanted = known.iter().filter(|c| args.case.is_empty() || args.case.contains(&c.name));
    let chosen: Vec<_> = wanted
        .flat_map(|case| case.directions.iter().map(move |direction| (case, *direction)))
        .filter(|(_, direction)| args.direction.is_none_or(|wanted| wanted == *direction))
        .collect();
    if chosen.is_empty() {
        return Err(Failure::input("no selected case runs in that direction"));
    }
    Ok(chosen)
}

#[derive(Serialize)]
struct Listed<'a> {
    case: &'a str,
    direction: Direction,
    about: String,
}

fn list(chosen: &[(&Case, Direction)], args: &Interop) -> Result<(), Failure> {
    if args.json {
        let listed: Vec<Listed<'_>> = chosen
            .iter()
            .map(|(case, direction)| Listed {
                case: &case.name,
                direction: *direction,
                about: case.about(),
            })
            .collect();
        return print(&document(&listed)?);
    }
    let mut out = String::new();
    for (i, (case, _)) in chosen.iter().enumerate() {
        if i == 0 || chosen[i - 1].0.name != case.name {
            let _ = writeln!(out, "{:<26} {}", case.name, case.about());
        }
    }
    print(&out)
}

#[derive(Serialize)]
struct Document<'a> {
    kernel: &'a str,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    case: &'a str,
    direction: Direction,
    passed: bool,
    findings: &'a [Finding],
    seconds: f64,
    retransmissions: [u64; 2],
    lateness: &'a str,
}

impl Run<'_> {
    fn of(report: &Report) -> Run<'_> {
        Run {
            case: &report.case,
            direction: report.direction,
            passed: report.passed(),
            findings: &report.findings,
            seconds: report.seconds,
            retransmissions: report.retransmissions,
            lateness: &report.lateness,
        }
    }
}

fn json(reports: &[Report], kernel: &str) -> Result<String, Failure> {
    document(&Document { kernel, runs: reports.iter().map(Run::of).collect() })
}

fn document(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::work)?;
    Ok(text + "\n")
}

fn table(reports: &[Report], kernel: &str) -> String {
    let mut out = format!(
        "{:<26} {:<13} {:<7} {:>7} {:>6}\n",
        "case", "direction", "result", "time s", "again"
    );
    reports.iter().for_each(|report| out += &line(report));
    let failed = reports.iter().filter(|report| !report.passed()).count();
    let _ = writeln!(out, "\n{} runs against Linux {kernel}, {failed} failed", reports.len());
    out
}

/// Formats a run, with its findings below it.
fn line(report: &Report) -> String {
    let result = if report.passed() { "ok" } else { "FAILED" };
    let mut out = format!(
        "{:<26} {:<13} {result:<7} {:>7.2} {:>6}\n",
        report.case,
        report.direction.name(),
        report.seconds,
        report.retransmissions.iter().sum::<u64>()
    );
    for finding in &report.findings {
        let _ = writeln!(out, "    {finding}");
    }
    if !report.passed() {
        let _ = writeln!(out, "    lateness of the deliveries: {}", report.lateness);
    }
    out
}

/// Writes captures of the failed runs.
fn keep(dir: &Path, reports: &[Report]) -> Result<(), Failure> {
    let failed =
        |path: &Path, e: io::Error| Failure::work(format!("cannot write {}: {e}", path.display()));
    fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    for report in reports.iter().filter(|report| !report.passed()) {
        let path = dir.join(format!("{}-{}.pcapng", report.case, report.direction));
        let links = report.links();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let flow = CapturedFlow { addresses: report.addresses(), checksums: report.checksums };
        let file = File::create(&path).map_err(|e| failed(&path, e))?;
        write_pcapng(
            BufWriter::new(file),
            &links,
            &[flow],
            &report.packets,
            CaptureOptions::default(),
        )
        .map_err(|e| failed(&path, e))?;
        eprintln!("{}", path.display());
    }
    Ok(())
}
