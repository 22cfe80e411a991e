//! The common frame of all window-based algorithms: slow start below `ssthresh`, congestion avoidance
//! above it, a cut at a loss, one segment after a timeout.

use crate::arithmetic::math::{div, divisor, mul, mul_div};
use crate::arithmetic::window::{FRACTION_BITS, MAX_WINDOW, Window, resized, segment_q};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use crate::controller::Controller;
use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn, Control, Phase, Undo, flags};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Ecn, Info, Requirements, TraceField};
use crate::params::Ratio;
use crate::prr::Prr;
use crate::recovery::LossRecovery;
use crate::setup::{Counting, Credit, MarkCut, Setup};
use crate::slow_start::SlowStart;
use crate::time::{Rate, Span};

/// The last reduction, and whether [`on_undo`](Controller::on_undo) can restore the state before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Reduction {
    /// No undo: the connection has had no cut, or has since responded to a mark, which is never undone.
    Final,
    /// Recovery in the same RTT as a mark. The mark has cut the window, and recovery keeps it below the
    /// cut for a while.
    Held,
    /// A cut by congestion avoidance, for a loss.
    CongestionEvent,
    /// A cut by congestion avoidance, for a timeout; the following slow start is active.
    TimedOut,
    /// The cut is undone, and the recovery that it began is about to end.
    Undone,
}

/// Combination of congestion avoidance `G` and slow start `S`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct LossBased<G, S> {
    window: Window,
    /// Window that an undo restores.
    prior: Window,
    avoidance: G,
    slow_start: S,
    prr: Prr,
    /// Recovery since the start of the connection. The negotiation of the two ends may give another
    /// recovery than the parameters name.
    recovery: LossRecovery,
    reduction: Reduction,
    /// Number of segments that the present acknowledgement delivered, for [`Credit::Delivered`]. Set if
    /// it can end a recovery or begin the response to a mark.
    news: u16,
}

impl<G: CongestionAvoidance, S: SlowStart> LossBased<G, S> {
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.window.cwnd()
    }

    /// The window and its threshold, for a host that changes them between events.
    pub fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    // RFC 5681-3.1-1, 9293-3.8.2-MUST-19
    fn on_new_ack(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack) {
        if !self.avoidance.starts_plainly() {
            self.slow_start.observe(&p.slow_start, c, a, &mut self.window);
        }
        if !c.cwnd_limited() {
            return;
        }
        let mss = u64::from(c.mss);
        let news = match p.credit {
            // Data that SACK had reported before is excluded, as in Linux: after a timeout an
            // acknowledgement may cover a whole flight of it.
            Credit::Acked => a.acked.min(a.delivered.max(mss)),
            // A part of a segment counts only its own bytes (RFC 3465 section 2.1).
            Credit::Delivered => a.delivered.max(a.acked.min(mss)),
        };
        let limit = match (p.ack_limit, self.reduction) {
            // RFC 3465 section 2.3: the acknowledgement of a retransmitted segment may cover a whole
            // flight. A stack without a limit, such as Linux, has no limit here either.
            (limit, Reduction::TimedOut) if limit < u32::MAX => limit.min(1),
            (limit, _) => limit,
        };
        // One is the usual value, and needs no multiplication.
        let most = if limit == 1 { mss } else { mul(limit.into(), mss).min(MAX_WINDOW) };
        let mut credit = news.min(most);
        // RFC 9438-4.10-1
        if self.window.in_slow_start() {
            // A credit above one segment increases the window at most to the threshold.
            let room = self.window.ssthresh().saturating_sub(self.window.cwnd());
            let all = credit;
            credit = credit.min(room.max(mss));
            let gain = self.avoidance.slow_start_gain(&p.own, c);
            let before = self.window.cwnd_q();
            if self.avoidance.starts_plainly() {
                self.window.add(credit);
            } else {
                self.slow_start.grow(&p.slow_start, c, a, credit, &mut self.window);
            }
            let grown = self.window.cwnd_q().saturating_sub(before);
            if gain > Ratio::ONE {
                // The growth that the gain adds ends at the threshold.
                let room = self.window.ssthresh() << FRACTION_BITS;
                let room = room.saturating_sub(self.window.cwnd_q());
                self.window.add_q(Ratio(gain.0 - Ratio::ONE.0).times(grown).min(room));
            } else if gain < Ratio::ONE {
                self.window.sub_q(c, Ratio(Ratio::ONE.0 - gain.0).times(grown));
            }
            // The rest of the acknowledgement counts for congestion avoidance (`tcp_slow_start` returns it).
            let carries = p.counting == Counting::Segments && G::CARRIES_OVER;
            if all > credit && carries && !self.window.in_slow_start() {
                self.avoid(p, c, a, all - credit);
            }
        } else {
            if self.reduction == Reduction::TimedOut {
                self.reduction = Reduction::CongestionEvent;
            }
            self.avoid(p, c, a, credit);
        }
    }

    fn observe(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack) {
        let before = self.cwnd();
        self.avoidance.observe(&p.own, c, a, &mut self.window);
        if a.ce > 0 && p.mark_cut == MarkCut::AtOnce {
            self.avoidance.answer_marks(&p.own, c, a, &mut self.window);
        }
        // A decrease of less than a segment remains a fraction, as in growth. If it were rounded up, it
        // would never decrease the window. Without a decrease the condition is false for any segment
        // size, so that the compiler omits the block if `observe` does nothing.
        let closed = before.saturating_sub(self.cwnd());
        if p.counting == Counting::Segments && closed >= u64::from(c.mss.max(1)) {
            let whole = G::rounding(CongestionEvent::Ecn).whole(self.cwnd(), before, c.mss);
            self.window.set(c, whole.min(before));
        }
    }

    fn avoid(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack, credit: u64) {
        let whole = p.counting == Counting::Segments;
        let part = if whole { self.window.take_part(c) } else { 0 };
        let before = self.window.cwnd_q();
        self.avoidance.avoid(&p.own, c, a, credit, &mut self.window);
        if whole {
            self.window.put_back(c, part, before);
            if G::CARRIES_OVER {
                self.window.carry_over(c, before);
            }
        }
    }

    /// Increases the window for the acknowledgement that has just ended a reduction, with
    /// [`Credit::Delivered`].
    fn grow_at_end(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        if p.credit == Credit::Delivered && self.news > 0 {
            let news = mul(self.news.into(), c.mss.into());
            self.on_new_ack(p, c, &Ack::of(news));
        }
    }

    /// Stores the delivered segments of an acknowledgement that may end a reduction.
    fn remember(&mut self, c: &Conn, a: &Ack) {
        let segments =
            if a.acked > 0 && a.ce == 0 { div(a.delivered, divisor(c.mss.into())) } else { 0 };
        self.news = segments.min(u16::MAX.into()) as u16;
    }

    /// Begins fast recovery; `ssthresh` is already set.
    // RFC 9937-6.1-2
    fn enter_recovery(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        let ssthresh = self.window.ssthresh();
        let cwnd = match self.recovery {
            LossRecovery::Prr => {
                let safe = self.reduction == Reduction::Final && self.news > 0;
                self.prr.enter(c, self.window.cwnd(), ssthresh, safe, p.counting)
            }
            recovery => recovery.enter(c, ssthresh),
        };
        self.window.set(c, cwnd.min(self.slow_start.ceiling(c)));
    }

    /// Handles an acknowledgement during fast recovery.
    fn repair(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack) {
        if self.reduction == Reduction::Undone {
            // No data was lost, and the phase event for it is about to follow.
            return;
        }
        let cwnd = self.cwnd();
        let cwnd = match self.recovery {
            LossRecovery::Prr => self.prr.ack(c, a, cwnd, self.window.ssthresh(), p.counting),
            recovery if a.duplicate => recovery.duplicate(c, cwnd),
            // No new data: a window update, for example.
            _ if a.acked == 0 => return,
            recovery => recovery.partial(c, cwnd, a.acked),
        };
        self.window.set(c, cwnd.min(self.slow_start.ceiling(c)));
    }

    /// True if the cut for a mark is spread over an RTT, as for a loss.
    fn spreads_cut(&self, p: &Setup<G::Params, S::Params>) -> bool {
        p.mark_cut == MarkCut::Proportional && self.recovery == LossRecovery::Prr
    }

    /// Ends fast recovery, or a spread cut.
    // RFC 5681-4.3-4
    fn leave_recovery(&mut self, c: &Conn) {
        self.prr.leave(c, mul(self.news.into(), c.mss.into()));
        self.window.set(c, self.recovery.exit(c, self.window.ssthresh()));
    }

    /// Returns the threshold after a cut of the window `prior`, which an undo restores.
    #[inline(never)]
    fn cut(
        &mut self,
        p: &Setup<G::Params, S::Params>,
        c: &Conn,
        prior: Window,
        why: CongestionEvent,
    ) -> u64 {
        self.prior = prior;
        self.reduction = match why {
            CongestionEvent::Loss => Reduction::CongestionEvent,
            CongestionEvent::Timeout => Reduction::TimedOut,
            CongestionEvent::Ecn => Reduction::Final,
        };
        let kept = self.avoidance.ssthresh(&p.own, c, &prior, why);
        let ssthresh = match p.counting {
            Counting::Bytes => kept,
            Counting::Segments => G::rounding(why).whole(kept, prior.cwnd(), c.mss),
        };
        let starting = self.window.in_slow_start() || self.slow_start.on_trial(c);
        if starting && !self.avoidance.starts_plainly() {
            return self.slow_start.threshold(&p.slow_start, c, &self.window, ssthresh);
        }
        ssthresh
    }

    /// Reduces the window: sets the threshold and the window at the start of the repair, and begins a
    /// new epoch.
    // RFC 5681-3.1-7
    fn reduce(
        &mut self,
        p: &Setup<G::Params, S::Params>,
        c: &Conn,
        from: Phase,
        why: CongestionEvent,
    ) {
        let (mut prior, mut most) = (self.window, u64::MAX);
        let marked = self.reduction == Reduction::Final;
        if why == CongestionEvent::Timeout && from != Phase::Open {
            // Each duplicate sent a new segment, so the flight exceeds the window that lost the data.
            // Because of "no more than" FlightSize/2 (equation 4), the first cut remains. Two cuts for
            // one loss are one reduction of the window before it, and an undo reverts both. The cut for
            // a mark remains.
            most = self.window.ssthresh();
            if !matches!(self.reduction, Reduction::Final | Reduction::Undone) {
                prior = self.prior;
            }
            if matches!(self.reduction, Reduction::CongestionEvent | Reduction::TimedOut) {
                self.avoidance.undo(&p.own, c, &prior);
            }
        }
        let mut ssthresh = self.cut(p, c, prior, why).min(most);
        if p.counting == Counting::Segments && most < u64::MAX {
            // `tcp_enter_loss` does not change the threshold if it was already reduced in this window.
            // A response to a mark has no undo.
            ssthresh = most;
            if marked {
                self.reduction = Reduction::Final;
            }
        }
        self.window.set_ssthresh(ssthresh);
        match why {
            CongestionEvent::Loss => self.enter_recovery(p, c),
            CongestionEvent::Ecn if self.spreads_cut(p) => self.enter_recovery(p, c),
            CongestionEvent::Ecn => self.window.set(c, self.cwnd().min(ssthresh)),
            CongestionEvent::Timeout => self.restart_window(p, c),
        }
        self.begin_epoch(p, c);
    }

    /// Sets the window after a timeout (RFC 5681 section 3.1; in Linux `tcp_enter_loss`).
    // RFC 5681-3.1-15
    fn restart_window(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        let spared = if p.counting == Counting::Segments { c.in_flight } else { 0 };
        self.window.set(c, spared.saturating_add(c.mss.into()));
    }

    /// Handles a loss in the same RTT as a mark. The mark has already cut the window. If it cut by the
    /// extent of congestion, the loss also halves the window (RFC 8257 section 3.5;
    /// `dctcp_react_to_loss`).
    fn lose_after_mark(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        if G::REQUIREMENTS.ecn == Ecn::Exact {
            let ssthresh = self.cut(p, c, self.window, CongestionEvent::Loss);
            self.window.set_ssthresh(ssthresh);
        } else {
            (self.prior, self.reduction) = (self.window, Reduction::Held);
        }
        if !self.spreads_cut(p) {
            self.enter_recovery(p, c);
        } else if p.counting == Counting::Bytes {
            self.window.set(c, c.in_flight); // the first retransmission is allowed in any state
        } else if self.cuts_after_mark(p) {
            let delivered = mul(self.news.into(), c.mss.into());
            self.repair(p, c, &Ack { delivered, lost: 1, ..Ack::default() });
        }
    }

    /// True if a loss in the same RTT as a mark changes the window by itself. Otherwise Linux's
    /// reduction continues.
    fn cuts_after_mark(&self, p: &Setup<G::Params, S::Params>) -> bool {
        G::REQUIREMENTS.ecn == Ecn::Exact || p.counting == Counting::Bytes
    }

    /// Returns half of an idle window, in whole segments and at least the initial window. The threshold
    /// becomes at least three quarters of the idle window: `tcp_cwnd_restart`, for each timeout that
    /// has passed.
    fn halve_idle(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) -> u64 {
        let (mss, cwnd) = (u64::from(c.mss.max(1)), self.window.whole_segments(c));
        self.window.set_ssthresh(remembered(c, &self.window));
        let least = p.initial_window.min(mul(cwnd, mss));
        mul(cwnd >> 1, mss).max(least)
    }

    // RFC 9406-4.2-8
    fn begin_epoch(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        self.slow_start.restart(&p.slow_start, c);
        self.avoidance.restart(&p.own, c, &mut self.window);
    }
}

/// The threshold that Linux remembers of a window: at least three quarters of it (`tcp_current_ssthresh`).
fn remembered(c: &Conn, w: &Window) -> u64 {
    let cwnd = w.whole_segments(c);
    w.ssthresh().max(mul((cwnd >> 1) + (cwnd >> 2), c.mss.max(1).into()))
}

impl<G: CongestionAvoidance, S: SlowStart> Controller for LossBased<G, S> {
    type Params = Setup<G::Params, S::Params>;
    const INFO: &'static Info = G::INFO;
    const REQUIREMENTS: Requirements = G::REQUIREMENTS;
    const FLAVOURS: &'static [Departure] = G::FLAVOURS;

    fn init(p: &Self::Params, c: &Conn) -> Self {
        let initial = G::initial_window(&p.own, c, p.initial_window);
        let mut window = Window::new(c, initial, p.initial_ssthresh);
        let avoidance = G::init(&p.own, c);
        let mut slow_start = S::init(&p.slow_start, c);
        if p.approved.0 > 0 && !avoidance.starts_plainly() {
            slow_start.approve(&p.slow_start, c, p.approved, &mut window);
        }
        LossBased {
            window,
            prior: window,
            avoidance,
            slow_start,
            prr: Prr::new(c),
            recovery: p.recovery.unwrap_or(G::REQUIREMENTS.recovery),
            reduction: Reduction::Final,
            news: 0,
        }
    }

    fn on_ack(&mut self, p: &Self::Params, c: &Conn, a: &Ack) {
        self.observe(p, c, a);
        if p.credit == Credit::Delivered && matches!(c.phase, Phase::Recovery | Phase::Cwr) {
            self.remember(c, a);
        }
        match c.phase {
            Phase::Recovery => return self.repair(p, c, a),
            // The loss begins a recovery, which may cut the window before the mark.
            Phase::Cwr if self.spreads_cut(p) && a.lost > 0 && self.cuts_after_mark(p) => {
                return self.remember(c, &Ack { acked: a.delivered, ce: 0, ..*a });
            }
            Phase::Cwr if self.spreads_cut(p) => return self.repair(p, c, a),
            _ => {}
        }
        self.prr.observe(c, a);
        // The host is about to respond to the mark.
        let turns = a.ce > 0 && p.mark_cut == MarkCut::Proportional;
        if turns && c.phase == Phase::Open && a.lost == 0 {
            self.remember(c, &Ack { ce: 0, ..*a });
        }
        if c.phase != Phase::Cwr && !turns && !a.duplicate && a.acked > 0 {
            self.on_new_ack(p, c, a);
        }
    }

    fn on_phase(&mut self, p: &Self::Params, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (Phase::Open | Phase::Loss, Phase::Recovery) => {
                self.reduce(p, c, from, CongestionEvent::Loss)
            }
            (Phase::Open | Phase::Loss, Phase::Cwr) => {
                self.reduce(p, c, from, CongestionEvent::Ecn)
            }
            // RFC 5681 section 3.1: ssthresh changes only at the first timeout of a segment.
            (Phase::Open | Phase::Recovery | Phase::Cwr, Phase::Loss) => {
                self.reduce(p, c, from, CongestionEvent::Timeout);
            }
            // RFC 5681-3.1-14
            (Phase::Loss, Phase::Loss) => {
                self.restart_window(p, c);
                self.begin_epoch(p, c);
            }
            (Phase::Cwr, Phase::Recovery) => self.lose_after_mark(p, c),
            // No data was lost: the restored window and its epoch continue.
            (Phase::Recovery, Phase::Open) if self.reduction == Reduction::Undone => {
                self.prr.leave(c, 0);
                self.grow_at_end(p, c);
            }
            (Phase::Recovery | Phase::Cwr, Phase::Open) => {
                if from == Phase::Recovery || self.spreads_cut(p) {
                    self.leave_recovery(c);
                }
                self.slow_start.recovered(&p.slow_start, c, &mut self.window);
                if from == Phase::Recovery {
                    self.avoidance.restart(&p.own, c, &mut self.window);
                }
                self.grow_at_end(p, c);
            }
            (Phase::Loss, Phase::Open)
            | (Phase::Open, Phase::Open)
            | (Phase::Recovery, Phase::Recovery | Phase::Cwr)
            | (Phase::Cwr, Phase::Cwr) => {}
        }
        if self.reduction == Reduction::Undone {
            self.reduction = Reduction::Final;
        }
        // The acknowledgement that ends a reduction without growth may begin the next one.
        if to != Phase::Open || c.cwnd_limited() {
            self.news = 0;
        }
    }

    fn on_undo(&mut self, p: &Self::Params, c: &Conn, _why: Undo) {
        if matches!(self.reduction, Reduction::Final | Reduction::Undone) {
            return;
        }
        if c.flags & flags::CONFIRMED != 0 {
            self.reduction = Reduction::Undone;
            return;
        }
        // Duplicates may have inflated the window above the threshold.
        let inflated = c.phase == Phase::Recovery && self.cwnd() > self.window.ssthresh();
        let grown = if inflated { self.window.ssthresh() } else { self.cwnd() };
        let (before, threshold) = match p.counting {
            Counting::Bytes => (self.prior.cwnd(), self.prior.ssthresh()),
            Counting::Segments => {
                let whole = mul(self.prior.whole_segments(c), c.mss.into());
                (whole, remembered(c, &self.prior))
            }
        };
        self.window.set(c, grown.max(before));
        self.window.set_ssthresh(self.window.ssthresh().max(threshold));
        if self.reduction != Reduction::Held {
            self.avoidance.undo(&p.own, c, &self.window);
        }
        self.reduction = Reduction::Undone;
    }

    fn control(&self, p: &Self::Params, c: &Conn) -> Control {
        let pacing = match self.slow_start.pacing(c, &self.window) {
            Rate(0) => self.avoidance.pacing(&p.own, c, &self.window),
            rate => rate,
        };
        Control { cwnd: self.cwnd(), ssthresh: self.window.ssthresh(), pacing }
    }

    /// Sets the restart window of RFC 5681 section 4.1.
    // RFC 5681-4.1-1
    fn on_idle_restart(&mut self, p: &Self::Params, c: &Conn, gap: Span, reset: bool) {
        if reset {
            let whole = p.counting == Counting::Segments;
            let part = if whole { self.window.take_part(c) } else { 0 };
            let before = self.cwnd();
            let window = match p.counting {
                Counting::Bytes => p.initial_window.min(before),
                Counting::Segments => self.halve_idle(p, c),
            };
            self.window.set(c, window);
            // The segments that were acknowledged towards the next growth remain (`snd_cwnd_cnt`).
            let kept = mul_div(part, before, self.cwnd());
            self.window.add_q(kept.min(segment_q(c).get() - 1));
            self.slow_start.restart(&p.slow_start, c);
            if self.cwnd() < before {
                self.avoidance.fall_back(&p.own, c, &self.window);
            }
        }
        self.avoidance.idle(&p.own, c, gap);
    }

    /// Keeps the window and the threshold in segments.
    // RFC 5681-3.1-5
    fn on_mss(&mut self, p: &Self::Params, c: &Conn, old: u32) {
        let ssthresh = resized(c, old, self.window.ssthresh());
        self.window.set(c, resized(c, old, self.cwnd()));
        self.window.set_ssthresh(ssthresh.max(1));
        self.prior = self.window;
        self.avoidance.on_mss(&p.own, c, old);
    }

    fn on_group(&mut self, p: &Self::Params, c: &Conn, g: &Group) {
        self.avoidance.on_group(&p.own, c, g, &mut self.window);
    }

    fn disclosed(&self) -> u64 {
        self.avoidance.disclosed()
    }

    fn capacity(&self) -> u64 {
        self.slow_start.capacity()
    }

    fn on_cross_layer(&mut self, p: &Self::Params, c: &Conn, l: &CrossLayer) {
        self.avoidance.on_cross_layer(&p.own, c, l);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        self.avoidance.trace(sink);
    }
}
