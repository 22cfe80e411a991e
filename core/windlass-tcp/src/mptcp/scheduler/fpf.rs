//! Ranking of subflows and choice of a path from the state of the lower layers (Parween and Hussain,
//! *Cross-Layer based TCP Performance Enhancement in IoT Networks*, section III-A).
//!
//! The paper orders subflows by the fitness of equation 4 (equation 5). Then it selects the optimal path by
//! "congestion rate, transmission delay, and high throughput", without a formula for either step. Windlass
//! interprets this as one score of two parts. Each part is the mean of the attributes that should be large
//! minus the mean of the attributes that should be small. Every attribute is scaled to 0 … 1 over the paths.
//! The first part is the fitness with the attributes of a subflow (C3-8, C3-9). The second part is throughput
//! against congestion and delay. A segment is sent on the best path that has space.
//!
//! The information about an unused path becomes outdated, and an unused route expires. Beyond the paper, such
//! a path gets a segment from time to time, so that its state stays known.

use windlass_cc::group::MAX_PATHS;
use windlass_cc::{Span, Time};

use super::path::PathState;
use crate::fitness::{Attributes, Reading, add_fitness, normalise};

/// Minimum time between two observations of a path on which data were sent.
const INTERVAL: Span = Span::from_millis(100);
/// Weight of the newest observation in means.
const WEIGHT: f64 = 0.25;
/// A path that carries no data is probed after this time, well before AODV deletes its route (3 s).
const PROBE_TIME: Span = Span::from_millis(500);
/// At most one segment in this number of segments is such a probe.
const PROBE_SEGMENTS: u32 = 16;
/// The value 1 in the scale of a snapshot's shares.
const WHOLE: f64 = 65_536.0;

/// State of the scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct Fpf {
    paths: [Seen; MAX_PATHS],
    /// Time of the last choice.
    now: Time,
    /// Number of segments since the last probe of a path that carried no data.
    since_probe: u32,
    attributes: Vec<Attributes>,
    scores: Vec<f64>,
    scratch: Vec<f64>,
}

/// Observations of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    looked: Time,
    /// Time of the last segment assigned to it.
    used: Time,
    segments: u64,
    retransmits: u64,
    /// Recent share of retransmissions.
    again: f64,
    /// Mean RTT of data, seconds; 0 before the first sample.
    delay: f64,
}

impl Seen {
    /// Updates the means with the segments sent since the last observation.
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
    /// The best path that has space; the first path if several are equal. With an interpretation of equation
    /// 4 the score includes the fitness. A path without a route is probed from time to time, so that its
    /// station searches for a route. Otherwise it is chosen only if no path has a route.
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

    /// Notes that a path has received a segment.
    pub(super) fn on_assigned(&mut self, path: usize) {
        let seen = &mut self.paths[path];
        let probe = self.now.since(seen.used) >= PROBE_TIME;
        seen.used = self.now;
        self.since_probe = if probe { 0 } else { self.since_probe.saturating_add(1) };
    }

    /// True if no data were sent on a path for a while, and no data are in flight.
    fn is_idle(&self, p: &PathState) -> bool {
        p.in_flight == 0 && self.now.since(self.paths[p.path].used) >= PROBE_TIME
    }

    /// Computes the score of each path.
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

/// True if the path has a route. A path without information counts as having a route.
fn has_route(p: &PathState) -> bool {
    p.layers.is_none_or(|layers| layers.hops > 0)
}

/// Throughput of the path: cwnd per RTT, bytes per second (C3-5).
fn rate(p: &PathState, seen: &Seen) -> f64 {
    p.cwnd as f64 / delay(p, seen)
}

/// Mean RTT of data, seconds (C3-4). Before the first sample it is the RTT of the empty route (equation 6).
/// The handshake's RTT is not used, because it may include the search for the route.
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

/// Share of failures: of attempts to reach the next hop, and of segments on the whole route, measured by
/// their retransmissions.
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
