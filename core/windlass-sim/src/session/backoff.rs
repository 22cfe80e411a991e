//! Waiting times before a new connection.

use windlass_cc::Span;

use super::plan::{Reconnect, Spread, WHOLE};
use crate::random::Stream;

/// The sequence of waits of an application.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    /// Waits since the last reset.
    pub(super) waits: u32,
    /// The next wait before its random part, and the previous wait.
    next: Option<Span>,
    last: Option<Span>,
}

impl Backoff {
    /// Begins again at the first wait.
    pub(super) fn reset(&mut self) {
        *self = Backoff::default();
    }

    /// The next wait.
    pub(super) fn wait(&mut self, r: &Reconnect, stream: &mut Stream) -> Span {
        let wait = self.next.unwrap_or(r.after).min(r.most);
        let grown = u128::from(wait.0) * u128::from(r.backoff) / u128::from(Reconnect::STEADY);
        self.next = Some(Span(u64::try_from(grown).unwrap_or(u64::MAX)).min(r.most));
        self.waits += 1;
        let between = |least: Span, most: Span, stream: &mut Stream| uniform(least, most, stream);
        let drawn = match r.jitter {
            Spread::None => wait,
            Spread::Full => between(Span::ZERO, wait, stream),
            Spread::Equal => between(Span(wait.0 / 2), wait, stream),
            Spread::Decorrelated => {
                let most = self.last.map_or(r.after, |last| Span(last.0.saturating_mul(3)));
                between(r.after, most.max(r.after), stream).min(r.most)
            }
            Spread::Below(share) => {
                let away = u128::from(wait.0) * u128::from(share) / u128::from(WHOLE);
                between(Span(wait.0 - away as u64), wait, stream)
            }
        };
        self.last = Some(drawn);
        drawn
    }
}

/// Uniform from `least` to `most`.
pub(super) fn uniform(least: Span, most: Span, stream: &mut Stream) -> Span {
    let width = u128::from(most.0 - least.0) + 1;
    let drawn = (u128::from(stream.next_u64()) * width) >> 64;
    Span(least.0 + drawn as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const SECOND: Span = Span::from_secs(1);

    fn rule(jitter: Spread) -> Reconnect {
        Reconnect {
            after: SECOND,
            most: Span::from_secs(10),
            backoff: 2_000,
            jitter,
            reset: Span::ZERO,
            attempts: u32::MAX,
            timeout: None,
            spread: Span::ZERO,
            queue: 0,
            resend: false,
            stored: false,
        }
    }

    /// The first waits in seconds.
    fn waits(jitter: Spread, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0, Purpose::Reconnect);
        let mut backoff = Backoff::default();
        (0..6).map(|_| backoff.wait(&rule(jitter), &mut stream).0 as f64 / 1e9).collect()
    }

    #[test]
    fn waits_without_jitter_double_up_to_the_longest() {
        assert_eq!(waits(Spread::None, 1), [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]);
        let mut backoff = Backoff::default();
        let mut stream = Stream::new(1, 0, Purpose::Reconnect);
        let mut wait = |b: &mut Backoff| b.wait(&rule(Spread::None), &mut stream);
        assert_eq!([wait(&mut backoff), wait(&mut backoff)], [SECOND, Span::from_secs(2)]);
        backoff.reset();
        assert_eq!(wait(&mut backoff), SECOND);
    }

    #[test]
    fn each_jitter_keeps_its_bounds_and_draws_from_the_seed() {
        let base = [1.0, 2.0, 4.0, 8.0, 10.0, 10.0];
        // The jitter, and its least share of the wait.
        for (jitter, least) in
            [(Spread::Full, 0.0), (Spread::Equal, 0.5), (Spread::Below(100_000), 0.9)]
        {
            assert_eq!(waits(jitter, 7), waits(jitter, 7));
            assert_ne!(waits(jitter, 7), waits(jitter, 8));
            for seed in 0..200 {
                for (wait, base) in waits(jitter, seed).into_iter().zip(base) {
                    assert!(
                        least * base <= wait + 1e-9 && wait <= base,
                        "{jitter:?}: {wait} of {base}"
                    );
                }
            }
        }
        let mean = (0..2_000).map(|seed| waits(Spread::Full, seed)[3]).sum::<f64>() / 2_000.0;
        assert!((mean - 4.0).abs() < 0.2, "{mean}: half of 8 s");
        for seed in 0..200 {
            let waits = waits(Spread::Decorrelated, seed);
            assert_eq!(waits[0], 1.0);
            assert!(waits.windows(2).all(|w| 1.0 <= w[1] && w[1] <= (3.0 * w[0]).min(10.0)));
        }
    }
}
