//! The application of one end of a flow on a socket, as [`windlass_sim::app`] is the application of an
//! endpoint.

use std::net::SocketAddrV4;

use nix::poll::PollFlags;
use socket2::{SockAddr, Socket};
use windlass_cc::{Span, Time};
use windlass_sim::arrivals::ArrivalProcess;
use windlass_sim::config::{Cbr, FlowConfig, ReadPolicy, Traffic};
use windlass_sim::host::DatagramSource;
use windlass_sim::latency::Messages;

use super::clock::Clock;
use super::datagrams::{Sink, Source};
use super::error::Error;
use super::socket::Purpose;
use super::stream::Stream;
use super::trace::Trace;

/// One end of a flow in the kernel.
#[derive(Debug)]
pub(crate) struct App {
    /// Host of the simulation that this end represents.
    pub host: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Stream(Box<StreamApp>),
    Source(Source),
    Sink(Sink),
}

/// An application on a connection.
#[derive(Debug)]
pub(crate) struct StreamApp {
    pub stream: Stream,
    remote: SockAddr,
    role: Role,
    /// Time of the application's next action without an event.
    wake: Time,
    /// Time at which the last awaited byte was read.
    pub completed: Option<Time>,
    /// Duration of each response, seconds.
    pub responses_s: Vec<f64>,
    /// Messages that the application reads, if they have a deadline.
    pub messages: Option<Messages>,
}

#[derive(Clone, Debug)]
enum Role {
    Sender { bytes: Option<u64> },
    CbrSender(Cbr),
    Messages(Box<ArrivalProcess>),
    Receiver,
    Client { request: u64, response: u64, left: u32, think: Span, asked: Time, until: Option<u64> },
    Server { request: u64, response: u64, answered: u64 },
}

/// Returns the purpose of the socket of a host of this flow.
pub(crate) fn purpose(flow: &FlowConfig, host: u32) -> Purpose {
    let sends = host.is_multiple_of(2);
    match flow.traffic {
        Traffic::CbrUdp(_) => Purpose::Datagrams,
        Traffic::RequestResponse { .. } if sends => Purpose::Listen,
        Traffic::RequestResponse { .. } => Purpose::Connect,
        Traffic::Bulk { .. } | Traffic::CbrTcp(_) | Traffic::Messages(_) if sends => {
            Purpose::Connect
        }
        Traffic::Bulk { .. } | Traffic::CbrTcp(_) | Traffic::Messages(_) => Purpose::Listen,
        // These have already been refused.
        Traffic::Coap(_) | Traffic::Media(_) | Traffic::Sessions(_) | Traffic::Custom(_) => {
            Purpose::Listen
        }
    }
}

fn role(traffic: &Traffic, sends: bool, start: Time) -> Role {
    match *traffic {
        Traffic::Messages(arrivals) if sends => {
            Role::Messages(Box::new(ArrivalProcess::new(arrivals, start)))
        }
        Traffic::Bulk { bytes } if sends => Role::Sender { bytes },
        Traffic::CbrTcp(cbr) if sends => Role::CbrSender(cbr),
        Traffic::RequestResponse { request, response, requests, think } if !sends => Role::Client {
            request,
            response,
            left: requests,
            think,
            asked: Time::ZERO,
            until: None,
        },
        Traffic::RequestResponse { request, response, .. } => {
            Role::Server { request, response, answered: 0 }
        }
        _ => Role::Receiver,
    }
}

/// Returns the messages that the receiver of a flow checks for their deadlines.
fn messages(flow: &FlowConfig) -> Option<Messages> {
    match flow.traffic {
        Traffic::CbrTcp(cbr) => Messages::new(cbr, flow.start),
        Traffic::Messages(arrivals) => Messages::of_arrivals(arrivals, flow.start),
        _ => None,
    }
}

impl App {
    /// Creates the application of a host on its socket, in a run with this seed.
    pub fn new(
        flow: &FlowConfig,
        host: u32,
        socket: Socket,
        remote: SocketAddrV4,
        seed: u64,
    ) -> App {
        let sends = host.is_multiple_of(2);
        let kind = match flow.traffic {
            Traffic::CbrUdp(cbr) if sends => {
                let due = DatagramSource::new(cbr, flow.start, &flow.pauses, seed, host);
                Kind::Source(Source::new(socket, due))
            }
            Traffic::CbrUdp(cbr) => Kind::Sink(Sink::new(socket, cbr, flow.start)),
            ref traffic => {
                let listens = purpose(flow, host) == Purpose::Listen;
                let policy = if sends { ReadPolicy::Immediate } else { flow.read };
                Kind::Stream(Box::new(StreamApp {
                    stream: Stream::new(socket, listens, policy, flow.profile.mss().into()),
                    remote: remote.into(),
                    role: role(traffic, sends, flow.start),
                    wake: if listens { Time::NEVER } else { flow.start },
                    completed: None,
                    responses_s: Vec::new(),
                    messages: if sends { None } else { messages(flow) },
                }))
            }
        };
        App { host, kind }
    }

    /// Returns the connection, if the application has one.
    pub fn stream(&self) -> Option<&StreamApp> {
        match &self.kind {
            Kind::Stream(app) => Some(app),
            Kind::Source(_) | Kind::Sink(_) => None,
        }
    }

    /// Returns the sink of datagrams, if the application is one.
    pub fn sink(&self) -> Option<&Sink> {
        match &self.kind {
            Kind::Sink(sink) => Some(sink),
            Kind::Source(_) | Kind::Stream(_) => None,
        }
    }

    /// Starts a trace, if the application sends or receives datagrams.
    pub fn trace(&mut self, clock: Clock) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Stream(_) => Ok(()),
            Kind::Source(source) => {
                source.trace(clock);
                Ok(())
            }
            Kind::Sink(sink) => sink.trace(clock),
        }
    }

    /// Adds this end's data to the trace of its flow.
    pub fn add_to(&self, trace: &mut Trace) {
        match &self.kind {
            Kind::Stream(_) => {}
            Kind::Source(source) => trace.sent.extend(source.sent().unwrap_or_default()),
            Kind::Sink(sink) => trace.arrived.extend(sink.arrived().unwrap_or_default()),
        }
    }

    /// Returns the socket and the events to wait for.
    pub fn waits_for(&self) -> (&Socket, PollFlags) {
        match &self.kind {
            Kind::Stream(app) => (app.stream.socket(), app.stream.events()),
            Kind::Source(source) => (source.socket(), PollFlags::empty()),
            Kind::Sink(sink) => (sink.socket(), PollFlags::POLLIN),
        }
    }

    /// Time of the next call of [`act`](App::act) if the socket has no event.
    pub fn deadline(&self) -> Time {
        match &self.kind {
            Kind::Stream(app) => app.wake.min(app.stream.deadline()),
            Kind::Source(source) => source.deadline(),
            Kind::Sink(sink) => sink.deadline(),
        }
    }

    /// Payload bytes that have reached the application.
    pub fn delivered(&self) -> u64 {
        match &self.kind {
            Kind::Stream(app) => app.stream.delivered,
            Kind::Source(_) => 0,
            Kind::Sink(sink) => sink.bytes,
        }
    }

    /// True if the application will not act again by itself.
    pub fn is_finished(&self) -> bool {
        match &self.kind {
            Kind::Stream(app) => app.stream.is_over(),
            Kind::Source(source) => source.deadline().is_never(),
            Kind::Sink(sink) => sink.deadline().is_never(),
        }
    }

    /// Lets the application act. `ready` is true if the socket has an event that the application waits for.
    pub fn act(&mut self, now: Time, ready: bool) {
        match &mut self.kind {
            Kind::Stream(app) => app.act(now, ready),
            Kind::Source(source) => source.act(now),
            Kind::Sink(sink) => sink.act(now),
        }
    }
}

impl StreamApp {
    fn act(&mut self, now: Time, ready: bool) {
        if now >= self.wake {
            self.on_wake(now);
        }
        self.stream.act(now, ready);
        if let Some(messages) = &mut self.messages {
            messages.read(now, self.stream.delivered);
        }
        match &mut self.role {
            Role::Server { request, response, answered } => {
                while self.stream.delivered >= (*answered + 1) * (*request).max(1) {
                    *answered += 1;
                    self.stream.offer(*response);
                }
                if self.stream.at_end {
                    self.stream.close();
                }
            }
            Role::Receiver if self.stream.at_end => {
                self.completed.get_or_insert(now);
                self.stream.close();
            }
            Role::Client { .. } => self.follow_response(now),
            _ => {}
        }
        self.stream.send(now);
    }

    fn on_wake(&mut self, now: Time) {
        let due = std::mem::replace(&mut self.wake, Time::NEVER);
        self.stream.connect(&self.remote);
        match &mut self.role {
            Role::Sender { bytes: None } => self.stream.offer(u64::MAX),
            Role::Sender { bytes: Some(n) } => {
                self.stream.offer(*n);
                self.stream.close();
            }
            Role::CbrSender(cbr) => {
                if due < cbr.stop {
                    self.stream.offer(cbr.packet);
                    // The next packet is due one interval after this packet's due time, not after the
                    // slightly late wake-up.
                    self.wake = due + cbr.interval;
                } else {
                    self.stream.close();
                }
            }
            Role::Messages(process) => {
                while let Some((_, bytes)) = process.next().filter(|(at, _)| *at <= due) {
                    self.stream.offer(bytes);
                    process.advance();
                }
                match process.next() {
                    Some((next, _)) => self.wake = next,
                    None => self.stream.close(),
                }
            }
            Role::Client { request, response, left, asked, until, .. } if *left > 0 => {
                *left -= 1;
                *asked = now;
                *until = Some(self.stream.delivered + *response);
                self.stream.offer(*request);
            }
            Role::Client { .. } => self.stream.close(),
            Role::Receiver | Role::Server { .. } => {}
        }
    }

    fn follow_response(&mut self, now: Time) {
        let Role::Client { left, think, asked, until, .. } = &mut self.role else { return };
        if until.is_none_or(|until| self.stream.delivered < until) {
            return;
        }
        *until = None;
        self.responses_s.push(now.since(*asked).0 as f64 / 1e9);
        if *left > 0 {
            self.wake = now + *think;
        } else {
            self.completed = Some(now);
            self.stream.close();
        }
    }
}
