//! Windlass's end of Multipath TCP: a [`windlass_tcp::mptcp::Connection`] that sends and receives complete
//! packets.

pub(super) mod rules;
pub(super) mod streams;

use std::net::SocketAddrV4;

use windlass_cc::Time;
use windlass_sim::addresses::FlowAddresses;
use windlass_tcp::mptcp::{Connection, MpOption, MultipathProfile, Numbers, Outgoing};
use windlass_tcp::wire::{self, Addresses, Packet};
use windlass_tcp::{Failure, Flags, Segment, Seq, State};

use super::Side;
use super::host::{Host, Passing, Stack, Standing};
use super::plan::{Multipath, Plan};
use streams::Stream;
use windlass_testbed::live::Error;

/// Marker of a byte that has not arrived. The pattern, modulo 251, does not contain this byte.
const HOLE: u8 = 255;
/// Upper limit of a stream's length, bytes. Mappings beyond it are ignored.
const LONGEST: u64 = 1 << 26;

/// A user-space Multipath TCP with one connection.
pub(super) struct Ours {
    profile: MultipathProfile,
    connection: Connection,
    /// Addresses of the connection's two ends.
    addresses: FlowAddresses,
    side: Side,
    client: bool,
    /// The peer's port and the own attempt, by path.
    ways: Vec<Way>,
    numbers: Numbers,
    /// True if mappings have checksums.
    checksums: bool,
    /// Data of the own stream and of the peer's stream.
    outbound: Stream,
    inbound: Stream,
    /// Arrived bytes of the peer's stream.
    inbox: Vec<u8>,
    received: u64,
    wrong_at: Option<u64>,
    reading: bool,
}

#[derive(Clone, Copy, Default)]
struct Way {
    /// The peer's address and port, when known.
    peer: Option<SocketAddrV4>,
    /// The active attempt, if this end is the client.
    attempt: u16,
}

impl Ours {
    pub fn new(plan: &Plan, multipath: &Multipath, side: Side, seed: u64) -> Result<Ours, Error> {
        let paths = vec![plan.profile(side); plan.paths().into()];
        let profile = MultipathProfile::new(multipath.config, paths)
            .map_err(|_| Error::Defect("set-up of a multipath connection"))?;
        let client = plan.client() == side;
        let connection = if client { Connection::client } else { Connection::server };
        Ok(Ours {
            connection: connection(&profile, seed),
            profile,
            addresses: plan.addresses(),
            side,
            client,
            ways: vec![Way::default(); plan.paths().into()],
            numbers: Numbers::default(),
            checksums: multipath.config.checksum,
            outbound: Stream::default(),
            inbound: Stream::default(),
            inbox: Vec::new(),
            received: 0,
            wrong_at: None,
            reading: true,
        })
    }

    /// Returns the path of an arrived packet; `None` if it does not belong to an active subflow.
    fn path_of(&mut self, packet: &Packet<'_>) -> Option<u8> {
        let (source, flags) = (packet.addresses.source, packet.segment.flags);
        for (path, way) in (0..).zip(&mut self.ways) {
            let attempt = if self.client { way.attempt } else { 0 };
            let ends = self.addresses.subflow(path, attempt).addresses(self.side == Side::Receiver);
            if self.client {
                if packet.addresses == ends {
                    return Some(path);
                }
            } else if source.ip() == ends.source.ip() {
                if flags.has(Flags::SYN) && !flags.has(Flags::ACK) {
                    way.peer = Some(source);
                }
                return (way.peer == Some(source)).then_some(path);
            }
        }
        None
    }

    /// Returns the addresses from this end to the peer, for a segment to send.
    fn way_to_peer(&mut self, out: &Outgoing) -> Addresses {
        let way = &mut self.ways[out.path];
        let attempt = if self.client { out.attempt } else { 0 };
        way.attempt = way.attempt.max(attempt);
        let ends = self.addresses.subflow(out.path as u8, attempt);
        let ends = ends.addresses(self.side == Side::Sender);
        match way.peer.filter(|_| !self.client) {
            Some(peer) => Addresses { destination: peer, ..ends },
            None => ends,
        }
    }

    /// Stores payload at its offset. Bytes that arrived first are kept, as in a stack that has already
    /// delivered them.
    fn keep(&mut self, path: u8, segment: &Segment, option: Option<&MpOption>, payload: &[u8]) {
        self.inbound.learn(path, segment, option);
        for piece in self.inbound.pieces(path, segment) {
            let end = piece.at.saturating_add(piece.len as u64);
            if end > LONGEST {
                continue;
            }
            if self.inbox.len() < end as usize {
                self.inbox.resize(end as usize, HOLE);
            }
            let places = &mut self.inbox[piece.at as usize..end as usize];
            for (place, byte) in places.iter_mut().zip(&payload[piece.from..]) {
                if *place == HOLE {
                    *place = *byte;
                }
            }
        }
    }

    /// Reads from the connection. Every byte must have arrived in a packet, and equal the pattern.
    fn read(&mut self, now: Time) {
        let n = self.connection.read(&self.profile, now, u64::MAX);
        let mut wanted = vec![0; n as usize];
        wire::fill_pattern(Seq(self.received as u32), &mut wanted);
        for (at, byte) in (self.received..).zip(&wanted) {
            if self.inbox.get(at as usize) != Some(byte) {
                self.wrong_at.get_or_insert(at);
            }
        }
        self.received += n;
    }

    fn emit(&mut self, out: &Outgoing) -> Result<Passing, Error> {
        let Outgoing { path, segment, option, .. } = *out;
        let path = path as u8;
        if let Some(option) = &option {
            self.numbers.sent(option);
        }
        self.outbound.learn(path, &segment, option.as_ref());
        let pieces = self.outbound.pieces(path, &segment);
        let fill = |payload: &mut [u8]| {
            for piece in pieces {
                let part = &mut payload[piece.from..piece.from + piece.len];
                wire::fill_pattern(Seq(piece.at as u32), part);
            }
        };
        let (checksums, ends) = (self.checksums, self.way_to_peer(out));
        let mut bytes = Vec::new();
        wire::emit_multipath(&segment, option.as_ref(), checksums, &ends, fill, &mut bytes)
            .map_err(|_| Error::Defect("wire format of the endpoint"))?;
        Ok(Passing { path, segment, option, bytes })
    }
}

impl Stack for Ours {
    fn deadline(&self) -> Time {
        self.connection.deadline()
    }

    fn take(&mut self, now: Time, packet: &Packet<'_>) {
        let Some(path) = self.path_of(packet) else { return };
        let signal = packet.multipath;
        self.checksums |= signal.is_some_and(|signal| signal.demands_checksums());
        let option = signal.map(|signal| self.numbers.complete(&signal));
        let (segment, option) = (&packet.segment, option.as_ref());
        self.connection.on_segment(&self.profile, now, path.into(), segment, option);
        if self.connection.fallen_back() {
            (self.inbound.first, self.outbound.first) = (None, None);
        }
        self.keep(path, segment, option, packet.payload);
    }

    fn act(&mut self, now: Time, sent: &mut Vec<Passing>) -> Result<(), Error> {
        if self.connection.deadline() <= now {
            self.connection.on_deadline(&self.profile, now);
        }
        if self.reading {
            self.read(now);
        }
        while let Some(out) = self.connection.poll_transmit(&self.profile, now) {
            sent.push(self.emit(&out)?);
        }
        Ok(())
    }
}

impl Host for Ours {
    fn listen(&mut self) -> Result<(), Error> {
        self.connection.listen();
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Error> {
        self.connection.connect();
        Ok(())
    }

    fn offer(&mut self, bytes: u64) {
        self.connection.offer(bytes);
    }

    fn close(&mut self) {
        self.connection.close();
    }

    fn abort(&mut self) -> Result<(), Error> {
        Err(Error::Defect("case that aborts the multipath connection, which is not supported,"))
    }

    fn vanish(&mut self) -> Result<(), Error> {
        Err(Error::Defect("case that deletes the multipath connection, which is not supported,"))
    }

    fn set_reading(&mut self, on: bool) {
        self.reading = on;
    }

    fn standing(&self) -> Standing {
        let connection = &self.connection;
        let over =
            |path| matches!(connection.subflow(path).state(), State::Closed | State::TimeWait);
        let failure = connection.failure();
        let opened = connection.was_established();
        Standing {
            opened: opened.into(),
            received: self.received,
            wrong_at: self.wrong_at,
            at_end: connection.at_end(),
            over: opened && (connection.is_closed() || (0..connection.paths()).all(over)),
            reset: failure == Some(Failure::Reset),
            failed: failure.filter(|f| *f != Failure::Reset).map(Failure::describe),
        }
    }
}
