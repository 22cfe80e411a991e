//! One flow, seen at the same time by an algorithm and by an `f64` model of its equations.

use windlass_cc::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use windlass_cc::loss_based::LossBased;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::{Standard, StandardParams};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Ack, Conn, Controller, Phase, Setup, Span, Time, Undo, flags};

/// A parameter as it is stored, in units of 1/65536.
pub fn q16(x: f64) -> f64 {
    (x * 65_536.0).round() / 65_536.0
}

/// The host's state, in seconds and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub now: f64,
    pub rtt: f64,
    pub srtt: f64,
    pub min_rtt: f64,
    pub mss: f64,
    pub acked: f64,
    pub flight: f64,
    pub una: u64,
    pub next_id: u64,
    pub phase: Phase,
    pub limited: bool,
}

/// The model's window and threshold, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Win {
    pub cwnd: f64,
    pub ssthresh: f64,
}

/// An algorithm's equations.
pub trait Model {
    fn observe(&mut self, _s: &Seen, _w: &Win) {}
    fn avoid(&mut self, s: &Seen, w: &mut Win);
    /// The new threshold in bytes, before it is cut to a whole number.
    fn cut(&mut self, s: &Seen, w: &Win, why: CongestionEvent) -> f64;
    fn slow_start_gain(&self, _s: &Seen) -> f64 {
        1.0
    }
    fn restart(&mut self) {}
    fn undo(&mut self, _w: &Win) {}
    fn idle(&mut self, _s: &Seen, _gap: f64) {}
    /// Minimum median number of steps before a rounding decides, large enough to reveal a drift.
    fn unbroken(&self) -> usize {
        1_000
    }

    /// If the last `avoid` decided so closely that rounding may have changed the decision: the window
    /// of the other decision.
    fn other(&mut self) -> Option<f64> {
        None
    }
    /// True if another decision was so close that rounding may have changed it.
    fn unclear(&self) -> bool {
        false
    }
}

/// Events of a flow.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// After `after` nanoseconds, an acknowledgement of full segments with this RTT sample.
    Ack { after: u64, rtt: u64, segments: u64 },
    /// An acknowledgement of one segment while the application has no more data to send.
    Unlimited { after: u64, rtt: u64 },
    /// A loss, repaired after `repair` nanoseconds.
    Loss { repair: u64 },
    /// An ECN echo, with a response for `answer` nanoseconds.
    Echo { answer: u64 },
    /// A timeout after `after` nanoseconds.
    Timeout { after: u64 },
    /// A loss that turns out to be spurious after `after` nanoseconds.
    Spurious { after: u64 },
    /// No data to send for `gap` nanoseconds.
    Idle { gap: u64 },
}

pub struct Flow<G: CongestionAvoidance, M> {
    pub p: Setup<G::Params, StandardParams>,
    pub c: Conn,
    pub ours: LossBased<G, Standard>,
    pub model: M,
    pub w: Win,
    prior: Win,
    rtt: u64,
}

impl<G: CongestionAvoidance, M: Model> Flow<G, M> {
    /// A flow with this window of whole segments, in congestion avoidance if `ssthresh` is at most the
    /// window.
    pub fn new(own: G::Params, model: M, mss: u32, cwnd: u64, ssthresh: u64) -> Flow<G, M> {
        let p = Setup {
            initial_window: cwnd * u64::from(mss),
            initial_ssthresh: ssthresh.min(MAX_WINDOW / u64::from(mss)) * u64::from(mss),
            ack_limit: u32::MAX,
            // These tests do not examine recovery: the window is the threshold during it.
            recovery: Some(LossRecovery::Sack),
            own,
            ..Setup::<G::Params, StandardParams>::default()
        };
        let c = Conn { now: Time::from_secs(1_000), ..Conn::new(mss) };
        let w = Win { cwnd: p.initial_window as f64, ssthresh: p.initial_ssthresh as f64 };
        let ours = LossBased::init(&p, &c);
        Flow { p, c, ours, model, w, prior: w, rtt: 0 }
    }

    /// Window in segments.
    pub fn segments(&self) -> f64 {
        self.ours.cwnd() as f64 / f64::from(self.c.mss)
    }

    pub fn ssthresh(&self) -> u64 {
        self.ours.control(&self.p, &self.c).ssthresh
    }

    pub fn seen(&self, acked: u64) -> Seen {
        let seconds = |span: Span| if span.is_known() { span.0 as f64 * 1e-9 } else { f64::NAN };
        Seen {
            now: self.c.now.0 as f64 * 1e-9,
            rtt: self.rtt as f64 * 1e-9,
            srtt: seconds(self.c.srtt),
            min_rtt: seconds(self.c.min_rtt),
            mss: f64::from(self.c.mss),
            acked: acked as f64,
            flight: self.c.flight_size as f64,
            una: self.c.una,
            next_id: self.c.next_id,
            phase: self.c.phase,
            limited: self.c.cwnd_limited(),
        }
    }

    /// The host's part: a full window in flight, and srtt as in RFC 6298.
    fn account(&mut self, after: u64, rtt: u64, acked: u64) {
        self.rtt = rtt;
        self.c.now.0 += after;
        self.c.una += acked;
        self.c.delivered += acked;
        self.c.flight_size = self.ours.cwnd();
        self.c.in_flight = self.c.flight_size;
        self.c.next_id = self.c.una + self.c.flight_size;
        self.c.min_rtt = Span(self.c.min_rtt.0.min(rtt));
        self.c.srtt = match self.c.srtt {
            Span::NONE => Span(rtt),
            Span(srtt) => Span(srtt - srtt / 8 + rtt / 8),
        };
    }

    pub fn ack(&mut self, after: u64, rtt: u64, segments: u64) {
        let acked = segments * u64::from(self.c.mss);
        self.account(after, rtt, acked);
        self.ours.on_ack(&self.p, &self.c, &Ack { rtt: Span(rtt), ..Ack::of(acked) });
        let s = self.seen(acked);
        self.model.observe(&s, &self.w);
        if !s.limited {
            return;
        }
        if self.w.cwnd < self.w.ssthresh {
            let gain = self.model.slow_start_gain(&s);
            // A credit above one segment increases the window at most to the threshold.
            let room = (self.w.ssthresh - self.w.cwnd).max(f64::from(self.c.mss));
            let credit = s.acked.min(room);
            let (first, all) = (self.w.cwnd + credit, self.w.cwnd + gain * credit);
            self.w.cwnd = if gain > 1.0 { all.min(self.w.ssthresh.max(first)) } else { first };
        } else {
            self.model.avoid(&s, &mut self.w);
            let ours = self.ours.cwnd() as f64;
            if let Some(other) = self.model.other()
                && (ours - other).abs() < (ours - self.w.cwnd).abs()
            {
                self.w.cwnd = other;
            }
        }
        self.w.cwnd = self.w.cwnd.min(MAX_WINDOW as f64);
    }

    fn phase(&mut self, to: Phase) {
        let from = std::mem::replace(&mut self.c.phase, to);
        self.c.flight_size = self.ours.cwnd();
        self.ours.on_phase(&self.p, &self.c, from, to);
    }

    fn cut(&mut self, to: Phase, why: CongestionEvent) {
        self.phase(to);
        self.prior = self.w;
        let ssthresh = self.model.cut(&self.seen(0), &self.w, why);
        self.w.ssthresh = ssthresh.max(2.0 * f64::from(self.c.mss)).floor();
    }

    pub fn lose(&mut self) {
        self.cut(Phase::Recovery, CongestionEvent::Loss);
        self.w.cwnd = self.w.ssthresh;
        self.model.restart();
    }

    pub fn repair(&mut self, after: u64) {
        self.c.now.0 += after;
        self.phase(Phase::Open);
        self.model.restart();
    }

    pub fn timeout(&mut self, after: u64) {
        self.c.now.0 += after;
        self.cut(Phase::Loss, CongestionEvent::Timeout);
        self.w.cwnd = f64::from(self.c.mss);
        self.model.restart();
        self.phase(Phase::Open);
    }

    pub fn undo(&mut self) {
        self.ours.on_undo(&self.p, &self.c, Undo::Eifel);
        self.w.cwnd = self.w.cwnd.max(self.prior.cwnd);
        self.w.ssthresh = self.w.ssthresh.max(self.prior.ssthresh);
        self.model.undo(&self.w);
        self.phase(Phase::Open);
    }

    pub fn idle(&mut self, gap: u64) {
        self.c.now.0 += gap;
        self.ours.on_idle_restart(&self.p, &self.c, Span(gap), false);
        let s = self.seen(0);
        self.model.idle(&s, gap as f64 * 1e-9);
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Ack { after, rtt, segments } => self.ack(after, rtt, segments),
            Step::Unlimited { after, rtt } => {
                self.c.flags = flags::APP_LIMITED;
                self.ack(after, rtt, 1);
                self.c.flags = flags::CWND_LIMITED;
            }
            Step::Loss { repair } => {
                self.lose();
                self.repair(repair);
            }
            Step::Echo { answer } => {
                self.cut(Phase::Cwr, CongestionEvent::Ecn);
                self.w.cwnd = self.w.cwnd.min(self.w.ssthresh).floor();
                self.model.restart();
                self.c.now.0 += answer;
                self.phase(Phase::Open);
            }
            Step::Timeout { after } => self.timeout(after),
            Step::Spurious { after } => {
                self.lose();
                self.c.now.0 += after;
                self.undo();
            }
            Step::Idle { gap } => self.idle(gap),
        }
    }

    /// True if only one of the two is in slow start, because their windows differ by a byte or two.
    fn parted(&self) -> bool {
        (self.ours.cwnd() < self.ssthresh()) != (self.w.cwnd < self.w.ssthresh)
    }

    /// Asserts that window and threshold differ from the model's by at most `bytes` plus the share
    /// `share`.
    pub fn assert_close(&self, bytes: f64, share: f64) {
        let close = |ours: u64, model: f64| (ours as f64 - model).abs() <= bytes + share * model;
        let ssthresh = self.ssthresh();
        assert!(
            close(self.ours.cwnd(), self.w.cwnd) && close(ssthresh, self.w.ssthresh),
            "cwnd {} ssthresh {ssthresh}, model {:?}, at {:?}",
            self.ours.cwnd(),
            self.w,
            self.c,
        );
    }
}

/// A xorshift generator: scripts are equal in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (self.0 >> 16) % (high - low)
    }

    /// The next event on a path with a base RTT of `base` nanoseconds.
    pub fn step(&mut self, base: u64) -> Step {
        let rtt = base + self.roll(0, base);
        match self.roll(0, 1_000) {
            0..970 => {
                let after = self.roll(1, base / 10);
                Step::Ack { after, rtt, segments: 1 + self.roll(0, 4) / 3 }
            }
            970..980 => Step::Unlimited { after: self.roll(1, base), rtt },
            980..988 => Step::Loss { repair: rtt },
            988..991 => Step::Echo { answer: rtt },
            991..993 => Step::Timeout { after: 2 * rtt },
            993..996 => Step::Spurious { after: rtt },
            _ => Step::Idle { gap: self.roll(0, 10_000_000_000) },
        }
    }
}

/// Runs the algorithm and its model together over scripts of acknowledgements with varying RTTs,
/// losses, timeouts, echoes, spurious losses and pauses. The paths have 1 ms to 600 ms and initial
/// windows of 2 to 5000 segments, with 300,000 steps in total. If rounding could decide, the flow
/// starts again.
pub fn follows<G: CongestionAvoidance, M: Model>(
    own: impl Fn() -> G::Params,
    model: impl Fn() -> M,
    bytes: f64,
    share: f64,
) {
    let mut unbroken = Vec::new();
    for seed in 1..=150 {
        let mut dice = Dice::new(seed);
        let mss = [536, 1_460, 8_960][dice.roll(0, 3) as usize];
        let base = [1_000_000, 20_000_000, 100_000_000, 600_000_000][dice.roll(0, 4) as usize];
        let cwnd = [2, 10, 40, 300, 5_000][dice.roll(0, 5) as usize];
        let ssthresh = if seed % 3 == 0 { cwnd * 4 } else { cwnd };
        let begin = || Flow::<G, M>::new(own(), model(), mss, cwnd, ssthresh);
        let (mut flow, mut steps) = (begin(), 0);
        for _ in 0..2_000 {
            steps += 1;
            flow.step(dice.step(base));
            if !flow.model.unclear() {
                flow.assert_close(bytes, share);
            }
            if flow.model.unclear() || flow.parted() {
                unbroken.push(std::mem::take(&mut steps));
                flow = begin();
            }
        }
        unbroken.push(steps);
    }
    unbroken.sort_unstable();
    let median = unbroken[unbroken.len() / 2];
    assert!(median >= model().unbroken(), "rounding decides after {median} steps: {unbroken:?}");
}
