//! Effects that textbooks describe.

use crate::common::{self, Traffic, cbr, dumbbell, flow, jain, link, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::ReadPolicy;
use windlass_sim::link::QueueLimit;
use windlass_sim::{RunResult, Series, Simulation};

fn goodputs(r: &RunResult) -> Vec<f64> {
    r.flows.iter().map(|f| f.goodput_bps).collect()
}

#[test]
fn two_reno_flows_share_a_bottleneck_fairly() {
    for seed in 1..=5 {
        let mut config = dumbbell(2, "newreno", Time::from_secs(300));
        config.seed = seed;
        // Without randomness, two synchronised flows would stay synchronised.
        config.links[0].loss[0] = common::drops(1e-4);
        config.flows[1].start = Time::from_millis(300 * seed);
        let r = run(config);
        let index = jain(&goodputs(&r));
        assert!(index > 0.9, "seed {seed}: {index}, {:?}", goodputs(&r));
        assert!(r.links[0].utilisation > 0.9, "seed {seed}: {}", r.links[0].utilisation);
    }
}

#[test]
fn the_flow_with_the_shorter_rtt_gets_more_goodput() {
    let mut config = dumbbell(2, "newreno", Time::from_secs(300));
    config.links[0].loss[0] = common::drops(1e-3);
    config.links[0].queue = QueueLimit::Packets(40);
    config.links[3].delay = Span::from_millis(105); // 80 ms and 280 ms in total
    // The link is never full. At this loss rate, the mean window is 27 segments for any RTT (√(3/(4p))), and
    // the ratio of the goodputs is 280 to 80, which is 3.5. The slower flow has about thirty losses, so that
    // the uncertainty of its mean is a tenth.
    let g = goodputs(&run(config));
    assert!((2.8..4.4).contains(&(g[0] / g[1])), "{g:?}");
}

#[test]
fn rtt_samples_exclude_timestamps_delayed_by_a_hole() {
    // The RTT is 40 ms without a queue, plus at most 200 ms of delayed acknowledgement. This holds for all
    // losses, lost retransmissions, and repairs after a timeout of a second and more.
    for algorithm in ["newreno", "cubic", "bbr3"] {
        let mut wire = link([0, 1], 100_000_000, 20);
        wire.loss[0] = common::drops(0.05);
        let bulk = flow([0, 1], rfc(algorithm), Traffic::Bulk { bytes: None });
        let mut config = network(vec![wire], vec![bulk], Time::from_secs(100));
        config.record.series = vec![Series::Srtt];
        let r = run(config);
        assert!(r.flows[0].rto_count > 5, "{:?}", r.flows[0]);
        let longest = r.samples.iter().map(|s| s.value).max().expect("samples");
        assert!(longest < 250_000_000, "{algorithm}: {longest} ns");
    }
}

#[test]
fn a_slow_reader_throttles_the_sender_to_its_rate() {
    let mut bulk = flow([0, 1], rfc("newreno"), Traffic::Bulk { bytes: Some(5_000_000) });
    bulk.profile_mut().stack.receive_buffer = 64_000;
    bulk.read = ReadPolicy::Rate(50_000);
    let r = run(network(vec![link([0, 1], 10_000_000, 10)], vec![bulk], Time::from_secs(200)));
    let f = &r.flows[0];
    assert_eq!(f.delivered_bytes, 5_000_000);
    let seconds = f.completion_s.expect("the transfer ends");
    assert!((seconds / 100.0 - 1.0).abs() < 0.01, "{seconds} s for 100 s of reading");
    assert_eq!((f.retransmits, f.rto_count), (0, 0));
}

#[test]
fn every_request_is_answered_once_and_in_its_time() {
    let requests = Traffic::RequestResponse {
        request: 200,
        response: 100_000,
        requests: 25,
        think: Span::from_millis(500),
    };
    let config = network(
        vec![link([0, 1], 10_000_000, 20)],
        vec![flow([0, 1], rfc("newreno"), requests)],
        Time::from_secs(100),
    );
    let r = run(config);
    let f = &r.flows[0];
    assert_eq!(f.responses_s.len(), 25);
    assert_eq!(f.delivered_bytes, 2_500_000);
    // A response needs at least an RTT of 40 ms and 80 ms on the wire.
    assert!(f.responses_s.iter().all(|t| (0.12..1.0).contains(t)), "{:?}", f.responses_s);
    // The duration is the sum of the responses and the 24 pauses between them.
    let total = f.responses_s.iter().sum::<f64>() + 24.0 * 0.5;
    let seconds = f.completion_s.expect("the last response arrived");
    assert!((seconds - total).abs() < 1e-6, "{seconds} s against {total} s");
    assert_eq!(f.failure, None);
}

#[test]
fn a_request_without_a_server_counts_its_timeouts() {
    let ask = Traffic::RequestResponse { request: 1, response: 1, requests: 1, think: Span::ZERO };
    let mut config = network(
        vec![link([0, 1], 10_000_000, 20)],
        vec![flow([0, 1], rfc("newreno"), ask)],
        Time::from_secs(600),
    );
    config.links[0].loss[1] = common::drops(1.0);
    let r = run(config);
    // Six retransmissions of the SYN. After the seventh timeout, the connection is given up.
    assert_eq!((r.flows[0].rto_count, r.flows[0].peer_packets_sent), (7, 7));
    assert!(
        r.flows[0].failure.as_ref().is_some_and(|f| f == "`n1`: the SYN had no answer"),
        "{:?}",
        r.flows
    );
    assert_eq!((r.flows[0].completion_s, r.links[1].drops_error), (None, 7));
}

#[test]
fn constant_rate_over_tcp_achieves_its_rate_and_closes() {
    // 500 bytes every 5 ms are 800 kbit/s.
    let source = Traffic::CbrTcp(cbr(500, 5000, Time::from_secs(20)));
    let mut profile = rfc("newreno");
    profile.stack.nagle = false;
    let config = network(
        vec![link([0, 1], 10_000_000, 20)],
        vec![flow([0, 1], profile, source)],
        Time::from_secs(60),
    );
    let f = run(config).flows.remove(0);
    assert_eq!(f.delivered_bytes, 4000 * 500);
    assert!((f.goodput_bps / 800_000.0 - 1.0).abs() < 0.01, "{f:?}");
    assert!((f.completion_s.expect("closed") - 20.0).abs() < 0.2, "{f:?}");
}

#[test]
fn the_event_queue_grows_with_links_and_hosts_and_not_with_packets_or_timers() {
    // Requests with short and long timers, together with bulk flows with full pipes.
    let mut config = dumbbell(10, "newreno", Time::from_secs(20));
    for f in config.flows.iter_mut().skip(5) {
        let think = Span::from_millis(1);
        let (request, response) = (100, 3000);
        f.traffic = Traffic::RequestResponse { request, response, requests: 100_000, think };
    }
    let entities = 2 * config.links.len() + 2 * config.flows.len();
    let mut s = Simulation::new(config).expect("valid");
    let mut most = 0;
    for ms in (0..20_000).step_by(10) {
        s.run_until(Time::from_millis(ms));
        most = most.max(s.pending_events());
    }
    assert!(s.packet_hops() > 100_000);
    assert!(most <= entities + entities / 4, "{most} pending events of {entities} entities");
}

/// The receiver reads late and closes when the link is down. All data have arrived.
#[test]
fn a_failure_names_the_end_and_its_unacknowledged_fin() {
    let bulk = Traffic::Bulk { bytes: Some(1_000) };
    let mut config = network(
        vec![link([0, 1], 10_000_000, 50)],
        vec![flow([0, 1], rfc("newreno"), bulk)],
        Time::from_secs(4_000),
    );
    config.flows[0].read = ReadPolicy::Delayed(Span::from_millis(100));
    config.links[0].down = vec![[Time::from_millis(200), Time::from_secs(5_000)]];
    let r = run(config);
    let text =
        "`n1`: the FIN went unacknowledged through all retransmissions, after all data had arrived";
    assert_eq!(r.flows[0].failure.as_deref(), Some(text));
    assert_eq!(r.flows[0].delivered_bytes, 1_000);
}
