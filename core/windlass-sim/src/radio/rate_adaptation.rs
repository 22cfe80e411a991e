//! Rate adaptation by Minstrel. For each receiver and rate, a station counts the acknowledged frames. It
//! samples other rates now and then, and uses the rate with the highest throughput.
//!
//! From Linux's Minstrel (`rc80211_minstrel`, and `minstrel_ht` with aggregation), Windlass takes these
//! rules:
//!
//! * Probabilities of success are averaged exponentially from one interval to the next.
//! * The throughput of a rate is its probability over the time of a frame of 1200 bytes. Probabilities above
//!   90 % count as 90 %, and below 10 % as 0.
//! * A frame is tried in four stages: at the rate with the best throughput, at the second best, at the rate
//!   with the highest probability, and at the lowest rate.
//! * Among rates with a probability above 95 %, the fastest one counts as the most probable.
//! * Some frames sample another rate, in random order: a faster rate at the first attempt, a slower rate only
//!   at the second stage.
//!
//! Differences from Linux:
//!
//! * Each stage has two attempts, or one attempt for a sample or if a frame takes longer than 3 ms. The whole
//!   chain thus fits into the standard's seven attempts, after which a packet is given up with and without
//!   adaptation.
//! * Rates with a probability above 95 % are not sampled. Rates that are slower than the second best are
//!   sampled only every twentieth time.
//! * With aggregation, there is one group of rates. A sample is sent without aggregation, after 16 frames
//!   plus twice the mean length of an aggregate.
//! * An RTS without a CTS is not counted.

use windlass_cc::{Span, Time};

use crate::random::Stream;

/// Settings of Minstrel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minstrel {
    /// Time between two updates of the probabilities.
    pub interval: Span,
    /// Weight of the previous average in an update.
    pub memory: f64,
    /// Share of frames that sample another rate. Not used with aggregation, where a sample follows 16 frames
    /// plus twice the mean length of an aggregate.
    pub lookaround: f64,
}

impl Default for Minstrel {
    /// Linux's settings.
    fn default() -> Minstrel {
        Minstrel { interval: Span::from_millis(100), memory: 0.75, lookaround: 0.1 }
    }
}

/// Range of the interval.
pub const INTERVALS: [Span; 2] = [Span::from_millis(1), Span::from_secs(60)];

/// Payload for the computation of throughputs, as in Linux, bytes.
pub(super) const PAYLOAD: u32 = 1200;
/// Maximum number of attempts of a stage, and maximum time for all of them.
const STAGE: (u32, Span) = (2, Span::from_millis(6));
/// A slower rate is sampled once in this number of occasions.
const SKIPS: u32 = 20;
/// Frames between samples with aggregation, in addition to twice the mean length of an aggregate.
const SAMPLE_WAIT: f64 = 16.0;

/// Time of a frame of [`PAYLOAD`] at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Time of space, mean back-off, preamble and answer, nanoseconds.
    pub(super) overhead: f64,
    /// Time of the bits, nanoseconds.
    pub(super) bits: f64,
}

/// Statistics of a rate to a receiver.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    attempts: u32,
    successes: u32,
    /// Average probability of success; `None` before the first attempt.
    probability: Option<f64>,
    skipped: u32,
}

/// State of the adaptation for one receiver.
#[derive(Clone, Debug)]
struct Peer {
    station: u32,
    tallies: Vec<Tally>,
    updated: Time,
    /// Rates with the best and second best throughput, and with the highest probability.
    best: [usize; 3],
    /// Rates of the stages of the present packet.
    chain: [usize; 4],
    /// True if the first stage is a sample.
    samples: bool,
    /// Frames since the last sample.
    frames: u32,
    /// Order in which rates are sampled, and the next position in it.
    order: Vec<usize>,
    next: usize,
    /// Mean number of frames per aggregate.
    length: f64,
}

/// The rate of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// Index of the rate among the radio's rates.
    pub(super) place: u8,
    /// True if the attempt is a sample, which is not aggregated.
    pub(super) sample: bool,
}

/// A station's rate adaptation.
#[derive(Clone, Debug)]
pub(super) struct Adapter {
    settings: Minstrel,
    aggregates: bool,
    places: Vec<u8>,
    costs: Vec<Cost>,
    peers: Vec<Peer>,
    stream: Stream,
}

impl Adapter {
    /// Returns an adapter without statistics. `rates` has the rates in ascending order, each with its index
    /// and cost.
    pub(super) fn new(
        settings: Minstrel,
        aggregates: bool,
        rates: impl Iterator<Item = (u8, Cost)>,
        stream: Stream,
    ) -> Adapter {
        let (places, costs) = rates.unzip();
        Adapter { settings, aggregates, places, costs, peers: Vec::new(), stream }
    }

    fn peer(&mut self, station: u32, now: Time) -> usize {
        let known = self.peers.iter().position(|peer| peer.station == station);
        known.unwrap_or_else(|| {
            let n = self.places.len();
            self.peers.push(Peer {
                station,
                tallies: vec![Tally::default(); n],
                updated: now,
                best: [0; 3],
                chain: [0; 4],
                samples: false,
                frames: 0,
                order: (0..n).collect(),
                next: n,
                length: 1.0,
            });
            self.peers.len() - 1
        })
    }

    /// Chooses the rate of the next attempt to this station, after `failed` failed attempts.
    pub(super) fn choose(&mut self, to: u32, failed: u32, now: Time) -> Choice {
        let i = self.peer(to, now);
        if now.since(self.peers[i].updated) >= self.settings.interval {
            self.update(i, now);
        }
        if failed == 0 {
            let mut sample = false;
            let [best, second, likeliest] = self.peers[i].best;
            self.peers[i].chain = [best, second, likeliest, 0];
            if let Some(rate) = self.sample(i) {
                sample = self.time(i, rate) < self.time(i, best);
                self.peers[i].chain =
                    if sample { [rate, best, likeliest, 0] } else { [best, rate, likeliest, 0] };
            }
            self.peers[i].samples = sample;
        }
        let sample = failed == 0 && self.peers[i].samples;
        Choice { place: self.places[self.stage(i, failed)], sample }
    }

    /// Rate of the attempt after `failed` failed attempts.
    fn stage(&self, i: usize, failed: u32) -> usize {
        let Peer { chain, samples, .. } = &self.peers[i];
        let mut left = failed;
        for (stage, rate) in chain.iter().enumerate() {
            let cost = self.costs[*rate];
            let fits = (STAGE.1.0 as f64 / (cost.overhead + cost.bits)) as u32;
            let most = if stage == 0 && *samples { 1 } else { STAGE.0 };
            let attempts = fits.clamp(1, most);
            if left < attempts {
                return *rate;
            }
            left -= attempts;
        }
        chain[3]
    }

    /// Time of a frame, with its share of an aggregate's overhead.
    fn time(&self, i: usize, rate: usize) -> f64 {
        let Cost { overhead, bits } = self.costs[rate];
        overhead / self.peers[i].length + bits
    }

    /// Rate to sample with this packet, if a sample is due.
    fn sample(&mut self, i: usize) -> Option<usize> {
        let wait = match self.aggregates {
            true => SAMPLE_WAIT + 2.0 * self.peers[i].length,
            false => 1.0 / self.settings.lookaround,
        };
        let peer = &mut self.peers[i];
        if f64::from(peer.frames) < wait {
            return None;
        }
        for _ in 0..self.places.len() {
            let rate = self.next_in_order(i);
            let slower = self.time(i, rate) > self.time(i, self.peers[i].best[1]);
            let peer = &mut self.peers[i];
            let tally = &mut peer.tallies[rate];
            if rate == peer.best[0] || tally.probability.is_some_and(|p| p > 0.95) {
                continue;
            }
            tally.skipped += 1;
            if slower && tally.skipped < SKIPS {
                continue;
            }
            (tally.skipped, peer.frames) = (0, 0);
            return Some(rate);
        }
        self.peers[i].frames = 0;
        None
    }

    /// Returns each rate once, and then again in a new random order.
    fn next_in_order(&mut self, i: usize) -> usize {
        let peer = &mut self.peers[i];
        if peer.next == peer.order.len() {
            peer.next = 0;
            for last in (1..peer.order.len()).rev() {
                let other = (self.stream.next_u64() % (last as u64 + 1)) as usize;
                peer.order.swap(last, other);
            }
        }
        peer.next += 1;
        peer.order[peer.next - 1]
    }

    /// Records an attempt at this rate: `frames` frames were sent, and `acknowledged` of them have been
    /// acknowledged.
    pub(super) fn report(&mut self, to: u32, place: u8, frames: u32, acknowledged: u32) {
        let Some(rate) = self.places.iter().position(|p| *p == place) else { return };
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.station == to) else { return };
        let tally = &mut peer.tallies[rate];
        tally.attempts += frames;
        tally.successes += acknowledged;
        peer.frames = peer.frames.saturating_add(frames);
        if frames > 1 || !peer.samples {
            peer.length += (f64::from(frames) - peer.length) / 4.0;
        }
    }

    /// Ends an interval: updates the averages and the best rates.
    fn update(&mut self, i: usize, now: Time) {
        let memory = self.settings.memory;
        let peer = &mut self.peers[i];
        peer.updated = now;
        for tally in peer.tallies.iter_mut().filter(|t| t.attempts > 0) {
            let newest = f64::from(tally.successes) / f64::from(tally.attempts);
            let before = tally.probability.unwrap_or(newest);
            tally.probability = Some(memory * before + (1.0 - memory) * newest);
            (tally.attempts, tally.successes) = (0, 0);
        }
        let probability = |rate: usize| self.peers[i].tallies[rate].probability.unwrap_or(0.0);
        let throughput = |rate: usize| match probability(rate) {
            ..0.1 => 0.0,
            p => p.min(0.9) / self.time(i, rate),
        };
        let rates = 0..self.places.len();
        // For equal values, the first rate is the lowest one. It is used if no frame arrives.
        let most = |worth: &dyn Fn(usize) -> f64, but: Option<usize>| {
            let others = rates.clone().filter(|rate| Some(*rate) != but);
            others.reduce(|a, b| if worth(b) > worth(a) { b } else { a }).unwrap_or(0)
        };
        let best = most(&throughput, None);
        let second = most(&throughput, Some(best));
        let likely = |rate: usize| {
            if probability(rate) > 0.95 { 1.0 + throughput(rate) } else { probability(rate) }
        };
        self.peers[i].best = [best, second, most(&likely, None)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::config::RadioConfig;
    use crate::radio::phy::Phy;
    use crate::radio::rates::Rates;
    use crate::random::Purpose;

    fn adapter(phy: Phy) -> Adapter {
        let mut radio = RadioConfig::new("air", phy);
        radio.rate_adaptation = Some(Minstrel::default());
        Rates::adapter(&radio, Stream::new(1, 0, Purpose::RateSampling)).expect("adapts")
    }

    /// Sends packets over a channel on which each rate has a probability of an acknowledgement. Returns the
    /// attempts per rate, counted from packet `after`.
    fn run(
        adapter: &mut Adapter,
        packets: u32,
        after: u32,
        chance: impl Fn(usize) -> f64,
    ) -> Vec<u32> {
        let mut draws = Stream::new(2, 0, Purpose::RadioErrors);
        let mut attempts = vec![0; adapter.places.len()];
        for packet in 0..packets {
            let now = Time::from_millis(u64::from(packet));
            for failed in 0..7 {
                let Choice { place, .. } = adapter.choose(3, failed, now);
                let rate = adapter.places.iter().position(|p| *p == place).unwrap();
                attempts[rate] += u32::from(packet >= after);
                let taken = draws.unit() <= chance(rate);
                adapter.report(3, place, 1, u32::from(taken));
                if taken {
                    break;
                }
            }
        }
        attempts
    }

    #[test]
    fn a_clean_channel_uses_the_highest_rate_except_for_samples() {
        let mut g = adapter(Phy::G);
        let attempts = run(&mut g, 5000, 2000, |_| 1.0);
        let all: u32 = attempts.iter().sum();
        assert!(attempts[7] * 100 >= 95 * all, "{attempts:?}");
    }

    /// 54 Mbit/s with 40 % has a lower throughput than 36 Mbit/s with 95 %, and 24 Mbit/s with 100 % is lower
    /// still.
    #[test]
    fn the_rate_with_the_highest_throughput_wins() {
        let chance = |rate| [1.0, 1.0, 1.0, 1.0, 1.0, 0.95, 0.5, 0.4][rate];
        let attempts = run(&mut adapter(Phy::G), 5000, 2000, chance);
        let all: u32 = attempts.iter().sum();
        assert!(attempts[5] * 100 >= 75 * all, "{attempts:?}");
    }

    #[test]
    fn a_tenth_of_the_packets_samples_while_faster_rates_exist() {
        // Only the lowest rate works. All other rates are faster and continue to be sampled.
        let attempts =
            run(&mut adapter(Phy::G), 5000, 2000, |rate| if rate == 0 { 1.0 } else { 0.0 });
        let sampled: u32 = attempts[1..].iter().sum();
        // A sample is a separate attempt. The best rate is used after it.
        assert!((310..=350).contains(&sampled), "{attempts:?}");
    }

    #[test]
    fn rates_follow_a_worse_channel_within_some_intervals() {
        let mut g = adapter(Phy::G);
        run(&mut g, 3000, 0, |_| 1.0);
        assert_eq!(g.peers[0].best[0], 7);
        let attempts = run(&mut g, 5000, 4000, |rate| if rate < 3 { 1.0 } else { 0.0 });
        let all: u32 = attempts.iter().sum();
        assert!(attempts[2] * 100 >= 75 * all, "{attempts:?}");
    }

    #[test]
    fn the_chain_goes_from_the_best_rate_to_the_lowest() {
        let mut g = adapter(Phy::G);
        run(&mut g, 3000, 0, |rate| [1.0, 1.0, 1.0, 1.0, 0.97, 0.9, 0.6, 0.1][rate]);
        let i = g.peer(3, Time::from_secs(3));
        g.peers[i].frames = 0; // no sample
        let rates: Vec<u64> = (0..7)
            .map(|failed| {
                let place = g.choose(3, failed, Time::from_secs(3)).place;
                Phy::G.rates[usize::from(place) - 3].bps / 1_000_000
            })
            .collect();
        assert_eq!(rates[0], rates[1]);
        assert_eq!(rates[0], 36, "{rates:?}");
        assert_eq!(rates[6], 6, "{rates:?}");
        assert!(rates[4] <= 24, "the likeliest: {rates:?}");
    }
}
