//! Ends of flows outside the simulation: a kernel's sockets, or anything that speaks packets.
//!
//! The network stays what it is: the same links, queues, error models and seeds. Whoever owns the end
//! keeps the time. It [detaches](Simulation::detach) the end before the run, lets the simulation come
//! up to its clock ([`run_until`](Simulation::run_until)), hands in what the end sends
//! ([`inject`](Simulation::inject)), takes what has reached it
//! ([`take_departures`](Simulation::take_departures)), and sleeps until the
//! [next event](Simulation::next_event). A packet is known by its number from `inject` to its
//! departure, so that its bytes can stay with the owner.

use windlass_cc::{Span, Time};

use crate::config::{FlowConfig, Multipath, Traffic};
use crate::host::Kind;
use crate::packet::Body;
use crate::results::{FlowResult, MultipathResult, SubflowResult};
use crate::simulation::Simulation;
use crate::totals::ratio;

/// What an end outside has sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Packets of any kind.
    pub packets: u64,
    /// Of these: with payload.
    pub data_packets: u64,
    /// Payload, bytes, retransmissions included.
    pub data_bytes: u64,
}

impl Sent {
    fn plus(self, other: Sent) -> Sent {
        Sent {
            packets: self.packets + other.packets,
            data_packets: self.data_packets + other.data_packets,
            data_bytes: self.data_bytes + other.data_bytes,
        }
    }
}

/// A packet that has reached an end outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// When it came out of its last link.
    pub time: Time,
    /// The host it is for: `2i` for the end of flow `i` that sends the data, `2i + 1` for the other;
    /// of a multipath flow, the [gate](Simulation::detach) that it has come to.
    pub host: u32,
    /// The number that [`Simulation::inject`] gave it, if the other end is outside too. The number may
    /// be given to another packet after the next call of `run_until` or `inject`.
    pub id: u32,
    /// What it carries; a segment is marked if a queue has marked it.
    pub body: Body,
}

impl Simulation {
    /// Puts a host outside: from now on its packets come by [`inject`](Simulation::inject). To be
    /// called before the run begins. Returns its gates, the hosts by which its packets go and come:
    /// itself, or one for each path of a multipath flow, whose two ends must both be outside then.
    /// The gate of the path whose [track](crate::config::Config::track) is `t` is `2t`, or `2t + 1`
    /// for the end that receives the data.
    ///
    /// # Panics
    ///
    /// If there is no such host, or the run has begun.
    pub fn detach(&mut self, host: u32) -> Vec<u32> {
        assert_eq!(self.events, 0, "an end is detached before the run begins");
        let gates = match &self.hosts[host as usize].kind {
            Kind::Multipath(end) => end.paths.iter().map(|path| path.port).collect(),
            _ => vec![host],
        };
        for &outside in gates.iter().chain([&host]) {
            self.hosts[outside as usize].kind = Kind::Outside(Sent::default());
        }
        gates
    }

    /// When something happens next by itself, `None` if nothing does. Not before
    /// [`now`](Simulation::now).
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.next().map(|(time, _)| time)
    }

    /// An end outside sends an IP packet of `size` bytes, now, by this gate. Returns the packet's number.
    ///
    /// # Panics
    ///
    /// If the gate is none of an end outside.
    pub fn inject(&mut self, host: u32, size: u32, body: Body) -> u32 {
        let route = self.hosts[host as usize].route;
        let Kind::Outside(sent) = &mut self.hosts[host as usize].kind else {
            panic!("host {host} is not outside")
        };
        let payload = match body {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len } => len,
        };
        sent.packets += 1;
        sent.data_packets += u64::from(payload > 0);
        sent.data_bytes += u64::from(payload);
        let id = self.packets.insert(body);
        self.launch(route, size, id);
        id
    }

    /// Takes what has reached ends outside, in the order of its arrival.
    pub fn take_departures(&mut self) -> std::vec::Drain<'_, Departure> {
        self.departures.drain(..)
    }

    /// Packets in the network: in queues and on links.
    pub fn packets_inside(&self) -> u64 {
        self.packets.len()
    }

    /// What the network knows of a flow with an end outside, and an end inside of itself. The owner of
    /// the end outside knows the rest: of the data receiver the bytes delivered and the times, of the
    /// data sender the state of the connection, which are zero or `None` here.
    pub(crate) fn outside_result(&self, i: usize, flow: &FlowConfig) -> FlowResult {
        let active_s = self.now.since(flow.start).0 as f64 / 1e9;
        let track = self.config.track(i);
        let tracks = match &flow.multipath {
            Some(multipath) => track..track + multipath.subflows.len(),
            None => i..i + 1,
        };
        let sum = |end| {
            tracks.clone().map(|t| self.sent_by(2 * t + end)).fold(Sent::default(), Sent::plus)
        };
        let [data, back] = [sum(0), sum(1)];
        let dropped: u64 = tracks.clone().map(|t| self.dropped[2 * t]).sum();
        let udp = matches!(flow.traffic, Traffic::CbrUdp(_));
        let algorithm = if udp { "none" } else { flow.profile.params.info().id };
        let mut result = FlowResult {
            name: flow.name.clone(),
            algorithm: algorithm.to_string(),
            active_s,
            delivered_bytes: 0,
            goodput_bps: 0.0,
            throughput_bps: ratio(data.data_bytes as f64 * 8.0, active_s),
            retransmits: 0,
            fast_retransmits: 0,
            rto_count: 0,
            data_segments: data.data_packets,
            packets_sent: data.packets,
            peer_packets_sent: back.packets,
            loss_rate: ratio(dropped as f64, data.packets as f64),
            srtt_ms: None,
            min_rtt_ms: None,
            cwnd_bytes: 0,
            completion_s: None,
            responses_s: Vec::new(),
            failure: None,
            transit: None,
            messages: None,
            multipath: flow.multipath.as_ref().map(|m| self.outside_paths(m, track, active_s)),
            radio: self.radio_use(flow),
        };
        self.add_sender_inside(2 * i, &mut result);
        self.add_receiver_inside(2 * i + 1, flow, &mut result);
        result
    }

    /// What the network knows of the paths of a multipath flow whose ends are outside.
    fn outside_paths(&self, multipath: &Multipath, track: usize, active_s: f64) -> MultipathResult {
        let path = |(t, subflow): (usize, &crate::config::SubflowConfig)| {
            let [data, back] = [self.sent_by(2 * t), self.sent_by(2 * t + 1)];
            SubflowResult {
                name: subflow.name.clone(),
                algorithm: subflow.profile.params.info().id.to_string(),
                throughput_bps: ratio(data.data_bytes as f64 * 8.0, active_s),
                data_segments: data.data_packets,
                packets_sent: data.packets,
                peer_packets_sent: back.packets,
                loss_rate: ratio(self.dropped[2 * t] as f64, data.packets as f64),
                ..SubflowResult::default()
            }
        };
        let subflows = (track..).zip(&multipath.subflows).map(path).collect();
        MultipathResult { subflows, ..MultipathResult::default() }
    }

    fn add_sender_inside(&self, host: usize, result: &mut FlowResult) {
        let Kind::Tcp { endpoint, .. } = &self.hosts[host].kind else { return };
        let stats = endpoint.stats();
        result.retransmits = stats.retransmits;
        result.fast_retransmits = stats.fast_retransmits;
        result.rto_count = stats.rto_count;
        let known_ms = |span: Span| span.is_known().then(|| span.0 as f64 / 1e6);
        result.srtt_ms = known_ms(endpoint.srtt());
        result.min_rtt_ms = known_ms(endpoint.min_rtt());
        result.cwnd_bytes = endpoint.control().cwnd;
        result.failure = endpoint.failure().map(|f| f.describe().to_string());
    }

    fn add_receiver_inside(&self, host: usize, flow: &FlowConfig, result: &mut FlowResult) {
        let mut ended = None;
        match &self.hosts[host].kind {
            Kind::Tcp { endpoint, app } => {
                let endless = matches!(flow.traffic, Traffic::Bulk { bytes: None });
                ended = app.completed.filter(|_| !endless);
                result.completion_s = ended.map(|t| t.since(flow.start).0 as f64 / 1e9);
                result.delivered_bytes = app.delivered;
                result.responses_s = app.responses_s.clone();
                // As for an end that asks inside, its attempts count too.
                if matches!(flow.traffic, Traffic::RequestResponse { .. }) {
                    result.rto_count += endpoint.stats().rto_count;
                }
                let failure = endpoint.failure().map(|f| f.describe().to_string());
                result.failure = result.failure.take().or(failure);
            }
            Kind::DatagramSink { bytes, last } => {
                if let Traffic::CbrUdp(cbr) = flow.traffic {
                    ended = Some(cbr.stop.max(*last).min(self.now()));
                }
                result.delivered_bytes = *bytes;
            }
            _ => return,
        }
        result.set_active(ended.unwrap_or(self.now()).since(flow.start).0 as f64 / 1e9);
    }

    fn sent_by(&self, host: usize) -> Sent {
        match &self.hosts[host].kind {
            Kind::Outside(sent) => *sent,
            Kind::Tcp { endpoint, .. } => {
                let s = endpoint.stats();
                Sent {
                    packets: s.segments_sent,
                    data_packets: s.data_segments,
                    data_bytes: s.data_bytes,
                }
            }
            Kind::DatagramSource { cbr, sent, .. } => {
                Sent { packets: *sent, data_packets: *sent, data_bytes: *sent * cbr.packet }
            }
            // An end of a multipath flow has gates instead.
            Kind::DatagramSink { .. } | Kind::Multipath(_) | Kind::Port { .. } => Sent::default(),
        }
    }
}
