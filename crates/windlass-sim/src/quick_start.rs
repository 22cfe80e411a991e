//! Routers that answer Quick-Start requests (RFC 4782 section 3.3), and the way of the packets that
//! carry its options.
//!
//! Such a packet travels on a route of its own, whose entries say that a router looks into it; what it
//! carries stands in a table beside the packets. All others pass as if there were no Quick-Start, and
//! a network without it has neither routes nor table.

use windlass_cc::{Span, Time};
use windlass_tcp::quick_start::{Carried, QuickOption, RateCode, Request};

use crate::config::{Config, LinkConfig};
use crate::host::{Host, Kind};
use crate::packet::{Body, Ticket};
use crate::random::{Purpose, Stream};
use crate::routing::Direction;
use crate::simulation::{DELIVER, QUICK, Simulation};

/// That the routers at the two ends of a link answer Quick-Start requests for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStart {
    /// Share of the link's rate up to which requests are approved, what is in use and what was
    /// approved a short time ago included; more than 0, at most 1.
    pub share: f64,
    /// Use is measured over intervals of this length, and what was approved in the running one and
    /// the one before it counts as used.
    pub interval: Span,
}

impl QuickStart {
    /// Up to the whole rate, looking back 150 to 300 ms: longer than most round trips, so that who
    /// was told a rate can be seen to use it before it is forgotten.
    pub const DEFAULT: QuickStart = QuickStart { share: 1.0, interval: Span::from_millis(150) };

    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err("quick_start: the share must be more than 0 and at most 1".to_string());
        }
        if self.interval == Span::ZERO {
            return Err("quick_start: the interval must be more than 0".to_string());
        }
        Ok(())
    }
}

/// How busy a link direction was in the last intervals.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    interval: u64,
    /// Numbers of intervals and the transmission time in each, nanoseconds, in order.
    busy: std::collections::VecDeque<(u64, u64)>,
}

impl Meter {
    pub(crate) fn new(interval: Span) -> Meter {
        Meter { interval: interval.0.max(1), busy: std::collections::VecDeque::new() }
    }

    /// A transmission from `starts` to `ends`, of a packet that comes now. Transmissions are noted in
    /// their order, and may lie ahead.
    pub(crate) fn note(&mut self, now: Time, starts: Time, ends: Time) {
        let running = now.0 / self.interval;
        while self.busy.front().is_some_and(|(number, _)| number + 2 < running) {
            self.busy.pop_front();
        }
        let mut from = starts.0;
        while from < ends.0 {
            let number = from / self.interval;
            let to = ends.0.min((number + 1) * self.interval);
            match self.busy.back_mut() {
                Some((last, busy)) if *last == number => *busy += to - from,
                _ => self.busy.push_back((number, to - from)),
            }
            from = to;
        }
    }

    /// Transmission time in the busier of the last two whole intervals, nanoseconds.
    fn peak(&self, now: Time) -> u64 {
        let running = now.0 / self.interval;
        let recent = self
            .busy
            .iter()
            .filter(|(number, _)| (1..=2).contains(&(running.wrapping_sub(*number))));
        recent.map(|(_, busy)| *busy).max().unwrap_or(0)
    }
}

/// The router before a link direction.
#[derive(Clone, Debug)]
struct Router {
    link: Direction,
    rate_bps: u64,
    setting: QuickStart,
    /// Number of the interval in which it was asked last.
    asked_in: u64,
    /// What it approved in that interval and in the one before, bits per second.
    approved: [u64; 2],
    random: Stream,
}

impl Router {
    fn new(direction: usize, link: &LinkConfig, setting: QuickStart, seed: u64) -> Router {
        Router {
            link: direction as u32,
            rate_bps: link.rate_bps,
            setting,
            asked_in: 0,
            approved: [0; 2],
            random: Stream::new(seed, direction as u64, Purpose::QuickStart),
        }
    }

    /// What it can still give, bits per second: the target less what is in use and what was
    /// approved and may not be in use yet.
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
        let most = (self.rate_bps as f64 * self.setting.share) as u64;
        let taken = (used as u64).saturating_add(self.approved.iter().sum());
        most.saturating_sub(taken)
    }

    /// Approves a request, reduces it or refuses it. Returns whether anything is left of it.
    fn judge(&mut self, now: Time, peak_ns: u64, request: &mut Request) -> bool {
        let available = self.available(now, peak_ns);
        request.reduce(RateCode::at_most(available), self.random.next_u64() as u32);
        self.approved[0] += request.rate.bits_per_second();
        request.rate > RateCode::ZERO
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Traveller {
    id: u32,
    carried: Carried,
    /// It is still where it was sent, whose IP layer does not count down its time to live.
    at_home: bool,
}

/// All that a network with Quick-Start has besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuickStarts {
    /// By host, where the route of packets with options begins.
    routes: Vec<Option<u32>>,
    routers: Vec<Router>,
    travellers: Vec<Traveller>,
}

impl QuickStarts {
    /// `None` where no connection asks.
    pub(crate) fn new(config: &Config) -> Option<Box<QuickStarts>> {
        let asks = config.flows.iter().any(|f| f.multipath.is_none() && f.profile.asks_routers());
        asks.then(|| {
            let directions = (0..2 * config.links.len()).filter_map(|direction| {
                let link = &config.links[direction / 2];
                link.quick_start.map(|setting| Router::new(direction, link, setting, config.seed))
            });
            Box::new(QuickStarts { routers: directions.collect(), ..QuickStarts::default() })
        })
    }

    fn traveller(&mut self, id: u32) -> Option<&mut Traveller> {
        self.travellers.iter_mut().find(|t| t.id == id)
    }

    fn put(&mut self, id: u32, carried: Carried) {
        // A packet that was dropped has left its entry, and its number to another.
        self.travellers.retain(|t| t.id != id);
        self.travellers.push(Traveller { id, carried, at_home: true });
    }

    fn take(&mut self, id: u32) -> Option<Carried> {
        let place = self.travellers.iter().position(|t| t.id == id)?;
        Some(self.travellers.swap_remove(place).carried)
    }
}

impl Simulation {
    /// Enters the routes of packets with options from the two ends of a flow that asks, of which `first` is one
    /// and the host after it the other.
    pub(crate) fn add_quick_routes(&mut self, first: u32) {
        if self.quick.is_none() || !self.profile_of(first as usize).asks_routers() {
            return;
        }
        let routes = [first, first + 1].map(|host| Some(self.copy_route(host, QUICK)));
        let Some(quick) = &mut self.quick else { return };
        quick.routes.resize(first as usize, None);
        quick.routes.extend(routes);
    }

    /// Sends what a host has to say with options of Quick-Start, before everything else.
    #[cold]
    #[inline(never)]
    pub(crate) fn flush_quick_start(&mut self, host: u32) {
        loop {
            let Some(quick) = &self.quick else { return };
            let Some(&Some(route)) = quick.routes.get(host as usize) else { return };
            let Host { profile, kind, .. } = &mut self.hosts[host as usize];
            let Kind::Tcp { endpoint, .. } = kind else { return };
            let profile = &self.profiles[*profile as usize];
            let Some((segment, carried)) = endpoint.poll_quick_start(profile, self.now) else {
                return;
            };
            let id = self.packets.insert(Body::Segment(segment));
            match (carried, &mut self.quick) {
                (Some(carried), Some(quick)) => {
                    quick.put(id, carried);
                    self.launch(
                        route,
                        segment.ip_len() + windlass_tcp::quick_start::OPTION_LEN,
                        id,
                    );
                }
                _ => self.launch(self.hosts[host as usize].route, segment.ip_len(), id),
            }
        }
    }

    /// A hop of a packet with an option; `entry` is the ordinary one of the table of routes.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass_quick_start(&mut self, entry: u32, ticket: Ticket) {
        if entry & DELIVER != 0 {
            self.deliver_quick_start(entry & !DELIVER, ticket.id);
            return;
        }
        let link = self.link_of(entry);
        let peak =
            link.map_or(0, |l| self.links[l as usize].meter().map_or(0, |m| m.peak(self.now)));
        let Some(quick) = &mut self.quick else { return };
        let router = quick.routers.iter_mut().find(|r| Some(r.link) == link);
        if let Some(t) = quick.travellers.iter_mut().find(|t| t.id == ticket.id) {
            t.pass(self.now, router, peak);
        }
        self.put_on_hop(entry, ticket);
    }

    fn deliver_quick_start(&mut self, host: u32, id: u32) {
        let carried = self.quick.as_mut().and_then(|quick| quick.take(id));
        let body = *self.packets.get(id);
        let Host { profile, kind, .. } = &mut self.hosts[host as usize];
        let (Kind::Tcp { endpoint, app }, Body::Segment(segment), Some(carried)) =
            (kind, body, carried)
        else {
            // An end outside knows nothing of the option.
            return self.deliver(host, id);
        };
        self.received += 1;
        let profile = &self.profiles[*profile as usize];
        endpoint.on_quick_start(profile, self.now, &segment, &carried);
        app.act(profile, self.now, endpoint);
        self.packets.remove(id);
        self.flush(host);
    }

    /// What a packet carries that is on a route of those with options.
    pub(crate) fn carried(&mut self, ticket: Ticket) -> Option<Carried> {
        if self.entry(ticket) & QUICK == 0 {
            return None;
        }
        self.quick.as_mut()?.traveller(ticket.id).map(|t| t.carried)
    }
}

impl Traveller {
    /// A node passes the packet on, by a link whose router is given if it answers requests. One that
    /// does not know the option counts down the IP TTL alone, which the sender will see.
    fn pass(&mut self, now: Time, router: Option<&mut Router>, peak_ns: u64) {
        let counts = !std::mem::take(&mut self.at_home);
        if counts {
            self.carried.ttl = self.carried.ttl.wrapping_sub(1);
        }
        let QuickOption::Request(request) = &mut self.carried.option else { return };
        if request.rate == RateCode::ZERO {
            return; // refused before
        }
        if let Some(router) = router
            && router.judge(now, peak_ns, request)
            && counts
        {
            request.ttl = request.ttl.wrapping_sub(1);
        }
    }
}
