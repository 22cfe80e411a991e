//! The algorithms that keep a number of segments queued, compared at each acknowledgement with models
//! in `f64`. The models are written from the papers' equations and share no code with the
//! implementation.

use crate::common::follow::{
    BYTES, Model, Rounds, Seen, distance, from_segments, least, mean, spread,
};

struct Veno {
    w: f64,
    rounds: Rounds,
    n: Option<f64>,
    fresh: bool,
}

impl Model for Veno {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        if let Some(samples) = self.rounds.ack(s) {
            self.fresh = samples.len() >= 3;
            if self.fresh {
                let rtt = least(&samples);
                self.n = Some(self.w * (rtt - s.base) / rtt);
            }
        }
        let slow = self.fresh && self.n.is_some_and(|n| n >= 3.0);
        self.w += if slow { 0.5 } else { 1.0 } / self.w;
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        let keep = if self.n.is_some_and(|n| n < 3.0) { 0.8 } else { 0.5 };
        self.w = (keep * s.flight).max(2.0);
        self.rounds.restart(s);
        self.fresh = false;
        self.w
    }
}

#[test]
fn veno_follows_its_equations() {
    for seed in 1..20 {
        let mut model = Veno { w: 12.0, rounds: Rounds::default(), n: None, fresh: false };
        let p = from_segments("veno", 12);
        let (worst, windows) = distance(&p, &mut model, 4_000, 700, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}");
        assert!(spread(&windows) > 5.0);
    }
}

struct Vegas {
    w: f64,
    alpha: f64,
    beta: f64,
    keep: f64,
    least: bool,
    rounds: Rounds,
    open: f64,
}

impl Model for Vegas {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        if let Some(samples) = self.rounds.ack(s) {
            if self.least && samples.len() < 3 {
                self.open = 1.0;
            } else {
                let rtt = if self.least { least(&samples) } else { mean(&samples) };
                let (expected, actual) = (self.w / s.base, self.w / rtt);
                let diff = (expected - actual) * s.base;
                self.open = if diff < self.alpha { 1.0 } else { 0.0 };
                if diff > self.beta {
                    self.w = (self.w - 1.0).max(2.0);
                }
            }
        }
        self.w += self.open / self.w;
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        self.w = (self.keep * s.flight).max(2.0);
        self.rounds.restart(s);
        self.open = 1.0;
        self.w
    }
}

#[test]
fn vegas_follows_its_equations_with_either_set_of_constants() {
    for (seed, linux) in (1..20).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut p = from_segments("vegas", 12);
        let mut model = Vegas {
            w: 12.0,
            alpha: 1.0,
            beta: 3.0,
            keep: 0.75,
            least: false,
            rounds: Rounds::default(),
            open: 1.0,
        };
        if linux {
            assert!(p.set(0, 2) && p.set(1, 4) && p.set(2, 1) && p.set(3, 1));
            model = Vegas { alpha: 2.0, beta: 4.0, keep: 0.5, least: true, ..model };
        }
        let (worst, windows) = distance(&p, &mut model, 4_000, 900, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}, Linux {linux}");
        assert!(spread(&windows) > 4.0);
    }
}

struct Yeah {
    w: f64,
    rounds: Rounds,
    q: f64,
    slow: u32,
    fast: u32,
    reno: f64,
    alpha: f64,
}

impl Model for Yeah {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        if let Some(samples) = self.rounds.ack(s).filter(|samples| samples.len() >= 3) {
            let rtt = least(&samples);
            self.q = self.w * (rtt - s.base) / rtt;
            if self.q > self.alpha || (rtt - s.base) / s.base > 1.0 / 8.0 {
                if self.q > self.alpha {
                    let less = self.q.min(self.w / 2.0);
                    self.w = self.w.min((self.w - less).max(self.reno));
                }
                self.reno = if self.reno <= 2.0 {
                    (self.w / 2.0).floor().max(2.0)
                } else {
                    self.reno + 1.0
                };
                self.slow += 1;
            } else {
                self.slow = 0;
                self.fast += 1;
                if self.fast > 50 {
                    (self.fast, self.reno) = (0, 2.0);
                }
            }
        }
        self.w += if self.slow == 0 { 1.0 / self.w.min(100.0) } else { 1.0 / self.w };
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        let cut = if self.slow < 16 {
            self.q.min(s.flight / 2.0).max(s.flight / 8.0)
        } else {
            s.flight / 2.0
        };
        self.fast = 0;
        self.reno = (self.reno / 2.0).floor().max(2.0);
        self.w = (s.flight - cut).max(2.0);
        self.rounds.restart(s);
        self.w
    }
}

#[test]
fn yeah_follows_its_equations() {
    for (seed, alpha) in (1..12).flat_map(|seed| [(seed, 80.0), (seed, 10.0)]) {
        let mut p = from_segments("yeah", 150);
        assert!(p.set(0, alpha as u64));
        let mut model = Yeah {
            w: 150.0,
            rounds: Rounds::default(),
            q: 0.0,
            slow: 0,
            fast: 0,
            reno: 2.0,
            alpha,
        };
        let (worst, windows) = distance(&p, &mut model, 12_000, 5_000, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}, alpha {alpha}");
        assert!(spread(&windows) > 10.0);
    }
}

struct Compound {
    cwnd: f64,
    dwnd: f64,
    rounds: Rounds,
    gamma: f64,
    diff_reno: Option<f64>,
    decreases: u32,
}

impl Model for Compound {
    fn window(&self) -> f64 {
        self.cwnd + self.dwnd
    }

    fn ack(&mut self, s: &Seen) {
        if let Some(samples) = self.rounds.ack(s) {
            let rtt = mean(&samples);
            let win = self.window();
            self.diff_reno = Some(self.cwnd * (1.0 - s.base / rtt));
            let diff = (win / s.base - win / rtt) * s.base;
            if diff >= self.gamma {
                self.dwnd = (self.dwnd - diff).max(0.0);
                self.decreases += 1;
            } else if win >= 41.0 {
                self.dwnd += (win.powf(0.75) / 8.0 - 1.0).max(0.0);
            }
        }
        self.cwnd += 1.0 / self.window();
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        if let Some(diff_reno) = self.diff_reno.take() {
            self.gamma = (0.2 * self.gamma + 0.8 * 0.75 * diff_reno).clamp(5.0, 30.0);
        }
        let kept = (s.flight * 0.5).max(2.0);
        self.dwnd = (kept - self.cwnd / 2.0).max(0.0);
        self.cwnd = kept - self.dwnd;
        self.rounds.restart(s);
        kept
    }
}

#[test]
fn compound_follows_its_equations() {
    for seed in 1..20 {
        let mut model = Compound {
            cwnd: 60.0,
            dwnd: 0.0,
            rounds: Rounds::default(),
            gamma: 30.0,
            diff_reno: None,
            decreases: 0,
        };
        let p = from_segments("compound", 60);
        let (worst, windows) = distance(&p, &mut model, 12_000, 4_000, seed);
        // The power is up to 2^-14 too small, at most 8 segments here, once per round.
        assert!(worst < 60.0, "{worst} B, seed {seed}");
        assert!(spread(&windows) > 30.0);
        assert!(model.decreases > 0, "the delay window never had to shrink");
    }
}

struct Fast {
    w: f64,
    target: f64,
    avg: Option<f64>,
    end: u64,
    rounds: u32,
}

impl Model for Fast {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        let weight = (3.0 / self.w).min(0.25);
        let avg = self.avg.map_or(s.rtt, |avg| (1.0 - weight) * avg + weight * s.rtt);
        self.avg = Some(avg);
        if s.una > self.end {
            self.end = s.next;
            self.rounds += 1;
            if self.rounds == 2 {
                self.rounds = 0;
                let law = 0.5 * self.w + 0.5 * (s.base.min(avg) / avg * self.w + 20.0);
                self.target = law.min(2.0 * self.w);
                self.w = self.w.min(self.target.max(2.0));
            }
        }
        self.w += (self.target - self.w).clamp(0.0, 1.0);
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        self.w = (0.5 * s.flight).max(2.0);
        (self.target, self.end, self.rounds) = (self.w, s.next, 0);
        self.w
    }
}

#[test]
fn fast_follows_its_equation() {
    for seed in 1..20 {
        let mut p = from_segments("fast", 30);
        assert!(p.set(0, 20));
        let mut model = Fast { w: 30.0, target: 0.0, avg: None, end: 0, rounds: 0 };
        let (worst, windows) = distance(&p, &mut model, 6_000, 2_500, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}");
        assert!(spread(&windows) > 10.0);
    }
}
