//! What the retransmission timer is told, and how it is set.

use windlass_cc::{RttSample, Span, Time};

use super::{Endpoint, Profile};
use crate::stack::LeastRtt;

/// Least time to which the timer is ever set.
const LEAST_TIMEOUT: Span = Span::from_micros(1);

impl Endpoint {
    /// Takes no round-trip sample of what is being timed any more, since Karn's rule forbids it.
    fn stop_timing(&mut self, p: &Profile) {
        if p.stack.karn {
            self.timed_at = Time::NEVER;
        }
    }

    /// Whether the timer has a use for the time from the first transmission of a segment that was
    /// sent again. Timestamps tell the transmissions apart, so that nothing is ambiguous then.
    pub(super) fn times_retransmissions(&self, p: &Profile) -> bool {
        p.stack.rto.wants_ambiguous() && !self.timestamps
    }

    /// The bytes from `start` to `end` are sent again.
    pub(super) fn note_retransmission(&mut self, p: &Profile, start: u64, end: u64) {
        let timed = start < self.timed_end && self.timed_end <= end;
        if timed {
            self.timed_retransmits = self.timed_retransmits.saturating_add(1);
        }
        // What follows the timed segment does not delay its acknowledgement; a hole before it does.
        let beyond = start >= self.timed_end;
        if !((timed || beyond) && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
    }

    /// Everything unacknowledged will be sent again, the first segment at once.
    pub(super) fn note_going_back(&mut self, p: &Profile) {
        let first = self.timed_end <= self.snd_una + u64::from(self.mss);
        if !(first && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
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
        self.min_rtt = self.min_rtt.min(rtt);
        self.shown_rtt = self.shown_rtt.min(rtt);
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
        let next_id = self.snd_max;
        let sample = RttSample { rtt, retransmits, now, una: ack, next_id, sent, resent };
        self.rto.on_sample(&p.stack.rto, &sample);
        // Offset 0 is the SYN's, 1 the first byte's.
        if retransmits == 0 && ack > 1 {
            self.last_rtt = rtt;
        }
    }

    /// The SYN is acknowledged: the first sample, if it may be taken.
    pub(super) fn sample_handshake(&mut self, p: &Profile, now: Time) {
        let retransmits = if self.syn_retransmitted { self.retries.max(1) } else { 0 };
        let ambiguous = p.stack.karn && retransmits > 0;
        if !self.timed_at.is_never() && (!ambiguous || self.times_retransmissions(p)) {
            self.take_exact_sample(p, now, 1, now.since(self.timed_at), retransmits);
        }
        self.timed_at = Time::NEVER;
        // Linux shows the round trips of data alone to all but BBR, which takes what TCP has.
        if p.stack.least_rtt == LeastRtt::Data && !p.params.wants().rate_samples {
            self.shown_rtt = Span::NONE;
        }
    }

    pub(super) fn arm_rto(&mut self, p: &Profile, now: Time) {
        let entropy = self.entropy();
        // A timeout of nothing would be due for ever.
        let after = self.rto.arm(&p.stack.rto, now, entropy).max(LEAST_TIMEOUT);
        self.rto_deadline = Endpoint::expiry(p, now, after);
    }

    /// The next number of the endpoint's own sequence (SplitMix64, Steele et al. 2014), which begins
    /// with the initial sequence number.
    pub(super) fn entropy(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.random)
    }
}

/// SplitMix64's output function, its upper half.
pub(super) fn mix(state: u64) -> u32 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}
