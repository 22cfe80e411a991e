//! Undo of unnecessary reductions of cwnd: RFC 5682, 3522 and 3708.

use windlass_cc::{Flavour, Phase, Time, Undo, flags};

use super::Sender;
use super::summary::AckSummary;
use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile};

/// The spurious-retransmission detector: state that can show that the last reduction was unnecessary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::endpoint) struct SpuriousDetector {
    /// F-RTO is active: only the first segment was retransmitted since a timeout. Everything below this
    /// offset had been sent at the timeout.
    frto: Option<u64>,
    /// True if new data are sent instead of retransmissions (RFC 5682 section 3.1 step 2b).
    prefer_new: bool,
    /// Timestamp of the first retransmission. It is valid until the first acknowledgement of new data by RFC
    /// 3522, and in Linux as long as the reduction can be undone (`retrans_stamp`).
    stamp: Option<u32>,
    /// The last acknowledgement is for an original while retransmissions are in flight. Until the next
    /// acknowledgement or timeout, no losses are detected and no data are retransmitted.
    hold: bool,
    /// SND.UNA at the reduction, while duplicates are counted.
    since: Option<u64>,
    /// Retransmissions since the reduction for which no duplicate was reported.
    unexplained: u32,
    /// True if the latest undo ended a recovery before all of its data were acknowledged
    /// (`tcp_try_undo_partial`).
    partial: bool,
}

impl SpuriousDetector {
    /// True if new data are sent instead of retransmissions.
    pub(in crate::endpoint) fn prefers_new(&self) -> bool {
        self.prefer_new || self.hold
    }

    /// True if the latest undo ended a recovery before all of its data were acknowledged.
    pub(in crate::endpoint) fn was_partial(&self) -> bool {
        self.partial
    }

    /// True if losses are neither detected nor repaired until the next acknowledgement.
    pub(in crate::endpoint) fn holds(&self) -> bool {
        self.hold
    }

    /// The timer expired during a reduction for a mark, which cannot be undone. Only F-RTO is active.
    /// Everything below `sent` had been sent (`tcp_enter_loss`).
    pub(in crate::endpoint) fn judge_timeout_alone(&mut self, p: &Profile, sent: u64) {
        *self = SpuriousDetector::default();
        self.frto = p.stack.frto.then_some(sent);
    }

    /// Processes an acknowledgement of new data without duplicates, outside of a reduction for a loss. The rules
    /// are those of [`find_spurious`](Sender::find_spurious).
    #[inline]
    pub(in crate::endpoint) fn note_plain_acknowledgement(&mut self, linux: bool) {
        self.hold = false;
        if !linux {
            self.stamp = None;
        }
    }

    /// The retransmission timer expired: what waited for an acknowledgement waits no longer.
    pub(in crate::endpoint) fn end_hold(&mut self) {
        self.hold = false;
    }

    /// Notes a retransmission.
    pub(super) fn note_resent(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }

    /// The same data timed out once more, when everything below `sent` had been sent. F-RTO starts again. The
    /// other detectors keep their state from the first timeout.
    pub(in crate::endpoint) fn judge_again(&mut self, p: &Profile, sent: u64) {
        self.frto = p.stack.frto.then_some(sent);
        self.prefer_new = false;
    }

    /// cwnd was reduced for a reason that is always valid. The detector is reset, so that proof about an
    /// earlier reduction does not undo this reduction (`tcp_enter_cwr`).
    pub(in crate::endpoint) fn forget(&mut self) {
        *self = SpuriousDetector::default();
    }
}

impl Sender {
    /// Proof in an acknowledgement, before it is counted, that the last reduction was unnecessary.
    pub(super) fn find_spurious(&mut self, p: &Profile, a: &AckSummary) -> Option<Undo> {
        self.spurious.hold = false;
        // A recovery that began during the response to a mark may end without new data.
        let ends = p.stack.rules == Flavour::Linux && self.selective && self.has_recovered();
        if (a.acked > 0 || ends) && self.answers_original(a) {
            // `tcp_try_undo_partial`: with retransmissions in flight only new data are sent.
            self.spurious.hold = p.stack.rules == Flavour::Linux
                && self.phase == Phase::Recovery
                && self.una < self.recover
                && self.scoreboard.oldest_retransmission().is_some();
            if !self.spurious.hold {
                return Some(Undo::Eifel);
            }
        }
        if a.acked > 0 && p.stack.rules != Flavour::Linux {
            self.spurious.stamp = None; // RFC 3522 section 3.2: only the first acknowledgement counts
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

    /// True if an acknowledgement before the end of a recovery shows in Linux that it was unnecessary.
    pub(super) fn is_refuted_early(&self, p: &Profile, proof: Option<Undo>) -> bool {
        p.stack.rules == Flavour::Linux
            && self.phase == Phase::Recovery
            && self.una < self.recover
            && (self.spurious.hold || proof == Some(Undo::Eifel))
    }

    /// True if the echoed timestamp is older than the first retransmission (RFC 3522).
    fn answers_original(&self, a: &AckSummary) -> bool {
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let stamps = self.spurious.stamp.zip(a.echo);
        repairing && stamps.is_some_and(|(stamp, echo)| (echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// RFC 5682 section 3.1, as in Linux (`tcp_process_loss`). An acknowledgement of data that were sent
    /// before the timeout and not since shows that the timeout was spurious. The first acknowledgement after
    /// the timeout suffices (RFC 4138 appendix B; RFC 5682 requires the second). If the first acknowledgement
    /// covers only retransmitted data, new data are sent instead of retransmissions, and the next
    /// acknowledgement decides.
    fn judge_timeout(&mut self, a: &AckSummary) -> bool {
        let Some(sent) = self.spurious.frto.filter(|_| self.phase == Phase::Loss) else {
            return false;
        };
        if a.first_time.is_some_and(|start| start < sent) {
            return true;
        }
        if self.spurious.prefer_new {
            self.spurious.frto = None; // the loss was real, or the result is unknown
        }
        self.spurious.prefer_new = !self.spurious.prefer_new && a.acked > 0 && self.una < sent;
        false
    }
}

impl Endpoint {
    /// Starts the detector after a reduction for a supposed loss. `judges` is true if the retransmission
    /// timer caused the reduction and F-RTO may be used.
    pub(in crate::endpoint) fn watch_for_spurious(&mut self, p: &Profile, now: Time, judges: bool) {
        if self.send.inflates() {
            return;
        }
        // An acknowledgement may be for a retransmission of an earlier reduction.
        let since = self.send.scoreboard.oldest_retransmission().unwrap_or(now);
        self.send.spurious = SpuriousDetector {
            frto: (judges && p.stack.frto).then_some(self.send.max),
            prefer_new: false,
            stamp: (p.stack.eifel && self.agreed.timestamps).then(|| Endpoint::timestamp(since)),
            hold: false,
            since: (p.stack.dsack_undo && self.send.selective).then_some(self.send.una),
            // `tcp_init_undo`: the receiver may also report retransmissions and a probe in flight as duplicates.
            unexplained: match p.stack.rules {
                Flavour::Linux => {
                    let probe = u32::from(self.send.rack.repeats());
                    self.send.scoreboard.retransmissions() + probe
                }
                _ => 0,
            },
            partial: false,
        };
    }

    /// Undoes the reduction, and removes all loss marks.
    #[cold]
    pub(super) fn undo(&mut self, p: &Profile, now: Time, why: Undo) {
        let linux = p.stack.rules == Flavour::Linux;
        self.send.spurious.forget();
        self.send.spurious.partial = self.send.is_refuted_early(p, Some(why));
        // Reported duplicates give no information about data that were not retransmitted, and the end of a recovery none
        // about data sent since (`tcp_undo_cwnd_reduction`).
        if !linux || why != Undo::Dsack && !self.send.has_recovered() {
            // Linux takes a segment off RACK's list when RACK marks it (`tcp_rack_detect_loss`), and an undo does not
            // put it back.
            let once = linux && self.send.phase == Phase::Recovery;
            self.send.scoreboard.forgive(once);
        }
        self.send.retransmit_first = false;
        let threshold = self.control.ssthresh;
        let conn = self.conn(now, flags::CWND_LIMITED | self.confirmation(p));
        self.cc.on_undo(&p.params, &conn, why);
        self.control = self.cc.control(&p.params, &conn);
        if self.control.ssthresh > threshold {
            self.withdraw_reduction();
        }
        self.note(p, now, Cause::Undo(why), self.send.phase, conn.flight_size);
        self.stats.undone += 1;
        // Recovery ends when the acknowledgement has been counted.
        self.send.recover = self.send.recover.min(self.send.una);
    }
}
