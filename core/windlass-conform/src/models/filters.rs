//! Extremes over recent time, and rounds counted by delivery, according to their definitions. The
//! whole window is kept, so nothing is approximated.

use std::collections::VecDeque;

use windlass_cc::RateSample;

/// The best sample that is no older than a window.
pub struct Best {
    samples: VecDeque<(f64, f64)>,
    better: fn(f64, f64) -> f64,
}

impl Best {
    /// The largest sample.
    pub fn largest() -> Best {
        Best { samples: VecDeque::new(), better: f64::max }
    }

    /// The smallest sample.
    pub fn smallest() -> Best {
        Best { samples: VecDeque::new(), better: f64::min }
    }

    /// Takes a sample with its time, and removes samples older than `window`.
    pub fn take(&mut self, window: f64, at: f64, value: f64) {
        self.samples.push_back((at, value));
        self.samples.retain(|(then, _)| at - then <= window);
    }

    /// The best value at the time of the last sample; `None` before the first sample.
    pub fn get(&self) -> Option<f64> {
        self.samples.iter().map(|(_, value)| *value).reduce(self.better)
    }
}

/// Packet-timed rounds. A round ends with the acknowledgement of data that was sent after the round
/// began, when at least the data delivered at its beginning had been delivered
/// (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.1.3, draft-ietf-ccwg-bbr-06 section
/// 5.5.1).
pub struct DeliveryRounds {
    end: u64,
    /// Rounds so far.
    pub count: u32,
    /// True if the last acknowledgement began a round.
    pub begins: bool,
}

impl DeliveryRounds {
    /// The first round; `delivered` is the number of bytes delivered at its beginning.
    pub fn new(delivered: u64) -> DeliveryRounds {
        DeliveryRounds { end: delivered, count: 0, begins: false }
    }

    /// Takes the sample of an acknowledgement; `delivered` is the number of bytes delivered after
    /// it.
    pub fn take(&mut self, sample: &RateSample, delivered: u64) {
        self.begins = sample.prior_delivered >= self.end;
        if self.begins {
            self.begin(delivered);
            self.count += 1;
        }
    }

    /// Begins a round that is not counted.
    pub fn begin(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// The delivery rate of a sample, bytes per second; zero if it is unknown.
pub fn delivery_rate(sample: &RateSample) -> f64 {
    match sample.is_valid() {
        true => sample.delivered as f64 / (sample.interval.0 as f64 * 1e-9),
        false => 0.0,
    }
}
