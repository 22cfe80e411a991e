//! Delays of packets and messages, and their variation.

use serde::{Deserialize, Serialize};
use windlass_cc::{Span, Time};

use crate::age::{Age, Ages};
use crate::arrivals::{ArrivalProcess, Arrivals};
use crate::quantiles::Times;
use crate::traffic::Cbr;

/// Delays of a flow's data packets, including retransmissions. A delay begins when the sender hands
/// the packet to its first link or radio, and ends on arrival.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Transit {
    /// Sum of the differences between the delays of successive arrivals.
    varied_ns: u64,
    /// Interarrival jitter of RFC 3550 section 6.4.1, in sixteenths of a nanosecond.
    smoothed: u64,
    first: Time,
    last: Time,
    last_delay_ns: u64,
    delays: Times,
}

impl Transit {
    /// Records the arrival of a packet that was sent at `sent`.
    pub fn arrival(&mut self, sent: Time, now: Time) {
        let delay = now.since(sent).0;
        if self.delays.count() == 0 {
            self.first = now;
        } else {
            let change = delay.abs_diff(self.last_delay_ns);
            self.varied_ns += change;
            // J += (|D| - J) / 16, with the integer arithmetic of the RFC's appendix A.8.
            self.smoothed = self.smoothed + change - ((self.smoothed + 8) >> 4);
        }
        self.delays.add(delay);
        (self.last, self.last_delay_ns) = (now, delay);
    }

    /// The results; `None` without a packet.
    pub fn result(&self) -> Option<TransitResult> {
        let n = self.delays.count();
        let ms = |ns: u64| ns as f64 / 1e6;
        let per_gap = |ns: u64| (n > 1).then(|| ms(ns) / (n - 1) as f64);
        (n > 0).then(|| TransitResult {
            packets: n,
            mean_ms: self.delays.mean_ms(),
            min_ms: self.delays.min_ms(),
            max_ms: self.delays.max_ms(),
            jitter_ms: per_gap(self.varied_ns),
            jitter_smoothed_ms: (n > 1).then(|| ms(self.smoothed) / 16.0),
            gap_ms: per_gap(self.last.since(self.first).0),
            p50_ms: self.delays.quantile_ms(0.5),
            p95_ms: self.delays.quantile_ms(0.95),
            p99_ms: self.delays.quantile_ms(0.99),
        })
    }
}

/// RTT samples of a flow's data sender; of all subflows for a multipath connection.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RttResult {
    /// Number of samples.
    pub samples: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Median, within 0.4 %.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Maximum.
    pub max_ms: f64,
}

impl RttResult {
    /// `None` without a sample.
    pub(crate) fn of(rtts: &Times) -> Option<RttResult> {
        Some(RttResult {
            samples: rtts.count(),
            p50_ms: rtts.quantile_ms(0.5)?,
            p95_ms: rtts.quantile_ms(0.95)?,
            p99_ms: rtts.quantile_ms(0.99)?,
            mean_ms: rtts.mean_ms(),
            max_ms: rtts.max_ms(),
        })
    }
}

/// Delays of a flow's data packets. Each retransmission counts as a packet.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct TransitResult {
    /// Data packets that arrived.
    pub packets: u64,
    /// Mean one-way delay.
    pub mean_ms: f64,
    /// Minimum one-way delay. Any additional delay was caused by queues and retries.
    pub min_ms: f64,
    /// Maximum one-way delay.
    pub max_ms: f64,
    /// Mean difference between the delays of successive arrivals, `|(r_i - r_j) - (s_i - s_j)|`;
    /// `None` for fewer than two arrivals.
    pub jitter_ms: Option<f64>,
    /// Smoothed jitter at the last arrival (RFC 3550 section 6.4.1).
    pub jitter_smoothed_ms: Option<f64>,
    /// Mean time between arrivals.
    pub gap_ms: Option<f64>,
    /// Median one-way delay, within 0.4 %; `None` in older results without this value.
    #[serde(default)]
    pub p50_ms: Option<f64>,
    /// 95th percentile of the one-way delay.
    #[serde(default)]
    pub p95_ms: Option<f64>,
    /// 99th percentile of the one-way delay.
    #[serde(default)]
    pub p99_ms: Option<f64>,
}

/// Messages of a flow over TCP, at regular or random times, as the receiving application sees them.
/// A message has arrived when its last byte has been read.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Messages that have not arrived.
    ahead: Ahead,
    start: Time,
    deadline: Span,
    latencies_ns: Vec<u64>,
    /// Writing times of messages that later messages have overtaken.
    overtaken: Vec<Time>,
    /// Bytes of the messages that have arrived.
    bytes: u64,
    age: Age,
}

/// Messages that have not arrived.
#[derive(Clone, Debug)]
enum Ahead {
    Clock { cbr: Cbr, due: Time },
    Drawn(ArrivalProcess),
}

impl Ahead {
    /// Writing time of the first of these messages, and its bytes; `None` after the last.
    fn next(&self) -> Option<(Time, u64)> {
        match self {
            Ahead::Clock { cbr, due } => (*due < cbr.stop).then_some((*due, cbr.packet)),
            Ahead::Drawn(process) => process.next(),
        }
    }

    fn advance(&mut self) {
        match self {
            Ahead::Clock { cbr, due } => *due += Span(cbr.interval.0.max(1)),
            Ahead::Drawn(process) => process.advance(),
        }
    }
}

impl Messages {
    /// Messages of a source that begins at `start`; `None` without a deadline.
    pub fn new(cbr: Cbr, start: Time) -> Option<Messages> {
        Some(Messages::ahead(Ahead::Clock { cbr, due: start }, start, cbr.deadline?))
    }

    /// Messages of a random arrival process; `None` without a deadline.
    pub fn of_arrivals(arrivals: Arrivals, start: Time) -> Option<Messages> {
        let process = ArrivalProcess::new(arrivals, start);
        Some(Messages::ahead(Ahead::Drawn(process), start, arrivals.deadline?))
    }

    fn ahead(ahead: Ahead, start: Time, deadline: Span) -> Messages {
        let (latencies_ns, overtaken, age) = (Vec::new(), Vec::new(), Age::default());
        Messages { ahead, start, deadline, latencies_ns, overtaken, bytes: 0, age }
    }

    /// Records that the application has read this total number of bytes.
    pub fn read(&mut self, now: Time, bytes: u64) {
        while let Some((due, size)) = self.ahead.next()
            && bytes >= self.bytes + size
        {
            self.bytes += size;
            self.latencies_ns.push(now.since(due).0);
            self.age.read(due, now);
            self.ahead.advance();
        }
    }

    /// Records the arrival of the message written at `due`, regardless of earlier messages. Call it
    /// once per message.
    pub fn arrived(&mut self, now: Time, due: Time) {
        while let Some((next, _)) = self.ahead.next()
            && next <= due
        {
            self.overtaken.push(next);
            self.ahead.advance();
        }
        self.overtaken.retain(|written| *written != due);
        self.latencies_ns.push(now.since(due).0);
        self.age.read(due, now);
    }

    /// Latencies of the messages that have arrived, nanoseconds, in order of arrival.
    pub fn latencies_ns(&self) -> &[u64] {
        &self.latencies_ns
    }

    /// Results at `now`.
    pub fn result(&self, now: Time) -> MessageResult {
        Messages::together([self], now).unwrap_or_default()
    }

    /// Results of the messages of several flows at `now`, with equal weight for each message;
    /// `None` without a flow. Rare messages have percentiles only over all flows together.
    pub fn together<'a>(
        flows: impl IntoIterator<Item = &'a Messages>,
        now: Time,
    ) -> Option<MessageResult> {
        let (mut latencies, mut counts, mut ages) = (Vec::new(), None, Vec::new());
        for flow in flows {
            let [unread, overdue] = flow.unread(now);
            latencies.extend_from_slice(&flow.latencies_ns);
            let [sent, late, undelivered] = counts.get_or_insert([0; 3]);
            *sent += flow.latencies_ns.len() as u64 + unread;
            *late += flow.read_late() + overdue;
            *undelivered += overdue;
            ages.push(&flow.age);
        }
        let ages = Ages::until(ages, now);
        let quantile = |share| ages.as_ref().map(|ages| ages.quantile_ms(share));
        counts.map(|[sent, late, undelivered]| MessageResult {
            sent,
            late,
            age_mean_ms: ages.as_ref().map(Ages::mean_ms),
            age_p50_ms: quantile(0.5),
            age_p95_ms: quantile(0.95),
            age_max_ms: ages.as_ref().map(Ages::max_ms),
            ..latencies_of(latencies, undelivered)
        })
    }

    /// Number of messages written up to and including `now` that have not been read, and the number
    /// of these that are overdue.
    fn unread(&self, now: Time) -> [u64; 2] {
        let is_overdue = |due: Time| u64::from(now.since(due) > self.deadline);
        let overdue = self.overtaken.iter().map(|due| is_overdue(*due)).sum();
        let mut counts = [self.overtaken.len() as u64, overdue];
        let mut ahead = self.ahead.clone();
        while let Some((due, _)) = ahead.next()
            && due <= now
            && now >= self.start
        {
            counts[0] += 1;
            counts[1] += is_overdue(due);
            ahead.advance();
        }
        counts
    }

    fn read_late(&self) -> u64 {
        self.latencies_ns.iter().filter(|l| **l > self.deadline.0).count() as u64
    }
}

/// Counts and latencies of messages, some of which never arrived. Such a message has an infinite
/// latency. The mean is then infinite, and so are the percentiles within these messages.
pub(crate) fn latencies_of(mut latencies_ns: Vec<u64>, undelivered: u64) -> MessageResult {
    latencies_ns.sort_unstable();
    let arrived = latencies_ns.len() as u64;
    let all = arrived + undelivered;
    // Nearest rank: the smallest value that this share of the messages does not exceed.
    let rank = |share: f64| {
        let place = (share * all as f64).ceil() as usize;
        latencies_ns.get(place.saturating_sub(1)).map(|ns| *ns as f64 / 1e6)
    };
    let mean_ms = (arrived > 0 && undelivered == 0)
        .then(|| latencies_ns.iter().sum::<u64>() as f64 / 1e6 / arrived as f64);
    MessageResult {
        sent: all,
        arrived,
        undelivered,
        mean_ms,
        p50_ms: rank(0.5),
        p95_ms: rank(0.95),
        p99_ms: rank(0.99),
        max_ms: rank(1.0),
        ..MessageResult::default()
    }
}

/// Latencies of messages. A latency begins when the application writes the message, and ends when
/// the other application has read all of it. A message that has not arrived by its deadline has an
/// infinite latency. A message in transit at the end of the run that is not overdue is counted only
/// in `sent`.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct MessageResult {
    /// Messages written.
    pub sent: u64,
    /// Messages read.
    pub arrived: u64,
    /// Messages that arrived after their deadline, and undelivered messages.
    pub late: u64,
    /// Messages that have not arrived although their deadline has passed; part of `late`. 0 in
    /// older results without this value.
    #[serde(default)]
    pub undelivered: u64,
    /// Mean latency. In this field and the following fields, `None` means an infinite latency if
    /// messages are undelivered, and no latency otherwise.
    pub mean_ms: Option<f64>,
    /// 95th percentile of the latency.
    pub p95_ms: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_ms: Option<f64>,
    /// Maximum latency.
    pub max_ms: Option<f64>,
    /// Median latency. `None` in older results without this value, and so are the ages.
    #[serde(default)]
    pub p50_ms: Option<f64>,
    /// Mean age at the receiver over time, from the first message on. The age is the time since the
    /// writing of the newest message received.
    #[serde(default)]
    pub age_mean_ms: Option<f64>,
    /// Maximum age, including the age at the end.
    #[serde(default)]
    pub age_max_ms: Option<f64>,
    /// Median of the age over time; `None` in older results without this value.
    #[serde(default)]
    pub age_p50_ms: Option<f64>,
    /// 95th percentile of the age over time.
    #[serde(default)]
    pub age_p95_ms: Option<f64>,
}

impl MessageResult {
    /// Messages that arrived before their deadline.
    pub const fn on_time(&self) -> u64 {
        self.arrived.saturating_sub(self.late.saturating_sub(self.undelivered))
    }

    /// One of the latencies, infinite if messages that never arrived determine it; `None` without
    /// latencies.
    pub fn latency(&self, ms: Option<f64>) -> Option<f64> {
        or_infinite(ms, self.undelivered)
    }
}

/// A mean, a percentile or a maximum of times, `infinite` of which are infinite. `None` means
/// infinity if there are any.
pub(crate) fn or_infinite(ms: Option<f64>, infinite: u64) -> Option<f64> {
    ms.or((infinite > 0).then_some(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn delays_and_jitter_equal_a_hand_computed_example() {
        let mut transit = Transit::default();
        assert_eq!(transit.result(), None);
        for (sent, arrived) in [(0, 10), (20, 34), (40, 50), (60, 80)] {
            transit.arrival(MS(sent), MS(arrived));
        }
        let r = transit.result().unwrap();
        // Delays of 10, 14, 10 and 20 ms, which change by 4, 4 and 10.
        assert_eq!((r.packets, r.mean_ms, r.min_ms, r.max_ms), (4, 13.5, 10.0, 20.0));
        assert_eq!((r.jitter_ms, r.gap_ms), (Some(6.0), Some(70.0 / 3.0)));
        // 4/16, then plus (4 - 0.25)/16, then plus (10 - 0.484375)/16.
        assert!((r.jitter_smoothed_ms.unwrap() - 1.079_101_562_5).abs() < 1e-6);
    }

    #[test]
    fn late_and_overdue_messages_count_as_late() {
        let cbr = Cbr {
            packet: 100,
            interval: Span::from_millis(100),
            spread: Span::ZERO,
            stop: MS(10_000),
            deadline: Some(Span::from_millis(50)),
        };
        let mut messages = Messages::new(cbr, MS(1000)).unwrap();
        messages.read(MS(1020), 150); // the first, after 20 ms, and half of the second
        messages.read(MS(1220), 300); // the second after 120 ms, the third after 20 ms
        let r = messages.result(MS(1401)); // the fourth has been due for 101 ms, the fifth for 1 ms
        assert_eq!((r.sent, r.arrived, r.late, r.undelivered, r.on_time()), (5, 3, 2, 1, 2));
        // Of 20, 20, 120 and infinite milliseconds; the fifth may still come in time.
        assert_eq!((r.p50_ms, r.p95_ms, r.max_ms, r.mean_ms), (Some(20.0), None, None, None));
        assert_eq!(r.latency(r.p95_ms), Some(f64::INFINITY));
        let before = messages.result(MS(1350)); // the fourth is not overdue
        assert_eq!((before.sent, before.undelivered, before.max_ms), (4, 0, Some(120.0)));
        assert!((before.mean_ms.unwrap() - 160.0 / 3.0).abs() < 1e-9);
        assert!(Messages::new(Cbr { deadline: None, ..cbr }, MS(0)).is_none());
    }

    /// A message is written at the start and at every interval from then on. The events at the end
    /// time of a run still happen. At the stop no message is written.
    #[test]
    fn a_message_written_at_the_present_time_counts_as_sent() {
        let cbr = Cbr {
            packet: 100,
            interval: Span::from_millis(100),
            spread: Span::ZERO,
            stop: MS(1500),
            deadline: Some(Span::from_millis(50)),
        };
        let messages = Messages::new(cbr, MS(1000)).unwrap();
        let sent = |ms| messages.result(MS(ms)).sent;
        assert_eq!([0, 999, 1000, 1001, 1099, 1100].map(sent), [0, 0, 1, 1, 1, 2]);
        assert_eq!([1399, 1400, 1499, 1500, 1600].map(sent), [4, 5, 5, 5, 5]);
        let never = Messages::new(Cbr { stop: MS(900), ..cbr }, MS(1000)).unwrap();
        assert_eq!(never.result(MS(2000)).sent, 0);
    }

    #[test]
    fn percentiles_of_all_flows_pool_their_messages() {
        let cbr = Cbr {
            packet: 100,
            interval: Span::from_millis(100),
            spread: Span::ZERO,
            stop: MS(10_000),
            deadline: Some(Span::from_millis(50)),
        };
        // Three messages with 20 ms each, and one with 90 ms whose successors have not arrived.
        let [mut quick, mut slow] = [Messages::new(cbr, MS(0)), Messages::new(cbr, MS(0))]
            .map(|messages| messages.expect("a deadline"));
        for (at, bytes) in [(20, 100), (120, 200), (220, 300)] {
            quick.read(MS(at), bytes);
        }
        slow.read(MS(90), 100);
        let r = Messages::together([&quick, &slow], MS(251)).expect("two flows");
        assert_eq!((r.sent, r.arrived, r.late, r.undelivered), (6, 4, 3, 2));
        assert_eq!((r.p50_ms, r.p95_ms, r.mean_ms), (Some(20.0), None, None));
        assert_eq!(Messages::together([&quick], MS(251)), Some(quick.result(MS(251))));
        assert_eq!(Messages::together([], MS(251)), None);
    }

    #[test]
    fn age_grows_between_messages_and_drops_to_the_latency_of_a_new_message() {
        let cbr = Cbr {
            packet: 100,
            interval: Span::from_millis(100),
            spread: Span::ZERO,
            stop: MS(10_000),
            deadline: Some(Span::from_millis(50)),
        };
        let mut messages = Messages::new(cbr, MS(1000)).unwrap();
        assert_eq!(messages.result(MS(1010)).age_mean_ms, None);
        messages.read(MS(1020), 100); // 20 ms old
        messages.read(MS(1220), 200); // the previous message is 220 ms old, this message 120 ms
        let r = messages.result(MS(1320));
        // From 20 to 220 ms over 200 ms, from 120 to 220 ms over 100 ms.
        let mean = (120.0 * 200.0 + 170.0 * 100.0) / 300.0;
        assert!((r.age_mean_ms.unwrap() - mean).abs() < 1e-9, "{r:?}");
        assert_eq!((r.age_max_ms, r.p50_ms), (Some(220.0), Some(120.0)));
        // The age is below 120 ms for 100 of the 300 ms. Above it, two increases overlap.
        assert_eq!((r.age_p50_ms, r.age_p95_ms), (Some(145.0), Some(212.5)));
    }
}
