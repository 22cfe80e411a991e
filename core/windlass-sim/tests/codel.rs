//! CoDel compared with RFC 8289's pseudo-code, which this test implements again in the RFC's own form. Both
//! get the same packets at the same times, and must drop and transmit the same packets.

use std::collections::VecDeque;

use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::link::QueueLimit;
use windlass_sim::packet::PacketHandle;
use windlass_sim::queue::{CoDel, Discipline, Queue, Waiting};
use windlass_tcp::Codepoint;

const SIZE: u32 = 1000;
const MS: u64 = 1_000_000;

/// The class `CoDelQueue` of sections 5.1 to 5.6, with times in nanoseconds. As in the RFC, zero means "not
/// above".
struct Pseudocode {
    packets: VecDeque<(u32, u64)>,
    target: u64,
    interval: u64,
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Vec<u32>,
}

impl Pseudocode {
    fn control_law(&self, t: u64) -> u64 {
        t + (self.interval as f64 / f64::from(self.count).sqrt()) as u64
    }

    /// Section 5.6: returns the packet, and true if it may be dropped.
    fn dodequeue(&mut self, now: u64) -> (Option<u32>, bool) {
        let Some((id, came)) = self.packets.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let bytes = self.packets.len() as u64 * u64::from(SIZE);
        let mut ok_to_drop = false;
        if now - came < self.target || bytes <= u64::from(SIZE) {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(id), ok_to_drop)
    }

    /// Section 5.5.
    fn deque(&mut self, now: u64) -> Option<u32> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(packet);
                self.count += 1;
                (packet, ok_to_drop) = self.dodequeue(now);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            self.dropped.extend(packet);
            (packet, _) = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now.saturating_sub(self.drop_next) < 16 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }
}

/// The simulator's queue and the model.
struct Both {
    queue: Queue,
    model: Pseudocode,
    next: u32,
    dropped: usize,
}

impl Both {
    fn new() -> Both {
        let codel = CoDel::DEFAULT;
        Both {
            queue: Queue::new(&Discipline::CoDel(codel), QueueLimit::Unlimited, 1, 0)
                .expect("a queue"),
            model: Pseudocode {
                packets: VecDeque::new(),
                target: codel.target.0,
                interval: codel.interval.0,
                first_above_time: 0,
                drop_next: 0,
                count: 0,
                lastcount: 0,
                dropping: false,
                dropped: Vec::new(),
            },
            next: 0,
            dropped: 0,
        }
    }

    fn arrive(&mut self, now: u64) {
        let packet = Waiting {
            handle: PacketHandle { id: self.next, size: SIZE, hop: 0 },
            since: Time(now),
            transmission: Span(1000),
            flow: 1,
            ecn: Codepoint::NotEct,
        };
        self.queue.enqueue(Time(now), packet, None, &mut Vec::new());
        self.model.packets.push_back((self.next, now));
        self.next += 1;
    }

    /// Transmits one packet. Checks that both queues drop the same packets, and returns them.
    fn depart(&mut self, now: u64) -> Vec<u32> {
        let mut drops = Vec::new();
        let taken = self.queue.dequeue(Time(now), &mut drops).map(|(packet, _)| packet.handle.id);
        let drops: Vec<u32> = drops.iter().map(|d| d.handle.id).collect();
        let expected = self.model.deque(now);
        let expected_drops = self.model.dropped.split_off(0);
        assert_eq!((taken, &drops), (expected, &expected_drops), "at {} ms", now as f64 / 1e6);
        self.dropped += drops.len();
        drops
    }
}

/// The count of an episode includes its last drop, after which the delay is below the target. The next
/// episode, soon after, begins at the drop rate of the first.
#[test]
fn an_episode_after_three_drops_begins_with_a_count_of_two() {
    let mut both = Both::new();
    // A backlog, then one departure per millisecond. Returns the times of the drops.
    let mut episode = |from_ms: u64, backlog: u64, departures: u64| {
        (0..backlog).for_each(|_| both.arrive(from_ms * MS));
        let at = (from_ms + 5)..(from_ms + 5 + departures);
        at.filter(|ms| !both.depart(ms * MS).is_empty()).collect::<Vec<u64>>()
    };
    // From 1005 to 1276 ms, 272 packets leave and 3 are dropped. After the third drop, the next to last
    // packet leaves and is not dropped, because not more than one packet waits.
    let first = episode(1000, 276, 273);
    assert_eq!(
        first,
        [1105, 1205, 1276],
        "one interval, then intervals divided by the square roots of 1 and 2"
    );
    // The episode begins with the count of 3 minus the initial 1, so that the second drop follows after
    // 100/sqrt(2) ms.
    assert_eq!(episode(1400, 400, 180), [1505, 1576]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Bursts and pauses of lengths between a tenth of an interval and a few intervals.
    #[test]
    fn every_packet_has_the_same_fate_as_in_the_pseudo_code(
        phases in prop::collection::vec((0u64..4, 1u64..400, 500u64..4000), 1..40),
    ) {
        let mut both = Both::new();
        let mut now = MS;
        for (arrivals, departures, gap_us) in phases {
            for _ in 0..departures {
                // Up to three arrivals per departure. Without arrivals, the queue becomes empty.
                (0..arrivals).for_each(|_| both.arrive(now));
                now += gap_us * 1000;
                both.depart(now);
            }
        }
    }

    /// Short episodes one after another, in which the count of the last drop matters.
    #[test]
    fn short_episodes_one_after_another_agree_with_the_pseudo_code(
        episodes in prop::collection::vec((30u64..200, 100u64..400, 0u64..2_000), 2..20),
    ) {
        let mut both = Both::new();
        let mut now = MS;
        for (backlog, departures, lull_ms) in episodes {
            (0..backlog).for_each(|_| both.arrive(now));
            for _ in 0..departures {
                now += MS;
                both.depart(now);
            }
            now += lull_ms * MS;
        }
    }
}
