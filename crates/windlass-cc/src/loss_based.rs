//! The frame that all loss-based algorithms share: slow start below `ssthresh`, growth above it,
//! a cut on loss, one segment after a timeout.

use core::marker::PhantomData;

use crate::controller::{Ack, Conn, Control, Controller, Phase, flags};
use crate::growth::{FRACTION_BITS, Growth, MAX_WINDOW};
use crate::info::{Info, TraceField};
use crate::recovery::{DefaultStyle, Style};
use crate::slow_start::SlowStart;
use crate::time::{Rate, Span};

/// What every loss-based algorithm needs to begin.
pub trait CommonParams {
    /// Initial congestion window, bytes.
    fn initial_window(&self) -> u64;
    /// Initial slow-start threshold, bytes.
    fn initial_ssthresh(&self) -> u64;
    /// Loss recovery that the host runs, `None` for the algorithm's own.
    fn recovery(&self) -> Option<Style>;
}

/// The description of one combination of parts.
pub trait Described {
    /// What the algorithm is, for people.
    const INFO: &'static Info;
}

/// Growth `G` and slow start `S` put together, with the recovery style `R` unless the host runs
/// another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct LossBased<G, S, R> {
    /// Window in bytes with [`FRACTION_BITS`] fractional bits.
    cwnd_q: u64,
    ssthresh: u64,
    growth: G,
    slow_start: S,
    style: Style,
    default_style: PhantomData<R>,
}

impl<G, S, R> LossBased<G, S, R>
where
    G: Growth<Params: CommonParams>,
    S: SlowStart,
    R: DefaultStyle,
{
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.cwnd_q >> FRACTION_BITS
    }

    fn set_cwnd(&mut self, c: &Conn, bytes: u64) {
        self.cwnd_q = bytes.clamp(u64::from(c.mss.max(1)), MAX_WINDOW) << FRACTION_BITS;
    }

    fn grow(&mut self, p: &G::Params, c: &Conn, a: &Ack) {
        let cwnd = self.cwnd();
        let add = if cwnd < self.ssthresh {
            let add = self.slow_start.increase(c, a).min(MAX_WINDOW);
            if self.slow_start.exit() {
                self.ssthresh = cwnd;
            }
            add << FRACTION_BITS
        } else {
            self.growth.increase(p, c, a, cwnd)
        };
        self.cwnd_q = self.cwnd_q.saturating_add(add).min(MAX_WINDOW << FRACTION_BITS);
    }

    fn after_timeout(&mut self, p: &G::Params, c: &Conn) {
        self.set_cwnd(c, u64::from(c.mss));
        self.slow_start.restart(c);
        self.growth.restart(p, c);
    }
}

impl<G, S, R> Controller for LossBased<G, S, R>
where
    G: Growth<Params: CommonParams>,
    S: SlowStart,
    R: DefaultStyle,
    Self: Described,
{
    type Params = G::Params;
    const INFO: &'static Info = <Self as Described>::INFO;

    fn init(p: &G::Params, c: &Conn) -> Self {
        let mut state = LossBased {
            cwnd_q: 0,
            ssthresh: p.initial_ssthresh(),
            growth: G::init(p, c),
            slow_start: S::init(c),
            style: p.recovery().unwrap_or(R::STYLE),
            default_style: PhantomData,
        };
        state.set_cwnd(c, p.initial_window());
        state
    }

    fn on_ack(&mut self, p: &G::Params, c: &Conn, a: &Ack) {
        if a.duplicate {
            if c.phase == Phase::Recovery {
                self.set_cwnd(c, self.style.duplicate(c, self.cwnd()));
            }
        } else if a.acked == 0 {
            // Nothing new: a window update, for instance.
        } else if c.phase == Phase::Recovery {
            self.set_cwnd(c, self.style.partial(c, self.cwnd(), a.acked));
        } else if c.flags & flags::CWND_LIMITED != 0 {
            self.grow(p, c, a);
        }
    }

    fn on_phase(&mut self, p: &G::Params, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (Phase::Open | Phase::Loss, Phase::Recovery) => {
                self.ssthresh = self.growth.ssthresh(p, c, self.cwnd());
                self.set_cwnd(c, self.style.enter(c, self.ssthresh));
                self.slow_start.restart(c);
                self.growth.restart(p, c);
            }
            (Phase::Recovery, Phase::Open) => {
                self.set_cwnd(c, self.style.exit(c, self.ssthresh));
                self.growth.restart(p, c);
            }
            // RFC 5681 section 3.1: ssthresh changes only when a segment first times out.
            (Phase::Open, Phase::Loss) => {
                self.ssthresh = self.growth.ssthresh(p, c, self.cwnd());
                self.after_timeout(p, c);
            }
            // Each duplicate sent a new segment, so the flight has outgrown the window that lost
            // the data; "no more than" FlightSize/2 (equation 4) leaves the first cut in force.
            (Phase::Recovery, Phase::Loss) => {
                self.ssthresh = self.ssthresh.min(self.growth.ssthresh(p, c, self.cwnd()));
                self.after_timeout(p, c);
            }
            (Phase::Loss, Phase::Loss) => self.after_timeout(p, c),
            (Phase::Loss, Phase::Open)
            | (Phase::Open, Phase::Open)
            | (Phase::Recovery, Phase::Recovery) => {}
        }
    }

    fn control(&self, _p: &G::Params, _c: &Conn) -> Control {
        Control { cwnd: self.cwnd(), ssthresh: self.ssthresh, pacing: Rate(0) }
    }

    /// RFC 5681 section 4.1: the restart window.
    fn on_idle_restart(&mut self, p: &G::Params, c: &Conn, _gap: Span) {
        let restart = p.initial_window().min(self.cwnd());
        self.set_cwnd(c, restart);
        self.slow_start.restart(c);
    }

    /// Window and threshold keep their size in segments.
    fn on_mss(&mut self, _p: &G::Params, c: &Conn, old: u32) {
        let old = u64::from(old.max(1));
        let scale = |bytes: u64| {
            let whole = (bytes / old).saturating_mul(u64::from(c.mss));
            whole.saturating_add((bytes % old).saturating_mul(u64::from(c.mss)) / old)
        };
        self.set_cwnd(c, scale(self.cwnd()));
        self.ssthresh = scale(self.ssthresh).clamp(1, MAX_WINDOW);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        for (field, value) in
            <Self as Described>::INFO.trace.iter().zip([self.cwnd(), self.ssthresh])
        {
            sink(field, value);
        }
    }
}
