//! One path of a connection and the subflow on it.

use std::collections::VecDeque;

use windlass_cc::{CrossLayer, Time};

use crate::endpoint::{Endpoint, Profile, State, Stats};
use crate::seq::Seq;

/// State of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// No subflow exists, or the last subflow has ended.
    Idle,
    /// The connection's first handshake is in progress on this path.
    Opening,
    /// A handshake to join the connection is in progress.
    Joining,
    /// The subflow belongs to the connection.
    Ready,
}

/// A contiguous range of the subflow's bytes and its position in the connection's stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DssMapping {
    /// Offset of its first byte in the subflow's stream.
    pub(super) start: u64,
    /// Offset of its first byte in the connection's stream.
    pub(super) data: u64,
    pub(super) len: u64,
    /// True if it has been reinjected on other paths.
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
    /// Adds a piece above all others.
    // RFC 8684-3.3.1-1
    pub(super) fn push(&mut self, piece: DssMapping) {
        self.0.push_back(piece);
    }

    /// Inserts a piece in order. Known pieces are not changed.
    pub(super) fn insert(&mut self, piece: DssMapping) {
        let place = self.0.partition_point(|p| p.start <= piece.start);
        let known = place.checked_sub(1).and_then(|before| self.0.get(before));
        if known.is_none_or(|before| before.start < piece.start && before.end() < piece.end()) {
            self.0.insert(place, piece);
        }
    }

    /// The piece that contains a byte of the subflow.
    pub(super) fn at(&self, offset: u64) -> Option<&DssMapping> {
        let place = self.0.partition_point(|p| p.end() <= offset);
        self.0.get(place).filter(|p| p.start <= offset)
    }

    /// Removes pieces that end at or below this offset of the subflow.
    pub(super) fn forget_below(&mut self, offset: u64) {
        while self.0.front().is_some_and(|p| p.end() <= offset) {
            self.0.pop_front();
        }
    }

    /// Bytes from the start of the first piece to the end of the last piece.
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

    /// The piece that contains a byte of the connection's stream.
    pub(super) fn holding(&self, data: u64) -> Option<&DssMapping> {
        self.0.iter().find(|p| p.data <= data && data < p.data_end())
    }
}

/// A path and its subflow.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    pub(super) endpoint: Endpoint,
    pub(super) stage: Stage,
    /// Number of attempts on this path before the current attempt.
    pub(super) attempt: u16,
    /// True if an attempt has been made.
    pub(super) tried: bool,
    /// Random numbers of the join: this end's and the peer's.
    pub(super) nonce: u32,
    pub(super) peer_nonce: u32,
    /// Random numbers of the joins that the peer has tried on this path; the current join is last.
    pub(super) nonces_seen: Vec<u32>,
    /// True if the peer has responded to the third segment of the handshake.
    pub(super) confirmed: bool,
    /// Time of the next retransmission of the third segment.
    pub(super) confirm_at: Time,
    pub(super) confirm_shift: u32,
    /// True if the subflow is out of use after timeouts.
    pub(super) suspended: bool,
    /// True if more data wait that only this path's cwnd limits.
    pub(super) waiting: bool,
    /// Data sent and not acknowledged on the subflow.
    pub(super) sent: DssMappings,
    /// Mappings of the arriving data.
    pub(super) arrived: DssMappings,
    /// The connection has taken the bytes of the subflow's stream below this offset.
    pub(super) taken: u64,
    /// Time at which the path may be tried again.
    pub(super) retry_at: Time,
    /// Number of consecutive failures.
    pub(super) failures: u32,
    /// cwnd is not reduced again before this time.
    pub(super) penalty_over: Time,
    /// Counters at the connection's last check.
    pub(super) seen: Stats,
    /// Counters of the earlier subflows.
    pub(super) past: Stats,
    /// The lower layers' state of the path, for a scheduler that needs it.
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

    /// Replaces the last subflow by a new subflow.
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

    /// True if the subflow may carry new data.
    pub(super) fn is_usable(&self) -> bool {
        self.stage == Stage::Ready
            && self.confirmed
            && !self.suspended
            && self.endpoint.carries_data()
    }

    /// True if the subflow can still send a signal to the peer.
    pub(super) fn is_live(&self) -> bool {
        self.stage == Stage::Ready
            && !matches!(self.endpoint.state(), State::Closed | State::TimeWait)
    }

    pub(super) fn deadline(&self) -> Time {
        self.endpoint.deadline().min(self.confirm_at).min(self.retry_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: u64, data: u64, len: u64) -> DssMapping {
        DssMapping { start, data, len, repeated: false }
    }

    // RFC 8684-3.3.1-1
    #[test]
    fn arriving_mappings_are_sorted_and_a_known_mapping_is_not_replaced() {
        let mut m = DssMappings::default();
        for (start, data) in [(201, 5_001), (1, 1_001), (101, 9_001)] {
            m.insert(piece(start, data, 100));
        }
        m.insert(piece(101, 7_001, 100));
        m.insert(piece(101, 7_001, 50));
        m.insert(piece(150, 7_001, 51));
        assert_eq!(m.iter().map(|p| p.data).collect::<Vec<_>>(), [1_001, 9_001, 5_001]);
        m.insert(piece(301, 2_001, 10));
        assert_eq!((m.span(), m.iter().count()), (310, 4));
    }

    #[test]
    fn mapping_is_found_from_its_first_to_its_last_byte() {
        let mut m = DssMappings::default();
        m.push(piece(1, 1_001, 100));
        m.push(piece(201, 3_001, 100));
        let at = |offset| m.at(offset).map(|p| p.data);
        assert_eq!(
            [0, 1, 100, 101, 200, 201, 300, 301].map(at),
            [None, Some(1_001), Some(1_001), None, None, Some(3_001), Some(3_001), None]
        );
        let holding = |data| m.holding(data).map(|p| p.start);
        assert_eq!(
            [1_000, 1_001, 1_100, 1_101, 3_001].map(holding),
            [None, Some(1), Some(1), None, Some(201)]
        );
        assert_eq!(m.span(), 300);
        m.forget_below(100);
        assert_eq!(m.iter().count(), 2);
        m.forget_below(101);
        assert_eq!((m.iter().count(), m.span()), (1, 100));
        m.clear();
        assert_eq!(m.span(), 0);
    }
}
