//! HighSpeed TCP (RFC 3649), Scalable TCP (Kelly 2003) and BIC (Xu, Harfoush, Rhee 2004).

use windlass_cc::{Ack, Conn, Phase};

use super::frame::{Cause, Law, Windows, kept, per_round};

/// RFC 3649 section 5.
pub struct HighSpeed;

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const LOW_P: f64 = 1e-3;
const HIGH_P: f64 = 1e-7;
const HIGH_DECREASE: f64 = 0.1;

/// b(w).
fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 0.5;
    }
    let way = (w.ln() - LOW_WINDOW.ln()) / (HIGH_WINDOW.ln() - LOW_WINDOW.ln());
    (HIGH_DECREASE - 0.5) * way + 0.5
}

/// a(w).
fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let slope = (HIGH_WINDOW / LOW_WINDOW).ln() / (HIGH_P / LOW_P).ln();
    let p = LOW_P * (w / LOW_WINDOW).powf(1.0 / slope);
    let b = decrease(w);
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

impl Law for HighSpeed {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        // The RFC's equations are for windows of whole segments.
        per_round(c, credit, w, increase(w.segments(c).floor()))
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, _cause: Cause) -> f64 {
        kept(c, 1.0 - decrease(w.segments(c).floor()))
    }

    /// The logarithms of an integer implementation: a part in 5,000 of the growth of cwnd, and of
    /// ssthresh.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Kelly 2003, section 3: a = 0.01, b = 0.125, legacy window 16.
pub struct Scalable;

const LEGACY_WINDOW: f64 = 16.0;

impl Law for Scalable {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if w.segments(c) <= LEGACY_WINDOW {
            per_round(c, credit, w, 1.0)
        } else {
            0.01 * credit.max(f64::from(c.mss))
        }
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, _cause: Cause) -> f64 {
        kept(c, if w.segments(c) <= LEGACY_WINDOW { 0.5 } else { 0.875 })
    }
}

/// The paper's search with the constants of Linux (`tcp_bic`): beta 819/1024, S_max 16, B 4,
/// smooth part 20, low window 14.
#[derive(Default)]
pub struct Bic {
    /// Segments; `None` before the first loss and after a timeout.
    max: Option<f64>,
    prior: Option<f64>,
}

const BIC_KEEP: f64 = 819.0 / 1024.0;
const S_MAX: f64 = 16.0;
const PARTS: f64 = 4.0;
const SMOOTH: f64 = 20.0;
const BIC_LOW_WINDOW: f64 = 14.0;

impl Law for Bic {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let segments = w.segments(c);
        let max = self.max.unwrap_or(0.0);
        let step = if segments <= BIC_LOW_WINDOW {
            1.0
        } else if segments < max {
            // Binary search increase, additive increase far from the goal.
            let distance = (max - segments) / PARTS;
            if distance <= 1.0 { PARTS / SMOOTH } else { distance.min(S_MAX) }
        } else if segments < max + PARTS {
            PARTS / SMOOTH // max probing, slow start of it
        } else {
            ((segments - max) / (PARTS - 1.0)).min(S_MAX)
        };
        let unknown = self.max.is_none() && segments > BIC_LOW_WINDOW;
        let step = if unknown { step.max(segments / 20.0) } else { step };
        per_round(c, credit, w, step.min(segments))
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        let segments = w.segments(c);
        self.prior = self.max;
        self.max = match self.max {
            _ if cause == Cause::Timeout => None,
            Some(max) if segments < max => Some(segments * (1.0 + BIC_KEEP) / 2.0),
            _ => Some(segments),
        };
        kept(c, if segments <= BIC_LOW_WINDOW { 0.5 } else { BIC_KEEP })
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
    /// Acknowledged segments per segment of growth.
    fn per(&self, cwnd: f64) -> f64 {
        if cwnd <= BIC_LOW_WINDOW {
            return cwnd;
        }
        let max = self.bic.max.unwrap_or(0.0);
        let distance = ((max - cwnd) / PARTS).floor();
        let slowest = (cwnd * SMOOTH / PARTS).floor();
        let per = if cwnd >= max + S_MAX * (PARTS - 1.0) || distance > S_MAX {
            cwnd / S_MAX
        } else if cwnd >= max + PARTS {
            cwnd * (PARTS - 1.0) / (cwnd - max)
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
        if w.segments(c) > BIC_LOW_WINDOW { left.max(kept(c, BIC_KEEP)) } else { left }
    }

    fn undo(&mut self, c: &Conn, w: &Windows) {
        self.bic.undo(c, w);
    }
}
