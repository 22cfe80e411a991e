//! A comparison as tables for analysis.

use std::io::Write as _;
use std::path::Path;

use crate::Error;
use crate::report::html;
use crate::run::RunRecord;
use crate::run::store::export::{Provenance, export};
use crate::run::store::{Column, Format, Table, Values, replace};

use super::harm::{Bar, Cell};
use super::ranking::{Entry, Outcome, Versus};
use super::{Findings, Measure};

/// The tables: `ranking` and, if harm was measured, `harm`.
pub fn tables(findings: &Findings) -> Vec<Table> {
    let mut tables = vec![ranking(findings)];
    if !findings.harm.is_empty() {
        tables.push(harm(findings));
    }
    tables
}

/// Writes the tables and the report to the folder of the runs.
///
/// # Errors
///
/// A file cannot be written.
pub fn keep(
    dir: &Path,
    findings: &Findings,
    records: &[RunRecord],
    command: &str,
) -> Result<(), Error> {
    let provenance = Provenance::of(records, command);
    for table in tables(findings) {
        for format in [Format::Parquet, Format::Csv] {
            export(dir, table.name, format, [table.clone()], &provenance)?;
        }
    }
    let page = html::render(&super::report(findings, command))?;
    replace(dir, "report.html", |out| out.write_all(page.as_bytes()))?;
    Ok(())
}

/// The columns of a table, while they are collected.
struct Columns<'a, R> {
    rows: Vec<R>,
    findings: &'a Findings,
    columns: Vec<Column>,
}

impl<'a, R> Columns<'a, R> {
    /// Starts with the columns that identify the source of the rows.
    fn of(findings: &'a Findings, rows: Vec<R>) -> Columns<'a, R> {
        let f = findings;
        Columns { rows, findings, columns: Vec::new() }
            .text("scenario", "Name of the scenario", |_| Some(f.scenario.clone()))
            .text("scenario_hash", "Hash of the given scenario", |_| Some(f.scenario_hash.clone()))
            .text("version", "Version of Windlass", |_| Some(f.version.clone()))
            .text("world", "Backend of the runs: sim, linux, linux-vt=6.12", |_| {
                Some(f.world.clone())
            })
            .integer("first_seed", "Seed of the first run", |_| f.seeds.first().copied())
            .integer("seeds", "Number of seeds, which follow each other", |_| {
                Some(f.seeds.len() as u64)
            })
    }

    fn push(mut self, name: &'static str, meaning: &'static str, values: Values) -> Self {
        self.columns.push(Column { name: name.into(), meaning, values });
        self
    }

    fn text(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<String>,
    ) -> Self {
        let values = Values::Text(self.rows.iter().map(f).collect());
        self.push(name, meaning, values)
    }

    fn integer(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<u64>,
    ) -> Self {
        let values = Values::Integer(self.rows.iter().map(f).collect());
        self.push(name, meaning, values)
    }

    fn real(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        let values = Values::Real(self.rows.iter().map(f).collect());
        self.push(name, meaning, values)
    }

    /// An algorithm's name by its position.
    fn algorithm(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<usize>,
    ) -> Self {
        let names = &self.findings.algorithms;
        let label = |row: &R| f(row).and_then(|a| names.get(a).cloned());
        let values = Values::Text(self.rows.iter().map(label).collect());
        self.push(name, meaning, values)
    }
}

/// One row per measure and algorithm.
fn ranking(findings: &Findings) -> Table {
    let entries = findings.rankings.iter().flat_map(|r| r.entries.iter().map(|e| (r.measure, e)));
    let of = |f: fn(&Versus) -> Option<f64>| {
        move |(_, e): &(Measure, &Entry)| e.versus.as_ref().and_then(f)
    };
    let columns = Columns::of(findings, entries.collect())
        .text("measure", "Measure of the ranking, with its unit", |(m, _)| Some(m.id().to_owned()))
        .algorithm("algorithm", "The algorithm", |(_, e)| Some(e.algorithm))
        .integer("rank", "One plus the number of significantly better algorithms", |(_, e)| {
            e.rank.map(|r| r as u64)
        })
        .integer("missing", "Runs without a value, or unfinished", |(_, e)| Some(e.missing as u64))
        .real("mean", "Mean over the seeds", |(_, e)| e.mean)
        .real("mean_low", "Lower end of the 95 % interval of mean", |(_, e)| e.ci95.map(|c| c[0]))
        .real("mean_high", "Upper end of the 95 % interval of mean", |(_, e)| e.ci95.map(|c| c[1]))
        .algorithm(
            "versus",
            "Algorithm of the comparison; null for this algorithm itself",
            |(_, e)| e.versus.as_ref().map(|v| v.algorithm),
        )
        .text("outcome", "`better`, `worse`, `tie`, `identical` or `unknown`", |(_, e)| {
            e.versus.as_ref().map(|v| outcome(v.outcome).to_owned())
        })
        .real("difference", "Mean paired difference", of(|v| Some(v.difference)))
        .real(
            "difference_low",
            "Lower end of the interval of difference",
            of(|v| v.ci.map(|c| c[0])),
        )
        .real(
            "difference_high",
            "Upper end of the interval of difference",
            of(|v| v.ci.map(|c| c[1])),
        )
        .real("confidence", "Confidence of the interval of difference", of(|v| Some(v.confidence)))
        .real("p_t", "p of the paired t-test after Holm's correction", of(|v| v.p_t))
        .real(
            "p_wilcoxon",
            "p of the signed-rank test after Holm's correction",
            of(|v| v.p_wilcoxon),
        )
        .real("cohen_dz", "Mean paired difference over its standard deviation", of(|v| v.cohen_dz))
        .real(
            "hodges_lehmann",
            "Hodges–Lehmann estimate of the paired difference",
            of(|v| v.hodges_lehmann),
        )
        .real("superiority", "Share of seeds with a larger value", of(|v| v.superiority));
    Table { name: "ranking", columns: columns.columns }
}

/// One row per measure and pair of algorithms.
fn harm(findings: &Findings) -> Table {
    let cells = findings.harm.iter().flat_map(|h| h.cells.iter().map(|c| (h.measure, c)));
    type Row<'a> = (Measure, &'a Cell);
    let columns = Columns::of(findings, cells.collect::<Vec<Row>>())
        .text("measure", "Harmed measure, with its unit", |(m, _)| Some(m.id().to_owned()))
        .algorithm("by", "The algorithm that harms", |(_, c)| Some(c.by))
        .algorithm("to", "The algorithm that is harmed", |(_, c)| Some(c.to))
        .real("alone", "Mean performance of the harmed algorithm alone", |(_, c)| c.alone)
        .real("beside", "Mean performance of the harmed algorithm with the other", |(_, c)| {
            c.beside
        })
        .real("harm", "Mean harm: 0 without effect, 1 for the loss of all performance", |(_, c)| {
            c.harm
        })
        .real("harm_low", "Lower end of the 95 % interval of harm", |(_, c)| c.ci95.map(|c| c[0]))
        .real("harm_high", "Upper end of the 95 % interval of harm", |(_, c)| c.ci95.map(|c| c[1]))
        .real("excess", "Harm minus the harm of the harmed algorithm to itself", |(_, c)| c.excess)
        .real("excess_low", "Lower end of the interval of excess", |(_, c)| {
            c.excess_ci.map(|c| c[0])
        })
        .real("excess_high", "Upper end of the interval of excess", |(_, c)| {
            c.excess_ci.map(|c| c[1])
        })
        .real("p", "p of the paired t-test of the excess after Holm's correction", |(_, c)| c.p)
        .text(
            "bar",
            "`own`, `more`, `less`, `alike` or `unknown`: harm compared with the limit",
            |(_, c)| Some(bar(c.bar).to_owned()),
        );
    Table { name: "harm", columns: columns.columns }
}

/// The word for an outcome.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Tie => "tie",
        Outcome::Identical => "identical",
        Outcome::Unknown => "unknown",
    }
}

/// The word for the comparison of harm with the limit.
pub(super) fn bar(bar: Bar) -> &'static str {
    match bar {
        Bar::Own => "own",
        Bar::More => "more",
        Bar::Less => "less",
        Bar::Alike => "alike",
        Bar::Unknown => "unknown",
    }
}
