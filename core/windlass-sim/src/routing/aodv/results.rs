//! Results of routing.

use serde::{Deserialize, Serialize};

/// Totals of a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // documented in [`RoutingResult`]
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
    /// Number of data packets that this router has dropped.
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
    /// Route requests originated (RREQ), with retries.
    pub rreq_originated: u64,
    /// Route requests forwarded.
    pub rreq_forwarded: u64,
    /// Route replies originated (RREP), with gratuitous replies.
    pub rrep_originated: u64,
    /// Part of `rrep_originated`: gratuitous replies, which give the destination the route back.
    pub rrep_gratuitous: u64,
    /// Route replies forwarded.
    pub rrep_forwarded: u64,
    /// Route errors sent (RERR).
    pub rerr_sent: u64,
    /// Route errors not sent because of the rate limit.
    pub rerr_withheld: u64,
    /// HELLO messages sent.
    pub hello_sent: u64,
    /// Messages of all types handed to stations for transmission; the stations' packet totals include them.
    pub control_packets: u64,
    /// IP bytes of the messages in `control_packets`.
    pub control_bytes: u64,
    /// Messages dropped because a station's queue was full.
    pub control_drops_queue: u64,
    /// Messages given up at the retry limit.
    pub control_drops_retry: u64,
    /// Messages lost in stations that were switched off.
    pub control_drops_off: u64,
    /// Route discoveries.
    pub discoveries: u64,
    /// Discoveries that found a route.
    pub discoveries_succeeded: u64,
    /// Discoveries that found no route; their packets were dropped.
    pub discoveries_failed: u64,
    /// Mean time of successful discoveries, from the first packet without a route to the route, milliseconds.
    pub mean_discovery_ms: f64,
    /// Losses of neighbours that were the next hop of a route.
    pub link_breaks: u64,
    /// Data packets that waited for a route.
    pub buffered: u64,
    /// Data packets that waited for a route at the end.
    pub buffered_at_end: u64,
    /// Data packets dropped because the buffer of waiting packets was full.
    pub drops_buffer_full: u64,
    /// Data packets dropped because they had waited too long.
    pub drops_buffer_time: u64,
    /// Data packets dropped because a discovery found no route.
    pub drops_no_route: u64,
    /// Data packets that waited for a route at a station that was switched off.
    pub drops_off: u64,
    /// Data packets dropped on their way, at a station that no longer had a route.
    pub drops_on_way: u64,
    /// Data packets dropped after 64 hops.
    pub drops_ttl: u64,
    /// Data packets that crossed the radio.
    pub crossed: u64,
    /// Number of these packets with 0, 1, 2 ... hops.
    pub hops: Vec<u64>,
    /// Routes at the end to the destinations of data packets, by station and destination.
    pub routes: Vec<RouteResult>,
}

impl RoutingResult {
    /// Mean number of hops of the data packets that crossed the radio; zero if none did.
    pub fn mean_hops(&self) -> f64 {
        let sum: u64 = self.hops.iter().enumerate().map(|(n, packets)| n as u64 * packets).sum();
        if self.crossed > 0 { sum as f64 / self.crossed as f64 } else { 0.0 }
    }
}

/// A valid route of a station at the end of a run. Stations are given by their index on the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteResult {
    /// Station with the route.
    pub station: u32,
    /// Destination.
    pub to: u32,
    /// 0 for the shared route; otherwise the number of one of two disjoint paths: 1 and 2, 3 and 4 ...
    pub circuit: u32,
    /// The next station.
    pub next: u32,
    /// Hops to the destination.
    pub hops: u32,
}
