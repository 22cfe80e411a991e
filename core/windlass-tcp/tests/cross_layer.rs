//! The state of the lower layers reaches the controller.

use crate::loss::ten_segments;
use crate::script::plain;
use windlass_cc::{AnyParams, CrossLayer, Rate, Span, Time};

#[test]
fn a_long_queue_of_the_station_stops_the_growth_of_cocoa3plus() {
    for (queue_len, cwnd) in [(12, 12_000), (13, 11_000)] {
        let mut p = plain();
        p.params = AnyParams::by_name("cocoa3plus").unwrap();
        let hold = p.params.info().params.iter().position(|param| param.name == "hold");
        p.params.set(hold.expect("a parameter"), 1);
        let mut s = ten_segments(p);
        s.run("200ms < . 1 ack 1001");
        // A quarter of the base RTT of 100 ms is 12.5 packets.
        let layers = CrossLayer {
            queue_len,
            queue_limit: 30,
            hops: 3,
            failure_share: 0,
            battery: 65_536,
            service_rate: Rate(1_000_000),
            service_time: Span::from_millis(2),
            base_rtt: Span::NONE,
        };
        s.stack.endpoint.on_cross_layer(&s.stack.profile, Time::from_millis(200), &layers);
        s.run(&format!("201ms < . 1 ack 2001\n201ms = cwnd_bytes {cwnd}"));
    }
}
