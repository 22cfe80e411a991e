//! Messages with random due times and sizes. The sender, and the receiver that judges the messages
//! read, draw the same messages, because both use the same seed.

use windlass_cc::{Span, Time};

use crate::random::{Purpose, Stream};

/// Messages that an application writes at random times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Time between two messages, and from the start to the first message, nanoseconds.
    pub gaps: Draw,
    /// Size of a message, bytes.
    pub sizes: Draw,
    /// Mean lengths of the sending and of the silent phases, each exponentially distributed.
    /// Messages are due only in sending phases. The silent phases do not count as gaps. `None` for
    /// one sending phase without end.
    pub phases: Option<[Span; 2]>,
    /// Time from which on no message is due.
    pub stop: Time,
    /// Deadline of each message, from its writing until it is read completely; `None` to keep no
    /// record of deadlines.
    pub deadline: Option<Span>,
    /// Seed of all random values.
    pub seed: u64,
}

/// A random quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Its distribution.
    pub law: Law,
    /// Shape of a Pareto distribution, in thousandths, more than 1000.
    pub shape: u32,
    /// Its mean before values above `most` are cut; at least 1.
    pub mean: u64,
    /// Its maximum, which is not below the mean.
    pub most: u64,
}

/// A distribution of gaps or sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// Always the mean.
    Constant,
    /// Exponential: gaps of a Poisson process.
    Exponential,
    /// Pareto: many small values, and a few large values that contribute most of the sum.
    Pareto,
}

impl Law {
    /// Every distribution with its name in scenarios.
    pub const ALL: [(&'static str, Law); 3] =
        [("constant", Law::Constant), ("exponential", Law::Exponential), ("pareto", Law::Pareto)];
}

impl Draw {
    /// Always this value.
    pub const fn constant(value: u64) -> Draw {
        Draw { law: Law::Constant, shape: 0, mean: value, most: value }
    }

    fn draw(self, stream: &mut Stream) -> u64 {
        let mean = self.mean as f64;
        let drawn = match self.law {
            Law::Constant => return self.mean.max(1),
            Law::Exponential => -mean * libm::log(stream.unit()),
            Law::Pareto => {
                let shape = f64::from(self.shape) / 1000.0;
                mean * (shape - 1.0) / shape * libm::pow(stream.unit(), -1.0 / shape)
            }
        };
        (drawn.round() as u64).clamp(1, self.most)
    }

    /// Maximum of the drawn values.
    pub(crate) fn largest(self) -> u64 {
        if self.law == Law::Constant { self.mean } else { self.most }
    }

    fn check(self) -> Result<(), String> {
        if self.mean == 0 || self.most < self.mean {
            return Err(
                "a drawn quantity needs a mean of at least 1 and a maximum of at least the mean"
                    .into(),
            );
        }
        match self.law {
            Law::Pareto if self.shape <= 1000 => {
                Err("the shape of a Pareto distribution is more than 1".into())
            }
            _ => Ok(()),
        }
    }
}

impl Arrivals {
    pub(crate) fn check(&self) -> Result<(), String> {
        self.gaps.check()?;
        self.sizes.check()?;
        if self.phases.is_some_and(|phases| phases.contains(&Span::ZERO)) {
            return Err("phases of sending and of silence must be more than zero".to_string());
        }
        Ok(())
    }
}

/// The messages of a run, in order.
#[derive(Clone, Debug)]
pub struct ArrivalProcess {
    arrivals: Arrivals,
    stream: Stream,
    /// Remaining time of the sending phase, nanoseconds.
    left: u64,
    /// Due time and size of the next message, bytes.
    next: (Time, u64),
}

impl ArrivalProcess {
    /// Messages of a flow that starts at this time.
    pub fn new(arrivals: Arrivals, start: Time) -> ArrivalProcess {
        let stream = Stream::new(arrivals.seed, 0, Purpose::Arrivals);
        let mut process = ArrivalProcess { arrivals, stream, left: 0, next: (start, 0) };
        process.left = process.phase(0);
        process.advance();
        process
    }

    /// Due time of the next message, and its bytes; `None` after the stop.
    pub fn next(&self) -> Option<(Time, u64)> {
        Some(self.next).filter(|(due, _)| *due < self.arrivals.stop)
    }

    /// Time from which on no message is due.
    pub(crate) fn stop(&self) -> Time {
        self.arrivals.stop
    }

    /// Advances to the following message.
    pub fn advance(&mut self) {
        let mut gap = self.arrivals.gaps.draw(&mut self.stream);
        let mut due = self.next.0;
        while gap > self.left && due < self.arrivals.stop {
            gap -= self.left;
            due = due + Span(self.left) + Span(self.phase(1));
            self.left = self.phase(0);
        }
        self.left = self.left.saturating_sub(gap);
        let size = self.arrivals.sizes.draw(&mut self.stream);
        self.next = (due + Span(gap), size);
    }

    /// Length of a sending phase (`kind` 0) or of a silent phase (1). Without phases, a sending
    /// phase has no end.
    fn phase(&mut self, kind: usize) -> u64 {
        let Some(phases) = self.arrivals.phases else { return u64::MAX };
        let mean = phases[kind].0;
        Draw { law: Law::Exponential, shape: 0, mean, most: u64::MAX >> 3 }.draw(&mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn arrivals(gaps: Law, sizes: Law, phases: Option<[Span; 2]>) -> Arrivals {
        Arrivals {
            gaps: Draw { law: gaps, shape: 1500, mean: SECOND / 100, most: u64::MAX >> 3 },
            sizes: Draw { law: sizes, shape: 1500, mean: 10_000, most: 100_000_000 },
            phases,
            stop: Time::NEVER,
            deadline: None,
            seed: 7,
        }
    }

    /// The first messages: gaps in seconds, and sizes in bytes.
    fn first(n: usize, arrivals: Arrivals) -> Vec<(f64, f64)> {
        let mut process = ArrivalProcess::new(arrivals, Time::ZERO);
        let mut before = Time::ZERO;
        let mut each = || {
            let (due, size) = process.next().expect("no stop");
            process.advance();
            let gap = due.since(std::mem::replace(&mut before, due)).0;
            (gap as f64 / 1e9, size as f64)
        };
        (0..n).map(|_| each()).collect()
    }

    /// Maximum distance of a sample from its distribution, over the distance that 1 % of samples
    /// exceed (Kolmogorov and Smirnov).
    fn misfit(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let gap = |(i, v): (usize, &f64)| {
            (cdf(*v) - i as f64 / n).abs().max(((i + 1) as f64 / n - cdf(*v)).abs())
        };
        values.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt() / 1.63
    }

    #[test]
    fn gaps_and_sizes_have_their_distributions_and_not_others() {
        let (gaps, sizes): (Vec<f64>, Vec<f64>) =
            first(20_000, arrivals(Law::Exponential, Law::Pareto, None)).into_iter().unzip();
        let exponential = |mean: f64| move |x: f64| 1.0 - (-x / mean).exp();
        let pareto = |least: f64| move |x: f64| 1.0 - (least / x.max(least)).powf(1.5);
        assert!(misfit(gaps.clone(), exponential(0.01)) < 1.0);
        assert!(misfit(gaps, exponential(0.0105)) > 1.0);
        // With shape 3/2 the minimum is a third of the mean.
        assert!(misfit(sizes.clone(), pareto(10_000.0 / 3.0)) < 1.0);
        assert!(misfit(sizes, exponential(10_000.0)) > 1.0);
    }

    #[test]
    fn phases_take_their_share_and_make_bursts() {
        let phases = Some([Span::from_millis(200), Span::from_millis(800)]);
        let of = arrivals(Law::Exponential, Law::Constant, phases);
        let gaps: Vec<f64> = first(50_000, of).into_iter().map(|(gap, _)| gap).collect();
        let rate = gaps.len() as f64 / gaps.iter().sum::<f64>();
        assert!((rate - 20.0).abs() < 1.5, "{rate}: a fifth of 100 per second");
        let short = gaps.iter().filter(|gap| **gap < 0.02).count() as f64 / gaps.len() as f64;
        // 1 - e^-2 of the gaps within a phase, and one gap in 20 that spans a silence.
        assert!((0.79..0.88).contains(&short), "{short}");
    }

    #[test]
    fn the_same_seed_draws_the_same_messages_and_none_after_the_stop() {
        let of = arrivals(Law::Exponential, Law::Exponential, None);
        assert_eq!(first(100, of), first(100, of));
        assert_ne!(first(100, of), first(100, Arrivals { seed: 8, ..of }));
        let stop = Time::from_millis(50);
        let mut process = ArrivalProcess::new(Arrivals { stop, ..of }, Time::ZERO);
        while let Some((due, _)) = process.next() {
            assert!(due < stop);
            process.advance();
        }
    }
}
