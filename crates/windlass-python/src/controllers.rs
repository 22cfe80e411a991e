//! Algorithms that are Python classes, run in the simulator.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use windlass_cc::{AnyParams, Conn, Control, Event, Rate, Setup};
use windlass_conform::check::check_answers;
use windlass_conform::format::{ConnLine, Expect, Line};
use windlass_conform::parameters::write_params;
use windlass_lab::run::{Backend, Controllers, Ran, RunError, RunRecord, Simulator, World};
use windlass_lab::scenario::{FlowSpec, Scenario};
use windlass_tcp::CongestionControl;

use crate::errors::{failed, input};
use crate::facts;

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

    /// The simulator with the classes.
    pub fn simulator(self: &Arc<Classes>) -> impl Backend + use<> {
        let simulator = Simulator::until(self.stop.clone());
        Attached(simulator.with_controllers(self.controllers()))
    }

    /// The function that gives the simulator the algorithm of a flow.
    fn controllers(self: &Arc<Classes>) -> Arc<Controllers> {
        let classes = self.clone();
        Arc::new(move |flow: &FlowSpec| {
            let (_, class) = classes.of.get(&(classes.key)(flow))?;
            let class = Python::attach(|py| class.clone_ref(py));
            Some(Box::new(Seat {
                classes: classes.clone(),
                class: Arc::new(class),
                made: None,
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

/// A simulator whose thread is known to Python for a whole run. Otherwise each event would make and drop Python's
/// state of the thread, which takes ten times as long as the event.
struct Attached(Simulator);

impl Backend for Attached {
    fn world(&self) -> World {
        self.0.world()
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        Python::attach(|py| py.detach(|| self.0.run(scenario, seed)))
    }
}

/// One connection of a class. A clone shares the object.
#[derive(Clone)]
struct Seat {
    classes: Arc<Classes>,
    class: Arc<Py<PyAny>>,
    /// The object of the class, after the connection has begun.
    made: Option<Arc<Py<PyAny>>>,
    control: Control,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Seat {
    fn take(&mut self, answer: PyResult<Control>) {
        match answer {
            Ok(control) => self.control = control,
            Err(e) => self.classes.fail(e),
        }
    }
}

impl CongestionControl for Seat {
    fn begin(&mut self, params: &AnyParams, conn: &Conn) {
        let begun = Python::attach(|py| {
            let made = begin(self.class.bind(py), params, conn)?;
            let answer = answer(&made, conn)?;
            self.made = Some(Arc::new(made.unbind()));
            Ok(answer)
        });
        self.take(begun);
    }

    fn on_event(&mut self, conn: &Conn, event: &Event) {
        let Some(made) = self.made.clone() else { return };
        let answer = Python::attach(|py| {
            let made = made.bind(py);
            tell(made, conn, event)?;
            answer(made, conn)
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

/// An object of a class for a new connection.
fn begin<'py>(
    class: &Bound<'py, PyAny>,
    params: &AnyParams,
    conn: &Conn,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let own = serde_json::Value::Object(write_params(params).0);
    let recovery = params.common().recovery.unwrap_or(params.requirements().recovery);
    let setup = Setup { recovery: Some(recovery), ..params.common() };
    class.call1((from_json(py, &own)?, facts::Setup(setup), facts::Conn(*conn)))
}

fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// Passes an event to an object of a class.
fn tell(made: &Bound<'_, PyAny>, conn: &Conn, event: &Event) -> PyResult<()> {
    let py = made.py();
    let c = facts::Conn(*conn);
    match event {
        Event::Ack(a) => made.call_method1(intern!(py, "on_ack"), (c, facts::Ack(*a)))?,
        Event::Phase { from, to } => {
            let words = (c, facts::phase(*from), facts::phase(*to));
            made.call_method1(intern!(py, "on_phase"), words)?
        }
        Event::Loss(l) => made.call_method1(intern!(py, "on_loss"), (c, facts::Loss(*l)))?,
        Event::Undo(why) => made.call_method1(intern!(py, "on_undo"), (c, facts::undo(*why)))?,
        Event::IdleRestart { gap, reset } => {
            made.call_method1(intern!(py, "on_idle"), (c, gap.0, *reset))?
        }
        Event::Mss(old) => made.call_method1(intern!(py, "on_mss"), (c, *old))?,
        // Rare events have the names of the vectors' format.
        Event::Group(_) | Event::CrossLayer(_) => {
            let line = Line::of(event, true, ConnLine::of(conn, None), NO_ANSWER);
            let line = serde_json::to_value(line).map_err(|e| failed(&e.to_string()))?;
            let line = from_json(py, &line)?.cast_into::<PyDict>()?;
            let event = py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&line))?;
            made.call_method1(intern!(py, "on_other"), (c, event))?
        }
    };
    Ok(())
}

const NO_ANSWER: Expect =
    Expect { cwnd: 0.0, ssthresh: None, pacing: None, tolerance: 0.0, pacing_tolerance: None };

/// The values that the host reads after an event. Values outside the range saturate.
fn answer(made: &Bound<'_, PyAny>, conn: &Conn) -> PyResult<Control> {
    let py = made.py();
    let read = |name: &Bound<'_, PyString>, least: f64| -> PyResult<Option<f64>> {
        let value: Option<f64> = made.getattr(name)?.extract()?;
        match value {
            Some(value) if value.is_nan() || value < least => Err(input(&format!(
                "{}.{name} is {} at {} s; cwnd must be at least one byte, and a threshold or rate must not be \
                 negative",
                made.get_type().name()?,
                if value.is_nan() { "nan".to_owned() } else { value.to_string() },
                conn.now.0 as f64 / 1e9
            ))),
            value => Ok(value),
        }
    };
    let Some(cwnd) = read(intern!(py, "cwnd"), 1.0)? else {
        return Err(input(&format!("{}.cwnd is None", made.get_type().name()?)));
    };
    Ok(Control {
        cwnd: cwnd as u64,
        ssthresh: read(intern!(py, "ssthresh"), 0.0)?.map_or(u64::MAX, |bytes| bytes as u64),
        pacing: Rate(read(intern!(py, "pacing"), 0.0)?.map_or(0, |rate| rate as u64)),
    })
}

/// The first answer of a class that differs from a vector: line, quantity, expected and given value.
///
/// # Errors
///
/// The file is not a vector, or the class raises an exception.
#[pyfunction]
pub fn conform(
    class: &Bound<'_, PyAny>,
    file: PathBuf,
) -> PyResult<Option<(usize, &'static str, f64, f64)>> {
    let text = fs::read_to_string(&file)
        .map_err(|e| input(&format!("{} cannot be read: {e}", file.display())))?;
    let mut made = None;
    let mut raised = None;
    let outcome = check_answers(&file, &text, |params, c, event| {
        let answer = (|| {
            let made = match (&made, event) {
                (Some(made), _) => made,
                (None, _) => made.insert(begin(class, params, c)?),
            };
            event.map_or(Ok(()), |event| tell(made, c, event))?;
            answer(made, c)
        })();
        answer.unwrap_or_else(|e| {
            raised.get_or_insert(e);
            Control { cwnd: 0, ssthresh: 0, pacing: Rate(0) }
        })
    });
    let outcome = outcome
        .map_err(|e| input(&format!("{e}; the file is not a conformance vector of version 1")))?;
    raised.map_or(Ok(()), Err)?;
    Ok(outcome.failure.map(|f| (f.line, f.what, f.expected, f.got)))
}
