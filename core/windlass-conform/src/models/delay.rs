//! Vegas (Brakmo and Peterson 1995), Veno (Fu and Liew 2003), YeAH (Baiocchi, Castellani, Vacirca
//! 2007), FAST (Jin, Wei, Low 2004).

use windlass_cc::{Ack, Conn, Phase, fast, vegas, veno, yeah};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};
use super::{share, time};

fn growing(c: &Conn) -> bool {
    matches!(c.phase, Phase::Open | Phase::Loss)
}

/// Vegas.
pub struct Vegas {
    alpha: f64,
    beta: f64,
    /// The minimum of three samples instead of the mean.
    least: bool,
    /// Share of cwnd that a loss leaves.
    keep: f64,
    rounds: Rounds,
    /// Segments of growth per round: one, zero, or Reno's growth before the first estimate.
    opening: Option<f64>,
}

impl Vegas {
    /// A new connection: Vegas-1,3 with the mean of a round; a loss reduces cwnd by a quarter, as in
    /// ns-2.
    pub fn new(c: &Conn) -> Vegas {
        let (alpha, beta, least, keep) = (1.0, 3.0, false, 0.75);
        Vegas { alpha, beta, least, keep, rounds: Rounds::new(c), opening: None }
    }

    /// A new connection with these parameters.
    pub fn of(p: &vegas::Params, c: &Conn) -> Option<Vegas> {
        (!p.whole && p.alpha <= p.beta).then(|| Vegas {
            alpha: p.alpha as f64,
            beta: p.beta as f64,
            least: p.estimate == vegas::Estimate::Least,
            keep: if p.reduction == vegas::Reduction::Half { 0.5 } else { 0.75 },
            ..Vegas::new(c)
        })
    }
}

impl Law for Vegas {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples < if self.least { 3 } else { 1 } {
            self.opening = None;
            return;
        }
        let rtt = if self.least { ended.least } else { ended.mean };
        let diff = queued(w.segments(c), base(c), rtt);
        self.opening = Some(if diff < self.alpha { 1.0 } else { 0.0 });
        if diff > self.beta && growing(c) && w.cwnd >= w.ssthresh {
            let mss = f64::from(c.mss);
            w.shrink(c, (w.cwnd - mss).max(2.0 * mss));
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let acked = a.acked as f64;
        match self.opening {
            Some(segments) => segments * f64::from(c.mss) * acked.min(w.cwnd) / w.cwnd,
            None => per_round(c, credit, w, 1.0),
        }
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, cause: Cause) -> f64 {
        kept(c, if cause == Cause::Timeout { 0.5 } else { self.keep })
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        (self.rounds, self.opening) = (Rounds::new(c), None);
    }
}

/// Veno.
pub struct Veno {
    beta: f64,
    /// Share of the flight that a random loss leaves.
    keep: f64,
    min_samples: usize,
    rounds: Rounds,
    backlog: Option<f64>,
    fresh: bool,
}

impl Veno {
    /// A new connection.
    pub fn new(c: &Conn) -> Veno {
        let (beta, keep, min_samples) = (3.0, 0.8, 3);
        Veno { beta, keep, min_samples, rounds: Rounds::new(c), backlog: None, fresh: false }
    }

    /// A new connection with these parameters.
    pub fn of(p: &veno::Params, c: &Conn) -> Option<Veno> {
        (p.variant == veno::Variant::Paper).then(|| Veno {
            beta: p.beta as f64,
            keep: share(p.keep),
            min_samples: p.min_samples as usize,
            ..Veno::new(c)
        })
    }
}

impl Law for Veno {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        self.fresh = ended.samples >= self.min_samples;
        if self.fresh {
            self.backlog = Some(queued(w.segments(c), base(c), ended.least));
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let congested = self.fresh && self.backlog.is_some_and(|n| n >= self.beta);
        per_round(c, credit, w, if congested { 0.5 } else { 1.0 })
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, cause: Cause) -> f64 {
        let random = cause == Cause::Loss && self.backlog.is_some_and(|n| n < self.beta);
        kept(c, if random { self.keep } else { 0.5 })
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        (self.rounds, self.fresh) = (Rounds::new(c), false);
    }
}

/// YeAH.
pub struct Yeah {
    p: yeah::Params,
    rounds: Rounds,
    /// Segments.
    queue: f64,
    slow_for: u64,
    fast_for: u64,
    reno_count: f64,
}

impl Yeah {
    /// A new connection.
    pub fn new(c: &Conn) -> Yeah {
        let p = yeah::Params {
            alpha: 80,
            gamma: 1,
            delta: 3,
            epsilon: 1,
            phi: 8,
            rho: 16,
            zeta: 50,
            scalable: 100,
            forget_base: false,
        };
        let rounds = Rounds::new(c);
        Yeah { p, rounds, queue: 0.0, slow_for: 0, fast_for: 0, reno_count: 2.0 }
    }

    /// A new connection with these parameters.
    pub fn of(p: &yeah::Params, c: &Conn) -> Option<Yeah> {
        (!p.forget_base).then(|| Yeah { p: *p, ..Yeah::new(c) })
    }
}

impl Law for Yeah {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples < 3 || !growing(c) {
            return;
        }
        self.queue = queued(w.segments(c), base(c), ended.least);
        let long = self.queue > self.p.alpha as f64;
        if !long && (ended.least - base(c)) / base(c) <= 1.0 / self.p.phi as f64 {
            self.slow_for = 0;
            self.fast_for += 1;
            if self.fast_for > self.p.zeta {
                (self.fast_for, self.reno_count) = (0, 2.0);
            }
            return;
        }
        if long {
            let most = w.segments(c) * 0.5f64.powi(self.p.epsilon as i32);
            let less = (self.queue / self.p.gamma as f64).min(most);
            let left = (w.segments(c) - less).max(self.reno_count);
            w.shrink(c, left * f64::from(c.mss));
        }
        self.reno_count = if self.reno_count <= 2.0 {
            (w.segments(c) / 2.0).floor().max(2.0)
        } else {
            self.reno_count + 1.0
        };
        self.slow_for += 1;
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        // Scalable in fast mode, never less than Reno.
        let scalable = (w.segments(c) / self.p.scalable as f64).max(1.0);
        let segments = if self.slow_for == 0 { scalable } else { 1.0 };
        per_round(c, credit, w, segments)
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        let mss = f64::from(c.mss);
        let flight = c.flight_size as f64;
        let cut = if self.slow_for < self.p.rho {
            (self.queue * mss).min(flight / 2.0).max(flight * 0.5f64.powi(self.p.delta as i32))
        } else {
            flight / 2.0
        };
        self.fast_for = 0;
        self.reno_count = (self.reno_count / 2.0).floor().max(2.0);
        (flight - cut).max(2.0 * mss)
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        self.rounds = Rounds::new(c);
    }
}

/// The weight of a sample at a small cwnd.
pub(super) fn greatest(weight: fast::Weight) -> f64 {
    if weight == fast::Weight::Ns2 { 1.0 / 256.0 } else { 0.25 }
}

/// FAST.
pub struct Fast {
    gamma: f64,
    /// Rounds from one update to the next.
    interval: u32,
    /// Maximum weight of a sample.
    weight: f64,
    mi_threshold: f64,
    avg_rtt: Option<f64>,
    round_end: u64,
    rounds: u32,
    target: f64,
    /// Segments to keep queued.
    pub alpha: f64,
}

impl Fast {
    /// A new connection.
    pub fn new(c: &Conn) -> Fast {
        Fast {
            gamma: 0.5,
            interval: 2,
            weight: 0.25,
            mi_threshold: 0.000_75,
            avg_rtt: None,
            round_end: c.next_id,
            rounds: 0,
            target: 0.0,
            alpha: 100.0,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &fast::Params, c: &Conn) -> Fast {
        Fast {
            alpha: p.alpha as f64,
            gamma: share(p.gamma),
            interval: p.interval as u32,
            weight: greatest(p.weight),
            mi_threshold: time(p.mi_threshold),
            ..Fast::new(c)
        }
    }
}

impl Law for Fast {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            let weight = (3.0 / w.segments(c)).min(self.weight);
            self.avg_rtt = Some(self.avg_rtt.map_or(rtt, |avg| avg + weight * (rtt - avg)));
        }
        let Some(avg) = self.avg_rtt.filter(|_| growing(c)) else { return };
        let base = base(c).min(avg);
        if w.cwnd < w.ssthresh && avg - base >= self.mi_threshold {
            w.ssthresh = w.cwnd;
            self.target = w.cwnd;
        }
        if c.una <= self.round_end {
            return;
        }
        self.round_end = c.next_id;
        self.rounds += 1;
        if self.rounds >= self.interval && w.cwnd >= w.ssthresh {
            self.rounds = 0;
            let mss = f64::from(c.mss);
            let goal = base / avg * w.cwnd + self.alpha * mss;
            self.target = ((1.0 - self.gamma) * w.cwnd + self.gamma * goal).min(2.0 * w.cwnd);
            w.shrink(c, self.target.max(2.0 * mss));
        }
    }

    fn increase(&mut self, _c: &Conn, a: &Ack, _credit: f64, w: &mut Windows) -> f64 {
        (a.acked as f64).min((self.target - w.cwnd).max(0.0))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    fn restart(&mut self, c: &Conn, w: &Windows) {
        (self.round_end, self.rounds, self.target) = (c.next_id, 0, w.cwnd);
    }

    fn undo(&mut self, _c: &Conn, w: &Windows) {
        self.target = w.cwnd;
    }

    fn idle(&mut self, _c: &Conn, _gap: f64) {
        self.target = 0.0;
    }

    fn resize(&mut self, _c: &Conn, _factor: f64) {
        self.target = 0.0;
    }

    /// The averaged time to a part in 10,000.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}
