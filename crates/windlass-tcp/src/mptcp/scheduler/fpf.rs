//! Ranking of subflows and choice of a path from what the lower layers know (Parween and Hussain,
//! *Cross-Layer based TCP Performance Enhancement in IoT Networks*, section III-A).
//!
//! The paper orders subflows by equation 4's fitness (equation 5), and then selects the optimal path by
//! "congestion rate, transmission delay, and high throughput", without a formula for either. Read here
//! as one score of two parts, each the mean of what should be large less the mean of what should be
//! small, every attribute scaled to 0 … 1 over the paths: the fitness with the attributes of a subflow
//! (C3-8, C3-9), and throughput against congestion and delay. A segment goes on the best path that has
//! room.
//!
//! What is known of a path that is not used grows old, and a route that nobody uses expires: beyond the
//! paper, such a path gets a segment now and then, so that there is something to choose from.

use windlass_cc::group::MAX_PATHS;
use windlass_cc::{Span, Time};

use super::path::PathState;
use crate::fitness::{Attributes, Reading, add_fitness, normalise};

/// A path is looked at this often at most, if something was sent on it.
const INTERVAL: Span = Span::from_millis(100);
/// Weight of the newest look in means.
const WEIGHT: f64 = 0.25;
/// A path that carries nothing is tried after this long, well before AODV forgets its route (3 s) ...
const PROBE_TIME: Span = Span::from_millis(500);
/// ... and with one segment of so many at most.
const PROBE_SEGMENTS: u32 = 16;
/// One, of the shares of a snapshot.
const WHOLE: f64 = 65_536.0;

/// Memory of the scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct Fpf {
    paths: [Seen; MAX_PATHS],
    /// Time of the last choice.
    now: Time,
    /// Segments since one was chosen for a path that carried nothing.
    since_probe: u32,
    attributes: Vec<Attributes>,
    scores: Vec<f64>,
    scratch: Vec<f64>,
}

/// What was seen of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    looked: Time,
    /// When it was last given a segment.
    used: Time,
    segments: u64,
    retransmits: u64,
    /// Share of retransmissions lately.
    again: f64,
    /// Mean round-trip time of data, seconds; 0 before there was any.
    delay: f64,
}

impl Seen {
    /// Takes in what was sent since the last look.
    fn look(&mut self, now: Time, p: &PathState) {
        let sent = p.segments.saturating_sub(self.segments);
        if sent == 0 || now.since(self.looked) < INTERVAL {
            return;
        }
        let again = p.retransmits.saturating_sub(self.retransmits);
        let share = (again as f64 / sent as f64).min(1.0);
        self.again = (1.0 - WEIGHT) * self.again + WEIGHT * share;
        if p.rtt.is_known() && p.rtt.0 > 0 {
            let newest = seconds(p.rtt);
            let old = if self.delay > 0.0 { self.delay } else { newest };
            self.delay = old + WEIGHT * (newest - old);
        }
        (self.looked, self.segments, self.retransmits) = (now, p.segments, p.retransmits);
    }
}

impl Fpf {
    /// The best path that has room, the first of equals. With a reading of equation 4 the fitness counts
    /// too. A path without a route is tried now and then, for which its station looks for one, but
    /// counts only while no other has one.
    pub(super) fn choose<'a>(
        &mut self,
        paths: &'a [PathState],
        now: Time,
        reading: Option<Reading>,
    ) -> Option<&'a PathState> {
        self.rank(paths, now, reading);
        self.now = now;
        if self.since_probe >= PROBE_SEGMENTS
            && let Some(idle) = paths.iter().find(|p| p.room > 0 && self.is_idle(p))
        {
            return Some(idle);
        }
        let any = paths.iter().any(has_route);
        let ready = paths.iter().zip(&self.scores);
        ready
            .filter(|(p, _)| p.room > 0 && has_route(p) == any)
            .reduce(|a, b| if b.1 > a.1 { b } else { a })
            .map(|(p, _)| p)
    }

    /// A path has got a segment.
    pub(super) fn on_assigned(&mut self, path: usize) {
        let seen = &mut self.paths[path];
        let probe = self.now.since(seen.used) >= PROBE_TIME;
        seen.used = self.now;
        self.since_probe = if probe { 0 } else { self.since_probe.saturating_add(1) };
    }

    /// Whether nothing has been sent on a path for a while, and nothing is under way.
    fn is_idle(&self, p: &PathState) -> bool {
        p.in_flight == 0 && self.now.since(self.paths[p.path].used) >= PROBE_TIME
    }

    /// Works out the score of each path.
    fn rank(&mut self, paths: &[PathState], now: Time, reading: Option<Reading>) {
        for p in paths {
            self.paths[p.path].look(now, p);
        }
        self.scores.clear();
        self.scores.resize(paths.len(), 0.0);
        if let Some(reading) = reading {
            self.attributes.clear();
            let seen = &self.paths;
            self.attributes.extend(paths.iter().map(|p| attributes(p, &seen[p.path])));
            add_fitness(&self.attributes, reading, &mut self.scores, &mut self.scratch);
        }
        let seen = self.paths;
        self.add(paths, 1.0, |p| rate(p, &seen[p.path]));
        self.add(paths, -0.5, |p| delay(p, &seen[p.path]));
        self.add(paths, -0.5, |p| congestion(p, &seen[p.path]));
    }

    /// Adds an attribute with its weight, scaled over the paths.
    fn add(&mut self, paths: &[PathState], weight: f64, attribute: impl Fn(&PathState) -> f64) {
        self.scratch.clear();
        self.scratch.extend(paths.iter().map(attribute));
        normalise(&mut self.scratch);
        for (score, value) in self.scores.iter_mut().zip(&self.scratch) {
            *score += weight * value;
        }
    }
}

/// Whether packets have a way: a path of which nothing is known has one.
fn has_route(p: &PathState) -> bool {
    p.layers.is_none_or(|layers| layers.hops > 0)
}

/// What the path carries: a window per round trip, bytes per second (C3-5).
fn rate(p: &PathState, seen: &Seen) -> f64 {
    p.cwnd as f64 / delay(p, seen)
}

/// Mean round-trip time of data, seconds (C3-4). Where none has gone round yet it is that of the empty
/// route (equation 6), which the handshake's is not: it may have waited for the route to be found.
fn delay(p: &PathState, seen: &Seen) -> f64 {
    let base = p.layers.map(|layers| layers.base_rtt).filter(|rtt| rtt.is_known() && rtt.0 > 0);
    match seen.delay > 0.0 {
        true => seen.delay,
        false => seconds(base.unwrap_or(p.srtt)),
    }
}

fn seconds(span: Span) -> f64 {
    span.0.max(1) as f64 * 1e-9
}

/// Share of failures: of attempts to reach the next hop, and of segments on the whole way, as far as
/// they had to be retransmitted.
fn congestion(p: &PathState, seen: &Seen) -> f64 {
    let failed = p.layers.map_or(0.0, |l| f64::from(l.failure_share) / WHOLE);
    1.0 - (1.0 - failed) * (1.0 - seen.again)
}

/// A subflow's attributes of equation 4.
fn attributes(p: &PathState, seen: &Seen) -> Attributes {
    let (delay, rate) = (delay(p, seen), rate(p, seen));
    let of_transport = Attributes {
        energy: 1.0,
        rate,
        delay,
        completion: p.in_flight as f64 / rate + delay,
        size: p.mss as f64,
        ..Attributes::default()
    };
    let Some(layers) = p.layers else { return of_transport };
    let (queued, room) = (f64::from(layers.queue_len), f64::from(layers.queue_limit));
    Attributes {
        energy: f64::from(layers.battery) / WHOLE,
        bandwidth: layers.service_rate.0 as f64,
        queued,
        room,
        buffer: queued / room.max(1.0),
        ..of_transport
    }
}
