//! One end of a multipath connection.

use windlass_cc::Time;

use super::config::MultipathProfile;
use super::option::MpOption;
use super::stats::MultipathStats;
use crate::endpoint::{Endpoint, Failure, State, Stats};
use crate::segment::Segment;
use crate::seq::Seq;

/// A segment that leaves on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The path.
    pub path: usize,
    /// Which attempt of the path's it belongs to, from 0: each has a port of its own.
    pub attempt: u16,
    /// The segment.
    pub segment: Segment,
    /// The option of Multipath TCP that it carries.
    pub option: Option<MpOption>,
}

impl Outgoing {
    /// Size of the IPv4 packet that carries the segment, bytes.
    pub fn ip_len(&self) -> u32 {
        self.segment.ip_len() + self.option.map_or(0, |o| option_len(&o))
    }
}

/// Length of an option on the wire, bytes, padded to a multiple of four.
fn option_len(o: &MpOption) -> u32 {
    let len: u32 = match o {
        MpOption::Capable { data_len: Some(_), .. } => 22,
        MpOption::Capable { receiver_key: Some(_), .. } => 20,
        MpOption::Capable { sender_key: Some(_), .. } => 12,
        MpOption::Capable { .. } => 4,
        MpOption::JoinSyn { .. } => 12,
        MpOption::JoinSynAck { .. } => 16,
        MpOption::JoinAck { .. } => 24,
        MpOption::Dss(d) => {
            4 + if d.data_ack.is_some() { 8 } else { 0 } + if d.mapping.is_some() { 14 } else { 0 }
        }
        MpOption::AddAddress { hmac, .. } => 8 + if hmac.is_some() { 8 } else { 0 },
        MpOption::RemoveAddress { .. } | MpOption::Priority { .. } | MpOption::Reset { .. } => 4,
        MpOption::Fail { .. } | MpOption::FastClose { .. } => 12,
    };
    len.next_multiple_of(4)
}

/// One end of a multipath connection, without input or output.
#[derive(Clone, Debug)]
pub struct Connection {
    subflows: Vec<Endpoint>,
    stats: MultipathStats,
}

impl Connection {
    /// The end that opens the connection. Keys, random numbers and sequence numbers are drawn from
    /// the seed.
    pub fn client(p: &MultipathProfile, seed: u64) -> Connection {
        let subflows = p.paths().iter().zip(seed..).map(|(p, s)| Endpoint::new(p, Seq(s as u32)));
        Connection { subflows: subflows.collect(), stats: MultipathStats::default() }
    }

    /// The end that waits for it.
    pub fn server(p: &MultipathProfile, seed: u64) -> Connection {
        Connection::client(p, seed)
    }

    /// Active open.
    pub fn connect(&mut self) {
        self.subflows[0].connect();
    }

    /// Passive open.
    pub fn listen(&mut self) {
        self.subflows[0].listen();
    }

    /// Offers `bytes` more to send.
    pub fn offer(&mut self, bytes: u64) {
        self.subflows[0].offer(bytes);
    }

    /// No more data will be offered.
    pub fn close(&mut self) {
        self.subflows[0].close();
    }

    /// Bytes that have arrived in order and not been read.
    pub fn readable(&self) -> u64 {
        self.subflows[0].readable()
    }

    /// Reads up to `max` bytes.
    pub fn read(&mut self, p: &MultipathProfile, max: u64) -> u64 {
        self.subflows[0].read(p.path(0), max)
    }

    /// Whether the peer has closed its side and everything before that has been read.
    pub fn at_end(&self) -> bool {
        self.subflows[0].at_end()
    }

    /// Whether all offered data has been acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.subflows[0].all_acknowledged()
    }

    /// Whether the handshake of the first subflow has completed at some time.
    pub fn was_established(&self) -> bool {
        self.subflows[0].was_established()
    }

    /// Whether nothing is left to do: both directions are closed, or the connection has failed.
    pub fn is_closed(&self) -> bool {
        self.subflows.iter().all(|s| s.state() == State::Closed)
    }

    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.subflows[0].failure()
    }

    /// Data bytes acknowledged by the peer.
    pub fn acknowledged(&self) -> u64 {
        self.subflows[0].acknowledged()
    }

    /// Data bytes received in order.
    pub fn received(&self) -> u64 {
        self.subflows[0].received()
    }

    /// A segment arrived on a path, with this option of Multipath TCP.
    pub fn on_segment(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        path: usize,
        s: &Segment,
        _option: Option<&MpOption>,
    ) {
        self.subflows[path].on_segment(p.path(path), now, s);
    }

    /// When [`on_deadline`](Connection::on_deadline) must be called.
    pub fn deadline(&self) -> Time {
        self.subflows.iter().map(Endpoint::deadline).min().unwrap_or(Time::NEVER)
    }

    /// A deadline has come.
    pub fn on_deadline(&mut self, p: &MultipathProfile, now: Time) {
        for (subflow, p) in self.subflows.iter_mut().zip(p.paths()) {
            subflow.on_deadline(p, now);
        }
    }

    /// The next segment to send now.
    pub fn poll_transmit(&mut self, p: &MultipathProfile, now: Time) -> Option<Outgoing> {
        let paths = self.subflows.iter_mut().zip(p.paths()).enumerate();
        for (path, (subflow, p)) in paths {
            if let Some(segment) = subflow.poll_transmit(p, now) {
                return Some(Outgoing { path, attempt: 0, segment, option: None });
            }
        }
        None
    }

    /// The subflow on a path, as it is or was last.
    pub fn subflow(&self, path: usize) -> &Endpoint {
        &self.subflows[path]
    }

    /// Number of paths.
    pub fn paths(&self) -> usize {
        self.subflows.len()
    }

    /// Counters of all subflows that a path has had, together.
    pub fn path_stats(&self, path: usize) -> Stats {
        *self.subflows[path].stats()
    }

    /// Counters above the subflows.
    pub fn stats(&self) -> &MultipathStats {
        &self.stats
    }

    /// Whether the connection is a plain one, since an end or a box on the way does not speak
    /// Multipath TCP.
    pub fn fallen_back(&self) -> bool {
        true
    }

    /// What the connection's coordinator decided for a path.
    pub fn mode(&self, _path: usize) -> u8 {
        0
    }
}
