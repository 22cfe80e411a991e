//! Another stack under a packet script. The script acts as the peer, the application and the clock.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};
use windlass_interop::script::{Action, Check, Departure, PEER_ISS, Seen, Stack, Tolerance};
use windlass_sim::addresses::FlowAddresses;
use windlass_tcp::wire::{self, Addresses, fill_pattern};
use windlass_tcp::{Flags, Segment, Seq};

use crate::connection::Connection;

/// The addresses of a connection under a script.
pub fn addresses() -> Addresses {
    FlowAddresses::new(0, 0, 1).addresses(true)
}

/// One connection, at the time of the script.
pub struct Scripted<'a> {
    connection: &'a mut dyn Connection,
    now: Time,
    /// Its initial sequence number.
    iss: Option<Seq>,
    /// Bytes that are written and not yet taken by its buffer, and the number of taken bytes.
    waiting: u64,
    taken: u64,
    out: VecDeque<Departure>,
}

impl<'a> Scripted<'a> {
    /// A closed connection between [`addresses`], at time zero.
    pub fn new(connection: &'a mut dyn Connection) -> Scripted<'a> {
        let (waiting, taken) = (0, 0);
        Scripted { connection, now: Time::ZERO, iss: None, waiting, taken, out: VecDeque::new() }
    }

    /// Takes the packets that it has to send.
    fn poll(&mut self) -> Result<(), String> {
        loop {
            let mut bytes = vec![0; self.waiting as usize];
            fill_pattern(Seq(self.taken as u32).add(1), &mut bytes);
            let took = self.connection.write(self.now, &bytes) as u64;
            (self.waiting, self.taken) = (self.waiting - took, self.taken + took);
            let before = self.out.len();
            while let Some(packet) = self.connection.transmit(self.now) {
                self.note(&packet)?;
            }
            if self.out.len() == before {
                return Ok(());
            }
        }
    }

    fn note(&mut self, packet: &[u8]) -> Result<(), String> {
        let packet = wire::parse(packet).map_err(|e| format!("it sent an invalid segment: {e}"))?;
        let segment = packet.segment;
        if segment.flags.has(Flags::SYN) {
            self.iss = Some(segment.seq);
        }
        let offset = segment.seq.0.wrapping_sub(self.iss.unwrap_or_default().0);
        let mut expected = vec![0; packet.payload.len()];
        fill_pattern(Seq(offset), &mut expected);
        let intact = packet.payload == expected;
        self.out.push_back(Departure { at: self.now, segment, intact });
        Ok(())
    }
}

impl Stack for Scripted<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn tolerance(&self, _: Span) -> Tolerance {
        Tolerance { early: self.connection.tick(), late: self.connection.tick() }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        let (connection, now) = (&mut self.connection, self.now);
        match action {
            Action::Listen => connection.listen(now)?,
            Action::Connect => connection.connect(now)?,
            Action::Write(bytes) => self.waiting += u64::from(bytes),
            Action::Read(bytes) => {
                let read = connection.read(now, &mut vec![0; bytes as usize]);
                if read < bytes as usize {
                    return Err(format!("{read} bytes were there to be read, not {bytes}"));
                }
            }
            Action::Shutdown => connection.shutdown(now),
            Action::Close => connection.close(now),
            Action::Abort => connection.abort(now),
        }
        self.poll()
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        let offset = segment.seq.0.wrapping_sub(PEER_ISS.0);
        let mut packet = Vec::new();
        let payload = |bytes: &mut [u8]| fill_pattern(Seq(offset), bytes);
        wire::emit(segment, &addresses().reversed(), payload, &mut packet)
            .map_err(|e| format!("the segment has no wire format: {e}"))?;
        self.connection.receive(self.now, &packet);
        self.poll()
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        while self.out.is_empty() {
            let due = self.connection.deadline(self.now);
            if due > until {
                self.now = self.now.max(until);
                break;
            }
            if due <= self.now {
                self.poll()?;
                if self.out.is_empty() && self.connection.deadline(self.now) <= self.now {
                    self.now = (self.now + self.connection.tick()).min(until.max(self.now));
                    if self.now >= until {
                        break;
                    }
                }
                continue;
            }
            self.now = due;
            self.poll()?;
        }
        Ok(self.out.pop_front())
    }

    fn look(&mut self, at: &Check) -> Result<Seen, String> {
        Ok(match at {
            Check::State(_) => Seen::State(self.connection.state()),
            Check::Readable(_) => Seen::Number(self.connection.readable() as u64),
            Check::Eof(_) => Seen::Answer(self.connection.at_end()),
            _ => return Err("this stack does not report the value".to_owned()),
        })
    }
}
