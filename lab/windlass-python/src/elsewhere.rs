//! Runs on other processes and machines, by a function of Python that sends an order and waits for the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use windlass_lab::run::remote::{Order, Remote};
use windlass_lab::run::{RunError, Runner};

use crate::errors::{failed, input};

/// The function that sends an order, and the number of orders to send at the same time.
pub type Elsewhere = Option<(Py<PyAny>, usize)>;

/// True when the work must stop.
#[pyclass(frozen, module = "windlass._native")]
struct Stopped(Arc<AtomicBool>);

#[pymethods]
impl Stopped {
    fn __call__(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A runner for this process, or for the processes that the function reaches.
pub fn runner(stop: Arc<AtomicBool>, jobs: usize, elsewhere: Elsewhere) -> Runner {
    let Some((send, together)) = elsewhere else { return Runner::until(stop, jobs) };
    let stopped = stop.clone();
    let send = move |order: String| {
        Python::attach(|py| {
            let answer = send.call1(py, (order, Stopped(stopped.clone())));
            answer.and_then(|answer| answer.extract(py)).map_err(|e| {
                match e.is_instance_of::<PyKeyboardInterrupt>(py) {
                    true => RunError::Stopped,
                    false => RunError::Lost(e.value(py).to_string()),
                }
            })
        })
    };
    Runner::on(Remote::new(Box::new(send)), stop, together)
}

/// Makes the run of an order on one processor, and returns the answer.
#[pyfunction]
pub fn work_on(py: Python<'_>, order: &str) -> PyResult<String> {
    let order: Order =
        serde_json::from_str(order).map_err(|e| input(&format!("not an order of a run: {e}")))?;
    let answer = py.detach(|| order.perform(&Runner::new(1)));
    // An exception belongs to the caller, who gets its text.
    drop(crate::raised::take());
    serde_json::to_string(&answer).map_err(|e| failed(&e.to_string()))
}
