//! What BBR, BBRv3 and Copa promise, with the whole stack under them: 10 Mbit/s and 40 ms, 33
//! segments in the product.

use crate::common::{Traffic, drops, flow, link, network, rfc, run};
use windlass_cc::Time;
use windlass_sim::RunResult;
use windlass_sim::link::QueueLimit;

const PRODUCT: f64 = 33.3;

fn bulk(algorithm: &'static str, queue: u64, loss: f64) -> RunResult {
    let mut path = link([0, 1], 10_000_000, 20);
    path.queue = QueueLimit::Packets(queue);
    path.loss[0] = if loss > 0.0 { drops(loss) } else { None };
    let traffic = Traffic::Bulk { bytes: None };
    run(network(vec![path], vec![flow([0, 1], rfc(algorithm), traffic)], Time::from_secs(40)))
}

#[test]
fn they_fill_the_link_and_leave_a_deep_queue_empty() {
    // BBR queues a quarter of the product in one phase of eight, and Startup's, and the budget of
    // three quanta of two segments all the time; BBRv3 the quarter once in two seconds; Copa
    // between nothing and 2.5/δ = 5 packets.
    for (algorithm, mean) in [("bbr", 0.25 * PRODUCT), ("bbr3", 0.125 * PRODUCT), ("copa", 5.0)] {
        let r = bulk(algorithm, 200, 0.0);
        assert!(r.links[0].utilisation > 0.95, "{algorithm}: {}", r.links[0].utilisation);
        assert!(r.links[0].mean_queue_packets < mean, "{algorithm}: {:?}", r.links[0]);
        assert_eq!(r.flows[0].retransmits, 0, "{algorithm}");
    }
    // What they are held against: it fills any queue.
    assert!(bulk("cubic", 200, 0.0).links[0].mean_queue_packets > 100.0);
}

#[test]
fn a_shallow_queue_does_not_starve_them() {
    for algorithm in ["bbr", "bbr3", "copa"] {
        let r = bulk(algorithm, 8, 0.0);
        assert!(r.links[0].utilisation > 0.93, "{algorithm}: {}", r.links[0].utilisation);
    }
    // BBRv3 bounds the flight where it loses 2 %; the first version does not.
    let lost = |algorithm| {
        let r = bulk(algorithm, 8, 0.0);
        r.links[0].drops_queue as f64 / r.links[0].sent as f64
    };
    let (first, third) = (lost("bbr"), lost("bbr3"));
    assert!(third < 0.01 && first > 2.0 * third, "{first} {third}");
}

#[test]
fn random_loss_of_one_percent_costs_them_little() {
    // Reno's square-root law allows 1.22 · MSS / (RTT · √p) = 3.6 Mbit/s.
    for (algorithm, least) in [("bbr", 0.9), ("bbr3", 0.7), ("copa", 0.9)] {
        let r = bulk(algorithm, 67, 0.01);
        let goodput = r.flows[0].goodput_bps / 1e7;
        assert!(goodput > least, "{algorithm}: {goodput}");
    }
    let reno = bulk("newreno", 67, 0.01).flows[0].goodput_bps / 1e7;
    assert!(reno < 0.5, "{reno}");
}
