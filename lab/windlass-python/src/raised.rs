//! The exception of a class in a run, for the caller of that run.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Keeps an exception, unless an earlier exception is kept.
pub fn keep(e: PyErr) {
    RAISED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
}

/// The kept exception, which is then kept no longer.
pub fn take() -> Option<PyErr> {
    RAISED.lock().unwrap_or_else(PoisonError::into_inner).take()
}
