//! HighSpeed TCP (RFC 3649), Scalable TCP (Kelly 2003) and BIC (Xu, Harfoush, Rhee 2004).

use windlass_cc::{Ack, Conn, Phase, bic, highspeed, scalable};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::share;

/// RFC 3649 section 5.
pub struct HighSpeed {
    low_window: f64,
    high_window: f64,
    low_p: f64,
    high_p: f64,
    high_decrease: f64,
    per_ack: bool,
}

impl Default for HighSpeed {
    fn default() -> HighSpeed {
        HighSpeed {
            low_window: 38.0,
            high_window: 83_000.0,
            low_p: 1e-3,
            high_p: 1e-7,
            high_decrease: 0.1,
            per_ack: false,
        }
    }
}

impl HighSpeed {
    /// HighSpeed TCP with these parameters.
    pub fn of(p: &highspeed::Params) -> Option<HighSpeed> {
        (!p.steps).then(|| HighSpeed {
            low_window: p.low_window as f64,
            high_window: p.high_window as f64,
            low_p: 1.0 / p.low_interval as f64,
            high_p: 1.0 / p.high_interval as f64,
            high_decrease: share(p.high_decrease),
            per_ack: p.per_ack,
        })
    }

    /// b(w). A hundredth at least, because the equation reaches zero.
    fn b(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        let (low, high) = (self.low_window.ln(), self.high_window.ln());
        let way = (w.ln() - low) / (high - low);
        ((self.high_decrease - 0.5) * way + 0.5).max(0.01)
    }

    /// a(w).
    fn a(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let slope = (self.high_window / self.low_window).ln() / (self.high_p / self.low_p).ln();
        let p = self.low_p * (w / self.low_window).powf(1.0 / slope);
        let b = self.b(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl Law for HighSpeed {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let credit = if self.per_ack { credit.min(f64::from(c.mss)) } else { credit };
        // The RFC's equations are for windows of whole segments.
        per_round(c, credit, w, self.a(w.segments(c).floor()))
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, _cause: Cause) -> f64 {
        kept(c, 1.0 - self.b(w.segments(c).floor()))
    }

    /// The logarithms of an integer implementation: a part in 5,000 of the growth of cwnd, and of
    /// ssthresh.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Kelly 2003, section 3: a = 0.01, b = 0.125, legacy window 16.
pub struct Scalable {
    per_segment: f64,
    legacy_window: f64,
    legacy_cut: f64,
    cut: f64,
}

impl Default for Scalable {
    fn default() -> Scalable {
        Scalable { per_segment: 0.01, legacy_window: 16.0, legacy_cut: 0.5, cut: 0.125 }
    }
}

impl Scalable {
    /// Scalable TCP with these parameters.
    pub fn of(p: &scalable::Params) -> Scalable {
        Scalable {
            per_segment: 1.0 / p.acks_per_segment as f64,
            legacy_window: p.legacy_window as f64,
            legacy_cut: share(p.legacy_cut),
            cut: share(p.cut),
        }
    }
}

impl Law for Scalable {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if w.segments(c) <= self.legacy_window {
            per_round(c, credit, w, 1.0)
        } else {
            self.per_segment * credit.max(f64::from(c.mss))
        }
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, _cause: Cause) -> f64 {
        let legacy = w.segments(c) <= self.legacy_window;
        kept(c, 1.0 - if legacy { self.legacy_cut } else { self.cut })
    }
}

/// The paper's search with the constants of Linux (`tcp_bic`): beta 819/1024, S_max 16, B 4,
/// smooth part 20, low window 14.
pub struct Bic {
    keep: f64,
    s_max: f64,
    /// B.
    parts: f64,
    smooth: f64,
    low_window: f64,
    fast_convergence: bool,
    /// Segments; `None` before the first loss and after a timeout.
    max: Option<f64>,
    prior: Option<f64>,
}

impl Default for Bic {
    fn default() -> Bic {
        Bic {
            keep: 819.0 / 1024.0,
            s_max: 16.0,
            parts: 4.0,
            smooth: 20.0,
            low_window: 14.0,
            fast_convergence: true,
            max: None,
            prior: None,
        }
    }
}

impl Bic {
    /// BIC with these parameters.
    pub fn of(p: &bic::Params) -> Option<Bic> {
        (!p.whole && !p.ack_ratio).then(|| Bic::with(p))
    }

    fn with(p: &bic::Params) -> Bic {
        Bic {
            keep: share(p.keep),
            s_max: p.max_increment as f64,
            parts: p.divisor as f64,
            smooth: p.smooth_part as f64,
            low_window: p.low_window as f64,
            fast_convergence: p.fast_convergence,
            ..Bic::default()
        }
    }
}

impl Law for Bic {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let segments = w.segments(c);
        let max = self.max.unwrap_or(0.0);
        let step = if segments <= self.low_window {
            1.0
        } else if segments < max {
            // Binary search increase, additive increase far from the goal.
            let distance = (max - segments) / self.parts;
            if distance <= 1.0 { self.parts / self.smooth } else { distance.min(self.s_max) }
        } else if segments < max + self.parts {
            self.parts / self.smooth // max probing, slow start of it
        } else {
            ((segments - max) / (self.parts - 1.0)).min(self.s_max)
        };
        let unknown = self.max.is_none() && segments > self.low_window;
        let step = if unknown { step.max(segments / 20.0) } else { step };
        per_round(c, credit, w, step.min(segments))
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        let segments = w.segments(c);
        self.prior = self.max;
        self.max = match self.max {
            _ if cause == Cause::Timeout => None,
            Some(max) if self.fast_convergence && segments < max => {
                Some(segments * (1.0 + self.keep) / 2.0)
            }
            _ => Some(segments),
        };
        kept(c, if segments <= self.low_window { 0.5 } else { self.keep })
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        self.max = self.prior;
    }
}

/// The kernel's BIC (`bictcp_update`, `bictcp_acked`, `tcp_cong_avoid_ai`) in whole numbers.
pub struct WholeBic {
    bic: Bic,
    /// Sixteenths of a segment that an acknowledgement covers, smoothed.
    ratio: f64,
    /// Segments acknowledged towards the next segment of growth.
    counted: f64,
}

const TWO_SEGMENTS: f64 = 32.0;

impl Default for WholeBic {
    fn default() -> WholeBic {
        WholeBic { bic: Bic::default(), ratio: TWO_SEGMENTS, counted: 0.0 }
    }
}

impl WholeBic {
    /// The kernel's BIC with these parameters.
    pub fn of(p: &bic::Params) -> Option<WholeBic> {
        (p.whole && p.ack_ratio).then(|| WholeBic { bic: Bic::with(p), ..WholeBic::default() })
    }

    /// Acknowledged segments per segment of growth.
    fn per(&self, cwnd: f64) -> f64 {
        if cwnd <= self.bic.low_window {
            return cwnd;
        }
        let max = self.bic.max.unwrap_or(0.0);
        let distance = ((max - cwnd) / self.bic.parts).floor();
        let slowest = (cwnd * self.bic.smooth / self.bic.parts).floor();
        let per =
            if cwnd >= max + self.bic.s_max * (self.bic.parts - 1.0) || distance > self.bic.s_max {
                cwnd / self.bic.s_max
            } else if cwnd >= max + self.bic.parts {
                cwnd * (self.bic.parts - 1.0) / (cwnd - max)
            } else if distance > 1.0 {
                cwnd / distance
            } else {
                slowest
            };
        let per = if self.bic.max.is_none() { per.floor().min(20.0) } else { per.floor() };
        (per * 16.0 / self.ratio).floor()
    }
}

impl Law for WholeBic {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        if c.phase == Phase::Open && a.acked > 0 {
            let covered = (a.acked as f64 / f64::from(c.mss)).floor().max(1.0);
            self.ratio += covered - (self.ratio / 16.0).floor();
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let per = self.per(w.segments(c).floor().max(1.0)).max(1.0);
        let late = self.counted >= per;
        let counted =
            if late { 0.0 } else { self.counted } + (credit / f64::from(c.mss)).floor().max(1.0);
        self.counted = counted % per;
        (f64::from(u8::from(late)) + (counted / per).floor()) * f64::from(c.mss)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        let whole = Windows { cwnd: w.segments(c).floor() * f64::from(c.mss), ..*w };
        let left = self.bic.ssthresh(c, &whole, cause);
        self.bic.max = self.bic.max.map(f64::floor);
        self.counted = 0.0;
        if cause == Cause::Timeout {
            self.ratio = TWO_SEGMENTS;
        }
        // The comparison with the low window is of bytes.
        if w.segments(c) > self.bic.low_window { left.max(kept(c, self.bic.keep)) } else { left }
    }

    fn undo(&mut self, c: &Conn, w: &Windows) {
        self.bic.undo(c, w);
    }
}
