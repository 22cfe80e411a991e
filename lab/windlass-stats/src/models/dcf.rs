//! Bianchi's model of a saturated IEEE 802.11 cell.
//!
//! G. Bianchi, *Performance Analysis of the IEEE 802.11 Distributed Coordination Function*, IEEE JSAC 18(3),
//! 2000: `n` stations within range of each other always have a frame. A frame collides with the same
//! probability at each attempt, and there are no other losses. The retry limit follows Wu and others (INFOCOM
//! 2002). The field [`Access::refined`] selects the correction of Tinnirello, Bianchi and Xiao for the slot
//! after a busy period (*Refinements on IEEE 802.11 DCF Modeling Approaches*, IEEE TVT 59(3), 2010). The other
//! stations resume their back-offs without change, and the station that has just succeeded may draw zero and
//! transmit first.

/// Contention of the stations, and the durations of its events. Times may have any one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Minimum contention window (aCWmin): the first back-off is 0 … `cw_min` slots.
    pub cw_min: u32,
    /// Maximum contention window (aCWmax).
    pub cw_max: u32,
    /// Attempts of a frame before it is dropped; `None` for no limit, as in the paper.
    pub attempts: Option<u32>,
    /// An idle slot.
    pub slot: f64,
    /// T_s: time that a success occupies the channel, including the DIFS after it.
    pub success: f64,
    /// T_c: time that a collision occupies the channel.
    pub collision: f64,
    /// True if the correction of 2010 is applied.
    pub refined: bool,
}

/// Results of the model for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// τ: probability that a station transmits in a slot.
    pub tau: f64,
    /// p: probability that a transmission collides.
    pub collision_probability: f64,
    /// Successes per unit of time, of all stations together.
    pub successes: f64,
}

/// Attempts after which the remaining probability is negligible.
const MANY: u32 = 10_000;

impl Access {
    /// Mean back-off, in slots, of the attempt after `failures` failures.
    fn mean_backoff(&self, failures: u32) -> f64 {
        let window = (f64::from(self.cw_min) + 1.0) * libm::exp2(f64::from(failures.min(30)));
        let window = window.min(f64::from(self.cw_max) + 1.0);
        // With the correction, a first attempt with a back-off waits 0 … cw_min − 1 slots.
        let missing = if self.refined && failures == 0 { 2.0 } else { 1.0 };
        (window - missing) / 2.0
    }

    /// Returns τ if transmissions collide with probability `p`: attempts per slot of a frame.
    fn tau(&self, p: f64) -> f64 {
        let (mut attempts, mut slots, mut reached) = (0.0, 0.0, 1.0);
        for failures in 0..self.attempts.unwrap_or(MANY) {
            attempts += reached;
            slots += reached * (1.0 + self.mean_backoff(failures));
            reached *= p;
            if reached < 1e-18 {
                break;
            }
        }
        attempts / slots
    }

    /// Solves τ(p) and `p = 1 − (1 − τ)^(n − 1)` for their fixed point, and returns it with its throughput.
    pub fn saturation(&self, n: u32) -> Saturation {
        let others = f64::from(n) - 1.0;
        let collides = |tau: f64| 1.0 - libm::pow(1.0 - tau, others);
        // τ decreases with p and p increases with τ, so there is one root.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let p = (low + high) / 2.0;
            if collides(self.tau(p)) > p { low = p } else { high = p }
        }
        let p = (low + high) / 2.0;
        let tau = self.tau(p);
        let idle = libm::pow(1.0 - tau, f64::from(n));
        let success = f64::from(n) * tau * libm::pow(1.0 - tau, others);
        let collision = (1.0 - idle - success).max(0.0);
        let [per_success, t_success, t_collision] = self.durations();
        let time = idle * self.slot + success * t_success + collision * t_collision;
        let successes = success * per_success / time;
        Saturation { tau, collision_probability: p, successes }
    }

    /// Returns the frames per success, and the times of successes and collisions.
    fn durations(&self) -> [f64; 3] {
        if !self.refined {
            return [1.0, self.success, self.collision];
        }
        // A station that succeeds draws zero with this probability and transmits again at once.
        let again = 1.0 / (f64::from(self.cw_min) + 1.0);
        let train = 1.0 / (1.0 - again);
        [train, self.success * train + self.slot, self.collision + self.slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's table II: FHSS at 1 Mbit/s, payload 8184 bits; times in microseconds.
    fn fhss(cw_max: u32) -> Access {
        let (header, payload, delta) = (272.0 + 128.0, 8184.0, 1.0);
        let ack = 112.0 + 128.0;
        Access {
            cw_min: 31,
            cw_max,
            attempts: None,
            slot: 50.0,
            success: header + payload + 28.0 + delta + ack + 128.0 + delta,
            collision: header + payload + 128.0 + delta,
            refined: false,
        }
    }

    #[test]
    fn the_fixed_point_solves_bianchis_chain() {
        for (n, tau, p) in [
            (5, 0.04785, 0.17808),
            (10, 0.03731, 0.28977),
            (20, 0.02642, 0.39878),
            (50, 0.01539, 0.53236),
        ] {
            let s = fhss(1023).saturation(n);
            assert!((s.tau - tau).abs() < 1e-5, "{n}: {s:?}");
            assert!((s.collision_probability - p).abs() < 1e-5, "{n}: {s:?}");
        }
    }

    #[test]
    fn throughputs_agree_with_the_paper() {
        for (n, three, five) in
            [(5, 0.8097, 0.8102), (10, 0.7532, 0.7579), (20, 0.6788, 0.6975), (50, 0.5529, 0.6109)]
        {
            for (cw_max, share) in [(255, three), (1023, five)] {
                let got = 8184.0 * fhss(cw_max).saturation(n).successes;
                assert!((got - share).abs() < 1e-4, "n {n}, window {cw_max}: {got}");
            }
        }
    }

    #[test]
    fn one_station_alone_waits_half_its_window_between_frames() {
        let access = fhss(1023);
        let alone = access.saturation(1).successes;
        let cycle = access.success + 15.5 * access.slot;
        assert!((alone * cycle - 1.0).abs() < 1e-9, "{alone}");
        let refined = Access { refined: true, ..access }.saturation(1).successes;
        assert!((refined * cycle - 1.0).abs() < 1e-9, "{refined}");
    }
}
