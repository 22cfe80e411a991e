//! Applications of a datagram flow: the source sends by the clock, and the sink counts.
//!
//! Both can keep a [trace](super::trace), in which case a datagram begins with its number.

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
    /// The simulator's source, so that datagrams have the same send times as in the simulator.
    due: DatagramSource,
    payload: Vec<u8>,
    /// The clock of a trace, and the send time of each datagram.
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

    /// Starts a trace, if a datagram has room for its number.
    pub fn trace(&mut self, clock: Clock) {
        let room = || trace::room(self.due.cbr, self.due.next());
        self.traced = (self.payload.len() >= NUMBER).then(|| (clock, room()));
    }

    /// Returns the send time of each datagram that the kernel accepted, or nothing without a trace.
    pub fn sent(&self) -> Option<&[Time]> {
        self.traced.as_ref().map(|(_, sent)| sent.as_slice())
    }

    /// Sends the due datagrams. A datagram that the kernel does not accept is lost, as on a host.
    pub fn act(&mut self, now: Time) {
        while now >= self.due.next() {
            // A late datagram does not delay the datagrams after it.
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

/// Counts the arriving datagrams.
#[derive(Debug)]
pub(crate) struct Sink {
    socket: Socket,
    cbr: Cbr,
    start: Time,
    /// Time at which the source stops.
    stop: Time,
    /// Payload bytes received.
    pub bytes: u64,
    /// Arrival time of the last datagram.
    pub last: Time,
    /// The clock of a trace, and the datagrams that have arrived.
    traced: Option<(Clock, Vec<Arrival>)>,
}

impl Sink {
    pub fn new(socket: Socket, cbr: Cbr, start: Time) -> Sink {
        let stop = cbr.stop;
        Sink { socket, cbr, start, stop, bytes: 0, last: Time::ZERO, traced: None }
    }

    /// Time at which the source stops, or [`Time::NEVER`] after that. Datagrams in flight still arrive
    /// afterwards.
    pub fn deadline(&self) -> Time {
        self.stop
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Starts a trace.
    pub fn trace(&mut self, clock: Clock) -> Result<(), Error> {
        trace::stamp_arrivals(&self.socket)?;
        self.traced = Some((clock, trace::room(self.cbr, self.start)));
        Ok(())
    }

    /// Returns the datagrams that have arrived, or nothing without a trace.
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

    /// Returns the length of the next datagram, if one waits.
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
