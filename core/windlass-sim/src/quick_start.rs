//! Routers that answer Quick-Start requests (RFC 4782 section 3.3), and the routes of packets with
//! Quick-Start options.
//!
//! A packet with an option has its own route, whose entries indicate that a router processes the
//! packet. The options are in a separate table next to the packets. Other packets are not affected.
//! A network without Quick-Start has neither these routes nor the table.

use windlass_cc::Time;
use windlass_tcp::quick_start::{OPTION_LEN, QuickOption, RateCode, Request};

use crate::app::Bound;
pub use crate::config::QuickStart;
use crate::config::{Config, LinkConfig};
use crate::core::Core;
use crate::host::{Host, Kind};
use crate::packet::{Body, OptionInTransit, PacketHandle};
use crate::random::{Purpose, Stream};
use crate::routing::Direction;

/// The router in front of a link direction.
#[derive(Clone, Debug)]
struct Router {
    link: Direction,
    rate_bps: u64,
    setting: QuickStart,
    /// Number of the interval of the last request.
    asked_in: u64,
    /// Approved rate in that interval and in the previous interval, bits per second.
    approved: [u64; 2],
    random: Stream,
}

impl Router {
    fn new(direction: usize, link: &LinkConfig, setting: QuickStart, seed: u64) -> Router {
        Router {
            link: direction as u32,
            rate_bps: link.direction(direction % 2).rate_bps,
            setting,
            asked_in: 0,
            approved: [0; 2],
            random: Stream::new(seed, direction as u64, Purpose::QuickStart),
        }
    }

    /// Rate that the router can still approve, bits per second. It is the target minus the rate in
    /// use and the recently approved rates, which may not be in use yet.
    fn available(&mut self, now: Time, peak_ns: u64) -> u64 {
        let interval = self.setting.interval.0;
        let running = now.0 / interval;
        match running - self.asked_in {
            0 => {}
            1 => self.approved = [0, self.approved[0]],
            _ => self.approved = [0; 2],
        }
        self.asked_in = running;
        let used = u128::from(self.rate_bps) * u128::from(peak_ns) / u128::from(interval);
        let target = (self.rate_bps as f64 * self.setting.share) as u64;
        let taken = (used as u64).saturating_add(self.approved.iter().sum());
        target.saturating_sub(taken)
    }

    /// Approves a request, reduces it or refuses it. Returns true if the remaining rate is above
    /// zero.
    fn judge(&mut self, now: Time, peak_ns: u64, request: &mut Request) -> bool {
        let available = self.available(now, peak_ns);
        request.reduce(RateCode::at_most(available), self.random.next_u64() as u32);
        self.approved[0] += request.rate.bits_per_second();
        request.rate > RateCode::ZERO
    }
}

/// State of a network with Quick-Start.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuickStartRouters {
    /// First hop of the route for packets with options, by host.
    routes: Vec<Option<u32>>,
    routers: Vec<Router>,
}

impl QuickStartRouters {
    /// Creates the state; `None` if no connection sends requests.
    pub(crate) fn new(config: &Config) -> Option<Box<QuickStartRouters>> {
        let asks = config.flows.iter().any(|f| f.multipath.is_none() && f.profile.asks_routers());
        asks.then(|| {
            let directions = (0..2 * config.links.len()).filter_map(|direction| {
                let link = &config.links[direction / 2];
                link.quick_start.map(|setting| Router::new(direction, link, setting, config.seed))
            });
            Box::new(QuickStartRouters {
                routers: directions.collect(),
                ..QuickStartRouters::default()
            })
        })
    }

    /// Sets the route of packets with options from this host. Earlier hosts without such a route
    /// have `None`.
    pub(crate) fn add_route(&mut self, host: u32, route: u32) {
        self.routes.resize(host as usize, None);
        self.routes.push(Some(route));
    }

    /// The next packet of a host with an option, or in answer to one. These packets precede all
    /// others.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_packet(&self, core: &mut Core, host: u32) -> Option<PacketHandle> {
        let options = (*self.routes.get(host as usize)?)?;
        let Host { route, profile, kind, .. } = &mut core.hosts[host as usize];
        let Kind::Tcp { endpoint, .. } = kind else { return None };
        let profile = &core.profiles[*profile as usize];
        let (segment, carried) = endpoint.poll_quick_start(profile, core.now)?;
        let size = segment.ip_len();
        Some(match carried {
            Some(carried) => PacketHandle {
                id: core.packets.insert_with_option(segment, carried),
                size: size + OPTION_LEN,
                hop: options,
            },
            None => {
                let id = core.packets.insert(Body::Segment(segment));
                PacketHandle { id, size, hop: *route }
            }
        })
    }

    /// Forwards a packet with an option through a node; `link` is `None` if the next hop is not a
    /// link.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass(&mut self, core: &mut Core, link: Option<Direction>, handle: PacketHandle) {
        let meter = link.and_then(|link| core.links[link as usize].meter());
        let peak = meter.map_or(0, |meter| meter.peak(core.now));
        let router = self.routers.iter_mut().find(|r| Some(r.link) == link);
        if let Some(option) = core.packets.option_mut(handle.id) {
            option.pass(core.now, router, peak);
        }
    }
}

/// Hands a packet with an option to its destination host. Returns `false` if the host does not
/// support the option, such as an external end. The caller then treats the packet as an ordinary
/// packet.
pub(crate) fn deliver(core: &mut Core, host: u32, id: u32) -> bool {
    let carried = core.packets.take_option(id);
    let Host { profile, kind, .. } = &mut core.hosts[host as usize];
    let (Kind::Tcp { endpoint, app }, Body::Segment(segment), Some(carried)) =
        (kind, core.packets.get(id), carried)
    else {
        return false;
    };
    let profile = &core.profiles[*profile as usize];
    endpoint.on_quick_start(profile, core.now, segment, &carried);
    app.act(core.now, &mut Bound { socket: endpoint, profile, now: core.now });
    true
}

impl OptionInTransit {
    /// Passes the packet through a node. `router` is the router of the link, if it answers
    /// requests. A node that does not support the option only decrements the IP TTL, which the
    /// sender detects.
    fn pass(&mut self, now: Time, router: Option<&mut Router>, peak_ns: u64) {
        let counts = !std::mem::take(&mut self.at_home);
        if counts {
            self.carried.ttl = self.carried.ttl.wrapping_sub(1);
        }
        let QuickOption::Request(request) = &mut self.carried.option else { return };
        if request.rate == RateCode::ZERO {
            return; // already refused
        }
        if let Some(router) = router
            && router.judge(now, peak_ns, request)
            && counts
        {
            request.ttl = request.ttl.wrapping_sub(1);
        }
    }
}
