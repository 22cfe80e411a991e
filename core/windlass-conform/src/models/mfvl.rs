//! MVegas, MFast and MFVL (Mudassir and Baig 2021), as printed.

use windlass_cc::{Ack, Conn, Group, Phase, mfast, mvegas};

use super::coupled::Lia;
use super::delay::greatest;
use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};
use super::{share, time};

fn growing(c: &Conn) -> bool {
    matches!(c.phase, Phase::Open | Phase::Loss)
}

/// MVegas: equations 4 to 11.
pub struct MVegas {
    alpha: f64,
    beta: f64,
    k: f64,
    /// The offsets move only with a corresponding change of the backlog.
    repaired: bool,
    /// The decrement is 1/phi.
    inverse: bool,
    rounds: Rounds,
    diff: Option<f64>,
    alpha_t: f64,
    beta_t: f64,
    /// Segments of growth per round: one, zero, or Reno's growth before the first estimate.
    opening: Option<f64>,
}

impl MVegas {
    /// A new connection.
    pub fn new(c: &Conn) -> MVegas {
        MVegas {
            alpha: 1.0,
            beta: 3.0,
            k: 2.0,
            repaired: false,
            inverse: false,
            rounds: Rounds::new(c),
            diff: None,
            alpha_t: 1.0,
            beta_t: 2.0,
            opening: None,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &mvegas::Params, c: &Conn) -> MVegas {
        MVegas {
            alpha: p.alpha as f64,
            beta: p.beta as f64,
            k: share(p.k),
            repaired: p.offsets == mvegas::Offsets::Repaired,
            inverse: p.decrement == mvegas::Decrement::Inverse,
            alpha_t: share(p.alpha_offset),
            beta_t: share(p.beta_offset),
            ..MVegas::new(c)
        }
    }

    fn raise(&mut self, phi: f64) {
        if !self.repaired || phi > 1.0 {
            self.alpha_t = (self.alpha_t + phi).min(self.k * self.alpha);
            self.beta_t = (self.beta_t + phi).min(self.beta);
        }
    }

    fn lower(&mut self, phi: f64) {
        if !self.repaired || phi < 1.0 {
            let step = if self.inverse { 1.0 / phi } else { phi };
            self.beta_t = (self.beta_t - step).max(self.alpha + 1.0);
        }
    }
}

impl Law for MVegas {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples == 0 {
            self.opening = None;
            return;
        }
        if !growing(c) {
            return;
        }
        let diff = queued(w.segments(c), base(c), ended.mean);
        let before = self.diff.replace(diff).unwrap_or(diff);
        let slow_start = w.cwnd < w.ssthresh;
        let (low, high) = (self.alpha + self.alpha_t, self.beta + self.beta_t);
        self.opening = Some(if diff < low { 1.0 } else { 0.0 });
        // Less than a hundredth of a segment counts as zero; a division by it gives a value above any bound.
        let phi = match (before < 0.01, diff < 0.01) {
            (true, true) => 1.0,
            (false, true) => f64::INFINITY,
            _ => before / diff,
        };
        if slow_start {
            return;
        }
        if diff < low {
            self.raise(phi);
        } else if diff > high {
            self.lower(phi);
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

    fn loss_window(&self) -> f64 {
        2.0
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        (self.rounds, self.opening) = (Rounds::new(c), None);
    }
}

/// MFast.
pub struct MFast {
    sigma: f64,
    alpha: f64,
    gamma: f64,
    /// Rounds from one update to the next.
    interval: u32,
    /// Maximum weight of a sample.
    weight: f64,
    mi_threshold: f64,
    /// Multiplicative increase returns after slow start.
    always: bool,
    avg_rtt: Option<f64>,
    round_end: u64,
    rounds: u32,
    target: f64,
}

impl MFast {
    /// A new connection, with the average and the multiplicative increase of the ns-2 module.
    pub fn new(c: &Conn) -> MFast {
        MFast {
            sigma: 0.5,
            alpha: 100.0,
            gamma: 0.5,
            interval: 2,
            weight: 1.0 / 256.0,
            mi_threshold: 0.000_75,
            always: true,
            avg_rtt: None,
            round_end: c.next_id,
            rounds: 0,
            target: 0.0,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &mfast::Params, c: &Conn) -> Option<MFast> {
        (p.start_gamma.0 == 0).then(|| MFast {
            sigma: share(p.sigma),
            alpha: p.alpha as f64,
            gamma: share(p.gamma),
            interval: p.interval as u32,
            weight: greatest(p.weight),
            mi_threshold: time(p.mi_threshold),
            always: p.mi == mfast::Multiplicative::Always,
            ..MFast::new(c)
        })
    }

    fn delay(&self, c: &Conn) -> Option<f64> {
        self.avg_rtt.map(|avg| avg - base(c).min(avg))
    }
}

impl Law for MFast {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            let weight = (3.0 / w.segments(c)).min(self.weight);
            self.avg_rtt = Some(self.avg_rtt.map_or(rtt, |avg| avg + weight * (rtt - avg)));
        }
        let (Some(avg), Some(delay)) = (self.avg_rtt, self.delay(c)) else { return };
        if !growing(c) {
            return;
        }
        if w.cwnd < w.ssthresh {
            if delay >= self.mi_threshold {
                w.ssthresh = w.cwnd;
                self.target = w.cwnd;
            }
        } else if self.always && delay < self.mi_threshold {
            self.restart(c, w);
            return;
        }
        if c.una <= self.round_end {
            return;
        }
        self.round_end = c.next_id;
        self.rounds += 1;
        if self.rounds >= self.interval && w.cwnd >= w.ssthresh {
            self.rounds = 0;
            let mss = f64::from(c.mss);
            let goal = base(c).min(avg) / avg * w.cwnd + self.alpha * mss;
            self.target =
                ((1.0 - self.gamma) * w.cwnd + self.sigma * self.gamma * goal).min(2.0 * w.cwnd);
            w.shrink(c, self.target.max(2.0 * mss));
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if self.always && self.delay(c).is_some_and(|delay| delay < self.mi_threshold) {
            return credit;
        }
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

/// The algorithm that the connection selects for the path: 0 MVegas, 1 MFast, from 2 on LIA with the
/// paths of the same number. A newly selected algorithm begins as on a new connection, with the
/// present cwnd.
pub struct Mfvl {
    mode: u8,
    law: Box<dyn Law>,
}

impl Mfvl {
    /// A new connection.
    pub fn new(c: &Conn) -> Mfvl {
        Mfvl { mode: 0, law: Box::new(MVegas::new(c)) }
    }
}

impl Law for Mfvl {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        self.law.observe(c, a, w);
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        self.law.increase(c, a, credit, w)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        self.law.ssthresh(c, w, cause)
    }

    fn loss_window(&self) -> f64 {
        self.law.loss_window()
    }

    fn restart(&mut self, c: &Conn, w: &Windows) {
        self.law.restart(c, w);
    }

    fn undo(&mut self, c: &Conn, w: &Windows) {
        self.law.undo(c, w);
    }

    fn idle(&mut self, c: &Conn, gap: f64) {
        self.law.idle(c, gap);
    }

    fn resize(&mut self, c: &Conn, factor: f64) {
        self.law.resize(c, factor);
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        let mode = g.mode();
        if mode != self.mode && !(mode >= 2 && self.mode >= 2) {
            self.law = match mode {
                0 => Box::new(MVegas::new(c)),
                1 => Box::new(MFast::new(c)),
                _ => Box::new(Lia::default()),
            };
        }
        self.mode = mode;
        if mode >= 2 {
            let together = |(place, path): (usize, &_)| {
                let path: &windlass_cc::PathView = path;
                (place == g.place() || path.disclosed == u64::from(mode)).then_some((place, *path))
            };
            let members: Vec<_> = g.paths().iter().enumerate().filter_map(together).collect();
            let own = members.iter().position(|(place, _)| *place == g.place());
            let paths = members.into_iter().map(|(_, path)| path);
            self.law.regroup(c, &Group::new(paths).seen_from(own.unwrap_or(0), mode), w);
        }
    }

    fn disclosed(&self) -> f64 {
        f64::from(self.mode)
    }

    fn tolerance(&self, w: &Windows) -> f64 {
        self.law.tolerance(w) + 1.0
    }
}
