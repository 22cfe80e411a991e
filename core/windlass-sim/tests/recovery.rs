//! Cost of loss recovery for the path.

use crate::common::{Traffic, drops, flow, link, network, profile, run};
use windlass_cc::Time;
use windlass_sim::link::QueueLimit;
use windlass_tcp::stack::{LINUX, NS3};

/// If slow start overruns a short queue, retransmissions are lost too. RACK detects these losses by a timer,
/// without an acknowledgement that allows further retransmissions. If they were all retransmitted at once,
/// they would overrun the queue in every round, and the first hole would never be filled. RFC 9937 section 6
/// therefore limits the sent data to the delivered data.
#[test]
fn retransmissions_found_lost_by_a_timer_are_not_sent_in_a_burst() {
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

/// Hybla's slow start multiplies cwnd many times within one RTT, and overruns the path by thousands of
/// segments. Data of many windows is then acknowledged by SACK beyond the first hole. If each timeout set
/// ssthresh to half of all this data, slow start would overrun the path again and again.
#[test]
fn the_flight_at_a_timeout_excludes_delivered_data() {
    let mut path = link([0, 1], 10_000_000, 100);
    path.queue = QueueLimit::Packets(167);
    path.loss[0] = drops(0.001);
    let bulk = flow([0, 1], profile(NS3, "hybla"), Traffic::Bulk { bytes: None });
    let r = run(network(vec![path], vec![bulk], Time::from_secs(60)));
    let lost = r.links[0].drops_queue as f64 / r.links[0].sent as f64;
    assert!(lost < 0.3, "{lost}");
    assert!(r.flows[0].rto_count <= 6, "{}", r.flows[0].rto_count);
}
