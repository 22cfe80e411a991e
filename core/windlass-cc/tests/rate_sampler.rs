//! Delivery-rate samples and pacing, compared with timelines computed by hand and with an `f64` model.

use windlass_cc::pacer;
use windlass_cc::{Pacer, Rate, RateSample, RateSampler, SentRecord, Span, Time};

const MSS: u64 = 1_000;

fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Bytes per second of a sample, by its definition.
fn rate(s: &RateSample) -> f64 {
    assert!(s.is_valid(), "{s:?}");
    s.delivered as f64 / (s.interval.0 as f64 * 1e-9)
}

/// Sends a segment with `in_flight` bytes in flight, none of them lost.
fn send_one(s: &mut RateSampler, at: u64, in_flight: u64) -> SentRecord {
    s.on_sent(ms(at), in_flight, in_flight, MSS)
}

/// Sends `n` segments, one per `gap` ms from `start`, all before any acknowledgement.
fn send(s: &mut RateSampler, start: u64, gap: u64, n: u64) -> Vec<SentRecord> {
    (0..n).map(|i| send_one(s, start + i * gap, i * MSS)).collect()
}

#[test]
fn a_steady_ack_clock_measures_the_bottleneck_not_the_burst() {
    // Ten segments leave at once at 0; the bottleneck passes one per 10 ms; RTT 100 ms.
    let mut s = RateSampler::new(Time::ZERO);
    let sent = send(&mut s, 0, 0, 10);
    for (i, record) in sent.iter().enumerate() {
        s.on_delivered(ms(110 + 10 * i as u64), MSS, (i as u64 + 1) * MSS, Some(record));
        let sample = s.sample(Span::NONE);
        // The interval begins at the flight's start: (i + 1) segments since then.
        let expected = (i + 1) as f64 * 1e3 / (0.110 + 0.010 * i as f64);
        assert!((rate(&sample) - expected).abs() < 1e-6, "{i}");
    }
    // A second flight, with one segment sent per acknowledgement: the full 100 segments per second.
    let mut s = RateSampler::new(Time::ZERO);
    let mut queue: Vec<_> = send(&mut s, 0, 0, 10);
    let mut last = None;
    for i in 0..60u64 {
        let now = 110 + 10 * i;
        let record = queue.remove(0);
        s.on_delivered(ms(now), MSS, i * MSS, Some(&record));
        last = Some(s.sample(Span::NONE));
        queue.push(send_one(&mut s, now, 9 * MSS));
    }
    assert!((rate(&last.unwrap()) - 1e5).abs() < 1e-6);
}

#[test]
fn aggregated_acknowledgements_never_exceed_the_send_rate() {
    // Paced at one segment per 10 ms, but all acknowledgements arrive together at 200 ms.
    let mut s = RateSampler::new(Time::ZERO);
    let first = send(&mut s, 0, 10, 10);
    for (i, record) in first.iter().enumerate() {
        s.on_delivered(ms(200), MSS, i as u64 * MSS, Some(record));
    }
    s.sample(Span::NONE);
    // The next ten leave from 200 ms, paced in the same way, with the last of the first ten still
    // counted in flight. Their acknowledgements arrive in two bursts 1 ms apart.
    let second: Vec<_> = (0..10u64).map(|i| send_one(&mut s, 210 + 10 * i, MSS)).collect();
    for (i, record) in second[..5].iter().enumerate() {
        s.on_delivered(ms(399), MSS, (10 + i as u64) * MSS, Some(record));
    }
    s.sample(Span::NONE);
    for (i, record) in second[5..].iter().enumerate() {
        s.on_delivered(ms(400), MSS, (15 + i as u64) * MSS, Some(record));
    }
    let sample = s.sample(Span::NONE);
    // Ten segments. The send interval is 210 ms, from the last segment of the first flight (90 ms) to
    // 300 ms. The acknowledgement interval from 200 to 400 ms is shorter.
    assert_eq!((sample.delivered, sample.interval), (10 * MSS, Span::from_millis(210)));
    assert!(rate(&sample) <= 1e5);
}

#[test]
fn silence_does_not_count_as_slow_delivery() {
    let mut s = RateSampler::new(Time::ZERO);
    let only = send_one(&mut s, 0, 0);
    s.on_delivered(ms(100), MSS, MSS, Some(&only));
    s.sample(Span::NONE);
    // No data in flight for a minute.
    let after = send_one(&mut s, 60_000, 0);
    s.on_delivered(ms(60_100), MSS, 2 * MSS, Some(&after));
    let sample = s.sample(Span::NONE);
    assert_eq!((sample.delivered, sample.interval), (MSS, Span::from_millis(100)));
}

#[test]
fn the_bubble_of_an_application_limited_sender_marks_samples_until_it_is_acknowledged() {
    let mut s = RateSampler::new(Time::ZERO);
    let a = send_one(&mut s, 0, 0);
    let b = send_one(&mut s, 1, MSS);
    s.on_app_limited(2 * MSS);
    let c = send_one(&mut s, 50, 2 * MSS);
    assert!(!a.app_limited && !b.app_limited && c.app_limited);
    s.on_delivered(ms(100), MSS, MSS, Some(&a));
    assert!(!s.sample(Span::NONE).app_limited, "sent before the bubble");
    s.on_delivered(ms(101), MSS, 2 * MSS, Some(&b));
    s.sample(Span::NONE);
    // All data in flight at the start of the limit is delivered, but not yet the limited data.
    let d = send_one(&mut s, 102, MSS);
    assert!(d.app_limited);
    s.on_delivered(ms(150), MSS, 3 * MSS, Some(&c));
    assert!(s.sample(Span::NONE).app_limited);
    assert!(!send_one(&mut s, 151, MSS).app_limited, "the bubble has left the pipe");
}

#[test]
fn an_interval_below_the_minimum_rtt_counts_as_delivery_without_a_rate() {
    // A retransmission at 300 ms; the acknowledgement at 310 ms was for the first transmission.
    let mut s = RateSampler::new(Time::ZERO);
    let first = send_one(&mut s, 0, 0);
    let loss = s.on_lost(&first, MSS);
    assert_eq!((loss.tx_in_flight, loss.lost_since_sent), (MSS, MSS));
    let again = s.on_sent(ms(300), 0, 0, MSS);
    s.on_delivered(ms(310), MSS, MSS, Some(&again));
    let sample = s.sample(Span::from_millis(100));
    assert!(!sample.is_valid());
    assert_eq!((sample.delivered, sample.prior_delivered, sample.lost), (MSS, 0, 0));
    // At exactly the minimum RTT it is valid.
    let next = send_one(&mut s, 400, 0);
    s.on_delivered(ms(500), MSS, 2 * MSS, Some(&next));
    assert_eq!(s.sample(Span::from_millis(100)).interval, Span::from_millis(100));
}

#[test]
fn the_interval_of_a_retransmission_includes_the_wait_for_the_timeout() {
    // One segment, deemed lost at 300 ms with nothing else in flight: it is still outstanding.
    let mut s = RateSampler::new(Time::ZERO);
    let first = send_one(&mut s, 0, 0);
    s.on_lost(&first, MSS);
    let again = s.on_sent(ms(300), MSS, 0, MSS);
    s.on_delivered(ms(400), MSS, MSS, Some(&again));
    assert_eq!(s.sample(Span::from_millis(100)).interval, Span::from_millis(400));
}

#[test]
fn a_retransmission_samples_the_time_since_its_own_transmission() {
    // Four segments: the first is lost, and the others are delivered from 100 ms on. The retransmission
    // at 110 ms is delivered at 210 ms.
    let mut s = RateSampler::new(Time::ZERO);
    let sent = send(&mut s, 0, 5, 4);
    s.on_delivered(ms(105), MSS, 2 * MSS, Some(&sent[1]));
    s.sample(Span::NONE);
    s.on_delivered(ms(110), MSS, 3 * MSS, Some(&sent[2]));
    s.sample(Span::NONE);
    let loss = s.on_lost(&sent[0], MSS);
    assert_eq!((loss.bytes, loss.lost_since_sent, loss.tx_in_flight), (MSS, MSS, MSS));
    let again = send_one(&mut s, 110, MSS);
    s.on_delivered(ms(115), MSS, 4 * MSS, Some(&sent[3]));
    let sample = s.sample(Span::NONE);
    assert_eq!((sample.lost, sample.delivered), (MSS, 3 * MSS));
    s.on_delivered(ms(210), MSS, MSS, Some(&again));
    let sample = s.sample(Span::NONE);
    // Since the acknowledgement at 110 ms: two segments, 100 ms.
    assert_eq!((sample.delivered, sample.interval), (2 * MSS, Span::from_millis(100)));
    assert_eq!(sample.lost, 0, "nothing was lost since the retransmission");
}

#[test]
fn the_last_sent_segment_gives_the_sample_for_any_order_of_delivery() {
    let mut s = RateSampler::new(Time::ZERO);
    let a = send_one(&mut s, 0, 0);
    s.on_delivered(ms(100), MSS, MSS, Some(&a));
    s.sample(Span::NONE);
    let b = send_one(&mut s, 100, MSS);
    let c = send_one(&mut s, 100, 2 * MSS);
    for order in [[(&b, 2), (&c, 3)], [(&c, 3), (&b, 2)]] {
        let mut s = s;
        for (record, end) in order {
            s.on_delivered(ms(200), MSS, end * MSS, Some(record));
        }
        assert_eq!(s.sample(Span::NONE).tx_in_flight, 3 * MSS);
    }
}

#[test]
fn a_duplicate_without_sack_counts_but_makes_no_sample() {
    let mut s = RateSampler::new(Time::ZERO);
    let sent = send(&mut s, 0, 0, 2);
    s.on_delivered(ms(100), MSS, 0, None);
    assert_eq!(s.delivered(), MSS);
    assert_eq!(s.sample(Span::NONE), RateSample::NONE);
    s.on_delivered(ms(101), MSS, 2 * MSS, Some(&sent[1]));
    assert_eq!(s.sample(Span::NONE).delivered, 2 * MSS);
}

#[test]
fn departure_times_are_exact_at_rates_that_do_not_divide_a_second() {
    let params = pacer::Params::default();
    for rate in [3u64, 7_777, 1_460, 1_000_003, 125_000_000, 3_999_999_999] {
        let mut pacer = Pacer::new(&params);
        let start = Time::from_secs(5);
        let mut now = start;
        for n in 0..10_000u64 {
            assert!(pacer.ready(now));
            // Sizes that differ between packets.
            let before: u64 = (0..n % 3).map(|i| 100 + i).sum::<u64>() + (n / 3) * 303;
            let expected = before as f64 * 1e9 / rate as f64;
            let error = (now.since(start).0 as f64 - expected).abs();
            assert!(error <= 1.0 + expected * 1e-15, "rate {rate}, packet {n}: {error} ns");
            pacer.on_sent(&params, now, 100 + n % 3, Rate(rate));
            now = pacer.next();
        }
    }
}

#[test]
fn a_change_of_rate_takes_the_fraction_along() {
    let params = pacer::Params::default();
    let mut pacer = Pacer::new(&params);
    let (mut now, mut expected) = (Time::ZERO, 0.0);
    for n in 0..100_000u64 {
        let rate = 1_000_003 + (n * 7_919) % 5_000_000;
        pacer.on_sent(&params, now, 1_460, Rate(rate));
        now = pacer.next();
        expected += 1_460e9 / rate as f64;
    }
    // Each change may round the fraction down by one unit in the last place of 1/rate ns.
    assert!((now.0 as f64 - expected).abs() < 2.0, "{} {expected}", now.0);
}

#[test]
fn unused_time_is_not_made_up_for() {
    let params = pacer::Params::default();
    let mut pacer = Pacer::new(&params);
    pacer.on_sent(&params, ms(0), 1_000, Rate(1_000_000));
    assert_eq!(pacer.next(), ms(1));
    pacer.on_sent(&params, ms(500), 1_000, Rate(1_000_000));
    assert_eq!(pacer.next(), ms(501));
    assert!(!pacer.ready(Time(ms(501).0 - 1)));
}

#[test]
fn the_initial_burst_leaves_at_once_and_a_quantum_leaves_together() {
    let params = pacer::Params { initial_burst: 3_000, quantum: 2_000, credit: false };
    let mut pacer = Pacer::new(&params);
    let mut departures = vec![];
    let mut now = ms(7);
    for _ in 0..9 {
        departures.push(now.since(ms(7)).0 / 1_000_000);
        pacer.on_sent(&params, now, 1_000, Rate(1_000_000));
        now = now.max(pacer.next());
    }
    // Three without pacing, then two per 2 ms.
    assert_eq!(departures, [0, 0, 0, 0, 0, 2, 2, 4, 4]);
}

#[test]
fn a_rate_of_zero_does_not_pace() {
    let params = pacer::Params::default();
    let mut pacer = Pacer::new(&params);
    for _ in 0..10 {
        pacer.on_sent(&params, ms(3), u64::MAX, Rate(0));
        assert!(pacer.ready(ms(3)));
    }
}

#[test]
fn garbage_neither_panics_nor_goes_back_in_time() {
    let extremes = [0, 1, 1 << 40, u64::MAX - 1, u64::MAX];
    let mut s = RateSampler::new(Time(u64::MAX));
    let params = pacer::Params::default();
    let mut pacer = Pacer::new(&params);
    for &a in &extremes {
        for &b in &extremes {
            let record = s.on_sent(Time(a), a, b, b);
            s.on_lost(&record, a);
            s.on_delivered(Time(b), a, b, Some(&record));
            s.on_app_limited(b);
            s.sample(Span(a));
            let before = pacer.next();
            pacer.on_sent(&params, Time(a), b, Rate(b));
            assert!(pacer.next() >= before || b == 0);
        }
    }
}

#[test]
fn rates_and_volumes_are_quotients_cut_to_whole_bytes() {
    for bytes in [1u64, 999, 1_460, 123_456_789, 1 << 40] {
        for ns in [1u64, 999, 12_345, 40_400_000, 10_000_000_000] {
            let exact = (bytes as f64 * 1e9 / ns as f64).min(u64::MAX as f64);
            let rate = Rate::of(bytes, Span(ns));
            assert!(rate.0 as f64 <= exact * (1.0 + 1e-15), "{bytes} {ns}");
            assert!(exact - (rate.0 as f64) < 1.0 + exact * 1e-15, "{bytes} {ns}");
            let exact = bytes as f64 * ns as f64 * 1e-9;
            let volume = Rate(bytes).volume(Span(ns)) as f64;
            assert!(exact - volume < 1.0 + exact * 1e-12 && volume <= exact + 1e-6 * exact);
        }
    }
    assert_eq!(Rate::of(1, Span::ZERO).0, u64::MAX);
    assert_eq!(RateSample::NONE.rate(), Rate(0));
}
