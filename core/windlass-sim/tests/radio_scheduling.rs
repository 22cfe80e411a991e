//! Scheduling of a station's packets: first come, first served, or fairness.

use crate::common::radio::line;
use windlass_cc::Time;
use windlass_sim::link::QueueLimit;
use windlass_sim::packet::PacketHandle;
use windlass_sim::radio::scheduling::fitness::Reading;
use windlass_sim::radio::scheduling::{Rule, Scheduling};
use windlass_sim::radio::{Outcome, Phy, Radio};

/// A station with a queue of 30 packets gets one packet every 0.2 ms: nine packets of user 1 for each packet
/// of user 2. Returns the delivered packets of each user in one second, and the total drops.
fn delivered(rule: Rule) -> ([u64; 2], u64) {
    let mut config = line(Phy::ALL[0].1, 500, &[0, 10]);
    config.stations[0].queue = QueueLimit::Packets(30);
    config.scheduling = Scheduling { rule, ..Scheduling::default() };
    let mut radio = Radio::new(&config, 1, 0);
    let (mut got, mut dropped) = ([0, 0], 0);
    for n in 0..5_000u32 {
        let now = Time(u64::from(n) * 200_000);
        while let Some(at) = radio.next_event().filter(|at| *at <= now) {
            radio.step(at);
        }
        for outcome in radio.take_outcomes() {
            if let Outcome::Delivered { handle, .. } = outcome {
                got[handle.id as usize - 1] += 1;
            }
        }
        let user = if n % 10 == 0 { 2 } else { 1 };
        let handle = PacketHandle { id: user, size: 1_000, hop: 0 };
        dropped += u64::from(!radio.offer_for(now, 0, 1, handle, user, 0));
        assert!(radio.stations()[0].queue.len() <= 30);
    }
    assert!(radio.stations().iter().all(|s| s.conserves_packets()));
    (got, dropped)
}

#[test]
fn fifo_shares_by_offered_packets_and_fairness_serves_the_smaller_user() {
    let ([many, few], dropped) = delivered(Rule::Fifo);
    assert!(dropped > 0, "the offered load exceeds the capacity");
    let share = few as f64 / (many + few) as f64;
    assert!((0.05..0.15).contains(&share), "{share}");
    for rule in [Rule::Pf, Rule::Fpf(Reading::Literal), Rule::Fpf(Reading::Repaired)] {
        let ([fair_many, fair_few], _) = delivered(rule);
        // Packets that find the shared queue full are lost before the scheduler chooses. The smaller user's
        // share of the queued packets is therefore equal, but its packets no longer wait.
        assert!(fair_few + 3 >= few, "{rule:?}: {fair_few} after {few}");
        assert!((fair_many + fair_few).abs_diff(many + few) <= 2, "{rule:?}");
    }
}

/// Two backlogged users of one station with different packet sizes get equal numbers of slots.
#[test]
fn proportional_fairness_gives_backlogged_users_equal_slots() {
    let served = |rule| {
        let mut config = line(Phy::ALL[0].1, 500, &[0, 10]);
        config.stations[0].queue = QueueLimit::Packets(30);
        config.scheduling = Scheduling { rule, ..Scheduling::default() };
        let mut radio = Radio::new(&config, 1, 0);
        let mut inside = [0u32; 2];
        let mut got = [0u32; 2];
        let mut now = Time::ZERO;
        while now < Time::from_secs(5) {
            // Three quarters of the queue belong to user 1.
            for (user, most, size) in [(1u32, 21, 1_500), (2, 7, 300)] {
                while inside[user as usize - 1] < most {
                    inside[user as usize - 1] += 1;
                    let handle = PacketHandle { id: user, size, hop: 0 };
                    assert!(radio.offer_for(now, 0, 1, handle, user, 0));
                }
            }
            now = radio.next_event().expect("a packet is waiting");
            radio.step(now);
            for outcome in radio.take_outcomes() {
                if let Outcome::Delivered { handle, .. } = outcome {
                    got[handle.id as usize - 1] += 1;
                    inside[handle.id as usize - 1] -= 1;
                }
            }
        }
        f64::from(got[1]) / f64::from(got[0] + got[1])
    };
    assert!((served(Rule::Fifo) - 0.25).abs() < 0.01, "{}", served(Rule::Fifo));
    assert!((served(Rule::Pf) - 0.5).abs() < 0.01, "{}", served(Rule::Pf));
}
