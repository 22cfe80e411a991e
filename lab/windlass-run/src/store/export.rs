//! Tables as Parquet, CSV and JSON files.
//!
//! - Parquet, compressed with Snappy, has a [`Provenance`] as key-value metadata under `windlass.*`, and each
//!   column's meaning under `windlass.column.NAME`.
//! - CSV follows RFC 4180 with `\n` line ends. Null is an empty field, and a list is its numbers joined by
//!   `;`. The columns of each row have the provenance.
//! - JSON is an array of objects, one row per line.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parquet::file::metadata::KeyValue;

use super::error::StoreError;
use super::table::{Table, Values};
use super::{files, parquet_file};
use crate::RunRecord;
use crate::fields::{LISTINGS, Listing};

/// A file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
    /// An array of objects.
    Json,
}

impl Format {
    /// Ending of the file's name, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

/// The origin of a table's values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Windlass versions of the runs, in order.
    pub versions: BTreeSet<String>,
    /// Hashes of the resolved scenarios, in order.
    pub scenario_hashes: BTreeSet<String>,
    /// Seeds, in order.
    pub seeds: BTreeSet<u64>,
    /// The command that executed the runs.
    pub command: String,
}

impl Provenance {
    /// The provenance of the runs of `command`.
    pub fn of(records: &[RunRecord], command: &str) -> Provenance {
        Provenance {
            versions: records.iter().map(|r| r.version.clone()).collect(),
            scenario_hashes: records.iter().map(|r| r.scenario_hash.clone()).collect(),
            seeds: records.iter().map(|r| r.seed).collect(),
            command: command.into(),
        }
    }

    fn key_values(&self) -> Vec<KeyValue> {
        let words = |set: &BTreeSet<String>| Vec::from_iter(set.iter().cloned()).join(" ");
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        vec![
            KeyValue::new("windlass.version".into(), words(&self.versions)),
            KeyValue::new("windlass.scenario_hash".into(), words(&self.scenario_hashes)),
            KeyValue::new("windlass.seeds".into(), seeds.join(" ")),
            KeyValue::new("windlass.command".into(), self.command.clone()),
        ]
    }
}

/// Writes the tables of `records` into `dir` in each of `formats`, and returns the paths. `runs`, `summary`
/// and `links` are always written. `cells` and `stations` need a Wi-Fi cell, `routing` needs a cell with a
/// routing protocol, and `multipath` and `subflows` need a multipath flow.
///
/// # Errors
///
/// A file cannot be written. Each file is complete or unchanged.
pub fn export_records(
    dir: &Path,
    records: &[RunRecord],
    command: &str,
    formats: &[Format],
) -> Result<Vec<PathBuf>, StoreError> {
    let provenance = Provenance::of(records, command);
    let mut paths = Vec::new();
    let wanted = |l: &Listing| l.always || !l.rows(records).is_empty();
    let tables = LISTINGS.into_iter().filter(wanted).map(|l| l.table(records));
    for table in tables {
        for &format in formats {
            let chunk = [table.clone()];
            paths.push(export(dir, table.name, format, chunk, &provenance)?);
        }
    }
    Ok(paths)
}

/// Writes `dir/name.EXTENSION` from the parts of one table, and returns its path.
///
/// # Errors
///
/// It cannot be written. An earlier file of this name stays unchanged.
pub fn export(
    dir: &Path,
    name: &str,
    format: Format,
    parts: impl IntoIterator<Item = Table>,
    provenance: &Provenance,
) -> Result<PathBuf, StoreError> {
    let name = format!("{name}.{}", format.extension());
    files::replace(dir, &name, |out| write(out, format, parts, provenance))
}

/// Writes the parts of one table to `out`. All have the same columns; there is at least one.
///
/// # Errors
///
/// `out` fails, or there is no part.
pub fn write(
    out: &mut (impl Write + Send),
    format: Format,
    parts: impl IntoIterator<Item = Table>,
    provenance: &Provenance,
) -> io::Result<()> {
    let mut parts = parts.into_iter().peekable();
    let Some(first) = parts.peek() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a table needs columns"));
    };
    match format {
        Format::Parquet => {
            let first = first.clone();
            let meanings = first.columns.iter().filter(|c| !c.meaning.is_empty()).map(|c| {
                KeyValue::new(format!("windlass.column.{}", c.name), c.meaning.to_owned())
            });
            let facts = provenance.key_values().into_iter().chain(meanings).collect();
            parquet_file::write(out, &first, parts, facts)
        }
        Format::Csv => {
            // A column may be named after an axis, which the user names.
            let names: Vec<String> = first.columns.iter().map(|c| csv_text(&c.name)).collect();
            writeln!(out, "{}", names.join(","))?;
            write_csv_rows(out, parts)
        }
        Format::Json => write_json(out, parts),
    }
}

fn write_csv_rows(out: &mut impl Write, parts: impl Iterator<Item = Table>) -> io::Result<()> {
    for part in parts {
        for row in 0..part.rows() {
            let fields: Vec<String> =
                part.columns.iter().map(|c| csv_field(&c.values, row)).collect();
            writeln!(out, "{}", fields.join(","))?;
        }
    }
    Ok(())
}

fn csv_field(values: &Values, row: usize) -> String {
    match values {
        Values::Text(v) => v[row].as_deref().map(csv_text).unwrap_or_default(),
        Values::Integer(v) => v[row].map(|x| x.to_string()).unwrap_or_default(),
        Values::Real(v) => v[row].map(|x| x.to_string()).unwrap_or_default(),
        Values::Reals(v) => v[row].iter().map(f64::to_string).collect::<Vec<_>>().join(";"),
    }
}

fn csv_text(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn write_json(out: &mut impl Write, parts: impl Iterator<Item = Table>) -> io::Result<()> {
    let mut separator = "[\n";
    for part in parts {
        for row in 0..part.rows() {
            out.write_all(separator.as_bytes())?;
            separator = ",\n";
            write_json_row(out, &part, row)?;
        }
    }
    let end = if separator == "[\n" { "[]\n" } else { "\n]\n" };
    out.write_all(end.as_bytes())
}

fn write_json_row(out: &mut impl Write, table: &Table, row: usize) -> io::Result<()> {
    for (i, column) in table.columns.iter().enumerate() {
        out.write_all(if i == 0 { b"{" } else { b"," })?;
        serde_json::to_writer(&mut *out, &column.name)?;
        out.write_all(b":")?;
        match &column.values {
            Values::Text(v) => serde_json::to_writer(&mut *out, &v[row])?,
            Values::Integer(v) => serde_json::to_writer(&mut *out, &v[row])?,
            Values::Real(v) => serde_json::to_writer(&mut *out, &v[row])?,
            Values::Reals(v) => serde_json::to_writer(&mut *out, &v[row])?,
        }
    }
    out.write_all(b"}")
}
