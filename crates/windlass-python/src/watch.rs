//! Long work: Python goes on meanwhile, hears how far it is, and may stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often signals are looked for and progress is told.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What work in the background and Python share.
#[derive(Default)]
pub struct Watch {
    stop: Arc<AtomicBool>,
    made: AtomicUsize,
    total: AtomicUsize,
}

impl Watch {
    /// Becomes true when the work is to stop.
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// So many runs are to be made in all, as far as is known.
    pub fn expect(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Another run is made.
    pub fn made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let [made, total] = [&self.made, &self.total].map(|n| n.load(Ordering::Relaxed));
        progress.call1(py, (made, total.max(made))).map(drop)
    }
}

/// Does the work on another thread, calling `progress` with the number of runs made and of all. A signal such as Ctrl-C, or an
/// exception of `progress`, stops the work and is raised once it has ended.
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
            // Nobody waits any more only where the process ends.
            let _ = send.send(work(shared));
        });
        let mut interrupted = None;
        let outcome = loop {
            // A receiver is one thread's at a time, so that it goes along and comes back.
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
            (None, None) => {
                Err(crate::errors::failed("the work ended without a word; this is a defect"))
            }
        }
    })
}
