//! Reductions of the window that turn out to be unfounded: RFC 5682, 3522 and 3708.

use windlass_cc::{Phase, Time, Undo, flags};

use super::Sender;
use super::summary::AckSummary;
use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile};

/// The spurious-retransmission detector: what would show that the last reduction was unfounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::endpoint) struct SpuriousDetector {
    /// F-RTO watches: nothing but the first segment was sent again since a timeout, at which
    /// everything below this had been sent.
    frto: Option<u64>,
    /// New data go out in place of retransmissions (RFC 5682 section 3.1 step 2b).
    prefer_new: bool,
    /// Timestamp from which on retransmissions were sent; until the first acknowledgement of new
    /// data.
    stamp: Option<u32>,
    /// SND.UNA at the reduction, while duplicates are counted against it.
    since: Option<u64>,
    /// Retransmissions since then that no duplicate was reported for.
    unexplained: u32,
}

impl SpuriousDetector {
    /// Whether new data go out in place of retransmissions.
    pub(in crate::endpoint) fn prefers_new(&self) -> bool {
        self.prefer_new
    }

    /// A segment was sent again.
    pub(super) fn note_resent(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }

    /// The same data timed out once more: RFC 5682 has nothing to say on that, and what else is
    /// watched for goes back to the first time.
    pub(in crate::endpoint) fn stop_judging_timeout(&mut self) {
        self.frto = None;
        self.prefer_new = false;
    }

    /// The window was reduced for another reason, which nothing shows to be unfounded; what shows that
    /// an earlier reduction was must not take this one back (`tcp_enter_cwr`).
    pub(in crate::endpoint) fn forget(&mut self) {
        *self = SpuriousDetector::default();
    }
}

impl Sender {
    /// What an acknowledgement shows, before it is counted.
    pub(super) fn find_spurious(&mut self, a: &AckSummary) -> Option<Undo> {
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        if a.acked > 0
            && let Some(stamp) = self.spurious.stamp.take()
            && repairing
            && let Some(echo) = a.echo
            && (echo.wrapping_sub(stamp) as i32) < 0
        {
            return Some(Undo::Eifel);
        }
        if self.judge_timeout(a) {
            return Some(Undo::Frto);
        }
        if let (Some(twice), Some(since)) = (a.dsack, self.spurious.since)
            && twice.0 >= since
            && self.spurious.unexplained > 0
        {
            self.spurious.unexplained -= 1;
            if self.spurious.unexplained == 0 {
                return Some(Undo::Dsack);
            }
        }
        None
    }

    /// RFC 5682 section 3.1: if the first acknowledgement after a timeout advances, new data go out
    /// in place of retransmissions. If the second brings data that were sent before the timeout and
    /// not since, the timeout was spurious. In all other cases it was not, or nobody can tell.
    fn judge_timeout(&mut self, a: &AckSummary) -> bool {
        let Some(sent) = self.spurious.frto.filter(|_| self.phase == Phase::Loss) else {
            return false;
        };
        let open = self.una < sent;
        let original = a.first_time.is_some_and(|start| start < sent);
        if open && self.spurious.prefer_new && original {
            return true;
        }
        self.spurious.prefer_new = open && a.acked > 0 && !self.spurious.prefer_new;
        if !self.spurious.prefer_new {
            self.spurious.frto = None;
        }
        false
    }
}

impl Endpoint {
    /// The window was reduced because something seemed lost; `judges` says that the timer did it and
    /// that F-RTO has a say.
    pub(in crate::endpoint) fn watch_for_spurious(&mut self, p: &Profile, now: Time, judges: bool) {
        if self.send.inflates() {
            return;
        }
        // An acknowledgement may answer what an earlier reduction sent again.
        let since = self.send.scoreboard.oldest_retransmission().unwrap_or(now);
        self.send.spurious = SpuriousDetector {
            frto: (judges && p.stack.frto).then_some(self.send.max),
            prefer_new: false,
            stamp: (p.stack.eifel && self.agreed.timestamps).then(|| Endpoint::timestamp(since)),
            since: (p.stack.dsack_undo && self.send.selective).then_some(self.send.una),
            unexplained: 0,
        };
    }

    /// The reduction is taken back; nothing is taken for lost that was not sent again.
    pub(super) fn undo(&mut self, p: &Profile, now: Time, why: Undo) {
        self.send.spurious.forget();
        self.send.scoreboard.forgive();
        self.send.retransmit_first = false;
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_undo(&p.params, &conn, why);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, Cause::Undo(why), self.send.phase, conn.flight_size);
        self.stats.undone += 1;
        // Recovery is over as soon as the acknowledgement has been counted.
        self.send.recover = self.send.recover.min(self.send.una);
    }
}
