//! The report of a comparison.

use crate::report::model::{Block, Report, Section};

use super::harm::Bar;
use super::{Findings, charts, text};

/// The report; `command` repeats the comparison.
pub fn report(f: &Findings, command: &str) -> Report {
    let mut sections = vec![overview(f)];
    sections.extend(rankings(f));
    if !f.harm.is_empty() {
        sections.push(harm(f));
    }
    sections.push(method(f, command));
    let seeds: Vec<String> = f.seeds.iter().map(u64::to_string).collect();
    let line = |label: &str, value: &str| (label.to_owned(), value.to_owned());
    let mut provenance = vec![
        line("Scenario", &format!("{}, hash {}", f.scenario, f.scenario_hash)),
        line("Windlass", &f.version),
        line("World", &f.world),
        line("Seeds", &seeds.join(" ")),
        line("Compared flows", &f.flows.join(", ")),
        line("Command", command),
    ];
    provenance.extend(f.kernel.as_ref().map(|kernel| line("Kernel", kernel)));
    Report {
        title: format!("{}: {}", f.scenario, f.algorithms.join(", ")),
        summary: format!("{}.", text::headline(f)),
        verdicts: Vec::new(),
        counted: None,
        provenance,
        sections,
        ..Report::default()
    }
}

fn overview(f: &Findings) -> Section {
    let mut blocks = vec![Block::Table(text::overview(f))];
    blocks.extend(charts::scatter(f).map(Block::Chart));
    Section { id: "overview".into(), title: "Each algorithm with itself".into(), blocks }
}

fn rankings(f: &Findings) -> impl Iterator<Item = Section> {
    f.rankings.iter().map(|r| Section {
        id: format!("ranking-{}", r.measure.id()),
        title: format!("Ranking by {}", r.measure.name()),
        blocks: vec![Block::Chart(charts::bars(f, r)), Block::Table(text::ranking(f, r))],
    })
}

fn harm(f: &Findings) -> Section {
    let mut blocks = vec![Block::Text {
        text: "Harm as R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry define it (\"Beyond Jain's \
               fairness index\", HotNets 2019): how much worse flows of one algorithm do because of \
               the other's, as a fraction. With performance x alone and y in competition, harm is (x - y) / x if \
               more is better, and (y - x) / y if less is better.\n\nThe limit is the harm of an \
               algorithm to itself. Another algorithm that harms it no more than that can be deployed \
               without making its users worse off than they make each other."
            .to_owned(),
    }];
    let more: Vec<String> = f.harm.iter().flat_map(|h| sentences(f, h)).collect();
    if !more.is_empty() {
        blocks.push(Block::List { items: more });
    }
    for h in &f.harm {
        blocks.push(Block::Table(text::harm(f, h)));
        blocks.push(Block::Chart(charts::harm(f, h)));
    }
    Section { id: "harm".into(), title: "Harm between algorithms".into(), blocks }
}

/// A sentence for each cell above the limit.
fn sentences(f: &Findings, h: &super::Harm) -> Vec<String> {
    let above = h.cells.iter().filter(|c| c.bar == Bar::More);
    let sentence = |c: &super::harm::Cell| {
        let [by, to] = [c.by, c.to].map(|a| &f.algorithms[a]);
        let (harm, excess) = (100.0 * c.harm?, 100.0 * c.excess?);
        Some(format!(
            "`{by}` harms `{to}` in {} by {harm:.1} %, {excess:.1} percentage points more than `{to}` \
             harms itself.",
            h.measure.name()
        ))
    };
    above.filter_map(sentence).collect()
}

fn method(f: &Findings, command: &str) -> Section {
    let flows = if f.flows.len() == 1 {
        "The scenario has one compared flow. In mixtures a copy of it is added."
    } else {
        "In mixtures the compared flows alternate between two algorithms in the order of the \
         scenario. Both assignments run, so that each algorithm runs in each flow's position."
    };
    let text = format!(
        "Every algorithm runs over the same network with the same seeds: losses and start times are \
         the same, so that a difference within a seed is caused by the algorithm.\n\n{flows}\n\nIntervals of means \
         are Student's at 95 %. Differences are tested in pairs by seed, by Student's t and, without \
         the assumption of normality, by Wilcoxon's signed ranks. Holm's procedure keeps the \
         probability of any false difference in one table at 5 %. `d` is the mean difference over its \
         standard deviation.\n\nQueueing delay is the sum of the mean waits in the queues of a flow's \
         path in both directions, of all packets in them. The RTT adds the time of the path without \
         queues."
    );
    let command = Block::Command { about: None, command: command.to_owned(), scenario: None };
    Section {
        id: "method".into(),
        title: "Method".into(),
        blocks: vec![Block::Text { text }, command],
    }
}
