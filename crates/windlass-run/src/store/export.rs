//! Tables as Parquet, CSV and JSON files.
//!
//! - Parquet, compressed with Snappy, carries every column's meaning as its `description` and a
//!   [`Provenance`] as key-value metadata under `windlass.*`.
//! - CSV follows RFC 4180 with `\n` line ends: null is an empty field, a list is its numbers joined
//!   by `;`. It has no place for provenance, which stands in the columns of each row.
//! - JSON is an array of objects, one row a line.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::error::StoreError;
use super::files;
use super::table::{Column, Table, Values};
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

/// Where a table's figures come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Windlass versions that made the runs, in order.
    pub versions: BTreeSet<String>,
    /// Hashes of the resolved scenarios, in order.
    pub scenario_hashes: BTreeSet<String>,
    /// Seeds, in order.
    pub seeds: BTreeSet<u64>,
    /// The command that made them.
    pub command: String,
}

impl Provenance {
    /// Gathers it from the runs that `command` made.
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

/// Writes `runs`, `summary` and `links` of `records` into `dir` in each of `formats`, with `cells` and
/// `stations` where there is a Wi-Fi cell, `routing` where packets find their own way in one, and `multipath`
/// and `subflows` where there is a multipath flow, and returns the paths.
///
/// # Errors
///
/// A file cannot be written; each file is there whole or as it was before.
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
/// It cannot be written; an earlier file of this name stays as it was then.
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
            let fields: Vec<Field> = first.columns.iter().map(field).collect();
            write_parquet(out, Schema::new(fields), parts, provenance)
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

fn write_parquet(
    out: &mut (impl Write + Send),
    schema: Schema,
    parts: impl Iterator<Item = Table>,
    provenance: &Provenance,
) -> io::Result<()> {
    let schema = Arc::new(schema);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(provenance.key_values()))
        .build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
    for part in parts {
        let arrays = part.columns.iter().map(|c| array(&c.values)).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(io::Error::other)?;
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(())
}

fn field(column: &Column) -> Field {
    let kind = match column.values {
        Values::Text(_) => DataType::Utf8,
        Values::Integer(_) => DataType::UInt64,
        Values::Real(_) => DataType::Float64,
        Values::Reals(_) => DataType::new_list(DataType::Float64, true),
    };
    let description = ("description".to_owned(), column.meaning.to_owned());
    Field::new(column.name.as_ref(), kind, true).with_metadata(HashMap::from([description]))
}

fn array(values: &Values) -> ArrayRef {
    match values {
        Values::Text(v) => Arc::new(StringArray::from_iter(v)),
        Values::Integer(v) => Arc::new(UInt64Array::from_iter(v)),
        Values::Real(v) => Arc::new(Float64Array::from_iter(v)),
        Values::Reals(v) => {
            let mut list = ListBuilder::new(Float64Builder::new());
            for row in v {
                list.values().append_slice(row);
                list.append(true);
            }
            Arc::new(list.finish())
        }
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
