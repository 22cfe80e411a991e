//! The page of a scenario's runs: one run over time, the causes of its cwnd reductions, and the results of all runs.
//!
//! The page repeats a run and records all series and decisions ([`crate::why`]), because a stored run may have no
//! series.

mod bands;
mod curves;
mod fleet;
mod ladder;

use std::sync::Arc;

use curves::DRAWN;
use ladder::story_id;

use windlass_cc::{Phase, Span};
use windlass_sim::{Decided, FlowResult};
use windlass_tcp::Cause;

use crate::overview;
use crate::report::model::{
    Block, Ladder, Moment, MomentKind, Report, Section, Spell, SpellTone, Story, Table, Timeline,
};
use crate::report::numbers::{number, rate_unit};
use crate::run::{Ran, RunError, RunRecord, Task, World};
use crate::scenario::Scenario;
use crate::stations::Stations;
use crate::why::{Case, Reduction, brief, sentences};

/// Number of intervals of rates and queues.
const INTERVALS: u64 = 1000;
/// Maximum number of explained reductions, and maximum number of reductions with their packets.
const EXPLAINED: usize = 60;
const WITH_PACKETS: usize = 12;
/// Up to this number of packet-hops, every change of a series is recorded. In longer runs a series has at most
/// [`SAMPLES`].
const EVERY_CHANGE: u64 = 4_000_000;
const SAMPLES: u64 = 20_000;
/// Maximum number of runs in the bands of curves. Each is repeated.
const BANDED: usize = 20;

/// The page of these runs of the simulator. The first run is drawn over time. `command` repeats the runs.
///
/// # Errors
///
/// The simulator does not accept the scenario.
pub fn report(
    scenario: &Scenario,
    records: &[RunRecord],
    command: &str,
) -> Result<Option<Report>, RunError> {
    let Some(first) = records.first() else { return Ok(None) };
    let apart = match first.packet_hops {
        hops if hops > EVERY_CHANGE => sparse(scenario),
        _ => Span::ZERO,
    };
    let case = noted(scenario, first.seed, apart)?;
    let (summary, mut sections) = drawn_and_explained(&case, WITH_PACKETS)?;
    if let Some(Section { blocks, .. }) = sections.iter_mut().find(|s| s.id == "why") {
        blocks.push(Block::Command {
            about: Some(
                "To explain a reduction by its time, in the folder of this page:".to_owned(),
            ),
            command: "windlass explain . --at 12.3s".to_owned(),
            scenario: None,
        });
    }
    sections.extend(between(scenario, records, &case)?);
    sections.extend(places(scenario, first));
    let about = Some("To repeat the runs:".to_owned());
    let made = Block::Command { about, command: command.to_owned(), scenario: None };
    sections.push(totals(scenario, records, Some(made)));
    let seeds: Vec<String> = records.iter().map(|r| r.seed.to_string()).collect();
    let line = |label: &str, value: String| (label.to_owned(), value);
    Ok(Some(Report {
        title: scenario.name.clone(),
        summary,
        verdicts: Vec::new(),
        counted: None,
        provenance: vec![
            line("Scenario", format!("{}, hash {}", scenario.name, first.scenario_hash)),
            line("Windlass", first.version.clone()),
            line("Backend", first.world.clone()),
            line("Run over time", format!("seed {}", first.seed)),
            line("Seeds", seeds.join(" ")),
            line("Command", command.to_owned()),
        ],
        sections,
        ..Report::default()
    }))
}

/// The page of one run that is made only for the page, without provenance. With `packets`, the page also
/// draws the packets around reductions, for which the run is made twice.
///
/// # Errors
///
/// The simulator does not accept the scenario.
pub fn look(scenario: &Scenario, seed: u64, packets: bool) -> Result<Report, RunError> {
    let case = noted(scenario, seed, sparse(scenario))?;
    let with_packets = if packets { WITH_PACKETS } else { 0 };
    let (summary, mut sections) = drawn_and_explained(&case, with_packets)?;
    let task = Task {
        experiment: String::new(),
        point: String::new(),
        seed,
        scenario: Arc::new(scenario.clone()),
        scenario_hash: scenario.hash().into(),
        world: World::Sim,
    };
    // The time series has the page's intervals, not the scenario's, so that the record leaves it out.
    let ran = Ran { result: case.result.clone(), kernel: None };
    let record = RunRecord { course: None, ..task.record(&ran) };
    sections.extend(places(scenario, &record));
    sections.push(totals(scenario, &[record], None));
    Ok(Report { title: scenario.name.clone(), summary, sections, ..Report::default() })
}

/// Minimum time between two samples of a series, so that a series has at most [`SAMPLES`].
fn sparse(scenario: &Scenario) -> Span {
    Span(scenario.duration.0 / SAMPLES)
}

/// A run with the records that its page needs.
fn noted(scenario: &Scenario, seed: u64, apart: Span) -> Result<Case, RunError> {
    Case::recording(scenario, seed, |record| {
        record.series = curves::SERIES.to_vec();
        record.interval = apart;
        record.bins = Span((scenario.duration.0 / INTERVALS).max(1));
    })
}

/// The summary of a run, and its sections: the run over time, and the explanations of reductions if there are
/// reductions. The first `with_packets` explanations have their packets.
fn drawn_and_explained(
    case: &Case,
    with_packets: usize,
) -> Result<(String, Vec<Section>), RunError> {
    let reductions = case.reductions();
    let shown = told(&reductions);
    let packets = ladder::exchanges(case, &shown[..shown.len().min(with_packets)])?;
    let mut sections: Vec<Section> = fleet::section(case).into_iter().collect();
    sections.push(over_time(case, &reductions, &shown));
    sections.extend(why(case, &reductions, &shown, packets));
    Ok((summary(case, &reductions), sections))
}

/// Summary of the run, in three sentences.
fn summary(case: &Case, reductions: &[Reduction<'_>]) -> String {
    let seconds = case.result.end.as_nanos() as f64 / 1e9;
    let flows = match fleet::is_fleet(case) {
        true => fleet::summary(case).join("; "),
        false => few(case),
    };
    let of = |kind: fn(&Reduction<'_>) -> bool| reductions.iter().filter(|r| kind(r)).count();
    let losses = of(|r| matches!(r.decision.cause, Cause::Losses | Cause::RepairedByProbe));
    let timeouts = of(|r| matches!(r.decision.cause, Cause::Timeout { .. }));
    // An algorithm that uses the share of marked packets reduces cwnd itself.
    let marks = of(|r| r.decision.cause == Cause::Echo || !r.marks.is_empty());
    let others = reductions.len() - losses - timeouts - marks;
    let unfounded = reductions.iter().filter(|r| r.undone.is_some()).count();
    let by_links: u64 = case.result.links.iter().map(|l| l.drops).sum();
    let stations = case.result.radios.iter().flat_map(|r| &r.stations);
    let by_stations: u64 = stations.map(|s| s.drops_queue + s.drops_retry + s.drops_off).sum();
    let dropped = by_links + by_stations;
    let text = case.scenario.description.trim();
    let about = match text.is_empty() {
        true => String::new(),
        false => format!("{}.\n\n", text.trim_end_matches('.')),
    };
    format!(
        "{about}In {seconds} s: {flows}. cwnd was reduced {losses} times after losses, {timeouts} times after timeouts, {marks} times \
         after congestion marks and {others} times for other reasons; {unfounded} of these reductions were spurious. The network dropped {dropped} packets."
    )
}

/// Goodput of each of the first flows.
fn few(case: &Case) -> String {
    let one = |f: &FlowResult| {
        let (rate, unit) = rate_unit(std::iter::once(f.goodput_bps));
        let goodput = number((f.goodput_bps / rate * 100.0).round() / 100.0);
        format!("{} ({}) had a goodput of {goodput} {unit}", f.name, f.algorithm)
    };
    let flows: Vec<String> = case.result.flows.iter().take(DRAWN).map(one).collect();
    let more = match case.result.flows.len().saturating_sub(DRAWN) {
        0 => String::new(),
        more => format!(", and {more} more flows"),
    };
    format!("{}{more}", flows.join("; "))
}

/// The senders that are drawn: every connection of each drawn flow or path.
fn drawn(case: &Case) -> impl Iterator<Item = &Decided> {
    let flows = fleet::drawn(case);
    let mut tracks: Vec<(u32, Option<u8>)> = Vec::new();
    let ours = move |sender: &&Decided| {
        let track = (sender.flow, sender.path);
        let known = tracks.contains(&track);
        if !known && tracks.len() < DRAWN && flows.contains(&(sender.flow as usize)) {
            tracks.push(track);
            return true;
        }
        known
    };
    case.decisions().senders.iter().filter(ours)
}

/// The explained reductions, in order of time. Timeouts and spurious reductions are selected first, and then
/// the largest reductions.
fn told<'a, 'b>(all: &'b [Reduction<'a>]) -> Vec<&'b Reduction<'a>> {
    let rank = |r: &Reduction<'_>| {
        let d = r.decision;
        let plain = !matches!(d.cause, Cause::Timeout { .. }) && r.undone.is_none();
        let own = d.cause == Cause::Acks;
        let kept = d.after.ssthresh.min(d.before.cwnd).saturating_mul(1000) / d.before.cwnd.max(1);
        (own, plain, kept)
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|i| rank(&all[*i]));
    order.truncate(EXPLAINED);
    order.sort_unstable();
    order.into_iter().map(|i| &all[i]).collect()
}

fn over_time(case: &Case, all: &[Reduction<'_>], shown: &[&Reduction<'_>]) -> Section {
    let told: Vec<String> = shown.iter().map(|r| story_id(r)).collect();
    let moment = |r: &Reduction<'_>| {
        let [_, flow, window, cause, fate] = brief(case, r);
        let id = story_id(r);
        let fate = if fate.is_empty() { fate } else { format!("; {fate}") };
        Moment {
            at: r.decision.since.as_nanos() as f64 / 1e9,
            kind: match r.decision.cause {
                _ if r.undone.is_some() => MomentKind::Unfounded,
                Cause::Losses | Cause::RepairedByProbe => MomentKind::Loss,
                Cause::Timeout { .. } => MomentKind::Timeout,
                Cause::Echo => MomentKind::Mark,
                _ => MomentKind::Other,
            },
            text: format!("{flow}: {window} segments, {cause}{fate}"),
            story: told.contains(&id).then_some(id),
        }
    };
    let senders: Vec<&Decided> = drawn(case).collect();
    let is_drawn = |r: &&Reduction<'_>| senders.iter().any(|s| std::ptr::eq(*s, r.sender));
    // Reductions by an algorithm's own rule are frequent and would hide the others, so that only explained ones are
    // shown.
    let own = |r: &&Reduction<'_>| r.decision.cause != Cause::Acks || told.contains(&story_id(r));
    let timeline = Timeline {
        charts: curves::charts(case, &senders, &fleet::drawn(case)),
        spells: senders.iter().flat_map(|s| spells(case, s)).collect(),
        moments: all.iter().filter(is_drawn).filter(own).map(moment).collect(),
    };
    Section {
        id: "time".into(),
        title: "Over time".into(),
        blocks: vec![Block::Timeline(timeline)],
    }
}

/// The range of the runs over time. `first` is the run of the first record.
fn between(
    scenario: &Scenario,
    records: &[RunRecord],
    first: &Case,
) -> Result<Option<Section>, RunError> {
    let charts =
        |case: &Case| curves::charts(case, &drawn(case).collect::<Vec<_>>(), &fleet::drawn(case));
    let mut runs = vec![charts(first)];
    for record in records.iter().take(BANDED).skip(1) {
        runs.push(charts(&noted(scenario, record.seed, sparse(scenario))?));
    }
    if runs.len() < 2 {
        return Ok(None);
    }
    let end = first.result.end.as_nanos() as f64 / 1e9;
    let which = match runs.len() {
        all if all == records.len() => format!("{all} runs"),
        some => format!("The first {some} of {} runs", records.len()),
    };
    let text = format!("{which}: the curve is the median, and the band is the range of all runs.");
    let charts = bands::bands(&runs, end);
    let timeline = Block::Timeline(Timeline { charts, ..Timeline::default() });
    Ok(Some(Section {
        id: "seeds".into(),
        title: "Range over seeds".into(),
        blocks: vec![Block::Text { text }, timeline],
    }))
}

/// Intervals in which a sender was in recovery.
fn spells(case: &Case, sender: &Decided) -> Vec<Spell> {
    let mut spells: Vec<Spell> = Vec::new();
    let mut open: Option<(f64, SpellTone)> = None;
    for d in sender.journal.decisions().iter().filter(|d| d.from != d.to) {
        let now = d.time.as_nanos() as f64 / 1e9;
        spells.extend(open.take().map(|(from, tone)| Spell { from, to: now, tone }));
        open = match d.to {
            Phase::Recovery => Some((now, SpellTone::Recovery)),
            Phase::Loss => Some((now, SpellTone::Timeout)),
            Phase::Open | Phase::Cwr => None,
        };
    }
    let end = case.result.end.as_nanos() as f64 / 1e9;
    spells.extend(open.map(|(from, tone)| Spell { from, to: end, tone }));
    spells
}

fn why(
    case: &Case,
    all: &[Reduction<'_>],
    shown: &[&Reduction<'_>],
    packets: Vec<Option<Ladder>>,
) -> Option<Section> {
    let ladders = packets.into_iter().chain(std::iter::repeat(None));
    let story = |(r, ladder): (&&Reduction<'_>, _)| {
        let [when, flow, window, cause, fate] = brief(case, r);
        let fate = if fate.is_empty() { fate } else { format!(" – {fate}") };
        Story {
            id: story_id(r),
            title: format!("{when}, {flow}: {window} segments – {cause}{fate}"),
            paragraphs: sentences(case, r),
            ladder,
        }
    };
    let stories: Vec<Story> = shown.iter().zip(ladders).map(story).collect();
    if stories.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if shown.len() < all.len() {
        blocks.push(Block::Text {
            text: format!(
                "{} of {} reductions, selected in this order: timeouts and spurious reductions, then the largest.",
                shown.len(),
                all.len()
            ),
        });
    }
    blocks.push(Block::Stories(stories));
    Some(Section { id: "why".into(), title: "Reductions of cwnd".into(), blocks })
}

/// Maps of the stations of each cell, with their airtime and their routes to the node that receives the most flows.
fn places(scenario: &Scenario, record: &RunRecord) -> Option<Section> {
    let map = |cell: usize| {
        let radio = &record.radios[cell];
        let flows_to =
            |name: &str| scenario.flows.iter().filter(|f| scenario.nodes[f.to] == name).count();
        let ends = radio.stations.iter().map(|s| (flows_to(&s.name), s.name.as_str()));
        let to = ends.filter(|(n, _)| *n > 0).max_by_key(|(n, _)| *n).map(|(_, name)| name);
        let stations = Stations::of(scenario, record, cell, to)?;
        Some(Block::Map(stations.drawn(
            format!("stations-{cell}"),
            format!(
                "{}: station positions, and the share of time that each station transmits",
                radio.name
            ),
        )))
    };
    let blocks: Vec<Block> = (0..record.radios.len()).filter_map(map).collect();
    let title = "Station positions".to_owned();
    (!blocks.is_empty()).then(|| Section { id: "stations".into(), title, blocks })
}

fn totals(scenario: &Scenario, records: &[RunRecord], made: Option<Block>) -> Section {
    let table =
        |(n, table): (usize, Table)| Block::Table(Table { id: format!("totals-{n}"), ..table });
    let (tables, note) = overview::page_tables(scenario, records);
    let mut blocks: Vec<Block> = tables.into_iter().enumerate().map(table).collect();
    blocks.extend(note.map(|text| Block::Text { text: text.to_owned() }));
    blocks.extend(made);
    Section { id: "totals".into(), title: "Totals".into(), blocks }
}
