//! Rounds of a connection, counted in stream offsets, with their RTT samples.

use crate::arithmetic::math;
use crate::event::{Ack, Conn};
use crate::time::Span;

/// Consecutive rounds. A round ends at the acknowledgement of data that was sent after the round began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Round {
    /// Stream offset beyond which data belongs to the next round.
    end: u64,
    /// Minimum sample of the round in nanoseconds, `u64::MAX` without a sample.
    min_rtt: u64,
    /// Sum of the samples of the round in nanoseconds.
    sum_rtt: u64,
    /// Number of samples; it saturates.
    samples: u32,
}

/// The base RTT by Linux's `tcp_vegas_cwnd_event` and `tcp_veno_cwnd_event`: they forget it whenever sending begins with
/// nothing in flight. A small window that drains therefore measures its base RTT again, over the other flows' queue.
///
/// It is kept in microseconds, as in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct BaseRtt(u32);

impl BaseRtt {
    /// Without a sample.
    pub const NONE: BaseRtt = BaseRtt(u32::MAX);

    /// Takes an acknowledgement's sample.
    pub fn sample(&mut self, a: &Ack) {
        let micros = (a.rtt.0 / 1000).min(u64::from(u32::MAX));
        self.0 = self.0.min(micros as u32);
    }

    /// This base RTT if `own`, otherwise the connection's minimum RTT.
    pub fn or_least(self, own: bool, c: &Conn) -> Span {
        match (own, self.0) {
            (false, _) => c.min_rtt,
            (true, u32::MAX) => Span::NONE,
            (true, micros) => Span(u64::from(micros) * 1000),
        }
    }
}

/// RTT of a round that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundRtt {
    /// Minimum sample, [`Span::NONE`] without a sample.
    pub min: Span,
    /// Mean of the samples, cut to a nanosecond, [`Span::NONE`] without a sample.
    pub mean: Span,
    /// Number of samples.
    pub samples: u32,
}

impl Round {
    /// The first round of a connection.
    pub fn new(c: &Conn) -> Round {
        Round { end: c.next_id, min_rtt: u64::MAX, sum_rtt: 0, samples: 0 }
    }

    /// Begins a round now and discards the samples of the present round.
    pub fn begin(&mut self, c: &Conn) {
        *self = Round::new(c);
    }

    /// Takes an acknowledgement's sample, without a test for the end of the round.
    pub fn sample(&mut self, a: &Ack) {
        if a.rtt.is_known() {
            self.min_rtt = self.min_rtt.min(a.rtt.0);
            self.sum_rtt = self.sum_rtt.saturating_add(a.rtt.0);
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Returns the minimum sample since the last call or the start of the round, and resets it.
    pub fn take_min(&mut self) -> Span {
        Span(core::mem::replace(&mut self.min_rtt, u64::MAX))
    }

    /// Takes an acknowledgement's sample. If the acknowledgement ends the round, begins another and
    /// returns the RTT of the ended round, including this sample.
    pub fn observe(&mut self, c: &Conn, a: &Ack) -> Option<RoundRtt> {
        self.sample(a);
        self.ended(c)
    }

    /// If the acknowledged data ends the round, begins another and returns the RTT of the ended round.
    pub fn ended(&mut self, c: &Conn) -> Option<RoundRtt> {
        if c.una <= self.end { None } else { Some(self.turn(c)) }
    }

    /// Separate from the frequent case, in which no round ends.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, c: &Conn) -> RoundRtt {
        let mean = match self.samples {
            0 => u64::MAX,
            n => self.sum_rtt / u64::from(n),
        };
        let ended = RoundRtt { min: Span(self.min_rtt), mean: Span(mean), samples: self.samples };
        self.begin(c);
        ended
    }
}

/// Bytes that a window of `cwnd` bytes keeps queued in the path, `cwnd · (rtt - base) / rtt`, cut to a
/// whole number. It is the surplus of the expected over the actual rate, times the base RTT (Brakmo and
/// Peterson 1995). Zero if one of the times is unknown.
pub fn backlog(cwnd: u64, base: Span, rtt: Span) -> u64 {
    if !base.is_known() || !rtt.is_known() || rtt.0 <= base.0 {
        return 0;
    }
    math::mul_div(cwnd, rtt.0 - base.0, rtt.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(rtt_ms: u64) -> Ack {
        Ack { rtt: Span::from_millis(rtt_ms), ..Ack::of(1_000) }
    }

    #[test]
    fn a_round_ends_at_the_first_acknowledgement_of_data_sent_after_it_began() {
        let mut c = Conn { next_id: 3_000, ..Conn::new(1_000) };
        let mut round = Round::new(&c);
        for (una, rtt_ms) in [(1_000, 40), (2_000, 30), (3_000, 80)] {
            (c.una, c.next_id) = (una, 3_000 + una);
            assert_eq!(round.observe(&c, &ack(rtt_ms)), None, "{una}");
        }
        c.una = 4_000;
        let ended = round.observe(&c, &ack(50)).expect("data beyond 3000 is acknowledged");
        assert_eq!((ended.min, ended.mean), (Span::from_millis(30), Span::from_millis(50)));
        assert_eq!(ended.samples, 4);
        c.una = c.next_id;
        assert_eq!(round.observe(&c, &ack(50)), None, "the next round reaches to next_id");
    }

    #[test]
    fn a_round_without_samples_has_no_round_trip_time() {
        let mut c = Conn::new(1_000);
        let mut round = Round::new(&c);
        c.una = 1;
        let ended = round.observe(&c, &Ack::of(1)).expect("it has ended");
        assert_eq!(ended, RoundRtt { min: Span::NONE, mean: Span::NONE, samples: 0 });
    }

    #[test]
    fn samples_from_before_a_new_beginning_are_forgotten() {
        let mut c = Conn::new(1_000);
        let mut round = Round::new(&c);
        round.observe(&c, &ack(10));
        round.begin(&c);
        c.una = 1_000;
        let ended = round.observe(&c, &ack(20)).expect("it has ended");
        assert_eq!((ended.min, ended.samples), (Span::from_millis(20), 1));
    }

    #[test]
    fn the_backlog_is_the_share_of_the_round_trip_spent_waiting() {
        let ms = Span::from_millis;
        assert_eq!(backlog(100_000, ms(40), ms(50)), 20_000);
        assert_eq!(backlog(100_000, ms(40), ms(40)), 0);
        assert_eq!(backlog(100_000, ms(50), ms(40)), 0, "a sample below the base");
        assert_eq!(backlog(100_000, Span::NONE, ms(40)), 0);
        assert_eq!(backlog(100_000, ms(40), Span::NONE), 0);
        assert_eq!(backlog(u64::MAX, Span(0), Span(u64::MAX - 1)), u64::MAX);
    }
}
