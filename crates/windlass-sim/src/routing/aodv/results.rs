//! What came of routing.

use serde::{Deserialize, Serialize};

/// Totals of a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // documented where they are shown: [`RoutingResult`]
pub struct Counters {
    pub rreq_originated: u64,
    pub rreq_forwarded: u64,
    pub rrep_originated: u64,
    pub rrep_gratuitous: u64,
    pub rrep_forwarded: u64,
    pub rerr_sent: u64,
    pub rerr_withheld: u64,
    pub hello_sent: u64,
    pub discoveries: u64,
    pub discoveries_succeeded: u64,
    pub discoveries_failed: u64,
    pub discovery_ns: u64,
    pub link_breaks: u64,
    pub buffered: u64,
    pub drops_buffer_full: u64,
    pub drops_buffer_time: u64,
    pub drops_no_route: u64,
    pub drops_off: u64,
    pub drops_on_way: u64,
    pub drops_ttl: u64,
}

impl Counters {
    /// Data packets that this router has dropped.
    pub fn drops(&self) -> u64 {
        self.drops_buffer_full
            + self.drops_buffer_time
            + self.drops_no_route
            + self.drops_off
            + self.drops_on_way
            + self.drops_ttl
    }

    pub(super) fn add(&mut self, other: &Counters) {
        let Counters {
            rreq_originated,
            rreq_forwarded,
            rrep_originated,
            rrep_gratuitous,
            rrep_forwarded,
            rerr_sent,
            rerr_withheld,
            hello_sent,
            discoveries,
            discoveries_succeeded,
            discoveries_failed,
            discovery_ns,
            link_breaks,
            buffered,
            drops_buffer_full,
            drops_buffer_time,
            drops_no_route,
            drops_off,
            drops_on_way,
            drops_ttl,
        } = other;
        self.rreq_originated += rreq_originated;
        self.rreq_forwarded += rreq_forwarded;
        self.rrep_originated += rrep_originated;
        self.rrep_gratuitous += rrep_gratuitous;
        self.rrep_forwarded += rrep_forwarded;
        self.rerr_sent += rerr_sent;
        self.rerr_withheld += rerr_withheld;
        self.hello_sent += hello_sent;
        self.discoveries += discoveries;
        self.discoveries_succeeded += discoveries_succeeded;
        self.discoveries_failed += discoveries_failed;
        self.discovery_ns += discovery_ns;
        self.link_breaks += link_breaks;
        self.buffered += buffered;
        self.drops_buffer_full += drops_buffer_full;
        self.drops_buffer_time += drops_buffer_time;
        self.drops_no_route += drops_no_route;
        self.drops_off += drops_off;
        self.drops_on_way += drops_on_way;
        self.drops_ttl += drops_ttl;
    }
}

/// Totals of the routing protocol of a radio, all stations together.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RoutingResult {
    /// Route requests originated (RREQ), repetitions included.
    pub rreq_originated: u64,
    /// Route requests passed on.
    pub rreq_forwarded: u64,
    /// Route replies originated (RREP), gratuitous ones included.
    pub rrep_originated: u64,
    /// Of these: told the destination of the way back.
    pub rrep_gratuitous: u64,
    /// Route replies passed on.
    pub rrep_forwarded: u64,
    /// Route errors sent (RERR).
    pub rerr_sent: u64,
    /// Route errors not sent because of the rate limit.
    pub rerr_withheld: u64,
    /// HELLO messages sent.
    pub hello_sent: u64,
    /// Messages of all kinds handed to stations for transmission; each is a packet there too.
    pub control_packets: u64,
    /// Their IP bytes.
    pub control_bytes: u64,
    /// Of the messages: dropped because a station's queue was full.
    pub control_drops_queue: u64,
    /// Of the messages: given up at the retry limit.
    pub control_drops_retry: u64,
    /// Of the messages: lost in stations that went off.
    pub control_drops_off: u64,
    /// Searches for a route.
    pub discoveries: u64,
    /// Of these: found one.
    pub discoveries_succeeded: u64,
    /// Of these: found none, and their packets were dropped.
    pub discoveries_failed: u64,
    /// Mean time from the first packet without a route to the route, of searches that found one,
    /// milliseconds.
    pub mean_discovery_ms: f64,
    /// Neighbours that were lost while routes led through them.
    pub link_breaks: u64,
    /// Data packets that waited for a route.
    pub buffered: u64,
    /// Data packets that were waiting at the end.
    pub buffered_at_end: u64,
    /// Data packets dropped for want of room to wait.
    pub drops_buffer_full: u64,
    /// Data packets dropped because they had waited too long.
    pub drops_buffer_time: u64,
    /// Data packets dropped because a search found no route.
    pub drops_no_route: u64,
    /// Data packets that waited for a route at a station that went off.
    pub drops_off: u64,
    /// Data packets dropped on their way, at a station whose route was gone.
    pub drops_on_way: u64,
    /// Data packets dropped after 64 hops.
    pub drops_ttl: u64,
    /// Data packets that crossed the radio.
    pub crossed: u64,
    /// How many of them made 0, 1, 2 ... hops.
    pub hops: Vec<u64>,
    /// Routes at the end to the stations that data were sent to, by station and destination.
    pub routes: Vec<RouteResult>,
}

impl RoutingResult {
    /// Mean hops of the data packets that crossed the radio; zero without any.
    pub fn mean_hops(&self) -> f64 {
        let sum: u64 = self.hops.iter().enumerate().map(|(n, packets)| n as u64 * packets).sum();
        if self.crossed > 0 { sum as f64 / self.crossed as f64 } else { 0.0 }
    }
}

/// A valid route of a station at the end of a run. Stations are known by their index on the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteResult {
    /// Whose route.
    pub station: u32,
    /// To whom.
    pub to: u32,
    /// 0 for the shared route; otherwise the number of one of two disjoint paths: 1 and 2, 3 and 4 ...
    pub circuit: u32,
    /// The next station.
    pub next: u32,
    /// Hops to the destination.
    pub hops: u32,
}
