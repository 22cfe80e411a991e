//! Links with variable rate and delay, with reordering, policing or ACK shaping. The tests measure the
//! configured values at the ends of the link.

use std::sync::Arc;

use crate::common::{self, Traffic, cbr, flow, link, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, LinkConfig, LinkDirection};
use windlass_sim::course::{
    AckRule, AckShaping, Course, Distribution, Jitter, RateCourse, Reorder, Trace,
};
use windlass_sim::link::QueueLimit;
use windlass_sim::packet::Body;
use windlass_sim::queue::{CoDel, Discipline, Policer};
use windlass_sim::{RunResult, Simulation};
use windlass_tcp::segment::Codepoint;

const MBPS: u64 = 1_000_000;
const MS: fn(u64) -> Time = Time::from_millis;

/// A link with this schedule in the forward direction.
fn with(course: Course) -> LinkConfig {
    LinkConfig { course: [course, Course::default()].into(), ..link([0, 1], 100 * MBPS, 20) }
}

/// Sends packets with these sizes at these times through the link. Returns the index and the arrival time of
/// each delivered packet.
fn through(link: LinkConfig, packets: &[(Time, u32)]) -> Vec<(usize, Time)> {
    let datagrams = Traffic::CbrUdp(cbr(1, 1, Time::ZERO));
    let end = packets.last().expect("packets").0 + Span::from_millis(60_000);
    let config = network(vec![link], vec![flow([0, 1], rfc("newreno"), datagrams)], end);
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    let gates = [0, 1].map(|host| simulation.make_external(host)[0]);
    let mut out = Vec::new();
    let mut take = |simulation: &mut Simulation| {
        out.extend(simulation.take_egress().map(|e| match e.body {
            Body::Datagram { len, .. } => (len as usize, e.time),
            _ => panic!("only datagrams were sent"),
        }));
    };
    for (i, (at, size)) in packets.iter().enumerate() {
        simulation.run_until(*at);
        take(&mut simulation);
        simulation.inject(
            gates[0],
            *size,
            Body::Datagram { len: i as u32, ecn: Codepoint::NotEct },
        );
    }
    simulation.run();
    take(&mut simulation);
    simulation.finish().expect("packets conserved");
    out
}

/// `n` packets of 125 B, which take 10 µs each, with this distance between their times.
fn train(n: u64, apart: Span) -> Vec<(Time, u32)> {
    (0..n).map(|i| (Time(i * apart.0), 125)).collect()
}

#[test]
fn a_trace_under_load_delivers_a_packet_at_each_of_its_opportunities() {
    let trace = Arc::new(Trace::new(vec![1, 4, 4, 9, 30, 31]).unwrap());
    let course = Course { rate: Some(RateCourse::Trace(trace)), ..Course::default() };
    let out = through(with(course), &[(Time::ZERO, 1500); 12]);
    let expected = [1, 4, 4, 9, 30, 31, 32, 35, 35, 40, 61, 62];
    let expected: Vec<_> = expected.iter().map(|ms| MS(20 + ms)).enumerate().collect();
    assert_eq!(out, expected);
}

#[test]
fn a_disciplined_queue_gives_a_trace_the_same_packets() {
    let trace = Arc::new(Trace::new(vec![1, 4, 4, 9, 30, 31]).unwrap());
    let course = Course { rate: Some(RateCourse::Trace(trace)), ..Course::default() };
    let policer = Discipline::Policer(Policer { rate: MBPS, burst: 1 << 20 });
    let disciplined = LinkConfig { discipline: policer, ..with(course.clone()) };
    let packets: Vec<(Time, u32)> =
        (0..40).map(|i| (MS(i * 5 / 2), 300 + 40 * (i as u32 % 7))).collect();
    assert_eq!(through(disciplined, &packets), through(with(course), &packets));
}

#[test]
fn delays_that_repeat_begin_again_with_the_links_own_delay() {
    let ms = Span::from_millis;
    let course = Course {
        delays: vec![(MS(100), ms(80))],
        delays_repeat: Some(ms(200)),
        ..Course::default()
    };
    let source = Traffic::CbrUdp(cbr(100, 50_000, MS(499)));
    let mut config =
        network(vec![with(course)], vec![flow([0, 1], rfc("reno"), source)], MS(1_000));
    config.record.capture = vec![0];
    let result = run(config);
    let of = |fate| result.packets.iter().filter(move |p| p.fate == fate).map(|p| p.time);
    let sent = of(windlass_sim::PacketFate::Sent);
    let delays: Vec<u64> = sent
        .zip(of(windlass_sim::PacketFate::Delivered))
        .map(|(sent, arrived)| arrived.since(sent).0 / 1_000_000)
        .collect();
    // The packet of 200 ms does not overtake that of 150 ms.
    assert_eq!(delays, [20, 20, 80, 80, 30, 20, 80, 80, 30, 20]);
}

#[test]
fn rates_and_delays_change_at_their_times_and_packets_keep_their_order() {
    let course = Course {
        rate: Some(RateCourse::Steps(vec![(Time::ZERO, MBPS), (MS(100), 10 * MBPS)])),
        delays: vec![(MS(50), Span::from_millis(80)), (MS(150), Span::from_millis(10))],
        ..Course::default()
    };
    let at = [0, 60, 145, 150].map(|ms| (MS(ms), 1250));
    // The delay is 10 ms at first, then 1 ms. The last packet would arrive at 161 ms, but waits for the
    // previous one.
    let expected = [30, 150, 226, 226].map(MS);
    let out: Vec<Time> = through(with(course), &at).into_iter().map(|(_, at)| at).collect();
    assert_eq!(out, expected);
}

/// Maximum distance between the distribution of these values and `cdf` (Kolmogorov and Smirnov).
fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let gap = |(i, v): (usize, &f64)| {
        (cdf(*v) - i as f64 / n).abs().max(((i + 1) as f64 / n - cdf(*v)).abs())
    };
    values.iter().enumerate().map(gap).fold(0.0, f64::max)
}

#[test]
fn measured_jitter_has_the_configured_distribution() {
    let n = 20_000;
    let packets = train(n, Span::from_millis(40)); // larger than the differences of delays
    let delays = |distribution, by_ms| {
        let by = Span::from_millis(by_ms);
        let jitter = Some(Jitter { distribution, by, overtaking: false });
        let out = through(with(Course { jitter, ..Course::default() }), &packets);
        assert_eq!(out.len() as u64, n);
        let delay = |(i, at): (usize, Time)| at.since(packets[i].0).0 as f64 / 1e6 - 20.01;
        out.into_iter().map(delay).collect::<Vec<f64>>()
    };
    // 99th percentile of the distance for samples of the distribution itself.
    let bound = 1.63 / (n as f64).sqrt();
    let uniform = distance(delays(Distribution::Uniform, 8), |ms| (ms + 8.0) / 16.0);
    let exponential = distance(delays(Distribution::Exponential, 3), |ms| 1.0 - (-ms / 3.0).exp());
    assert!(uniform < bound && exponential < bound, "{uniform} {exponential} {bound}");
    let normal = delays(Distribution::Normal, 5);
    let (mean, _) = common::mean_and_error(&normal);
    let deviation = (normal.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    // Truncated at three standard deviations, the normal distribution has 0.9866 of its standard deviation.
    assert!(mean.abs() < 4.0 * 5.0 / (n as f64).sqrt(), "{mean}");
    assert!((deviation / 5.0 - 0.9866).abs() < 0.02, "{deviation}");
    assert!(normal.iter().all(|ms| ms.abs() <= 15.001));
}

#[test]
fn jitter_reorders_only_if_overtaking_is_allowed() {
    let packets = train(2_000, Span::from_millis(1));
    let order = |overtaking| {
        let by = Span::from_millis(10);
        let jitter = Some(Jitter { distribution: Distribution::Uniform, by, overtaking });
        let out = through(with(Course { jitter, ..Course::default() }), &packets);
        assert_eq!(out.len(), 2_000);
        out.windows(2).filter(|pair| pair[0].0 > pair[1].0).count()
    };
    assert_eq!(order(false), 0);
    assert!(order(true) > 200);
}

/// RFC 4737 section 4.2.2: for each late packet, the number of packets that were sent later and arrived
/// earlier.
fn extents(out: &[(usize, Time)]) -> Vec<usize> {
    let late = |i: usize| out[..i].iter().filter(|(other, _)| *other > out[i].0).count();
    (0..out.len()).map(late).filter(|extent| *extent > 0).collect()
}

#[test]
fn measured_reordering_has_the_configured_share_and_extent() {
    let n = 4_000;
    let (share, packets) = (0.02, 5);
    let reorder = Some(Reorder { share, packets, within: Span::from_millis(500) });
    let course = Course { reorder, ..Course::default() };
    let out = through(with(course), &train(n, Span::from_millis(2)));
    assert_eq!(out.len() as u64, n);
    let extents = extents(&out);
    let expected = share * n as f64;
    assert!((extents.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{}", extents.len());
    // If two packets are held at the same time, an extent may be greater than five.
    let exact = extents.iter().filter(|extent| **extent == 5).count();
    assert!(exact as f64 > 0.95 * extents.len() as f64, "{extents:?}");
    // This holds although packets reuse the memory of earlier packets before their time is over.
    assert_eq!(extents.iter().min(), Some(&5), "a held packet waits for five others");
}

#[test]
fn a_held_packet_without_successors_is_released_after_its_time() {
    let reorder = Some(Reorder { share: 1.0, packets: 3, within: Span::from_millis(50) });
    let course = Course { reorder, ..Course::default() };
    let out = through(with(course), &[(Time::ZERO, 1250)]);
    assert_eq!(out, [(0, Time(70_100_000))]);
}

fn transfer(shape: impl FnOnce(&mut LinkConfig)) -> RunResult {
    let bulk = Traffic::Bulk { bytes: Some(2_000_000) };
    let mut config: Config = network(
        vec![link([0, 1], 10 * MBPS, 20)],
        vec![flow([0, 1], rfc("cubic"), bulk)],
        MS(60_000),
    );
    shape(&mut config.links[0]);
    run(config)
}

#[test]
fn thinned_acknowledgements_are_fewer_and_the_transfer_completes() {
    let acks = |rule| Some(AckShaping { rule, count: 8, within: Span::from_millis(30) });
    let plain = transfer(|_| ());
    let thin = transfer(|l| l.course[1].acks = acks(AckRule::Thin));
    let gathered = transfer(|l| l.course[1].acks = acks(AckRule::Gather));
    for result in [&plain, &thin, &gathered] {
        assert_eq!(result.flows[0].delivered_bytes, 2_000_000);
        assert_eq!(result.flows[0].rto_count, 0);
    }
    let [plain, thin, gathered] = [plain, thin, gathered].map(|r| r.links[1].clone());
    assert_eq!((plain.drops, gathered.drops), (0, 0));
    assert!(thin.drops_thinned > 0);
    assert_eq!((thin.drops, thin.drops_error), (thin.drops_thinned, 0));
    let kept = thin.delivered as f64 / thin.sent as f64;
    assert!((0.12..0.25).contains(&kept), "{kept}");
}

#[test]
fn thinned_acknowledgements_are_counted_with_a_queue_before_the_link() {
    let result = transfer(|l| {
        l.discipline = Discipline::CoDel(CoDel::DEFAULT);
        let (rule, within) = (AckRule::Thin, Span::from_millis(30));
        l.course[1].acks = Some(AckShaping { rule, count: 8, within });
    });
    let back = &result.links[1];
    assert!(back.drops_thinned > 0);
    assert_eq!(back.drops, back.drops_queue + back.drops_thinned);
    assert_eq!(back.sent, back.delivered + back.drops + back.inside);
}

#[test]
fn gathered_acknowledgements_arrive_together() {
    let shaping = AckShaping { rule: AckRule::Gather, count: 8, within: Span::from_millis(30) };
    let mut config = {
        let bulk = Traffic::Bulk { bytes: Some(500_000) };
        network(
            vec![link([0, 1], 10 * MBPS, 20)],
            vec![flow([0, 1], rfc("cubic"), bulk)],
            MS(9_000),
        )
    };
    config.links[0].course[1].acks = Some(shaping);
    config.record.capture = vec![0];
    let result = run(config);
    let came: Vec<Time> = (result.packets.iter())
        .filter(|p| p.link == 1 && p.fate == windlass_sim::PacketFate::Delivered)
        .map(|p| p.time)
        .collect();
    assert_eq!(came.len() as u64, result.links[1].delivered);
    let together = came.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(together as f64 > 0.7 * came.len() as f64, "{together} of {}", came.len());
}

#[test]
fn the_reverse_direction_has_its_own_rate_delay_and_queue() {
    let back = |rate_bps, queue| LinkDirection {
        rate_bps,
        delay: Span::from_millis(300),
        queue,
        discipline: Discipline::DropTail,
    };
    let there = LinkConfig {
        back: Some(Box::new(back(MBPS, QueueLimit::Unlimited))),
        ..link([0, 1], 10 * MBPS, 20)
    };
    // The same path with its ends exchanged.
    let mut here = link([1, 0], MBPS, 300);
    here.back = Some(Box::new(LinkDirection {
        rate_bps: 10 * MBPS,
        delay: Span::from_millis(20),
        ..back(MBPS, QueueLimit::Unlimited)
    }));
    let bulk = || Traffic::Bulk { bytes: Some(300_000) };
    let run_over =
        |link| run(network(vec![link], vec![flow([0, 1], rfc("newreno"), bulk())], MS(60_000)));
    let [a, b] = [run_over(there), run_over(here)];
    assert_eq!(a.flows, b.flows);
    let min_rtt = a.flows[0].min_rtt_ms.unwrap();
    assert!((320.0..325.0).contains(&min_rtt), "{min_rtt}");
    let thin = transfer(|l| l.back = Some(Box::new(back(20_000, QueueLimit::Packets(2)))));
    assert!(thin.links[1].drops_queue > 0 && thin.links[0].drops_queue == 0);
}

#[test]
fn a_policed_flow_gets_the_policers_rate() {
    let policer = Discipline::Policer(Policer { rate: 2 * MBPS, burst: 15_000 });
    let result = transfer(|l| l.discipline = policer);
    assert!(result.links[0].drops_early > 0);
    let goodput = result.flows[0].goodput_bps / 1e6;
    assert!((1.0..1.95).contains(&goodput), "{goodput}");
}
