//! The main loop of MFVL (Mudassir and Baig 2021, Algorithm 1), which selects the algorithm of each
//! path.

use super::detection::{Detector, Matching};
use crate::arithmetic::math::{divisor, mul};
use crate::group::{COUPLED, MAX_PATHS, PathEvent};
use crate::params::{ParamKind, Ratio};
use crate::time::{Span, Time};

/// Mode of a path that runs MVegas.
pub const MVEGAS: u8 = 0;
/// Mode of a path that runs MFast.
pub const MFAST: u8 = 1;
// The mode of a path that runs LIA is `COUPLED` plus the smallest index of the paths that it is coupled
// with.

crate::choice! {
    /// Events that are matched (MF-17).
    pub enum Events {
        /// Every retransmitted segment: Algorithm 1 as printed.
        Literal = "literal",
        /// Each start of fast recovery: the cited work.
        Entries = "entries",
    }
}

crate::choice! {
    /// Comparison of the load of paths: by retransmitted segments, or by their share (MF-19).
    pub enum Compare {
        /// Retransmitted segments: Algorithm 1 as printed.
        Counts = "literal",
        /// Their share of the segments sent for the first time.
        Ratios = "ratios",
    }
}

crate::choice! {
    /// Precedence of the decision to couple (MF-15).
    pub enum Selection {
        /// The comparison always follows. Paths stay coupled only if it finds no difference, and only
        /// until it finds one. Algorithm 1 as printed.
        Literal = "literal",
        /// Only paths that are not coupled are compared. Paths that are no longer coupled run MVegas
        /// until a comparison decides otherwise. Section 3.4 of the paper.
        Exclusive = "exclusive",
    }
}

crate::choice! {
    /// Reset of the number of matches in each cycle (MF-12).
    pub enum Reset {
        /// No reset: Algorithm 1 as printed.
        Literal = "literal",
        /// A reset in each cycle, together with the events.
        EachCycle = "each-cycle",
    }
}

crate::choice! {
    /// Algorithm of the first cycle (MF-18).
    pub enum First {
        /// MVegas on every path: Algorithm 1 as printed.
        MVegas = "mvegas",
        /// MVegas on the first path, MFast on the others: set-up 2 of the paper.
        Setup2 = "setup-2",
        /// MFast on the first path, MVegas on the others: set-up 3 of the paper.
        Setup3 = "setup-3",
    }
}

/// Segments that a path sent in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sent {
    first_time: u64,
    again: u64,
}

crate::parameters! {
    /// Parameters of the loop. The defaults are the paper as printed.
    pub struct CycleParams {
        /// Time from one decision to the next (T).
        cycle: Span = Span::from_secs(50),
            ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(1_000_000) },
            "Mudassir and Baig 2021, Table 3";
        /// Time between events on two paths below which the events match.
        interval: Span = Span::from_millis(200),
            ParamKind::Time { min: Span(1), max: Span::from_secs(100) },
            "Mudassir and Baig 2021, Table 3";
        /// Number of matches divided by the smaller number of events above which two paths share a
        /// bottleneck (delta, bn_thresh).
        delta: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1_000, 1) },
            "Mudassir and Baig 2021, Table 3 and equation 14";
        /// Matching of an event with many other events, or with at most one (MF-13).
        matching: Matching = Matching::Pairs,
            Matching::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 22 to 28; Zhang et al. 2004";
        /// Matched events: every retransmitted segment, or each start of fast recovery (MF-17).
        events: Events = Events::Literal,
            Events::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 9 to 18; section 3.3";
        /// Reset of the number of matches in each cycle (MF-12).
        reset: Reset = Reset::Literal,
            Reset::KIND,
            "Mudassir and Baig 2021, Algorithm 1 line 7";
        /// Comparison of the load of paths: by retransmitted segments, or by their share (MF-19).
        compare: Compare = Compare::Counts,
            Compare::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 33 to 40";
        /// Precedence of the comparison over the decision to couple (MF-15).
        selection: Selection = Selection::Literal,
            Selection::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 30 to 40; section 3.4";
        /// Algorithm of the first cycle (MF-18).
        first: First = First::MVegas,
            First::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 4 and 5; section 4";
    }
}

impl CycleParams {
    /// The values that correct errors in the printed paper, by its own text or by the work that it
    /// cites: MF-12, MF-13, MF-15, MF-17 and MF-19.
    pub fn repaired() -> CycleParams {
        CycleParams {
            matching: Matching::OneToOne,
            events: Events::Entries,
            reset: Reset::EachCycle,
            compare: Compare::Ratios,
            selection: Selection::Exclusive,
            ..CycleParams::default()
        }
    }
}

/// State of the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    params: CycleParams,
    ends: Time,
    detector: Detector,
    sent: [Sent; MAX_PATHS],
    modes: [u8; MAX_PATHS],
    /// True if a mode has changed since the host's last call.
    changed: bool,
}

impl Cycle {
    /// The first cycle of a connection that begins at `now`.
    pub fn new(p: &CycleParams, now: Time) -> Cycle {
        let (first, others) = match p.first {
            First::MVegas => (MVEGAS, MVEGAS),
            First::Setup2 => (MVEGAS, MFAST),
            First::Setup3 => (MFAST, MVEGAS),
        };
        let mut modes = [others; MAX_PATHS];
        modes[0] = first;
        Cycle {
            params: *p,
            ends: now + p.cycle,
            detector: Detector::new(p.matching, p.interval),
            sent: [Sent::default(); MAX_PATHS],
            modes,
            changed: false,
        }
    }

    /// Takes an event of the path with this index.
    pub fn on_event(&mut self, now: Time, place: usize, what: PathEvent) {
        self.turn(now);
        let Some(sent) = self.sent.get_mut(place) else { return };
        match what {
            PathEvent::Sent(segments) => {
                sent.first_time = sent.first_time.saturating_add(segments.into());
            }
            PathEvent::Retransmitted(segments) => {
                sent.again = sent.again.saturating_add(segments.into());
                if self.params.events == Events::Literal {
                    self.detector.record(now, place, segments);
                }
            }
            PathEvent::FastRetransmit if self.params.events == Events::Entries => {
                self.detector.record(now, place, 1);
            }
            PathEvent::FastRetransmit | PathEvent::Timeout => {}
        }
    }

    /// Decides if a cycle has ended. Returns true if a mode has changed since the last call.
    pub fn advance(&mut self, now: Time) -> bool {
        self.turn(now);
        core::mem::replace(&mut self.changed, false)
    }

    /// End of the present cycle.
    pub fn deadline(&self) -> Time {
        self.ends
    }

    /// Mode of the path with this index.
    pub fn mode(&self, place: usize) -> u8 {
        self.modes.get(place).copied().unwrap_or(MVEGAS)
    }

    fn turn(&mut self, now: Time) {
        if now < self.ends {
            return;
        }
        let more = now.since(self.ends).0 / divisor(self.params.cycle.0);
        self.decide();
        if more > 0 {
            // The cycles between had no events; one further decision without events gives the result of
            // all.
            self.decide();
        }
        self.ends += Span(mul(self.params.cycle.0, more + 1));
    }

    fn decide(&mut self) {
        let before = self.modes;
        let partners = self.partners();
        for (place, mode) in self.modes.iter_mut().enumerate() {
            match partners.get(place).copied().flatten() {
                Some(least) => *mode = COUPLED + least,
                None if self.params.selection == Selection::Exclusive && *mode >= COUPLED => {
                    *mode = MVEGAS;
                }
                None => {}
            }
        }
        self.rank(&partners);
        self.changed |= self.modes != before;
        self.sent = [Sent::default(); MAX_PATHS];
        self.detector.begin(self.params.reset == Reset::Literal);
    }

    /// For each path, the smallest index of the paths with which it shares a bottleneck, directly or
    /// through other paths.
    fn partners(&self) -> [Option<u8>; MAX_PATHS] {
        let mut least = [0u8; MAX_PATHS];
        for (place, least) in (0..).zip(&mut least) {
            *least = place;
        }
        let mut coupled = [false; MAX_PATHS];
        for b in 1..MAX_PATHS {
            for a in 0..b {
                if !self.detector.shared(a, b, self.params.delta) {
                    continue;
                }
                let of = |place: usize| least.get(place).copied().unwrap_or(0);
                let (kept, gone) = (of(a).min(of(b)), of(a).max(of(b)));
                for each in least.iter_mut().filter(|each| **each == gone) {
                    *each = kept;
                }
                for place in [a, b] {
                    if let Some(coupled) = coupled.get_mut(place) {
                        *coupled = true;
                    }
                }
            }
        }
        let mut partners = [None; MAX_PATHS];
        for ((partner, coupled), least) in partners.iter_mut().zip(coupled).zip(least) {
            *partner = coupled.then_some(least);
        }
        partners
    }

    /// Selects MFast on the path with the minimum load, and MVegas on paths with a larger load. Paths
    /// with equal load keep their mode (MF-16), and so do paths without traffic.
    fn rank(&mut self, partners: &[Option<u8>; MAX_PATHS]) {
        let literal = self.params.selection == Selection::Literal;
        let (sent, compare) = (self.sent, self.params.compare);
        let ranked = |place: &usize| {
            let used = sent.get(*place).is_some_and(|sent| *sent != Sent::default());
            used && (literal || partners.get(*place).copied().flatten().is_none())
        };
        // True if a's load is at least b's load.
        let no_less = |a: usize, b: usize| match (sent.get(a), sent.get(b)) {
            (Some(a), Some(b)) => match compare {
                Compare::Counts => a.again >= b.again,
                Compare::Ratios => {
                    mul(a.again, b.first_time.max(1)) >= mul(b.again, a.first_time.max(1))
                }
            },
            _ => true,
        };
        let places = || (0..MAX_PATHS).filter(ranked);
        let is_least = |place: usize| places().all(|other| no_less(other, place));
        if places().all(is_least) {
            return;
        }
        for place in places() {
            if let Some(mode) = self.modes.get_mut(place) {
                *mode = if is_least(place) { MFAST } else { MVEGAS };
            }
        }
    }
}
