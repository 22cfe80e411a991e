//! Checks of a configuration before its simulation.

use windlass_cc::{Span, Time};

use crate::config::{
    Cbr, Coap, Config, ConfigError, FlowConfig, LinkConfig, MAX_DATAGRAM, MAX_IP_LEN, MAX_SPAN,
    Media, Multipath, QuickStart, ReadPolicy, Traffic,
};
use crate::event_queue::MAX_ENTITIES;
use crate::loss::LossModel;
use crate::radio::{Hops, RadioConfig};
use crate::route::Hop;
use crate::session::Sessions;

impl Config {
    /// Checks that this can be simulated. A missing route is found only during the search for
    /// routes.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        // A link direction may have a queue discipline and a line after it, which are an entity
        // each, and a radio of its device. A radio is one entity, because its stations have their own event queue. Its routers
        // are one entity too.
        let hosts = 2 * (self.flows.len() + self.subflows());
        if 7 * self.links.len() + hosts + 2 * self.radios.len() > MAX_ENTITIES {
            return Err(ConfigError::TooLarge);
        }
        let run = || "the run".to_string();
        require(self.duration <= Time::ZERO + MAX_SPAN, run, || {
            "the duration must be finite, at most 73 years".to_string()
        })?;
        // Each direction of a subflow may have its own hop on each radio.
        let own = 2 * self.subflows() * self.radios.len();
        let hops = self.radios.iter().fold(own, |n, r| n.saturating_add(r.max_hops()));
        require(hops <= Hop::MAX, run, || {
            format!(
                "its radios join {hops} pairs of stations; at most {} can be simulated",
                Hop::MAX
            )
        })?;
        for &link in &self.record.capture {
            require(link < self.links.len(), run, || {
                format!("captured link {link} does not exist; there are {}", self.links.len())
            })?;
        }
        for link in &self.links {
            self.check_link(link)
                .map_err(|problem| invalid(format!("link \"{}\"", link.name), problem))?;
        }
        for radio in &self.radios {
            radio
                .check(&self.nodes)
                .map_err(|problem| invalid(format!("radio \"{}\"", radio.name), problem))?;
        }
        for radio in &self.radios {
            self.check_end_devices(radio)
                .map_err(|problem| invalid(format!("radio \"{}\"", radio.name), problem))?;
            self.check_disjoint(radio)
                .map_err(|problem| invalid(format!("radio \"{}\"", radio.name), problem))?;
        }
        for flow in &self.flows {
            self.check_flow(flow)
                .map_err(|problem| invalid(format!("flow \"{}\"", flow.name), problem))?;
        }
        Ok(())
    }

    /// Checks that the node of a sleeping station has no link and no other station.
    fn check_end_devices(&self, radio: &RadioConfig) -> Result<(), String> {
        let stations = || self.radios.iter().flat_map(|r| &r.stations);
        for (station, _) in radio.sleepers() {
            let node = radio.stations[station].node;
            let linked = self.links.iter().any(|link| link.ends.contains(&node));
            if linked || stations().filter(|s| s.node == node).count() > 1 {
                return Err(format!(
                    "station \"{}\" cannot sleep: its node has links or other stations, over which others may be \
                     routed through it",
                    self.nodes[node]
                ));
            }
        }
        Ok(())
    }

    /// Checks that the flows on disjoint routes exist, that each is in one pair, and that a pair
    /// has the same ends.
    fn check_disjoint(&self, radio: &RadioConfig) -> Result<(), String> {
        let Hops::Aodv(aodv) = &radio.hops else { return Ok(()) };
        for (i, pair) in aodv.disjoint.iter().enumerate() {
            if let Some(flow) = pair.iter().find(|flow| **flow >= self.flows.len()) {
                return Err(format!("flow {flow} of a pair of disjoint routes does not exist"));
            }
            let before = aodv.disjoint[..i].iter().flatten();
            if pair[0] == pair[1] || before.into_iter().any(|flow| pair.contains(flow)) {
                return Err("a flow may belong to one pair of disjoint routes only".to_string());
            }
            if let Some(flow) = pair.iter().find(|flow| self.flows[**flow].multipath.is_some()) {
                let name = &self.flows[*flow].name;
                return Err(format!(
                    "flow \"{name}\" is a multipath connection, whose subflows take disjoint routes \
                     by themselves; remove it from the pairs"
                ));
            }
            let [a, b] = pair.map(|flow| [self.flows[flow].from, self.flows[flow].to]);
            if a != b {
                return Err("two flows on disjoint routes must have the same ends".to_string());
            }
        }
        Ok(())
    }

    fn check_nodes(&self, nodes: [usize; 2]) -> Result<(), String> {
        match nodes.iter().find(|n| **n >= self.nodes.len()) {
            Some(n) => Err(format!("node {n} does not exist; there are {}", self.nodes.len())),
            None => Ok(()),
        }
    }

    fn check_link(&self, link: &LinkConfig) -> Result<(), String> {
        self.check_nodes(link.ends)?;
        for i in 0..2 {
            let (direction, course) = (link.direction(i), &link.course[i]);
            if direction.rate_bps == 0 {
                return Err("the rate must be at least 1 bit/s".to_string());
            }
            let mut delays = course.delays.iter().map(|(_, delay)| *delay);
            if direction.delay > MAX_SPAN || delays.any(|delay| delay > MAX_SPAN) {
                return Err("the delay must be at most 73 years".to_string());
            }
            direction.discipline.check()?;
            course.check(direction.delay)?;
        }
        if !link.down.as_flattened().is_sorted_by(|a, b| a < b) {
            return Err("the times when it goes down and up must ascend".to_string());
        }
        if let Some(radio) = &link.radio {
            radio.check().map_err(|(key, problem)| format!("radio.{key}: {problem}"))?;
        }
        link.quick_start.iter().try_for_each(QuickStart::check)?;
        link.loss.iter().flatten().try_for_each(LossModel::check)
    }

    fn check_flow(&self, flow: &FlowConfig) -> Result<(), String> {
        self.check_nodes([flow.from, flow.to])?;
        check_pauses(flow)?;
        if flow.read == ReadPolicy::Rate(0) {
            return Err("a reading rate must be at least 1 byte/s".to_string());
        }
        if let Some(multipath) = &flow.multipath {
            self.check_multipath(flow, multipath)?;
        }
        match flow.traffic {
            Traffic::Bulk { .. } | Traffic::Custom(_) => Ok(()),
            Traffic::Messages(arrivals) => arrivals.check(),
            Traffic::RequestResponse { request, response, requests, .. } => {
                if request == 0 || response == 0 || requests == 0 {
                    return Err("requests, responses and their number must be at least 1".into());
                }
                Ok(())
            }
            Traffic::Coap(coap) => check_coap(&coap),
            Traffic::Media(media) => check_media(&media),
            Traffic::Sessions(ref sessions) => check_sessions(flow, sessions),
            Traffic::CbrTcp(cbr) if cbr.spread > Span::ZERO => {
                Err("only the times between datagrams can be spread".to_string())
            }
            Traffic::CbrTcp(cbr) => check_cbr(&cbr, u64::MAX),
            Traffic::CbrUdp(cbr) => check_cbr(&cbr, MAX_DATAGRAM.into()),
        }
    }

    fn check_multipath(&self, flow: &FlowConfig, multipath: &Multipath) -> Result<(), String> {
        let subflows = &multipath.subflows;
        if flow.traffic.is_datagrams() {
            return Err("a flow of datagrams has no subflows".to_string());
        }
        multipath.profile()?;
        for (i, subflow) in subflows.iter().enumerate() {
            if subflows[..i].iter().any(|s| s.name == subflow.name) {
                return Err(format!("two subflows are called \"{}\"", subflow.name));
            }
            subflow.via.iter().try_for_each(|node| self.check_nodes([*node; 2]))?;
        }
        Ok(())
    }
}

fn invalid(of: String, problem: String) -> ConfigError {
    ConfigError::Invalid { of, problem }
}

fn require(
    holds: bool,
    of: impl FnOnce() -> String,
    problem: impl FnOnce() -> String,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(invalid(of(), problem())) }
}

fn check_cbr(cbr: &Cbr, largest: u64) -> Result<(), String> {
    if !(1..=largest).contains(&cbr.packet) {
        return Err(format!("a packet must carry between 1 and {largest} bytes"));
    }
    if cbr.interval.0 == 0 {
        return Err("the time between packets must be at least a nanosecond".to_string());
    }
    if cbr.spread >= cbr.interval {
        return Err("the spread of the time between packets must be below the time".to_string());
    }
    Ok(())
}

fn check_media(media: &Media) -> Result<(), String> {
    if !(1..=MAX_DATAGRAM).contains(&media.packet) {
        return Err(format!("a packet must carry between 1 and {MAX_DATAGRAM} bytes"));
    }
    let [min, max] = media.rates_bps;
    if min == 0 || min > max {
        return Err("the minimum rate must be at least 1 bit/s, at most the maximum".to_string());
    }
    Ok(())
}

fn check_coap(coap: &Coap) -> Result<(), String> {
    let requests = &coap.requests;
    requests.check()?;
    if coap.nstart == 0 {
        return Err("at least 1 exchange must be open at a time".to_string());
    }
    if coap.token > Coap::MAX_TOKEN {
        return Err(format!("a token has at most {} bytes", Coap::MAX_TOKEN));
    }
    let request = coap.request_size(u32::try_from(requests.sizes.largest()).unwrap_or(u32::MAX));
    let flights = coap.security.map_or([0; 3], |dtls| dtls.flights.map(Coap::flight_size));
    if coap.security.is_some_and(|dtls| dtls.each && coap.nstart > 1) {
        return Err("a handshake for each request allows one open exchange".to_string());
    }
    if request.max(coap.response_size()).max(flights.into_iter().max().unwrap_or(0)) > MAX_IP_LEN {
        return Err(format!("a message of CoAP must fit a datagram of {MAX_DATAGRAM} bytes"));
    }
    Ok(())
}

fn check_sessions(flow: &FlowConfig, sessions: &Sessions) -> Result<(), String> {
    if flow.multipath.is_some() || flow.profile.asks_routers() {
        return Err("successive connections are neither multipath nor use Quick-Start".to_string());
    }
    if flow.read != ReadPolicy::Immediate {
        return Err("the ends of successive connections read immediately".to_string());
    }
    sessions.check()
}

fn check_pauses(flow: &FlowConfig) -> Result<(), String> {
    if flow.pauses.is_empty() {
        return Ok(());
    }
    let Traffic::CbrUdp(cbr) = flow.traffic else {
        return Err("only datagrams at a constant rate can pause".to_string());
    };
    let times: Vec<Time> = flow.pauses.iter().flatten().copied().collect();
    if times.is_sorted_by(|a, b| a < b)
        && flow.start < times[0]
        && *times.last().unwrap_or(&Time::ZERO) < cbr.stop
    {
        return Ok(());
    }
    Err("pauses must ascend, not touch, and be between the flow's start and stop".to_string())
}
