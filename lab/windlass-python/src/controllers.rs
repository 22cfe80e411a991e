//! Algorithms that are Python classes, run in the simulator.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use windlass_cc::{AnyParams, Conn, Control, Event, Rate, Setup};
use windlass_conform::check::check_answers;
use windlass_conform::format::{ConnLine, Expect, Line};
use windlass_conform::parameters::write_params;
use windlass_lab::scenario::{Class, ClassHost, Declaration, Fault, host_classes};
use windlass_tcp::CongestionControl;

use crate::errors::{failed, input};
use crate::frame::Window;
use crate::{facts, raised};

/// The host of the classes that scenarios name. `windlass._classes` finds and describes them.
struct Host;

/// Simulations with classes run one at a time, because Python does.
static ONE: Mutex<()> = Mutex::new(());
/// Makes this process a host of classes.
pub fn host() {
    host_classes(Box::new(Host));
}

/// The result of a function of `windlass._classes`. The error is the message of its exception.
fn asked<T>(ask: impl FnOnce(&Bound<'_, PyModule>) -> PyResult<T>) -> Result<T, String> {
    Python::attach(|py| {
        ask(&py.import("windlass._classes")?).map_err(|e| e.value(py).to_string().into())
    })
    .map_err(|e: Said| e.0)
}

/// A message, or the message of an exception.
struct Said(String);

impl From<String> for Said {
    fn from(message: String) -> Said {
        Said(message)
    }
}

impl From<PyErr> for Said {
    fn from(e: PyErr) -> Said {
        Said(e.to_string())
    }
}

impl ClassHost for Host {
    fn declaration(&self, name: &str, version: Option<&str>) -> Result<Declaration, String> {
        let (like, recovery, version) =
            asked(|classes| classes.call_method1("declaration", (name, version))?.extract())?;
        Ok(Declaration { like, recovery, version })
    }

    fn controller(
        &self,
        class: &Class,
        fault: Fault,
    ) -> Result<Box<dyn CongestionControl>, String> {
        let found = asked(|classes| {
            Ok(classes.call_method1("find", (&class.name, &class.version))?.unbind())
        })?;
        Ok(Box::new(Seat {
            class: Arc::new(found),
            fault,
            made: None,
            control: Control { cwnd: 0, ssthresh: 0, pacing: Rate(0) },
        }))
    }

    fn hold(&self, run: &mut (dyn FnMut() + Send)) {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Python knows the thread for the whole run. Otherwise each event would make and drop Python's state of the
        // thread, which takes ten times as long as the event.
        Python::attach(|py| py.detach(run));
    }
}

/// One connection of a class. A clone shares the object.
#[derive(Clone)]
struct Seat {
    class: Arc<Py<PyAny>>,
    fault: Fault,
    /// The object of the class, after the connection has begun.
    made: Option<Arc<Made>>,
    control: Control,
}

/// An object of a class, and the events that pass by its Python methods because the class inherits them.
struct Made {
    object: Py<PyAny>,
    /// The window that takes acknowledgements.
    window: Option<Py<Window>>,
    /// True if losses of segments are ignored.
    ignores_losses: bool,
}

impl Made {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Made> {
        let module = object.py().import("windlass._controllers")?;
        let inherits = |base: &str, method: &str| -> PyResult<bool> {
            Ok(object.get_type().getattr(method)?.is(module.getattr(base)?.getattr(method)?))
        };
        let window = match inherits("WindowController", "on_ack")? {
            true => Some(object.getattr("_window")?.cast_into::<Window>()?.unbind()),
            false => None,
        };
        let ignores_losses = inherits("Controller", "on_loss")?;
        Ok(Made { object: object.clone().unbind(), window, ignores_losses })
    }

    /// The answer to an event; `None` if it is that of the event before.
    fn answer(&self, py: Python<'_>, conn: &Conn, event: &Event) -> PyResult<Option<Control>> {
        let object = self.object.bind(py);
        match (event, &self.window) {
            (Event::Loss(_), _) if self.ignores_losses => return Ok(None),
            (Event::Ack(ack), Some(window)) => {
                let (cwnd, ssthresh) =
                    window.bind(py).borrow_mut().acknowledge(object, conn, ack)?;
                let pacing = read(object, conn, intern!(py, "pacing"), 0.0)?;
                return Ok(Some(control(cwnd, Some(ssthresh), pacing)));
            }
            _ => {}
        }
        tell(object, conn, event)?;
        answer(object, conn).map(Some)
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Seat {
    fn take(&mut self, answer: PyResult<Option<Control>>) {
        match answer {
            Ok(control) => self.control = control.unwrap_or(self.control),
            Err(e) => {
                let message = asked(|classes| {
                    classes.call_method1("said", (e.value(classes.py()),))?.extract()
                });
                let _ = self.fault.set(message.unwrap_or_else(|message| message));
                raised::keep(e);
            }
        }
    }
}

impl CongestionControl for Seat {
    fn begin(&mut self, params: &AnyParams, conn: &Conn) {
        let begun = Python::attach(|py| {
            let made = begin(self.class.bind(py), params, conn)?;
            let answer = answer(&made, conn)?;
            self.made = Some(Arc::new(Made::of(&made)?));
            Ok(Some(answer))
        });
        self.take(begun);
    }

    fn on_event(&mut self, conn: &Conn, event: &Event) {
        let Some(made) = &self.made else { return };
        let answer = Python::attach(|py| made.answer(py, conn, event));
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

/// A value that the host reads after an event.
fn read(
    made: &Bound<'_, PyAny>,
    conn: &Conn,
    name: &Bound<'_, PyString>,
    least: f64,
) -> PyResult<Option<f64>> {
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
}

/// The values that the host reads after an event.
fn answer(made: &Bound<'_, PyAny>, conn: &Conn) -> PyResult<Control> {
    let py = made.py();
    let Some(cwnd) = read(made, conn, intern!(py, "cwnd"), 1.0)? else {
        return Err(input(&format!("{}.cwnd is None", made.get_type().name()?)));
    };
    let ssthresh = read(made, conn, intern!(py, "ssthresh"), 0.0)?;
    Ok(control(cwnd, ssthresh, read(made, conn, intern!(py, "pacing"), 0.0)?))
}

/// Values of a class for the host. Values outside the range saturate.
fn control(cwnd: f64, ssthresh: Option<f64>, pacing: Option<f64>) -> Control {
    Control {
        cwnd: cwnd as u64,
        ssthresh: ssthresh.map_or(u64::MAX, |bytes| bytes as u64),
        pacing: Rate(pacing.map_or(0, |rate| rate as u64)),
    }
}

/// Writes the conformance vectors of all algorithms into a folder.
///
/// # Errors
///
/// A file cannot be written.
#[pyfunction]
pub fn write_vectors(folder: PathBuf) -> PyResult<usize> {
    windlass_conform::write(&folder)
        .map_err(|(path, e)| input(&format!("{} cannot be written: {e}", path.display())))
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
