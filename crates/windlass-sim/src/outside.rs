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

use crate::config::{FlowConfig, Traffic};
use crate::host::Kind;
use crate::packet::Body;
use crate::results::FlowResult;
use crate::simulation::Simulation;

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

/// A packet that has reached an end outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// When it came out of its last link.
    pub time: Time,
    /// The host it is for: `2i` for the end of flow `i` that sends the data, `2i + 1` for the other.
    pub host: u32,
    /// The number that [`Simulation::inject`] gave it, if the other end is outside too. The number may
    /// be given to another packet after the next call of `run_until` or `inject`.
    pub id: u32,
    /// What it carries; a segment is marked if a queue has marked it.
    pub body: Body,
}

impl Simulation {
    /// Puts a host outside: from now on its packets come by [`inject`](Simulation::inject). To be
    /// called before the run begins.
    ///
    /// # Panics
    ///
    /// If there is no such host, it is one of a multipath flow, or the run has begun.
    pub fn detach(&mut self, host: u32) {
        assert_eq!(self.events, 0, "an end is detached before the run begins");
        let kind = &mut self.hosts[host as usize].kind;
        let multipath = matches!(kind, Kind::Multipath(_) | Kind::Port { .. });
        assert!(!multipath, "no end of a multipath flow can be outside");
        *kind = Kind::Outside(Sent::default());
    }

    /// When something happens next by itself, `None` if nothing does. Not before
    /// [`now`](Simulation::now).
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.next().map(|(time, _)| time)
    }

    /// An end outside sends an IP packet of `size` bytes, now. Returns the packet's number.
    ///
    /// # Panics
    ///
    /// If the host is not outside.
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
        let [data, back] = [self.sent_by(2 * i), self.sent_by(2 * i + 1)];
        let active_s = self.now.since(flow.start).0 as f64 / 1e9;
        let udp = matches!(flow.traffic, Traffic::CbrUdp(_));
        let algorithm = if udp { "none" } else { flow.profile.params.info().id };
        let mut result = FlowResult {
            name: flow.name.clone(),
            algorithm: algorithm.to_string(),
            active_s,
            delivered_bytes: 0,
            goodput_bps: 0.0,
            throughput_bps: if active_s > 0.0 {
                data.data_bytes as f64 * 8.0 / active_s
            } else {
                0.0
            },
            retransmits: 0,
            fast_retransmits: 0,
            rto_count: 0,
            data_segments: data.data_packets,
            packets_sent: data.packets,
            peer_packets_sent: back.packets,
            loss_rate: match data.packets {
                0 => 0.0,
                sent => self.dropped[2 * i] as f64 / sent as f64,
            },
            srtt_ms: None,
            min_rtt_ms: None,
            cwnd_bytes: 0,
            completion_s: None,
            responses_s: Vec::new(),
            failure: None,
            transit: None,
            messages: None,
            multipath: None,
            radio: self.radio_use(flow),
        };
        self.add_sender_inside(2 * i, &mut result);
        self.add_receiver_inside(2 * i + 1, flow, &mut result);
        result
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
            // No end of a multipath flow is ever outside.
            Kind::DatagramSink { .. } | Kind::Multipath(_) | Kind::Port { .. } => Sent::default(),
        }
    }
}
