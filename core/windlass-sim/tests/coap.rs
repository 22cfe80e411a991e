//! CoAP compared with the closed forms of RFC 7252 section 4.2 and of loss-free paths.

use crate::common::radio::line;
use crate::common::{drops, flow, link, listed, network, rfc, run};
use windlass_cc::{AnyRto, RttSample, Span, Time, rto};
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::config::{Coap, Config, Traffic};
use windlass_sim::radio::Phy;
use windlass_sim::results::{CoapResult, PacketFate, Series};
use windlass_sim::{FlowResult, RunResult};

const SECOND: u64 = 1_000_000_000;
/// 20 ms each way, and at 1 Mbit/s the time of a request of 145 bytes and of a response of 87.
const ROUND_TRIP_MS: f64 = 40.0 + 1.16 + 0.696;

/// Requests of 100 bytes with responses of 50 bytes, one request every `every_s` seconds.
pub fn coap(every_s: u64, stop_s: u64) -> Coap {
    Coap {
        requests: Arrivals {
            gaps: Draw::constant(every_s * SECOND),
            sizes: Draw::constant(100),
            phases: None,
            stop: Time::from_secs(stop_s),
            deadline: Some(Span::from_secs(1)),
            seed: 1,
        },
        response: 50,
        token: 4,
        options: 8,
        confirmable: true,
        nstart: 1,
        max_retransmit: 4,
        timer: rto::AnyParams::by_name("coap").unwrap(),
        security: None,
    }
}

fn over(coap: Coap, end_s: u64) -> Config {
    let flows = vec![flow([0, 1], rfc("reno"), Traffic::Coap(coap))];
    network(vec![link([0, 1], 1_000_000, 20)], flows, Time::from_secs(end_s))
}

/// Times at which the client's packets were sent on the link, seconds.
fn sent_s(result: &RunResult) -> Vec<f64> {
    let sent = result.packets.iter().filter(|p| p.fate == PacketFate::Sent && p.forward);
    sent.map(|p| p.time.0 as f64 / 1e9).collect()
}

fn only(result: &RunResult) -> (&FlowResult, CoapResult) {
    (&result.flows[0], *result.flows[0].coap.as_deref().expect("a flow of CoAP"))
}

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-6, "{ours} is not {expected}");
}

/// Maximum distance of a sample from a uniform distribution, over its 99th percentile (Kolmogorov and
/// Smirnov).
fn misfit(mut values: Vec<f64>, [from, to]: [f64; 2]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let cdf = |x: f64| ((x - from) / (to - from)).clamp(0.0, 1.0);
    let gap = |(i, v): (usize, &f64)| {
        (cdf(*v) - i as f64 / n).abs().max(((i + 1) as f64 / n - cdf(*v)).abs())
    };
    values.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt() / 1.63
}

/// No request arrives. The next request starts when the previous request is given up.
#[test]
fn unanswered_requests_are_sent_at_0_1_3_7_and_15_timeouts_and_given_up_at_31() {
    let mut config = over(coap(1, 100_000), 100_000);
    config.links[0].loss[0] = drops(1.0);
    config.record.capture = vec![0];
    let result = run(config);
    let times = sent_s(&result);
    let mut drawn = Vec::new();
    for five in times.windows(6).step_by(5) {
        let first = five[1] - five[0];
        assert!((2.0..=3.0).contains(&first), "{first}");
        for (time, timeouts) in five.iter().zip([0.0, 1.0, 3.0, 7.0, 15.0, 31.0]) {
            near(*time, five[0] + timeouts * first);
        }
        drawn.push(first);
    }
    assert!(drawn.len() > 1_000, "{}", drawn.len());
    assert!(misfit(drawn.clone(), [2.0, 3.0]) < 1.0);
    assert!(misfit(drawn.clone(), [2.0, 2.9]) > 1.0);
    let (flow, coap) = only(&result);
    assert_eq!((coap.completed, coap.given_up + 1), (0, coap.begun));
    assert_eq!(coap.given_up, drawn.len() as u64);
    assert_eq!((flow.delivered_bytes, flow.packets_sent), (0, times.len() as u64));
    assert_eq!(flow.retransmits, flow.packets_sent - coap.begun);
    let messages = flow.messages.as_deref().unwrap();
    assert_eq!((messages.arrived, messages.late), (0, messages.sent - 1), "the last had a second");
}

#[test]
fn an_exchange_without_loss_takes_propagation_and_transmission_both_ways() {
    let result = run(over(coap(1, 1_000), 1_000));
    let (flow, coap) = only(&result);
    assert_eq!((coap.begun, coap.completed, coap.given_up, coap.duplicates), (999, 999, 0, 0));
    for value in [coap.mean_ms, coap.p50_ms, coap.p99_ms, coap.max_ms, flow.min_rtt_ms] {
        near(value.unwrap(), ROUND_TRIP_MS);
    }
    near(flow.responses_s[7], ROUND_TRIP_MS / 1e3);
    assert_eq!((flow.delivered_bytes, flow.retransmits, flow.rto_count), (99_900, 0, 0));
    assert_eq!((flow.packets_sent, flow.peer_packets_sent, flow.data_segments), (999, 999, 999));
    let messages = flow.messages.as_deref().unwrap();
    assert_eq!((messages.sent, messages.arrived, messages.late), (999, 999, 0));
    near(messages.max_ms.unwrap(), 21.16);
    // Just before an arrival, the newest message is 1021.16 ms old.
    near(messages.age_max_ms.unwrap(), 1_021.16);
}

#[test]
fn delays_of_consecutive_links_add_up() {
    let mut config = over(coap(1, 10), 11);
    config.links.push(link([1, 2], 500_000, 5));
    config.nodes.push("n2".into());
    config.flows[0].to = 2;
    near(only(&run(config)).1.max_ms.unwrap(), ROUND_TRIP_MS + 10.0 + 2.0 * 1.856);
}

/// A request without a response is retransmitted, answered again and counted once.
#[test]
fn a_lost_response_causes_a_duplicate_that_is_counted_once() {
    let mut config = over(coap(10, 11), 100);
    config.links[0].loss[1] = listed(&[1]);
    let result = run(config);
    let (flow, coap) = only(&result);
    assert_eq!((coap.begun, coap.completed, coap.given_up, coap.duplicates), (1, 1, 0, 1));
    assert_eq!((flow.retransmits, flow.peer_packets_sent, flow.delivered_bytes), (1, 2, 100));
    let messages = flow.messages.as_deref().unwrap();
    assert_eq!((messages.sent, messages.arrived), (1, 1));
    near(messages.max_ms.unwrap(), 21.16);
    let timeout_ms = coap.max_ms.unwrap() - ROUND_TRIP_MS;
    assert!((2_000.0..=3_000.0).contains(&timeout_ms), "{timeout_ms}");
    assert_eq!(flow.min_rtt_ms, None);
}

/// If a transmission fails with probability `f = 1 - (1 - p)²`, `k` transmissions are needed with probability
/// `f^(k-1) (1 - f)`, and five with `f⁴`.
#[test]
fn with_independent_losses_the_number_of_transmissions_is_geometric() {
    const REQUESTS: usize = 3_000;
    let (every_s, p) = (200, 0.3);
    let end_s = every_s * REQUESTS as u64 + every_s;
    let mut config = over(coap(every_s, end_s), end_s);
    config.links[0].loss = [drops(p), drops(p)].into();
    config.record.capture = vec![0];
    let result = run(config);
    // No exchange lasts 200 s.
    let mut transmissions = vec![0; REQUESTS + 1];
    sent_s(&result).iter().for_each(|t| transmissions[(t / every_s as f64) as usize] += 1);
    let fails: f64 = 1.0 - (1.0 - p) * (1.0 - p);
    let mut misfit = 0.0;
    for k in 1..=5 {
        let got = transmissions.iter().filter(|n| **n == k).count() as f64;
        let succeeds = if k == 5 { 1.0 } else { 1.0 - fails };
        let expected = REQUESTS as f64 * fails.powi(k - 1) * succeeds;
        misfit += (got - expected).powi(2) / expected;
    }
    assert!(misfit < 13.28, "chi-squared with 4 degrees of freedom, one in a hundred: {misfit}");
    let (flow, coap) = only(&result);
    assert_eq!((coap.begun, coap.completed + coap.given_up), (3_000, 3_000));
    let given_up = REQUESTS as f64 * fails.powi(5);
    let error = (given_up * (1.0 - fails.powi(5))).sqrt();
    assert!((coap.given_up as f64 - given_up).abs() < 3.0 * error, "{} {given_up}", coap.given_up);
    let messages = flow.messages.as_deref().unwrap();
    assert_eq!(coap.duplicates, result.links[0].delivered - messages.arrived);
    assert_eq!(flow.delivered_bytes, 100 * messages.arrived);
    assert!(
        messages.arrived > coap.completed,
        "some requests were given up although they had arrived"
    );
}

/// The sample of a retransmitted request is weak: it is measured from the first transmission. The timer of
/// the standard algorithm uses no weak samples.
#[test]
fn estimators_receive_strong_and_weak_samples() {
    let no_floor = rto::Rfc6298Params { min: Span::ZERO, ..Default::default() };
    let named = |id| rto::AnyParams::by_name(id).unwrap();
    let fasor = rto::FasorParams { dither: false, ..Default::default() };
    let fasor = rto::AnyParams::Fasor(fasor);
    for timer in [named("cocoa"), named("cocoa+"), fasor, rto::AnyParams::Rfc6298(no_floor)] {
        let id = timer.info().id;
        let mut config = over(Coap { timer, ..coap(20, 130) }, 200);
        // The third request is sent three times, the fifth twice.
        config.links[0].loss[0] = listed(&[3, 4, 7]);
        config.record.series = vec![Series::Rto];
        let result = run(config);
        let mut model = AnyRto::init(&timer);
        let mut expected = vec![model.rto(&timer).0];
        let took = result.flows[0].responses_s.iter().zip([0, 0, 2, 0, 1, 0]);
        for (begun, (took, retransmits)) in (1..).map(|n| Time::from_secs(20 * n)).zip(took) {
            let rtt = Span((took * 1e9).round() as u64);
            model.arm(&timer, begun, 0); // an old estimate ages
            expected.push(model.rto(&timer).0);
            if retransmits == 0 || id != "rfc6298" {
                let sample = RttSample { retransmits, now: begun + rtt, ..RttSample::of(rtt) };
                model.on_sample(&timer, &sample);
                expected.push(model.rto(&timer).0);
            }
        }
        expected.dedup();
        let mut got: Vec<u64> = result.samples.iter().map(|s| s.value).collect();
        got.dedup();
        assert_eq!(result.flows[0].coap.as_deref().unwrap().completed, 6, "{id}");
        assert_eq!(result.flows[0].retransmits, 3, "{id}");
        assert_eq!(got, expected, "{id}");
        assert!(expected.len() >= 4, "{id}: {expected:?}");
    }
}

/// With two exchanges at a time, the second request does not wait for the first, which gets no answer.
#[test]
fn nstart_limits_the_open_exchanges() {
    let of = |nstart| {
        let mut config = over(Coap { nstart, ..coap(1, 5) }, 200);
        config.links[0].loss[0] = listed(&[1]);
        run(config).flows[0].responses_s.clone()
    };
    let [one, two] = [1, 2].map(of);
    // The first request waits for its timer of 2 to 3 s. With one exchange at a time, the second and the
    // third wait too.
    let (first, round_trip) = (one[0], ROUND_TRIP_MS / 1e3);
    for (took, expected) in one.iter().zip([first, first - 1.0 + round_trip]) {
        near(*took, expected);
    }
    near(one[2], first - 2.0 + 2.0 * round_trip);
    let at_once = two.iter().filter(|took| (**took - round_trip).abs() < 1e-6).count();
    assert_eq!((two.len(), at_once), (4, 3));
}

#[test]
fn non_confirmable_messages_are_sent_once_without_answer() {
    let mut config = over(Coap { confirmable: false, ..coap(1, 1_001) }, 1_100);
    config.links[0].loss[0] = listed(&[2, 3]);
    let result = run(config);
    let flow = &result.flows[0];
    assert_eq!((flow.packets_sent, flow.peer_packets_sent, &flow.coap), (1_000, 0, &None));
    let messages = flow.messages.as_deref().unwrap();
    assert_eq!((messages.sent, messages.arrived, messages.late), (1_000, 998, 2));
    assert_eq!((messages.undelivered, messages.max_ms), (2, None));
    near(messages.p99_ms.unwrap(), 21.16);
}

#[test]
fn requests_and_responses_cross_the_air_in_their_frames() {
    for (phy, least_ms) in [(Phy::OQPSK_2450, 32e-3 * (145.0 + 87.0)), (Phy::G, 0.0)] {
        let mut config = over(coap(1, 100), 101);
        config.links.clear();
        config.nodes.push("n2".into());
        config.flows[0].to = 2;
        config.radios = vec![line(phy, 500, &[0, 100, 200])];
        let result = run(config);
        let (flow, coap) = only(&result);
        assert_eq!((coap.completed, flow.retransmits), (99, 0));
        let took = coap.p50_ms.unwrap();
        assert!(took > least_ms && took < 10.0 * least_ms.max(1.0), "{took}");
    }
}

#[test]
fn the_seed_determines_the_exchanges() {
    let with = |seed| {
        let mut config = over(coap(1, 500), 600);
        config.links[0].loss = [drops(0.2), drops(0.2)].into();
        config.seed = seed;
        run(config)
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).flows[0].responses_s, with(2).flows[0].responses_s);
}
