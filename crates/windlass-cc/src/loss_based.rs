//! The frame that all algorithms with a window share: slow start below `ssthresh`, growth above it,
//! a cut on loss, one segment after a timeout.

use crate::arithmetic::math::{div, divisor, mul};
use crate::arithmetic::window::{FRACTION_BITS, MAX_WINDOW, Window, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use crate::controller::Controller;
use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn, Control, Phase, Undo};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Ecn, Info, Requirements, TraceField};
use crate::params::Ratio;
use crate::prr::Prr;
use crate::recovery::LossRecovery;
use crate::setup::{Counting, Credit, MarkCut, Setup};
use crate::slow_start::SlowStart;
use crate::time::{Rate, Span};

/// The last cut, as far as [`on_undo`](Controller::on_undo) can take it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Reduction {
    /// Nothing to take back: a mark has been answered since, which was no guess, or there was none.
    Final,
    /// Recovery within the round trip of a mark: the mark has cut, and recovery holds the window
    /// below that for a while.
    Held,
    /// Congestion avoidance has cut, for a loss.
    CongestionEvent,
    /// Congestion avoidance has cut, for a timeout, and the slow start that follows runs.
    TimedOut,
    /// It was taken back, and the recovery that it began is about to end.
    Undone,
}

/// Congestion avoidance `G` and slow start `S` put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct LossBased<G, S> {
    window: Window,
    /// The window that undoing the reduction restores.
    prior: Window,
    avoidance: G,
    slow_start: S,
    prr: Prr,
    /// As the connection began with it: what the two ends agree on may leave another than the
    /// parameters of its profile name.
    recovery: LossRecovery,
    reduction: Reduction,
    /// Segments that the acknowledgement being dealt with delivered, if it can end a recovery, for
    /// [`Credit::Delivered`], or begin an answer to a mark.
    news: u16,
}

impl<G: CongestionAvoidance, S: SlowStart> LossBased<G, S> {
    /// Congestion window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.window.cwnd()
    }

    fn on_new_ack(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack) {
        if !self.avoidance.starts_plainly() {
            self.slow_start.observe(&p.slow_start, c, a, &mut self.window);
        }
        if !c.cwnd_limited() {
            return;
        }
        let mss = u64::from(c.mss);
        let news = match p.credit {
            // What SACK had reported before counted then, as in Linux: after a timeout an
            // acknowledgement may cover a whole flight of it.
            Credit::Acked => a.acked.min(a.delivered.max(mss)),
            // A piece of a segment counts for no more than itself (RFC 3465 section 2.1).
            Credit::Delivered => a.delivered.max(a.acked.min(mss)),
        };
        let limit = match (p.ack_limit, self.reduction) {
            // RFC 3465 section 2.3: what a segment sent again completes may be a whole flight. A
            // stack without a limit, such as Linux, has none here either.
            (limit, Reduction::TimedOut) if limit < u32::MAX => limit.min(1),
            (limit, _) => limit,
        };
        // One is what most have, and no product.
        let most = if limit == 1 { mss } else { mul(limit.into(), mss).min(MAX_WINDOW) };
        let mut credit = news.min(most);
        if self.window.in_slow_start() {
            // What counts for more than a segment takes the window up to the threshold.
            let room = self.window.ssthresh().saturating_sub(self.window.cwnd());
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
                // What the gain adds ends at the threshold.
                let room = self.window.ssthresh() << FRACTION_BITS;
                let room = room.saturating_sub(self.window.cwnd_q());
                self.window.add_q(Ratio(gain.0 - Ratio::ONE.0).times(grown).min(room));
            } else if gain < Ratio::ONE {
                self.window.sub_q(c, Ratio(Ratio::ONE.0 - gain.0).times(grown));
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
        // Less than a segment remains a part of one, as in growing: rounded up it would never close the window.
        // Of nothing closed a compiler sees that it is none, whatever a segment is, and leaves this out where `observe` does nothing.
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
        }
    }

    /// The acknowledgement that has just ended a reduction opens the window, if that is asked for.
    fn grow_at_end(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        if p.credit == Credit::Delivered && self.news > 0 {
            let news = mul(self.news.into(), c.mss.into());
            self.on_new_ack(p, c, &Ack::of(news));
        }
    }

    /// Remembers what an acknowledgement that may end a reduction delivers.
    fn remember(&mut self, c: &Conn, a: &Ack) {
        let segments =
            if a.acked > 0 && a.ce == 0 { div(a.delivered, divisor(c.mss.into())) } else { 0 };
        self.news = segments.min(u16::MAX.into()) as u16;
    }

    /// Fast recovery begins, `ssthresh` being set already.
    fn enter_recovery(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        let ssthresh = self.window.ssthresh();
        let cwnd = match self.recovery {
            LossRecovery::Prr => {
                let safe = self.reduction == Reduction::Final && self.news > 0;
                self.prr.enter(c, self.window.cwnd(), ssthresh, safe, p.counting)
            }
            recovery => recovery.enter(c, ssthresh),
        };
        self.window.set(c, cwnd);
    }

    /// An acknowledgement during fast recovery.
    fn repair(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn, a: &Ack) {
        if self.reduction == Reduction::Undone {
            // Nothing was lost, and the phase that says so is about to follow.
            return;
        }
        let cwnd = self.cwnd();
        let cwnd = match self.recovery {
            LossRecovery::Prr => self.prr.ack(c, a, cwnd, self.window.ssthresh(), p.counting),
            recovery if a.duplicate => recovery.duplicate(c, cwnd),
            // Nothing new: a window update, for instance.
            _ if a.acked == 0 => return,
            recovery => recovery.partial(c, cwnd, a.acked),
        };
        self.window.set(c, cwnd);
    }

    /// Whether a mark's cut is spread over a round trip as a loss's is.
    fn spreads_cut(&self, p: &Setup<G::Params, S::Params>) -> bool {
        p.mark_cut == MarkCut::Proportional && self.recovery == LossRecovery::Prr
    }

    /// Fast recovery is over, or a cut that was spread.
    fn leave_recovery(&mut self, c: &Conn) {
        self.prr.leave(c, mul(self.news.into(), c.mss.into()));
        self.window.set(c, self.recovery.exit(c, self.window.ssthresh()));
    }

    /// The threshold after a cut of the window `prior`, which undoing will restore.
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

    /// The window is reduced: the threshold, the window that repairs begin with, and a new epoch.
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
            // Each duplicate sent a new segment, so the flight has outgrown the window that lost
            // the data; "no more than" FlightSize/2 (equation 4) leaves the first cut in force. Two
            // cuts for a loss are one reduction of the window before it: undoing takes both back.
            // A mark's stays.
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
            // `tcp_enter_loss` leaves what has been reduced in this window, and to a mark's answer there is no undoing.
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

    /// The window after a timeout (RFC 5681 section 3.1), or `tcp_enter_loss`'s.
    fn restart_window(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        let spared = if p.counting == Counting::Segments { c.in_flight } else { 0 };
        self.window.set(c, spared.saturating_add(c.mss.into()));
    }

    /// A loss in the round trip of a mark. The mark has cut the window already, unless it cut by the extent of
    /// congestion: a loss then halves besides (RFC 8257 section 3.5; `dctcp_react_to_loss`).
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
            self.window.set(c, c.in_flight); // the first retransmission goes all the same
        } else if self.cuts_after_mark(p) {
            let delivered = mul(self.news.into(), c.mss.into());
            self.repair(p, c, &Ack { delivered, lost: 1, ..Ack::default() });
        }
    }

    /// Whether a loss in the round trip of a mark changes the window by itself; Linux's reduction goes on otherwise.
    fn cuts_after_mark(&self, p: &Setup<G::Params, S::Params>) -> bool {
        G::REQUIREMENTS.ecn == Ecn::Exact || p.counting == Counting::Bytes
    }

    /// Half of an idle window, in whole segments and no less than the initial one, of which the threshold remembers three
    /// quarters: `tcp_cwnd_restart` for each timeout that has passed.
    fn halve_idle(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) -> u64 {
        let (mss, cwnd) = (u64::from(c.mss.max(1)), self.window.whole_segments(c));
        let remembered = mul((cwnd >> 1) + (cwnd >> 2), mss);
        self.window.set_ssthresh(self.window.ssthresh().max(remembered));
        let least = p.initial_window.min(mul(cwnd, mss));
        mul(cwnd >> 1, mss).max(least)
    }

    fn begin_epoch(&mut self, p: &Setup<G::Params, S::Params>, c: &Conn) {
        self.slow_start.restart(&p.slow_start, c);
        self.avoidance.restart(&p.own, c, &mut self.window);
    }
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
            // What is lost begins a recovery, which may cut the window that there was before.
            Phase::Cwr if self.spreads_cut(p) && a.lost > 0 && self.cuts_after_mark(p) => {
                return self.remember(c, &Ack { acked: a.delivered, ce: 0, ..*a });
            }
            Phase::Cwr if self.spreads_cut(p) => return self.repair(p, c, a),
            _ => {}
        }
        self.prr.observe(c, a);
        // The host is about to answer the mark.
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
            // RFC 5681 section 3.1: ssthresh changes only when a segment first times out.
            (Phase::Open | Phase::Recovery | Phase::Cwr, Phase::Loss) => {
                self.reduce(p, c, from, CongestionEvent::Timeout);
            }
            (Phase::Loss, Phase::Loss) => {
                self.restart_window(p, c);
                self.begin_epoch(p, c);
            }
            (Phase::Cwr, Phase::Recovery) => self.lose_after_mark(p, c),
            // Nothing was lost: the window stays as it was put back, and its epoch goes on.
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
        self.news = 0;
    }

    fn on_undo(&mut self, p: &Self::Params, c: &Conn, _why: Undo) {
        if matches!(self.reduction, Reduction::Final | Reduction::Undone) {
            return;
        }
        // Duplicates may have inflated the window beyond the threshold.
        let inflated = c.phase == Phase::Recovery && self.cwnd() > self.window.ssthresh();
        let grown = if inflated { self.window.ssthresh() } else { self.cwnd() };
        self.window.set(c, grown.max(self.prior.cwnd()));
        self.window.set_ssthresh(self.window.ssthresh().max(self.prior.ssthresh()));
        if self.reduction != Reduction::Held {
            self.avoidance.undo(&p.own, c, &self.window);
        }
        self.reduction = Reduction::Undone;
    }

    fn control(&self, _p: &Self::Params, _c: &Conn) -> Control {
        Control { cwnd: self.cwnd(), ssthresh: self.window.ssthresh(), pacing: Rate(0) }
    }

    /// RFC 5681 section 4.1: the restart window.
    fn on_idle_restart(&mut self, p: &Self::Params, c: &Conn, gap: Span, reset: bool) {
        if reset {
            let before = self.cwnd();
            let window = match p.counting {
                Counting::Bytes => p.initial_window.min(before),
                Counting::Segments => self.halve_idle(p, c),
            };
            self.window.set(c, window);
            self.slow_start.restart(&p.slow_start, c);
            if self.cwnd() < before {
                self.avoidance.fall_back(&p.own, c, &self.window);
            }
        }
        self.avoidance.idle(&p.own, c, gap);
    }

    /// Window and threshold keep their size in segments.
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

    fn on_cross_layer(&mut self, p: &Self::Params, c: &Conn, l: &CrossLayer) {
        self.avoidance.on_cross_layer(&p.own, c, l);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        self.avoidance.trace(sink);
    }
}
