//! Properties of BBR, BBRv3 and Copa with the whole stack. The path has 10 Mbit/s and 40 ms, a
//! bandwidth-delay product of 33 segments.

use crate::common::{Traffic, drops, flow, link, network, rfc, run};
use windlass_cc::{AnyParams, Time};
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::link::QueueLimit;
use windlass_sim::{RunResult, Series};
use windlass_tcp::Profile;

const PRODUCT: f64 = 33.3;

fn bulk(algorithm: &'static str, queue: u64, loss: f64) -> RunResult {
    let mut path = link([0, 1], 10_000_000, 20);
    path.queue = QueueLimit::Packets(queue);
    path.loss[0] = if loss > 0.0 { drops(loss) } else { None };
    let traffic = Traffic::Bulk { bytes: None };
    run(network(vec![path], vec![flow([0, 1], rfc(algorithm), traffic)], Time::from_secs(40)))
}

#[test]
fn bbr_and_copa_fill_the_link_with_an_almost_empty_queue() {
    // BBR queues a quarter of the bandwidth-delay product in one phase of eight, the queue of Startup, and
    // always three quanta of two segments. BBRv3 queues a quarter once in two seconds. Copa queues between 0
    // and 2.5/δ = 5 packets.
    for (algorithm, mean) in [("bbr", 0.25 * PRODUCT), ("bbr3", 0.125 * PRODUCT), ("copa", 5.0)] {
        let r = bulk(algorithm, 200, 0.0);
        assert!(r.links[0].utilisation > 0.95, "{algorithm}: {}", r.links[0].utilisation);
        assert!(r.links[0].mean_queue_packets < mean, "{algorithm}: {:?}", r.links[0]);
        assert_eq!(r.flows[0].retransmits, 0, "{algorithm}");
    }
    // For comparison, CUBIC fills any queue.
    assert!(bulk("cubic", 200, 0.0).links[0].mean_queue_packets > 100.0);
}

#[test]
fn bbr_and_copa_fill_the_link_with_a_shallow_queue() {
    for algorithm in ["bbr", "bbr3", "copa"] {
        let r = bulk(algorithm, 8, 0.0);
        assert!(r.links[0].utilisation > 0.93, "{algorithm}: {}", r.links[0].utilisation);
    }
    // BBRv3 bounds the flight if 2 % are lost; the first version does not.
    let lost = |algorithm| {
        let r = bulk(algorithm, 8, 0.0);
        r.links[0].drops_queue as f64 / r.links[0].sent as f64
    };
    let (first, third) = (lost("bbr"), lost("bbr3"));
    assert!(third < 0.01 && first > 2.0 * third, "{first} {third}");
}

#[test]
fn bbr_and_copa_tolerate_one_percent_of_random_loss() {
    // Reno's square-root law allows 1.22 · MSS / (RTT · √p) = 3.6 Mbit/s.
    for (algorithm, least) in [("bbr", 0.9), ("bbr3", 0.7), ("copa", 0.9)] {
        let r = bulk(algorithm, 67, 0.01);
        let goodput = r.flows[0].goodput_bps / 1e7;
        assert!(goodput > least, "{algorithm}: {goodput}");
    }
    let reno = bulk("newreno", 67, 0.01).flows[0].goodput_bps / 1e7;
    assert!(reno < 0.5, "{reno}");
}

/// The window after 3 kB every two seconds for ten minutes, bytes.
fn window_of_a_meter(params: AnyParams) -> u64 {
    let traffic = Traffic::Messages(Arrivals {
        gaps: Draw::constant(2_000_000_000),
        sizes: Draw::constant(2_896),
        phases: None,
        stop: Time::from_secs(600),
        deadline: None,
        seed: 1,
    });
    let profile = Profile { params, ..rfc("newreno") };
    let mut config = network(
        vec![link([0, 1], 2_000_000, 50)],
        vec![flow([0, 1], profile, traffic)],
        Time::from_secs(600),
    );
    config.record.series = vec![Series::Cwnd];
    run(config).samples.last().expect("a window").value
}

#[test]
fn windows_of_model_based_algorithms_stay_bounded_between_messages() {
    // The bandwidth-delay product is 25 kB.
    for algorithm in ["bbr", "bbr3", "copa"] {
        let window = window_of_a_meter(AnyParams::by_name(algorithm).unwrap());
        assert!(window <= 2 * 25_000, "{algorithm}: {window}");
    }
    // By the draft's letter, BBRv3's window grows by each message.
    let mut letter = AnyParams::by_name("bbr3").unwrap();
    let params = letter.info().params;
    let place = params.iter().position(|p| p.name == "restart_aggregation").unwrap();
    assert!(letter.set(place, 0));
    let window = window_of_a_meter(letter);
    assert!(window > 20 * 25_000, "{window}");
}
