//! The application at an end of a flow.

use windlass_cc::Time;
use windlass_sim::external::PacketEnd;
use windlass_tcp::wire::fill_pattern;
use windlass_tcp::{Seq, State};

use crate::connection::Connection;

/// Bytes per write or read.
const CHUNK: usize = 4096;

/// The application's task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It connects, sends this number of bytes of the test pattern, and closes.
    Sends(u64),
    /// It listens, reads data immediately, and closes after the peer.
    Receives,
}

/// A connection and its application.
pub struct App {
    connection: Box<dyn Connection>,
    role: Role,
    start: Time,
    begun: bool,
    /// Bytes that were written to the stack, or read from it.
    pub moved: u64,
    /// Time at which the last byte was read.
    pub last: Time,
}

impl App {
    /// An end that begins at `start`.
    pub fn new(connection: impl Connection + 'static, role: Role, start: Time) -> App {
        App::boxed(Box::new(connection), role, start)
    }

    /// The application of any connection.
    pub fn boxed(connection: Box<dyn Connection>, role: Role, start: Time) -> App {
        App { connection, role, start, begun: false, moved: 0, last: Time::ZERO }
    }

    fn begin(&mut self, now: Time) {
        if self.begun || (self.role != Role::Receives && now < self.start) {
            return;
        }
        self.begun = true;
        let opened = match self.role {
            Role::Sends(_) => self.connection.connect(now),
            Role::Receives => self.connection.listen(now),
        };
        opened.expect("the connection is new");
    }

    fn act(&mut self, now: Time) {
        self.begin(now);
        match self.role {
            Role::Sends(bytes) => self.send(now, bytes),
            Role::Receives => self.receive_all(now),
        }
    }

    fn send(&mut self, now: Time, bytes: u64) {
        let mut chunk = [0; CHUNK];
        while self.moved < bytes {
            let len = CHUNK.min((bytes - self.moved) as usize);
            fill_pattern(Seq(self.moved as u32), &mut chunk[..len]);
            let took = self.connection.write(now, &chunk[..len]);
            self.moved += took as u64;
            if self.moved == bytes {
                self.connection.shutdown(now);
            }
            if took < len {
                return;
            }
        }
    }

    fn receive_all(&mut self, now: Time) {
        let mut chunk = [0; CHUNK];
        while self.connection.readable() > 0 {
            self.moved += self.connection.read(now, &mut chunk) as u64;
            self.last = now;
        }
        if self.moved > 0 && self.connection.state() == State::CloseWait {
            self.connection.shutdown(now);
        }
    }
}

impl PacketEnd for App {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        self.connection.receive(now, packet);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        self.connection.transmit(now).or_else(|| {
            self.act(now);
            self.connection.transmit(now)
        })
    }

    fn deadline(&mut self, now: Time) -> Time {
        if !self.begun {
            return self.start.max(now);
        }
        self.connection.deadline(now)
    }
}
