//! The algorithms that measure a bandwidth or keep a delay, compared at each acknowledgement with
//! models in `f64`. The models are written from the equations of the paper and the RFC, and share no
//! code with the implementation.

use crate::common::follow::{BYTES, Model, Seen, distance, from_segments, least, spread};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Filter {
    Tustin,
    Cascade,
}

struct Westwood {
    w: f64,
    filter: Filter,
    floor: f64,
    since: f64,
    segments: f64,
    /// Last sample, or the output of the first average.
    stage: f64,
    bw: Option<f64>,
}

impl Model for Westwood {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        self.segments += 1.0;
        let elapsed = s.now - self.since;
        if elapsed >= s.rtt.max(self.floor) {
            let sample = self.segments / elapsed;
            (self.since, self.segments) = (s.now, 0.0);
            match (self.bw, self.filter) {
                (None, _) => (self.stage, self.bw) = (sample, Some(sample)),
                (Some(bw), Filter::Tustin) => {
                    self.bw = Some(0.9 * bw + 0.1 * (sample + self.stage) / 2.0);
                    self.stage = sample;
                }
                (Some(bw), Filter::Cascade) => {
                    self.stage = (7.0 * self.stage + sample) / 8.0;
                    self.bw = Some((7.0 * bw + self.stage) / 8.0);
                }
            }
        }
        self.w += 1.0 / self.w;
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        self.w = self.bw.map_or(s.flight / 2.0, |bw| (bw * s.base).min(self.w)).max(2.0);
        self.w
    }
}

#[test]
fn westwood_follows_its_equations_with_either_filter() {
    for (seed, filter) in (1..20).flat_map(|seed| [(seed, Filter::Tustin), (seed, Filter::Cascade)])
    {
        let mut p = from_segments("westwood", 40);
        let floor = if filter == Filter::Cascade { 0.05 } else { 0.0 };
        assert!(p.set(0, filter as u64) && p.set(1, (floor * 1e9) as u64));
        let (since, segments, stage, bw) = (0.0, 0.0, 0.0, None);
        let mut model = Westwood { w: 40.0, filter, floor, since, segments, stage, bw };
        let (worst, windows) = distance(&p, &mut model, 6_000, 1_500, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}, {filter:?}");
        assert!(spread(&windows) > 5.0);
    }
}

struct Ledbat {
    w: f64,
    plus_plus: bool,
    current: Vec<f64>,
    base: f64,
    /// Time of the first slowdown of LEDBAT++, which the tests do not reach.
    ends: f64,
}

impl Model for Ledbat {
    fn window(&self) -> f64 {
        self.w
    }

    fn ack(&mut self, s: &Seen) {
        assert!(!self.plus_plus || s.now < self.ends, "the model has no slowdowns");
        self.base = self.base.min(s.rtt);
        self.current.insert(0, s.rtt);
        self.current.truncate(4);
        let delay = least(&self.current) - self.base;
        let target = if self.plus_plus { 0.03 } else { 0.025 };
        let flight_before = s.flight + 1.0;
        if self.plus_plus {
            let gain = 1.0 / (2.0 * target / self.base).ceil().min(16.0);
            let change = if delay > target {
                (gain - self.w * (delay / target - 1.0)).max(-self.w / 2.0)
            } else {
                gain
            };
            self.w += change / self.w;
        } else {
            self.w += (target - delay) / target / self.w;
        }
        self.w = self.w.min(flight_before + 1.0).max(2.0);
    }

    fn loss(&mut self, s: &Seen) -> f64 {
        self.w = (0.5 * s.flight).max(2.0);
        self.w
    }
}

#[test]
fn ledbat_follows_rfc_6817() {
    for seed in 1..20 {
        let mut p = from_segments("ledbat", 20);
        assert!(p.set(1, 25_000_000));
        let (current, base, ends) = (vec![], f64::INFINITY, f64::INFINITY);
        let mut model = Ledbat { w: 20.0, plus_plus: false, current, base, ends };
        let (worst, windows) = distance(&p, &mut model, 3_000, 1_100, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}");
        assert!(spread(&windows) > 5.0);
    }
}

#[test]
fn ledbat_plus_plus_follows_its_draft_between_slowdowns() {
    let mut widest = 0.0f64;
    for seed in 1..20 {
        let mut p = from_segments("ledbat", 600);
        assert!(p.set(0, 1) && p.set(1, 30_000_000));
        let (current, base, ends) = (vec![], f64::INFINITY, 0.08);
        let mut model = Ledbat { w: 600.0, plus_plus: true, current, base, ends };
        // Less than two RTTs: the first slowdown would occur after that.
        let (worst, windows) = distance(&p, &mut model, 400, 10_000, seed);
        assert!(worst < BYTES, "{worst} B, seed {seed}");
        widest = widest.max(spread(&windows));
    }
    assert!(widest > 50.0, "no run went far above the target: {widest}");
}
