//! Writes tables as Parquet files, and reads time series from them.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::{Field, Row};
use parquet::schema::types::{PrimitiveTypeBuilder, Type, TypePtr};

use super::error::StoreError;
use super::table::{Column, Table, Values};

/// Writes the parts of a table, each as a row group, compressed with Snappy. The first part defines the columns.
pub(super) fn write(
    out: impl Write + Send,
    first: &Table,
    parts: impl Iterator<Item = Table>,
    facts: Vec<KeyValue>,
) -> io::Result<()> {
    let fields = first.columns.iter().map(field).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(facts))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    for part in parts {
        let mut group = file.next_row_group()?;
        for column in &part.columns {
            let unlike = || io::Error::other("the parts of a table have unlike columns");
            let mut writer = group.next_column()?.ok_or_else(unlike)?;
            write_values(&mut writer, &column.values)?;
            writer.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn plain(name: &str, physical: Physical) -> PrimitiveTypeBuilder<'_> {
    Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL)
}

/// The Parquet type of a column. Every value may be missing.
fn field(column: &Column) -> Result<TypePtr> {
    let name = column.name.as_ref();
    let kind = match column.values {
        Values::Text(_) => {
            plain(name, Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String)).build()
        }
        Values::Integer(_) => plain(name, Physical::INT64)
            .with_logical_type(Some(LogicalType::integer(64, false)))
            .build(),
        Values::Real(_) => plain(name, Physical::DOUBLE).build(),
        Values::Reals(_) => {
            let element = Arc::new(plain("element", Physical::DOUBLE).build()?);
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![element])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()
        }
    };
    kind.map(Arc::new)
}

fn write_values(writer: &mut SerializedColumnWriter<'_>, values: &Values) -> Result<()> {
    match values {
        Values::Text(v) => {
            write_present::<ByteArrayType, _>(writer, v, |t| ByteArray::from(t.as_str()))
        }
        // The type has no sign; the bits are the same.
        Values::Integer(v) => write_present::<Int64Type, _>(writer, v, |n| n.cast_signed()),
        Values::Real(v) => write_present::<DoubleType, _>(writer, v, |x| *x),
        Values::Reals(rows) => {
            // Definition level 1 is an empty list, 3 is a value in a list; repetition level 0 begins a row.
            let (mut defined, mut repeated) = (Vec::new(), Vec::new());
            for row in rows {
                let places = row.len().max(1);
                defined.extend(std::iter::repeat_n(if row.is_empty() { 1 } else { 3 }, places));
                repeated.extend((0..places).map(|place| i16::from(place > 0)));
            }
            let typed = writer.typed::<DoubleType>();
            typed.write_batch(&rows.concat(), Some(&defined), Some(&repeated)).map(drop)
        }
    }
}

fn write_present<T: DataType, V>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<V>],
    convert: impl Fn(&V) -> T::T,
) -> Result<()> {
    let present: Vec<T::T> = values.iter().flatten().map(convert).collect();
    let defined: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    writer.typed::<T>().write_batch(&present, Some(&defined), None).map(drop)
}

/// Point, flow and value of each row with a value in one column of a file of time series. A file without the column has
/// none.
///
/// # Errors
///
/// The file cannot be read.
pub fn events(
    path: &Path,
    column: &str,
) -> std::result::Result<Vec<(String, String, u64)>, StoreError> {
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let unreadable = |reason: String| StoreError::Unreadable { path: path.to_path_buf(), reason };
    let reader = SerializedFileReader::new(file).map_err(|e| unreadable(e.to_string()))?;
    let mut values = Vec::new();
    for row in reader.get_row_iter(None).map_err(|e| unreadable(e.to_string()))? {
        let row = row.map_err(|e| unreadable(e.to_string()))?;
        if let (Some(Field::Str(point)), Some(Field::Str(flow)), Some(Field::ULong(value))) =
            (cell(&row, "point"), cell(&row, "flow"), cell(&row, column))
        {
            values.push((point.clone(), flow.clone(), *value));
        }
    }
    Ok(values)
}

/// Seconds and values of one column of a file of time series, for the flow with this name, in order of time.
/// Times without a value are left out.
///
/// # Errors
///
/// The file cannot be read, or is not a file of time series with such a column.
pub fn series(
    path: &Path,
    flow: &str,
    column: &str,
) -> std::result::Result<Vec<(f64, u64)>, StoreError> {
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let unreadable = |reason: String| StoreError::Unreadable { path: path.to_path_buf(), reason };
    let no_column = || unreadable(format!("it has no column `{column}` of numbers"));
    let reader = SerializedFileReader::new(file).map_err(|e| unreadable(e.to_string()))?;
    let mut values = Vec::new();
    for row in reader.get_row_iter(None).map_err(|e| unreadable(e.to_string()))? {
        let row = row.map_err(|e| unreadable(e.to_string()))?;
        let (Some(Field::Double(time)), Some(Field::Str(of)), Some(value)) =
            (cell(&row, "time_s"), cell(&row, "flow"), cell(&row, column))
        else {
            return Err(no_column());
        };
        match value {
            Field::ULong(value) if of == flow => values.push((*time, *value)),
            Field::ULong(_) | Field::Null => {}
            _ => return Err(no_column()),
        }
    }
    Ok(values)
}

fn cell<'a>(row: &'a Row, name: &str) -> Option<&'a Field> {
    row.get_column_iter().find(|(of, _)| *of == name).map(|(_, field)| field)
}
