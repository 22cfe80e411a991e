//! Applications of a datagram flow: one sends by the clock, the other counts.

use std::mem::MaybeUninit;

use socket2::Socket;
use windlass_cc::Time;
use windlass_sim::config::Cbr;

/// Sends datagrams of a fixed size at fixed intervals.
#[derive(Debug)]
pub(crate) struct Source {
    socket: Socket,
    interval: windlass_cc::Span,
    stop: Time,
    /// When the next one leaves.
    next: Time,
    payload: Vec<u8>,
}

impl Source {
    pub fn new(socket: Socket, cbr: Cbr, start: Time) -> Source {
        let next = if start < cbr.stop { start } else { Time::NEVER };
        let payload = vec![0; cbr.packet as usize];
        Source { socket, interval: cbr.interval, stop: cbr.stop, next, payload }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Sends what is due. A datagram that the kernel does not take is lost, as it would be on a host.
    pub fn act(&mut self, now: Time) {
        while now >= self.next {
            let _ = self.socket.send_with_flags(&self.payload, libc::MSG_NOSIGNAL);
            let next = self.next + self.interval;
            self.next = if next < self.stop { next } else { Time::NEVER };
        }
    }
}

/// Counts what arrives.
#[derive(Debug)]
pub(crate) struct Sink {
    socket: Socket,
    /// When the source stops.
    stop: Time,
    /// Payload bytes received.
    pub bytes: u64,
    /// When the last one came.
    pub last: Time,
}

impl Sink {
    pub fn new(socket: Socket, stop: Time) -> Sink {
        Sink { socket, stop, bytes: 0, last: Time::ZERO }
    }

    /// When the source stops, [`Time::NEVER`] after that. What is under way then still arrives.
    pub fn deadline(&self) -> Time {
        self.stop
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn act(&mut self, now: Time) {
        if now >= self.stop {
            self.stop = Time::NEVER;
        }
        let mut room = [MaybeUninit::uninit()];
        // With MSG_TRUNC a datagram's true length is returned (udp(7)).
        while let Ok(n) = self.socket.recv_with_flags(&mut room, libc::MSG_TRUNC) {
            self.bytes += n as u64;
            self.last = now;
        }
    }
}
