//! A discipline above the queue of a device, compared with closed forms and with the discipline alone.

use crate::common::bottleneck::{Settled, bottleneck, settled};
use crate::common::{self, Traffic, cbr, dumbbell, flow, link, network, rfc, run};
use windlass_cc::Time;
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{CoDel, Device, Discipline, FqCoDel};
use windlass_sim::{LinkResult, PacketFate, RunResult};
use windlass_tcp::Codepoint;

const FQ: Discipline = Discipline::FqCoDel(FqCoDel::DEFAULT);

fn above(packets: u64, discipline: Discipline) -> Discipline {
    Discipline::Device(Box::new(Device { discipline, packets }))
}

/// One NewReno flow with a base RTT of 40 ms, from 10 s to 60 s, through 10 Mbit/s: 1.2 ms per packet.
fn through(discipline: Discipline, ecn: bool) -> Settled {
    let mut config = bottleneck(&[("newreno", 40)], 1);
    (config.links[0].discipline, config.links[0].queue) = (discipline, QueueLimit::Packets(10_240));
    let stack = &mut config.flows[0].profile_mut().stack;
    stack.ecn = ecn.into();
    config.record.capture = vec![0];
    settled(config, 10, 60)
}

fn first_drop(r: &RunResult) -> Time {
    let drops = r.packets.iter().filter(|p| p.fate == PacketFate::DroppedQueue);
    drops.map(|p| p.time).min().expect("packets are dropped")
}

#[test]
fn drop_tail_above_a_device_equals_drop_tail_with_the_sum_of_lengths() {
    let with = |limit, discipline: Discipline| {
        let mut config = dumbbell(3, "newreno", Time::from_secs(20));
        let stop = Time::from_secs(15);
        config.links[0].rate_bps = 5_000_000;
        config.flows[1].traffic = Traffic::CbrUdp(cbr(333, 1700, stop));
        config.flows[2].traffic = Traffic::CbrTcp(cbr(4000, 20_000, stop));
        config.links[0].queue = QueueLimit::Packets(limit);
        config.links[0].discipline = discipline;
        config.links[0].loss = [common::drops(0.001), common::drops(0.001)].into();
        run(config)
    };
    let plain = with(40, Discipline::DropTail);
    assert!(plain.links[0].drops_queue > 10, "{:?}", plain.links[0]);
    for device in [1, 17, 40] {
        let both = with(40 - device, above(device, Discipline::DropTail));
        assert_eq!(plain.flows, both.flows, "{device}");
        let (p, b) = (&plain.links[0], &both.links[0]);
        assert!((p.mean_queue_delay_ms - b.mean_queue_delay_ms).abs() < 1e-9, "{p:?} {b:?}");
        assert!((p.mean_queue_packets - b.mean_queue_packets).abs() < 1e-9);
        assert_eq!((p.drops, p.max_queue_packets), (b.drops, b.max_queue_packets));
    }
}

/// The receive window holds the bandwidth-delay product and 80 packets, and all of these packets wait.
#[test]
fn codel_does_not_drop_a_standing_queue_within_the_device() {
    const WINDOW: f64 = 120_000.0;
    let of = |discipline| {
        let mut config = bottleneck(&[("newreno", 40)], 1);
        (config.links[0].discipline, config.links[0].queue) =
            (discipline, QueueLimit::Packets(10_240));
        let stack = &mut config.flows[0].profile_mut().stack;
        stack.receive_buffer = WINDOW as u64;
        stack.initial_receive_buffer = WINDOW as u64;
        settled(config, 10, 60)
    };
    let (alone, device) = (of(FQ), of(above(100, FQ)));
    let l = &alone.run.links[0];
    assert!(l.drops + l.marks > 5 && alone.queue < 15.0, "{} {l:?}", alone.queue);
    let l = &device.run.links[0];
    assert_eq!((l.drops, l.marks), (0, 0), "{l:?}");
    // Little's law: the window minus the packets in the base RTT of 40 ms and in transmission.
    let (segment, tx_ms) = (common::bottleneck::SEGMENT, 1.2);
    let waiting = WINDOW / segment - 40.0 / tx_ms - 1.0;
    assert!((device.queue - waiting).abs() < 2.0, "{} {waiting}", device.queue);
    assert!(device.utilisation > 0.999);
}

#[test]
fn a_bulk_flow_waits_for_the_device_first_and_is_dropped_later() {
    let (alone, device) = (through(FQ, false), through(above(100, FQ), false));
    assert!(first_drop(&device.run) > first_drop(&alone.run), "{}", first_drop(&device.run));
    let (few, many) = (device.run.links[0].drops_early, alone.run.links[0].drops_early);
    assert!(few >= 1 && 2 * few < many, "{few} {many}");
    // CoDel keeps its own part near 5 ms. The device's part is 100 packets of 1.2 ms while it is full.
    assert!(alone.queue < 10.0 && device.queue > 60.0, "{} {}", alone.queue, device.queue);
    let most = device.run.links[0].max_queue_packets;
    assert!(most > 100, "CoDel acts only on packets above a full device: {most}");
}

#[test]
fn a_device_of_one_packet_changes_the_discipline_by_one_packet() {
    let (alone, device) = (through(FQ, false), through(above(1, FQ), false));
    // CoDel's delay does not include the wait for one transmission. The queue, which is often empty, may be
    // longer by this wait, and the link is busy a little longer.
    assert!((device.queue - alone.queue).abs() < 2.0, "{} {}", device.queue, alone.queue);
    let [a, d] = [&alone, &device].map(|s| s.goodput[0]);
    assert!((0.995..1.02).contains(&(d / a)), "{d} {a}");
    let [a, d] = [&alone, &device].map(|s| s.run.links[0].drops_early as f64);
    assert!((d / a - 1.0).abs() < 0.2, "{d} {a}");
}

#[test]
fn a_sparse_flow_waits_only_for_the_device() {
    let end = Time::from_secs(20);
    let waits_ms = |discipline| {
        let mut wire = link([0, 1], 10_000_000, 5);
        (wire.queue, wire.discipline) = (QueueLimit::Packets(1000), discipline);
        let flood = flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(1472, 600, end)));
        let mut sparse = flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(160, 500_000, end)));
        sparse.start = Time::from_secs(1);
        let mut config: Config = network(vec![wire], vec![flood, sparse], end);
        config.record.capture = vec![0];
        let r = run(config);
        assert_eq!(r.flows[1].loss_rate, 0.0);
        let sent = r.packets.iter().filter(|p| p.flow == 1 && p.fate == PacketFate::Sent);
        // Its source sends every 500 ms.
        sent.map(|p| (p.time.0 % 500_000_000) as f64 / 1e6).collect::<Vec<_>>()
    };
    let within = |waits: &[f64], least: f64, most: f64| {
        assert!(waits.len() > 30 && waits.iter().all(|w| (least..=most).contains(w)), "{waits:?}");
    };
    within(&waits_ms(FQ), 0.0, 1.201);
    // The rest of a transmission until the device has room, and then the other 99 packets in the device.
    within(&waits_ms(above(100, FQ)), 99.0 * 1.2, 101.0 * 1.2 + 0.001);
    within(&waits_ms(above(20, FQ)), 19.0 * 1.2, 21.0 * 1.2 + 0.001);
}

#[test]
fn packets_marked_above_a_device_leave_the_link_with_their_mark() {
    let codel = Discipline::CoDel(CoDel { ecn: true, ..CoDel::DEFAULT });
    for discipline in [above(20, FQ), above(20, codel)] {
        let s = through(discipline.clone(), true);
        let (f, l) = (&s.run.flows[0], &s.run.links[0]);
        assert!(l.marks > 10, "{discipline:?}: {l:?}");
        assert_eq!((l.drops, f.retransmits), (0, 0), "{discipline:?}");
        let out = s.run.packets.iter().filter(|p| p.link == 0 && p.fate == PacketFate::Delivered);
        let marked = out.filter(|p| p.segment.is_some_and(|s| s.ecn == Codepoint::Ce)).count();
        assert!((marked as u64) <= l.marks && l.marks - marked as u64 <= l.inside);
    }
}

#[test]
fn packets_are_conserved_at_any_moment_and_runs_repeat() {
    let mut config = dumbbell(4, "newreno", Time::from_secs(20));
    config.links[0].discipline = above(30, FQ);
    config.links[0].queue = QueueLimit::Packets(60);
    config.record.capture = vec![0];
    let mut s = windlass_sim::Simulation::new(config.clone()).expect("valid");
    let mut end = Time::ZERO;
    while s.run_until(end) {
        s.clone().finish().expect("packets conserved");
        end += windlass_cc::Span::from_millis(1010);
    }
    let (stepwise, whole) = (s.finish().expect("packets conserved"), run(config));
    assert!(format!("{stepwise:?}") == format!("{whole:?}"));
    let l: &LinkResult = &whole.links[0];
    let logged = |fate| whole.packets.iter().filter(|p| p.link == 0 && p.fate == fate).count();
    assert_eq!(l.drops_queue, logged(PacketFate::DroppedQueue) as u64);
    assert_eq!(l.delivered, logged(PacketFate::Delivered) as u64);
    assert!(l.max_queue_packets <= 90 && l.max_queue_packets > 30, "{l:?}");
}
