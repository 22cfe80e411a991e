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

    /// The same data timed out once more, everything below `sent` having been sent: F-RTO judges anew, and what else is
    /// watched for goes back to the first time.
    pub(in crate::endpoint) fn judge_again(&mut self, p: &Profile, sent: u64) {
        self.frto = p.stack.frto.then_some(sent);
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

    /// RFC 5682 section 3.1, as Linux has it (`tcp_process_loss`): an acknowledgement of data that were sent before the
    /// timeout and not since shows that it was spurious, be it the first after the timeout (RFC 4138 appendix B; RFC 5682
    /// asks for the second). If the first advances over what was sent again alone, new data go out in place of
    /// retransmissions, to see what comes next.
    fn judge_timeout(&mut self, a: &AckSummary) -> bool {
        let Some(sent) = self.spurious.frto.filter(|_| self.phase == Phase::Loss) else {
            return false;
        };
        if a.first_time.is_some_and(|start| start < sent) {
            return true;
        }
        if self.spurious.prefer_new {
            self.spurious.frto = None; // the loss was real, or nobody can tell
        }
        self.spurious.prefer_new = !self.spurious.prefer_new && a.acked > 0 && self.una < sent;
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

    /// The reduction is taken back, and nothing is taken for lost.
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
