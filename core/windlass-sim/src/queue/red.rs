//! RED. It drops or marks packets at arrival, with a probability that grows with the average queue
//! length.

use windlass_cc::{Span, Time};

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Level, Waiting, check_share};
use crate::link::QueueLimit;
use crate::random::{Chance, Stream};

/// Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
/// Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993).
///
/// The probability does not depend on the size of a packet, also with thresholds in bytes (RFC 7141
/// section 2.3). With ECN, a packet is marked where a random draw would drop it. If the average
/// exceeds the range of random drops, packets are dropped (RFC 3168 section 7).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Red<L = Level> {
    /// Average below which no packet is dropped.
    pub min_threshold: L,
    /// Average at which the probability reaches `max_probability`; in the unit of `min_threshold`,
    /// and at least `min_threshold`.
    pub max_threshold: L,
    /// Weight w of the newest queue length in the average; more than 0 and at most 1 (section 6).
    pub weight: f64,
    /// Probability at `max_threshold` (section 4); the initial value if `adaptive` is true.
    pub max_probability: f64,
    /// True to let the probability grow above `max_threshold` until it is 1 at twice
    /// `max_threshold`. Otherwise it is 1 from `max_threshold` on (Floyd, "Recommendation on using
    /// the gentle_ variant of RED", 2000).
    pub gentle: bool,
    /// True to mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// True to adapt `max_probability` every 0.5 s, so that the average stays halfway between the
    /// thresholds (Floyd, Gummadi and Shenker, "Adaptive RED", 2001, section 3.2).
    pub adaptive: bool,
    /// Size of a typical packet, bytes, at least 1. An idle time counts as the number of such
    /// packets that the link could have sent, each with an empty queue (1993, figure 2).
    pub mean_packet: u32,
}

impl Red {
    /// Thresholds, weight of the average and maximum probability of Floyd, "RED: Discussions of
    /// Setting Parameters", 1997. ns-2 and ns-3 have this packet size.
    pub const DEFAULT: Red = Red {
        min_threshold: Level::Packets(5),
        max_threshold: Level::Packets(15),
        weight: 0.002,
        max_probability: 0.1,
        gentle: true,
        ecn: false,
        adaptive: false,
        mean_packet: 500,
    };
}

/// Rules of Adaptive RED for a link of `rate_bps` bits per second (2001, section 4).
impl Red {
    /// Weight with which the average follows the queue over a hundred packets and more: `1 −
    /// e^(−1/C)` for a link that sends C typical packets per second.
    pub fn adaptive_weight(rate_bps: u64, mean_packet: u32) -> f64 {
        -libm::expm1(-1.0 / packets_per_second(rate_bps, mean_packet))
    }

    /// Thresholds in packets. The lower threshold is half of the packets that the link sends in 5
    /// ms, at least 5. The upper threshold is three times the lower threshold.
    pub fn adaptive_thresholds(rate_bps: u64, mean_packet: u32) -> (u64, u64) {
        let within_target = packets_per_second(rate_bps, mean_packet) * 0.005;
        let min = (within_target / 2.0).max(5.0) as u64;
        (min, 3 * min)
    }
}

fn packets_per_second(rate_bps: u64, mean_packet: u32) -> f64 {
    rate_bps as f64 / (8.0 * f64::from(mean_packet.max(1)))
}

impl<L> Red<L> {
    /// Converts the thresholds to another type.
    pub(super) fn map<M>(self, told: impl Fn(L) -> M) -> Red<M> {
        Red {
            min_threshold: told(self.min_threshold),
            max_threshold: told(self.max_threshold),
            weight: self.weight,
            max_probability: self.max_probability,
            gentle: self.gentle,
            ecn: self.ecn,
            adaptive: self.adaptive,
            mean_packet: self.mean_packet,
        }
    }
}

impl Red {
    pub(super) fn check(&self) -> Result<(), String> {
        check_share("RED's maximum probability", self.max_probability)?;
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            let weight = self.weight;
            return Err(format!("RED's weight must be more than 0 and at most 1, not {weight}"));
        }
        if self.mean_packet == 0 {
            return Err("RED's mean packet must have at least 1 byte".to_string());
        }
        match (self.min_threshold, self.max_threshold) {
            (Level::Packets(min), Level::Packets(max)) | (Level::Bytes(min), Level::Bytes(max))
                if min <= max =>
            {
                Ok(())
            }
            (Level::Packets(_), Level::Packets(_)) | (Level::Bytes(_), Level::Bytes(_)) => {
                Err("RED's upper threshold must not be less than the lower one".to_string())
            }
            _ => Err("RED's thresholds must both be in packets or both in bytes".to_string()),
        }
    }
}

/// Constants of Adaptive RED (2001, section 3.2, figure 1).
mod adapt {
    use windlass_cc::Span;

    pub const INTERVAL: Span = Span::from_millis(500);
    pub const MIN: f64 = 0.01;
    pub const MAX: f64 = 0.5;
    /// Maximum step up. A step is also at most a quarter of the probability.
    pub const STEP: f64 = 0.01;
    /// Factor of a step down.
    pub const DECREASE: f64 = 0.9;
    /// Target range of the average, as shares of the distance between the thresholds.
    pub const TARGET: [f64; 2] = [0.4, 0.6];
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct RedQueue {
    p: Red,
    fifo: Fifo,
    draws: Stream,
    average: f64,
    max_probability: f64,
    /// Packets since the last early drop or mark; `None` while the average is below the lower
    /// threshold.
    count: Option<u64>,
    adapted: Time,
}

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    /// A random draw selected the packet.
    Early,
    /// The average is above the range of random drops.
    Forced,
}

impl RedQueue {
    pub fn new(p: Red, limit: QueueLimit, draws: Stream) -> RedQueue {
        let max_probability = p.max_probability;
        let (fifo, count, adapted) = (Fifo::new(limit), None, Time::ZERO);
        RedQueue { p, fifo, draws, average: 0.0, max_probability, count, adapted }
    }

    /// The exponentially weighted average of the queue lengths that packets find (section 6).
    fn update_average(&mut self, packet: &Waiting, idle: Option<Span>) {
        let w = self.p.weight;
        match idle {
            None => {
                let length = self.fifo.measured_like(self.p.min_threshold) as f64;
                self.average += w * (length - self.average);
            }
            Some(idle) => {
                // Counts the idle time as arrivals of typical packets at an empty queue, and then
                // this packet.
                let size = u128::from(packet.handle.size.max(1));
                let transmission = u128::from(packet.transmission.0.max(1));
                let typical = transmission * u128::from(self.p.mean_packet) / size;
                let missed = u128::from(idle.0) / typical.max(1);
                self.average *= power(1.0 - w, missed as u64 + 1); // far below 2^64
            }
        }
    }

    fn thresholds(&self) -> (f64, f64) {
        (self.p.min_threshold.amount() as f64, self.p.max_threshold.amount() as f64)
    }

    /// Probability for the average, before the count of packets (section 4: p_b).
    fn probability(&self) -> f64 {
        let (min, max) = self.thresholds();
        if self.average < min {
            0.0
        } else if self.average < max {
            self.max_probability * (self.average - min) / (max - min)
        } else if self.p.gentle && self.average < 2.0 * max {
            self.max_probability + (1.0 - self.max_probability) * (self.average - max) / max
        } else {
            1.0
        }
    }

    fn verdict(&mut self) -> Verdict {
        let (min, max) = self.thresholds();
        if self.average < min {
            self.count = None;
            return Verdict::Pass;
        }
        if self.average >= max && (!self.p.gentle || self.average >= 2.0 * max) {
            self.count = Some(0);
            return Verdict::Forced;
        }
        let count = self.count.map_or(0, |count| count + 1);
        let taken = Chance::new(spread(self.probability(), count)).draw(&mut self.draws);
        self.count = Some(if taken { 0 } else { count });
        if taken { Verdict::Early } else { Verdict::Pass }
    }

    /// Adaptive RED's additive increase and multiplicative decrease of the maximum probability, on
    /// the first packet after each interval.
    fn adapt(&mut self, now: Time) {
        if !self.p.adaptive || now.since(self.adapted) < adapt::INTERVAL {
            return;
        }
        self.adapted = now;
        let (min, max) = self.thresholds();
        let [low, high] = adapt::TARGET.map(|share| min + share * (max - min));
        if self.average > high && self.max_probability <= adapt::MAX {
            self.max_probability += adapt::STEP.min(self.max_probability / 4.0);
        } else if self.average < low && self.max_probability >= adapt::MIN {
            self.max_probability *= adapt::DECREASE;
        }
    }
}

impl QueueState for RedQueue {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.update_average(&packet, idle);
        self.adapt(now);
        let verdict = self.verdict();
        let mark = verdict == Verdict::Early && self.p.ecn && packet.is_capable();
        if verdict != Verdict::Pass && !mark {
            drops.push(Dropped { handle: packet.handle, early: true });
            return false;
        }
        self.fifo.push(packet, idle.is_none(), drops) && mark
    }

    fn dequeue(&mut self, _: Time, _: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.fifo.pop().map(|packet| (packet, false))
    }

    fn len(&self) -> u64 {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

/// The probability that spreads drops evenly. With `p_b / (1 − count · p_b)` the number of packets
/// between two drops is uniformly distributed (section 7, method 2, counted as in figure 2).
fn spread(probability: f64, count: u64) -> f64 {
    let left = 1.0 - count as f64 * probability;
    if left > probability { probability / left } else { 1.0 }
}

/// `base^exponent` by squaring, which uses only products.
fn power(base: f64, mut exponent: u64) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= square;
        }
        square *= square;
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::super::support::{capable, plain};
    use super::*;
    use crate::random::Purpose;

    const RED: Red = Red::DEFAULT;

    fn queue(p: Red) -> RedQueue {
        RedQueue::new(p, QueueLimit::Unlimited, Stream::new(1, 1, Purpose::Queue))
    }

    /// Returns a queue whose length and average are `length`, with the numbers of early and of
    /// forced drops among `packets` arrivals.
    fn held(p: Red, length: u32, packets: u32) -> (RedQueue, u32, u32) {
        let mut q = queue(p);
        let mut drops = Vec::new();
        for i in 0..length {
            q.fifo.push(plain(i, 1000), true, &mut drops);
        }
        q.average = f64::from(length);
        let (mut early, mut forced) = (0, 0);
        for _ in 0..packets {
            match q.verdict() {
                Verdict::Pass => {}
                Verdict::Early => early += 1,
                Verdict::Forced => forced += 1,
            }
        }
        (q, early, forced)
    }

    #[test]
    fn the_average_follows_the_equation() {
        let mut q = queue(Red { min_threshold: Level::Packets(1000), ..RED });
        q.p.max_threshold = Level::Packets(2000);
        let mut model = 0.0f64;
        for i in 0..5000u32 {
            let length = q.fifo.len() as f64;
            q.enqueue(Time::ZERO, plain(i, 1000), None, &mut Vec::new());
            model = (1.0 - 0.002) * model + 0.002 * length;
            if i % 3 == 0 {
                q.dequeue(Time::ZERO, &mut Vec::new());
            }
            assert!((q.average - model).abs() < 1e-9 * (1.0 + model), "{} {model}", q.average);
        }
    }

    #[test]
    fn idle_time_counts_as_typical_packets_at_an_empty_queue() {
        // 500 bytes take 0.5 ms. 100 ms are 200 such packets, and the arriving packet is one more.
        let mut q = queue(RED);
        q.average = 10.0;
        let idle = Some(Span::from_millis(100));
        q.enqueue(Time::ZERO, plain(0, 1000), idle, &mut Vec::new());
        assert!((q.average - 10.0 * 0.998f64.powi(201)).abs() < 1e-12, "{}", q.average);
    }

    #[test]
    fn the_share_of_drops_equals_the_spread_probability() {
        // Mean number of packets between two drops: the sum of the probabilities that n packets
        // pass.
        let gap = |p_b: f64| {
            let (mut mean, mut survives, mut count) = (0.0, 1.0, 1.0);
            while survives > 0.0 {
                mean += survives;
                let left = 1.0 - count * p_b;
                survives *= if left > 0.0 { 1.0 - (p_b / left).min(1.0) } else { 0.0 };
                count += 1.0;
            }
            mean
        };
        for (length, p_b) in [(6u32, 0.01), (10, 0.05), (14, 0.09), (18, 0.1 + 0.9 * 3.0 / 15.0)] {
            let n = 200_000;
            let (_, early, forced) = held(RED, length, n);
            let mean = gap(p_b);
            let share = f64::from(early) / f64::from(n);
            assert!((share * mean - 1.0).abs() < 0.03, "{length}: {share}, 1/{mean} expected");
            assert_eq!(forced, 0);
        }
    }

    #[test]
    fn no_gap_between_drops_is_longer_than_the_inverse_of_the_probability() {
        let (mut q, ..) = held(RED, 10, 1000); // 1/20
        let mut gap = 0;
        for _ in 0..100_000 {
            gap += 1;
            if q.verdict() == Verdict::Early {
                assert!(gap < 20, "{gap}");
                gap = 0;
            }
        }
    }

    #[test]
    fn no_packet_is_dropped_below_the_thresholds_and_all_packets_above() {
        assert_eq!((held(RED, 4, 1000).1, held(RED, 4, 1000).2), (0, 0));
        assert_eq!(held(RED, 30, 1000).2, 1000);
        assert_eq!(held(Red { gentle: false, ..RED }, 15, 1000).2, 1000);
        assert_eq!(held(RED, 15, 1000).2, 0);
    }

    #[test]
    fn ecn_capable_packets_are_marked_early_and_dropped_if_forced() {
        let ecn = Red { ecn: true, ..RED };
        let outcome = |length, packet: fn(u32, u32) -> Waiting| {
            let (mut q, ..) = held(ecn, length, 0);
            let (mut marks, mut drops) = (0, Vec::new());
            for i in 0..1000 {
                q.average = f64::from(length);
                marks += u32::from(q.enqueue(Time::ZERO, packet(i, 1000), None, &mut drops));
            }
            (marks > 50, drops.len() > 50)
        };
        assert_eq!(outcome(14, capable), (true, false));
        assert_eq!(outcome(14, plain), (false, true));
        assert_eq!(outcome(40, capable), (false, true));
    }

    #[test]
    fn adaptation_follows_its_rules_and_bounds() {
        let adaptive = Red { adaptive: true, ..RED };
        let adapted = |length, probability, seconds: u64| {
            let (mut q, ..) = held(adaptive, length, 0);
            q.max_probability = probability;
            for ms in (0..=1000 * seconds).step_by(10) {
                q.adapt(Time::from_millis(ms));
            }
            q.max_probability
        };
        // Two steps per second: each at most 0.01, and at most a quarter of the probability.
        assert!((adapted(14, 0.1, 5) - 0.2).abs() < 1e-12);
        assert!((adapted(14, 0.02, 1) - 0.02 * 1.25 * 1.25).abs() < 1e-12);
        assert!((adapted(6, 0.1, 5) - 0.1 * 0.9f64.powi(10)).abs() < 1e-12);
        // The target range is 9 to 11 packets.
        assert_eq!(adapted(10, 0.1, 5), 0.1);
        assert!((0.5..=0.51).contains(&adapted(14, 0.1, 100)));
        assert!((0.009..=0.01).contains(&adapted(6, 0.1, 100)));
    }

    #[test]
    fn adaptive_red_derives_weight_and_thresholds_from_the_link() {
        // 10 Mbit/s are 2500 packets of 500 bytes per second, and 6.25 packets in half of 5 ms.
        assert_eq!(Red::adaptive_thresholds(10_000_000, 500), (6, 18));
        assert_eq!(Red::adaptive_thresholds(1_000_000, 500), (5, 15));
        assert_eq!(Red::adaptive_thresholds(1_000_000_000, 500), (625, 1875));
        let expected = 1.0 - (-1.0f64 / 2500.0).exp();
        assert!((Red::adaptive_weight(10_000_000, 500) - expected).abs() < 1e-15);
    }

    #[test]
    fn powers_equal_the_math_library() {
        for exponent in [0, 1, 2, 3, 1000, 12_345_678] {
            let expected = libm::pow(0.998, exponent as f64);
            assert!((power(0.998, exponent) - expected).abs() <= 1e-9 * expected);
        }
        assert_eq!(power(0.5, u64::MAX), 0.0);
    }
}
