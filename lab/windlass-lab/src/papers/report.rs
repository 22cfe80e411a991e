//! The report of a paper: `report.toml` and `findings.md` with the numbers of the runs.

mod file;

use std::cell::RefCell;

use super::ask::{Course, Said, Scenarios, Values, asking};
use super::map::MapFile;
use super::material::Material;
use super::parts::cells::NONE;
use super::parts::verdicts::findings;
use super::parts::{commands, notes, tables};
use crate::claims::look_up;
use crate::experiment::FileError;
use crate::report::model::{
    Block, Chart, ChartPoint, ChartSeries, HeatCell, HeatMap, Mark, Row, Section, Table,
};
use crate::template::{is_absent, read_every, said};
use file::{
    BlockFile, Cell, ChartFile, CommandFile, ExchangeFile, HeatCellFile, HeatFile, PointFile,
    ReportFile, SectionFile, SeriesFile, TableFile,
};
use minijinja::{Environment, Value};

/// Values that pass through the text of a file as place holders.
#[derive(Default)]
struct Kept(RefCell<Vec<Value>>);

/// First character of a place holder.
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

/// The parsed report and the data of its tables and charts.
struct Drawing<'a> {
    m: &'a Material<'a>,
    kept: Kept,
    text: &'a str,
    file: String,
    probing: bool,
}

/// The sections: findings, the sections of `report.toml`, all claims, and all notes.
///
/// # Errors
///
/// An error for the measures, the findings and each section.
pub(super) fn sections(
    m: &Material,
    probing: Option<&Scenarios>,
) -> Result<Vec<Section>, Vec<FileError>> {
    let env = asking(m, probing).map_err(|e| vec![e])?;
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    match paragraphs(m, &env) {
        Ok(told) => all.push(findings(m, &told)),
        Err(e) => errors.push(e),
    }
    if let Some(text) = m.paper.file("report.toml") {
        let (kept, probing) = (Kept::default(), probing.is_some());
        let d = Drawing { m, kept, text, file: m.paper.place("report.toml"), probing };
        match read_every::<ReportFile>(text, &d.file, &env, &|v| d.kept.keep(v)) {
            Err(wrong) => errors.extend(wrong),
            Ok(read) => {
                for section in read.section {
                    d.section(section).map_or_else(|e| errors.push(e), |section| all.push(section));
                }
            }
        }
    }
    all.push(tables::every_claim(m));
    all.push(notes::section(&m.paper.fidelity));
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// End of the preamble of `findings.md`, which is not part of a paragraph.
const PREAMBLE_ENDS: &str = "\n---\n";

/// The paragraphs of `findings.md` whose numbers exist.
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
                BlockFile::Chart(c) => Some(Block::Chart(self.chart(c)?)),
                BlockFile::Heat(h) => Some(self.heat(h)?),
                BlockFile::Exchange(e) => self.exchange(e)?,
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
            if cells.len() > t.columns.len() {
                let (cells, columns) = (cells.len(), t.columns.len());
                return Err(self.fail(
                    &t.id,
                    format!("a row of `{}` has {cells} cells for {columns} columns", t.id),
                ));
            }
            let id = r.claim.unwrap_or_default();
            if !id.is_empty() {
                // A name that a template generates is not in the file.
                let place = if self.text.contains(&id) { &id } else { &t.id };
                look_up(self.m.claims, &id).map_err(|message| self.fail(place, message))?;
            }
            let judgement = self.m.judgement(&id);
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

    fn chart(&self, c: ChartFile) -> Result<Chart, FileError> {
        let series = c.series.into_iter().map(|s| self.series(s));
        let mut series: Vec<ChartSeries> = series.collect::<Result<_, _>>()?;
        // Results must not prevent a report, so that points outside a logarithmic axis are left out.
        let all: usize = series.iter().map(|s| s.points.len()).sum();
        series.iter_mut().for_each(|s| s.points.retain(|p| c.x.fits(p.x) && c.y.fits(p.y)));
        let left = match all - series.iter().map(|s| s.points.len()).sum::<usize>() {
            0 => String::new(),
            n => format!(" {n} of its points have no place on a logarithmic axis."),
        };
        series.retain(|s| !s.points.is_empty());
        let caption = format!("{}{left}{}", c.caption, hidden(&series));
        Ok(Chart { id: c.id, caption, x: c.x, y: c.y, series, zoom: c.zoom })
    }

    fn series(&self, s: SeriesFile) -> Result<ChartSeries, FileError> {
        s.curve.iter().try_for_each(|text| self.drawable(text))?;
        let curve = s.curve.and_then(|text| self.kept.get(&text));
        let points = match curve.as_ref().and_then(|v| v.downcast_object_ref::<Course>()) {
            Some(course) => course.points(),
            None => {
                let points = s.points.into_iter().map(|p| self.point(p));
                points.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
            }
        };
        Ok(ChartSeries { name: s.name, mark: s.mark, points })
    }

    /// Checks that a text stands for a value. This applies only to the check of a file.
    fn drawable(&self, text: &str) -> Result<(), FileError> {
        if !self.probing || text == NONE || self.kept.get(text).is_some() {
            return Ok(());
        }
        Err(self.fail(text, format!("`{text}` is not a value that can be drawn")))
    }

    fn point(&self, p: PointFile) -> Result<Option<ChartPoint>, FileError> {
        for cell in [&p.of].into_iter().chain(&p.x) {
            if let Cell::Text(text) = cell {
                self.drawable(text)?;
            }
        }
        Ok(self.placed(p))
    }

    fn placed(&self, p: PointFile) -> Option<ChartPoint> {
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

    fn heat(&self, h: HeatFile) -> Result<Block, FileError> {
        let mut cells = Vec::new();
        for HeatCellFile { x, y, of } in h.cells {
            let of = PointFile { category: None, x: None, of, low: None, high: None };
            cells.extend(self.point(of)?.map(|point| HeatCell { x, y, value: point.y }));
        }
        if cells.is_empty() {
            return Ok(Block::Text { text: h.empty });
        }
        let (id, caption) = (h.id, h.caption);
        Ok(Block::Heat(HeatMap { id, caption, x: h.x, y: h.y, value: h.value, cells }))
    }

    fn exchange(&self, e: ExchangeFile) -> Result<Option<Block>, FileError> {
        self.trace(&e.of)?;
        let asked = self.m.traces.get(&e.of).and_then(super::exchange::Asked::of);
        let ladder = asked.and_then(|asked| asked.ladder(e.id, e.caption, [e.left, e.right]));
        Ok(ladder.map(Block::Ladder))
    }

    fn map(&self, f: MapFile) -> Result<Option<Block>, FileError> {
        self.known(&f.run)?;
        Ok(super::map::map(self.m, f).map(Block::Map))
    }

    /// Checks that the plan has this `experiment/point`, which is in the file.
    fn known(&self, place: &str) -> Result<(), FileError> {
        self.m.plan.look_up(place).map_err(|message| self.fail(place, message))
    }

    /// Checks that the plan has this trace, which is in the file.
    fn trace(&self, id: &str) -> Result<(), FileError> {
        self.m.plan.look_up_trace(id).map_err(|message| self.fail(id, message))
    }

    /// An error at the first occurrence of a word in the file.
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
                self.trace(trace)?;
                commands::recording(self.m, &about, trace, (key, value))
            }
            (None, None, None) if about.is_empty() => Some(commands::whole(self.m)),
            (None, None, None) => Some(commands::quick(self.m, &about)),
            _ => {
                let message = "a command has `runs`, or `trace` with `record`, or neither";
                return Err(self.fail("kind = \"command\"", message.to_owned()));
            }
        };
        Ok(made.map(|block| match block {
            Block::Command { about, command, scenario } => {
                Block::Command { about, command: command + &c.more, scenario }
            }
            other => other,
        }))
    }
}

/// A sentence for each curve that the following curve hides.
fn hidden(series: &[ChartSeries]) -> String {
    let curve = |s: &ChartSeries| matches!(s.mark, Mark::Step | Mark::Line | Mark::Band);
    let covered = series.windows(2).filter(|w| {
        let points = |s: &ChartSeries| s.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
        curve(&w[0]) && points(&w[0]) == points(&w[1])
    });
    let said = |w: &[ChartSeries]| {
        format!(
            " The curve of {} is hidden by the curve of {}, because their runs are equal.",
            w[0].name, w[1].name
        )
    };
    covered.map(said).collect()
}
