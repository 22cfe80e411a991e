//! Reading time series back.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::error::StoreError;

/// Seconds and values of one column of a file of time series, for the flow with this name, in order
/// of time; instants at which it was not observed are left out.
///
/// # Errors
///
/// The file cannot be read, or is no file of time series with such a column.
pub fn series(path: &Path, flow: &str, column: &str) -> Result<Vec<(f64, u64)>, StoreError> {
    let unreadable = |reason: String| StoreError::Unreadable { path: path.to_path_buf(), reason };
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|e| unreadable(e.to_string()))?;
    let mut values = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(e.to_string()))?;
        let rows = rows(&batch, flow, column)
            .ok_or_else(|| unreadable(format!("it has no column `{column}` of numbers")))?;
        values.extend(rows);
    }
    Ok(values)
}

fn rows(batch: &RecordBatch, flow: &str, column: &str) -> Option<Vec<(f64, u64)>> {
    let times = batch.column_by_name("time_s")?.as_primitive_opt::<Float64Type>()?;
    let flows = batch.column_by_name("flow")?.as_string_opt::<i32>()?;
    let values = batch.column_by_name(column)?.as_primitive_opt::<UInt64Type>()?;
    let observed = |i: &usize| flows.value(*i) == flow && values.is_valid(*i);
    Some(
        (0..batch.num_rows()).filter(observed).map(|i| (times.value(i), values.value(i))).collect(),
    )
}
