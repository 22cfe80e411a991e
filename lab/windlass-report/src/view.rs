//! The contents of a report's page.

use super::ReportError;
use super::chart::spec_with;
use super::curve;
use super::drawn::{Drawn, drawn};
use super::heat;
use super::laboratory::fragment;
use super::ladder;
use super::ladder_layout::time_text;
use super::map;
use super::model::{
    Answer, Badge, Block, Chart, Counted, Curve, CurvePoint, HeatCell, HeatMap, Ladder, NetworkMap,
    Place, Report, Role, Row, Scale, Statements, Story, Table, Timeline, is_figure,
};
use super::palette::Palette;
use super::prose::{Span, paragraphs, spans};
use super::timeline;

/// Maximum number of rows of a chart's table of data. A longer table is replaced by a summary of
/// its series.
const DATA_ROWS: usize = 200;

/// Maximum length of a cell, in characters, that is never broken into lines.
const UNBROKEN: usize = 14;

/// The page.
pub(super) struct Page<'a> {
    pub title: &'a str,
    pub byline: &'a str,
    pub doi: &'a str,
    pub answers: Vec<AnswerView>,
    pub summary: Vec<Vec<Span>>,
    pub verdicts: Vec<Count>,
    pub judged: usize,
    pub counted: Counted,
    pub provenance: &'a [(String, String)],
    pub sections: Vec<SectionView<'a>>,
    /// True if the page needs the chart library.
    pub charts: bool,
}

pub(super) struct SectionView<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub blocks: Vec<BlockView<'a>>,
}

pub(super) enum BlockView<'a> {
    Text { paragraphs: Vec<Vec<Span>> },
    List { items: Vec<Vec<Span>> },
    Command { about: Option<Vec<Span>>, command: &'a str, again: Option<String> },
    Table(TableView<'a>),
    Chart(ChartView<'a>),
    Drawing(DrawingView<'a>),
    Statements(&'a Statements),
    Timeline { charts: Vec<ChartView<'a>> },
    Stories { stories: Vec<StoryView<'a>> },
}

/// A question of the first screen and its answer.
pub(super) struct AnswerView {
    pub says: Vec<Span>,
    pub lines: Vec<Vec<Span>>,
    pub badge: BadgeView,
}

/// A text that can be opened.
pub(super) struct StoryView<'a> {
    pub id: &'a str,
    pub title: Vec<Span>,
    pub paragraphs: Vec<Vec<Span>>,
    pub ladder: Option<DrawingView<'a>>,
}

pub(super) struct TableView<'a> {
    pub id: &'a str,
    pub caption: Vec<Span>,
    pub label: &'a str,
    pub columns: Vec<Column<'a>>,
    pub rows: Vec<RowView<'a>>,
    pub judged: bool,
    pub notes: Vec<Vec<Span>>,
}

pub(super) struct Column<'a> {
    pub name: &'a str,
    /// True if its cells are numbers, which are aligned right.
    pub number: bool,
    /// True if its cells are too short to be broken.
    pub short: bool,
}

pub(super) struct RowView<'a> {
    pub cells: &'a [String],
    pub verdict: Option<BadgeView>,
    pub note: Option<Vec<Span>>,
}

/// A badge, with its name as a class of the page.
pub(super) struct BadgeView {
    pub badge: Badge,
    pub class: String,
}

pub(super) struct Count {
    pub badge: BadgeView,
    pub count: usize,
}

pub(super) struct ChartView<'a> {
    pub id: &'a str,
    pub caption: Vec<Span>,
    pub label: &'a str,
    pub empty: bool,
    pub zoom: bool,
    /// Identifier of the charts that zoom together.
    pub linked: Option<&'a str>,
    pub spec: String,
    pub thinned: Option<String>,
    pub data: Data,
}

/// A plain table of data under a figure.
pub(super) struct Data {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A figure that this crate draws, instead of the chart library.
pub(super) struct DrawingView<'a> {
    pub id: &'a str,
    pub class: &'static str,
    pub caption: Vec<Span>,
    pub remark: String,
    pub label: &'a str,
    pub svg: String,
    pub data: Data,
}

/// Prepares a report for its page.
pub(super) fn page(report: &Report) -> Result<Page<'_>, ReportError> {
    let palette = Palette::of(report);
    let mut sections = Vec::new();
    for section in &report.sections {
        let blocks: Result<_, _> = section.blocks.iter().map(|b| block(b, &palette)).collect();
        sections.push(SectionView { id: &section.id, title: &section.title, blocks: blocks? });
    }
    let blocks = || report.sections.iter().flat_map(|s| &s.blocks);
    let judged = report.verdicts.iter().map(|(_, count)| count).sum();
    Ok(Page {
        title: &report.title,
        byline: &report.byline,
        doi: &report.doi,
        answers: report.answers.iter().map(answer_view).collect(),
        summary: paragraphs(&report.summary),
        judged,
        counted: report.counted.clone().unwrap_or_else(|| claims(judged)),
        verdicts: report
            .verdicts
            .iter()
            .map(|&(b, count)| Count { badge: badge(b), count })
            .collect(),
        provenance: &report.provenance,
        sections,
        charts: blocks()
            .any(|b| matches!(b, Block::Chart(_) | Block::Heat(_) | Block::Timeline(_))),
    })
}

/// The claims of a paper.
fn claims(judged: usize) -> Counted {
    Counted {
        caption: format!(
            "Verdicts on the {judged} statements that rest on runs. Parts and copies of one printed statement count once."
        ),
        noun: "Statements".to_owned(),
    }
}

fn block<'a>(block: &'a Block, palette: &Palette) -> Result<BlockView<'a>, ReportError> {
    Ok(match block {
        Block::Text { text } => BlockView::Text { paragraphs: paragraphs(text) },
        Block::List { items } => {
            BlockView::List { items: items.iter().map(|item| spans(item)).collect() }
        }
        Block::Command { about, command, scenario } => BlockView::Command {
            about: about.as_deref().map(spans),
            command,
            again: scenario.as_deref().map(fragment),
        },
        Block::Table(table) => BlockView::Table(table_view(table)),
        Block::Chart(chart) => BlockView::Chart(chart_view(chart, palette, |_| Vec::new())?),
        Block::Heat(map) => BlockView::Chart(heat_view(map)?),
        Block::Ladder(ladder) => BlockView::Drawing(ladder_view(ladder)),
        Block::Map(map) => BlockView::Drawing(map_view(map)),
        Block::Statements(s) => BlockView::Statements(s),
        Block::Curve(curve) => BlockView::Drawing(curve_view(curve)),
        Block::Timeline(timeline) => {
            BlockView::Timeline { charts: timeline_view(timeline, palette)? }
        }
        Block::Stories(stories) => {
            BlockView::Stories { stories: stories.iter().map(story_view).collect() }
        }
    })
}

fn answer_view(answer: &Answer) -> AnswerView {
    AnswerView {
        says: spans(&answer.says),
        lines: answer.lines.iter().map(|line| spans(line)).collect(),
        badge: badge(answer.badge),
    }
}

fn story_view(story: &Story) -> StoryView<'_> {
    StoryView {
        id: &story.id,
        title: spans(&story.title),
        paragraphs: story.paragraphs.iter().map(|p| spans(p)).collect(),
        ladder: story.ladder.as_ref().map(ladder_view),
    }
}

fn timeline_view<'a>(
    timeline: &'a Timeline,
    palette: &Palette,
) -> Result<Vec<ChartView<'a>>, ReportError> {
    let view = |(place, chart): (usize, &'a Chart)| {
        let more = |x: &serde_json::Value| timeline::layers(timeline, place == 0, x);
        let mut view = chart_view(chart, palette, more)?;
        view.linked = timeline.charts.first().map(|first| first.id.as_str());
        if place == 0 {
            view.caption.extend(spans(&format!(" {}", timeline::key(timeline))));
        }
        Ok(view)
    };
    timeline.charts.iter().enumerate().map(view).collect()
}

pub(super) fn badge(badge: Badge) -> BadgeView {
    BadgeView { badge, class: badge.name.replace(' ', "-") }
}

fn table_view(table: &Table) -> TableView<'_> {
    let number = |at: usize| {
        let mut cells = table.rows.iter().map(|row| row.cells[at].as_str()).peekable();
        cells.peek().is_some() && cells.all(is_figure)
    };
    let short = |at: usize| table.rows.iter().all(|row| row.cells[at].chars().count() <= UNBROKEN);
    let column = |(at, name)| Column { name, number: at > 0 && number(at), short: short(at) };
    TableView {
        id: &table.id,
        caption: spans(&table.caption),
        label: &table.caption,
        columns: table.columns.iter().map(String::as_str).enumerate().map(column).collect(),
        judged: table.rows.iter().any(|row| row.verdict.is_some()),
        rows: table.rows.iter().map(row_view).collect(),
        notes: table.notes.iter().map(|note| spans(note)).collect(),
    }
}

fn row_view(row: &Row) -> RowView<'_> {
    RowView {
        cells: &row.cells,
        verdict: row.verdict.map(badge),
        note: row.note.as_deref().filter(|note| !note.trim().is_empty()).map(spans),
    }
}

fn chart_view<'a>(
    chart: &'a Chart,
    palette: &Palette,
    more: impl FnOnce(&serde_json::Value) -> Vec<serde_json::Value>,
) -> Result<ChartView<'a>, ReportError> {
    let drawn = drawn(chart);
    Ok(ChartView {
        id: &chart.id,
        caption: spans(&chart.caption),
        label: &chart.caption,
        empty: drawn.iter().all(|d| d.points.is_empty()),
        zoom: chart.zoom,
        linked: None,
        spec: script_json(&spec_with(chart, &drawn, palette, more))?,
        thinned: thinned(&drawn),
        data: chart_data(chart, &drawn),
    })
}

fn heat_view(map: &HeatMap) -> Result<ChartView<'_>, ReportError> {
    let row = |c: &HeatCell| vec![c.y.clone(), c.x.clone(), figure(c.value)];
    Ok(ChartView {
        id: &map.id,
        caption: spans(&map.caption),
        label: &map.caption,
        empty: map.cells.is_empty(),
        zoom: false,
        linked: None,
        spec: script_json(&heat::spec(map))?,
        thinned: None,
        data: Data {
            title: "Data".to_owned(),
            columns: vec![map.y.clone(), map.x.clone(), map.value.clone()],
            rows: map.cells.iter().map(row).collect(),
        },
    })
}

/// The remark in the caption about curves that are drawn with fewer points than they have.
fn thinned(drawn: &[Drawn<'_>]) -> Option<String> {
    let shown: usize = drawn.iter().map(|d| d.points.len()).sum();
    let all: usize = drawn.iter().map(|d| d.series.points.len()).sum();
    (shown < all).then(|| format!("{shown} of {all} points are drawn; every extreme is kept."))
}

/// JSON that cannot end or open a script element.
fn script_json(value: &serde_json::Value) -> Result<String, ReportError> {
    let text = serde_json::to_string(value)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}

fn chart_data(chart: &Chart, drawn: &[Drawn<'_>]) -> Data {
    let points: usize = drawn.iter().map(|d| d.points.len()).sum();
    if points > DATA_ROWS {
        return series_summary(chart, drawn);
    }
    let intervals = drawn.iter().flat_map(|d| &d.points).any(|p| p.lo.is_some() || p.hi.is_some());
    let mut columns = vec!["Series".to_owned(), chart.x.label.clone(), chart.y.label.clone()];
    if intervals {
        columns.push("95 % interval".to_owned());
    }
    let mut rows = Vec::new();
    for d in drawn {
        for p in &d.points {
            let x = match (&p.category, chart.x.scale, p.x_lo, p.x_hi) {
                (Some(category), Scale::Category, ..) => category.clone(),
                (_, _, Some(lo), Some(hi)) => {
                    format!("{} [{}, {}]", figure(p.x), figure(lo), figure(hi))
                }
                _ => figure(p.x),
            };
            let mut row = vec![d.series.name.clone(), x, figure(p.y)];
            if intervals {
                row.push(match (p.lo, p.hi) {
                    (Some(lo), Some(hi)) => format!("{} to {}", figure(lo), figure(hi)),
                    _ => "–".to_owned(),
                });
            }
            rows.push(row);
        }
    }
    Data { title: "Data".to_owned(), columns, rows }
}

fn series_summary(chart: &Chart, drawn: &[Drawn<'_>]) -> Data {
    let columns = ["Series", "Points drawn", "First", "Last", "Least", "Greatest"];
    let row = |d: &Drawn<'_>| {
        let values = d.points.iter().map(|p| p.y);
        let count = d.points.len();
        let ends = [d.points.first(), d.points.last()].map(|p| p.map(|p| p.y));
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let greatest = values.fold(f64::NEG_INFINITY, f64::max);
        let [first, last] = ends.map(|y| y.map_or("–".to_owned(), figure));
        let rest =
            if count == 0 { ["–"; 2].map(str::to_owned) } else { [least, greatest].map(figure) };
        [vec![d.series.name.clone(), count.to_string(), first, last], rest.to_vec()].concat()
    };
    Data {
        title: format!("Summary of {}; the CSV file holds every point drawn", chart.y.label),
        columns: columns.map(str::to_owned).to_vec(),
        rows: drawn.iter().map(row).collect(),
    }
}

/// A number with six significant digits, as a table of data shows it.
fn figure(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        let text = format!("{value:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits = (5 - libm::log10(size).floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn ladder_view(ladder: &Ladder) -> DrawingView<'_> {
    let drawing = ladder::draw(ladder);
    let columns = ["Sent (s)", "Arrived (s)", "From", "Packet", "Remark"];
    let row = |m: &super::model::Message| {
        let received = m.received_s.map_or("lost".to_owned(), |t| time_text(t, drawing.decimals));
        let from = if m.rightward { &ladder.left } else { &ladder.right };
        let remark = m.remark.clone().unwrap_or_default();
        let sent = time_text(m.sent_s, drawing.decimals);
        vec![sent, received, from.clone(), m.label.clone(), remark]
    };
    DrawingView {
        id: &ladder.id,
        class: "ladder",
        caption: spans(&ladder.caption),
        remark: drawing.remark.clone(),
        label: &ladder.caption,
        data: Data {
            title: "Packets as a table".to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: ladder.messages.iter().map(row).collect(),
        },
        svg: drawing.svg,
    }
}

fn curve_view(c: &Curve) -> DrawingView<'_> {
    let answer = |(place, (_, answers)): (&usize, &(String, Vec<String>))| {
        answers.get(*place).cloned().unwrap_or_default()
    };
    let row = |p: &CurvePoint| {
        let ends = [Some(p.value), p.low, p.high].map(|v| v.map_or("–".to_owned(), figure));
        let answers = p.choice.iter().zip(&c.axes).map(answer);
        answers.chain(ends).chain([p.badge.name.to_owned()]).collect()
    };
    let ends = [c.value.as_str(), "from", "to", "Verdict"].map(str::to_owned);
    DrawingView {
        id: &c.id,
        class: "curve",
        caption: spans(&c.caption),
        remark: curve::KEY.to_owned(),
        label: &c.caption,
        data: Data {
            title: "Interpretations as a table".to_owned(),
            columns: c.axes.iter().map(|(name, _)| name.clone()).chain(ends).collect(),
            rows: curve::ordered(c).into_iter().map(row).collect(),
        },
        svg: curve::draw(c),
    }
}

fn map_view(map: &NetworkMap) -> DrawingView<'_> {
    let first = ["Station", "East (m)", "North (m)", "Role", &map.value];
    let row = |p: &Place| {
        let role = match p.role {
            Role::Relay => "relay",
            Role::Sender => "sender",
            Role::Base => "base station",
        };
        let [east, north] = p.at.map(figure);
        let value = p.value.map_or("–".to_owned(), figure);
        let own = [p.name.clone(), east, north, role.to_owned(), value];
        [own.as_slice(), &p.more].concat()
    };
    DrawingView {
        id: &map.id,
        class: "map",
        caption: spans(&map.caption),
        remark: map::KEY.to_owned(),
        label: &map.caption,
        data: Data {
            title: "Stations as a table".to_owned(),
            columns: [first.map(str::to_owned).as_slice(), &map.columns].concat(),
            rows: map.places.iter().map(row).collect(),
        },
        svg: map::draw(map),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_six_digits_and_no_trailing_zeros() {
        let cases = [
            (0.0, "0"),
            (45.66, "45.66"),
            (166_085.4, "166085"),
            (12_345_678.0, "12345678"),
            (8.376_54e-7, "8.37654e-7"),
            (-0.25, "-0.25"),
            (1e-6, "1e-6"),
            (0.1 + 0.2, "0.3"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
    }
}
