//! Streams of randomness keyed by (seed, entity, purpose).
//!
//! Every random choice draws from its own stream. A change of the algorithm then does not change
//! losses and start times, and algorithms are compared on common random numbers.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Purpose of a stream. The numbers are part of the reproducible behaviour. Never reuse a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Losses of a link direction.
    Loss = 1,
    /// Initial sequence numbers of a host.
    InitialSequence = 2,
    /// Draws of the queue discipline of a link direction.
    Queue = 3,
    /// Back-offs of a station of a radio.
    Backoff = 4,
    /// Frame losses by the error model of a radio at a station.
    RadioErrors = 5,
    /// Start time of a flow.
    Start = 6,
    /// Draws of a router of a radio: the jitter of its broadcasts.
    Routing = 7,
    /// Choice of the nodes that send.
    Senders = 13,
    /// Bits with which a router masks its reduction of a Quick-Start request.
    QuickStart = 14,
    /// Keys, nonces and initial sequence numbers of an end of a multipath connection.
    Multipath = 12,
    /// Draws of an application that another crate defines.
    Application = 15,
    /// Times between a source's datagrams.
    Datagrams = 16,
    /// Delay variation and reordering after a link direction.
    Line = 17,
    /// Due times and sizes of messages.
    Arrivals = 18,
    /// The random factors of a client's retransmission timers.
    Coap = 19,
    /// Choice of the rates that a station of a radio samples.
    RateSampling = 20,
    /// Lengths of a link direction's good and bad states.
    Bursts = 21,
    /// Waits of an application before it connects again.
    Reconnect = 22,
}

/// A stream of random numbers: xoshiro256++, seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `entity` for `purpose` in the run with this seed.
    pub fn new(seed: u64, entity: u64, purpose: Purpose) -> Stream {
        let mut key = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
        key = mix(key ^ entity);
        key = mix(key ^ (purpose as u64));
        Stream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// Uniform above 0 and up to 1, in steps of 2⁻⁵³.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// SplitMix64's finaliser, a bijection of 64 bits.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A probability as a threshold on 64 random bits. A draw takes one comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Probability zero.
    pub const NEVER: Chance = Chance(0);

    /// Creates a probability between 0 and 1. Values outside are clamped.
    pub fn new(p: f64) -> Chance {
        // 2^64 does not fit. Certainty is therefore the largest threshold, and `draw` tests for it.
        Chance((p.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64)
    }

    /// Draws true with this probability.
    #[inline]
    pub fn draw(self, stream: &mut Stream) -> bool {
        let bits = stream.next_u64();
        bits < self.0 || self.0 == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_entity_and_purpose_and_repeat() {
        let first = |s, e, p| Stream::new(s, e, p).next_u64();
        let base = first(1, 2, Purpose::Loss);
        assert_eq!(base, first(1, 2, Purpose::Loss));
        assert_ne!(base, first(2, 2, Purpose::Loss));
        assert_ne!(base, first(1, 3, Purpose::Loss));
        assert_ne!(base, first(1, 2, Purpose::InitialSequence));
        // Golden value: results must not change silently with a library.
        assert_eq!(base, GOLDEN);
    }

    const GOLDEN: u64 = 11_260_227_639_901_182_209;

    #[test]
    fn certainty_and_impossibility_are_exact() {
        let mut s = Stream::new(1, 1, Purpose::Loss);
        for _ in 0..1000 {
            assert!(Chance::new(1.0).draw(&mut s));
            assert!(!Chance::new(0.0).draw(&mut s));
        }
    }
}
