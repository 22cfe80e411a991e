//! The processing of an acknowledgement. It is the same for every kind of loss recovery, with and without
//! SACK. The stages are [parse](Sender::parse) → [deliver](Sender::deliver) → [measure](Endpoint::measure) →
//! [judge](Sender::judge) → [detect](Endpoint::detect) → [control](Endpoint::tell_controller) →
//! [rearm](Endpoint::rearm). One [`AckSummary`] carries the results from stage to stage.

use windlass_cc::{Ack, Flavour, Phase, RateSample, Span, Time, Undo, flags};

use super::Sender;
use super::summary::AckSummary;
use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile};
use crate::segment::{DEFAULT_MSS, Flags, Segment};

/// Minimum payload of a full segment, bytes: an IP packet of 68 bytes without its header.
const LEAST_SEGMENT: u64 = 48;

impl Sender {
    /// True if a segment repeats the last acknowledgement without data: a duplicate by RFC 5681 section 2 if data are
    /// outstanding. In Linux a smaller window is no change, and a segment after the one that set the window is
    /// (`tcp_may_update_window`).
    #[inline]
    fn repeats_last(
        &self,
        linux: bool,
        (start, ack): (u64, u64),
        window: u64,
        s: &Segment,
    ) -> bool {
        ack == self.una
            && s.len == 0
            && !s.flags.has(Flags::FIN)
            && match linux {
                true => start <= self.wl1 && window <= self.wnd && window > 0,
                false => window == self.wnd,
            }
    }

    /// True if an acknowledgement may report duplicates although no data are outstanding.
    #[inline]
    fn awaits_report(&self, s: &Segment) -> bool {
        self.selective && (s.options.sack_count > 0 || self.rack.probes())
    }

    /// Compares the segment with the outstanding data.
    #[inline]
    fn parse(&self, ack: u64, bare: bool, echo: Option<u32>) -> AckSummary {
        AckSummary {
            ack,
            acked: ack.saturating_sub(self.una),
            duplicate: bare && self.flight_size() > 0,
            bare,
            echo,
            counted: 0,
            prior_in_flight: self.in_flight(),
            prior_lost: self.sampler.lost(),
            delivered: 0,
            timed: None,
            reported: None,
            covers_retransmission: false,
            repeated: None,
            first_time: None,
            dsack: None,
            twice: 0,
            explained: 0,
            rtt: Span::NONE,
            spurious: None,
            probe_repaired: false,
        }
    }

    /// Evaluates earlier decisions: the reordering window, a tail loss probe and the last reduction.
    #[inline]
    fn judge(&mut self, p: &Profile, now: Time, mss: u32, a: AckSummary) -> AckSummary {
        if self.inflates() {
            return a; // no detection in these recoveries
        }
        self.adapt_reordering_window(p, now, &a);
        let probe_repaired = self.judge_probe(&a);
        let spurious = self.find_spurious(p, &a);
        if self.is_refuted_early(p, spurious) {
            // The hole was data that came late (`tcp_try_undo_partial`).
            self.rack.note_reordering(a.ack - a.acked);
            self.rack.measure_reordering(self.una, mss);
        }
        AckSummary { probe_repaired, spurious, ..a }
    }
}

impl Endpoint {
    /// Processes the acknowledgement and window of a segment that starts at offset `start`. Returns true if
    /// the rest of the segment may be processed.
    #[inline(always)] // called in one place
    pub(in crate::endpoint) fn on_ack(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        start: u64,
        s: &Segment,
    ) -> bool {
        // RFC 9293-3.10.7.4-5
        if ack > self.send.max || ack + self.send.max_wnd < self.send.una {
            // It covers data that were never sent, or it is too old (RFC 5961 section 5.2).
            self.challenge(p, now);
            return false;
        }
        // RFC 7323-2.3-4
        let window = self.limiting_window(u64::from(s.window) << self.agreed.snd_scale);
        if ack == self.send.max && ack == self.send.una && !self.send.awaits_report(s) {
            // No data are outstanding, as at an end that only receives.
            self.update_window(p, start, ack, window);
            self.send.retries = 0;
            if p.stack.rules == Flavour::Linux && s.len == 0 {
                self.timers.persist = Time::NEVER; // begins again if data wait (`tcp_ack_probe`)
            }
            self.count_marks(s, 0);
            self.on_echo(p, now, 0, s);
            return true;
        }
        self.at_rest = false;
        let linux = p.stack.rules == Flavour::Linux;
        let bare = self.send.repeats_last(linux, (start, ack), window, s);
        self.update_window(p, start, ack, window);
        self.follow_ack(p, now, ack, bare, s);
        true
    }

    /// The echoed timestamp of a segment, if timestamps are in use (RFC 7323 section 3.2).
    // RFC 7323-3.2-9
    #[inline]
    pub(in crate::endpoint) fn echo_of(&self, s: &Segment) -> Option<u32> {
        let echo = s.options.timestamps.map(|t| t.echo).filter(|echo| *echo != 0);
        echo.filter(|_| self.agreed.timestamps)
    }

    // RFC 6675-5-9
    #[inline(never)]
    fn follow_ack(&mut self, p: &Profile, now: Time, ack: u64, bare: bool, s: &Segment) {
        let a = self.send.parse(ack, bare, self.echo_of(s));
        let a = self.send.deliver(p, now, a, s, self.agreed.mss);
        let a = self.measure(p, now, a);
        let a = self.send.judge(p, now, self.agreed.mss, a);
        if a.ack >= self.send.una {
            self.count_marks(s, a.delivered);
        }
        self.note_echo(Some(s));
        if !a.is_news() {
            return self.on_stale_ack(p, now, &a, s);
        }
        self.detect(p, now, &a);
        self.tell_controller(p, now, &a, s);
        let restarts = a.acked > 0 && self.send.restarts_timer()
            || self.send.uses_rack(p) && self.send.predates_head(&a);
        self.rearm(p, now, a.acked > 0, restarts);
    }

    /// Limits a segment to half of the peer's largest window, as Linux does (`tcp_bound_to_half_wnd`).
    #[cold]
    pub(in crate::endpoint) fn limit_segment(&mut self, p: &Profile) {
        self.send.segment = self.agreed.mss;
        if p.stack.rules == Flavour::Linux && !self.layer.on {
            let window = self.send.max_wnd;
            let most = if window > u64::from(DEFAULT_MSS) { window / 2 } else { window };
            self.send.segment = self.send.segment.min(most.max(LEAST_SEGMENT) as u32);
        }
    }

    /// RFC 9293's window update rule: only newer segments change the window.
    // RFC 7323-2.4-1, 9293-3.8.6-MUST-34
    #[inline(always)] // the usual case is short
    pub(in crate::endpoint) fn update_window(
        &mut self,
        p: &Profile,
        start: u64,
        ack: u64,
        window: u64,
    ) {
        if ack < self.send.una || start < self.send.wl1 {
            return;
        }
        if window != self.send.wnd {
            self.change_window(p, start, ack, window);
        } else {
            self.send.wl1 = start;
        }
    }

    /// Takes another window from a segment that is not older than the last.
    fn change_window(&mut self, p: &Profile, start: u64, ack: u64, window: u64) {
        self.at_rest = false;
        // Linux keeps the larger window of two equal acknowledgements (`tcp_may_update_window`).
        let equal = ack == self.send.una && start == self.send.wl1;
        if equal && window < self.send.wnd && window > 0 && p.stack.rules == Flavour::Linux {
            return;
        }
        if window > self.send.wnd {
            self.stop_probing();
        }
        // A new window for data that wait counts as a write (`tcp_ack_update_window`).
        let waits = ack == self.send.max && ack == self.send.una && self.stream.end > ack;
        self.stream.resumed |= waits;
        self.send.wnd = window;
        if window > self.send.max_wnd {
            self.send.max_wnd = window;
            self.limit_segment(p);
        }
        self.send.wl1 = start;
    }

    pub(in crate::endpoint) fn stop_probing(&mut self) {
        self.timers.persist = Time::NEVER;
        self.send.persist_shift = 0;
        self.send.probe_now = false;
    }

    /// Processes an acknowledgement that delivers nothing and is not a duplicate.
    // RFC 9293-3.8.6-SHLD-17, 9293-3.8.6.1-MUST-37
    #[cold]
    fn on_stale_ack(&mut self, p: &Profile, now: Time, a: &AckSummary, s: &Segment) {
        // It may respond to a probe. A peer that responds with a closed window is alive (RFC 1122 section
        // 4.2.2.17).
        if a.ack == self.send.una && (self.send.nxt == self.send.una || self.send.wnd == 0) {
            self.send.retries = 0;
        }
        if let Some(why) = a.spurious {
            self.undo(p, now, why);
            self.follow_phase(p, now, a, false);
        }
        if a.ack == self.send.una {
            self.on_echo(p, now, 0, s);
        }
    }

    /// Detects losses, unless the acknowledgement shows that the last reduction was unnecessary.
    fn detect(&mut self, p: &Profile, now: Time, a: &AckSummary) {
        match a.spurious {
            Some(why) => {
                self.undo(p, now, why);
                // Linux looks for losses also after an undo (`tcp_identify_packet_loss`).
                let linux = p.stack.rules == Flavour::Linux;
                if linux && self.send.selective || self.send.spurious.was_partial() {
                    self.find_losses_after_undo(p, now);
                }
            }
            None if self.send.spurious.holds() => {}
            None => self.find_losses(p, now, a.acked > 0),
        }
    }

    /// Notifies the controller in the phase in which the acknowledgement arrived, and then updates the phase.
    fn tell_controller(&mut self, p: &Profile, now: Time, a: &AckSummary, s: &Segment) {
        // `tcp_may_raise_cwnd`: if reordering is common, SACK-reported data grow cwnd too, unless it is being reduced
        // (`tcp_cong_control`).
        let reduces = matches!(self.send.phase, Phase::Cwr | Phase::Recovery);
        let raises = a.duplicate && !reduces && self.send.rack.expects_reordering(p);
        let event = Ack {
            acked: if raises { a.delivered } else { a.counted },
            delivered: a.delivered,
            lost: self.send.sampler.lost() - a.prior_lost,
            ce: self.marked_bytes(p, s, a.delivered),
            prior_in_flight: a.prior_in_flight,
            rtt: a.rtt,
            rate: RateSample::NONE,
            duplicate: a.duplicate && !raises,
        };
        if a.probe_repaired {
            self.answer_repaired_loss(p, now);
        }
        self.tell_of_acknowledgement(p, now, event);
        self.follow_phase(p, now, a, self.ecn.agreed && self.is_echoed(s));
        // An acknowledgement that undoes a recovery before its end does not answer a mark
        // (`tcp_fastretrans_alert`).
        if a.spurious.is_none() || !self.send.spurious.was_partial() {
            self.on_echo(p, now, a.counted, s);
        }
    }

    /// Passes an acknowledgement to the controller, with the delivery-rate sample if the controller uses samples.
    #[inline]
    pub(in crate::endpoint) fn tell_of_acknowledgement(
        &mut self,
        p: &Profile,
        now: Time,
        mut event: Ack,
    ) {
        let limits = self.usage_limits(p);
        let conn = self.conn(now, limits);
        if self.send.samples {
            event.rate = self.send.sampler.sample(self.send.min_rtt);
        }
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, Cause::Acks, self.send.phase, conn.flight_size);
    }

    /// Updates the phase of recovery. `marked` is true if the acknowledgement echoes a mark.
    fn follow_phase(&mut self, p: &Profile, now: Time, a: &AckSummary, marked: bool) {
        let linux = p.stack.rules == Flavour::Linux;
        // `tcp_is_non_sack_preventing_reopen`: without SACK, data above `recover` must be acknowledged.
        let beyond = u64::from(linux && self.send.counts_duplicates() && a.spurious.is_none());
        // RFC 6675-5-7
        let over = match self.send.phase {
            Phase::Open => false,
            Phase::Cwr => self.echo_is_answered(),
            Phase::Recovery if self.send.ends_at_first_ack() => a.acked > 0,
            Phase::Recovery | Phase::Loss => self.send.una >= self.send.recover + beyond,
        };
        if over {
            self.send.retransmit_first = false;
            if matches!(self.send.phase, Phase::Recovery | Phase::Loss) {
                self.send.relax_reordering_window();
            }
            // RFC 6675-5-8
            let partial = a.spurious.is_some() && self.send.spurious.was_partial();
            if !self.send.selective && !partial {
                self.send.scoreboard.forget_duplicates();
            }
        }
        // A loss of data sent since recovery began is a separate loss, even if these data are already
        // retransmitted (`tcp_time_to_recover` counts lost segments, retransmitted or not).
        let early = self.send.phase == Phase::Loss || self.send.spurious.was_partial();
        let forgiven = a.spurious.is_some_and(|why| !linux || why != Undo::Dsack && early);
        let lost_since = over && !forgiven && self.send.uses_rack(p);
        // RFC 6675-5.1-3
        let open = over || matches!(self.send.phase, Phase::Open | Phase::Cwr);
        // After a timeout, the loss of a retransmission begins a recovery (`FLAG_LOST_RETRANS`).
        let relapses = linux && self.send.phase == Phase::Loss && self.send.rack.lost_again;
        let again = lost_since && self.send.scoreboard.misses_lost()
            || open && self.send.scoreboard.pending() > 0
            || relapses;
        // An algorithm with one call per acknowledgement (`cong_control`) sees one recovery if another
        // follows directly.
        let seamless = linux && again && self.send.samples && self.send.phase == Phase::Recovery;
        if over && !seamless {
            let flight = self.send.flight_size();
            // An acknowledgement that ends one reduction and begins another does not grow cwnd between them, and
            // none grows an unused cwnd.
            let grows = !linux || self.send.usage.full && !again && !marked;
            let limits = if grows { flags::CWND_LIMITED } else { 0 };
            self.change_phase(p, now, Phase::Open, flight, Cause::RecoveryEnds, limits);
        }
        if again {
            self.enter_recovery(p, now);
        }
    }

    /// Sets the timers after an acknowledgement: RFC 6298 rules 5.2 and 5.3, and the tail loss probe. `advanced` is
    /// true if it acknowledged new data, and `restarts` if it restarts the retransmission timer.
    // RFC 6298-5.2-1
    pub(in crate::endpoint) fn rearm(
        &mut self,
        p: &Profile,
        now: Time,
        advanced: bool,
        restarts: bool,
    ) {
        if self.send.una == self.send.max {
            self.timers.rto = Time::NEVER;
            self.send.rack.stop();
        } else if restarts {
            self.arm_rto(p, now);
        }
        let linux = p.stack.rules == Flavour::Linux;
        let repairs = matches!(self.send.phase, Phase::Recovery | Phase::Loss);
        if linux && (repairs || !self.send.rack.deadline.is_never()) {
            self.send.rack.probe_deadline = Time::NEVER; // all share one timer
        } else if self.send.selective && (!linux || advanced || restarts) {
            // RFC 8985-7.2-1
            self.arm_probe(p, now, advanced);
        }
    }
}
