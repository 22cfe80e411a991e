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
        if self.uses_rack(p) {
            return self.find_late(p, now);
        }
        let enough = self.dup_acks >= p.stack.dupthresh;
        if self.selective {
            for place in self.scoreboard.lost_by_count(p.stack.dupthresh, self.mss) {
                self.lose_original(p, now, place);
            }
            if enough && self.phase == Phase::Open {
                self.lose_original(p, now, 0);
            }
            return;
        }
        // RFC 6582 section 3.2 steps 2 and 3: duplicates up to `recover` may be echoes of what an
        // earlier recovery sent twice; a partial acknowledgement shows the next hole.
        let open = matches!(self.phase, Phase::Open | Phase::Cwr);
        let first = open && enough && self.snd_una > self.recover;
        let partial = self.phase == Phase::Recovery
            && !self.ends_at_first_ack()
            && advanced
            && self.snd_una < self.recover;
        if partial {
            self.partial_acks += 1;
            self.retransmit_first |= self.style == Style::NewReno;
        }
        let head_resent = self.scoreboard.get(0).is_some_and(|r| r.resent);
        if first || (partial && !head_resent) {
            self.lose(p, now, 0);
        }
    }
}
