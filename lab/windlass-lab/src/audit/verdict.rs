//! Verdicts of checks.

use serde::Serialize;
use windlass_cc::Time;

/// Result of a check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The stack keeps the bound.
    Pass,
    /// The stack breaks the bound by a choice that its documentation or the RFC describes.
    Deviates,
    /// The stack breaks the bound.
    Fails,
    /// The probe gave no answer.
    NotObservable,
}

impl Verdict {
    /// Every verdict, in the order of reports.
    pub const ALL: [Verdict; 4] =
        [Verdict::Fails, Verdict::Deviates, Verdict::Pass, Verdict::NotObservable];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Deviates => "deviates",
            Verdict::Fails => "fails",
            Verdict::NotObservable => "not observable",
        }
    }
}

/// The answer of a check to an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Verdict.
    pub verdict: Verdict,
    /// Measured value, with its unit.
    pub measured: String,
    /// First event that breaks the bound.
    pub event: Option<Event>,
    /// Bounds of the packets in flight, for a picture.
    pub bounds: Vec<Bound>,
    /// Period of the picture, if it is not that of the bounds and of the event.
    pub span: Option<[Time; 2]>,
}

/// A bound of the packets in flight over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Times and full packets.
    pub points: Vec<(Time, f64)>,
}

/// An event of a probe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Time since the start of the probe, seconds.
    pub at_s: f64,
    /// Description.
    pub what: String,
}

impl Finding {
    /// The bound is kept.
    pub fn pass(measured: impl Into<String>) -> Finding {
        Finding::of(Verdict::Pass, measured.into(), None)
    }

    /// The probe gave no answer for this reason.
    pub fn none(why: impl Into<String>) -> Finding {
        Finding::of(Verdict::NotObservable, why.into(), None)
    }

    /// The bound is broken, first at this event.
    pub fn fails(measured: impl Into<String>, at: Time, what: impl Into<String>) -> Finding {
        let event = Event { at_s: seconds(at), what: what.into() };
        Finding::of(Verdict::Fails, measured.into(), Some(event))
    }

    /// With these bounds in the picture.
    pub fn bounded(self, bounds: impl IntoIterator<Item = Vec<(Time, f64)>>) -> Finding {
        let bounds = bounds.into_iter().map(|points| Bound { points }).collect();
        Finding { bounds, ..self }
    }

    /// With a constant bound in the picture, from a time to another.
    pub fn at_most(self, packets: f64, from: Time, to: Time) -> Finding {
        self.bounded([vec![(from, packets), (to, packets)]])
    }

    fn of(verdict: Verdict, measured: String, event: Option<Event>) -> Finding {
        Finding { verdict, measured, event, bounds: Vec::new(), span: None }
    }
}

/// A time in seconds.
pub fn seconds(time: Time) -> f64 {
    time.0 as f64 / 1e9
}
