//! H-TCP (draft-leith-tcp-htcp-06), Hybla (Caini and Firrincieli 2004), Illinois (Liu, Basar,
//! Srikant 2008).

use windlass_cc::{Ack, Conn, Phase, htcp, hybla, illinois};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base};
use super::{share, time};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

/// H-TCP.
pub struct Htcp {
    low_speed: f64,
    adaptive: bool,
    /// Minimum and maximum of beta.
    keep: (f64, f64),
    change: f64,
    scaling: bool,
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
            low_speed: 1.0,
            adaptive: true,
            keep: (0.5, 0.8),
            change: 0.2,
            scaling: false,
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

    /// A new connection with these parameters.
    pub fn of(p: &htcp::Params, c: &Conn) -> Option<Htcp> {
        let least = share(p.keep_min);
        (p.variant == htcp::Variant::Draft).then(|| Htcp {
            low_speed: time(p.low_speed),
            adaptive: p.adaptive_backoff,
            keep: (least, share(p.keep_max).max(least)),
            change: share(p.throughput_change),
            scaling: p.rtt_scaling,
            beta: least,
            prior: (seconds(c), least),
            ..Htcp::new(c)
        })
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
        let beyond = delta - self.low_speed;
        let alpha = if beyond <= 0.0 { 1.0 } else { 1.0 + 10.0 * beyond + (beyond / 2.0).powi(2) };
        let scale = if self.scaling { (base(c) / 0.1).clamp(0.1, 2.0) } else { 1.0 };
        let alpha = (alpha * scale).max(1.0);
        let alpha = (2.0 * (1.0 - self.beta) * alpha).max(1.0);
        per_round(c, credit, w, alpha.min(w.segments(c)))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.prior = (self.since, self.beta);
        let steady = match (self.rate, self.rate_at_cut) {
            (Some(new), Some(old)) => (new - old).abs() <= self.change * old,
            _ => false,
        };
        self.beta = if self.adaptive && steady && self.longest > 0.0 {
            (base(c) / self.longest).clamp(self.keep.0, self.keep.1)
        } else {
            self.keep.0
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

/// Hybla.
pub struct Hybla {
    /// RTT0.
    reference: f64,
    /// Maximum rho in slow start.
    most: f64,
}

impl Default for Hybla {
    fn default() -> Hybla {
        Hybla { reference: 0.025, most: 16.0 }
    }
}

impl Hybla {
    /// Hybla with these parameters.
    pub fn of(p: &hybla::Params) -> Option<Hybla> {
        let (reference, most) = (time(p.reference_rtt), share(p.slow_start_rho));
        (!p.initial_rho && !p.smoothed_rtt).then_some(Hybla { reference, most })
    }

    fn rho(&self, c: &Conn) -> f64 {
        if c.min_rtt.is_known() { (base(c) / self.reference).max(1.0) } else { 1.0 }
    }
}

impl Law for Hybla {
    fn slow_start_gain(&self, c: &Conn) -> f64 {
        self.rho(c).min(self.most).exp2() - 1.0
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, self.rho(c).powi(2))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    /// rho to 1/65536, its power to a part in 10,000.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Illinois.
pub struct Illinois {
    /// alpha_min and alpha_max.
    alphas: (f64, f64),
    /// beta_min and beta_max.
    betas: (f64, f64),
    window_threshold: f64,
    theta: u32,
    /// eta_1 to eta_3.
    etas: [f64; 3],
    rounds: Rounds,
    longest: f64,
    alpha: f64,
    beta: f64,
    above: bool,
    below_for: u32,
}

impl Illinois {
    /// A new connection, with the constants of Linux.
    pub fn new(c: &Conn) -> Illinois {
        Illinois {
            alphas: (0.3, 10.0),
            betas: (0.125, 0.5),
            window_threshold: 15.0,
            theta: 5,
            etas: [0.01, 0.1, 0.8],
            rounds: Rounds::new(c),
            longest: 0.0,
            alpha: 1.0,
            beta: 0.5,
            above: false,
            below_for: 0,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &illinois::Params, c: &Conn) -> Option<Illinois> {
        (p.variant == illinois::Variant::Paper).then(|| Illinois {
            alphas: (share(p.alpha_min), share(p.alpha_max)),
            betas: (share(p.beta_min), share(p.beta_max)),
            window_threshold: p.window_threshold as f64,
            theta: p.theta as u32,
            etas: [p.eta1, p.eta2, p.eta3].map(share),
            ..Illinois::new(c)
        })
    }

    fn adapt(&mut self, delay: f64, longest: f64) {
        let [d1, d2, d3] = self.etas.map(|eta| eta * longest);
        let ((alpha_min, alpha_max), (beta_min, beta_max)) = (self.alphas, self.betas);
        if delay <= d1 {
            self.below_for += 1;
            if !self.above || self.below_for >= self.theta {
                (self.alpha, self.above, self.below_for) = (alpha_max, false, 0);
            }
        } else {
            (self.above, self.below_for) = (true, 0);
            // kappa1/(kappa2 + d) through (d1, alpha_max) and (longest, alpha_min)
            let kappa1 = (longest - d1) * alpha_min * alpha_max / (alpha_max - alpha_min);
            let kappa2 = (longest - d1) * alpha_min / (alpha_max - alpha_min) - d1;
            self.alpha = kappa1 / (kappa2 + delay);
        }
        self.beta = if delay <= d2 {
            beta_min
        } else if delay >= d3 {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (delay - d2) / (d3 - d2)
        };
    }
}

impl Law for Illinois {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            self.longest = self.longest.max(a.rtt.0 as f64 * 1e-9);
        }
        let Some(ended) = self.rounds.take(c, a) else { return };
        if w.segments(c) < self.window_threshold {
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
            (self.rounds, self.alpha, self.beta) = (Rounds::new(c), 1.0, 0.5);
            (self.above, self.below_for) = (false, 0);
        }
        kept(c, share)
    }

    /// Growth and cut to a part in 10,000.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}
