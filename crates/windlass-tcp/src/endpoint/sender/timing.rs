//! What the retransmission timer is told, and how it is set.

use windlass_cc::{Flavour, RttSample, Span, Time};

use super::summary::AckSummary;
use crate::endpoint::{Endpoint, Profile};
use crate::segment::Segment;
use crate::stack::LeastRtt;

/// Least time to which the timer is ever set.
const LEAST_TIMEOUT: Span = Span::from_micros(1);

/// The one segment per round trip that Tahoe, Reno and NewReno time, and before them the SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::endpoint) struct Timed {
    /// One past the last byte of the segment being timed.
    end: u64,
    /// When it was sent, [`Time::NEVER`] while none is timed.
    at: Time,
    /// Retransmissions of it.
    retransmits: u32,
}

impl Timed {
    /// Nothing is timed.
    pub(in crate::endpoint) const NONE: Timed = Timed { end: 0, at: Time::NEVER, retransmits: 0 };

    /// A segment that ends at this offset is sent for the first time: it is timed if none is.
    pub(in crate::endpoint) fn watch(&mut self, now: Time, end: u64) {
        if self.at.is_never() {
            *self = Timed { end, at: now, retransmits: 0 };
        }
    }

    fn stop(&mut self) {
        self.at = Time::NEVER;
    }
}

impl Endpoint {
    /// Takes no round-trip sample of what is being timed any more, since Karn's rule forbids it.
    fn stop_timing(&mut self, p: &Profile) {
        if p.stack.karn {
            self.send.timed.stop();
        }
    }

    /// Whether the timer has a use for the time from the first transmission of a segment that was
    /// retransmitted. Timestamps tell the transmissions apart, so that nothing is ambiguous then.
    pub(super) fn times_retransmissions(&self, p: &Profile) -> bool {
        p.stack.rto.wants_ambiguous() && !self.agreed.timestamps
    }

    /// The bytes from `start` to `end` are retransmitted.
    pub(super) fn note_retransmission(&mut self, p: &Profile, start: u64, end: u64) {
        let timed = start < self.send.timed.end && self.send.timed.end <= end;
        if timed {
            self.send.timed.retransmits = self.send.timed.retransmits.saturating_add(1);
        }
        // What follows the timed segment does not delay its acknowledgement; a hole before it does.
        let beyond = start >= self.send.timed.end;
        if !((timed || beyond) && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
    }

    /// Everything unacknowledged will be retransmitted, the first segment at once.
    pub(super) fn note_going_back(&mut self, p: &Profile) {
        let first = self.send.timed.end <= self.send.una + u64::from(self.agreed.mss);
        if !(first && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
    }

    /// The RTT that an acknowledgement of new data shows where one segment is timed per round trip, if
    /// Karn's rule lets one be read from it.
    pub(super) fn one_round_trip(&mut self, p: &Profile, now: Time, a: &AckSummary) -> Span {
        if !self.send.timed.at.is_never() {
            if a.ack < self.send.timed.end {
                return Span::NONE;
            }
            let sample = now.since(self.send.timed.at);
            self.send.timed.stop();
            return self.take_exact_sample(p, now, a.ack, sample, self.send.timed.retransmits);
        }
        // Timestamps tell a retransmission from the original, but only to a millisecond: they serve
        // the timer where no exact time could be kept, and nobody who looks for the least RTT.
        self.timestamp_sample(p, now, a);
        Span::NONE
    }

    /// The timer gets the RTT by the clock that the peer echoes, a millisecond at least. Returns it.
    pub(super) fn timestamp_sample(&mut self, p: &Profile, now: Time, a: &AckSummary) -> Span {
        let Some(echo) = a.echo.filter(|_| self.agreed.timestamps) else { return Span::NONE };
        let ms = Endpoint::timestamp(now).wrapping_sub(echo);
        if ms > i32::MAX as u32 {
            return Span::NONE; // an echo from the future
        }
        let rtt = Span::from_millis(u64::from(ms.max(1)));
        self.feed_timer(p, now, a.ack, rtt, 0);
        rtt
    }

    /// The timestamp clock: milliseconds, from one. Zero, which occurs once in 49 days, costs its
    /// peer's echo its sample.
    pub(in crate::endpoint) fn timestamp(now: Time) -> u32 {
        ((now.0 / 1_000_000) as u32).wrapping_add(1)
    }

    /// The timed segment is acknowledged after `rtt`, `ack` being the new SND.UNA: the timer learns
    /// of it. Returns what everybody else may believe.
    pub(super) fn take_exact_sample(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        rtt: Span,
        retransmits: u32,
    ) -> Span {
        self.feed_timer(p, now, ack, rtt, retransmits);
        if p.stack.karn && retransmits > 0 {
            return Span::NONE;
        }
        self.note_least_rtt(rtt);
        rtt
    }

    pub(super) fn note_least_rtt(&mut self, rtt: Span) {
        self.send.min_rtt = self.send.min_rtt.min(rtt);
        self.send.shown_rtt = self.send.shown_rtt.min(rtt);
    }

    /// The timer gets every round trip that is measured. RFC 7323 appendix G would have its gains scaled
    /// by the samples of a round trip, so that its memory did not become shorter than one as the window
    /// grows; RFC 6298's gains are as they are, and so do BSD, Linux and ns-3 use them, which the
    /// presets stand for. Tahoe, Reno and NewReno time one segment per round trip anyhow. A timer that
    /// wants the scaling has `una` and `next_id` of each sample for it.
    pub(super) fn feed_timer(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        rtt: Span,
        retransmits: u32,
    ) {
        let (sent, resent) = (self.stats.data_segments, self.stats.retransmits);
        let next_id = self.send.max;
        let sample = RttSample { rtt, retransmits, now, una: ack, next_id, sent, resent };
        self.send.rto.on_sample(&p.stack.rto, &sample);
        // Offset 0 is the SYN's, 1 the first byte's.
        if retransmits == 0 && ack > 1 {
            self.send.last_rtt = rtt;
        }
    }

    /// The SYN is acknowledged: the first sample, if it may be taken.
    /// Timestamps tell which SYN was answered (`tcp_ack_update_rtt`).
    pub(in crate::endpoint) fn sample_handshake(&mut self, p: &Profile, now: Time, s: &Segment) {
        let retransmits = if self.syn_retransmitted { self.send.retries.max(1) } else { 0 };
        let ambiguous = p.stack.karn && retransmits > 0;
        let stamps = s.options.timestamps.filter(|t| self.agreed.timestamps && t.echo != 0);
        let linux = p.stack.rules == Flavour::Linux;
        if let Some(stamps) = stamps.filter(|_| ambiguous && linux) {
            let ms = Endpoint::timestamp(now).wrapping_sub(stamps.echo);
            if ms <= i32::MAX as u32 {
                let rtt = Span::from_millis(u64::from(ms.max(1)));
                self.feed_timer(p, now, 1, rtt, 0);
                self.note_least_rtt(rtt);
            }
        } else if !self.send.timed.at.is_never() && (!ambiguous || self.times_retransmissions(p)) {
            self.take_exact_sample(p, now, 1, now.since(self.send.timed.at), retransmits);
        }
        self.send.timed.stop();
        // Linux shows the round trips of data alone to all but BBR, which takes what TCP has.
        if p.stack.least_rtt == LeastRtt::Data && !p.params.requirements().rate_samples {
            self.send.shown_rtt = Span::NONE;
        }
    }

    pub(in crate::endpoint) fn arm_rto(&mut self, p: &Profile, now: Time) {
        let entropy = self.entropy();
        // A timeout of nothing would be due for ever.
        let after = self.send.rto.arm(&p.stack.rto, now, entropy).max(LEAST_TIMEOUT);
        self.timers.rto = Endpoint::expiry(p, now, after);
    }

    /// Time until the timeout counted from the last sending of the first segment outstanding (`tcp_rto_delta_us`).
    pub(in crate::endpoint) fn rto_of_head(&self, p: &Profile, now: Time) -> Span {
        let rto = self.rto(p);
        match self.send.scoreboard.get(0) {
            Some(head) => Span((head.last_sent + rto).0.saturating_sub(now.0)),
            None => rto,
        }
    }

    /// The timer takes the place of another that was pending (`tcp_rearm_rto`).
    pub(in crate::endpoint) fn arm_rto_of_head(&mut self, p: &Profile, now: Time) {
        if !self.send.scoreboard.is_empty() {
            let after = self.rto_of_head(p, now).max(LEAST_TIMEOUT);
            self.timers.rto = Endpoint::expiry(p, now, after);
        }
    }

    /// The next number of the endpoint's own sequence (SplitMix64, Steele et al. 2014), which begins
    /// with the initial sequence number.
    pub(in crate::endpoint) fn entropy(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.random)
    }
}

/// SplitMix64's output function, its upper half.
pub(in crate::endpoint) fn mix(state: u64) -> u32 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}
