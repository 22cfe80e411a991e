//! The results of a sweep as a table, charts and the report.

use super::measure::Measure;
use super::plan::Plan;
use super::points::{Cell, Method};
use super::work::{Standing, Sweep};
use crate::experiment::Axis;
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Report, Row, Scale, Section, Table,
};
use crate::report::numbers::{NEVER, rate_unit};
use crate::stats::sequential::Rule;
use crate::units::{BitRate, Bytes, Duration};

/// Maximum number of charts of one metric: one for each combination of the axes beyond the second.
const MOST_CHARTS: usize = 24;
/// Ratio of the largest to the smallest value above which an axis is logarithmic.
const LOG_FROM: f64 = 20.0;

impl Sweep {
    /// The report: a table and charts for each metric, and their provenance.
    pub fn report(&self, cells: &[Cell]) -> Report {
        let plan = &self.plan;
        let mut sections: Vec<Section> =
            (0..plan.measures.len()).map(|m| self.section(m, cells)).collect();
        sections.push(self.provenance(cells));
        let runs: u64 = self.counted().iter().map(|(_, _, r)| r.len() as u64).sum();
        let line = |label: &str, value: String| (label.to_owned(), value);
        let version = plan.points.first().map_or(crate::run::VERSION, |p| p.world.version());
        Report {
            title: format!("Sweep of {}", plan.name),
            summary: format!(
                "{}{} {}",
                sentence(&plan.scenario.description),
                axes_in_words(&plan.axes),
                self.rule_in_words()
            ),
            verdicts: Vec::new(),
            counted: None,
            provenance: vec![
                line("Scenario", format!("{}, hash {}", plan.scenario.name, plan.scenario.hash())),
                line("Windlass", version.to_owned()),
                line("Points", plan.points.len().to_string()),
                line("Runs", format!("{runs}, seeds from {}", plan.scenario.seed)),
                line("Command", self.campaign.command().to_owned()),
            ],
            sections,
            ..Report::default()
        }
    }

    /// The table of all metrics, for the terminal.
    pub fn overview(&self, cells: &[Cell]) -> Table {
        let units: Vec<Unit> = (0..self.plan.measures.len()).map(|m| self.unit(m, cells)).collect();
        let mut table = Table { caption: self.rule_in_words(), ..Table::default() };
        let axes = self.plan.axes.iter().map(|a| a.name.clone());
        table.columns = axes.chain(["runs".to_owned()]).collect();
        if self.plan.axes.is_empty() {
            table.columns.insert(0, "point".to_owned());
        }
        table.columns.extend(self.plan.measures.iter().zip(&units).map(|(m, u)| u.heading(m)));
        for of_point in cells.chunks(self.plan.measures.len().max(1)) {
            let Some(first) = of_point.first() else { continue };
            let mut row = self.labels(first.point);
            row.push(format!("{}{}", first.runs, mark(first.standing)));
            row.extend(of_point.iter().zip(&units).map(|(c, u)| u.cell(c)));
            table.rows.push(Row { cells: row, ..Row::default() });
        }
        table.notes = self.notes(cells);
        table
    }

    /// Remarks that apply to these cells.
    fn notes(&self, cells: &[Cell]) -> Vec<String> {
        let any = |f: &dyn Fn(&Cell) -> bool| cells.iter().any(f);
        let mut notes = Vec::new();
        for method in Method::MARKED {
            if any(&|c| c.method == method) {
                notes.push(format!("{}: {}", method.mark(), method.note()));
            }
        }
        if any(&|c| c.standing == Standing::AtMost) {
            notes.push(
                "!: maximum number of runs reached; the interval is wider than required".to_owned(),
            );
        }
        if any(&|c| c.standing == Standing::Unfinished) {
            notes.push("*: not finished; runs are missing".to_owned());
        }
        if any(&|c| c.without > 0) {
            notes.push(
                "(k of n): only k of the n runs have a value, and the mean is over these k"
                    .to_owned(),
            );
        }
        notes
    }

    fn labels(&self, point: usize) -> Vec<String> {
        let point = &self.plan.points[point].point;
        match point.coordinates.as_slice() {
            [] => vec![point.id.clone()],
            coordinates => coordinates.iter().map(|(_, label)| label.clone()).collect(),
        }
    }

    fn rule_in_words(&self) -> String {
        let Plan { goals, points, .. } = &self.plan;
        let Rule { min, max } = points[0].rule;
        let goals: Vec<String> = goals.iter().map(ToString::to_string).collect();
        if goals.is_empty() {
            return "Means over the runs of each point, with 95 % intervals.".to_owned();
        }
        format!(
            "Means with 95 % intervals; runs were added until {}, from {min} to {max} per point.",
            goals.join(" and ")
        )
    }

    fn section(&self, measure: usize, cells: &[Cell]) -> Section {
        let own: Vec<&Cell> = cells.iter().filter(|c| c.measure == measure).collect();
        let metric = &self.plan.measures[measure];
        let unit = self.unit(measure, cells);
        let mut blocks: Vec<Block> =
            self.charts(measure, &own, &unit).into_iter().map(Block::Chart).collect();
        blocks.push(Block::Table(self.metric_table(measure, &own, &unit)));
        Section { id: format!("metric-{}", measure + 1), title: metric.path().to_owned(), blocks }
    }

    fn metric_table(&self, measure: usize, cells: &[&Cell], unit: &Unit) -> Table {
        let axes = self.plan.axes.iter().map(|a| a.name.clone());
        let head = |what: &str| match unit.name.as_str() {
            "" => what.to_owned(),
            name => format!("{what} ({name})"),
        };
        let mut columns: Vec<String> = axes.collect();
        if columns.is_empty() {
            columns.push("point".to_owned());
        }
        let figures = ["mean", "95 % low", "95 % high", "sd", "median", "least", "largest"];
        columns.push("runs".to_owned());
        columns.extend(figures.map(head));
        let row = |c: &&Cell| {
            let s = c.summary.as_ref();
            let mut cells = self.labels(c.point);
            cells.push(runs(c));
            let figures = [
                s.map(|s| s.mean),
                c.ci95.map(|ci| ci[0]),
                c.ci95.map(|ci| ci[1]),
                s.and_then(|s| s.sd),
                s.map(|s| s.median),
                s.map(|s| s.min),
                s.map(|s| s.max),
            ];
            cells.extend(figures.map(|f| unit.figure(f)));
            let last = cells.len() - 6;
            cells[last] = format!("{} {}", cells[last], c.method.mark()).trim_end().to_owned();
            Row { cells, ..Row::default() }
        };
        let owned: Vec<Cell> = cells.iter().map(|c| (*c).clone()).collect();
        Table {
            id: format!("table-{}", measure + 1),
            caption: format!("{} at every point", self.plan.measures[measure]),
            columns,
            rows: cells.iter().map(row).collect(),
            notes: self.notes(&owned),
        }
    }

    /// Charts over the first axis, with a series for each value of the second. Each combination of the other axes
    /// has its own chart.
    fn charts(&self, measure: usize, cells: &[&Cell], unit: &Unit) -> Vec<Chart> {
        let Some(first) = self.plan.axes.first() else { return Vec::new() };
        let positions = Positions::of(first);
        let mut charts: Vec<(Vec<String>, Chart)> = Vec::new();
        for cell in cells {
            let Some(point) = positions.point(self, cell, unit) else { continue };
            let labels = self.labels(cell.point);
            let rest = labels.get(2..).unwrap_or_default().to_vec();
            let at = charts.iter().position(|(r, _)| *r == rest).unwrap_or_else(|| {
                let chart = self.empty_chart(measure, charts.len(), &rest, &positions, unit);
                charts.push((rest, chart));
                charts.len() - 1
            });
            let name = match labels.get(1) {
                Some(label) => format!("{} = {label}", self.plan.axes[1].name),
                None => self.plan.measures[measure].path().to_owned(),
            };
            let series = &mut charts[at].1.series;
            let place = series.iter().position(|s| s.name == name).unwrap_or_else(|| {
                series.push(ChartSeries { name, mark: positions.mark(), points: Vec::new() });
                series.len() - 1
            });
            series[place].points.push(point);
        }
        charts.truncate(MOST_CHARTS);
        charts.into_iter().map(|(_, chart)| chart).collect()
    }

    fn empty_chart(
        &self,
        measure: usize,
        nth: usize,
        rest: &[String],
        positions: &Positions,
        unit: &Unit,
    ) -> Chart {
        let metric = &self.plan.measures[measure];
        let others = self.plan.axes.iter().skip(2).zip(rest);
        let place: String = others.map(|(a, l)| format!(", {} = {l}", a.name)).collect();
        Chart {
            id: format!("chart-{}-{}", measure + 1, nth + 1),
            caption: format!("Mean of {metric} with 95 % intervals{place}"),
            x: ChartAxis { label: positions.label.clone(), scale: positions.scale },
            y: ChartAxis { label: unit.heading(metric), scale: Scale::Linear },
            series: Vec::new(),
            zoom: positions.scale != Scale::Category,
        }
    }

    fn provenance(&self, cells: &[Cell]) -> Section {
        let mut items = vec![
            "Every point has the same seeds, so that the random values of the network are the same for \
             all of them."
                .to_owned(),
            "`points.csv` and `points.parquet` hold the figures of this page, `runs.parquet`, \
             `summary.parquet` and `links.parquet` every run; `scenarios` the scenario of each \
             point with every default filled in."
                .to_owned(),
        ];
        if cells.iter().any(|c| c.method == Method::Sequential) {
            items.push(format!(
                "An interval is Student's at {} %, because the number of runs depends \
                 on the values. It covers the mean in about 95 % of sweeps or more.",
                100.0 * Rule::LOOK_CONFIDENCE
            ));
        }
        if let Some(warm_up) = self.plan.warm_up {
            items.push(match warm_up {
                super::WarmUp::Fixed(_) => {
                    format!("`steady` metrics leave out the first {warm_up} of each flow.")
                }
                super::WarmUp::Mser => {
                    "`steady` metrics leave out each flow's warm-up, as MSER-5 (White 1997) defines \
                     it."
                        .to_owned()
                }
            });
        }
        let command = Block::Command {
            about: Some("Command that repeats the sweep:".to_owned()),
            command: self.campaign.command().to_owned(),
            scenario: None,
        };
        let blocks = vec![Block::List { items }, command];
        Section { id: "making".to_owned(), title: "Method".to_owned(), blocks }
    }

    fn unit(&self, measure: usize, cells: &[Cell]) -> Unit {
        let own = cells.iter().filter(|c| c.measure == measure);
        let means = own.filter_map(|c| c.summary.as_ref()).map(|s| s.mean.abs());
        let largest = means.filter(|m| m.is_finite()).fold(0.0, f64::max);
        Unit::of(&self.plan.measures[measure], largest)
    }
}

/// A description as a sentence with a space after it; empty for an empty description.
fn sentence(text: &str) -> String {
    match text.trim_end_matches('.') {
        "" => String::new(),
        text => format!("{text}. "),
    }
}

fn axes_in_words(axes: &[Axis]) -> String {
    let words: Vec<String> =
        axes.iter().map(|a| format!("{} ({} values)", a.name, a.values.len())).collect();
    match words.as_slice() {
        [] => "A single point.".to_owned(),
        _ => format!("Varied along {}.", words.join(" and ")),
    }
}

fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Complete | Standing::Narrow => "",
        Standing::AtMost => "!",
        Standing::Unfinished => "*",
    }
}

fn runs(cell: &Cell) -> String {
    let with = cell.runs - cell.without;
    let some = if cell.without > 0 { format!("{with} of ") } else { String::new() };
    format!("{some}{}{}", cell.runs, mark(cell.standing))
}

/// A suitable unit for a metric's figures.
struct Unit {
    name: String,
    /// Figures are divided by this.
    scale: f64,
    digits: usize,
}

impl Unit {
    fn of(measure: &Measure, largest: f64) -> Unit {
        let (scale, name) = match measure.unit() {
            "bps" => rate_unit(std::iter::once(largest)),
            name => (1.0, name),
        };
        // The largest value has four significant digits.
        let whole = libm::log10((largest / scale).max(1e-6)).floor() as i32 + 1;
        Unit { name: name.to_owned(), scale, digits: usize::try_from(4 - whole).unwrap_or(0) }
    }

    fn heading(&self, measure: &Measure) -> String {
        match self.name.as_str() {
            "" => measure.path().to_owned(),
            name => {
                let path = measure.path().rsplit_once('_').map_or(measure.path(), |(path, _)| path);
                format!("{path} ({name})")
            }
        }
    }

    fn figure(&self, value: Option<f64>) -> String {
        match value {
            Some(v) if v.is_finite() => format!("{:.*}", self.digits, v / self.scale),
            Some(_) => NEVER.to_owned(),
            None => "–".to_owned(),
        }
    }

    /// Mean with its interval.
    fn cell(&self, cell: &Cell) -> String {
        let Some(summary) = &cell.summary else { return "–".to_owned() };
        let mut out = self.figure(Some(summary.mean));
        if summary.mean == f64::INFINITY && summary.median.is_finite() {
            out += &format!(" in some runs, median {}", self.figure(Some(summary.median)));
        }
        if let Some([low, high]) = cell.ci95 {
            out += &format!(" [{}, {}]", self.figure(Some(low)), self.figure(Some(high)));
        }
        out = format!("{out} {}", cell.method.mark()).trim_end().to_owned();
        if cell.without > 0 {
            out += &format!(" ({} of {})", cell.runs - cell.without, cell.runs);
        }
        out
    }
}

/// Positions of an axis's values in a chart.
struct Positions {
    label: String,
    scale: Scale,
    /// Numbers of the labels; empty for categories.
    numbers: Vec<f64>,
}

impl Positions {
    fn of(axis: &Axis) -> Positions {
        let Some((unit, numbers)) = numbers(axis) else {
            return Positions { label: axis.name.clone(), scale: Scale::Category, numbers: vec![] };
        };
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log = numbers.len() > 2 && least > 0.0 && largest / least >= LOG_FROM;
        let scale = if log { Scale::Log } else { Scale::Linear };
        let name = &axis.name;
        let label = if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") };
        Positions { label, scale, numbers }
    }

    fn mark(&self) -> Mark {
        if self.scale == Scale::Category { Mark::Points } else { Mark::Line }
    }

    /// A cell as a point of a chart, if it has a mean.
    fn point(&self, sweep: &Sweep, cell: &Cell, unit: &Unit) -> Option<ChartPoint> {
        let y = cell.summary.as_ref()?.mean / unit.scale;
        let label = &sweep.plan.points[cell.point].point.coordinates[0].1;
        let axis = &sweep.plan.axes[0];
        let place = axis.values.iter().position(|v| v.label == *label)?;
        let x = self.numbers.get(place).copied().unwrap_or(0.0);
        let end = |i: usize| cell.ci95.map(|ci| ci[i] / unit.scale).filter(|v| v.is_finite());
        let category = (self.scale == Scale::Category).then(|| label.clone());
        y.is_finite().then(|| ChartPoint {
            x,
            category,
            y,
            lo: end(0),
            hi: end(1),
            ..ChartPoint::default()
        })
    }
}

/// The labels of an axis as numbers of one unit. If the labels have different units of one quantity, such as kbps
/// and Mbps, they are converted to a common unit.
fn numbers(axis: &Axis) -> Option<(&str, Vec<f64>)> {
    let labels = || axis.values.iter().map(|v| v.label.as_str());
    let plain: Option<Vec<(f64, &str)>> = labels().map(number).collect();
    if let Some(plain) = plain.filter(|p| p.iter().all(|(_, unit)| *unit == p[0].1)) {
        return Some((plain[0].1, plain.iter().map(|(n, _)| *n).collect()));
    }
    let rate = |l: &str| l.parse().ok().map(|BitRate(bps)| bps as f64 / 1e6);
    let time = |l: &str| l.parse().ok().map(|Duration(t)| t.0 as f64 / 1e6);
    let size = |l: &str| l.parse().ok().map(|Bytes(b)| b as f64 / 1e3);
    let all = |f: &dyn Fn(&str) -> Option<f64>| labels().map(f).collect::<Option<Vec<f64>>>();
    let kinds = [("Mbps", all(&rate)), ("ms", all(&time)), ("kB", all(&size))];
    kinds.into_iter().find_map(|(unit, numbers)| Some((unit, numbers?)))
}

/// The number and unit of a label, if it has this form.
fn number(label: &str) -> Option<(f64, &str)> {
    let end = label.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    let (number, unit) = label.split_at(end.unwrap_or(label.len()));
    let plain = unit.trim().chars().all(|c| c.is_alphabetic() || c == '%' || c == '/');
    number.parse().ok().filter(|_| plain).map(|n| (n, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::AxisValue;

    fn axis(labels: &[&str]) -> Axis {
        let value = |l: &&str| AxisValue { label: (*l).to_owned(), ..AxisValue::default() };
        Axis { name: "rate".to_owned(), values: labels.iter().map(value).collect() }
    }

    #[test]
    fn axes_of_numbers_are_linear_or_logarithmic() {
        for (labels, scale, label) in [
            (&["1Mbps", "5Mbps"][..], Scale::Linear, "rate (Mbps)"),
            (&["1Mbps", "10Mbps", "100Mbps"], Scale::Log, "rate (Mbps)"),
            (&["0%", "1%", "50%"], Scale::Linear, "rate (%)"),
            (&["500kbps", "1Mbps", "2 Mbit/s"], Scale::Linear, "rate (Mbps)"),
            (&["500us", "1s"], Scale::Linear, "rate (ms)"),
            (&["10pkt", "1bdp"], Scale::Category, "rate"),
            (&["cubic", "reno"], Scale::Category, "rate"),
            (&["1+2", "2+3"], Scale::Category, "rate"),
            (&["3", "1"], Scale::Linear, "rate"),
        ] {
            let positions = Positions::of(&axis(labels));
            assert_eq!((positions.scale, positions.label.as_str()), (scale, label), "{labels:?}");
        }
    }

    #[test]
    fn figures_have_a_unit_that_suits_them() {
        let measure = |path: &str| Measure::parse(path).unwrap();
        let bps = Unit::of(&measure("flow.*.goodput_bps"), 2.5e6);
        assert_eq!(bps.heading(&measure("flow.*.goodput_bps")), "flow.*.goodput (Mbps)");
        assert_eq!(bps.figure(Some(2_345_678.0)), "2.346");
        let index = Unit::of(&measure("run.jain_index"), 0.9);
        assert_eq!(
            (index.figure(Some(0.912_34)), index.figure(None)),
            ("0.9123".into(), "–".into())
        );
        assert_eq!(Unit::of(&measure("flow.*.rto_count"), 123_456.0).figure(Some(1.0)), "1");
    }
}
