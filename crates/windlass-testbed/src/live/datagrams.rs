//! Applications of a datagram flow: one sends by the clock, the other counts.
//!
//! Both can keep a [trace](super::trace), for which a datagram begins with its number.

use std::mem::MaybeUninit;

use socket2::Socket;
use windlass_cc::Time;
use windlass_sim::config::Cbr;
use windlass_sim::host::DatagramSource;

use super::clock::Clock;
use super::error::Error;
use super::trace::{self, Arrival, NUMBER};

/// Sends datagrams of a fixed size at fixed intervals.
#[derive(Debug)]
pub(crate) struct Source {
    socket: Socket,
    /// The simulator's, so that datagrams leave when its would.
    due: DatagramSource,
    payload: Vec<u8>,
    /// The clock of a trace, and when each datagram was sent.
    traced: Option<(Clock, Vec<Time>)>,
}

impl Source {
    pub fn new(socket: Socket, due: DatagramSource) -> Source {
        let payload = vec![0; due.cbr.packet as usize];
        Source { socket, due, payload, traced: None }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn deadline(&self) -> Time {
        self.due.next()
    }

    /// Keeps a trace from now on, if a datagram has room for its number.
    pub fn trace(&mut self, clock: Clock) {
        let room = || trace::room(self.due.cbr, self.due.next());
        self.traced = (self.payload.len() >= NUMBER).then(|| (clock, room()));
    }

    /// When each datagram that the kernel has taken was sent; nothing without a trace.
    pub fn sent(&self) -> Option<&[Time]> {
        self.traced.as_ref().map(|(_, sent)| sent.as_slice())
    }

    /// Sends what is due. A datagram that the kernel does not take is lost, as it would be on a host.
    pub fn act(&mut self, now: Time) {
        while now >= self.due.next() {
            // One that is late makes those after it no later.
            if self.due.poll(self.due.next()).is_some() {
                self.send();
            }
        }
    }

    fn send(&mut self) {
        let Some((clock, sent)) = &mut self.traced else {
            let _ = self.socket.send_with_flags(&self.payload, libc::MSG_NOSIGNAL);
            return;
        };
        self.payload[..NUMBER].copy_from_slice(&(sent.len() as u64).to_be_bytes());
        let before = clock.now();
        if self.socket.send_with_flags(&self.payload, libc::MSG_NOSIGNAL).is_ok() {
            sent.push(before);
        }
    }
}

/// Counts what arrives.
#[derive(Debug)]
pub(crate) struct Sink {
    socket: Socket,
    cbr: Cbr,
    start: Time,
    /// When the source stops.
    stop: Time,
    /// Payload bytes received.
    pub bytes: u64,
    /// When the last one came.
    pub last: Time,
    /// The clock of a trace, and what has arrived.
    traced: Option<(Clock, Vec<Arrival>)>,
}

impl Sink {
    pub fn new(socket: Socket, cbr: Cbr, start: Time) -> Sink {
        let stop = cbr.stop;
        Sink { socket, cbr, start, stop, bytes: 0, last: Time::ZERO, traced: None }
    }

    /// When the source stops, [`Time::NEVER`] after that. What is under way then still arrives.
    pub fn deadline(&self) -> Time {
        self.stop
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Keeps a trace from now on.
    pub fn trace(&mut self, clock: Clock) -> Result<(), Error> {
        trace::stamp_arrivals(&self.socket)?;
        self.traced = Some((clock, trace::room(self.cbr, self.start)));
        Ok(())
    }

    /// What has arrived; nothing without a trace.
    pub fn arrived(&self) -> Option<&[Arrival]> {
        self.traced.as_ref().map(|(_, arrived)| arrived.as_slice())
    }

    pub fn act(&mut self, now: Time) {
        if now >= self.stop {
            self.stop = Time::NEVER;
        }
        while let Some(len) = self.receive() {
            self.bytes += len;
            self.last = now;
        }
    }

    /// The length of the next datagram, if there is one.
    fn receive(&mut self) -> Option<u64> {
        if let Some((clock, arrived)) = &mut self.traced {
            let (len, arrival) = trace::receive(&self.socket, clock)?;
            arrived.extend(arrival);
            return Some(len);
        }
        let mut room = [MaybeUninit::uninit()];
        // With MSG_TRUNC a datagram's true length is returned (udp(7)).
        self.socket.recv_with_flags(&mut room, libc::MSG_TRUNC).ok().map(|n| n as u64)
    }
}
