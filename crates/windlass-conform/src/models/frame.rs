//! Slow start, loss recovery, timeouts, idle times: RFC 5681, 6582 and 6675 as equations. The
//! algorithms with a window fill in how it grows and how far it is cut.

use windlass_cc::recovery::Style;
use windlass_cc::{Ack, Conn, Event, Phase, Span};

use super::Model;

/// Window and threshold, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

/// Why a window is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate acknowledgements.
    Loss,
    /// The retransmission timer.
    Timeout,
    /// An ECN echo.
    Mark,
}

/// What distinguishes an algorithm with a window.
pub trait Law {
    /// Measurements: every acknowledgement, in any phase.
    fn observe(&mut self, _c: &Conn, _a: &Ack, _w: &mut Windows) {}
    /// Bytes that congestion avoidance adds for an acknowledgement that counts for `credit` bytes.
    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &Windows) -> f64;
    /// The threshold after a cut.
    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64;
    /// Factor on slow start.
    fn slow_start_gain(&self, _c: &Conn) -> f64 {
        1.0
    }
    /// Congestion avoidance begins anew after a cut (`w` after it) or a recovery.
    fn restart(&mut self, _c: &Conn, _w: &Windows) {}
    /// The last cut was unfounded; `w` is restored.
    fn undo(&mut self, _c: &Conn, _w: &Windows) {}
    /// Nothing was sent for so many seconds.
    fn idle(&mut self, _c: &Conn, _gap: f64) {}
    /// Another segment size.
    fn resize(&mut self, _c: &Conn, _factor: f64) {}
    /// See [`Model::tolerance`]. By default a byte for the window cut to whole bytes and one for a
    /// threshold or an earlier window that it was made of.
    fn tolerance(&self, _w: &Windows) -> f64 {
        2.0
    }
}

/// A law within the frame.
pub struct Frame<L> {
    law: L,
    w: Windows,
    /// Before the last cut, for undoing it.
    prior: Windows,
    initial_window: f64,
    style: Style,
    ack_limit: f64,
}

fn mss(c: &Conn) -> f64 {
    f64::from(c.mss)
}

impl<L: Law> Frame<L> {
    /// A new connection.
    pub fn new(law: L, initial: Windows, style: Style, ack_limit: u32) -> Frame<L> {
        let ack_limit = f64::from(ack_limit);
        Frame { law, w: initial, prior: initial, initial_window: initial.cwnd, style, ack_limit }
    }

    fn fast_recovery(&self) -> bool {
        matches!(self.style, Style::Reno | Style::NewReno)
    }

    fn on_ack(&mut self, c: &Conn, a: &Ack) {
        self.law.observe(c, a, &mut self.w);
        let acked = a.acked as f64;
        match c.phase {
            Phase::Recovery if a.duplicate && self.fast_recovery() => {
                self.w.cwnd += mss(c); // RFC 5681 section 3.2 step 4
            }
            Phase::Recovery if a.acked > 0 && self.style == Style::NewReno => {
                // RFC 6582 section 3.2 step 3, partial acknowledgement
                let back = if acked >= mss(c) { mss(c) } else { 0.0 };
                self.w.cwnd = (self.w.cwnd - acked + back).max(mss(c));
            }
            Phase::Open | Phase::Loss if a.acked > 0 && !a.duplicate => self.grow(c, a),
            _ => {}
        }
    }

    fn grow(&mut self, c: &Conn, a: &Ack) {
        if !c.cwnd_limited() {
            return; // RFC 7661 section 4.3
        }
        let credit = (a.acked as f64).min(self.ack_limit * mss(c));
        if self.w.cwnd < self.w.ssthresh {
            self.w.cwnd += self.law.slow_start_gain(c) * credit; // RFC 5681 equation 2
        } else {
            self.w.cwnd += self.law.increase(c, a, credit, &self.w);
        }
    }

    fn cut(&mut self, c: &Conn, cause: Cause) -> f64 {
        self.law.ssthresh(c, &self.w, cause)
    }

    fn on_phase(&mut self, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Recovery) => {
                if from != Phase::Cwr {
                    self.prior = self.w;
                    self.w.ssthresh = self.cut(c, Cause::Loss);
                }
                // RFC 5681 section 3.2 step 3; RFC 6675 section 5 (4.2)
                let left = if self.fast_recovery() { 3.0 * mss(c) } else { 0.0 };
                self.w.cwnd = (self.w.ssthresh + left).max(mss(c));
                if from != Phase::Cwr {
                    self.law.restart(c, &self.w);
                }
            }
            (Phase::Open | Phase::Loss, Phase::Cwr) => {
                self.prior = self.w;
                self.w.ssthresh = self.cut(c, Cause::Mark);
                self.w.cwnd = self.w.cwnd.min(self.w.ssthresh).max(mss(c));
                self.law.restart(c, &self.w);
            }
            (Phase::Recovery, Phase::Open) => {
                // RFC 5681 section 3.2 step 6; RFC 6582 section 3.2 step 3, full acknowledgement
                self.w.cwnd = match self.style {
                    Style::NewReno => {
                        self.w.ssthresh.min((c.in_flight as f64).max(mss(c)) + mss(c))
                    }
                    _ => self.w.ssthresh,
                };
                self.law.restart(c, &self.w);
            }
            (_, Phase::Loss) => {
                if from == Phase::Open {
                    self.prior = self.w;
                    self.w.ssthresh = self.cut(c, Cause::Timeout);
                } else if from != Phase::Loss {
                    // RFC 5681 equation 4 is an upper bound: the first cut stays in force.
                    self.w.ssthresh = self.cut(c, Cause::Timeout).min(self.w.ssthresh);
                }
                self.w.cwnd = mss(c); // RFC 5681 section 3.1: the loss window
                self.law.restart(c, &self.w);
            }
            _ => {}
        }
    }

    fn resize(&mut self, c: &Conn, old: u32) {
        let factor = mss(c) / f64::from(old);
        self.w.cwnd = (self.w.cwnd * factor).max(mss(c));
        self.w.ssthresh *= factor;
        self.prior = self.w;
        self.law.resize(c, factor);
    }
}

impl<L: Law> Model for Frame<L> {
    fn apply(&mut self, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => self.on_ack(c, a),
            Event::Phase { from, to } => self.on_phase(c, *from, *to),
            Event::Loss(_) => {}
            Event::Undo(_) => {
                self.w.cwnd = self.w.cwnd.max(self.prior.cwnd);
                self.w.ssthresh = self.w.ssthresh.max(self.prior.ssthresh);
                self.law.undo(c, &self.w);
            }
            Event::IdleRestart { gap: Span(gap), reset } => {
                if *reset {
                    // RFC 5681 section 4.1: RW = min(IW, cwnd)
                    self.w.cwnd = self.w.cwnd.min(self.initial_window);
                }
                self.law.idle(c, *gap as f64 * 1e-9);
            }
            Event::Mss(old) => self.resize(c, *old),
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.w.cwnd, self.w.ssthresh)
    }

    fn tolerance(&self) -> f64 {
        self.law.tolerance(&self.w)
    }
}
