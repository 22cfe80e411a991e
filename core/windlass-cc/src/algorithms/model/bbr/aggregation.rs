//! Acknowledgement aggregation (Linux): on links and with receivers that acknowledge in bursts, the
//! window needs room for the data sent between two bursts.

use crate::event::Conn;
use crate::time::{Rate, Time};

/// Maximum number of bytes per epoch.
const LONGEST_EPOCH: u64 = 1 << 30;

/// Excess of the acknowledged bytes over the bytes that the bandwidth explains: the maximum over the
/// current and the previous few rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Aggregation {
    epoch: Time,
    /// Bytes acknowledged in the epoch.
    acked: u64,
    current: u64,
    previous: u64,
    rounds: u8,
}

impl Aggregation {
    pub(super) const fn new(c: &Conn) -> Aggregation {
        Aggregation { epoch: c.now, acked: 0, current: 0, previous: 0, rounds: 0 }
    }

    /// Begins an epoch.
    pub(super) fn restart(&mut self, c: &Conn) {
        self.epoch = c.now;
        self.acked = 0;
    }

    /// Maximum number of bytes acknowledged in excess of the expected bytes.
    pub(super) fn max(&self) -> u64 {
        self.current.max(self.previous)
    }

    /// Ends a round; each maximum covers `window` rounds.
    pub(super) fn on_round(&mut self, window: u64) {
        self.rounds = self.rounds.saturating_add(1);
        if u64::from(self.rounds) >= window {
            self.rounds = 0;
            self.previous = self.current;
            self.current = 0;
        }
    }

    /// Counts `delivered` bytes; their excess is limited to `limit`.
    pub(super) fn on_acked(&mut self, c: &Conn, bw: Rate, delivered: u64, limit: u64) {
        let mut expected = bw.volume(c.now.since(self.epoch));
        if self.acked <= expected || self.acked.saturating_add(delivered) >= LONGEST_EPOCH {
            self.restart(c);
            expected = 0;
        }
        self.acked = self.acked.saturating_add(delivered);
        let extra = self.acked.saturating_sub(expected).min(limit);
        self.current = self.current.max(extra);
    }
}
