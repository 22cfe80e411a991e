//! Tables as Arrow: passed through the PyCapsule interface, without a copy and without another library.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Float64Type;
use arrow_array::{
    ArrayRef, Float64Array, ListArray, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use windlass_lab::run::fields::unit_of;
use windlass_lab::run::store::{self, Values};

use crate::errors::failed;

/// A table in batches of rows.
#[pyclass(frozen, module = "windlass._native")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The same values, for users without Arrow.
    parts: Vec<store::Table>,
}

impl Table {
    /// A table of several parts with the same columns; at least one part is needed.
    pub fn of(parts: Vec<store::Table>) -> PyResult<Table> {
        let broken = |e: ArrowError| failed(&format!("cannot pass the table to Python: {e}"));
        let Some(first) = parts.first() else { return Err(failed("the table has no columns")) };
        let arrays: Vec<Vec<ArrayRef>> = parts
            .iter()
            .map(|part| part.columns.iter().map(|c| array(&c.values)).collect())
            .collect();
        let fields = first.columns.iter().zip(&arrays[0]);
        let fields = fields.map(|(column, array)| field(column, array)).collect::<Vec<_>>();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let batches = arrays.into_iter().map(|a| RecordBatch::try_new(schema.clone(), a));
        let batches = batches.collect::<Result<_, _>>().map_err(broken)?;
        Ok(Table { schema, batches, parts })
    }
}

fn field(column: &store::Column, array: &ArrayRef) -> Field {
    let mut facts = HashMap::from([("meaning".to_owned(), column.meaning.to_owned())]);
    let unit = unit_of(&column.name);
    if !unit.is_empty() {
        facts.insert("unit".to_owned(), unit.to_owned());
    }
    Field::new(column.name.as_ref(), arrow_array::Array::data_type(array).clone(), true)
        .with_metadata(facts)
}

fn array(values: &Values) -> ArrayRef {
    match values {
        Values::Text(v) => Arc::new(v.iter().map(Option::as_deref).collect::<StringArray>()),
        Values::Integer(v) => Arc::new(v.iter().copied().collect::<UInt64Array>()),
        Values::Real(v) => Arc::new(v.iter().copied().collect::<Float64Array>()),
        Values::Reals(v) => {
            let rows = v.iter().map(|row| Some(row.iter().map(|x| Some(*x))));
            Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows))
        }
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names, units (empty for counts, fractions and text) and meanings of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String)> {
        let fact = |f: &Field, key: &str| f.metadata().get(key).cloned().unwrap_or_default();
        let told = |f: &Arc<Field>| (f.name().clone(), fact(f, "unit"), fact(f, "meaning"));
        self.schema.fields().iter().map(told).collect()
    }

    /// The values of a column as a list.
    fn column<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for part in &self.parts {
            match part.columns.get(place).map(|c| &c.values) {
                Some(Values::Text(v)) => v.iter().try_for_each(|x| list.append(x))?,
                Some(Values::Integer(v)) => v.iter().try_for_each(|x| list.append(x))?,
                Some(Values::Real(v)) => v.iter().try_for_each(|x| list.append(x))?,
                Some(Values::Reals(v)) => v.iter().try_for_each(|x| list.append(x))?,
                None => return Err(failed(&format!("column {place} not found"))),
            }
        }
        Ok(list)
    }

    /// The values as a dictionary of lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, field) in self.schema.fields().iter().enumerate() {
            all.set_item(field.name(), self.column(py, place)?)?;
        }
        Ok(all)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|e| failed(&e.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that requested other types converts them itself; the interface permits this.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
