//! Time series of hosts outside the simulation, under the simulation's rules.

use windlass_cc::Time;
use windlass_sim::config::Config;
use windlass_sim::results::{Sample, Series};

/// Records the requested series: every change, but two samples of a series are at least the interval apart.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    wanted: Vec<Series>,
    interval: u64,
    last: Vec<Option<(Time, u64)>>,
    samples: Vec<Sample>,
}

impl Recorder {
    pub fn new(config: &Config) -> Recorder {
        let wanted = config.record.series.clone();
        Recorder {
            last: vec![None; wanted.len() * (config.flows.len() + config.subflows())],
            wanted,
            interval: config.record.interval.0,
            samples: Vec::new(),
        }
    }

    /// True if at least one of these series is requested.
    pub fn wants_any(&self, series: &[Series]) -> bool {
        self.wanted.iter().any(|s| series.contains(s))
    }

    /// Records an observed value.
    pub fn note(&mut self, time: Time, flow: u32, series: Series, value: u64) {
        let Some(place) = self.wanted.iter().position(|s| *s == series) else { return };
        let last = &mut self.last[flow as usize * self.wanted.len() + place];
        let due = match *last {
            None => true,
            Some((at, before)) => before != value && time.since(at).0 >= self.interval,
        };
        if due {
            *last = Some((time, value));
            self.samples.push(Sample { time, flow, series, value });
        }
    }

    /// Returns the recorded samples in order of time.
    pub fn into_samples(self) -> Vec<Sample> {
        self.samples
    }
}
