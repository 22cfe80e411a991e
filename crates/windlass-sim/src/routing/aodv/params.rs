//! Constants of AODV: RFC 3561 section 10, and what it leaves to the implementation.

use windlass_cc::Span;

/// How a node notices that a neighbour is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detection {
    /// The MAC gave a packet up (RFC 3561 section 6.10, "link layer notification").
    Feedback,
    /// Its HELLO messages cease (section 6.9).
    Hello,
    /// Either.
    Both,
}

impl Detection {
    /// Every way with its name in scenarios.
    pub const ALL: [(&'static str, Detection); 3] =
        [("feedback", Detection::Feedback), ("hello", Detection::Hello), ("both", Detection::Both)];

    /// Whether HELLO messages are sent and missed.
    pub fn by_hello(self) -> bool {
        self != Detection::Feedback
    }

    /// Whether packets that the MAC gives up count.
    pub fn by_feedback(self) -> bool {
        self != Detection::Hello
    }
}

/// Constants of AODV. Derived ones are functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AodvParams {
    /// ACTIVE_ROUTE_TIMEOUT: how long a route lives that nobody uses.
    pub active_route_timeout: Span,
    /// MY_ROUTE_TIMEOUT: how long a route lives that its destination has just answered for.
    pub my_route_timeout: Span,
    /// NET_DIAMETER: most hops between two nodes.
    pub net_diameter: u32,
    /// NODE_TRAVERSAL_TIME: what a message is reckoned to take for a hop, queueing included.
    pub node_traversal_time: Span,
    /// RREQ_RETRIES: how often a request that has gone through the whole network is repeated.
    pub rreq_retries: u32,
    /// RREQ_RATELIMIT: requests that a node originates in a second at most.
    pub rreq_rate_limit: u32,
    /// RERR_RATELIMIT: errors that a node sends in a second at most.
    pub rerr_rate_limit: u32,
    /// TTL_START: how far the first request of a discovery goes, hops.
    pub ttl_start: u32,
    /// TTL_INCREMENT: how much farther the next one.
    pub ttl_increment: u32,
    /// TTL_THRESHOLD: beyond this, requests go through the whole network.
    pub ttl_threshold: u32,
    /// TIMEOUT_BUFFER: hops that the wait for a reply is longer than the way there and back.
    pub timeout_buffer: u32,
    /// HELLO_INTERVAL.
    pub hello_interval: Span,
    /// ALLOWED_HELLO_LOSS: so many intervals without a sign of life make a neighbour lost.
    pub allowed_hello_loss: u32,
    /// Whether every node sends HELLO messages; otherwise those on active routes (section 6.9).
    pub hello_always: bool,
    /// How lost neighbours are noticed. The RFC leaves it open.
    pub detection: Detection,
    /// The G flag: whoever answers for a destination tells that one of the route back (section
    /// 6.6.3), which TCP needs at once.
    pub gratuitous: bool,
    /// The D flag: only the destination answers.
    pub destination_only: bool,
    /// Data packets that a node keeps while it looks for routes; the oldest makes room. The RFC
    /// says neither how many nor for how long; these are ns-3's.
    pub buffer_packets: u32,
    /// How long it keeps them.
    pub buffer_time: Span,
    /// Each broadcast waits for a time drawn uniformly from zero up to this, so that neighbours who
    /// repeat the same request do not collide (RFC 5148 section 5.1; the amount is ns-3's).
    pub jitter: Span,
}

impl AodvParams {
    /// RFC 3561 section 10.
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

    /// What ns-3 3.44 does by default: HELLO messages of every node beside the feedback of the MAC,
    /// and `MyRouteTimeout` of 11.2 s.
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

    /// PATH_DISCOVERY_TIME: for so long the same request is not looked at again.
    pub fn path_discovery_time(&self) -> Span {
        Span(2 * self.net_traversal_time().0)
    }

    /// RING_TRAVERSAL_TIME for a request that goes so many hops.
    pub fn ring_traversal_time(&self, ttl: u32) -> Span {
        Span(2 * self.node_traversal_time.0 * u64::from(ttl + self.timeout_buffer))
    }

    /// How long a neighbour lives after its last sign of life.
    pub fn hello_life(&self) -> Span {
        Span(self.hello_interval.0 * u64::from(self.allowed_hello_loss))
    }

    /// Whether this can be simulated.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right.
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
            if !(least..=MAX).contains(&count) {
                return Err(format!("AODV's {name} must be between {least} and {MAX}"));
            }
        }
        if self.net_diameter > DATA_TTL {
            return Err(format!("AODV's net_diameter must be at most {DATA_TTL}"));
        }
        Ok(())
    }
}

/// Longest time that may be asked for.
const LONGEST: Span = Span::from_secs(3_600);
/// Largest count that may be asked for.
const MAX: u32 = 10_000;
/// Hops after which a data packet is dropped: the recommended time to live of IP (RFC 1700).
pub const DATA_TTL: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_times_are_those_of_the_rfc() {
        let p = AodvParams::RFC3561;
        assert_eq!(p.net_traversal_time(), Span::from_millis(2_800));
        assert_eq!(p.path_discovery_time(), Span::from_millis(5_600));
        assert_eq!(p.ring_traversal_time(1), Span::from_millis(240));
        assert_eq!(p.hello_life(), Span::from_millis(2_000));
    }
}
