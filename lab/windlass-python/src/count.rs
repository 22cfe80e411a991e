//! Whole numbers as arguments.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::input;

/// Reads a number of runs or jobs, or a seed. A number outside the range of `T` is invalid input, where Python would raise
/// an `OverflowError`.
pub fn count<T: TryFrom<u64>>(given: &Bound<'_, PyAny>) -> PyResult<T> {
    let wrong = || {
        let most = u64::MAX >> (64 - 8 * size_of::<T>());
        input(&format!("invalid number {given}; expected a whole number from 0 to {most}"))
    };
    match given.extract::<u64>() {
        Ok(number) => T::try_from(number).map_err(|_| wrong()),
        Err(e) if e.is_instance_of::<PyOverflowError>(given.py()) => Err(wrong()),
        Err(e) => Err(e),
    }
}

/// Reads a number that may be `None`.
pub fn some_count<T: TryFrom<u64>>(given: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if given.is_none() { Ok(None) } else { count(given).map(Some) }
}
