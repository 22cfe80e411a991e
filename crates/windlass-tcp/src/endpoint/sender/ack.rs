//! An acknowledgement's way, the same for every kind of loss recovery and with or without SACK:
//! [parse](Sender::parse) → [deliver](Sender::deliver) → [measure](Endpoint::measure) → [judge](Sender::judge) →
//! [detect](Endpoint::detect) → [control](Endpoint::tell_controller) → [rearm](Endpoint::rearm). What is learnt
//! on the way goes on in one [`AckSummary`].

use windlass_cc::{Ack, Flavour, Phase, RateSample, Span, Time, Undo, flags};

use super::Sender;
use super::summary::AckSummary;
use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile};
use crate::segment::{DEFAULT_MSS, Flags, Segment};

/// Least payload of a full segment, bytes: of a packet of 68 without the header.
const LEAST_SEGMENT: u64 = 48;

impl Sender {
    /// RFC 5681 section 2, the definition of a duplicate acknowledgement.
    #[inline]
    fn is_duplicate(&self, ack: u64, window: u64, s: &Segment) -> bool {
        ack == self.una
            && s.len == 0
            && !s.flags.has(Flags::FIN)
            && window == self.wnd
            && self.flight_size() > 0
    }

    /// Whether something may be learnt although nothing is outstanding: of what arrived twice.
    #[inline]
    fn awaits_report(&self, s: &Segment) -> bool {
        self.selective && (s.options.sack_count > 0 || self.rack.probes())
    }

    /// What the segment says, held against what is outstanding.
    #[inline]
    fn parse(&self, ack: u64, duplicate: bool, s: &Segment) -> AckSummary {
        AckSummary {
            ack,
            acked: ack.saturating_sub(self.una),
            duplicate,
            echo: s.options.timestamps.map(|t| t.echo).filter(|echo| *echo != 0),
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

    /// What it says of earlier decisions: of the reordering window, of a tail loss probe, and of the
    /// last reduction.
    #[inline]
    fn judge(&mut self, p: &Profile, a: AckSummary) -> AckSummary {
        if self.inflates() {
            return a; // nothing is watched for
        }
        self.adapt_reordering_window(p, &a);
        let probe_repaired = self.judge_probe(&a);
        let spurious = self.find_spurious(p, &a);
        AckSummary { probe_repaired, spurious, ..a }
    }
}

impl Endpoint {
    /// The acknowledgement and window of a segment that starts at offset `start`. Returns whether
    /// the rest of the segment may be read.
    #[inline(always)] // called in one place
    pub(in crate::endpoint) fn on_ack(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        start: u64,
        s: &Segment,
    ) -> bool {
        if ack > self.send.max || ack + self.send.max_wnd < self.send.una {
            // Of data never sent, or too old to be true (RFC 5961 section 5.2).
            self.challenge(p, now);
            return false;
        }
        let window = self.limiting_window(u64::from(s.window) << self.agreed.snd_scale);
        if ack == self.send.max && ack == self.send.una && !self.send.awaits_report(s) {
            // Nothing is outstanding, as at an end that only receives.
            self.update_window(p, start, ack, window);
            self.send.retries = 0;
            self.on_echo(p, now, 0, s);
            return true;
        }
        let duplicate = self.send.is_duplicate(ack, window, s);
        self.update_window(p, start, ack, window);
        self.follow_ack(p, now, ack, duplicate, s);
        true
    }

    #[inline(never)]
    fn follow_ack(&mut self, p: &Profile, now: Time, ack: u64, duplicate: bool, s: &Segment) {
        let a = self.send.parse(ack, duplicate, s);
        let a = self.send.deliver(p, now, a, s, self.agreed.mss);
        let a = self.measure(p, now, a);
        let a = self.send.judge(p, a);
        if !a.is_news() {
            return self.on_stale_ack(p, now, &a, s);
        }
        self.detect(p, now, &a);
        self.tell_controller(p, now, &a, s);
        self.rearm(p, now, &a);
    }

    /// Linux fills at most half of the largest window of a peer with one segment (`tcp_bound_to_half_wnd`).
    #[cold]
    pub(in crate::endpoint) fn limit_segment(&mut self, p: &Profile) {
        self.send.segment = self.agreed.mss;
        if p.stack.rules == Flavour::Linux && !self.layer.on {
            let window = self.send.max_wnd;
            let most = if window > u64::from(DEFAULT_MSS) { window / 2 } else { window };
            self.send.segment = self.send.segment.min(most.max(LEAST_SEGMENT) as u32);
        }
    }

    /// RFC 9293's window update rule: only newer segments move the window.
    fn update_window(&mut self, p: &Profile, start: u64, ack: u64, window: u64) {
        if ack < self.send.una || start < self.send.wl1 {
            return;
        }
        if window > self.send.wnd {
            self.stop_probing();
        }
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

    /// An acknowledgement that delivers nothing and counts for nothing.
    fn on_stale_ack(&mut self, p: &Profile, now: Time, a: &AckSummary, s: &Segment) {
        // But it may answer a probe, and a peer that answers with a closed window lives (RFC 1122
        // section 4.2.2.17).
        if a.ack == self.send.una && (self.send.nxt == self.send.una || self.send.wnd == 0) {
            self.send.retries = 0;
        }
        if let Some(why) = a.spurious {
            self.undo(p, now, why);
            self.follow_phase(p, now, a);
        }
        if a.ack == self.send.una {
            self.on_echo(p, now, 0, s);
        }
    }

    /// What it shows to be lost; nothing is if it shows that the last reduction was unfounded.
    fn detect(&mut self, p: &Profile, now: Time, a: &AckSummary) {
        match a.spurious {
            Some(why) => self.undo(p, now, why),
            None if self.send.spurious.holds() => {}
            None => self.find_losses(p, now, a.acked > 0),
        }
    }

    /// The controller is told, in the phase in which the acknowledgement arrived; then the phase
    /// follows.
    fn tell_controller(&mut self, p: &Profile, now: Time, a: &AckSummary, s: &Segment) {
        self.tell_of_acknowledgement(p, now, a, s);
        self.follow_phase(p, now, a);
        if a.probe_repaired {
            self.answer_repaired_loss(p, now);
        }
        self.on_echo(p, now, a.counted, s);
    }

    fn tell_of_acknowledgement(&mut self, p: &Profile, now: Time, a: &AckSummary, s: &Segment) {
        let limits = self.usage_limits(p);
        let conn = self.conn(now, limits);
        // `tcp_may_raise_cwnd`: where reordering is common, what is reported opens the window too.
        let raises = a.duplicate && self.send.rack.expects_reordering(p);
        let event = Ack {
            acked: if raises { a.delivered } else { a.counted },
            delivered: a.delivered,
            lost: conn.lost - a.prior_lost,
            ce: self.marked_bytes(p, s, a.delivered),
            prior_in_flight: a.prior_in_flight,
            rtt: a.rtt,
            rate: match self.send.samples {
                true => self.send.sampler.sample(self.send.min_rtt),
                false => RateSample::NONE,
            },
            duplicate: a.duplicate && !raises,
        };
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, Cause::Acks, self.send.phase, conn.flight_size);
    }

    /// Where recovery stands.
    fn follow_phase(&mut self, p: &Profile, now: Time, a: &AckSummary) {
        let linux = p.stack.rules == Flavour::Linux;
        // `tcp_is_non_sack_preventing_reopen`: without SACK something beyond has to be acknowledged.
        let beyond = u64::from(linux && self.send.counts_duplicates() && a.spurious.is_none());
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
            if !self.send.selective {
                self.send.scoreboard.forget_duplicates();
            }
        }
        // What was sent since recovery began and lost is a loss of its own, though it has been sent
        // again already (`tcp_time_to_recover` goes by what is lost, retransmitted or not).
        let forgiven = a.spurious.is_some_and(|why| !linux || why != Undo::Dsack);
        let lost_since = over && !forgiven && self.send.uses_rack(p);
        let open = over || matches!(self.send.phase, Phase::Open | Phase::Cwr);
        // After a timeout a retransmission that is lost begins a recovery (`FLAG_LOST_RETRANS`).
        let relapses = linux && self.send.phase == Phase::Loss && self.send.rack.lost_again;
        let again = lost_since && self.send.scoreboard.misses_lost()
            || open && self.send.scoreboard.pending() > 0
            || relapses;
        // An algorithm that is told once per acknowledgement (`cong_control`) sees one recovery where another follows.
        let seamless = linux && again && self.send.samples && self.send.phase == Phase::Recovery;
        if over && !seamless {
            let flight = self.send.flight_size();
            // An acknowledgement that ends one recovery and begins another opens no window between them.
            let limits = if linux && again { 0 } else { flags::CWND_LIMITED };
            self.change_phase(p, now, Phase::Open, flight, Cause::RecoveryEnds, limits);
        }
        if again {
            self.enter_recovery(p, now);
        }
    }

    /// RFC 6298 rules 5.2 and 5.3, and the tail loss probe.
    fn rearm(&mut self, p: &Profile, now: Time, a: &AckSummary) {
        if self.send.una == self.send.max {
            self.timers.rto = Time::NEVER;
            self.send.rack.stop();
        } else if a.acked > 0 && self.send.restarts_timer()
            || self.send.uses_rack(p) && self.send.predates_head(a)
        {
            self.arm_rto(p, now);
        }
        if p.stack.rules == Flavour::Linux && !self.send.rack.deadline.is_never() {
            self.send.rack.probe_deadline = Time::NEVER; // the timers are one
        } else if self.send.selective {
            self.arm_probe(p, now, a.acked > 0);
        }
    }
}
