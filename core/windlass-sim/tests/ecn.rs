//! Marks from the queue to the sender. Only ECN-capable packets are marked, marks cause no losses, and DCTCP
//! keeps the queue at the threshold.

use crate::common::bottleneck::{Settled, bottleneck, settled};
use windlass_cc::Time;
use windlass_sim::PacketFate;
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{CoDel, Discipline, DualPi2, FqCoDel, Level, Pie, Red, Threshold};
use windlass_tcp::Codepoint;

/// One flow through a bottleneck whose queue is large enough for slow start, from 10 s to 60 s.
fn through(algorithm: &'static str, discipline: Discipline, ecn: bool) -> Settled {
    let mut config = bottleneck(&[(algorithm, 40)], 1);
    (config.links[0].discipline, config.links[0].queue) = (discipline, QueueLimit::Packets(1000));
    config.flows[0].profile_mut().stack.ecn = ecn.into();
    config.record.capture = vec![0];
    settled(config, 10, 60)
}

fn marking() -> [Discipline; 6] {
    let red = Red {
        min_threshold: Level::Packets(10),
        max_threshold: Level::Packets(30),
        weight: 0.02,
        max_probability: 0.02,
        gentle: true,
        ecn: true,
        adaptive: false,
        mean_packet: 1500,
    };
    [
        Discipline::Red(red),
        Discipline::CoDel(CoDel { ecn: true, ..CoDel::DEFAULT }),
        Discipline::FqCoDel(FqCoDel::DEFAULT),
        Discipline::Pie(Pie { ecn: true, ..Pie::DEFAULT }),
        Discipline::DualPi2(DualPi2::RFC9332),
        Discipline::DualPi2(DualPi2::LINUX),
    ]
}

#[test]
fn capable_packets_are_marked_and_not_dropped() {
    for discipline in marking() {
        let s = through("newreno", discipline.clone(), true);
        let (f, l) = (&s.run.flows[0], &s.run.links[0]);
        assert!(l.marks > 10, "{discipline:?}: {l:?}");
        // In slow start, RED's average and PIE's probability may become too large for marks, so that packets
        // are dropped.
        let drops = s.run.packets.iter().filter(|p| p.fate == PacketFate::DroppedQueue);
        let last = drops.map(|p| p.time).max().unwrap_or(Time::ZERO);
        assert!(last < Time::from_secs(10), "{discipline:?}: {last}");
        if matches!(discipline, Discipline::CoDel(_) | Discipline::FqCoDel(_)) {
            assert_eq!((l.drops, f.retransmits), (0, 0), "{discipline:?}");
        }
        // A window that is halved when the queue is empty fills three quarters of the pipe.
        assert!(s.utilisation > 0.75, "{discipline:?}: {}", s.utilisation);
        // The queue has marked each packet that arrives with a mark.
        let out = s.run.packets.iter().filter(|p| p.link == 0 && p.fate == PacketFate::Delivered);
        let marked = out.filter(|p| p.segment.is_some_and(|s| s.ecn == Codepoint::Ce)).count();
        assert!((marked as u64) <= l.marks && l.marks - marked as u64 <= l.inside);
    }
}

#[test]
fn packets_that_are_not_capable_are_dropped_and_never_marked() {
    for discipline in marking() {
        let s = through("newreno", discipline.clone(), false);
        let l = &s.run.links[0];
        assert!(l.marks == 0 && l.drops_early > 10, "{discipline:?}: {l:?}");
        assert!(s.run.flows[0].retransmits >= l.drops_early, "{:?}", s.run.flows[0]);
    }
}

#[test]
fn a_queue_that_does_not_mark_drops_capable_packets_too() {
    let s = through("newreno", Discipline::CoDel(CoDel::DEFAULT), true);
    assert!(s.run.links[0].marks == 0 && s.run.links[0].drops_early > 10);
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold_and_newreno_halves_away_from_it() {
    let mark = Level::Packets(20);
    let discipline = Discipline::Threshold(Threshold { mark, probability: 0.0 });
    let [dctcp, newreno] = ["dctcp", "newreno"].map(|id| through(id, discipline.clone(), true));
    for s in [&dctcp, &newreno] {
        assert_eq!((s.run.links[0].drops, s.run.flows[0].retransmits), (0, 0));
    }
    // Alizadeh et al. 2010, section 3.3: with N flows, the queue oscillates below K + N with an amplitude of
    // about √(C·RTT + K)/√2 packets. Here these are 20 and 15, and the link is never idle.
    assert!((13.0..21.0).contains(&dctcp.queue), "{}", dctcp.queue);
    assert!(dctcp.utilisation > 0.999, "{}", dctcp.utilisation);
    // Half of 33 + 20 packets do not fill the pipe of 33.
    assert!(newreno.queue < 0.75 * dctcp.queue, "{} {}", newreno.queue, dctcp.queue);
    assert!(newreno.utilisation < 0.995, "{}", newreno.utilisation);
}
