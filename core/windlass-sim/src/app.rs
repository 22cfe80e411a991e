//! Applications, which write to and read from an endpoint or a multipath connection.

use windlass_cc::{Span, Time};
use windlass_tcp::mptcp::{Connection, MultipathProfile};
use windlass_tcp::{Endpoint, Profile};

use crate::arrivals::ArrivalProcess;
use crate::config::FlowConfig;
use crate::latency::Messages;
use crate::traffic::{ApplicationEnd, Cbr, ReadPolicy, Socket, Traffic};

/// An endpoint or a multipath connection with its profile, as a [`Socket`].
#[derive(Debug)]
pub struct Bound<'a, S, P> {
    /// The endpoint or connection.
    pub socket: &'a mut S,
    /// Its stack and algorithm.
    pub profile: &'a P,
    /// The current time.
    pub now: Time,
}

/// Forwards each method of [`Socket`] to the method of the same name.
macro_rules! socket {
    ($socket:ty, $profile:ty, $mss:expr) => {
        impl Socket for Bound<'_, $socket, $profile> {
            #[inline]
            fn connect(&mut self) {
                self.socket.connect();
            }
            #[inline]
            fn offer(&mut self, bytes: u64) {
                self.socket.offer(bytes);
            }
            #[inline]
            fn close(&mut self) {
                self.socket.close();
            }
            #[inline]
            fn readable(&self) -> u64 {
                self.socket.readable()
            }
            #[inline]
            fn read(&mut self, max: u64) -> u64 {
                self.socket.read(self.profile, self.now, max)
            }
            #[inline]
            fn at_end(&self) -> bool {
                self.socket.at_end()
            }
            #[inline]
            fn mss(&self) -> u32 {
                $mss(self.socket)
            }
        }
    };
}

socket!(Endpoint, Profile, Endpoint::mss);
socket!(Connection, MultipathProfile, min_mss);

/// Minimum segment size of the subflows. Every subflow can carry a segment of this size.
fn min_mss(connection: &Connection) -> u32 {
    (0..connection.paths()).map(|path| connection.subflow(path).mss()).min().unwrap_or(1)
}

/// The application at one end of a flow.
#[derive(Clone, Debug)]
pub struct App {
    role: Role,
    read: Reader,
    /// Next time at which the application acts without an event.
    wake: Time,
    /// True if the peer has closed and the application is about to close.
    closing: bool,
    /// Payload bytes read so far.
    pub delivered: u64,
    /// Time at which the last awaited byte was read.
    pub completed: Option<Time>,
    /// Duration of each response, seconds.
    pub responses_s: Vec<f64>,
    /// The messages that the application awaits, if they have a deadline.
    pub messages: Option<Box<Messages>>,
}

/// Behaviour of an application.
#[derive(Clone, Debug)]
pub enum Role {
    /// Sends a stream, and closes if the stream has an end.
    Sender {
        /// Bytes to send; `None` for no end.
        bytes: Option<u64>,
    },
    /// Sends packets at regular intervals.
    CbrSender(Cbr),
    /// Sends messages at their due times.
    Messages(Box<ArrivalProcess>),
    /// Reads all data, and closes after the peer.
    Receiver,
    /// Sends a request, waits for the response, pauses, and repeats.
    Client {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Remaining requests.
        left: u32,
        /// Pause between a response and the next request.
        think: Span,
        /// Time of the present request.
        asked: Time,
        /// Value of `delivered` at the end of the present response.
        until: u64,
    },
    /// Answers each complete request.
    Server {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Number of responses sent.
        answered: u64,
    },
    /// Behaviour that another crate defines.
    Custom(Box<dyn ApplicationEnd>),
}

impl Role {
    /// True if the other end opens the connection.
    pub fn listens(&self) -> bool {
        match self {
            Role::Receiver | Role::Server { .. } => true,
            Role::Custom(end) => !end.opens(),
            Role::Sender { .. } | Role::CbrSender(_) | Role::Messages(_) | Role::Client { .. } => {
                false
            }
        }
    }
}

impl App {
    /// True if it has sent a request and not received the complete response.
    pub fn awaits_response(&self) -> bool {
        matches!(self.role, Role::Client { until, .. } if self.delivered < until)
    }
}

/// The reading side of an application.
#[derive(Clone, Copy, Debug)]
struct Reader {
    policy: ReadPolicy,
    /// Time of the next read, [`Time::NEVER`] while no data waits.
    due: Time,
    /// Earliest time of the next read at a limited rate.
    ready: Time,
}

impl App {
    /// An application at an end of a flow.
    pub fn of_flow(role: Role, policy: ReadPolicy, flow: &FlowConfig) -> App {
        let awaited = match (&role, &flow.traffic) {
            (Role::Receiver, Traffic::CbrTcp(cbr)) => Messages::new(*cbr, flow.start),
            (Role::Receiver, Traffic::Messages(arrivals)) => {
                Messages::of_arrivals(*arrivals, flow.start)
            }
            _ => None,
        };
        App { messages: awaited.map(Box::new), ..App::new(role, policy, flow.start) }
    }

    /// An application that opens the connection at `start`, unless its role listens.
    pub fn new(role: Role, policy: ReadPolicy, start: Time) -> App {
        let wake = match &role {
            Role::Custom(end) => end.deadline(),
            role if role.listens() => Time::NEVER,
            _ => start,
        };
        App {
            role,
            read: Reader { policy, due: Time::NEVER, ready: Time::ZERO },
            wake,
            closing: false,
            delivered: 0,
            completed: None,
            responses_s: Vec::new(),
            messages: None,
        }
    }

    /// Time of the next call of [`act`](App::act).
    #[inline]
    pub fn deadline(&self) -> Time {
        self.wake.min(self.read.due)
    }

    /// Runs the application after an event at its endpoint, or at its deadline.
    #[inline]
    pub fn act(&mut self, now: Time, e: &mut impl Socket) {
        if let Role::Custom(_) = self.role {
            return self.act_custom(now, e);
        }
        if now >= self.wake {
            self.on_wake(now, e);
        }
        self.receive(now, e);
        match self.role {
            Role::Sender { .. } => {}
            Role::Receiver if !e.at_end() => {}
            _ => self.follow_data(now, e),
        }
    }

    /// Responds to data, or to their end.
    fn follow_data(&mut self, now: Time, e: &mut impl Socket) {
        match &mut self.role {
            Role::Server { request, response, answered } => {
                while self.delivered >= (*answered + 1) * (*request).max(1) {
                    *answered += 1;
                    e.offer(*response);
                }
                self.close_after_peer(now, e);
            }
            Role::Receiver if e.at_end() => {
                self.completed.get_or_insert(now);
                self.close_after_peer(now, e);
            }
            Role::Client { .. } => self.follow_response(now, e),
            _ => {}
        }
    }

    #[cold]
    fn act_custom(&mut self, now: Time, e: &mut impl Socket) {
        let Role::Custom(end) = &mut self.role else { return };
        let before = e.readable();
        end.act(now, e);
        self.delivered += before - e.readable();
        self.wake = end.deadline();
        if end.is_complete() {
            self.completed.get_or_insert(now);
        }
    }

    /// Closes after the peer has closed, in a separate step. By then the stack has acknowledged the
    /// FIN, which a real stack does before it notifies the application.
    fn close_after_peer(&mut self, now: Time, e: &impl Socket) {
        if e.at_end() && !self.closing {
            self.closing = true;
            self.wake = now;
        }
    }

    #[cold]
    fn on_wake(&mut self, now: Time, e: &mut impl Socket) {
        self.wake = Time::NEVER;
        if !self.closing {
            e.connect(); // repeated calls have no effect
        }
        match &mut self.role {
            Role::Sender { bytes: None } => e.offer(u64::MAX),
            Role::Sender { bytes: Some(n) } => {
                e.offer(*n);
                e.close();
            }
            Role::CbrSender(cbr) => {
                if now < cbr.stop {
                    e.offer(cbr.packet);
                    self.wake = now + cbr.interval;
                } else {
                    e.close();
                }
            }
            Role::Messages(process) => self.wake = write_due(process, now, e),
            Role::Client { request, response, left, asked, until, .. } => {
                *left -= 1;
                *asked = now;
                *until = self.delivered + *response;
                e.offer(*request);
            }
            Role::Receiver | Role::Server { .. } => e.close(),
            Role::Custom(_) => {}
        }
    }

    fn follow_response(&mut self, now: Time, e: &mut impl Socket) {
        let Role::Client { left, think, asked, until, .. } = &mut self.role else { return };
        if self.delivered < *until || *until == 0 {
            return;
        }
        self.responses_s.push(now.since(*asked).0 as f64 / 1e9);
        *until = 0;
        if *left > 0 {
            self.wake = now + *think;
        } else {
            self.completed = Some(now);
            e.close();
        }
    }

    #[inline]
    fn receive(&mut self, now: Time, e: &mut impl Socket) {
        let readable = e.readable();
        if readable == 0 {
            return;
        }
        match self.read.policy {
            ReadPolicy::Immediate => self.delivered += e.read(readable),
            ReadPolicy::Delayed(after) => {
                if self.read.due.is_never() {
                    self.read.due = now + after;
                } else if now >= self.read.due {
                    self.read.due = Time::NEVER;
                    self.delivered += e.read(readable);
                }
            }
            ReadPolicy::Rate(bytes_per_s) => {
                if now < self.read.ready {
                    self.read.due = self.read.ready;
                    return;
                }
                let n = e.read(u64::from(e.mss()));
                self.delivered += n;
                self.read.ready = now + Span((n * 1_000_000_000).div_ceil(bytes_per_s.max(1)));
                self.read.due = if e.readable() > 0 { self.read.ready } else { Time::NEVER };
            }
        }
        if let Some(messages) = &mut self.messages {
            messages.read(now, self.delivered);
        }
    }
}

/// Writes the messages that are due, and closes after the last message. Returns the due time of the
/// next message.
fn write_due(process: &mut ArrivalProcess, now: Time, e: &mut impl Socket) -> Time {
    while let Some((due, bytes)) = process.next() {
        if due > now {
            return due;
        }
        e.offer(bytes);
        process.advance();
    }
    e.close();
    Time::NEVER
}
