//! The equations of NADA (RFC 8698), a congestion control for real-time media, and their default
//! constants (Figure 3). Times are milliseconds, and rates are bits per second.

/// Weight of the flow's priority, PRIO.
const PRIO: f64 = 1.0;
/// Reference congestion level, XREF.
const XREF: f64 = 10.0;
/// Scale of the gradual rate update, KAPPA.
const KAPPA: f64 = 0.5;
/// Weight of the change of the congestion signal, ETA.
const ETA: f64 = 2.0;
/// Upper bound of the RTT in the gradual rate update, TAU.
const TAU: f64 = 500.0;
/// Time between two reports, DELTA.
pub const DELTA: f64 = 100.0;
/// Time over which the receiver measures, LOGWIN.
pub const LOGWIN: f64 = 500.0;
/// Queuing delay that ends the accelerated ramp-up, QEPS.
pub const QEPS: f64 = 10.0;
/// Bound of the filters' delay, DFILT.
const DFILT: f64 = 120.0;
/// Upper bound of the growth in accelerated ramp-up, GAMMA_MAX.
const GAMMA_MAX: f64 = 0.5;
/// Upper bound of the queuing delay that the accelerated ramp-up causes, QBOUND.
const QBOUND: f64 = 50.0;
/// Average loss intervals after which a loss is forgotten, MULTILOSS.
pub const MULTILOSS: f64 = 7.0;
/// Queuing delay from which it is warped, QTH.
const QTH: f64 = 50.0;
/// Exponent of the warping, LAMBDA.
const LAMBDA: f64 = 0.5;
/// Reference loss ratio, PLRREF.
const PLRREF: f64 = 0.01;
/// Reference marking ratio, PMRREF.
const PMRREF: f64 = 0.01;
/// Penalty at the reference loss ratio, DLOSS.
const DLOSS: f64 = 10.0;
/// Penalty at the reference marking ratio, DMARK.
const DMARK: f64 = 2.0;
/// Weight of the newest loss and marking ratio, ALPHA.
pub const ALPHA: f64 = 0.1;
/// Default of the minimum rate, RMIN.
pub const RMIN: u64 = 150_000;
/// Default of the maximum rate, RMAX.
pub const RMAX: u64 = 1_500_000;

/// The queuing delay with the non-linear warping that a receiver applies after losses, equation (1).
/// A full queue then counts less, so that the flow can compete with flows that fill it.
pub fn warped(queuing: f64) -> f64 {
    if queuing < QTH { queuing } else { QTH * libm::exp(-LAMBDA * (queuing - QTH) / QTH) }
}

/// The aggregated congestion signal of a delay, a marking ratio and a loss ratio, equation (2).
pub fn signal(delay: f64, marked: f64, lost: f64) -> f64 {
    let [marks, losses] = [marked / PMRREF, lost / PLRREF];
    delay + DMARK * marks * marks + DLOSS * losses * losses
}

/// Contents of a report as a sender uses them (section 5.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback {
    /// True for the gradual rate update, false for the accelerated ramp-up: `rmode`.
    pub gradual: bool,
    /// Aggregated congestion signal, `x_curr`.
    pub signal: f64,
    /// Rate at which media arrived, `r_recv`.
    pub received: f64,
}

/// The rate of a sender (section 4.3).
#[derive(Clone, Debug)]
pub struct Rate {
    bounds: [f64; 2],
    reference: f64,
    /// Signal of the report before, `x_prev`.
    signal: f64,
}

impl Rate {
    /// A sender between these rates, RMIN and RMAX. It begins with the lower rate.
    pub fn new(bounds: [u64; 2]) -> Rate {
        let bounds = bounds.map(|rate| rate as f64);
        Rate { bounds, reference: bounds[0], signal: 0.0 }
    }

    /// The reference rate, `r_ref`.
    pub fn reference(&self) -> f64 {
        self.reference
    }

    /// Follows a report, `delta` after the report before.
    pub fn update(&mut self, report: Feedback, rtt: f64, delta: f64) {
        let rate = if report.gradual {
            self.gradual(report.signal, delta)
        } else {
            self.accelerated(report.received, rtt)
        };
        self.reference = rate.clamp(self.bounds[0], self.bounds[1]);
        self.signal = report.signal;
    }

    /// Equations (3) and (4).
    fn accelerated(&self, received: f64, rtt: f64) -> f64 {
        let gamma = GAMMA_MAX.min(QBOUND / (rtt + DELTA + DFILT));
        self.reference.max((1.0 + gamma) * received)
    }

    /// Equations (5) to (7).
    fn gradual(&self, signal: f64, delta: f64) -> f64 {
        let offset = signal - PRIO * XREF * self.bounds[1] / self.reference;
        let change = signal - self.signal;
        let relative = KAPPA * (delta / TAU) * (offset / TAU) + KAPPA * ETA * (change / TAU);
        self.reference * (1.0 - relative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(ours: f64, expected: f64) {
        assert!((ours / expected - 1.0).abs() < 1e-9, "{ours} is not {expected}");
    }

    fn gradual(signal: f64) -> Feedback {
        Feedback { gradual: true, signal, received: 0.0 }
    }

    #[test]
    fn short_queues_count_fully_and_long_queues_ever_less() {
        near(warped(49.9), 49.9);
        near(warped(50.0), 50.0);
        // One and two thresholds above the threshold: exp(-1/2) and exp(-1).
        near(warped(100.0), 30.326_532_985_631_67);
        near(warped(150.0), 18.393_972_058_572_117);
    }

    #[test]
    fn penalties_grow_with_the_square_of_the_ratio() {
        near(signal(7.0, 0.0, 0.0), 7.0);
        near(signal(7.0, 0.01, 0.0), 9.0);
        near(signal(7.0, 0.02, 0.0), 15.0);
        near(signal(7.0, 0.0, 0.01), 17.0);
        near(signal(7.0, 0.0, 0.03), 97.0);
    }

    #[test]
    fn ramp_up_multiplies_the_received_rate_within_its_bound() {
        let follow = |received, rtt| {
            let mut rate = Rate::new([RMIN, RMAX]);
            rate.update(Feedback { gradual: false, signal: 0.0, received }, rtt, DELTA);
            rate.reference()
        };
        // 50 / (30 + 100 + 120) is a growth by a fifth.
        near(follow(1e6, 30.0), 1.2e6);
        near(follow(1e6, 280.0), 1.1e6);
        near(follow(1.4e6, 30.0), 1.5e6);
        // A receiver that measured less does not reduce the rate.
        near(follow(1e5, 30.0), 150e3);
    }

    #[test]
    fn an_update_adds_the_offset_and_the_change_of_the_signal() {
        let mut rate = Rate::new([100_000, 1_000_000]);
        rate.reference = 500e3;
        rate.signal = 10.0;
        // The target is 10 · 2 = 20 ms. Offset -5 and change 5, in units of 500 ms.
        rate.update(gradual(15.0), 0.0, 100.0);
        near(rate.reference(), 500e3 * (1.0 + 0.5 * 0.2 * 0.01 - 0.01));
    }

    /// The queue of a bottleneck of rate C grows by (R - C) / C. In equilibrium R is C, and the delay is
    /// PRIO · XREF · RMAX / R.
    #[test]
    fn one_flow_settles_at_the_rate_of_its_bottleneck_and_the_delay_of_the_law() {
        for capacity in [300e3, 600e3, 1_200e3] {
            let mut rate = Rate::new([RMIN, RMAX]);
            let mut queue: f64 = 0.0;
            for _ in 0..6_000 {
                queue = (queue + DELTA * (rate.reference() / capacity - 1.0)).max(0.0);
                rate.update(gradual(queue), 40.0, DELTA);
            }
            let expected = PRIO * XREF * RMAX as f64 / capacity;
            assert!((rate.reference() / capacity - 1.0).abs() < 1e-3, "{capacity}: {rate:?}");
            assert!((queue / expected - 1.0).abs() < 1e-2, "{capacity}: {queue} ms");
        }
    }

    #[test]
    fn heavy_loss_leaves_the_minimum_rate() {
        let mut rate = Rate::new([RMIN, RMAX]);
        rate.reference = 1.5e6;
        for _ in 0..100 {
            rate.update(gradual(signal(0.0, 0.0, 0.1)), 40.0, DELTA);
        }
        near(rate.reference(), RMIN as f64);
    }
}
