//! The frame of all window-based algorithms for a class in Python, which supplies the growth in congestion avoidance
//! and the threshold after a loss. The rest is the same code as for the algorithms in Rust.

use std::cell::RefCell;

use pyo3::intern;
use pyo3::prelude::*;
use windlass_cc::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use windlass_cc::loss_based::LossBased;
use windlass_cc::slow_start::AnySlowStart;
use windlass_cc::window::FRACTION_BITS;
use windlass_cc::{Controller, Event, Info, Requirements, window};

use crate::errors::input;
use crate::facts::{Ack, Conn, Setup};

windlass_cc::parameters! {
    /// A class has its parameters in Python.
    pub struct NoParams {}
}

/// The class that the present event asks.
struct Call {
    class: Py<PyAny>,
    conn: Py<Conn>,
    ack: Option<Py<Ack>>,
    /// `ssthresh` of the object, if it is known.
    ssthresh: Option<f64>,
    /// The first exception of the class.
    raised: Option<PyErr>,
}

thread_local! {
    static CALL: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// Congestion avoidance of the class in [`CALL`].
#[derive(Clone, Copy)]
pub struct Asked;

impl Asked {
    /// The class's answer, bytes. An exception or an answer that is not a number is kept, and gives zero.
    fn answer(
        w: &window::Window,
        ask: impl FnOnce(&Bound<'_, PyAny>, &Call) -> PyResult<(f64, &'static str)>,
    ) -> f64 {
        // Exact up to 128 GiB.
        let exact = w.cwnd_q() as f64 / f64::from(1 << FRACTION_BITS);
        let Some(mut call) = CALL.with_borrow_mut(Vec::pop) else { return 0.0 };
        let answer = Python::attach(|py| {
            let class = call.class.bind(py);
            class.setattr(intern!(py, "cwnd"), w.cwnd())?;
            if call.ssthresh != Some(w.ssthresh() as f64) {
                class.setattr(intern!(py, "ssthresh"), w.ssthresh())?;
            }
            class.setattr(intern!(py, "cwnd_exact"), exact)?;
            let (bytes, method) = ask(class, &call)?;
            match bytes.is_nan() {
                true => Err(input(&format!("{}.{method} is nan", class.get_type().name()?))),
                false => Ok(bytes),
            }
        });
        let bytes = answer.unwrap_or_else(|e| {
            call.raised.get_or_insert(e);
            0.0
        });
        // The method may have changed it.
        call.ssthresh = None;
        CALL.with_borrow_mut(|calls| calls.push(call));
        bytes
    }
}

impl Asked {
    /// Calls a method of the class that has no answer.
    fn tell(w: &window::Window, method: &'static str) {
        Asked::answer(w, |class, call| {
            class.call_method1(method, (&call.conn,))?;
            Ok((0.0, method))
        });
    }
}

/// Bytes with [`FRACTION_BITS`] fractional bits, cut.
fn fixed(bytes: f64) -> u64 {
    (bytes * f64::from(1 << FRACTION_BITS)) as u64
}

impl CongestionAvoidance for Asked {
    type Params = NoParams;
    const INFO: &'static Info = &Info {
        id: "python",
        name: "A class in Python",
        origin: "",
        citation: "",
        description: "",
        params: &[],
        trace: &[],
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;

    fn init(_p: &NoParams, _c: &windlass_cc::Conn) -> Asked {
        Asked
    }

    fn avoid(
        &mut self,
        _p: &NoParams,
        c: &windlass_cc::Conn,
        _a: &windlass_cc::Ack,
        credit: u64,
        w: &mut window::Window,
    ) {
        let growth = Asked::answer(w, |class, call| {
            let name = intern!(class.py(), "increase");
            let answer = class.call_method1(name, (&call.conn, &call.ack, credit))?;
            Ok((answer.extract()?, "increase"))
        });
        match growth < 0.0 {
            true => w.sub_q(c, fixed(-growth)),
            false => w.add_q(fixed(growth)),
        }
    }

    fn ssthresh(
        &mut self,
        _p: &NoParams,
        _c: &windlass_cc::Conn,
        w: &window::Window,
        why: CongestionEvent,
    ) -> u64 {
        let cause = match why {
            CongestionEvent::Loss => "loss",
            CongestionEvent::Timeout => "timeout",
            CongestionEvent::Ecn => "mark",
        };
        let bytes = Asked::answer(w, |class, call| {
            let name = intern!(class.py(), "threshold");
            Ok((class.call_method1(name, (&call.conn, cause))?.extract()?, "threshold"))
        });
        bytes as u64
    }

    fn restart(&mut self, _p: &NoParams, _c: &windlass_cc::Conn, w: &mut window::Window) {
        Asked::tell(w, "begin_epoch");
    }

    fn fall_back(&mut self, _p: &NoParams, _c: &windlass_cc::Conn, w: &window::Window) {
        Asked::tell(w, "begin_epoch");
    }

    fn undo(&mut self, _p: &NoParams, _c: &windlass_cc::Conn, w: &window::Window) {
        Asked::tell(w, "undone");
    }
}

/// Window of a `WindowController`. After each event it sets `cwnd` and `ssthresh` of the class's object, and takes them
/// over if the class has changed them.
#[pyclass(module = "windlass._native")]
pub struct Window {
    frame: LossBased<Asked, AnySlowStart>,
    params: windlass_cc::Setup<NoParams>,
    /// The values that the object was given.
    given: (f64, f64),
}

#[pymethods]
impl Window {
    #[new]
    fn new(setup: &Setup, conn: &Conn, class: &Bound<'_, PyAny>) -> PyResult<Window> {
        let params = setup.0.with(NoParams {}, setup.0.slow_start);
        let frame = LossBased::init(&params, &conn.0);
        let mut window = Window { frame, params, given: (0.0, 0.0) };
        window.give(class, None)?;
        Ok(window)
    }

    fn on_ack(&mut self, class: &Bound<'_, PyAny>, conn: Py<Conn>, ack: Py<Ack>) -> PyResult<()> {
        let event = Event::Ack(ack.get().0);
        self.apply(class, conn, Some(ack), event)
    }

    fn on_phase(
        &mut self,
        class: &Bound<'_, PyAny>,
        conn: Py<Conn>,
        before: &str,
        after: &str,
    ) -> PyResult<()> {
        let phase = |word: &str| {
            let phases = windlass_conform::words::PHASES;
            let found = phases.into_iter().find(|(name, _)| *name == word);
            found.map(|(_, phase)| phase).ok_or_else(|| input(&format!("phase `{word}` not found")))
        };
        let event = Event::Phase { from: phase(before)?, to: phase(after)? };
        self.apply(class, conn, None, event)
    }

    fn on_undo(&mut self, class: &Bound<'_, PyAny>, conn: Py<Conn>) -> PyResult<()> {
        // The frame does not distinguish the evidence.
        self.apply(class, conn, None, Event::Undo(windlass_cc::Undo::Dsack))
    }

    fn on_idle(
        &mut self,
        class: &Bound<'_, PyAny>,
        conn: Py<Conn>,
        gap_ns: u64,
        reset: bool,
    ) -> PyResult<()> {
        let gap = windlass_cc::Span(gap_ns);
        self.apply(class, conn, None, Event::IdleRestart { gap, reset })
    }

    fn on_mss(&mut self, class: &Bound<'_, PyAny>, conn: Py<Conn>, old_mss: u32) -> PyResult<()> {
        self.apply(class, conn, None, Event::Mss(old_mss))
    }
}

impl Window {
    fn apply(
        &mut self,
        class: &Bound<'_, PyAny>,
        conn: Py<Conn>,
        ack: Option<Py<Ack>>,
        event: Event,
    ) -> PyResult<()> {
        let c = conn.get().0;
        let ssthresh = Some(self.take(class, &c)?);
        let class_of = class.clone().unbind();
        let call = Call { class: class_of, conn, ack, ssthresh, raised: None };
        CALL.with_borrow_mut(|calls| calls.push(call));
        self.frame.apply(&self.params, &c, &event);
        let (ssthresh, raised) = CALL
            .with_borrow_mut(Vec::pop)
            .map_or((None, None), |call| (call.ssthresh, call.raised));
        raised.map_or(Ok(()), Err)?;
        self.give(class, ssthresh)
    }

    /// Takes an acknowledgement as the method `on_ack` does. Returns `cwnd` and `ssthresh` of the object.
    pub fn acknowledge(
        &mut self,
        class: &Bound<'_, PyAny>,
        conn: &windlass_cc::Conn,
        ack: &windlass_cc::Ack,
    ) -> PyResult<(f64, f64)> {
        let py = class.py();
        let (c, a) = (Py::new(py, Conn(*conn))?, Py::new(py, Ack(*ack))?);
        self.apply(class, c, Some(a), Event::Ack(*ack))?;
        Ok(self.given)
    }

    /// Takes over the values of the class's object that the class has changed. Returns its `ssthresh`.
    fn take(&mut self, class: &Bound<'_, PyAny>, c: &windlass_cc::Conn) -> PyResult<f64> {
        let py = class.py();
        let cwnd: f64 = class.getattr(intern!(py, "cwnd"))?.extract()?;
        let ssthresh: f64 = class.getattr(intern!(py, "ssthresh"))?.extract()?;
        let window = self.frame.window_mut();
        if cwnd != self.given.0 {
            window.set(c, cwnd as u64);
        }
        if ssthresh != self.given.1 {
            window.set_ssthresh(ssthresh as u64);
        }
        Ok(ssthresh)
    }

    /// Sets the values of the class's object, which has this `ssthresh` if it is known.
    fn give(&mut self, class: &Bound<'_, PyAny>, ssthresh: Option<f64>) -> PyResult<()> {
        let py = class.py();
        let window = self.frame.window_mut();
        let cwnd = window.cwnd_q() as f64 / f64::from(1 << FRACTION_BITS);
        self.given = (cwnd, window.ssthresh() as f64);
        class.setattr(intern!(py, "cwnd"), cwnd)?;
        if ssthresh == Some(self.given.1) {
            return Ok(());
        }
        class.setattr(intern!(py, "ssthresh"), window.ssthresh())
    }
}
