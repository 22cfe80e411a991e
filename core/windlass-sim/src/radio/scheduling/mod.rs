//! Choice of the packet that a station transmits next. There are three rules:
//!
//! * first come, first served,
//! * proportional fairness,
//! * fitness with proportional fairness (FPF, Parween and Hussain, equations 2 to 5).
//!
//! A packet in transmission is never put back. The scheduler chooses when the previous packet is finished. A
//! slot is the service of one packet, regardless of its duration.

pub mod fair;

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

pub use windlass_tcp::fitness;

use crate::radio::queued::Queued;
use fair::ProportionalFair;
use fitness::{Attributes, Reading, add_fitness, normalise};

/// User of a packet that belongs to no flow. Broadcasts count as slots without throughput, so this user
/// precedes all others.
pub const NOBODY: u32 = u32::MAX;

/// Traffic that forms one user of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Users {
    /// Each end of a flow is a user.
    #[default]
    Flows,
    /// Each sending node is a user.
    Sources,
}

impl Users {
    /// Every choice with its name in scenarios.
    pub const ALL: [(&'static str, Users); 2] =
        [("flow", Users::Flows), ("source", Users::Sources)];
}

/// Rule that chooses the next packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Rule {
    /// Order of arrival.
    #[default]
    Fifo,
    /// Equation 2: proportional fairness.
    Pf,
    /// Equations 2 to 5: the normalised value of equation 2, and the fitness.
    Fpf(Reading),
}

/// Scheduling of the stations of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Scheduling {
    /// Rule of choice.
    pub rule: Rule,
    /// Number of slots over which the throughput of a user is averaged (W of equation 3; C3-7). At least 2.
    pub window: u32,
    /// Definition of a user.
    pub users: Users,
}

impl Default for Scheduling {
    fn default() -> Scheduling {
        Scheduling { rule: Rule::Fifo, window: 256, users: Users::Flows }
    }
}

impl Scheduling {
    /// Returns the scheduler of one station; `None` for the order of arrival.
    pub fn scheduler(&self, rate_bps: u64) -> Option<Scheduler> {
        (self.rule != Rule::Fifo).then(|| Scheduler::new(*self, rate_bps))
    }
}

/// Approximate number of packets of a user over which its rate of service is averaged.
const RATE_WINDOW: f64 = 8.0;

/// State of a user during a run.
#[derive(Clone, Copy, Debug)]
struct User {
    id: u32,
    /// Rate of its packets while they are served, bits per second.
    service_rate: f64,
}

/// A station's scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler {
    scheduling: Scheduling,
    /// Initial rate of service of a user, bits per second.
    first_rate: f64,
    fair: ProportionalFair,
    /// Users, by their numbers in `fair`.
    users: Vec<User>,
    waiting: Vec<Waiting>,
    attributes: Vec<Attributes>,
    scores: Vec<f64>,
    scratch: Vec<f64>,
}

/// A user that has packets in the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    user: usize,
    /// Place of its first packet.
    first: usize,
    since: Time,
    packets: u32,
    bytes: u64,
    /// Total size of its first packets that are consecutive in the queue, bytes.
    burst: u64,
    /// Place after the last of these packets.
    burst_end: usize,
}

impl Scheduler {
    /// Returns a scheduler without users, for a radio with this data rate.
    pub fn new(scheduling: Scheduling, rate_bps: u64) -> Scheduler {
        Scheduler {
            scheduling,
            first_rate: rate_bps.max(1) as f64,
            fair: ProportionalFair::new(scheduling.window),
            users: Vec::new(),
            waiting: Vec::new(),
            attributes: Vec::new(),
            scores: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Returns the number of a user. A new user gets the next number.
    fn number(&mut self, id: u32) -> usize {
        if let Some(known) = self.users.iter().position(|user| user.id == id) {
            return known;
        }
        self.users.push(User { id, service_rate: self.first_rate });
        self.fair.add()
    }

    /// Ends a slot: the service of a packet took `took`.
    pub fn on_served(&mut self, queued: &Queued, took: Span, delivered: bool) {
        let user = self.number(queued.user);
        let bits = if delivered { 8.0 * f64::from(queued.handle.size) } else { 0.0 };
        let throughput = bits / (took.0.max(1) as f64 * 1e-9);
        self.fair.end_slot(user, throughput);
        let rate = &mut self.users[user].service_rate;
        *rate = (*rate + (throughput - *rate) / RATE_WINDOW).max(1.0);
    }

    /// Returns the place in the queue of the packet to be served next; for equal scores, the first.
    pub fn choose(&mut self, now: Time, queue: &VecDeque<Queued>, room: u64) -> usize {
        self.look_at(queue);
        if self.waiting.len() < 2 {
            return 0;
        }
        self.scores.clear();
        for w in &self.waiting {
            let rate = self.users[w.user].service_rate;
            self.scores.push(self.fair.priority(w.user, rate, 0.0));
        }
        if let Rule::Fpf(reading) = self.scheduling.rule {
            normalise(&mut self.scores);
            self.describe(now, room);
            add_fitness(&self.attributes, reading, &mut self.scores, &mut self.scratch);
        }
        let better = |a: usize, b: usize| if self.scores[b] > self.scores[a] { b } else { a };
        self.waiting[(0..self.waiting.len()).fold(0, better)].first
    }

    /// Finds the users with waiting packets, in the order of their first packets.
    fn look_at(&mut self, queue: &VecDeque<Queued>) {
        self.waiting.clear();
        for (place, queued) in queue.iter().enumerate() {
            let user = self.number(queued.user);
            let size = u64::from(queued.handle.size);
            match self.waiting.iter_mut().find(|w| w.user == user) {
                Some(w) => {
                    w.packets += 1;
                    w.bytes += size;
                    if w.burst_end == place {
                        w.burst += size;
                        w.burst_end += 1;
                    }
                }
                None => self.waiting.push(Waiting {
                    user,
                    first: place,
                    since: queued.since,
                    packets: 1,
                    bytes: size,
                    burst: size,
                    burst_end: place + 1,
                }),
            }
        }
    }

    /// Computes the attributes of the waiting users (C3-5, C3-9). A station does not have the remaining
    /// energy of the sources. This attribute is equal for all users and has no weight.
    fn describe(&mut self, now: Time, room: u64) {
        let room = room as f64;
        self.attributes.clear();
        for w in &self.waiting {
            let bandwidth = self.users[w.user].service_rate;
            let delay = now.since(w.since).0 as f64 * 1e-9;
            let queued = f64::from(w.packets);
            self.attributes.push(Attributes {
                energy: 1.0,
                rate: self.fair.average(w.user),
                bandwidth,
                queued,
                room,
                delay,
                completion: 8.0 * w.bytes as f64 / bandwidth + delay,
                size: w.burst as f64,
                buffer: queued / room,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketHandle;

    fn queued(user: u32, size: u32, since_ms: u64) -> Queued {
        let handle = PacketHandle { id: 0, size, hop: 0 };
        Queued { handle, to: 1, since: Time::from_millis(since_ms), user, saved: 0 }
    }

    /// Serves a queue that is refilled with a packet of the user just served. Returns the number of served
    /// packets per user.
    fn serve(rule: Rule, users: &[(u32, u64)], slots: usize) -> Vec<usize> {
        let scheduling = Scheduling { rule, ..Scheduling::default() };
        let mut scheduler = scheduling.scheduler(1_000_000).expect("not first come, first served");
        let packet = |user: usize| queued(user as u32, users[user].0, 0);
        let mut queue: VecDeque<Queued> = (0..users.len()).map(packet).collect();
        let mut served = vec![0; users.len()];
        for _ in 0..slots {
            let place = scheduler.choose(Time::from_secs(1), &queue, 30);
            let head = queue.remove(place).unwrap();
            let user = head.user as usize;
            scheduler.on_served(&head, Span::from_micros(users[user].1), true);
            served[user] += 1;
            queue.push_back(packet(user));
        }
        served
    }

    #[test]
    fn fifo_needs_no_scheduler() {
        assert!(Scheduling::default().scheduler(1).is_none());
    }

    #[test]
    fn proportional_fairness_gives_two_users_equal_numbers_of_slots() {
        // The first user sends large packets fast, the second sends small packets slowly.
        let served = serve(Rule::Pf, &[(1500, 1_000), (100, 3_000)], 10_000);
        assert!(served[0].abs_diff(5_000) <= 50, "{served:?}");
    }

    /// Between two users, equation 2 has the weight 1. An advantage in rate, bandwidth and completion time
    /// has the weight 3/4, so fairness prevails.
    #[test]
    fn fitness_does_not_starve_the_slower_of_two_users() {
        for reading in [Reading::Literal, Reading::Repaired] {
            let served = serve(Rule::Fpf(reading), &[(1000, 1_000), (1000, 4_000)], 10_000);
            assert!(served[0].abs_diff(5_000) <= 50, "{served:?}");
        }
    }

    #[test]
    fn fitness_decides_if_fairness_is_equal() {
        let choose = |queue: &[Queued], reading| {
            let scheduling = Scheduling { rule: Rule::Fpf(reading), ..Scheduling::default() };
            let mut scheduler = scheduling.scheduler(1_000_000).unwrap();
            let queue = queue.iter().copied().collect();
            scheduler.choose(Time::from_secs(1), &queue, 30)
        };
        let both = [Reading::Literal, Reading::Repaired];
        for reading in both {
            // No user has been served yet. A burst of three packets competes with one packet. The attribute
            // of the queue has the weight 1/4 for or against the burst. Burst, completion time and buffer
            // have 3/4 against it.
            let burst = [
                queued(2, 500, 900),
                queued(2, 500, 900),
                queued(2, 500, 900),
                queued(1, 500, 900),
            ];
            assert_eq!(choose(&burst, reading), 3);
            // If only the waiting times differ, the shorter one wins: equation 4 prefers a small delay, and
            // the completion time includes it.
            assert_eq!(choose(&[queued(2, 500, 100), queued(1, 500, 900)], reading), 1);
            // If all attributes are equal, the first packet wins.
            assert_eq!(choose(&[queued(2, 500, 900), queued(1, 500, 900)], reading), 0);
        }
    }

    #[test]
    fn a_packet_that_was_given_up_counts_as_nothing_served() {
        let scheduling = Scheduling { rule: Rule::Pf, ..Scheduling::default() };
        let mut scheduler = scheduling.scheduler(1_000_000).unwrap();
        let queue = VecDeque::from([queued(1, 500, 0), queued(2, 500, 0)]);
        assert_eq!(scheduler.choose(Time::ZERO, &queue, 30), 0);
        scheduler.on_served(&queue[0], Span::from_millis(1), false);
        // Neither user has been served, so the first packet of the queue is next.
        assert_eq!(scheduler.choose(Time::ZERO, &queue, 30), 0);
        scheduler.on_served(&queue[0], Span::from_millis(1), true);
        assert_eq!(scheduler.choose(Time::ZERO, &queue, 30), 1);
    }
}
