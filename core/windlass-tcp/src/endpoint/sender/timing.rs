//! RTT samples for the retransmission timer, and the setting of the timer.

use windlass_cc::{Flavour, RttSample, Span, Time};

use crate::endpoint::{Endpoint, Profile};
use crate::segment::Segment;
use crate::stack::LeastRtt;

/// Minimum duration of the timer.
const LEAST_TIMEOUT: Span = Span::from_micros(1);

/// The one segment per RTT that Tahoe, Reno and NewReno time, and before the handshake the SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::endpoint) struct Timed {
    /// One past the last byte of the timed segment.
    end: u64,
    /// Time at which it was sent; [`Time::NEVER`] if no segment is timed.
    at: Time,
    /// Number of its retransmissions.
    retransmits: u32,
}

impl Timed {
    /// No segment is timed.
    pub(in crate::endpoint) const NONE: Timed = Timed { end: 0, at: Time::NEVER, retransmits: 0 };

    /// Times a segment that ends at this offset and is sent for the first time, unless another segment is
    /// timed.
    // RFC 6298-3-2
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
    /// Stops the timing of the current segment, because Karn's rule forbids the sample.
    fn stop_timing(&mut self, p: &Profile) {
        if p.stack.karn {
            self.send.timed.stop();
        }
    }

    /// True if the timer uses the time from the first transmission of a retransmitted segment. Timestamps
    /// distinguish the transmissions, so that such a sample is not needed then.
    pub(super) fn times_retransmissions(&self, p: &Profile) -> bool {
        p.stack.rto.wants_ambiguous() && !self.agreed.timestamps
    }

    /// Notes that the bytes from `start` to `end` are retransmitted.
    // RFC 6298-3-1
    pub(super) fn note_retransmission(&mut self, p: &Profile, start: u64, end: u64) {
        let timed = start < self.send.timed.end && self.send.timed.end <= end;
        if timed {
            self.send.timed.retransmits = self.send.timed.retransmits.saturating_add(1);
        }
        // Data after the timed segment do not delay its acknowledgement, but a hole before it does.
        let beyond = start >= self.send.timed.end;
        if !((timed || beyond) && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
    }

    /// Notes that all unacknowledged data will be retransmitted, the first segment at once.
    pub(super) fn note_going_back(&mut self, p: &Profile) {
        let first = self.send.timed.end <= self.send.una + u64::from(self.agreed.mss);
        if !(first && self.times_retransmissions(p)) {
            self.stop_timing(p);
        }
    }

    /// RTT sample of an acknowledgement of new data, if one segment per RTT is timed and Karn's rule permits
    /// the sample.
    pub(in crate::endpoint) fn one_round_trip(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        echo: Option<u32>,
    ) -> Span {
        if !self.send.timed.at.is_never() {
            if ack < self.send.timed.end {
                return Span::NONE;
            }
            let sample = now.since(self.send.timed.at);
            self.send.timed.stop();
            return self.take_exact_sample(p, now, ack, sample, self.send.timed.retransmits);
        }
        // Timestamps distinguish a retransmission from the original, but with a resolution of a millisecond.
        // They serve the timer if there is no exact time. They do not update the minimum RTT.
        self.timestamp_sample(p, now, ack, echo);
        Span::NONE
    }

    /// Passes the RTT by the echoed timestamp to the timer, at least one millisecond. Returns the RTT.
    pub(super) fn timestamp_sample(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        echo: Option<u32>,
    ) -> Span {
        let Some(echo) = echo else { return Span::NONE };
        let ms = Endpoint::timestamp(now).wrapping_sub(echo);
        if ms > i32::MAX as u32 {
            return Span::NONE; // an echo from the future
        }
        let rtt = Span::from_millis(u64::from(ms.max(1)));
        self.feed_timer(p, now, ack, rtt, 0);
        rtt
    }

    /// The timestamp clock: milliseconds, starting at 1. The value zero occurs once in 49 days, and its echo
    /// gives no sample.
    // RFC 7323-4.1-1, 7323-5.4-1
    pub(in crate::endpoint) fn timestamp(now: Time) -> u32 {
        ((now.0 / 1_000_000) as u32).wrapping_add(1)
    }

    /// Passes the RTT sample of the timed segment to the timer; `ack` is the new SND.UNA. Returns the sample
    /// for the other users, or [`Span::NONE`] if Karn's rule forbids it.
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

    pub(in crate::endpoint) fn note_least_rtt(&mut self, rtt: Span) {
        self.send.min_rtt = self.send.min_rtt.min(rtt);
        self.send.shown_rtt = self.send.shown_rtt.min(rtt);
    }

    /// Passes every RTT sample to the timer. RFC 7323 appendix G would scale the gains by the number of
    /// samples per RTT, so that the timer's memory does not become shorter than an RTT as cwnd grows. The
    /// gains here are RFC 6298's without scaling, as in BSD, Linux and ns-3, which the presets represent.
    /// Tahoe, Reno and NewReno time one segment per RTT. A timer with scaling can use `una` and `next_id` of
    /// each sample.
    pub(in crate::endpoint) fn feed_timer(
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
        self.send.rack.sampled |= retransmits == 0;
        // Offset 0 is the SYN's, offset 1 is the first byte's.
        if retransmits == 0 && ack > 1 {
            self.send.last_rtt = rtt;
            self.send.rtt_samples = self.send.rtt_samples.wrapping_add(1);
        }
    }

    /// Takes the first RTT sample when the SYN is acknowledged, if it is permitted. Timestamps identify the
    /// acknowledged SYN (`tcp_ack_update_rtt`).
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
        // In Linux only BBR receives TCP's minimum RTT; all others receive the samples of data alone.
        if p.stack.least_rtt == LeastRtt::Data && !p.params.requirements().rate_samples {
            self.send.shown_rtt = Span::NONE;
        }
    }

    // RFC 6298-5-1
    pub(in crate::endpoint) fn arm_rto(&mut self, p: &Profile, now: Time) {
        let entropy = self.entropy();
        // A timeout of zero would always be due.
        let after = self.send.rto.arm(&p.stack.rto, now, entropy).max(LEAST_TIMEOUT);
        self.timers.rto = Endpoint::expiry(p, now, after);
    }

    /// Time until the timeout, counted from the last transmission of the first outstanding segment
    /// (`tcp_rto_delta_us`).
    pub(in crate::endpoint) fn rto_of_head(&self, p: &Profile, now: Time) -> Span {
        let rto = self.rto(p);
        match self.send.scoreboard.get(0) {
            Some(head) => Span((head.last_sent + rto).0.saturating_sub(now.0)),
            None => rto,
        }
    }

    /// Sets the retransmission timer in place of another pending timer (`tcp_rearm_rto`).
    pub(in crate::endpoint) fn arm_rto_of_head(&mut self, p: &Profile, now: Time) {
        if !self.send.scoreboard.is_empty() {
            let after = self.rto_of_head(p, now).max(LEAST_TIMEOUT);
            self.timers.rto = Endpoint::expiry(p, now, after);
        }
    }

    /// The next number of the endpoint's own random sequence (SplitMix64, Steele et al. 2014). The seed is
    /// the initial sequence number.
    pub(in crate::endpoint) fn entropy(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.random)
    }
}

/// Upper half of SplitMix64's output function.
pub(in crate::endpoint) fn mix(state: u64) -> u32 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}
