//! Delivery-rate sampling (draft-ietf-ccwg-bbr-06 section 4.1, the algorithm of Linux's
//! `tcp_rate.c`): how fast the network delivered the flight that an acknowledgement ends.
//!
//! The host owns a [`RateSampler`] per connection and stores a [`SentRecord`] with each segment:
//!
//! 1. sending a segment, first or again: [`RateSampler::on_sent`] makes its record;
//! 2. deeming one lost: [`RateSampler::on_lost`] turns the record into the [`Loss`] event;
//! 3. an acknowledgement: [`RateSampler::on_delivered`] for each segment that it newly delivers,
//!    cumulatively or selectively, then once [`RateSampler::sample`];
//! 4. having room in the window and nothing to send: [`RateSampler::on_app_limited`].
//!
//! [`Conn::delivered`](crate::Conn::delivered) and [`Conn::lost`](crate::Conn::lost) must be this
//! sampler's counts, since controllers compare them with
//! [`RateSample::prior_delivered`].

use crate::arithmetic::math;
use crate::event::{Loss, RateSample};
use crate::time::{Rate, Span, Time};

const NANOS: u64 = 1_000_000_000;

impl Rate {
    /// So many bytes in so long, cut to whole bytes per second; [`u64::MAX`] in no time.
    #[inline]
    pub const fn of(bytes: u64, interval: Span) -> Rate {
        Rate(math::mul_div(bytes, NANOS, interval.0))
    }

    /// Bytes that pass in a time, cut to whole ones.
    #[inline]
    pub const fn volume(self, time: Span) -> u64 {
        math::mul_div(self.0, time.0, NANOS)
    }
}

impl RateSample {
    /// The delivery rate; zero of a sample that is not valid.
    #[inline]
    pub const fn rate(&self) -> Rate {
        if self.is_valid() { Rate::of(self.delivered, self.interval) } else { Rate(0) }
    }
}

/// What the sampler knew when a segment was sent. The host keeps it with the segment and replaces
/// it when the segment is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct SentRecord {
    /// When the segment left (with pacing, its departure time).
    pub sent_time: Time,
    /// When the segment left that had most recently been delivered: where the send interval begins.
    pub first_sent_time: Time,
    /// When data had last been delivered: where the acknowledgement interval begins.
    pub delivered_time: Time,
    /// Bytes delivered by then.
    pub delivered: u64,
    /// Bytes deemed lost by then.
    pub lost: u64,
    /// Bytes in flight with this segment.
    pub tx_in_flight: u64,
    /// The application limited the sender.
    pub app_limited: bool,
}

/// Delivery-rate estimator of one connection. All volumes are bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RateSampler {
    delivered: u64,
    lost: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// Until so much is delivered, the samples are limited by the application.
    app_limited_until: u64,
    /// The segment sent last among those that the current acknowledgement delivered.
    newest: Option<Newest>,
    app_limited: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Newest {
    record: SentRecord,
    /// Stream offset of its end, which orders segments sent at the same moment.
    end: u64,
}

impl RateSampler {
    /// The sampler of a connection that begins now.
    pub const fn new(now: Time) -> RateSampler {
        RateSampler {
            delivered: 0,
            lost: 0,
            delivered_time: now,
            first_sent_time: now,
            app_limited_until: 0,
            newest: None,
            app_limited: false,
        }
    }

    /// Bytes delivered so far, each counted once.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes deemed lost so far; what is lost again counts again.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether what is sent now counts as limited by the application.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    /// A segment of `bytes` leaves at `sent_time` while `outstanding` bytes, itself not counted, wait for
    /// their acknowledgement, and `in_flight` of them are in the network: not deemed lost, not acknowledged
    /// selectively. With nothing outstanding both intervals begin anew, so that silence is not taken for
    /// slow delivery. What is deemed lost is outstanding: an interval over a timeout holds the wait
    /// (`SND.NXT == SND.UNA` in draft-cheng-iccrg-delivery-rate-estimation-02 section 3.2, Linux's `packets_out`).
    pub fn on_sent(
        &mut self,
        sent_time: Time,
        outstanding: u64,
        in_flight: u64,
        bytes: u64,
    ) -> SentRecord {
        if outstanding == 0 {
            self.first_sent_time = sent_time;
            self.delivered_time = sent_time;
        }
        SentRecord {
            sent_time,
            first_sent_time: self.first_sent_time,
            delivered_time: self.delivered_time,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: in_flight.saturating_add(bytes),
            app_limited: self.app_limited,
        }
    }

    /// A segment that was sent with this record, or one of its transmissions, is deemed lost.
    pub fn on_lost(&mut self, record: &SentRecord, bytes: u64) -> Loss {
        self.lost = self.lost.saturating_add(bytes);
        Loss {
            bytes,
            tx_in_flight: record.tx_in_flight,
            lost_since_sent: self.lost.saturating_sub(record.lost),
            app_limited: record.app_limited,
        }
    }

    /// `bytes` are delivered that had not been before. `record` is the segment's latest and `end` the
    /// stream offset of its end. Without SACK a duplicate acknowledgement delivers a segment that
    /// nobody can name: it has no record, counts and makes no sample.
    pub fn on_delivered(&mut self, now: Time, bytes: u64, end: u64, record: Option<&SentRecord>) {
        self.delivered = self.delivered.saturating_add(bytes);
        self.delivered_time = now;
        let Some(&record) = record else { return };
        let newer = match self.newest {
            None => true,
            Some(last) => (record.sent_time, end) > (last.record.sent_time, last.end),
        };
        if newer {
            self.newest = Some(Newest { record, end });
            self.first_sent_time = record.sent_time;
        }
    }

    /// The sample of the acknowledgement whose deliveries have all been reported. `min_rtt` is the
    /// least round-trip time seen: a shorter interval comes of an acknowledgement that was meant for
    /// an earlier transmission, and its rate is not valid. Such a sample still says what
    /// was delivered and lost since the segment was sent; without a delivery it is
    /// [`RateSample::NONE`].
    pub fn sample(&mut self, min_rtt: Span) -> RateSample {
        if self.app_limited && self.delivered > self.app_limited_until {
            self.app_limited = false;
        }
        let Some(Newest { record, .. }) = self.newest.take() else { return RateSample::NONE };
        let send_elapsed = record.sent_time.since(record.first_sent_time);
        let ack_elapsed = self.delivered_time.since(record.delivered_time);
        let longer = send_elapsed.max(ack_elapsed);
        let reliable = longer > Span::ZERO && !(min_rtt.is_known() && longer < min_rtt);
        RateSample {
            delivered: self.delivered.saturating_sub(record.delivered),
            interval: if reliable { longer } else { Span::NONE },
            prior_delivered: record.delivered,
            lost: self.lost.saturating_sub(record.lost),
            tx_in_flight: record.tx_in_flight,
            app_limited: record.app_limited,
        }
    }

    /// The window and the pacing rate would have let the host send, all that was lost is sent again,
    /// and there is nothing else to send: what leaves until the bubble is acknowledged is limited by
    /// the application. To be checked when the application writes, when an acknowledgement arrives
    /// and when a timer expires, before anything else happens.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = true;
        self.app_limited_until = self.delivered.saturating_add(in_flight);
    }
}
