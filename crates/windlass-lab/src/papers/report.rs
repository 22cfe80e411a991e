//! The report of a paper: `report.toml` and `findings.md` with the numbers of the runs in them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use minijinja::{Environment, Value};
use serde::Deserialize;

use super::ask::{Course, Said, Values, asking};
use super::map::MapFile;
use super::material::Material;
use super::paper::Paper;
use super::parts::cells::NONE;
use super::parts::verdicts::findings;
use super::parts::{commands, notes, tables};
use crate::experiment::FileError;
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, HeatCell, HeatMap, Mark, Row, Section, Table,
};
use crate::template::{environment, is_absent, read_with, said};

/// A named value of `models.toml` or `quantities.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    is: toml::Spanned<Number>,
}

/// A number, or the text of a template that comes to one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Value(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    model: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuantitiesFile {
    quantity: Vec<Named>,
}

/// The closed forms of `models.toml`.
pub(super) fn models(paper: &Paper) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(text) = paper.file("models.toml") else { return Ok(BTreeMap::new()) };
    let mut env = environment();
    super::forms::add(&mut env);
    super::ask::add_lists(&mut env);
    let file = paper.place("models.toml");
    let read: ModelsFile = read_with(text, &file, &env, &|_| None)?;
    numbers(read.model, text, &file, None)
}

/// The quantities of `quantities.toml`, as far as the traces yield them. Where none is asked and no trace is given, all
/// are there; else those that the given ones yield.
pub(super) fn quantities(m: &Material, probing: bool) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(text) = m.paper.file("quantities.toml") else { return Ok(BTreeMap::new()) };
    if m.traces.is_empty() && !probing {
        return Ok(BTreeMap::new());
    }
    let env = asking(m, probing)?;
    let file = m.paper.place("quantities.toml");
    let read: QuantitiesFile = read_with(text, &file, &env, &|_| None)?;
    let all = probing && m.traces.is_empty();
    numbers(read.quantity, text, &file, all.then_some(1.0))
}

/// The numbers by name; `missing` stands for those that no run yields.
fn numbers(
    all: Vec<Named>,
    text: &str,
    file: &str,
    missing: Option<f64>,
) -> Result<BTreeMap<String, f64>, FileError> {
    let mut found = BTreeMap::new();
    for Named { name, is } in all {
        let span = is.span();
        let value = match is.into_inner() {
            Number::Value(value) => value,
            Number::Text(t) if t.trim() == NONE => match missing {
                Some(value) => value,
                None => continue,
            },
            Number::Text(t) => t.trim().parse().map_err(|_| {
                FileError::at(
                    file,
                    text,
                    span,
                    format!("`{name}` comes to `{t}`, which is no number"),
                )
            })?,
        };
        found.insert(name, value);
    }
    Ok(found)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportFile {
    section: Vec<SectionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionFile {
    id: String,
    title: String,
    #[serde(default)]
    block: Vec<BlockFile>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum BlockFile {
    Text { text: String },
    Table(TableFile),
    Chart(ChartFile),
    Heat(HeatFile),
    Exchange(ExchangeFile),
    Map(MapFile),
    Command(CommandFile),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    id: String,
    caption: String,
    columns: Vec<String>,
    #[serde(default)]
    rows: Vec<RowFile>,
    #[serde(default)]
    notes: Vec<String>,
    /// Rows are left out that have no figure after so many cells.
    filled: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    cells: Vec<Cell>,
    /// The claim whose verdict and note stand with the row.
    claim: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Whole(i64),
    Number(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartFile {
    id: String,
    caption: String,
    x: ChartAxis,
    y: ChartAxis,
    series: Vec<SeriesFile>,
    #[serde(default)]
    zoom: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFile {
    name: String,
    mark: Mark,
    #[serde(default)]
    points: Vec<PointFile>,
    /// Something over time, in place of points.
    curve: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointFile {
    category: Option<Cell>,
    x: Option<Cell>,
    of: Cell,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeatFile {
    id: String,
    caption: String,
    x: String,
    y: String,
    value: String,
    cells: Vec<HeatCellFile>,
    /// What is said where there are no cells.
    empty: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeatCellFile {
    x: String,
    y: String,
    of: Cell,
}

/// One loss and its repair, packet by packet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExchangeFile {
    id: String,
    caption: String,
    /// The traced run.
    of: String,
    left: String,
    right: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandFile {
    about: Option<String>,
    /// The point whose runs it makes, as `experiment/point`.
    runs: Option<String>,
    /// The traced run that it makes.
    trace: Option<String>,
    /// What of the traced run is recorded, as `key = value` of the scenario's `record`.
    record: Option<[String; 2]>,
    /// Options at the end of the line.
    #[serde(default)]
    more: String,
}

/// Values on their way through a file of text.
#[derive(Default)]
struct Kept(RefCell<Vec<Value>>);

/// What begins a kept value's place holder.
const KEPT: char = '\u{1a}';

impl Kept {
    fn keep(&self, value: &Value) -> Option<String> {
        let of = |v: &Value| {
            v.downcast_object_ref::<Values>().is_some()
                || v.downcast_object_ref::<Course>().is_some()
                || v.downcast_object_ref::<Said>().is_some()
        };
        of(value).then(|| {
            let mut all = self.0.borrow_mut();
            all.push(value.clone());
            format!("{KEPT}{}", all.len() - 1)
        })
    }

    fn get(&self, text: &str) -> Option<Value> {
        let index: usize = text.strip_prefix(KEPT)?.parse().ok()?;
        self.0.borrow().get(index).cloned()
    }
}

/// A report's file with all that it takes to draw it.
struct Drawing<'a> {
    m: &'a Material<'a>,
    kept: Kept,
    text: &'a str,
    file: String,
}

/// The sections: findings, those of `report.toml`, all claims, all notes.
pub(super) fn sections(m: &Material, probing: bool) -> Result<Vec<Section>, FileError> {
    let env = asking(m, probing)?;
    let mut all = vec![findings(m, &paragraphs(m, &env)?)];
    if let Some(text) = m.paper.file("report.toml") {
        let d = Drawing { m, kept: Kept::default(), text, file: m.paper.place("report.toml") };
        let read: ReportFile = read_with(text, &d.file, &env, &|v| d.kept.keep(v))?;
        for section in read.section {
            all.push(d.section(section)?);
        }
    }
    all.push(tables::every_claim(m));
    all.push(notes::section(&m.paper.fidelity));
    Ok(all)
}

/// What stands before the paragraphs of `findings.md` and belongs to none.
const PREAMBLE_ENDS: &str = "\n---\n";

/// The paragraphs of `findings.md` whose numbers are there.
fn paragraphs(m: &Material, env: &Environment<'_>) -> Result<Vec<String>, FileError> {
    let Some(text) = m.paper.file("findings.md") else { return Ok(Vec::new()) };
    let (preamble, body) = text.split_once(PREAMBLE_ENDS).unwrap_or(("", text));
    let (mut place, mut told) = (text.len() - body.len(), Vec::new());
    for paragraph in body.split("\n\n") {
        let span = place..place + paragraph.len();
        place = span.end + 2;
        match env.render_str(&format!("{preamble}\n{paragraph}"), ()) {
            Ok(rendered) => {
                let words =
                    rendered.split(' ').flat_map(|w| w.split('\n')).filter(|w| !w.is_empty());
                let line = words.collect::<Vec<&str>>().join(" ");
                told.extend((!line.is_empty()).then_some(line));
            }
            Err(e) if is_absent(&e) => {}
            Err(e) => {
                let before = preamble.matches('\n').count() + 1;
                let line = e.line().unwrap_or(1).saturating_sub(before + 1);
                let start = paragraph.split('\n').take(line).map(|l| l.len() + 1).sum::<usize>();
                let at = span.start + start..span.end;
                return Err(FileError::at(&m.paper.place("findings.md"), text, at, said(&e)));
            }
        }
    }
    Ok(told)
}

impl Drawing<'_> {
    fn section(&self, s: SectionFile) -> Result<Section, FileError> {
        let mut blocks = Vec::new();
        for block in s.block {
            blocks.extend(match block {
                BlockFile::Text { text } => Some(Block::Text { text }),
                BlockFile::Table(t) => Some(Block::Table(self.table(t)?)),
                BlockFile::Chart(c) => Some(Block::Chart(self.chart(c))),
                BlockFile::Heat(h) => Some(self.heat(h)),
                BlockFile::Exchange(e) => self.exchange(e),
                BlockFile::Map(f) => self.map(f)?,
                BlockFile::Command(c) => self.command(c)?,
            });
        }
        Ok(tables::section(&s.id, &s.title, blocks, None))
    }

    fn cell(&self, cell: &Cell) -> String {
        match cell {
            Cell::Text(text) => match self.kept.get(text) {
                Some(value) => value.to_string(),
                None => text.clone(),
            },
            Cell::Whole(n) => n.to_string(),
            Cell::Number(v) => crate::report::numbers::number(*v),
        }
    }

    fn table(&self, t: TableFile) -> Result<Table, FileError> {
        let mut rows = Vec::new();
        for r in t.rows {
            let cells: Vec<String> = r.cells.iter().map(|c| self.cell(c)).collect();
            let judgement = r.claim.as_ref().and_then(|id| self.m.judgement(id));
            rows.push(match judgement {
                Some(j) => tables::judged(cells, j),
                None => Row { cells, ..Row::default() },
            });
        }
        if let Some(skip) = t.filled {
            let figure = |c: &String| c.starts_with(|c: char| c.is_ascii_digit());
            rows.retain(|r| r.cells.iter().skip(skip).any(figure));
        }
        Ok(Table { id: t.id, caption: t.caption, columns: t.columns, rows, notes: t.notes })
    }

    fn chart(&self, c: ChartFile) -> Chart {
        let mut series: Vec<ChartSeries> = c.series.into_iter().map(|s| self.series(s)).collect();
        series.retain(|s| !s.points.is_empty());
        Chart {
            id: c.id,
            caption: format!("{}{}", c.caption, hidden(&series)),
            x: c.x,
            y: c.y,
            series,
            zoom: c.zoom,
        }
    }

    fn series(&self, s: SeriesFile) -> ChartSeries {
        let curve = s.curve.and_then(|text| self.kept.get(&text));
        let points = match curve.as_ref().and_then(|v| v.downcast_object_ref::<Course>()) {
            Some(course) => course.points(),
            None => s.points.into_iter().filter_map(|p| self.point(p)).collect(),
        };
        ChartSeries { name: s.name, mark: s.mark, points }
    }

    fn point(&self, p: PointFile) -> Option<ChartPoint> {
        let mut point = match &p.of {
            Cell::Number(y) => ChartPoint { y: *y, ..ChartPoint::default() },
            Cell::Whole(y) => ChartPoint { y: *y as f64, ..ChartPoint::default() },
            Cell::Text(text) => {
                let value = self.kept.get(text)?;
                match (value.downcast_object_ref::<Values>(), value.downcast_object_ref::<Said>()) {
                    (Some(values), _) => values.point()?,
                    (_, Some(said)) => {
                        let j = said.judgement.as_ref()?;
                        let (lo, hi) = (j.ci95.map(|c| c[0]), j.ci95.map(|c| c[1]));
                        ChartPoint { y: j.measured?, lo, hi, ..ChartPoint::default() }
                    }
                    _ => return None,
                }
            }
        };
        point.x = match p.x {
            None => 0.0,
            Some(Cell::Whole(x)) => x as f64,
            Some(Cell::Number(x)) => x,
            Some(Cell::Text(_)) => return None,
        };
        point.category = p.category.as_ref().map(|c| self.cell(c));
        point.lo = p.low.or(point.lo);
        point.hi = p.high.or(point.hi);
        Some(point)
    }

    fn heat(&self, h: HeatFile) -> Block {
        let cell = |c: HeatCellFile| {
            let of = PointFile { category: None, x: None, of: c.of, low: None, high: None };
            Some(HeatCell { x: c.x, y: c.y, value: self.point(of)?.y })
        };
        let cells: Vec<HeatCell> = h.cells.into_iter().filter_map(cell).collect();
        if cells.is_empty() {
            return Block::Text { text: h.empty };
        }
        let (id, caption) = (h.id, h.caption);
        Block::Heat(HeatMap { id, caption, x: h.x, y: h.y, value: h.value, cells })
    }

    fn exchange(&self, e: ExchangeFile) -> Option<Block> {
        let asked = super::exchange::Asked::of(self.m.traces.get(&e.of)?)?;
        Some(Block::Ladder(asked.ladder(e.id, e.caption, [e.left, e.right])?))
    }

    fn map(&self, f: MapFile) -> Result<Option<Block>, FileError> {
        self.known(&f.run)?;
        Ok(super::map::map(self.m, f).map(Block::Map))
    }

    /// That the plan has this `experiment/point`, which stands in the file.
    fn known(&self, place: &str) -> Result<(), FileError> {
        self.m.plan.look_up(place).map_err(|message| self.fail(place, message))
    }

    /// An error where a word first stands in the file.
    fn fail(&self, word: &str, message: String) -> FileError {
        let start = self.text.find(word).unwrap_or(0);
        FileError::at(&self.file, self.text, start..start + word.len(), message)
    }

    fn command(&self, c: CommandFile) -> Result<Option<Block>, FileError> {
        let about = c.about.unwrap_or_default();
        let made = match (&c.runs, &c.trace, &c.record) {
            (Some(place), None, None) => {
                self.known(place)?;
                let (experiment, point) = place.split_once('/').unwrap_or((place, ""));
                commands::runs(self.m, &about, experiment, point)
            }
            (None, Some(trace), Some([key, value])) => {
                if self.m.plan.traces.iter().all(|t| t.id != *trace) {
                    return Err(self.fail(trace, format!("there is no trace `{trace}`")));
                }
                commands::recording(self.m, &about, trace, (key, value))
            }
            _ if about.is_empty() => Some(commands::whole(self.m)),
            _ => Some(commands::quick(self.m, &about)),
        };
        Ok(made.map(|block| match block {
            Block::Command { about, command, scenario } => {
                Block::Command { about, command: command + &c.more, scenario }
            }
            other => other,
        }))
    }
}

/// Says which curves cannot be seen because the next one covers them.
fn hidden(series: &[ChartSeries]) -> String {
    let curve = |s: &ChartSeries| matches!(s.mark, Mark::Step | Mark::Line | Mark::Band);
    let covered = series.windows(2).filter(|w| {
        let points = |s: &ChartSeries| s.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
        curve(&w[0]) && points(&w[0]) == points(&w[1])
    });
    let said = |w: &[ChartSeries]| {
        format!(" The curve of {} lies under that of {}: the runs are alike.", w[0].name, w[1].name)
    };
    covered.map(said).collect()
}
