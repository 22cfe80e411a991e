//! The scorecard on one page, the long report, and the comparison of several algorithms.

use super::scorecard::{Criterion, Family, Grade, Network, Scorecard};
use crate::report::markdown::table;
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Counted, Mark, Report, Row, Scale, Section,
    Table, Tone,
};
use crate::report::numbers::{interval, number};

/// Range of the chart beyond the bounds, in distances between the bounds.
const BEYOND: f64 = 2.0;

/// The scorecard on one page.
pub fn one_page(card: &Scorecard) -> Report {
    let blocks = vec![
        Block::Table(families(card)),
        Block::Chart(picture(card)),
        Block::Command {
            about: Some("To reproduce the scorecard:".to_owned()),
            command: card.command.clone(),
            scenario: None,
        },
    ];
    let section = Section { id: "scorecard".to_owned(), title: "Scorecard".to_owned(), blocks };
    head(card, vec![section])
}

/// The report with every criterion on every network.
pub(super) fn long(card: &Scorecard, notes: &str) -> Report {
    let mut report = one_page(card);
    report.sections.extend(card.families.iter().map(family));
    let text = notes.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    let blocks = vec![Block::Text { text }];
    let title = "Limits of the criteria".to_owned();
    report.sections.push(Section { id: "open".to_owned(), title, blocks });
    report
}

/// The scorecard as Markdown.
pub fn markdown(card: &Scorecard) -> String {
    let tally: Vec<String> =
        card.tally().iter().map(|(badge, n)| format!("{n} {}", badge.name)).collect();
    let (algorithm, tally, summary) = (&card.algorithm, tally.join(", "), card.summary.trim());
    let commands = card.families.iter().filter_map(|f| {
        let (_, network) = f.worst().filter(|_| f.grade > Grade::Pass)?;
        let first = network.commands.first()?;
        Some(format!("- {}: `{first}`", f.title))
    });
    let commands: Vec<String> = commands.collect();
    let shown = match commands.is_empty() {
        true => String::new(),
        false => {
            format!(
                "\nFamilies that do not pass, on their worst networks:\n\n{}\n",
                commands.join("\n")
            )
        }
    };
    format!(
        "# {algorithm}: {}\n\n{summary}\n\n**{tally}** of {} families. {} runs of Windlass {}. Command: `{}`\n\n{}{shown}",
        card.title,
        card.families.len(),
        card.runs,
        card.version,
        card.command,
        table(&families(card)),
    )
}

/// Comparison of several algorithms: a row for each algorithm, and a column for each family.
pub fn comparison(cards: &[Scorecard]) -> Table {
    let Some(first) = cards.first() else { return Table::default() };
    let judged = |card: &'_ Scorecard| -> Vec<Grade> {
        card.families.iter().filter(|f| !f.criteria.is_empty()).map(|f| f.grade).collect()
    };
    let asked = first.families.iter().filter(|f| !f.criteria.is_empty());
    let columns: Vec<String> = asked.map(|f| f.id.clone()).collect();
    let titled = |f: &Family| format!("{}: {} ({})", f.id, f.title, f.section);
    let titles: Vec<String> =
        first.families.iter().filter(|f| !f.criteria.is_empty()).map(titled).collect();
    let row = |card: &Scorecard| {
        let signs = judged(card).into_iter().map(|g| g.badge().sign.to_owned());
        Row { cells: [card.algorithm.clone()].into_iter().chain(signs).collect(), ..Row::default() }
    };
    let legend = Grade::ALL.map(|g| format!("{} {}", g.badge().sign, g.badge().name));
    Table {
        id: "algorithms".to_owned(),
        caption: format!("{}: {}", first.title, legend.join(", ")),
        columns: ["algorithm".to_owned()].into_iter().chain(columns).collect(),
        rows: cards.iter().map(row).collect(),
        notes: vec![format!("{}.", titles.join("; "))],
    }
}

fn head(card: &Scorecard, sections: Vec<Section>) -> Report {
    let line = |label: &str, value: String| (label.to_owned(), value);
    Report {
        title: format!("{}: {}", card.algorithm, card.title),
        summary: card.summary.clone(),
        verdicts: card.tally(),
        counted: Some(Counted {
            caption: format!(
                "Grades of the {} families of criteria, each on its worst network",
                card.families.len()
            ),
            noun: "Families".to_owned(),
        }),
        provenance: vec![
            line("Windlass", card.version.clone()),
            line("Runs", card.runs.to_string()),
            line("Command", card.command.clone()),
        ],
        sections,
        ..Report::default()
    }
}

/// A row for each family, with its worst criterion and network.
fn families(card: &Scorecard) -> Table {
    let row = |f: &Family| {
        let (what, network, measured, bounds, note) = match f.worst() {
            Some((c, n)) => {
                (c.what.clone(), n.about.clone(), measured(c, n), bounds(c, n), n.note.clone())
            }
            None => {
                let why = f.not_judged.clone().unwrap_or_default();
                (why, "–".to_owned(), "–".to_owned(), "–".to_owned(), String::new())
            }
        };
        Row {
            cells: vec![f.title.clone(), f.section.clone(), what, network, measured, bounds],
            verdict: Some(f.grade.badge()),
            note: Some(note).filter(|n| !n.is_empty()),
        }
    };
    let columns =
        ["family", "section", "worst criterion", "worst network", "measured", "pass, fail at"];
    Table {
        id: "families".to_owned(),
        caption: "Each family on its worst criterion and network, with 95 % intervals".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: card.families.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

fn family(f: &Family) -> Section {
    let text = format!("Section {}: \"{}\".", f.section, f.says);
    let mut blocks = vec![Block::Text { text }];
    blocks
        .extend(f.not_judged.iter().map(|why| Block::Text { text: format!("Not judged: {why}") }));
    for c in &f.criteria {
        blocks.push(Block::Table(networks(f, c)));
        blocks.extend(chart(f, c).map(Block::Chart));
        if let Some(n) = c.worst() {
            let about = format!("The runs on the worst network, {}:", n.about);
            blocks.extend(n.commands.iter().enumerate().map(|(i, command)| Block::Command {
                about: (i == 0).then(|| about.clone()),
                command: command.clone(),
                scenario: None,
            }));
        }
    }
    Section { id: f.id.clone(), title: f.title.clone(), blocks }
}

fn networks(f: &Family, c: &Criterion) -> Table {
    let row = |n: &Network| Row {
        cells: vec![n.about.clone(), measured(c, n), bounds(c, n), n.runs.to_string()],
        verdict: Some(n.grade.badge()),
        note: Some(n.note.clone()).filter(|n| !n.is_empty()),
    };
    Table {
        id: format!("{}-{}", f.id, c.id),
        caption: format!("{} ({})", c.what, unit(&c.unit)),
        columns: ["network", "measured", "pass, fail at", "runs"].map(str::to_owned).to_vec(),
        rows: c.networks.iter().map(row).collect(),
        notes: vec![c.why.clone()],
    }
}

/// Chart of a criterion on its networks, with the bounds.
fn chart(f: &Family, c: &Criterion) -> Option<Chart> {
    let measured: Vec<ChartPoint> =
        c.networks.iter().filter_map(|n| point(&n.id, n, |v| v)).collect();
    if measured.is_empty() {
        return None;
    }
    let at = |bound: fn(&Network) -> f64| -> Vec<ChartPoint> {
        let of = |n: &Network| ChartPoint {
            category: Some(n.id.clone()),
            y: bound(n),
            ..ChartPoint::default()
        };
        c.networks.iter().map(of).collect()
    };
    let series = |name: &str, mark, points| ChartSeries { name: name.to_owned(), mark, points };
    Some(Chart {
        id: format!("{}-{}-chart", f.id, c.id),
        caption: c.what.clone(),
        x: ChartAxis { label: "Network".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: format!("{} ({})", c.what, unit(&c.unit)), scale: Scale::Linear },
        series: vec![
            series("measured", Mark::Points, measured),
            series("bound of passing", Mark::Bound(Tone::Good), at(|n| n.pass)),
            series("bound of failing", Mark::Bound(Tone::Bad), at(|n| n.fail)),
        ],
        zoom: false,
    })
}

/// Chart of each family's worst network on one scale.
fn picture(card: &Scorecard) -> Chart {
    let of = |f: &Family| {
        let (_, n) = f.worst()?;
        point(&f.title, n, |v| n.position(v).clamp(-BEYOND, 1.0 + BEYOND))
    };
    let constant = |name: &str, tone, y: f64| ChartSeries {
        name: name.to_owned(),
        mark: Mark::Bound(tone),
        points: card
            .families
            .iter()
            .filter(|f| of(f).is_some())
            .map(|f| ChartPoint { category: Some(f.title.clone()), y, ..ChartPoint::default() })
            .collect(),
    };
    let measured = ChartSeries {
        name: card.algorithm.clone(),
        mark: Mark::Points,
        points: card.families.iter().filter_map(of).collect(),
    };
    Chart {
        id: "picture".to_owned(),
        caption: format!(
            "Each family's worst network relative to its bounds: 0 is the bound of passing, and 1 the bound of failing. Values more than {} beyond a bound are drawn at this distance",
            number(BEYOND)
        ),
        x: ChartAxis { label: "Family".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: "From pass (0) to fail (1)".to_owned(), scale: Scale::Linear },
        series: vec![
            measured,
            constant("bound of passing", Tone::Good, 0.0),
            constant("bound of failing", Tone::Bad, 1.0),
        ],
        zoom: false,
    }
}

fn point(category: &str, n: &Network, scale: impl Fn(f64) -> f64) -> Option<ChartPoint> {
    let y = scale(n.measured?);
    let mut ends = n.ci95.map(|ci| ci.map(&scale));
    if let Some(ends) = &mut ends {
        ends.sort_by(f64::total_cmp);
    }
    Some(ChartPoint {
        category: Some(category.to_owned()),
        y,
        lo: ends.map(|e| e[0]),
        hi: ends.map(|e| e[1]),
        ..ChartPoint::default()
    })
}

fn measured(c: &Criterion, n: &Network) -> String {
    let Some(value) = n.measured else { return "–".to_owned() };
    let figure = match n.ci95 {
        Some([low, high]) if low < high => interval(value, low, high),
        _ => number(value),
    };
    with_unit(figure, c)
}

fn bounds(c: &Criterion, n: &Network) -> String {
    with_unit(format!("{}, {}", number(n.pass), number(n.fail)), c)
}

fn with_unit(figure: String, c: &Criterion) -> String {
    if c.unit == "1" { figure } else { format!("{figure} {}", c.unit) }
}

fn unit(unit: &str) -> &str {
    if unit == "1" { "a fraction" } else { unit }
}
