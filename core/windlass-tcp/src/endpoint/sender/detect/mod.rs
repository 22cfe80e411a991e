//! Loss detection, by counting the data that arrived after the loss, or by time.

mod rack;
mod tail_probe;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Phase, Time};

use super::Sender;
use crate::decision::LossRule;
use crate::endpoint::{Endpoint, Profile};

pub(in crate::endpoint) use rack::Rack;

impl Sender {
    /// Processes an acknowledgement of new data in recovery. Returns true if it is a partial acknowledgement
    /// that shows a hole not retransmitted yet.
    fn misses_next_hole(&mut self) -> bool {
        if self.ends_at_first_ack() || self.una >= self.recover {
            return false;
        }
        self.partial_acks += 1;
        self.retransmit_first |= self.recovery == LossRecovery::NewReno;
        !self.scoreboard.get(0).is_some_and(|r| r.resent)
    }
}

impl Endpoint {
    /// Detects losses after an undo that ended a recovery before all of its data were acknowledged. Without SACK, enough
    /// duplicates before it show a loss of the next segment (`tcp_newreno_mark_lost`).
    pub(in crate::endpoint) fn find_losses_after_undo(&mut self, p: &Profile, now: Time) {
        let enough = u64::from(p.stack.dupthresh) * u64::from(self.agreed.mss);
        if self.send.selective {
            self.find_losses(p, now, true);
        } else if p.stack.fast_retransmit && self.send.scoreboard.sacked() >= enough {
            self.lose(p, now, 0, LossRule::Duplicates);
        }
    }

    /// Detects losses after an acknowledgement has been counted. `advanced` is true if it acknowledged new
    /// data.
    // RFC 5681-3.2-3
    pub(in crate::endpoint) fn find_losses(&mut self, p: &Profile, now: Time, advanced: bool) {
        if !p.stack.fast_retransmit {
            return;
        }
        // RFC 8985-9.2-1
        if self.send.uses_rack(p) {
            return self.find_late(p, now);
        }
        let enough = self.send.dup_acks >= p.stack.dupthresh;
        if self.send.selective {
            // RFC 6675-5-4
            for place in self.send.scoreboard.lost_by_count(p.stack.dupthresh, self.agreed.mss) {
                self.lose_original(p, now, place, LossRule::Count);
            }
            if enough && self.send.phase == Phase::Open {
                self.lose_original(p, now, 0, LossRule::Duplicates);
            }
            return;
        }
        // RFC 6582 section 3.2 steps 2 and 3: duplicates up to `recover` may result from retransmissions of
        // an earlier recovery. A partial acknowledgement shows the next hole.
        let (lost, rule) = match self.send.phase {
            Phase::Open | Phase::Cwr => {
                (enough && self.send.una > self.send.recover, LossRule::Duplicates)
            }
            Phase::Recovery => (advanced && self.send.misses_next_hole(), LossRule::Partial),
            Phase::Loss => return,
        };
        if lost {
            self.lose(p, now, 0, rule);
        }
    }
}
