//! Loss detection by time: RFC 8985, RACK.

use windlass_cc::{Ack, Flavour, Phase, Span, Time, flags};

use crate::decision::{Cause, LossRule};
use crate::endpoint::sender::Sender;
use crate::endpoint::sender::summary::AckSummary;
use crate::endpoint::{Endpoint, Profile};
use crate::scoreboard::Record;
use crate::stack::LossDetection;

/// RFC 8985 section 6.2 step 4: number of recoveries without a reported duplicate after which a wider
/// reordering window ends.
const PERSIST: u32 = 16;
/// Linux's `TCP_TIMEOUT_MIN_US`.
pub(super) const TIMER_SLACK: Span = Span::from_millis(2);
/// Linux's `tcp_max_reordering`, segments.
const MAX_REORDERING: u64 = 300;

/// State of RACK of a connection (RFC 8985 section 5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::endpoint) struct Rack {
    /// The delivered segment that was sent last: its sending time, and the offset of its end.
    sent: Time,
    end: u64,
    /// RTT of the segment that was delivered last.
    rtt: Span,
    /// Highest offset delivered.
    fack: u64,
    /// `fack` before the current acknowledgement.
    fack_before: u64,
    reordering_seen: bool,
    /// Lowest offset that the current acknowledgement delivers out of order.
    reordered_from: u64,
    /// Maximum reordering so far, segments; zero without reordering (`tp->reordering`).
    reordering: u32,
    /// Number of segments that the peer has reported as duplicates (`dsack_dups`).
    pub(in crate::endpoint) duplicates: u32,
    /// True if the current acknowledgement shows that a retransmission is lost.
    pub(in crate::endpoint) lost_again: bool,
    /// Size of the reordering window, quarters of the minimum RTT.
    window_mult: u32,
    window_persist: u32,
    /// End of the RTT in which duplicates were last reported.
    dsack_round: Option<u64>,
    /// True if reported duplicates have not widened the reordering window yet (Linux's `dsack_seen`).
    dsack_pending: bool,
    /// Time of the last widening in Linux.
    widened_at: Time,
    /// Latest sending time of the segments that the current acknowledgement delivers.
    newest: Time,
    /// Time at which a segment will be late.
    pub(in crate::endpoint) deadline: Time,
    /// Time at which a probe will be due.
    pub(in crate::endpoint) probe_deadline: Time,
    pub(in crate::endpoint) probe_now: bool,
    /// The probe in flight: the end of all data sent, and true if the probe was a retransmission.
    pub(super) probe: Option<(u64, bool)>,
    /// True if an RTT sample has been taken since the last probe.
    pub(in crate::endpoint) sampled: bool,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            sent: Time::ZERO,
            end: 0,
            rtt: Span::ZERO,
            fack: 0,
            fack_before: 0,
            reordering_seen: false,
            reordered_from: u64::MAX,
            reordering: 0,
            duplicates: 0,
            lost_again: false,
            window_mult: 1,
            window_persist: 0,
            dsack_round: None,
            dsack_pending: false,
            widened_at: Time::ZERO,
            newest: Time::ZERO,
            deadline: Time::NEVER,
            probe_deadline: Time::NEVER,
            probe_now: false,
            probe: None,
            sampled: false,
        }
    }
}

impl Rack {
    /// State of a new connection; `sampled` is true if the handshake gave an RTT sample.
    pub(in crate::endpoint) fn new(sampled: bool) -> Rack {
        Rack { sampled, ..Rack::default() }
    }

    /// Stops the timers.
    pub(in crate::endpoint) fn stop(&mut self) {
        self.deadline = Time::NEVER;
        self.probe_deadline = Time::NEVER;
        self.probe_now = false;
    }

    /// Section 7.1: removes the probe, because recovery has begun.
    pub(in crate::endpoint) fn forget_probe(&mut self) {
        self.probe = None;
        self.probe_deadline = Time::NEVER;
        self.probe_now = false;
    }

    /// True if a probe is in flight whose result is not known yet.
    pub(in crate::endpoint) fn probes(&self) -> bool {
        self.probe.is_some()
    }

    /// True if the probe in flight is a retransmission.
    pub(in crate::endpoint) fn repeats(&self) -> bool {
        self.probe.is_some_and(|(_, again)| again)
    }

    /// True if no probe or round of duplicates is open, and nothing beyond `una` was delivered.
    #[inline]
    pub(in crate::endpoint) fn is_smooth(&self, una: u64) -> bool {
        self.probe.is_none()
            && self.dsack_round.is_none()
            && !self.dsack_pending
            && self.fack <= una
    }

    /// Processes an acknowledgement that delivers only segments in order, each sent once; `last` is the last of them.
    #[inline]
    pub(in crate::endpoint) fn on_delivered_in_order(&mut self, now: Time, last: &Record) {
        self.begin_acknowledgement();
        self.fack = last.end();
        self.newest = last.last_sent;
        self.rtt = now.since(last.last_sent);
        // RFC 8985-6.2-3
        if (last.last_sent, last.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (last.last_sent, last.end());
        }
    }

    /// Notes in Linux a reported duplicate that ends at `end`. Linux ignores duplicates of a tail loss probe, and all duplicates
    /// before the first reordering (`tcp_dsack_seen`).
    pub(in crate::endpoint) fn note_duplicate(&mut self, end: u64) {
        let of_probe = self.probe.is_some_and(|(sent_to, _)| sent_to == end);
        self.dsack_pending |= self.reordering_seen && !of_probe;
    }

    /// Widens the reordering window for duplicates that were reported, at the next acknowledgement that delivers data
    /// sent since the last widening (`tcp_rack_update_reo_wnd`).
    fn widen_as_linux(&mut self, now: Time) {
        if self.newest == Time::ZERO {
            return;
        }
        let pending = std::mem::take(&mut self.dsack_pending);
        if pending && self.newest >= self.widened_at {
            self.widened_at = now;
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.window_mult = self.window_mult.saturating_add(1);
        self.window_persist = PERSIST;
    }

    /// Prepares for the next acknowledgement.
    pub(in crate::endpoint) fn begin_acknowledgement(&mut self) {
        self.fack_before = self.fack;
        self.reordered_from = u64::MAX;
        self.lost_again = false;
        self.newest = Time::ZERO;
    }

    /// Notes that the segment at `start` was reordered and not lost.
    pub(in crate::endpoint) fn note_reordering(&mut self, start: u64) {
        self.reordering_seen = true;
        self.reordered_from = self.reordered_from.min(start);
    }

    /// Measures the reordering after all deliveries of an acknowledgement are processed
    /// (`tcp_check_sack_reordering`).
    pub(in crate::endpoint) fn measure_reordering(&mut self, una: u64, mss: u32) {
        let highest = self.fack.max(una);
        if self.reordered_from < highest {
            let segments = (highest - self.reordered_from).div_ceil(u64::from(mss));
            self.reordering = self.reordering.max(segments.min(MAX_REORDERING) as u32);
        }
    }

    /// Lowers the reordering estimate after a timeout (`tcp_enter_loss`).
    pub(in crate::endpoint) fn expect_less_reordering(&mut self, dupthresh: u32) {
        self.reordering = self.reordering.min(dupthresh);
    }

    /// Section 6.2 steps 2 and 3: processes a delivered segment. `echo_is_older` is true if the timestamp of
    /// the acknowledgement belongs to an earlier transmission. The segments of one acknowledgement have no
    /// order. A segment is reordered if it is below the highest offset delivered before this acknowledgement.
    pub(in crate::endpoint) fn on_delivered(
        &mut self,
        now: Time,
        r: &Record,
        min_rtt: Span,
        echo_is_older: impl Fn(Time) -> bool,
    ) {
        let again = r.transmissions > 1;
        // RFC 8985-6.2-4
        if r.end() <= self.fack_before && !again {
            self.note_reordering(r.start);
        }
        self.fack = self.fack.max(r.end());
        self.newest = self.newest.max(r.last_sent);
        let rtt = now.since(r.last_sent);
        // RFC 8985-6.2-2
        let other = again && (echo_is_older(r.last_sent) || (min_rtt.is_known() && rtt < min_rtt));
        if other {
            return;
        }
        self.rtt = rtt;
        // RFC 8985-6.2-3
        if (r.last_sent, r.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (r.last_sent, r.end());
        }
    }
}

impl Rack {
    /// True if the reordering exceeded `dupthresh` segments, so that data beyond a hole grow cwnd as well
    /// (`tcp_may_raise_cwnd`).
    pub(in crate::endpoint) fn expects_reordering(&self, p: &Profile) -> bool {
        self.reordering > p.stack.dupthresh && p.stack.rules == Flavour::Linux
    }
}

impl Sender {
    // RFC 8985-4-1
    pub(in crate::endpoint) fn uses_rack(&self, p: &Profile) -> bool {
        self.selective && p.stack.loss_detection == LossDetection::Rack
    }

    /// Section 6.2 step 4: duplicates that the peer reports widen the reordering window, once per RTT.
    // RFC 8985-3.3.2-3, 8985-4-3
    pub(in crate::endpoint) fn adapt_reordering_window(
        &mut self,
        p: &Profile,
        now: Time,
        a: &AckSummary,
    ) {
        if p.stack.rules == Flavour::Linux {
            return self.rack.widen_as_linux(now);
        }
        if self.rack.dsack_round.is_some_and(|round| self.una >= round) {
            self.rack.dsack_round = None;
        }
        if a.dsack.is_some() && self.rack.dsack_round.is_none() {
            self.rack.dsack_round = Some(self.max);
            self.rack.widen();
        }
    }

    /// Narrows the reordering window after enough recoveries.
    // RFC 8985-6.2-5
    pub(in crate::endpoint) fn relax_reordering_window(&mut self) {
        self.rack.window_persist = self.rack.window_persist.saturating_sub(1);
        if self.rack.window_persist == 0 {
            self.rack.window_mult = 1;
        }
    }

    /// Section 6.3: true if the record at index `place` was sent so recently that a timeout does not mark it
    /// as lost. As in Linux (`tcp_timeout_mark_lost`), there is no allowance for reordering. The RFC adds its
    /// reordering window.
    // RFC 8985-6.3-1
    pub(in crate::endpoint) fn is_recent(&self, p: &Profile, now: Time, place: usize) -> bool {
        self.uses_rack(p)
            && self.scoreboard.get(place).is_some_and(|r| r.last_sent + self.rack.rtt > now)
    }
}

/// Expiry of a timer that is set at `now` for a segment that will be late at `late_at`.
fn late_timer(p: &Profile, now: Time, late_at: Time) -> Time {
    match p.stack.wheel_tick.0 {
        0 => late_at,
        _ => Endpoint::expiry(p, now, late_at.since(now) + TIMER_SLACK),
    }
}

impl Endpoint {
    /// Section 6.2 step 4: permitted lateness of a segment.
    fn reordering_window(&self, p: &Profile) -> Span {
        // The acknowledgement that covers all data of the recovery is judged outside of the recovery.
        let repairing = matches!(self.send.phase, Phase::Recovery | Phase::Loss)
            && self.send.una < self.send.recover;
        let many = u64::from(p.stack.dupthresh) * u64::from(self.agreed.mss);
        // RFC 8985-3.3.2-1
        if !self.send.rack.reordering_seen && (repairing || self.send.scoreboard.sacked() >= many) {
            return Span::ZERO;
        }
        let least = if self.send.min_rtt.is_known() { self.send.min_rtt.0 } else { 0 };
        // RFC 8985-3.3.2-2
        let window = (least / 4).saturating_mul(u64::from(self.send.rack.window_mult));
        let srtt = self.srtt();
        // RFC 8985-3.3.2-4
        Span(if srtt.is_known() { window.min(srtt.0) } else { window })
    }

    /// Section 6.2 step 5: marks late segments as lost. These were sent before the segment delivered last. A
    /// timer checks the remaining segments later.
    pub(in crate::endpoint) fn find_late(&mut self, p: &Profile, now: Time) {
        self.send.rack.deadline = Time::NEVER;
        let newest = (self.send.rack.sent, self.send.rack.end);
        if self.send.scoreboard.may_be_overtaken(newest) {
            self.lose_late(p, now, newest);
        }
    }

    /// Marks the segments sent before `newest` as lost if they were sent longer ago than allowed. Sets a
    /// timer for the last of the others.
    // RFC 8985-6.2-6
    fn lose_late(&mut self, p: &Profile, now: Time, newest: (Time, u64)) {
        let allowed = self.send.rack.rtt + self.reordering_window(p);
        let late = now.0.checked_sub(allowed.0).map(Time);
        let mut found = std::mem::take(&mut self.send.late);
        let latest = self.send.scoreboard.find_overtaken(newest, late, &mut found);
        for start in found.drain(..) {
            let place = self.send.scoreboard.place_of(start);
            self.send.rack.lost_again |= self.send.scoreboard.get(place).is_some_and(|r| r.resent);
            self.lose(p, now, place, LossRule::Overtaken);
        }
        self.send.late = found;
        let timer = |sent_at| late_timer(p, now, sent_at + allowed);
        self.send.rack.deadline = latest.map_or(Time::NEVER, timer);
    }

    /// Processes the timer of a late segment.
    // RFC 8985-6.2-7
    #[cold]
    pub(in crate::endpoint) fn on_reordering_timeout(&mut self, p: &Profile, now: Time) {
        self.note_echo(None);
        let prior_in_flight = self.send.in_flight();
        let lost_before = self.send.sampler.lost();
        self.find_late(p, now);
        let lost = self.send.sampler.lost() - lost_before;
        let linux = p.stack.rules == Flavour::Linux;
        let enters = match self.send.phase {
            Phase::Open | Phase::Cwr => self.send.scoreboard.pending() > 0,
            Phase::Loss => linux && lost > 0,
            Phase::Recovery => false,
        };
        // Lost data have left the pipe, but no data were delivered instead. Without this event, cwnd would
        // allow all of them at once. Linux passes the event only if a recovery begins
        // (`tcp_rack_reo_timeout`).
        if if linux { enters } else { self.send.phase == Phase::Recovery } {
            let conn = self.conn(now, flags::CWND_LIMITED);
            let event = Ack { lost, prior_in_flight, ..Ack::default() };
            self.cc.on_ack(&p.params, &conn, &event);
            self.control = self.cc.control(&p.params, &conn);
            self.note(p, now, Cause::Acks, self.send.phase, conn.flight_size);
        }
        if enters {
            self.enter_recovery(p, now);
        }
        if linux {
            self.arm_rto_of_head(p, now);
        }
    }
}
