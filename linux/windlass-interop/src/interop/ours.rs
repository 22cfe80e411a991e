//! Windlass's end: a [`windlass_tcp::Endpoint`] that sends and receives complete packets.

use windlass_cc::Time;
use windlass_tcp::wire::{self, Addresses, Packet};
use windlass_tcp::{Endpoint, Failure, Flags, Profile, Segment, Seq, State};

use super::host::{Host, Passing, Stack, Standing};
use windlass_testbed::live::Error;

/// Marker of a byte that has not arrived. The pattern, modulo 251, does not contain this byte.
const HOLE: u8 = 255;
/// Distance between the first sequence numbers of consecutive connections. The kernel in TIME-WAIT accepts a
/// SYN with a number beyond the last connection's numbers (RFC 9293 section 3.10.7.4).
const NEXT_CONNECTION: u64 = 1 << 28;

/// A user-space TCP with one connection at a time.
pub(super) struct Ours {
    profile: Profile,
    /// Addresses from this end to the peer.
    addresses: Addresses,
    endpoint: Endpoint,
    /// The own first sequence number.
    iss: Seq,
    /// The peer's first sequence number, when known.
    irs: Option<Seq>,
    /// Arrived bytes of the peer's stream, by offset of the data.
    inbox: Vec<u8>,
    received: u64,
    wrong_at: Option<u64>,
    reading: bool,
    listens: bool,
    /// True if the application has ended the connection itself.
    dropped: bool,
    /// Number of earlier connections that have been open.
    opened_before: u32,
}

impl Ours {
    pub fn new(profile: Profile, addresses: Addresses, iss: Seq) -> Ours {
        Ours {
            endpoint: Endpoint::new(&profile, iss),
            profile,
            addresses,
            iss,
            irs: None,
            inbox: Vec::new(),
            received: 0,
            wrong_at: None,
            reading: true,
            listens: false,
            dropped: false,
            opened_before: 0,
        }
    }

    /// True if this is the SYN of a new connection and the last connection has ended.
    fn may_begin_again(&self, s: &Segment) -> bool {
        match self.endpoint.state() {
            State::Closed => s.flags.has(Flags::SYN) && !s.flags.has(Flags::ACK),
            State::TimeWait => self.endpoint.gives_way_to(s),
            _ => false,
        }
    }

    fn opened(&self) -> u32 {
        self.opened_before + u32::from(self.endpoint.was_established())
    }

    /// Replaces the endpoint of the last connection by a new endpoint.
    fn renew(&mut self) {
        self.opened_before = self.opened();
        self.iss = self.iss.add(NEXT_CONNECTION);
        self.endpoint = Endpoint::new(&self.profile, self.iss);
        self.irs = None;
        self.inbox.clear();
        self.received = 0;
        self.dropped = false;
    }

    /// Stores payload at its offset. Bytes that arrived first are kept, as in a stack that has already
    /// delivered them.
    fn keep(&mut self, segment: &Segment, payload: &[u8]) {
        let Some(irs) = self.irs else { return };
        let near = self.received + 1;
        let Some(start) = segment.seq.unwrap_near(irs, near).and_then(|n| n.checked_sub(1)) else {
            return;
        };
        let end = start as usize + payload.len();
        if self.inbox.len() < end {
            self.inbox.resize(end, HOLE);
        }
        for (place, byte) in self.inbox[start as usize..end].iter_mut().zip(payload) {
            if *place == HOLE {
                *place = *byte;
            }
        }
    }

    /// Reads from the endpoint. Every byte must have arrived in a packet, and equal the pattern.
    fn read(&mut self, now: Time) {
        let n = self.endpoint.read(&self.profile, now, u64::MAX);
        let mut wanted = vec![0; n as usize];
        wire::fill_pattern(Seq(self.received as u32), &mut wanted);
        let from = self.received as usize;
        for (i, byte) in wanted.iter().enumerate() {
            if self.inbox.get(from + i) != Some(byte) {
                self.wrong_at.get_or_insert(self.received + i as u64);
            }
        }
        self.received += n;
    }
}

impl Stack for Ours {
    fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    fn take(&mut self, now: Time, packet: &Packet<'_>) {
        let segment = &packet.segment;
        if self.listens && self.may_begin_again(segment) {
            self.renew();
            self.endpoint.listen();
        }
        let awaits = matches!(self.endpoint.state(), State::Listen | State::SynSent);
        self.endpoint.on_segment(&self.profile, now, segment);
        let begun =
            !matches!(self.endpoint.state(), State::Listen | State::SynSent | State::Closed);
        if awaits && begun {
            self.irs = Some(segment.seq);
        }
        self.keep(segment, packet.payload);
    }

    fn act(&mut self, now: Time, sent: &mut Vec<Passing>) -> Result<(), Error> {
        if self.endpoint.deadline() <= now {
            self.endpoint.on_deadline(&self.profile, now);
        }
        if self.reading {
            self.read(now);
        }
        while let Some(segment) = self.endpoint.poll_transmit(&self.profile, now) {
            let mut bytes = Vec::new();
            let offset = Seq(segment.seq.0.wrapping_sub(self.iss.0).wrapping_sub(1));
            let fill = |payload: &mut [u8]| wire::fill_pattern(offset, payload);
            wire::emit(&segment, &self.addresses, fill, &mut bytes)
                .map_err(|_| Error::Defect("wire format of the endpoint"))?;
            sent.push(Passing { path: 0, segment, option: None, bytes });
        }
        Ok(())
    }
}

impl Host for Ours {
    fn listen(&mut self) -> Result<(), Error> {
        self.listens = true;
        self.endpoint.listen();
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Error> {
        if self.endpoint.state() != State::Listen && self.endpoint.stats().segments_sent > 0 {
            self.renew();
        }
        self.endpoint.connect();
        Ok(())
    }

    fn offer(&mut self, bytes: u64) {
        self.endpoint.offer(bytes);
    }

    fn close(&mut self) {
        self.endpoint.close();
    }

    fn abort(&mut self) -> Result<(), Error> {
        self.dropped = true;
        self.endpoint.abort();
        Ok(())
    }

    fn vanish(&mut self) -> Result<(), Error> {
        self.renew();
        self.dropped = true;
        Ok(())
    }

    fn set_reading(&mut self, on: bool) {
        self.reading = on;
    }

    fn standing(&self) -> Standing {
        let failure = self.endpoint.failure().filter(|_| !self.dropped);
        let closed = matches!(self.endpoint.state(), State::Closed | State::TimeWait);
        Standing {
            opened: self.opened(),
            received: self.received,
            wrong_at: self.wrong_at,
            at_end: self.endpoint.at_end(),
            over: self.dropped || (closed && self.endpoint.was_established()),
            reset: failure == Some(Failure::Reset),
            failed: failure.filter(|f| *f != Failure::Reset).map(Failure::describe),
        }
    }
}
