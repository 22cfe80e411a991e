//! Slow start, loss recovery, timeouts and idle times: the equations of RFC 5681, 6582 and 6675.
//! Algorithms with a cwnd define its growth and its reductions.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Ack, Conn, Event, Group, Phase, Span};

use super::Model;
use super::hystart::HyStart;
pub use super::windows::Windows;
use crate::cases::Opening;

/// RFC 5681 equation 4 with a share of the flight that is kept; in the RFC, half of it.
pub fn kept(c: &Conn, share: f64) -> f64 {
    (share * c.flight_size as f64).max(2.0 * f64::from(c.mss))
}

/// Bytes of growth per acknowledgement for the given number of segments per RTT: `n·mss/cwnd` for
/// each byte that it counts for, and at least a segment (RFC 5681 equation 3).
pub fn per_round(c: &Conn, credit: f64, w: &Windows, segments: f64) -> f64 {
    let mss = f64::from(c.mss);
    segments * mss * credit.max(mss) / w.cwnd
}

/// The cause of a reduction of cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Duplicate acknowledgements.
    Loss,
    /// The retransmission timer.
    Timeout,
    /// An ECN echo.
    Mark,
}

/// The rules of an algorithm with a cwnd.
pub trait Law {
    /// Takes measurements from every acknowledgement, in any phase.
    fn observe(&mut self, _c: &Conn, _a: &Ack, _w: &mut Windows) {}
    /// Bytes that congestion avoidance adds for an acknowledgement that counts for `credit` bytes.
    /// The method may apply other limits of cwnd to `w`.
    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64;
    /// ssthresh after a reduction.
    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64;
    /// Segments of cwnd after a timeout: the loss window of RFC 5681 section 3.1.
    fn loss_window(&self) -> f64 {
        1.0
    }
    /// Factor on slow start.
    fn slow_start_gain(&self, _c: &Conn) -> f64 {
        1.0
    }
    /// Congestion avoidance begins again after a reduction (`w` is the state after it) or a
    /// recovery.
    fn restart(&mut self, _c: &Conn, _w: &Windows) {}
    /// The last reduction was unfounded; `w` is restored.
    fn undo(&mut self, _c: &Conn, _w: &Windows) {}
    /// Nothing was sent for this number of seconds.
    fn idle(&mut self, _c: &Conn, _gap: f64) {}
    /// After an idle time, cwnd was reduced to the restart window.
    fn fall_back(&mut self, _c: &Conn) {}
    /// The paths of the connection are now these.
    fn regroup(&mut self, _c: &Conn, _g: &Group, _w: &Windows) {}
    /// See [`Model::disclosed`].
    fn disclosed(&self) -> f64 {
        0.0
    }
    /// Another segment size.
    fn resize(&mut self, _c: &Conn, _factor: f64) {}
    /// See [`Model::tolerance`]. The default is a byte for the cwnd truncated to whole bytes, and a
    /// byte for the ssthresh from which it was computed. A change of segment size scales the
    /// truncated values, which doubles the error.
    fn tolerance(&self, _w: &Windows) -> f64 {
        4.0
    }
}

/// RFC 9937 section 6, bytes.
#[derive(Default)]
struct Reduction {
    recover_fs: f64,
    /// [`Conn::delivered`] and [`Conn::sent`] at the beginning of recovery.
    since: (u64, u64),
}

impl Reduction {
    /// Prepares the values for a recovery that begins with this acknowledgement.
    fn prepare(&mut self, c: &Conn, a: &Ack) {
        self.recover_fs = a.prior_in_flight as f64;
        self.since = (c.delivered - a.delivered, c.sent);
    }

    /// `cwnd`, from DeliveredData and whether the acknowledgement is safe.
    fn window(&self, c: &Conn, ssthresh: f64, delivered_data: f64, safe: bool) -> f64 {
        let prr_delivered = (c.delivered - self.since.0) as f64;
        let prr_out = (c.sent - self.since.1) as f64;
        let pipe = c.in_flight as f64;
        let sndcnt = if pipe > ssthresh {
            (prr_delivered * ssthresh / self.recover_fs).ceil() - prr_out
        } else {
            let limit = (prr_delivered - prr_out).max(delivered_data);
            let limit = if safe { limit + mss(c) } else { limit };
            limit.min(ssthresh - pipe)
        };
        // The fast retransmit is always allowed.
        let least = if prr_out == 0.0 && sndcnt <= 0.0 { mss(c) } else { 0.0 };
        pipe + sndcnt.max(least)
    }
}

/// A law within the frame.
pub struct Frame<L> {
    law: L,
    w: Windows,
    /// The windows before the last reduction, for an undo.
    prior: Windows,
    initial_window: f64,
    style: LossRecovery,
    ack_limit: f64,
    /// True if the reduction that began the current phase has been undone.
    undone: bool,
    /// `Some` if the last reduction was for a loss and is in force, so that it can be undone. The
    /// flag is true if the law was involved.
    loss: Option<bool>,
    /// True if slow start follows a timeout.
    timed_out: bool,
    reduction: Reduction,
    opening: Opening,
    hystart: HyStart,
    /// Deviation of cwnd and ssthresh after each reduction: bytes, and a share.
    deviation: (f64, f64),
}

fn mss(c: &Conn) -> f64 {
    f64::from(c.mss)
}

impl<L: Law> Frame<L> {
    /// A new connection.
    pub fn new(law: L, initial: Windows, style: LossRecovery, ack_limit: u32) -> Frame<L> {
        Frame {
            law,
            w: initial,
            prior: initial,
            initial_window: initial.cwnd,
            style,
            ack_limit: f64::from(ack_limit),
            undone: false,
            loss: None,
            timed_out: false,
            reduction: Reduction::default(),
            opening: Opening::Standard,
            hystart: HyStart::default(),
            deviation: (0.0, 0.0),
        }
    }

    /// The frame with windows that deviate at each reduction by these bytes and by this share, as
    /// rounding may change the windows of an implementation.
    pub fn deviating(self, bytes: f64, share: f64) -> Frame<L> {
        Frame { deviation: (bytes, share), ..self }
    }

    /// The frame with another slow start.
    pub fn opening(self, opening: Opening) -> Frame<L> {
        Frame { opening, ..self }
    }

    fn fast_recovery(&self) -> bool {
        matches!(self.style, LossRecovery::Reno | LossRecovery::NewReno)
    }

    fn on_ack(&mut self, c: &Conn, a: &Ack) {
        self.law.observe(c, a, &mut self.w);
        let acked = a.acked as f64;
        if c.phase != Phase::Recovery {
            self.reduction.prepare(c, a);
        }
        match c.phase {
            Phase::Recovery if self.undone => {} // about to end: nothing was lost
            Phase::Recovery if self.style == LossRecovery::Prr && a.delivered > 0 => {
                let (delivered, safe) = (a.delivered as f64, a.acked > 0 && a.lost == 0);
                self.w.cwnd = self.reduction.window(c, self.w.ssthresh, delivered, safe);
            }
            Phase::Recovery if a.duplicate && self.fast_recovery() => {
                self.w.cwnd += mss(c); // RFC 5681 section 3.2 step 4
            }
            Phase::Recovery if a.acked > 0 && self.style == LossRecovery::NewReno => {
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
        let limited = self.ack_limit < f64::from(u32::MAX);
        let limit = if self.timed_out && limited { 1.0 } else { self.ack_limit }; // RFC 3465, 2.3
        let credit = (a.acked as f64).min(limit * mss(c));
        if self.w.cwnd < self.w.ssthresh {
            // RFC 5681 equation 2. The growth by a gain above one ends at ssthresh, and so does the
            // growth by more than a segment.
            let credit = credit.min((self.w.ssthresh - self.w.cwnd).max(mss(c)));
            let opened = self.opened(c, a, credit);
            let standard = self.w.cwnd + opened;
            let more = (self.law.slow_start_gain(c) - 1.0) * opened;
            let room = (self.w.ssthresh - standard).max(0.0);
            self.w.cwnd = standard + more.min(room);
        } else {
            self.timed_out = false;
            let more = self.law.increase(c, a, credit, &mut self.w);
            self.w.cwnd += more;
        }
    }

    /// Bytes that slow start adds.
    fn opened(&mut self, c: &Conn, a: &Ack, credit: f64) -> f64 {
        match self.opening {
            Opening::Standard => credit,
            Opening::Limited(segments) => {
                let max_ssthresh = segments as f64 * mss(c);
                if self.w.cwnd <= max_ssthresh {
                    return credit;
                }
                credit / (self.w.cwnd / (0.5 * max_ssthresh)).floor() // RFC 3742 section 2
            }
            Opening::HyStartPlusPlus => {
                let credit = (a.acked as f64).min(8.0 * mss(c));
                self.hystart.opened(c, a, credit, &mut self.w)
            }
        }
    }

    fn cut(&mut self, c: &Conn, cause: Cause) -> f64 {
        // The response to a mark may leave cwnd as it is.
        let bytes = if cause == Cause::Mark { 0.0 } else { self.deviation.0 };
        let cwnd = self.w.cwnd + bytes;
        self.law.ssthresh(c, &Windows { cwnd, ..self.w }, cause)
    }

    fn on_phase(&mut self, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Recovery) => {
                self.prior = self.w;
                self.loss = Some(from != Phase::Cwr);
                if from != Phase::Cwr {
                    self.timed_out = false;
                    self.w.ssthresh = self.cut(c, Cause::Loss);
                }
                // RFC 5681 section 3.2 step 3; RFC 6675 section 5 (4.2)
                let left = if self.fast_recovery() { 3.0 * mss(c) } else { 0.0 };
                self.w.cwnd = (self.w.ssthresh + left).max(mss(c));
                if self.style == LossRecovery::Prr {
                    let delivered = (c.delivered - self.reduction.since.0) as f64;
                    self.w.cwnd = self.reduction.window(c, self.w.ssthresh, delivered, false);
                }
                if from != Phase::Cwr {
                    self.law.restart(c, &self.w);
                }
            }
            (Phase::Open | Phase::Loss, Phase::Cwr) => {
                (self.loss, self.timed_out) = (None, false);
                self.w.ssthresh = self.cut(c, Cause::Mark);
                self.w.cwnd = self.w.cwnd.min(self.w.ssthresh).max(mss(c));
                self.law.restart(c, &self.w);
            }
            (Phase::Recovery, Phase::Open) if self.undone => {} // RFC 4015: as if it had not been
            (Phase::Recovery, Phase::Open) => {
                // RFC 5681 section 3.2 step 6; RFC 6582 section 3.2 step 3, full acknowledgement
                self.w.cwnd = match self.style {
                    LossRecovery::NewReno => {
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
                    // RFC 5681 equation 4 is an upper bound: the first reduction stays in force, and counts as
                    // a reduction for the timeout. The reduction of a mark is separate.
                    match self.loss {
                        Some(true) => self.law.undo(c, &self.prior),
                        Some(false) => {}
                        None => self.prior = self.w,
                    }
                    let again = self.law.ssthresh(c, &self.prior, Cause::Timeout);
                    self.w.ssthresh = again.min(self.w.ssthresh);
                }
                if from != Phase::Loss {
                    (self.loss, self.timed_out) = (Some(true), true);
                }
                self.w.cwnd = self.law.loss_window() * mss(c);
                self.law.restart(c, &self.w);
            }
            _ => {}
        }
        let (bytes, share) = self.deviation;
        if to != Phase::Open {
            self.w.ssthresh += (bytes + share * self.w.ssthresh).round();
        }
        match to {
            Phase::Recovery | Phase::Cwr => self.w.cwnd += (bytes + share * self.w.cwnd).round(),
            Phase::Loss => self.w.cwnd -= bytes, // it reaches ssthresh earlier or later
            Phase::Open => {}
        }
        self.undone = false;
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
                let Some(by_law) = self.loss.take() else { return };
                (self.undone, self.timed_out) = (true, false);
                let repairing = c.phase == Phase::Recovery; // without what duplicates inflate it by
                let limit = if repairing { self.w.ssthresh } else { f64::INFINITY };
                let grown = self.w.cwnd.min(limit);
                self.w.cwnd = grown.max(self.prior.cwnd);
                self.w.ssthresh = self.w.ssthresh.max(self.prior.ssthresh);
                if by_law {
                    self.law.undo(c, &self.w);
                }
            }
            Event::IdleRestart { gap: Span(gap), reset } => {
                if *reset {
                    // RFC 5681 section 4.1: RW = min(IW, cwnd)
                    let before = self.w.cwnd;
                    self.w.cwnd = before.min(self.initial_window);
                    if self.w.cwnd < before {
                        self.law.fall_back(c);
                    }
                }
                self.law.idle(c, *gap as f64 * 1e-9);
            }
            Event::Mss(old) => self.resize(c, *old),
            Event::Group(g) => self.law.regroup(c, g, &self.w),
            // No algorithm of this frame uses the lower layers.
            Event::CrossLayer(_) => {}
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.w.cwnd, self.w.ssthresh)
    }

    fn disclosed(&self) -> f64 {
        self.law.disclosed()
    }

    fn tolerance(&self) -> f64 {
        let more = match self.opening {
            Opening::HyStartPlusPlus => HyStart::TOLERANCE,
            _ => 0.0,
        };
        self.law.tolerance(&self.w) + more
    }
}
