//! Delivery-rate sampling (draft-ietf-ccwg-bbr-06 section 4.1, the algorithm of Linux's `tcp_rate.c`):
//! measures the rate at which the network delivered the flight that an acknowledgement ends.
//!
//! The host owns a [`RateSampler`] per connection and stores a [`SentRecord`] with each segment:
//!
//! 1. when it sends a segment, also a retransmission: [`RateSampler::on_sent`] creates the record;
//! 2. when it deems a segment lost: [`RateSampler::on_lost`] converts the record to the [`Loss`] event;
//! 3. for an acknowledgement: [`RateSampler::on_delivered`] for each segment that is newly delivered,
//!    cumulatively or selectively, and then [`RateSampler::sample`] once;
//! 4. when the window has room and there is nothing to send: [`RateSampler::on_app_limited`].
//!
//! [`Conn::delivered`](crate::Conn::delivered) and [`Conn::lost`](crate::Conn::lost) must be the counts
//! of this sampler, because controllers compare them with [`RateSample::prior_delivered`].

use crate::arithmetic::math;
use crate::event::{Loss, RateSample};
use crate::time::{Rate, Span, Time};

const NANOS: u64 = 1_000_000_000;

impl Rate {
    /// Rate of `bytes` bytes in `interval`, cut to whole bytes per second; [`u64::MAX`] for an interval
    /// of zero.
    #[inline]
    pub const fn of(bytes: u64, interval: Span) -> Rate {
        Rate(math::mul_div(bytes, NANOS, interval.0))
    }

    /// Bytes in a time at this rate, cut to a whole number.
    #[inline]
    pub const fn volume(self, time: Span) -> u64 {
        math::mul_div(self.0, time.0, NANOS)
    }
}

impl RateSample {
    /// The delivery rate; zero for an invalid sample.
    #[inline]
    pub const fn rate(&self) -> Rate {
        if self.is_valid() { Rate::of(self.delivered, self.interval) } else { Rate(0) }
    }
}

/// State of the sampler at the sending of a segment. The host stores it with the segment and replaces
/// it when the segment is retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct SentRecord {
    /// Departure time of the segment (with pacing, its paced departure time).
    pub sent_time: Time,
    /// Departure time of the latest delivered segment, at which the send interval begins.
    pub first_sent_time: Time,
    /// Time of the latest delivery, at which the acknowledgement interval begins.
    pub delivered_time: Time,
    /// Bytes delivered before the sending.
    pub delivered: u64,
    /// Bytes deemed lost before the sending.
    pub lost: u64,
    /// Bytes in flight, including this segment.
    pub tx_in_flight: u64,
    /// True if the application limited the sender.
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
    /// Samples are limited by the application until this number of bytes is delivered.
    app_limited_until: u64,
    /// The latest segment that the current acknowledgement delivered.
    newest: Option<Newest>,
    app_limited: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Newest {
    record: SentRecord,
    /// Stream offset of its end, which orders segments sent at the same time.
    end: u64,
}

impl RateSampler {
    /// The sampler of a connection that begins at `now`.
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

    /// Bytes deemed lost so far; a second loss of the same bytes counts again.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// True if data sent now counts as limited by the application.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    /// Records that a segment of `bytes` leaves at `sent_time`. `outstanding` bytes, without this
    /// segment, are not yet acknowledged. `in_flight` of them are in the network: neither deemed lost
    /// nor acknowledged selectively. With nothing outstanding both intervals start again, so that a
    /// pause does not count as slow delivery. Bytes deemed lost are outstanding: an interval over a
    /// timeout includes the wait (`SND.NXT == SND.UNA` in draft-cheng-iccrg-delivery-rate-estimation-02
    /// section 3.2, Linux's `packets_out`).
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

    /// Records that a segment with this record, or one of its transmissions, is deemed lost.
    pub fn on_lost(&mut self, record: &SentRecord, bytes: u64) -> Loss {
        self.lost = self.lost.saturating_add(bytes);
        Loss {
            bytes,
            tx_in_flight: record.tx_in_flight,
            lost_since_sent: self.lost.saturating_sub(record.lost),
            app_limited: record.app_limited,
        }
    }

    /// Records the delivery of `bytes` new bytes. `record` is the segment's latest record and `end` the
    /// stream offset of its end. Without SACK a duplicate acknowledgement delivers an unknown segment,
    /// which has no record: it counts, but gives no sample.
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

    /// Returns the sample of the acknowledgement whose deliveries have all been recorded. `min_rtt` is
    /// the minimum RTT. A shorter interval comes from an acknowledgement of an earlier transmission,
    /// and its rate is invalid. Such a sample still gives the bytes delivered and lost since the
    /// segment was sent. Without a delivery the result is [`RateSample::NONE`].
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

    /// Records that the application limits the sender. The window and the pacing rate would allow more
    /// data, all lost data is retransmitted, and there is nothing else to send. Data sent until the gap
    /// is acknowledged counts as limited by the application. The host must check this first when the
    /// application writes, an acknowledgement arrives or a timer expires.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = true;
        self.app_limited_until = self.delivered.saturating_add(in_flight);
    }
}
