//! H-TCP (draft-leith-tcp-htcp-06), Hybla (Caini and Firrincieli 2004), Illinois (Liu, Basar,
//! Srikant 2008).

use windlass_cc::{Ack, Conn, Phase};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

/// H-TCP.
pub struct Htcp {
    since: f64,
    beta: f64,
    prior: (f64, f64),
    longest: f64,
    round_end: u64,
    round: (f64, u64),
    rate: Option<f64>,
    rate_at_cut: Option<f64>,
}

impl Htcp {
    /// A new connection.
    pub fn new(c: &Conn) -> Htcp {
        let now = seconds(c);
        Htcp {
            since: now,
            beta: 0.5,
            prior: (now, 0.5),
            longest: 0.0,
            round_end: c.next_id,
            round: (now, c.delivered),
            rate: None,
            rate_at_cut: None,
        }
    }

    fn new_round(&mut self, c: &Conn) {
        self.round_end = c.next_id;
        self.round = (seconds(c), c.delivered);
    }
}

impl Law for Htcp {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        if c.phase != Phase::Open {
            self.new_round(c);
            return;
        }
        if a.rtt.is_known() {
            self.longest = self.longest.max(a.rtt.0 as f64 * 1e-9);
        }
        if c.una > self.round_end {
            let (start, delivered) = self.round;
            self.rate = Some((c.delivered - delivered) as f64 / (seconds(c) - start));
            self.new_round(c);
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let delta = seconds(c) - self.since;
        let beyond = delta - 1.0;
        let alpha = if beyond <= 0.0 { 1.0 } else { 1.0 + 10.0 * beyond + (beyond / 2.0).powi(2) };
        let alpha = (2.0 * (1.0 - self.beta) * alpha).max(1.0);
        per_round(c, credit, w, alpha.min(w.segments(c)))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.prior = (self.since, self.beta);
        let steady = match (self.rate, self.rate_at_cut) {
            (Some(new), Some(old)) => (new - old).abs() <= 0.2 * old,
            _ => false,
        };
        self.beta = if steady && self.longest > 0.0 {
            (base(c) / self.longest).clamp(0.5, 0.8)
        } else {
            0.5
        };
        self.since = seconds(c);
        self.rate_at_cut = self.rate;
        self.longest = 0.0;
        kept(c, self.beta)
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        (self.since, self.beta) = self.prior;
    }

    fn idle(&mut self, c: &Conn, gap: f64) {
        self.since += gap;
        self.new_round(c);
    }

    /// Times and the share kept to 1/65536, of windows below a megabyte.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Hybla with RTT0 = 25 ms.
pub struct Hybla;

fn rho(c: &Conn) -> f64 {
    if c.min_rtt.is_known() { (base(c) / 0.025).max(1.0) } else { 1.0 }
}

impl Law for Hybla {
    fn slow_start_gain(&self, c: &Conn) -> f64 {
        rho(c).exp2() - 1.0
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, rho(c).powi(2))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    /// rho to 1/65536, its power to a part in 10,000.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Illinois with the constants of Linux: alpha from 10 to 0.3, beta from 1/8 to 1/2, window
/// threshold 15, theta 5, eta 0.01, 0.1 and 0.8.
pub struct Illinois {
    rounds: Rounds,
    longest: f64,
    alpha: f64,
    beta: f64,
    above: bool,
    below_for: u32,
}

impl Illinois {
    /// A new connection.
    pub fn new(c: &Conn) -> Illinois {
        Illinois {
            rounds: Rounds::new(c),
            longest: 0.0,
            alpha: 1.0,
            beta: 0.5,
            above: false,
            below_for: 0,
        }
    }

    fn adapt(&mut self, delay: f64, longest: f64) {
        let (d1, d2, d3) = (0.01 * longest, 0.1 * longest, 0.8 * longest);
        if delay <= d1 {
            self.below_for += 1;
            if !self.above || self.below_for >= 5 {
                (self.alpha, self.above, self.below_for) = (10.0, false, 0);
            }
        } else {
            (self.above, self.below_for) = (true, 0);
            // kappa1/(kappa2 + d) through (d1, 10) and (longest, 0.3)
            let kappa1 = (longest - d1) * 0.3 * 10.0 / (10.0 - 0.3);
            let kappa2 = (longest - d1) * 0.3 / (10.0 - 0.3) - d1;
            self.alpha = kappa1 / (kappa2 + delay);
        }
        self.beta = if delay <= d2 {
            0.125
        } else if delay >= d3 {
            0.5
        } else {
            0.125 + (0.5 - 0.125) * (delay - d2) / (d3 - d2)
        };
    }
}

impl Law for Illinois {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            self.longest = self.longest.max(a.rtt.0 as f64 * 1e-9);
        }
        let Some(ended) = self.rounds.take(c, a) else { return };
        if w.segments(c) < 15.0 {
            (self.alpha, self.beta) = (1.0, 0.5);
        } else if ended.samples > 0 {
            self.adapt(ended.mean - base(c), self.longest - base(c));
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, self.alpha.min(w.segments(c)))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, cause: Cause) -> f64 {
        let share = 1.0 - self.beta;
        if cause == Cause::Timeout {
            *self = Illinois { longest: self.longest, ..Illinois::new(c) };
        }
        kept(c, share)
    }

    /// Growth and cut to a part in 10,000.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}
