//! Queue disciplines in a network.

use crate::common::{self, Traffic, cbr, dumbbell, flow, link, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{
    CoDel, Discipline, DualPi2, FqCoDel, Level, Pie, Policer, Red, Threshold,
};
use windlass_sim::{Incident, LinkResult, PacketFate, RunResult};

const RED: Red = Red::DEFAULT;

/// A threshold that is never reached: a plain queue, first in, first out.
const FIFO: Discipline =
    Discipline::Threshold(Threshold { mark: Level::Packets(u64::MAX), probability: 0.0 });

fn all() -> [Discipline; 8] {
    [
        Discipline::Red(RED),
        Discipline::Red(Red { adaptive: true, ..RED }),
        Discipline::CoDel(CoDel::DEFAULT),
        Discipline::FqCoDel(FqCoDel::DEFAULT),
        Discipline::Pie(Pie::DEFAULT),
        Discipline::DualPi2(DualPi2::RFC9332),
        Discipline::DualPi2(DualPi2::LINUX),
        Discipline::Threshold(Threshold { mark: Level::Packets(20), probability: 0.01 }),
    ]
}

/// Bulk flows through a bottleneck with this discipline and a deep queue.
fn bottleneck(discipline: Discipline, flows: usize, seconds: u64) -> Config {
    let mut config = dumbbell(flows, "newreno", Time::from_secs(seconds));
    config.links[0].discipline = discipline;
    config.links[0].queue = QueueLimit::Packets(1000);
    for (i, f) in config.flows.iter_mut().enumerate() {
        f.start = Time::from_millis(37 * i as u64);
    }
    config
}

/// Totals of a link, without its name.
fn totals(l: &LinkResult) -> LinkResult {
    LinkResult { name: String::new(), ..l.clone() }
}

#[test]
fn a_queue_without_a_discipline_equals_drop_tail_for_every_packet() {
    // Compares the general code path with the fast one: overflow, idle times, small and large packets.
    for limit in [QueueLimit::Packets(0), QueueLimit::Packets(7), QueueLimit::Bytes(20_000)] {
        let with = |discipline: Discipline| {
            let mut config = dumbbell(3, "newreno", Time::from_secs(20));
            let stop = Time::from_secs(15);
            config.links[0].rate_bps = 5_000_000;
            config.flows[1].traffic = Traffic::CbrUdp(cbr(333, 1700, stop));
            config.flows[2].traffic = Traffic::CbrTcp(cbr(4000, 20_000, stop));
            for l in &mut config.links {
                (l.queue, l.discipline) = (limit, discipline.clone());
            }
            config.links[0].loss = [common::drops(0.001), common::drops(0.001)].into();
            config.record.capture = vec![0];
            config.record.decisions = true;
            run(config)
        };
        let (fast, general) = (with(Discipline::DropTail), with(FIFO));
        assert!(fast.links[0].drops_queue > 10, "{:?}", fast.links[0]);
        assert_eq!(fast.flows, general.flows, "{limit:?}");
        for (f, g) in fast.links.iter().zip(&general.links) {
            let (f, g) = (totals(f), totals(g));
            assert!((f.mean_queue_delay_ms - g.mean_queue_delay_ms).abs() < 1e-9);
            assert!((f.mean_queue_packets - g.mean_queue_packets).abs() < 1e-9);
            let same =
                LinkResult { mean_queue_delay_ms: 0.0, mean_queue_packets: 0.0, ..f.clone() };
            let general = LinkResult { mean_queue_delay_ms: 0.0, mean_queue_packets: 0.0, ..g };
            assert_eq!(same, general);
        }
        // Events at the same time in different places may be logged in any order.
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        let packets = |r: &RunResult| r.packets.iter().map(|p| format!("{p:?}")).collect();
        assert!(sorted(packets(&fast)) == sorted(packets(&general)), "{limit:?}");
        // The contents of the full queue at each drop, by flow.
        let incidents = |r: &RunResult| {
            let all = &r.decisions.as_ref().expect("recorded").incidents;
            let backlog = |i: &Incident| i.backlog.as_ref().map(|b| (b.flows > 1, b.packets));
            assert!(
                limit == QueueLimit::Packets(0) || all.iter().any(|i| backlog(i) > Some((true, 6)))
            );
            all.iter().map(|i| format!("{i:?}")).collect()
        };
        assert_eq!(sorted(incidents(&fast)), sorted(incidents(&general)), "{limit:?}");
    }
}

/// Each discipline with settings at which it neither drops nor marks.
fn harmless() -> [Discipline; 8] {
    let never = Span::from_secs(1_000);
    let (most, red) = (Level::Packets(u64::MAX >> 1), Red { weight: 1e-9, ..RED });
    [
        Discipline::DropTail,
        Discipline::Red(Red { min_threshold: Level::Packets(1 << 30), max_threshold: most, ..red }),
        Discipline::CoDel(CoDel { target: never, ..CoDel::DEFAULT }),
        Discipline::FqCoDel(FqCoDel { target: never, ..FqCoDel::DEFAULT }),
        Discipline::Pie(Pie { target: never, ..Pie::DEFAULT }),
        Discipline::DualPi2(DualPi2 { alpha: 0.0, beta: 0.0, ..DualPi2::LINUX }),
        FIFO,
        Discipline::Policer(Policer { rate: 1 << 40, burst: 1 << 30 }),
    ]
}

/// Datagrams at twice the rate of the link, so that half of them still wait at the end.
#[test]
fn disciplines_without_drops_have_the_mean_wait_of_drop_tail() {
    let of = |discipline: Discipline, duration: Time| {
        let flood = Traffic::CbrUdp(cbr(972, 4_000, duration));
        let mut links = vec![link([0, 1], 1_000_000, 10)];
        (links[0].discipline, links[0].queue) = (discipline, QueueLimit::Unlimited);
        let flows = vec![flow([0, 1], rfc("newreno"), flood)];
        run(network(links, flows, duration)).links.remove(0)
    };
    // At the end of a transmission, and in the middle of one.
    for duration in [Time::from_secs(10), Time::from_millis(9_994)] {
        let plain = of(Discipline::DropTail, duration);
        // 8 ms per packet: the n-th packet that left had waited for 4 (n - 1) ms.
        let left = (duration.0 as f64 / 8e6).floor() + 1.0;
        assert!((plain.mean_queue_delay_ms - 2.0 * (left - 1.0)).abs() < 1.0, "{plain:?}");
        for discipline in harmless() {
            let l = of(discipline.clone(), duration);
            assert_eq!((l.drops, l.marks), (0, 0), "{discipline:?}");
            let error = (l.mean_queue_delay_ms - plain.mean_queue_delay_ms).abs();
            assert!(
                error < 1e-6,
                "{discipline:?}: {} {}",
                l.mean_queue_delay_ms,
                plain.mean_queue_delay_ms
            );
            assert!((l.mean_queue_packets - plain.mean_queue_packets).abs() < 1e-9);
        }
    }
}

#[test]
fn packets_are_conserved_at_any_moment_and_runs_repeat() {
    for discipline in all() {
        let mut config = bottleneck(discipline.clone(), 4, 20);
        config.links[0].queue = QueueLimit::Packets(200);
        config.record.capture = vec![0];
        let mut s = windlass_sim::Simulation::new(config.clone()).expect("valid");
        let mut end = Time::ZERO;
        while s.run_until(end) {
            s.clone().finish().expect("packets conserved");
            end += Span::from_millis(1010);
        }
        let (stepwise, whole) = (s.finish().expect("packets conserved"), run(config));
        assert!(format!("{stepwise:?}") == format!("{whole:?}"), "{discipline:?}");
        let l = &whole.links[0];
        let logged = |fate| whole.packets.iter().filter(|p| p.link == 0 && p.fate == fate).count();
        assert_eq!(l.drops_queue, logged(PacketFate::DroppedQueue) as u64);
        assert_eq!(l.delivered, logged(PacketFate::Delivered) as u64);
        assert!(l.drops_early <= l.drops_queue && l.max_queue_packets <= 200, "{l:?}");
        let marks_only = matches!(discipline, Discipline::Threshold(_));
        assert_eq!(l.drops_early == 0, marks_only, "{discipline:?} {l:?}");
    }
}

#[test]
fn the_seed_affects_only_random_disciplines() {
    let with = |discipline, seed| {
        let mut config = bottleneck(discipline, 2, 20);
        config.seed = seed;
        // Apart from initial sequence numbers, only RED uses random numbers here.
        run(config).links.remove(0)
    };
    assert_ne!(totals(&with(Discipline::Red(RED), 1)), totals(&with(Discipline::Red(RED), 2)));
    let codel = Discipline::CoDel(CoDel::DEFAULT);
    assert_eq!(totals(&with(codel.clone(), 1)), totals(&with(codel, 2)));
}

#[test]
fn early_signals_keep_the_queue_short_and_the_link_busy() {
    // Five flows, each with a base RTT of 80 ms and 10 Mbit/s of the bottleneck.
    let [tail, red, codel, fq, pie] = [
        Discipline::DropTail,
        Discipline::Red(Red {
            min_threshold: Level::Packets(40),
            max_threshold: Level::Packets(120),
            ..RED
        }),
        Discipline::CoDel(CoDel::DEFAULT),
        Discipline::FqCoDel(FqCoDel::DEFAULT),
        Discipline::Pie(Pie::DEFAULT),
    ]
    .map(|discipline| run(bottleneck(discipline, 5, 60)).links.remove(0));
    assert!(tail.mean_queue_packets > 400.0, "{tail:?}");
    for (l, most_ms) in [(&red, 35.0), (&codel, 20.0), (&fq, 20.0), (&pie, 30.0)] {
        assert!(l.mean_queue_delay_ms < most_ms, "{l:?}");
        assert!(l.utilisation > 0.85, "{l:?}");
        assert!(l.drops_early > 20, "{l:?}");
    }
}

#[test]
fn pie_keeps_the_delay_near_its_target_under_overload() {
    // 12 Mbit/s without congestion control into 10 Mbit/s: only drops can limit the delay.
    for (target_ms, least, most) in [(15, 10.0, 20.0), (50, 42.0, 58.0)] {
        let target = Span::from_millis(target_ms);
        let end = Time::from_secs(120);
        let mut wire = link([0, 1], 10_000_000, 5);
        wire.discipline = Discipline::Pie(Pie { target, ..Pie::DEFAULT });
        let sources = (0..4).map(|i| {
            let mut f = flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(972, 2666 + 3 * i, end)));
            f.start = Time(100_000 * i);
            f
        });
        let l = run(network(vec![wire], sources.collect(), end)).links.remove(0);
        assert!((least..most).contains(&l.mean_queue_delay_ms), "{target_ms} ms: {l:?}");
        assert!(l.utilisation > 0.99, "{l:?}");
        // 1/6 of the arriving packets exceeds the link's rate.
        let share = l.drops as f64 / l.sent as f64;
        assert!((share - 1.0 / 6.0).abs() < 0.01, "{share}");
    }
}

/// A constant rate of `rate_bps` competes with 64 kbit/s, both without congestion control, on 10 Mbit/s.
fn sparse_beside_flood(discipline: Discipline) -> RunResult {
    let end = Time::from_secs(20);
    let mut wire = link([0, 1], 10_000_000, 5);
    (wire.queue, wire.discipline) = (QueueLimit::Packets(1000), discipline);
    let flood = flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(1472, 600, end)));
    let mut sparse = flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(160, 20_000, end)));
    sparse.start = Time::from_secs(1); // otherwise both flows would be new at the same time
    let mut config = network(vec![wire], vec![flood, sparse], end);
    config.record.capture = vec![0];
    run(config)
}

#[test]
fn fq_codel_isolates_a_sparse_flow_from_a_flood() {
    let longest_wait = |r: &RunResult| {
        // A sparse packet arrives at the queue when its source sends it, every 20 ms.
        let sparse = r.packets.iter().filter(|p| p.flow == 1 && p.fate == PacketFate::Sent);
        sparse.map(|p| p.time.0 % 20_000_000).max().expect("packets were sent") as f64 / 1e6
    };
    let fq = sparse_beside_flood(Discipline::FqCoDel(FqCoDel::DEFAULT));
    assert_eq!(fq.flows[1].loss_rate, 0.0);
    // It overtakes the flood, and waits at most for the packet on the wire: 1.2 ms.
    assert!(longest_wait(&fq) <= 1.21, "{} ms", longest_wait(&fq));
    assert!(fq.links[0].utilisation > 0.99);
    let tail = sparse_beside_flood(Discipline::DropTail);
    assert!(tail.flows[1].loss_rate > 0.2, "{:?}", tail.flows[1]);
}

#[test]
fn flows_with_separate_queues_share_equally_at_any_rate() {
    let end = Time::from_secs(20);
    let mut wire = link([0, 1], 10_000_000, 5);
    wire.discipline = Discipline::FqCoDel(FqCoDel::DEFAULT);
    wire.queue = QueueLimit::Packets(100);
    let source = |interval| flow([0, 1], rfc("newreno"), Traffic::CbrUdp(cbr(972, interval, end)));
    // 8, 16 and 4 Mbit/s: each flow gets an equal share.
    let r = run(network(vec![wire], [1000, 500, 2000].map(source).to_vec(), end));
    let rates: Vec<f64> = r.flows.iter().map(|f| f.goodput_bps / 1e6).collect();
    let share = 10.0 / 3.0 * 0.972;
    assert!(rates.iter().all(|rate| (rate / share - 1.0).abs() < 0.02), "{rates:?}");
}

#[test]
fn a_queue_discipline_does_not_affect_other_links() {
    let mut config = bottleneck(Discipline::CoDel(CoDel::DEFAULT), 2, 10);
    config.links[1].discipline = Discipline::Pie(Pie::DEFAULT);
    let r = run(config);
    for (i, l) in r.links.iter().enumerate() {
        assert!(i == 0 || l.drops_early == 0, "{l:?}");
        assert_eq!(l.marks, 0, "datagrams and flows without ECN are never marked");
    }
    // Acknowledgements also pass a CoDel queue on the reverse path.
    assert!(r.links[1].delivered > 1000);
}
