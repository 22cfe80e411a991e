//! Reductions of the window that turn out to be unfounded: RFC 5682, 3522 and 3708.

use windlass_cc::{Phase, Time, Undo, flags};

use super::board::News;
use super::{Endpoint, Profile};
use crate::segment::Segment;

/// What would show that the last reduction was unfounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Evidence {
    /// F-RTO watches: nothing but the first segment was sent again since a timeout, at which
    /// everything below this had been sent.
    frto: Option<u64>,
    /// New data go out in place of retransmissions (RFC 5682 section 3.1 step 2b).
    pub(super) prefer_new: bool,
    /// Timestamp from which on retransmissions were sent; until the first acknowledgement of new
    /// data.
    stamp: Option<u32>,
    /// SND.UNA at the reduction, while duplicates are counted against it.
    since: Option<u64>,
    /// Retransmissions since then that no duplicate was reported for.
    unexplained: u32,
}

impl Endpoint {
    /// The window was reduced because something seemed lost; `judges` says that the timer did it and
    /// that F-RTO has a say.
    pub(super) fn watch_for_evidence(&mut self, p: &Profile, now: Time, judges: bool) {
        // An acknowledgement may answer what an earlier reduction sent again.
        let since = self.board.oldest_retransmission().unwrap_or(now);
        self.evidence = Evidence {
            frto: (judges && p.stack.frto).then_some(self.snd_max),
            prefer_new: false,
            stamp: (p.stack.eifel && self.timestamps).then(|| Endpoint::timestamp(since)),
            since: (p.stack.dsack_undo && self.sack).then_some(self.snd_una),
            unexplained: 0,
        };
    }

    /// The window was reduced for another reason, which nothing shows to be unfounded; what shows that
    /// an earlier reduction was must not take this one back (`tcp_enter_cwr`).
    pub(super) fn forget_evidence(&mut self) {
        self.evidence = Evidence::default();
    }

    /// The same data timed out once more: RFC 5682 has nothing to say on that, and what else is
    /// watched for goes back to the first time.
    pub(super) fn stop_judging_timeout(&mut self) {
        self.evidence.frto = None;
        self.evidence.prefer_new = false;
    }

    /// A segment was sent again.
    pub(super) fn note_resent(&mut self) {
        self.evidence.unexplained = self.evidence.unexplained.saturating_add(1);
    }

    /// What an acknowledgement shows, before it is counted.
    pub(super) fn find_evidence(&mut self, acked: bool, news: &News, s: &Segment) -> Option<Undo> {
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        if acked
            && let Some(stamp) = self.evidence.stamp.take()
            && repairing
            && let Some(t) = s.options.timestamps.filter(|t| t.echo != 0)
            && (t.echo.wrapping_sub(stamp) as i32) < 0
        {
            return Some(Undo::Eifel);
        }
        if self.judge_timeout(acked, news) {
            return Some(Undo::Frto);
        }
        if let (Some(twice), Some(since)) = (news.dsack, self.evidence.since)
            && twice.0 >= since
            && self.evidence.unexplained > 0
        {
            self.evidence.unexplained -= 1;
            if self.evidence.unexplained == 0 {
                return Some(Undo::Dsack);
            }
        }
        None
    }

    /// RFC 5682 section 3.1: if the first acknowledgement after a timeout advances, new data go out
    /// in place of retransmissions. If the second brings data that were sent before the timeout and
    /// not since, the timeout was spurious. In all other cases it was not, or nobody can tell.
    fn judge_timeout(&mut self, acked: bool, news: &News) -> bool {
        let Some(sent) = self.evidence.frto.filter(|_| self.phase == Phase::Loss) else {
            return false;
        };
        let open = self.snd_una < sent;
        let original = news.first_time.is_some_and(|start| start < sent);
        if open && self.evidence.prefer_new && original {
            return true;
        }
        self.evidence.prefer_new = open && acked && !self.evidence.prefer_new;
        if !self.evidence.prefer_new {
            self.evidence.frto = None;
        }
        false
    }

    /// The reduction is taken back; nothing is taken for lost that was not sent again.
    pub(super) fn undo(&mut self, p: &Profile, now: Time, why: Undo) {
        self.evidence = Evidence::default();
        self.board.forgive();
        self.retransmit_first = false;
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_undo(&p.params, &conn, why);
        self.control = self.cc.control(&p.params, &conn);
        self.stats.undone += 1;
        // Recovery is over as soon as the acknowledgement has been counted.
        self.recover = self.recover.min(self.snd_una);
    }
}
