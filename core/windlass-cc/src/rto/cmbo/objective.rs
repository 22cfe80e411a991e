//! Cost of a timeout, from recent RTT samples and losses (C3-14), and the timeout with the minimum
//! cost.

use super::MAX_SAMPLES;
use crate::params::RATIO_BITS;

/// RTT samples and timeouts are in units of 2^`TICK_BITS` ns here, so that 32 bits cover 18 minutes.
pub const TICK_BITS: u32 = 8;

/// Mean cost of a timeout `x`: `P(RTT > x) · spurious + loss · E[(x - RTT)+]`, with the samples as the
/// distribution of the RTT.
///
/// The first part is the cost of a spurious timeout. The second part is the time lost by a late
/// timeout: without the loss, the acknowledgement would have arrived `x - RTT` earlier. All values are
/// multiplied by the number of samples and by 65536, so that the cost is a whole number below 2^56.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Objective<'a> {
    samples: &'a [u32],
    spurious: u64,
    loss: u64,
}

impl<'a> Objective<'a> {
    /// Creates the objective from these samples (at most [`MAX_SAMPLES`], in ticks), the cost of a
    /// spurious timeout in ticks, and the share of lost segments in 65536ths.
    pub fn new(samples: &'a [u32], spurious: u64, loss: u64) -> Objective<'a> {
        let spurious = spurious.min(u64::from(u32::MAX)) << RATIO_BITS;
        let samples = samples.get(..MAX_SAMPLES).unwrap_or(samples);
        Objective { samples, spurious, loss: loss.min(1 << RATIO_BITS) }
    }

    /// Cost of a timeout of `x` ticks; `x` is below 2^32.
    pub fn at(&self, x: u32) -> u64 {
        let (mut late, mut wait) = (0, 0);
        for sample in self.samples {
            late += u64::from(*sample > x);
            wait += u64::from(x.saturating_sub(*sample));
        }
        late * self.spurious + wait * self.loss
    }

    /// Minimum and maximum sample; zeros without samples.
    pub fn range(&self) -> (u32, u32) {
        let Some(first) = self.samples.first() else { return (0, 0) };
        let mut range = (*first, *first);
        for sample in self.samples {
            range = (range.0.min(*sample), range.1.max(*sample));
        }
        range
    }

    /// The cheapest timeout that is not below `lower`; if several have the same cost, the shortest.
    ///
    /// The cost decreases only at a sample and increases between samples. Therefore the minimum is at a
    /// sample or at `lower`, and sorted samples and one pass over them find it.
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
            // Of equal samples, the last one includes all of them.
            let wait = below * u64::from(*sample) - sum;
            let here = (all - below) * self.spurious + wait * self.loss;
            if here < cost {
                (x, cost) = (*sample, here);
            }
        }
        x
    }
}

/// Inserts a sample into the `n` sorted samples.
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
