//! Delays of packets and latencies of messages on links with known delays.

use crate::common::{self, cbr, flow, link, network, profile, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::arrivals::{ArrivalProcess, Arrivals, Draw, Law};
use windlass_sim::config::{Cbr, Record, Traffic};
use windlass_tcp::stack::{RFC, StackConfig};

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-6, "{ours} is not {expected}");
}

/// 972 bytes of payload are 1000 on the wire: 8 ms at 1 Mbit/s, then 20 ms of propagation. One packet every
/// 10 ms.
#[test]
fn datagrams_on_an_idle_link_take_their_transmission_and_propagation_without_jitter() {
    let source = Traffic::CbrUdp(cbr(972, 10_000, Time::from_secs(1)));
    let flows = vec![flow([0, 1], rfc("reno"), source)];
    let mut config = network(vec![link([0, 1], 1_000_000, 20)], flows, Time::from_secs(2));
    assert_eq!(run(config.clone()).flows[0].transit, None);
    config.record = Record { delays: true, ..Record::default() };
    let transit = run(config).flows[0].transit.clone().unwrap();
    assert_eq!((transit.packets, transit.jitter_ms), (100, Some(0.0)));
    near(transit.mean_ms, 28.0);
    near(transit.min_ms, 28.0);
    near(transit.max_ms, 28.0);
    near(transit.p99_ms.unwrap(), 28.0);
    near(transit.gap_ms.unwrap(), 10.0);
}

/// Two sources of 0.8 Mbit/s send at the same times into a link of 1 Mbit/s. Each pair of packets waits 6 ms
/// longer than the previous pair. The second packet of a pair waits 8 ms longer than the first.
#[test]
fn a_queue_that_grows_shows_in_delay_and_jitter() {
    let source = Traffic::CbrUdp(cbr(972, 10_000, Time::from_millis(100)));
    let both = || flow([0, 1], rfc("reno"), source.clone());
    let flows = vec![both(), both()];
    let mut config = network(vec![link([0, 1], 1_000_000, 20)], flows, Time::from_secs(2));
    config.record = Record { delays: true, ..Record::default() };
    let flows = run(config).flows;
    let [first, second] = [0, 1].map(|i| flows[i].transit.as_deref().unwrap());
    near(first.min_ms, 28.0);
    near(first.max_ms, 28.0 + 9.0 * 6.0);
    near(first.jitter_ms.unwrap(), 6.0);
    // The fifth of ten packets arrived after 28 + 4 · 6 ms.
    let median = first.p50_ms.unwrap();
    assert!((median / 52.0 - 1.0).abs() < 0.004, "{median}");
    near(second.min_ms, 36.0);
    near(second.jitter_ms.unwrap(), 6.0);
}

/// A full segment of 1500 bytes takes 12 ms at 1 Mbit/s and an acknowledgement of 40 bytes 0.32 ms, each after 20 ms. A
/// bulk flow fills the queue of 20 packets, so that its RTTs lie between this and 20 packets more. Flows without TCP
/// have none.
#[test]
fn rtt_samples_lie_between_the_idle_path_and_the_full_queue() {
    let bulk = flow([0, 1], rfc("newreno"), Traffic::Bulk { bytes: None });
    let other =
        flow([1, 0], rfc("newreno"), Traffic::CbrUdp(cbr(100, 100_000, Time::from_secs(9))));
    let mut config =
        network(vec![link([0, 1], 1_000_000, 20)], vec![bulk, other], Time::from_secs(20));
    config.links[0].queue = windlass_sim::link::QueueLimit::Packets(20);
    assert_eq!(run(config.clone()).flows[0].rtt, None, "not recorded");
    config.record = Record { delays: true, ..Record::default() };
    let flows = run(config).flows;
    let rtt = flows[0].rtt.as_deref().unwrap();
    assert_eq!(flows[1].rtt, None);
    assert!(rtt.p50_ms < rtt.p95_ms && rtt.p95_ms <= rtt.p99_ms && rtt.p99_ms <= rtt.max_ms);
    assert!((200.0..52.4 + 21.0 * 12.1).contains(&rtt.p99_ms), "{rtt:?}");
    assert!((52.3..rtt.max_ms).contains(&rtt.mean_ms), "{rtt:?}");
    // Without timestamps there is one sample in each of about 100 RTTs.
    assert!((80..110).contains(&rtt.samples), "{rtt:?}");
}

/// The first message waits for the handshake: two RTTs of 40 ms minus one way. Each other message takes 20 ms
/// and its transmission time. With Nagle's algorithm, each message would wait for the delayed acknowledgement
/// of the previous one.
#[test]
fn the_first_message_waits_for_the_handshake_and_a_lost_message_is_late() {
    let deadline = Some(Span::from_millis(50));
    let source = Cbr { deadline, ..cbr(200, 100_000, Time::from_secs(2)) };
    let of = |nagle| {
        let stack = StackConfig { nagle, ..RFC };
        let flows = vec![flow([0, 1], profile(stack, "reno"), Traffic::CbrTcp(source))];
        network(vec![link([0, 1], 10_000_000, 20)], flows, Time::from_secs(5))
    };
    let nagle = run(of(true)).flows[0].messages.clone().unwrap();
    assert!(nagle.late > 10, "{nagle:?}");
    let mut config = of(false);
    let messages = run(config.clone()).flows[0].messages.clone().unwrap();
    assert_eq!((messages.sent, messages.arrived, messages.late), (20, 20, 1));
    let max = messages.max_ms.unwrap();
    assert!((60.0..62.0).contains(&max), "{max} ms for the first");
    let mean = (messages.mean_ms.unwrap() * 20.0 - max) / 19.0;
    assert!((20.0..20.5).contains(&mean), "{mean} ms for the others");
    // Frame 1 is the SYN, and frame 5 a data segment, which the timer of 1 s delivers late.
    config.links[0].loss[0] = common::listed(&[5]);
    let messages = run(config).flows[0].messages.clone().unwrap();
    assert_eq!((messages.sent, messages.arrived), (20, 20));
    assert!(messages.late >= 2 && messages.max_ms.unwrap() > 200.0, "{messages:?}");
}

/// Between two messages, the age rises linearly from the latency of a message to the latency plus the
/// interval.
#[test]
fn the_age_of_periodic_messages_is_uniform_above_their_latency() {
    let source = Cbr {
        packet: 500,
        interval: Span::from_millis(100),
        spread: Span::ZERO,
        stop: Time::from_secs(20),
        deadline: Some(Span::from_millis(100)),
    };
    let stack = StackConfig { nagle: false, ..RFC };
    let flows = vec![flow([0, 1], profile(stack, "reno"), Traffic::CbrTcp(source))];
    let result = run(network(vec![link([0, 1], 10_000_000, 20)], flows, Time::from_secs(20)));
    let messages = result.flows[0].messages.as_deref().unwrap();
    let latency = messages.p50_ms.unwrap();
    let ages =
        [messages.age_p50_ms, messages.age_mean_ms, messages.age_p95_ms, messages.age_max_ms];
    for (age, share) in ages.into_iter().zip([0.5, 0.5, 0.95, 1.0]) {
        // The first message arrives a handshake later, and no message ends the age of the last.
        assert!((age.unwrap() - latency - share * 100.0).abs() < 1.5, "{share}: {messages:?}");
    }
    assert_eq!(
        result.messages.unwrap().age_p95_ms,
        messages.age_p95_ms,
        "one flow, taken together"
    );
}

/// The receiver reads all messages that were due, one by one. A queue that is never full delays each message
/// by its transmission time.
#[test]
fn random_messages_all_arrive_completely() {
    let draw = |law, mean, most| Draw { law, shape: 1500, mean, most };
    let arrivals = Arrivals {
        gaps: draw(Law::Exponential, 100_000_000, u64::MAX >> 3),
        sizes: draw(Law::Pareto, 2_000, 100_000),
        phases: Some([Span::from_millis(2_000), Span::from_millis(3_000)]),
        stop: Time::from_secs(50),
        deadline: Some(Span::from_millis(100)),
        seed: 5,
    };
    let mut process = ArrivalProcess::new(arrivals, Time::ZERO);
    let mut due = Vec::new();
    while let Some((_, bytes)) = process.next() {
        due.push(bytes);
        process.advance();
    }
    let stack = StackConfig { nagle: false, ..RFC };
    let flows = vec![flow([0, 1], profile(stack, "cubic"), Traffic::Messages(arrivals))];
    let config = network(vec![link([0, 1], 100_000_000, 20)], flows, Time::from_secs(60));
    let result = run(config).flows.remove(0);
    let messages = result.messages.unwrap();
    assert_eq!((messages.sent, messages.arrived), (due.len() as u64, due.len() as u64));
    assert_eq!(result.delivered_bytes, due.iter().sum::<u64>());
    let median = messages.p50_ms.unwrap();
    assert!((20.0..24.0).contains(&median) && messages.late < 10, "{messages:?}");
    // About 200 messages, with pauses of 3 s between them.
    let age = messages.age_mean_ms.unwrap();
    assert!((300.0..6_000.0).contains(&age) && messages.age_max_ms.unwrap() > age, "{messages:?}");
    assert!(result.completion_s.is_some(), "the source closes at its stop");
}
