//! Links compared with closed forms and with a model of a drop-tail queue that keeps all packets.

use crate::common::{Traffic, cbr, flow, link, network, rfc, run};
use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::link::{Framing, Link, Offer, QueueLimit};
use windlass_sim::packet::PacketHandle;

/// A datagram of 972 bytes makes an IP packet of 1000 bytes: 1 ms at 8 Mbit/s.
const PAYLOAD: u64 = 972;
const RATE: u64 = 8_000_000;

#[test]
fn constant_rate_below_the_link_rate_never_waits_and_fills_its_share_exactly() {
    let end = Time::from_secs(10);
    let source = flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(PAYLOAD, 2000, end)));
    let r = run(network(vec![link([0, 1], RATE, 0)], vec![source], end));
    assert_eq!((r.flows[0].data_segments, r.links[0].delivered), (5000, 5000));
    assert_eq!(r.links[0].utilisation, 0.5);
    assert_eq!((r.links[0].max_queue_packets, r.links[0].mean_queue_packets), (0, 0.0));
    assert_eq!(r.flows[0].goodput_bps, 972.0 * 8.0 * 500.0);
}

#[test]
fn an_unlimited_queue_grows_linearly_at_twice_the_link_rate() {
    // Packet k arrives at k/2 ms and starts at k ms. Between n and n + 1 ms, first n and then n + 1 packets
    // wait, n + 1/2 on average. Over 100 ms, the mean is 50. Waits that would end after the run must not
    // count in full.
    let end = Time::from_millis(100);
    let source = flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(PAYLOAD, 500, end)));
    let r = run(network(vec![link([0, 1], RATE, 0)], vec![source], end));
    assert!((r.links[0].mean_queue_packets - 50.0).abs() < 1e-9, "{:?}", r.links[0]);
    assert_eq!((r.links[0].delivered, r.links[0].inside, r.links[0].drops), (100, 100, 0));
    assert_eq!(r.links[0].utilisation, 1.0);
}

#[test]
fn a_datagram_flow_ends_with_its_last_arrival_when_a_queue_holds_it_back() {
    // Sent within 50 ms, delivered within 100 ms: the goodput is the link's rate, not the source's.
    let source =
        flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(PAYLOAD, 500, Time::from_millis(50))));
    let r = run(network(vec![link([0, 1], RATE, 0)], vec![source], Time::from_secs(1)));
    assert_eq!(r.flows[0].delivered_bytes, 100 * PAYLOAD);
    assert_eq!(r.flows[0].active_s, 0.1);
    assert_eq!(r.flows[0].goodput_bps, 0.972 * RATE as f64);
}

#[test]
fn two_constant_rates_into_a_slower_link_lose_exactly_the_excess() {
    // Two sources send one packet every 1.5 ms into a link that transmits one every 1 ms. The link is never
    // idle, so that it delivers one packet per millisecond. The other packets, 1/4 of all, are dropped,
    // except those inside at the end. At most ten wait and one is transmitted; just before the next arrivals,
    // there are two or three fewer.
    let end = Time::from_millis(15_000);
    let source = |start_us: u64| {
        let mut f = flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(PAYLOAD, 1500, end)));
        f.start = Time(start_us * 1000);
        f
    };
    let mut wire = link([0, 1], RATE, 0);
    wire.queue = QueueLimit::Packets(10);
    let r = run(network(vec![wire], vec![source(0), source(100)], end));
    let l = &r.links[0];
    assert_eq!((l.sent, l.delivered), (20_000, 15_000));
    assert!((8..=11).contains(&l.inside), "{l:?}");
    assert_eq!(l.drops_queue, 5_000 - l.inside);
    assert_eq!(l.max_queue_packets, 10);
    assert_eq!(l.utilisation, 1.0);
    let lost: f64 = r.flows.iter().map(|f| f.loss_rate * f.packets_sent as f64).sum();
    assert_eq!(lost.round() as u64, l.drops);
}

#[test]
fn a_bulk_flow_saturates_the_link() {
    // 10 Mbit/s over 40 ms is 33 packets. With 67 more packets in the queue, a halved window still fills the
    // pipe. Slow start and the repair of its overshoot, one hole per RTT, take less than ten seconds.
    let until = |seconds| {
        let mut wire = link([0, 1], 10_000_000, 20);
        wire.queue = QueueLimit::Packets(67);
        let bulk = flow([0, 1], rfc("newreno"), Traffic::Bulk { bytes: None });
        run(network(vec![wire], vec![bulk], Time::from_secs(seconds)))
    };
    let (early, late) = (until(10), until(70));
    let busy_s = 70.0 * late.links[0].utilisation - 10.0 * early.links[0].utilisation;
    assert!(busy_s > 0.999 * 60.0, "busy for {busy_s} s of 60");
    assert_eq!(late.links[0].max_queue_packets, 67);
    // 1448 of 1500 bytes are payload; duplicates do not count.
    let goodput = (late.flows[0].delivered_bytes - early.flows[0].delivered_bytes) as f64 / 60.0;
    let most = 1_250_000.0 * 1448.0 / 1500.0;
    assert!(goodput < 1.001 * most && goodput > 0.99 * most, "{goodput} of {most} bytes/s");
}

/// A drop-tail queue that keeps every packet: (start of transmission, size).
struct Model {
    busy_until: u64,
    packets: Vec<(u64, u32)>,
    waited: u64,
}

impl Model {
    /// Start of transmission, or `None` if the queue is full.
    fn offer(&mut self, now: u64, size: u32, tx: u64, limit: QueueLimit) -> Option<u64> {
        let waiting: Vec<u32> = self.packets.iter().filter(|p| p.0 > now).map(|p| p.1).collect();
        let bytes: u64 = waiting.iter().map(|b| u64::from(*b)).sum();
        let fits = match limit {
            QueueLimit::Packets(n) => (waiting.len() as u64) < n,
            QueueLimit::Bytes(n) => bytes + u64::from(size) <= n,
            QueueLimit::Unlimited => true,
        };
        if now < self.busy_until && !fits {
            return None;
        }
        let starts = now.max(self.busy_until);
        self.busy_until = starts + tx;
        self.waited += starts - now;
        self.packets.push((starts, size));
        Some(starts)
    }
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0u64..8).prop_map(QueueLimit::Packets),
        (0u64..6000).prop_map(QueueLimit::Bytes),
        Just(QueueLimit::Unlimited),
    ]
}

/// A busy period ends with its last bit, to the nanosecond. Rounding one frame up shortens the next.
#[test]
fn back_to_back_frames_take_exactly_the_time_of_their_bits() {
    // 1538 bytes at 100 Gbit/s are 123.04 ns.
    for (rate_bps, size) in [(100_000_000_000, 1538), (3_000_000, 1500), (7, 1), (6_000_000, 40)] {
        let mut l = Link::new(rate_bps, Span::ZERO, QueueLimit::Unlimited, Framing::NONE, None);
        let bits = 8 * u128::from(size);
        let end_after = |n: u128| (n * bits * 1_000_000_000).div_ceil(u128::from(rate_bps)) as u64;
        let mut offer = |now: u64| match l.offer(Time(now), PacketHandle { id: 0, size, hop: 0 }) {
            Offer::Accepted { starts, .. } => starts.0,
            Offer::Dropped => unreachable!("its queue is unlimited"),
        };
        for n in 0..1000 {
            assert_eq!(offer(0), end_after(n), "frame {n} at {rate_bps} bit/s");
        }
        // After a pause, a frame takes the rounded-up time of a first frame.
        let later = end_after(1000) + 1;
        assert_eq!((offer(later), offer(later)), (later, later + end_after(1)));
    }
}

proptest! {
    /// The link has no separate queue: it derives the backlog from the packets in its pipe. For any arrivals,
    /// it decides like the explicit model, and therefore never exceeds its limit.
    #[test]
    fn drop_tail_decides_like_an_explicit_queue(
        limit in limits(),
        delay_us in 0u64..5000,
        steps in prop::collection::vec((0u64..3000, 1u32..1500), 1..120),
    ) {
        let mut l = Link::new(RATE, Span::from_micros(delay_us), limit, Framing::NONE, None);
        let mut model = Model { busy_until: 0, packets: Vec::new(), waited: 0 };
        let (mut now, mut most) = (0, 0);
        for (i, &(gap_us, size)) in steps.iter().enumerate() {
            now += gap_us * 1000;
            while l.next_arrival().is_some_and(|t| t.0 <= now) {
                l.take_arrival();
            }
            let tx = l.transmission_time(size).0;
            let expected = model.offer(now, size, tx, limit);
            let got = match l.offer(Time(now), PacketHandle { id: i as u32, size, hop: 0 }) {
                Offer::Accepted { starts, .. } => Some(starts.0),
                Offer::Dropped => None,
            };
            prop_assert_eq!(got, expected);
            let waiting = model.packets.iter().filter(|p| p.0 > now).count() as u64;
            most = most.max(waiting);
            let ahead: u64 = model.packets.iter().map(|p| p.0.saturating_sub(now)).sum();
            prop_assert_eq!(l.waited_ns_by(Time(now)), model.waited - ahead);
            prop_assert!(l.conserves_packets());
        }
        prop_assert_eq!(l.counters.max_waiting, most);
    }
}
