//! smoltcp under a packet script. The script is the peer, the application and the clock.

use std::collections::VecDeque;

use smoltcp::socket::tcp::{CongestionControl, State as Theirs};
use windlass_cc::{Span, Time};
use windlass_interop::script::{
    Action, Check, Departure, PEER_ISS, Seen, Settings, Stack, Tolerance,
};
use windlass_sim::addresses::FlowAddresses;
use windlass_tcp::wire::{self, Addresses, fill_pattern};
use windlass_tcp::{Flags, Segment, Seq, State};

use crate::smoltcp::{Options, Stack as Smoltcp};

/// A timer of smoltcp is a whole number of microseconds.
const TICK: Span = Span::from_micros(1);

/// The largest receive buffer with which smoltcp's windows have the shift that the scripts expect, 7; bytes.
const SHIFT_OF_7: usize = (1 << 23) - 1;

/// smoltcp's end of one connection.
pub struct Scripted {
    stack: Smoltcp,
    ends: Addresses,
    now: Time,
    /// Its initial sequence number.
    iss: Option<Seq>,
    /// Written and not yet taken by its buffer, bytes; and how many it has taken.
    waiting: u64,
    taken: u64,
    out: VecDeque<Departure>,
}

impl Scripted {
    /// An end that is closed, at time zero, with as much of a script's settings as smoltcp can be told.
    pub fn new(settings: &Settings, control: CongestionControl) -> Scripted {
        let mut options = Options {
            control,
            mtu: settings.mtu as usize,
            nagle: settings.stack.nagle,
            timestamps: settings.stack.timestamps,
            ..Options::default()
        };
        options.buffers[0] = match settings.stack {
            stack if settings.sets_receive_buffer => stack.receive_buffer as usize,
            stack if stack.window_scaling => SHIFT_OF_7,
            _ => options.buffers[0],
        };
        let ends = FlowAddresses::new(0, 0, 1).addresses(true);
        let stack = Smoltcp::new(&options, ends);
        let (waiting, taken) = (0, 0);
        Scripted { stack, ends, now: Time::ZERO, iss: None, waiting, taken, out: VecDeque::new() }
    }

    /// Takes from it what it has to send.
    fn poll(&mut self) -> Result<(), String> {
        loop {
            let socket = self.stack.socket();
            let (left, at) = (self.waiting as usize, Seq(self.taken as u32));
            let took = socket.send(|room| {
                let len = room.len().min(left);
                fill_pattern(at.add(1), &mut room[..len]);
                (len, len)
            });
            let took = took.unwrap_or(0) as u64;
            (self.waiting, self.taken) = (self.waiting - took, self.taken + took);
            self.stack.poll(self.now);
            let Some(packet) = self.stack.sent() else { return Ok(()) };
            self.note(&packet)?;
            while let Some(packet) = self.stack.sent() {
                self.note(&packet)?;
            }
        }
    }

    fn note(&mut self, packet: &[u8]) -> Result<(), String> {
        let packet = wire::parse(packet).map_err(|e| format!("it sent what is no segment: {e}"))?;
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

impl Stack for Scripted {
    fn now(&self) -> Time {
        self.now
    }

    fn tolerance(&self, _: Span) -> Tolerance {
        Tolerance { early: TICK, late: TICK }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Listen => self.stack.listen()?,
            Action::Connect => self.stack.connect()?,
            Action::Write(bytes) => self.waiting += u64::from(bytes),
            Action::Read(bytes) => {
                let mut buffer = vec![0; bytes as usize];
                let read =
                    self.stack.socket().recv_slice(&mut buffer).map_err(|e| e.to_string())?;
                if read < buffer.len() {
                    return Err(format!("{read} bytes were there to be read, not {bytes}"));
                }
            }
            Action::Shutdown | Action::Close => self.stack.socket().close(),
            Action::Abort => self.stack.socket().abort(),
        }
        self.poll()
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        let offset = segment.seq.0.wrapping_sub(PEER_ISS.0);
        let mut packet = Vec::new();
        let payload = |bytes: &mut [u8]| fill_pattern(Seq(offset), bytes);
        wire::emit(segment, &self.ends.reversed(), payload, &mut packet)
            .map_err(|e| format!("the segment has no wire format: {e}"))?;
        self.stack.receive(&packet);
        self.poll()
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        while self.out.is_empty() {
            let due = self.stack.deadline(self.now);
            if due > until {
                self.now = self.now.max(until);
                break;
            }
            if due <= self.now {
                self.poll()?;
                if self.out.is_empty() && self.stack.deadline(self.now) <= self.now {
                    self.now = (self.now + TICK).min(until.max(self.now));
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
        let socket = self.stack.socket();
        Ok(match at {
            Check::State(_) => Seen::State(ours(socket.state())),
            Check::Readable(_) => Seen::Number(socket.recv_queue() as u64),
            Check::Eof(_) => Seen::Answer(!socket.may_recv() && socket.recv_queue() == 0),
            Check::Cwnd(_)
            | Check::Ssthresh(_)
            | Check::Srtt(_)
            | Check::Rto(_)
            | Check::Error(_) => return Err("smoltcp does not tell".to_owned()),
        })
    }
}

fn ours(state: Theirs) -> State {
    match state {
        Theirs::Closed => State::Closed,
        Theirs::Listen => State::Listen,
        Theirs::SynSent => State::SynSent,
        Theirs::SynReceived => State::SynReceived,
        Theirs::Established => State::Established,
        Theirs::FinWait1 => State::FinWait1,
        Theirs::FinWait2 => State::FinWait2,
        Theirs::CloseWait => State::CloseWait,
        Theirs::Closing => State::Closing,
        Theirs::LastAck => State::LastAck,
        Theirs::TimeWait => State::TimeWait,
    }
}
