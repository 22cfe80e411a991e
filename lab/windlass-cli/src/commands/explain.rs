//! `windlass explain`.

use std::path::Path;

use windlass_cc::Time;
use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::why::{
    Case, Choice, Explained, Reduction, brief, find, in_force, message, qlog, qvis, sentences,
};
use windlass_sim::{Decided, PacketEvent};

use crate::args::Explain;
use crate::output::{Chatter, Failure, print, width, write_new};

/// Explains reductions of cwnd.
pub fn run(args: &Explain, chatter: &Chatter) -> Result<(), Failure> {
    let choice = Choice { point: args.point.clone(), seed: args.seed };
    let case = find(&args.result, &choice).map_err(Failure::of)?;
    let senders = of_flow(&case, args.flow.as_deref())?;
    if let Some(which) = args.message {
        let flow = flow_with_messages(&case, args.flow.as_deref())?;
        let story = message(&case, &packets(&case)?, flow, which).map_err(Failure::input)?;
        return print(&story);
    }
    if let Some(file) = &args.qlog {
        return written(file, &qlog(&case, &senders));
    }
    if let Some(file) = &args.qvis {
        return written(file, &qvis(&case, &senders, &packets(&case)?));
    }
    let mut chosen = case.reductions();
    chosen.retain(|r| senders.iter().any(|s| std::ptr::eq(*s, r.sender)));
    if let Some(at) = args.at {
        chosen = nearest(chosen, Time::ZERO + at.0);
    }
    if args.json {
        let list: Vec<Explained> = chosen.iter().map(|r| Explained::of(&case, r)).collect();
        let text = serde_json::to_string_pretty(&list).map_err(Failure::work)?;
        return print(&format!("{text}\n"));
    }
    if chosen.is_empty() {
        return print("no cwnd reduction\n");
    }
    match args.at {
        Some(at) => print(&told(&case, &chosen, Time::ZERO + at.0)),
        None => {
            print(&list(&case, &chosen))?;
            chatter.say("`--at TIME` explains one of them");
            Ok(())
        }
    }
}

fn written(file: &Path, text: &str) -> Result<(), Failure> {
    write_new(file, text)?;
    print(&format!("{} is written: {} records\n", file.display(), text.lines().count()))
}

/// The named flow, or the only flow with messages.
fn flow_with_messages(case: &Case, name: Option<&str>) -> Result<usize, Failure> {
    let flows = &case.scenario.flows;
    let known: Vec<&str> = flows.iter().map(|f| f.name.as_str()).collect();
    if let Some(name) = name {
        let at = known.iter().position(|k| *k == name);
        return at.ok_or_else(|| Failure::unknown("flow", name, &known));
    }
    let tells = |i: &usize| case.result.flows[*i].messages.is_some();
    let with: Vec<usize> = (0..flows.len()).filter(tells).collect();
    match with[..] {
        [one] => Ok(one),
        [] => Err(Failure::input("no flow has messages with a deadline; --flow names a flow")),
        _ => Err(Failure::input("several flows have messages; --flow names one")),
    }
}

/// The packets that flows put on links.
fn packets(case: &Case) -> Result<Vec<PacketEvent>, Failure> {
    if !case.config.radios.is_empty() {
        return Err(Failure::input(
            "packets are logged on links alone, and this scenario has a Wi-Fi cell; without this option, explain lists the reductions of cwnd",
        ));
    }
    case.packets().map_err(Failure::of)
}

/// All senders, or the senders of one flow. A flow's name also selects its subflows.
fn of_flow<'a>(case: &'a Case, flow: Option<&str>) -> Result<Vec<&'a Decided>, Failure> {
    let all = case.decisions().senders.iter();
    let Some(flow) = flow else { return Ok(all.collect()) };
    let tracks = case.scenario.tracks();
    let known: Vec<&str> = tracks.iter().map(String::as_str).collect();
    if !known.contains(&flow) {
        return Err(Failure::unknown("flow", flow, &known));
    }
    let part = format!("{flow}:");
    let ours = |s: &&Decided| {
        let name = case.name(s);
        name == flow || name.starts_with(&part)
    };
    Ok(all.filter(ours).collect())
}

/// The reduction that is nearest to a time.
fn nearest(all: Vec<Reduction<'_>>, at: Time) -> Vec<Reduction<'_>> {
    let far = |r: &Reduction<'_>| {
        let d = r.decision;
        if d.since <= at && at <= d.time {
            0
        } else {
            d.since.0.abs_diff(at.0).min(d.time.0.abs_diff(at.0))
        }
    };
    all.into_iter().min_by_key(far).into_iter().collect()
}

fn told(case: &Case, chosen: &[Reduction<'_>], at: Time) -> String {
    let mut out = String::new();
    for r in chosen {
        if let Some(decision) = case.at(r.sender, at).filter(|d| *d != r.decision) {
            out.push_str(&in_force(decision, at));
            out.push_str(" The reduction nearest to that:\n\n");
        }
        for sentence in sentences(case, r) {
            out.push_str(&sentence);
            out.push('\n');
        }
    }
    out
}

fn list(case: &Case, all: &[Reduction<'_>]) -> String {
    let columns = ["when", "flow", "window (segments)", "why", "fate of the packets"];
    let rows = all.iter().map(|r| Row { cells: brief(case, r).to_vec(), ..Row::default() });
    let table = Table {
        id: "reductions".to_owned(),
        caption: format!("{}, seed {}: cwnd reductions", case.scenario.name, case.seed),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    };
    text::table_within(&table, width())
}
