//! Algorithms that are Python classes, run in the simulator.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use serde_json::json;
use windlass_cc::{AnyParams, Conn, Control, Event, Rate};
use windlass_conform::format::{ConnLine, Expect, Line, SetupLine};
use windlass_conform::parameters::write_params;
use windlass_lab::run::{Controllers, RunRecord};
use windlass_lab::scenario::FlowSpec;
use windlass_tcp::CongestionControl;

use crate::errors::failed;

/// Name and class by the key of a flow: its name, or its algorithm.
type Named = BTreeMap<String, (String, Py<PyAny>)>;

/// The classes that run on flows.
pub struct Classes {
    of: Named,
    /// Returns the key of a flow.
    key: fn(&FlowSpec) -> String,
    /// The first exception that a class raised.
    raised: Mutex<Option<PyErr>>,
    stop: Arc<AtomicBool>,
}

impl Classes {
    /// Classes of flows by the names of the flows. An exception in a class sets `stop`.
    pub fn of_flows(of: Named, stop: Arc<AtomicBool>) -> Arc<Classes> {
        Arc::new(Classes { of, key: |flow| flow.name.clone(), raised: Mutex::default(), stop })
    }

    /// A class that replaces an algorithm in all flows.
    pub fn in_place_of(
        algorithm: &str,
        (name, class): (String, Py<PyAny>),
        stop: Arc<AtomicBool>,
    ) -> Arc<Classes> {
        let of = [(algorithm.to_owned(), (name, class))].into();
        let key = |flow: &FlowSpec| flow.algorithm().into_owned();
        Arc::new(Classes { of, key, raised: Mutex::default(), stop })
    }

    /// The function that gives the simulator the algorithm of a flow.
    pub fn controllers(self: &Arc<Classes>) -> Arc<Controllers> {
        let classes = self.clone();
        Arc::new(move |flow: &FlowSpec| {
            let (_, class) = classes.of.get(&(classes.key)(flow))?;
            let class = Python::attach(|py| class.clone_ref(py));
            Some(Box::new(Seat {
                classes: classes.clone(),
                class: Arc::new(class),
                told: None,
                before: None,
                control: Control { cwnd: 0, ssthresh: 0, pacing: Rate(0) },
            }))
        })
    }

    /// Renames the algorithms of the record's flows to the names of the classes.
    pub fn named(&self, mut record: RunRecord) -> RunRecord {
        for flow in &mut record.flows {
            if let Some((name, _)) = self.of.get(&flow.name) {
                flow.algorithm.clone_from(name);
            }
        }
        record
    }

    /// Returns the first exception of a class, if a class raised an exception.
    ///
    /// # Errors
    ///
    /// The exception.
    pub fn check(&self) -> PyResult<()> {
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    fn fail(&self, e: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// One connection of a class. Events are passed as lines of the conformance vectors' format, so that a class
/// receives the same data from the simulator and from the vectors.
#[derive(Clone)]
struct Seat {
    classes: Arc<Classes>,
    class: Arc<Py<PyAny>>,
    /// The `_Seat` of `_controllers.py`, after the connection has begun.
    told: Option<Arc<Py<PyAny>>>,
    before: Option<Conn>,
    control: Control,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("control", &self.control).finish_non_exhaustive()
    }
}

const NO_ANSWER: Expect =
    Expect { cwnd: 0.0, ssthresh: None, pacing: None, tolerance: 0.0, pacing_tolerance: None };

impl Seat {
    /// The changes of the connection since the last event.
    fn news(&mut self, conn: &Conn) -> ConnLine {
        ConnLine::of(conn, self.before.replace(*conn).as_ref())
    }

    fn take(&mut self, answer: PyResult<(f64, Option<f64>, Option<f64>)>) {
        match answer {
            // Numbers outside the range saturate.
            Ok((cwnd, ssthresh, pacing)) => {
                self.control = Control {
                    cwnd: cwnd as u64,
                    ssthresh: ssthresh.map_or(u64::MAX, |bytes| bytes as u64),
                    pacing: Rate(pacing.map_or(0, |rate| rate as u64)),
                }
            }
            Err(e) => self.classes.fail(e),
        }
    }
}

impl CongestionControl for Seat {
    fn begin(&mut self, params: &AnyParams, conn: &Conn) {
        let text = json!({
            "params": write_params(params).0,
            "setup": SetupLine::of(params),
            "conn": self.news(conn),
        })
        .to_string();
        let answer = Python::attach(|py| {
            let seat = py.import("windlass._controllers")?.getattr("_Seat")?;
            let seat = seat.call1((self.class.bind(py), text))?;
            let answer = seat.call_method0("answer")?.extract();
            self.told = Some(Arc::new(seat.unbind()));
            answer
        });
        self.take(answer);
    }

    fn on_event(&mut self, conn: &Conn, event: &Event) {
        let Some(seat) = self.told.clone() else { return };
        let line = Line::of(event, true, self.news(conn), NO_ANSWER);
        let answer =
            serde_json::to_string(&line).map_err(|e| failed(&e.to_string())).and_then(|text| {
                Python::attach(|py| seat.call_method1(py, "tell", (text,))?.extract(py))
            });
        self.take(answer);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn boxed(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
