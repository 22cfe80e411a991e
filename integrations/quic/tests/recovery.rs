//! The effect of losses on the window. Losses are reported in the order of the libraries: after the acknowledgement
//! that shows them.

use std::time::{Duration, Instant};

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Setup};
use windlass_quic::adapter::Congestion;
use windlass_quic::{Adapter, Shared};

const PACKET: u64 = 1200;

/// A connection of Reno. Its packets leave a millisecond apart, and the millisecond identifies the packet.
struct Flow {
    epoch: Instant,
    adapter: Adapter,
}

impl Flow {
    /// Ten packets are in flight.
    fn new() -> Flow {
        let (epoch, mut params) = (Instant::now(), AnyParams::by_name("reno").unwrap());
        let recovery = Some(LossRecovery::Prr);
        params.set_common(&Setup { recovery, ..params.common() });
        let adapter = Adapter::new(params, epoch, epoch, PACKET as u16, &Shared::new(&params));
        let mut flow = Flow { epoch, adapter };
        (0..10).for_each(|packet| flow.send(packet));
        flow
    }

    /// The first packet was lost, according to the acknowledgement of the fourth.
    fn in_recovery() -> Flow {
        let mut flow = Flow::new();
        flow.acknowledge(100, 3);
        flow.lose(100, 0, 1);
        flow
    }

    fn at(&self, ms: u64) -> Instant {
        self.epoch + Duration::from_millis(ms)
    }

    fn send(&mut self, packet: u64) {
        self.adapter.on_sent(self.at(packet), PACKET);
    }

    fn acknowledge(&mut self, now: u64, packet: u64) {
        let left = self.adapter.in_flight() - PACKET;
        self.adapter.on_ack(self.at(now), self.at(packet), PACKET);
        self.adapter.on_end_acks(self.at(now), left, false);
    }

    /// Reports the given number of lost packets; `newest` is the newest of them.
    fn lose(&mut self, now: u64, newest: u64, packets: u64) {
        let sent = self.at(newest);
        let what = Congestion { sent, lost: packets * PACKET, persistent: false };
        self.adapter.on_congestion(self.at(now), what);
    }
}

#[test]
fn new_packets_do_not_replace_lost_packets_in_recovery() {
    let mut flow = Flow::in_recovery();
    flow.send(100);
    flow.acknowledge(101, 7);
    flow.lose(101, 4, 3);
    let room = flow.adapter.window().saturating_sub(flow.adapter.in_flight());
    assert!(room <= 2 * PACKET, "{room} bytes for two acknowledgements");
}

#[test]
fn the_acknowledgement_that_ends_recovery_shows_more_of_the_same_loss() {
    let mut flow = Flow::in_recovery();
    flow.send(101);
    flow.acknowledge(201, 101);
    let cut = flow.adapter.control().ssthresh;
    flow.lose(201, 9, 5);
    assert_eq!(flow.adapter.control().ssthresh, cut, "sent before recovery began");
    assert_eq!(flow.adapter.window(), cut, "recovery is over");
    flow.send(202);
    flow.lose(302, 202, 1);
    assert!(flow.adapter.control().ssthresh < cut, "sent after it began");
}
