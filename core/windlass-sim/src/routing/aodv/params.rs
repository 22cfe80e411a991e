//! Constants of AODV: RFC 3561 section 10, and constants that the RFC leaves to the implementation.

use windlass_cc::Span;

/// Method by which a node detects the loss of a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detection {
    /// The MAC gave up a packet (RFC 3561 section 6.10, "link layer notification").
    Feedback,
    /// The neighbour's HELLO messages stop (section 6.9).
    Hello,
    /// Both methods.
    Both,
}

impl Detection {
    /// Every method with its name in scenarios.
    pub const ALL: [(&'static str, Detection); 3] =
        [("feedback", Detection::Feedback), ("hello", Detection::Hello), ("both", Detection::Both)];

    /// True if nodes send HELLO messages and detect missing ones.
    pub fn by_hello(self) -> bool {
        self != Detection::Feedback
    }

    /// True if nodes react to packets that the MAC gives up.
    pub fn by_feedback(self) -> bool {
        self != Detection::Hello
    }
}

/// Constants of AODV. Derived constants are functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AodvParams {
    /// ACTIVE_ROUTE_TIMEOUT: lifetime of an unused route.
    pub active_route_timeout: Span,
    /// MY_ROUTE_TIMEOUT: lifetime of a route after the reply of its destination.
    pub my_route_timeout: Span,
    /// NET_DIAMETER: maximum number of hops between two nodes.
    pub net_diameter: u32,
    /// NODE_TRAVERSAL_TIME: estimated time of a message for one hop, with queueing.
    pub node_traversal_time: Span,
    /// RREQ_RETRIES: number of retries of a request through the whole network.
    pub rreq_retries: u32,
    /// RREQ_RATELIMIT: maximum number of requests that a node originates per second.
    pub rreq_rate_limit: u32,
    /// RERR_RATELIMIT: maximum number of errors that a node sends per second.
    pub rerr_rate_limit: u32,
    /// TTL_START: range of the first request of a discovery, hops.
    pub ttl_start: u32,
    /// TTL_INCREMENT: additional range of each further request, hops.
    pub ttl_increment: u32,
    /// TTL_THRESHOLD: range above which requests go through the whole network, hops.
    pub ttl_threshold: u32,
    /// TIMEOUT_BUFFER: hops added to the range in the calculation of the wait for a reply.
    pub timeout_buffer: u32,
    /// HELLO_INTERVAL.
    pub hello_interval: Span,
    /// ALLOWED_HELLO_LOSS: number of HELLO intervals without a frame of a neighbour after which it counts as
    /// lost.
    pub allowed_hello_loss: u32,
    /// True if every node sends HELLO messages; false if only nodes on active routes do (section 6.9).
    pub hello_always: bool,
    /// Detection of lost neighbours. The RFC leaves it open.
    pub detection: Detection,
    /// The G flag: an intermediate node that answers a request also sends the destination the route back to
    /// the originator (section 6.6.3). TCP needs this route at once.
    pub gratuitous: bool,
    /// The D flag: only the destination answers.
    pub destination_only: bool,
    /// Maximum number of data packets that a node keeps while it searches routes; a full buffer drops its oldest
    /// packet. The RFC specifies neither the number nor the time; the defaults are ns-3's.
    pub buffer_packets: u32,
    /// Maximum time for which a node keeps a data packet.
    pub buffer_time: Span,
    /// Maximum jitter of a broadcast. The jitter is drawn uniformly from zero up to this, so that neighbours
    /// that repeat the same request do not collide (RFC 5148 section 5.1; the value is ns-3's).
    pub jitter: Span,
}

impl AodvParams {
    /// Constants of RFC 3561 section 10.
    pub const RFC3561: AodvParams = AodvParams {
        active_route_timeout: Span::from_millis(3_000),
        my_route_timeout: Span::from_millis(6_000),
        net_diameter: 35,
        node_traversal_time: Span::from_millis(40),
        rreq_retries: 2,
        rreq_rate_limit: 10,
        rerr_rate_limit: 10,
        ttl_start: 1,
        ttl_increment: 2,
        ttl_threshold: 7,
        timeout_buffer: 2,
        hello_interval: Span::from_millis(1_000),
        allowed_hello_loss: 2,
        hello_always: false,
        detection: Detection::Feedback,
        gratuitous: true,
        destination_only: false,
        buffer_packets: 64,
        buffer_time: Span::from_millis(30_000),
        jitter: Span::from_millis(10),
    };

    /// Defaults of ns-3 3.44: every node sends HELLO messages, the MAC's feedback is used too, and
    /// `MyRouteTimeout` is 11.2 s.
    pub const NS3: AodvParams = AodvParams {
        my_route_timeout: Span::from_millis(11_200),
        hello_always: true,
        detection: Detection::Both,
        ..AodvParams::RFC3561
    };

    /// Every preset with its name in scenarios.
    pub const ALL: [(&'static str, AodvParams); 2] =
        [("rfc3561", AodvParams::RFC3561), ("ns3", AodvParams::NS3)];

    /// NET_TRAVERSAL_TIME.
    pub fn net_traversal_time(&self) -> Span {
        Span(2 * self.node_traversal_time.0 * u64::from(self.net_diameter))
    }

    /// PATH_DISCOVERY_TIME: time for which copies of a request are ignored.
    pub fn path_discovery_time(&self) -> Span {
        Span(2 * self.net_traversal_time().0)
    }

    /// RING_TRAVERSAL_TIME of a request with a range of `ttl` hops.
    pub fn ring_traversal_time(&self, ttl: u32) -> Span {
        Span(2 * self.node_traversal_time.0 * u64::from(ttl + self.timeout_buffer))
    }

    /// Time after the last frame of a neighbour at which it counts as lost.
    pub fn hello_life(&self) -> Span {
        Span(self.hello_interval.0 * u64::from(self.allowed_hello_loss))
    }

    /// Checks that these constants can be simulated.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values.
    pub fn check(&self) -> Result<(), String> {
        let times = [
            ("active_route_timeout", self.active_route_timeout),
            ("my_route_timeout", self.my_route_timeout),
            ("node_traversal_time", self.node_traversal_time),
            ("hello_interval", self.hello_interval),
            ("buffer_time", self.buffer_time),
        ];
        for (name, time) in times {
            if !(Span(1)..=LONGEST).contains(&time) {
                return Err(format!("AODV's {name} must be more than zero and at most an hour"));
            }
        }
        if self.jitter > Span::from_secs(1) {
            return Err("AODV's jitter must be at most a second".to_string());
        }
        let counts = [
            ("net_diameter", self.net_diameter, 1),
            ("rreq_retries", self.rreq_retries, 0),
            ("rreq_rate_limit", self.rreq_rate_limit, 1),
            ("rerr_rate_limit", self.rerr_rate_limit, 1),
            ("ttl_start", self.ttl_start, 1),
            ("ttl_increment", self.ttl_increment, 1),
            ("ttl_threshold", self.ttl_threshold, 0),
            ("timeout_buffer", self.timeout_buffer, 0),
            ("allowed_hello_loss", self.allowed_hello_loss, 1),
            ("buffer_packets", self.buffer_packets, 1),
        ];
        for (name, count, least) in counts {
            if !(least..=MAX_COUNT).contains(&count) {
                return Err(format!("AODV's {name} must be between {least} and {MAX_COUNT}"));
            }
        }
        if self.net_diameter > DATA_TTL {
            return Err(format!("AODV's net_diameter must be at most {DATA_TTL}"));
        }
        Ok(())
    }
}

/// Maximum of the configurable times.
const LONGEST: Span = Span::from_secs(3_600);
/// Maximum of the configurable counts.
pub const MAX_COUNT: u32 = 10_000;
/// Hops after which a data packet is dropped: the recommended time to live of IP (RFC 1700).
pub const DATA_TTL: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_times_follow_the_rfc() {
        let p = AodvParams::RFC3561;
        assert_eq!(p.net_traversal_time(), Span::from_millis(2_800));
        assert_eq!(p.path_discovery_time(), Span::from_millis(5_600));
        assert_eq!(p.ring_traversal_time(1), Span::from_millis(240));
        assert_eq!(p.hello_life(), Span::from_millis(2_000));
    }
}
