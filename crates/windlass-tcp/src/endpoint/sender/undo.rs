//! Reductions of the window that turn out to be unfounded: RFC 5682, 3522 and 3708.

use windlass_cc::{Flavour, Phase, Time, Undo, flags};

use super::Sender;
use super::summary::AckSummary;
use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile};

/// The spurious-retransmission detector: what would show that the last reduction was unfounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::endpoint) struct SpuriousDetector {
    /// F-RTO watches: nothing but the first segment was retransmitted since a timeout, at which
    /// everything below this had been sent.
    frto: Option<u64>,
    /// New data go out in place of retransmissions (RFC 5682 section 3.1 step 2b).
    prefer_new: bool,
    /// Timestamp from which on retransmissions were sent; by RFC 3522 until the first acknowledgement of new data, in
    /// Linux as long as the reduction can be taken back (`retrans_stamp`).
    stamp: Option<u32>,
    /// The last acknowledgement answers an original while retransmissions are under way: nothing is looked for or sent
    /// again until the next one.
    hold: bool,
    /// SND.UNA at the reduction, while duplicates are counted against it.
    since: Option<u64>,
    /// Retransmissions since then that no duplicate was reported for.
    unexplained: u32,
}

impl SpuriousDetector {
    /// Whether new data go out in place of retransmissions.
    pub(in crate::endpoint) fn prefers_new(&self) -> bool {
        self.prefer_new || self.hold
    }

    /// Whether losses are neither looked for nor repaired until the next acknowledgement.
    pub(in crate::endpoint) fn holds(&self) -> bool {
        self.hold
    }

    /// The timer expired while the window was reduced for a mark, which nothing takes back: F-RTO alone judges, everything
    /// below `sent` having been sent (`tcp_enter_loss`).
    pub(in crate::endpoint) fn judge_timeout_alone(&mut self, p: &Profile, sent: u64) {
        *self = SpuriousDetector::default();
        self.frto = p.stack.frto.then_some(sent);
    }

    /// A segment was retransmitted.
    pub(super) fn note_resent(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }

    /// The same data timed out once more, everything below `sent` having been sent: F-RTO judges again, and what else is
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
    pub(super) fn find_spurious(&mut self, p: &Profile, a: &AckSummary) -> Option<Undo> {
        self.spurious.hold = false;
        if a.acked > 0 && self.answers_original(a) {
            // `tcp_try_undo_partial`: with retransmissions under way only new data go on.
            self.spurious.hold = p.stack.rules == Flavour::Linux
                && self.phase == Phase::Recovery
                && self.una < self.recover
                && self.scoreboard.oldest_retransmission().is_some();
            if !self.spurious.hold {
                return Some(Undo::Eifel);
            }
        }
        if a.acked > 0 && p.stack.rules != Flavour::Linux {
            self.spurious.stamp = None; // RFC 3522 section 3.2: the first acknowledgement decides
        }
        if self.judge_timeout(a) {
            return Some(Undo::Frto);
        }
        if let (Some(twice), Some(since)) = (a.dsack, self.spurious.since)
            && twice.0 >= since
            && self.spurious.unexplained > 0
        {
            self.spurious.unexplained = self.spurious.unexplained.saturating_sub(a.explained);
            if self.spurious.unexplained == 0 {
                return Some(Undo::Dsack);
            }
        }
        None
    }

    /// Whether its timestamp was sent before anything was retransmitted (RFC 3522).
    fn answers_original(&self, a: &AckSummary) -> bool {
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let stamps = self.spurious.stamp.zip(a.echo);
        repairing && stamps.is_some_and(|(stamp, echo)| (echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// RFC 5682 section 3.1, as in Linux (`tcp_process_loss`): an acknowledgement of data that were sent before the
    /// timeout and not since shows that it was spurious, be it the first after the timeout (RFC 4138 appendix B; RFC 5682
    /// asks for the second). If the first advances over what was retransmitted alone, new data go out in place of
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
    /// The window was reduced because something seemed lost; `judges` states that the timer did it and
    /// that F-RTO has a say.
    pub(in crate::endpoint) fn watch_for_spurious(&mut self, p: &Profile, now: Time, judges: bool) {
        if self.send.inflates() {
            return;
        }
        // An acknowledgement may answer what an earlier reduction retransmitted.
        let since = self.send.scoreboard.oldest_retransmission().unwrap_or(now);
        self.send.spurious = SpuriousDetector {
            frto: (judges && p.stack.frto).then_some(self.send.max),
            prefer_new: false,
            stamp: (p.stack.eifel && self.agreed.timestamps).then(|| Endpoint::timestamp(since)),
            hold: false,
            since: (p.stack.dsack_undo && self.send.selective).then_some(self.send.una),
            // `tcp_init_undo`: what is under way may be reported to have come twice as well.
            unexplained: match p.stack.rules {
                Flavour::Linux => self.send.scoreboard.retransmissions(),
                _ => 0,
            },
        };
    }

    /// The reduction is taken back, and nothing is taken for lost.
    pub(super) fn undo(&mut self, p: &Profile, now: Time, why: Undo) {
        self.send.spurious.forget();
        // Reported duplicates say nothing of what has not been retransmitted (`tcp_undo_cwnd_reduction`).
        if p.stack.rules != Flavour::Linux || why != Undo::Dsack {
            self.send.scoreboard.forgive();
        }
        self.send.retransmit_first = false;
        let threshold = self.control.ssthresh;
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_undo(&p.params, &conn, why);
        self.control = self.cc.control(&p.params, &conn);
        if self.control.ssthresh > threshold {
            self.withdraw_reduction();
        }
        self.note(p, now, Cause::Undo(why), self.send.phase, conn.flight_size);
        self.stats.undone += 1;
        // Recovery is over as soon as the acknowledgement has been counted.
        self.send.recover = self.send.recover.min(self.send.una);
    }
}
