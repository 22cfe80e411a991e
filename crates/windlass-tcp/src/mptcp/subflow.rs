//! One path of a connection and the subflow on it.

use std::collections::VecDeque;

use windlass_cc::{CrossLayer, Time};

use crate::endpoint::{Endpoint, Profile, State, Stats};
use crate::seq::Seq;

/// Where a path stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// No subflow, or the last one has ended.
    Idle,
    /// The connection's first handshake is under way here.
    Opening,
    /// A handshake to join the connection.
    Joining,
    /// The subflow belongs to the connection.
    Ready,
}

/// A run of the subflow's bytes and its place in the connection's stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DssMapping {
    /// Offset of its first byte in the subflow's stream.
    pub(super) start: u64,
    /// The same in the connection's.
    pub(super) data: u64,
    pub(super) len: u64,
    /// Has been given to the others too.
    pub(super) repeated: bool,
}

impl DssMapping {
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    pub(super) fn data_end(&self) -> u64 {
        self.data + self.len
    }
}

/// Mappings in the order of the subflow's stream.
#[derive(Clone, Debug, Default)]
pub(super) struct DssMappings(VecDeque<DssMapping>);

impl DssMappings {
    /// Adds a piece beyond all others.
    pub(super) fn push(&mut self, piece: DssMapping) {
        self.0.push_back(piece);
    }

    /// Adds a piece wherever it belongs; what is known already stays as it is.
    pub(super) fn insert(&mut self, piece: DssMapping) {
        let place = self.0.partition_point(|p| p.start <= piece.start);
        let known = place.checked_sub(1).and_then(|before| self.0.get(before));
        if known.is_none_or(|before| before.start < piece.start && before.end() < piece.end()) {
            self.0.insert(place, piece);
        }
    }

    /// The piece that a byte of the subflow belongs to.
    pub(super) fn at(&self, offset: u64) -> Option<&DssMapping> {
        let place = self.0.partition_point(|p| p.end() <= offset);
        self.0.get(place).filter(|p| p.start <= offset)
    }

    /// Forgets pieces that end at this offset of the subflow or before.
    pub(super) fn forget_below(&mut self, offset: u64) {
        while self.0.front().is_some_and(|p| p.end() <= offset) {
            self.0.pop_front();
        }
    }

    /// Bytes from the first piece to the last.
    pub(super) fn span(&self) -> u64 {
        let ends = self.0.front().zip(self.0.back());
        ends.map_or(0, |(first, last)| last.end() - first.start)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DssMapping> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut DssMapping> {
        self.0.iter_mut()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The piece that holds a byte of the connection's stream.
    pub(super) fn holding(&self, data: u64) -> Option<&DssMapping> {
        self.0.iter().find(|p| p.data <= data && data < p.data_end())
    }
}

/// A path and its subflow.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    pub(super) endpoint: Endpoint,
    pub(super) stage: Stage,
    /// Attempts on this path before the present one.
    pub(super) attempt: u16,
    /// An attempt has been made.
    pub(super) tried: bool,
    /// Random numbers of the join, our own and the peer's.
    pub(super) nonce: u32,
    pub(super) peer_nonce: u32,
    /// Random numbers of joins that the peer has tried here, the present one last.
    pub(super) nonces_seen: Vec<u32>,
    /// The peer has answered the third segment of the handshake.
    pub(super) confirmed: bool,
    /// When the third segment is retransmitted.
    pub(super) confirm_at: Time,
    pub(super) confirm_shift: u32,
    /// Out of use after timeouts.
    pub(super) suspended: bool,
    /// More waits that only this path's window keeps back.
    pub(super) waiting: bool,
    /// What was sent and is not acknowledged on the subflow.
    pub(super) sent: DssMappings,
    /// Mappings of what arrives.
    pub(super) arrived: DssMappings,
    /// Bytes of the subflow's stream below this are with the connection.
    pub(super) taken: u64,
    /// When the path may be tried again.
    pub(super) retry_at: Time,
    /// Failures in a row.
    pub(super) failures: u32,
    /// The window is not reduced again before this.
    pub(super) penalty_over: Time,
    /// Counters as they were when the connection last looked.
    pub(super) seen: Stats,
    /// Counters of the subflows before.
    pub(super) past: Stats,
    /// What the node's lower layers know of the path, for a scheduler that wants it.
    pub(super) layers: Option<CrossLayer>,
}

impl Subflow {
    pub(super) fn new(p: &Profile, iss: Seq) -> Subflow {
        Subflow {
            endpoint: Endpoint::new(p, iss),
            stage: Stage::Idle,
            attempt: 0,
            tried: false,
            nonce: 0,
            peer_nonce: 0,
            nonces_seen: Vec::new(),
            confirmed: false,
            confirm_at: Time::NEVER,
            confirm_shift: 0,
            suspended: false,
            waiting: false,
            sent: DssMappings::default(),
            arrived: DssMappings::default(),
            taken: 1,
            retry_at: Time::NEVER,
            failures: 0,
            penalty_over: Time::ZERO,
            seen: Stats::default(),
            past: Stats::default(),
            layers: None,
        }
    }

    /// A new subflow in the place of the last.
    pub(super) fn renew(&mut self, p: &Profile, iss: Seq, stage: Stage) {
        let fresh = Subflow::new(p, iss);
        let past = self.total();
        let old = std::mem::replace(self, fresh);
        self.past = past;
        self.attempt = old.attempt.wrapping_add(u16::from(old.tried));
        self.tried = true;
        self.failures = old.failures;
        self.nonces_seen = old.nonces_seen;
        self.stage = stage;
        self.endpoint.go_on_with(old.endpoint);
    }

    /// Counters of all subflows of this path.
    pub(super) fn total(&self) -> Stats {
        self.past.plus(self.endpoint.stats())
    }

    /// Whether new data may go on it.
    pub(super) fn is_usable(&self) -> bool {
        self.stage == Stage::Ready
            && self.confirmed
            && !self.suspended
            && self.endpoint.carries_data()
    }

    /// Whether it can still say something to the peer.
    pub(super) fn is_live(&self) -> bool {
        self.stage == Stage::Ready
            && !matches!(self.endpoint.state(), State::Closed | State::TimeWait)
    }

    pub(super) fn deadline(&self) -> Time {
        self.endpoint.deadline().min(self.confirm_at).min(self.retry_at)
    }
}
