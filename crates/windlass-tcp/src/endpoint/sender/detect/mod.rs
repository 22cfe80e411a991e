//! What is lost: by counting what arrived after it, or by time.

mod rack;

use windlass_cc::recovery::Style;
use windlass_cc::{Phase, Time};

use crate::endpoint::{Endpoint, Profile};

pub(in crate::endpoint) use rack::Rack;

impl Endpoint {
    /// An acknowledgement has been counted, and has `advanced` or not.
    pub(super) fn find_losses(&mut self, p: &Profile, now: Time, advanced: bool) {
        if !p.stack.fast_retransmit {
            return;
        }
        if self.send.uses_rack(p) {
            return self.find_late(p, now);
        }
        let enough = self.send.dup_acks >= p.stack.dupthresh;
        if self.send.selective {
            for place in self.send.scoreboard.lost_by_count(p.stack.dupthresh, self.agreed.mss) {
                self.lose_original(p, now, place);
            }
            if enough && self.send.phase == Phase::Open {
                self.lose_original(p, now, 0);
            }
            return;
        }
        // RFC 6582 section 3.2 steps 2 and 3: duplicates up to `recover` may be echoes of what an
        // earlier recovery sent twice; a partial acknowledgement shows the next hole.
        let open = matches!(self.send.phase, Phase::Open | Phase::Cwr);
        let first = open && enough && self.send.una > self.send.recover;
        let partial = self.send.phase == Phase::Recovery
            && !self.send.ends_at_first_ack()
            && advanced
            && self.send.una < self.send.recover;
        if partial {
            self.send.partial_acks += 1;
            self.send.retransmit_first |= self.send.style == Style::NewReno;
        }
        let head_resent = self.send.scoreboard.get(0).is_some_and(|r| r.resent);
        if first || (partial && !head_resent) {
            self.lose(p, now, 0);
        }
    }
}
