//! The interpretations of a survey and their order.

use std::collections::BTreeSet;

use windlass_sim::random::{Purpose, Stream};

use super::file::{Reading, Readings};

impl Readings {
    /// The headline, then every other alternative alone, axis by axis. Alternatives that use the
    /// headline's runs are first.
    pub(super) fn alone(&self) -> Vec<Reading> {
        let headline = self.headline();
        let mut all = Vec::new();
        for (i, axis) in self.axes.iter().enumerate() {
            for other in axis.running().filter(|at| *at != axis.headline) {
                let mut reading = headline.clone();
                reading.0[i] = other;
                all.push((!axis.alternatives[other].spares_runs(), reading));
            }
        }
        all.sort_by_key(|(runs, _)| *runs);
        std::iter::once(headline).chain(all.into_iter().map(|(_, reading)| reading)).collect()
    }

    /// Every combination on the marked axes, with the headline's answer on the others. Combinations that differ
    /// from the headline on few axes are first.
    pub(super) fn together(&self, marked: &[bool]) -> Vec<Reading> {
        let mut all = vec![Vec::new()];
        for (axis, marked) in self.axes.iter().zip(marked) {
            let places: Vec<usize> =
                if *marked { axis.running().collect() } else { vec![axis.headline] };
            all = all
                .into_iter()
                .flat_map(|so_far: Vec<usize>| {
                    places.iter().map(move |at| [so_far.as_slice(), &[*at]].concat())
                })
                .collect();
        }
        let headline = self.headline();
        let distance = |r: &Reading| r.0.iter().zip(&headline.0).filter(|(a, b)| a != b).count();
        let mut all: Vec<Reading> = all.into_iter().map(Reading).collect();
        all.sort_by_key(distance);
        all
    }

    /// Number of joint interpretations; saturates at the largest `u64`.
    pub(super) fn total(&self) -> u64 {
        self.axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.running().count() as u64))
    }

    /// At most `count` distinct interpretations drawn over all axes. Every alternative of an axis has the same
    /// probability.
    pub(super) fn drawn(&self, count: usize, seed: u64) -> Vec<Reading> {
        let mut random = Stream::new(seed, 0, Purpose::Application);
        let places: Vec<Vec<usize>> = self.axes.iter().map(|a| a.running().collect()).collect();
        let (mut known, mut all) = (BTreeSet::new(), Vec::new());
        // If few interpretations exist, draws repeat.
        for _ in 0..count * 20 {
            let mut pick = |of: &Vec<usize>| of[(random.next_u64() % of.len() as u64) as usize];
            let reading = Reading(places.iter().map(&mut pick).collect());
            if all.len() < count && known.insert(reading.clone()) {
                all.push(reading);
            }
        }
        all
    }
}
