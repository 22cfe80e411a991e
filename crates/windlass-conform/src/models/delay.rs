//! Vegas (Brakmo and Peterson 1995), Veno (Fu and Liew 2003), YeAH (Baiocchi, Castellani, Vacirca
//! 2007), FAST (Jin, Wei, Low 2004).

use windlass_cc::{Ack, Conn, Phase};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};

fn growing(c: &Conn) -> bool {
    matches!(c.phase, Phase::Open | Phase::Loss)
}

/// Vegas-1,3 with the mean of a round; a loss reduces cwnd by a quarter, as in ns-2.
pub struct Vegas {
    rounds: Rounds,
    /// Segments of growth per round: one, zero, or Reno's growth before the first estimate.
    opening: Option<f64>,
}

impl Vegas {
    /// A new connection.
    pub fn new(c: &Conn) -> Vegas {
        Vegas { rounds: Rounds::new(c), opening: None }
    }
}

impl Law for Vegas {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples == 0 {
            self.opening = None;
            return;
        }
        let diff = queued(w.segments(c), base(c), ended.mean);
        self.opening = Some(if diff < 1.0 { 1.0 } else { 0.0 });
        if diff > 3.0 && growing(c) && w.cwnd >= w.ssthresh {
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
        kept(c, if cause == Cause::Timeout { 0.5 } else { 0.75 })
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        *self = Vegas::new(c);
    }
}

/// Veno, beta = 3.
pub struct Veno {
    rounds: Rounds,
    backlog: Option<f64>,
    fresh: bool,
}

impl Veno {
    /// A new connection.
    pub fn new(c: &Conn) -> Veno {
        Veno { rounds: Rounds::new(c), backlog: None, fresh: false }
    }
}

impl Law for Veno {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        self.fresh = ended.samples >= 3;
        if self.fresh {
            self.backlog = Some(queued(w.segments(c), base(c), ended.least));
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let congested = self.fresh && self.backlog.is_some_and(|n| n >= 3.0);
        per_round(c, credit, w, if congested { 0.5 } else { 1.0 })
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, cause: Cause) -> f64 {
        let random = cause == Cause::Loss && self.backlog.is_some_and(|n| n < 3.0);
        kept(c, if random { 0.8 } else { 0.5 })
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        (self.rounds, self.fresh) = (Rounds::new(c), false);
    }
}

/// YeAH: alpha 80, gamma 1, delta 3, epsilon 1, phi 8, rho 16, zeta 50.
pub struct Yeah {
    rounds: Rounds,
    /// Segments.
    queue: f64,
    slow_for: u32,
    fast_for: u32,
    reno_count: f64,
}

impl Yeah {
    /// A new connection.
    pub fn new(c: &Conn) -> Yeah {
        Yeah { rounds: Rounds::new(c), queue: 0.0, slow_for: 0, fast_for: 0, reno_count: 2.0 }
    }
}

impl Law for Yeah {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples < 3 || !growing(c) {
            return;
        }
        self.queue = queued(w.segments(c), base(c), ended.least);
        let long = self.queue > 80.0;
        if !long && (ended.least - base(c)) / base(c) <= 1.0 / 8.0 {
            self.slow_for = 0;
            self.fast_for += 1;
            if self.fast_for > 50 {
                (self.fast_for, self.reno_count) = (0, 2.0);
            }
            return;
        }
        if long {
            let less = self.queue.min(w.segments(c) / 2.0);
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
        // Scalable with 1/100 in fast mode, never less than Reno.
        let segments = if self.slow_for == 0 { (w.segments(c) / 100.0).max(1.0) } else { 1.0 };
        per_round(c, credit, w, segments)
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        let mss = f64::from(c.mss);
        let flight = c.flight_size as f64;
        let cut = if self.slow_for < 16 {
            (self.queue * mss).min(flight / 2.0).max(flight / 8.0)
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

/// FAST: alpha 100, gamma 1/2, an update every other RTT.
pub struct Fast {
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
        Fast { avg_rtt: None, round_end: c.next_id, rounds: 0, target: 0.0, alpha: 100.0 }
    }
}

impl Law for Fast {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            let weight = (3.0 / w.segments(c)).min(0.25);
            self.avg_rtt = Some(self.avg_rtt.map_or(rtt, |avg| avg + weight * (rtt - avg)));
        }
        let Some(avg) = self.avg_rtt.filter(|_| growing(c)) else { return };
        let base = base(c).min(avg);
        if w.cwnd < w.ssthresh && avg - base >= 0.000_75 {
            w.ssthresh = w.cwnd;
            self.target = w.cwnd;
        }
        if c.una <= self.round_end {
            return;
        }
        self.round_end = c.next_id;
        self.rounds += 1;
        if self.rounds >= 2 && w.cwnd >= w.ssthresh {
            self.rounds = 0;
            let mss = f64::from(c.mss);
            let goal = base / avg * w.cwnd + self.alpha * mss;
            self.target = (0.5 * w.cwnd + 0.5 * goal).min(2.0 * w.cwnd);
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
