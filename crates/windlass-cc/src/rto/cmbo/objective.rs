//! What a timeout costs, by the round trips and losses seen lately (C3-14), and where it costs least.

use super::MAX_SAMPLES;
use crate::params::RATIO_BITS;

/// Round-trip times and timeouts are counted in units of 2^`TICK_BITS` ns here, so that 32 bits
/// reach to 18 minutes.
pub const TICK_BITS: u32 = 8;

/// Mean cost of a timeout `x`: `P(RTT > x) · spurious + loss · E[(x - RTT)+]`, the distribution of
/// the round-trip time being that of the samples.
///
/// The first part is what expiring too early costs, the second the time lost by expiring late: the
/// acknowledgement that is missing after a loss would have come earlier by `x - RTT`. All is
/// multiplied by the number of samples and by 65536, so that it is a whole number below 2^56.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Objective<'a> {
    samples: &'a [u32],
    spurious: u64,
    loss: u64,
}

impl<'a> Objective<'a> {
    /// Of these samples (at most [`MAX_SAMPLES`], in ticks), the cost of a spurious timeout in
    /// ticks, and the share of lost segments in 65536ths.
    pub fn new(samples: &'a [u32], spurious: u64, loss: u64) -> Objective<'a> {
        let spurious = spurious.min(u64::from(u32::MAX)) << RATIO_BITS;
        let samples = samples.get(..MAX_SAMPLES).unwrap_or(samples);
        Objective { samples, spurious, loss: loss.min(1 << RATIO_BITS) }
    }

    /// Cost of a timeout of so many ticks, of which there are less than 2^32.
    pub fn at(&self, x: u32) -> u64 {
        let (mut late, mut wait) = (0, 0);
        for sample in self.samples {
            late += u64::from(*sample > x);
            wait += u64::from(x.saturating_sub(*sample));
        }
        late * self.spurious + wait * self.loss
    }

    /// The least sample and the largest; zeros without any.
    pub fn range(&self) -> (u32, u32) {
        let Some(first) = self.samples.first() else { return (0, 0) };
        let mut range = (*first, *first);
        for sample in self.samples {
            range = (range.0.min(*sample), range.1.max(*sample));
        }
        range
    }

    /// The cheapest timeout that is not below `lower`, the shortest of equals.
    ///
    /// The cost falls only where `x` reaches a sample and rises everywhere else, so that the least
    /// is at a sample or at `lower`: sorted samples and one pass over them find it.
    pub fn cheapest(&self, lower: u32) -> u32 {
        let mut sorted = [u32::MAX; MAX_SAMPLES];
        for (n, sample) in self.samples.iter().enumerate() {
            insert(&mut sorted, n, *sample);
        }
        let (mut x, mut cost) = (lower, self.at(lower));
        let (mut below, mut sum) = (0, 0);
        let all = self.samples.len() as u64;
        for sample in sorted.iter().take(self.samples.len()) {
            below += 1;
            sum += u64::from(*sample);
            if *sample <= lower {
                continue;
            }
            // Equal samples: the last of them counts all.
            let wait = below * u64::from(*sample) - sum;
            let here = (all - below) * self.spurious + wait * self.loss;
            if here < cost {
                (x, cost) = (*sample, here);
            }
        }
        x
    }
}

/// Inserts a sample into the `n` that are sorted already.
fn insert(sorted: &mut [u32; MAX_SAMPLES], n: usize, sample: u32) {
    let mut at = n;
    while at > 0 {
        let Some([left, right]) = sorted.get_mut(at - 1..=at) else { return };
        if *left <= sample {
            break;
        }
        *right = *left;
        at -= 1;
    }
    if let Some(place) = sorted.get_mut(at) {
        *place = sample;
    }
}
