//! What repairing losses costs the path.

use crate::common::{Traffic, drops, flow, link, network, profile, run};
use windlass_cc::Time;
use windlass_sim::link::QueueLimit;
use windlass_tcp::stack::{LINUX, NS3};

/// Retransmissions themselves are lost where slow start has overrun a short queue. RACK finds them
/// by a timer, with no acknowledgement that would let them go again: were they to go at once, they
/// would overrun the queue again, round after round, with the first hole never filled (RFC 9937
/// section 6: no more is sent than was delivered).
#[test]
fn lost_retransmissions_that_a_timer_finds_do_not_go_again_in_a_burst() {
    for algorithm in ["bic", "scalable", "yeah", "cubic"] {
        let mut path = link([0, 1], 10_000_000, 20);
        path.queue = QueueLimit::Bytes(50_000);
        let stack = profile(LINUX, algorithm);
        let bulk = flow([0, 1], stack, Traffic::Bulk { bytes: None });
        let r = run(network(vec![path], vec![bulk], Time::from_secs(20)));
        let flow = &r.flows[0];
        let lost = r.links[0].drops_queue as f64 / r.links[0].sent as f64;
        assert!(lost < 0.02, "{algorithm}: {lost}");
        assert!(flow.goodput_bps > 0.93 * 10e6, "{algorithm}: {}", flow.goodput_bps);
    }
}

/// Hybla's slow start opens the window many times over in a round trip, and overruns the path by
/// thousands of segments. What SACK lets pass beyond the first hole is data of many windows; were
/// each timeout to take half of all that for the path, slow start would overrun it again, for ever.
#[test]
fn a_timeout_does_not_take_what_has_left_the_network_for_its_flight() {
    let mut path = link([0, 1], 10_000_000, 100);
    path.queue = QueueLimit::Packets(167);
    path.loss[0] = drops(0.001);
    let bulk = flow([0, 1], profile(NS3, "hybla"), Traffic::Bulk { bytes: None });
    let r = run(network(vec![path], vec![bulk], Time::from_secs(60)));
    let lost = r.links[0].drops_queue as f64 / r.links[0].sent as f64;
    assert!(lost < 0.3, "{lost}");
    assert!(r.flows[0].rto_count <= 6, "{}", r.flows[0].rto_count);
}
