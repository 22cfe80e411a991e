//! Tables of the parts of runs: flows, links, stations.

use crate::report::model::{Row, Table};
use crate::report::numbers::{NEVER, rate_unit};
use crate::run::RunRecord;
use crate::run::fields::{Kind, Row as FieldRow, Value};
use crate::stats::Summary;

/// The runs of a table, and the maximum number of rows. A longer table combines similar rows.
pub(super) struct Told<'a> {
    pub(super) records: &'a [RunRecord],
    pub(super) longest: usize,
}

/// A column: the heading, the fields whose sum it shows, the scale, and the number of decimals. A heading that ends in
/// [`BPS`] gets the unit and the decimals that fit its values.
pub(super) type Shown = (&'static str, &'static [&'static str], Scale, usize);

/// Conversion of a value of a run to the displayed value.
pub(super) type Scale = fn(f64, &RunRecord) -> f64;

pub(super) const BPS: &str = " (bps)";

/// A row of a listing: the first cells, the parts that it combines, and the statistic over these parts.
struct Entry {
    firsts: Vec<String>,
    parts: Vec<usize>,
    which: fn(&Summary) -> f64,
}

/// Placeholder for numbers in the name of a row that combines several parts.
const TOGETHER: char = '*';

/// The rows of a listing: one for each part. If there are more than `longest` parts, parts whose names differ
/// only in numbers have three rows together: minimum, median and maximum.
fn entries(firsts: Vec<Vec<String>>, longest: usize) -> Vec<Entry> {
    const FEW: usize = 3;
    let alone = |(i, firsts)| Entry { firsts, parts: vec![i], which: |s| s.median };
    if firsts.len() <= longest {
        return firsts.into_iter().enumerate().map(alone).collect();
    }
    let mut alike: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (i, cells) in firsts.iter().enumerate() {
        let mut key = cells.clone();
        key[0] = masked(&key[0]);
        match alike.iter_mut().find(|(known, _)| *known == key) {
            Some((_, parts)) => parts.push(i),
            None => alike.push((key, vec![i])),
        }
    }
    let rows = |(stem, parts): (Vec<String>, Vec<usize>)| -> Vec<Entry> {
        if parts.len() <= FEW {
            return parts.into_iter().map(|i| alone((i, firsts[i].clone()))).collect();
        }
        let below = |word: &str| {
            let blank = std::iter::repeat_n(String::new(), stem.len() - 1);
            std::iter::once(format!("  {word}")).chain(blank).collect()
        };
        let mut first = stem.clone();
        first[0] = format!("{} min", stem[0]);
        vec![
            Entry { firsts: first, parts: parts.clone(), which: |s| s.min },
            Entry { firsts: below("median"), parts: parts.clone(), which: |s| s.median },
            Entry { firsts: below("max"), parts, which: |s| s.max },
        ]
    };
    alike.into_iter().flat_map(rows).collect()
}

/// A name with a placeholder for each number.
pub(crate) fn masked(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with(TOGETHER) => {}
            true => out.push(TOGETHER),
            false => out.push(c),
        }
    }
    out
}

/// True if a row of the table combines several parts.
pub(super) fn tells_of_many(table: &Table) -> bool {
    table.rows.iter().any(|row| row.cells[0].contains(TOGETHER))
}

/// A table of the parts of a kind. `firsts` has the first cells of each row.
pub(super) fn listing(
    caption: &str,
    (kind, heads): (Kind, &[&str]),
    firsts: Vec<Vec<String>>,
    columns: &[Shown],
    told: &Told<'_>,
) -> Table {
    let records = told.records;
    let entries = entries(firsts, told.longest);
    let mut table = Table {
        caption: caption.to_string(),
        columns: heads.iter().copied().map(str::to_owned).collect(),
        rows: entries.iter().map(|e| Row { cells: e.firsts.clone(), ..Row::default() }).collect(),
        ..Table::default()
    };
    let runs: Vec<Vec<FieldRow<'_>>> = records.iter().map(|run| kind.rows(run)).collect();
    for (heading, fields, scale, digits) in columns {
        let or_never = fields.iter().all(|f| kind.metric(f).is_some_and(|f| f.is_never()));
        let of_entry = |entry: &Entry| -> Vec<f64> {
            let value = |run: &[FieldRow<'_>], i: usize| shown(*run.get(i)?, kind, fields, *scale);
            let known =
                || runs.iter().flat_map(|run| entry.parts.iter().filter_map(|i| value(run, *i)));
            // A part without a value did not end, if another part did.
            let never = (or_never && known().next().is_some()).then_some(f64::INFINITY);
            let in_run = |run: &Vec<FieldRow<'_>>| {
                let all = entry.parts.iter().filter_map(|i| value(run, *i).or(never));
                Some((entry.which)(&Summary::of(&all.collect::<Vec<f64>>())?))
            };
            runs.iter().filter_map(in_run).collect()
        };
        let mut values: Vec<Vec<f64>> = entries.iter().map(of_entry).collect();
        let (heading, digits) = match heading.strip_suffix(BPS) {
            Some(name) => {
                let (unit, digits) = in_one_unit(&mut values);
                (format!("{name} ({unit})"), digits)
            }
            None => ((*heading).to_owned(), *digits),
        };
        table.columns.push(heading);
        for (row, values) in table.rows.iter_mut().zip(values) {
            // The cell gives the number of runs with a finite value, so that an unfinished run is visible.
            row.cells.push(match values.iter().filter(|v| v.is_finite()).count() {
                0 => cell(&values, digits),
                n if n == records.len() => cell(&values, digits),
                n => format!("{} ({n} of {} runs)", cell(&values, digits), records.len()),
            });
        }
    }
    table
}

/// Scales rates to a unit that fits all of them. Returns the unit's name, and the number of decimals: four
/// digits for the largest rate, and at least two digits for the smallest.
fn in_one_unit(rates: &mut [Vec<f64>]) -> (&'static str, usize) {
    let positive = || rates.iter().flatten().copied().filter(|v| *v > 0.0);
    let (scale, name) = rate_unit(positive());
    let decimals = |wanted: i32| {
        move |rate: f64| usize::try_from(wanted - 1 - libm::log10(rate / scale).floor() as i32)
    };
    let largest = positive().reduce(f64::max).map_or(Ok(0), decimals(4)).unwrap_or(0);
    let smallest = positive().reduce(f64::min).map_or(Ok(0), decimals(2)).unwrap_or(0);
    rates.iter_mut().flatten().for_each(|v| *v /= scale);
    (name, largest.max(smallest))
}

/// The scaled sum of these fields of a part. `None` if a field has no value.
fn shown(row: FieldRow<'_>, kind: Kind, fields: &[&str], scale: Scale) -> Option<f64> {
    let value = |name: &&str| match kind.metric(name)?.value(row)? {
        Value::Integer(n) => Some(n as f64),
        Value::Real(x) => Some(x),
        Value::Text(_) | Value::Reals(_) => None,
    };
    let sum: f64 = fields.iter().map(value).sum::<Option<f64>>()?;
    Some(scale(sum, row.record()))
}

/// A value with this number of decimals. An infinite value is a word.
fn digits_of(value: f64, digits: usize) -> String {
    if value == f64::INFINITY { NEVER.to_owned() } else { format!("{value:.digits$}") }
}

/// The cell without a value.
pub(super) const NOTHING: &str = "-";

/// A single value, or the median of several values with its interval.
pub(super) fn cell(values: &[f64], digits: usize) -> String {
    match values {
        [] => NOTHING.to_string(),
        [one] => digits_of(*one, digits),
        many => match Summary::of(many) {
            Some(Summary { median, ci95_median: Some(ends), .. }) => {
                let [median, lo, hi] = [median, ends[0], ends[1]].map(|v| digits_of(v, digits));
                format!("{median} [{lo}, {hi}]")
            }
            Some(s) => digits_of(s.median, digits),
            None => NOTHING.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_a_column_have_one_unit_and_fitting_decimals() {
        for (rates, unit, shown) in [
            (&[9_512_345.0, 2e6][..], "Mbps", ["9.512", "2.000"]),
            (&[237_588.0, 0.0], "kbps", ["237.6", "0.0"]),
            (&[10e6, 212.0], "kbps", ["10000.00", "0.21"]),
            (&[512.3, 18.4], "bps", ["512.3", "18.4"]),
        ] {
            let mut values: Vec<Vec<f64>> = rates.iter().map(|v| vec![*v]).collect();
            let (name, digits) = in_one_unit(&mut values);
            let cells: Vec<String> = values.iter().map(|v| cell(v, digits)).collect();
            assert_eq!((name, &cells[..]), (unit, &shown.map(str::to_owned)[..]));
        }
        assert_eq!(in_one_unit(&mut [Vec::new()]), ("bps", 0));
    }

    #[test]
    fn a_long_listing_combines_similar_rows_into_min_median_and_max() {
        assert_eq!(masked("access-s12:s12>hub"), "access-s*:s*>hub");
        let named = |name: String| vec![name, "reno".to_owned()];
        let mut firsts: Vec<Vec<String>> = (1..=5).map(|i| named(format!("meter-{i}"))).collect();
        firsts.insert(2, named("base".to_owned()));
        let names = |longest| -> Vec<(String, Vec<usize>)> {
            entries(firsts.clone(), longest)
                .into_iter()
                .map(|e| (e.firsts[0].clone(), e.parts))
                .collect()
        };
        assert_eq!(names(6).len(), 6, "each part has a row if all fit");
        let meters = vec![0, 1, 3, 4, 5];
        let told = [
            ("meter-* min".to_owned(), meters.clone()),
            ("  median".to_owned(), meters.clone()),
            ("  max".to_owned(), meters),
            ("base".to_owned(), vec![2]),
        ];
        assert_eq!(names(5), told);
        let values = Summary::of(&[3.0, 1.0, 8.0]).expect("values");
        let which: Vec<f64> = entries(firsts, 5).iter().map(|e| (e.which)(&values)).collect();
        assert_eq!(which, [1.0, 3.0, 8.0, 3.0]);
    }
}
