//! Long work in the background: Python keeps running, receives the progress, and may stop the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Interval of the checks for signals and of progress reports.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// State that the work in the background and Python share.
#[derive(Default)]
pub struct Watch {
    stop: Arc<AtomicBool>,
    made: AtomicUsize,
    total: AtomicUsize,
}

impl Watch {
    /// A flag that becomes true when the work must stop.
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Sets the total number of runs, as currently known.
    pub fn expect(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts a finished run.
    pub fn made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let [made, total] = [&self.made, &self.total].map(|n| n.load(Ordering::Relaxed));
        progress.call1(py, (made, total.max(made))).map(drop)
    }
}

/// Does the work on another thread, and calls `progress` with the number of finished runs and the total
/// number. A signal such as Ctrl-C, or an exception of `progress`, stops the work. It is raised when the work
/// has ended.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let (send, mut done) = channel();
    thread::scope(|scope| {
        let shared = &watch;
        scope.spawn(move || {
            // The receiver is gone only if the process ends.
            let _ = send.send(work(shared));
        });
        let mut interrupted = None;
        let outcome = loop {
            // A receiver belongs to one thread at a time, so it is moved there and back.
            let (got, back) = py.detach(move || (done.recv_timeout(LOOK_EVERY), done));
            done = back;
            match got {
                Ok(outcome) => break Some(outcome),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupted.is_none()
                && let Err(e) = py.check_signals().and_then(|()| watch.tell(py, progress))
            {
                watch.stop.store(true, Ordering::Relaxed);
                interrupted = Some(e);
            }
        };
        match (interrupted, outcome) {
            (Some(e), _) => Err(e),
            (None, Some(outcome)) => watch.tell(py, progress).map(|()| outcome),
            (None, None) => Err(crate::errors::failed(
                "the work ended without a result; this is a defect in Windlass",
            )),
        }
    })
}
