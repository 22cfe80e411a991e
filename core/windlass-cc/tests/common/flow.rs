//! One flow, seen at the same time by an algorithm and by the floating-point models of its equations.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::AnyParams as AnySlowStart;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Event, Phase, Setup, Span, Time, Undo, flags,
};
use windlass_conform::models::Model;
use windlass_conform::models::chosen::chosen;

/// Events of a flow.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// After `after` nanoseconds, an acknowledgement of full segments with this RTT sample, all of them
    /// marked or none.
    Ack { after: u64, rtt: u64, segments: u64, marked: bool },
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

/// A model.
struct Observer {
    model: Box<dyn Model>,
    /// The deviation of its RTTs, in times that rounding to bytes stands for.
    deviation: f64,
}

impl Observer {
    /// The RTT that the model receives at a cwnd of `cwnd` bytes. Not every RTT deviates, so that means
    /// and extremes change relative to each other. A sample without a queue does not.
    fn rtt(&self, c: &Conn, rtt: Span, cwnd: u64) -> Span {
        let odd = c.una / u64::from(c.mss) % 2 == 1;
        if !odd || rtt <= c.min_rtt {
            return rtt;
        }
        // A part of the base RTT, and the RTT that queues another byte.
        let more = 1e-5 * c.min_rtt.0 as f64 + rtt.0 as f64 / cwnd as f64;
        Span((rtt.0 as f64 + more * self.deviation).round() as u64)
    }
}

/// Tolerated difference from a model: bytes, and a share of the model's value.
#[derive(Clone, Copy)]
pub struct Tolerance(pub f64, pub f64);

impl Tolerance {
    fn admits(self, ours: f64, model: f64) -> bool {
        (ours - model).abs() <= self.0 + self.1 * model
    }
}

/// Windows from here on are not compared, bytes.
const LARGEST: f64 = (MAX_WINDOW / 1_024) as f64;

/// Comparison with the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The models agree, and the algorithm agrees with one.
    Clear,
    /// The models disagree, or only some of all are in slow start: rounding decides. Or the window is
    /// so large that the algorithm limits it.
    Rounding,
    /// The models agree, but the algorithm does not.
    None,
}

pub struct Flow {
    pub p: AnyParams,
    pub c: Conn,
    pub ours: AnyController,
    /// The first model has the exact inputs.
    observers: Vec<Observer>,
}

impl Flow {
    /// A flow of the algorithm with its defaults and this window of whole segments, in congestion
    /// avoidance if `ssthresh` is at most the window.
    pub fn new(id: &str, mss: u32, cwnd: u64, ssthresh: u64) -> Flow {
        let p = AnyParams::by_name(id).expect("a registered algorithm");
        Flow::with(p, mss, cwnd, ssthresh)
    }

    /// A flow of the algorithm with these parameters, else as [`Flow::new`].
    pub fn with(mut p: AnyParams, mss: u32, cwnd: u64, ssthresh: u64) -> Flow {
        p.set_common(&Setup {
            initial_window: cwnd * u64::from(mss),
            initial_ssthresh: ssthresh.min(MAX_WINDOW / u64::from(mss)) * u64::from(mss),
            ack_limit: u32::MAX,
            // These tests do not examine recovery: the window is the threshold during it.
            recovery: Some(LossRecovery::Sack),
            slow_start: AnySlowStart::by_name("standard").expect("a slow start"),
            ..p.common()
        });
        let c = Conn { now: Time::from_secs(1_000), ..Conn::new(mss) };
        let ours = AnyController::init(&p, &c);
        let model = chosen(&p, &c, 0.0, 0.0);
        let observers = model.into_iter().map(|model| Observer { model, deviation: 0.0 }).collect();
        Flow { p, c, ours, observers }
    }

    /// The flow with four more models, whose RTTs or windows differ from the first model's as rounding
    /// within the tolerance may change them.
    pub fn surrounded(mut self, tolerance: Tolerance) -> Flow {
        let Tolerance(bytes, share) = tolerance;
        let bytes = (bytes * 0.6).round();
        for (bytes, share, deviation) in [
            (1.0, 0.0, 1.0),
            (-1.0, 0.0, -1.0),
            (bytes, share * 0.3, 0.0),
            (-bytes, share * -0.3, 0.0),
        ] {
            let model = chosen(&self.p, &self.c, bytes, share);
            self.observers.extend(model.map(|model| Observer { model, deviation }));
        }
        self
    }

    pub fn cwnd(&self) -> u64 {
        self.ours.control(&self.p, &self.c).cwnd
    }

    /// Window in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd() as f64 / f64::from(self.c.mss)
    }

    pub fn ssthresh(&self) -> u64 {
        self.ours.control(&self.p, &self.c).ssthresh
    }

    /// Value of a traced field.
    pub fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.ours.trace(&mut |field, value| {
            if field.name == name {
                found = Some(value);
            }
        });
        found.expect("a field of the algorithm")
    }

    fn apply(&mut self, e: Event) {
        let cwnd = self.cwnd();
        self.ours.apply(&self.p, &self.c, &e);
        for observer in &mut self.observers {
            let seen = match e {
                Event::Ack(a) => Event::Ack(Ack { rtt: observer.rtt(&self.c, a.rtt, cwnd), ..a }),
                e => e,
            };
            observer.model.apply(&self.c, &seen);
        }
    }

    /// An acknowledgement. The host had a window of whole segments in flight, and has srtt as in RFC
    /// 6298.
    pub fn ack(&mut self, after: u64, rtt: u64, segments: u64) {
        self.ack_with(after, rtt, segments, false);
    }

    fn ack_with(&mut self, after: u64, rtt: u64, segments: u64, marked: bool) {
        let mss = u64::from(self.c.mss);
        let acked = segments * mss;
        self.c.now.0 += after;
        self.c.una += acked;
        self.c.delivered += acked;
        self.c.flight_size = (self.cwnd() / mss * mss).saturating_sub(acked);
        self.c.in_flight = self.c.flight_size;
        self.c.next_id = self.c.una + self.c.flight_size;
        self.c.min_rtt = Span(self.c.min_rtt.0.min(rtt));
        self.c.srtt = match self.c.srtt {
            Span::NONE => Span(rtt),
            Span(srtt) => Span(srtt - srtt / 8 + rtt / 8),
        };
        let ce = if marked { acked } else { 0 };
        self.apply(Event::Ack(Ack { rtt: Span(rtt), ce, ..Ack::of(acked) }));
    }

    fn phase(&mut self, to: Phase) {
        let from = std::mem::replace(&mut self.c.phase, to);
        self.c.flight_size = self.cwnd();
        self.apply(Event::Phase { from, to });
    }

    pub fn lose(&mut self) {
        self.phase(Phase::Recovery);
    }

    pub fn echo(&mut self) {
        self.phase(Phase::Cwr);
    }

    /// The end of a recovery or of the response to an ECN echo.
    pub fn repair(&mut self, after: u64) {
        self.c.now.0 += after;
        self.phase(Phase::Open);
    }

    pub fn timeout(&mut self, after: u64) {
        self.c.now.0 += after;
        self.phase(Phase::Loss);
        self.phase(Phase::Open);
    }

    pub fn undo(&mut self) {
        self.apply(Event::Undo(Undo::Eifel));
        self.phase(Phase::Open);
    }

    pub fn idle(&mut self, gap: u64, reset: bool) {
        self.c.now.0 += gap;
        self.apply(Event::IdleRestart { gap: Span(gap), reset });
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Ack { after, rtt, segments, marked } => {
                self.ack_with(after, rtt, segments, marked);
            }
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
                self.echo();
                self.repair(answer);
            }
            Step::Timeout { after } => self.timeout(after),
            Step::Spurious { after } => {
                self.lose();
                self.c.now.0 += after;
                self.undo();
            }
            Step::Idle { gap } => self.idle(gap, false),
        }
    }

    /// Compares window and threshold with the models'.
    pub fn agreement(&self, tolerance: Tolerance) -> Agreement {
        let (cwnd, ssthresh) = (self.cwnd(), self.ssthresh());
        let near =
            |a: (f64, f64), b: (f64, f64)| tolerance.admits(a.0, b.0) && tolerance.admits(a.1, b.1);
        let ours = (cwnd as f64, ssthresh as f64);
        let model = self.observers[0].model.windows();
        let windows = || self.observers.iter().map(|o| o.model.windows());
        let starting = |w: (f64, f64)| w.0 < w.1;
        let together = windows().all(|w| near(w, model) && starting(w) == starting(ours));
        if !together || model.0 >= LARGEST {
            return Agreement::Rounding;
        }
        if windows().any(|w| near(ours, w)) { Agreement::Clear } else { Agreement::None }
    }

    /// Asserts that window and threshold are the model's.
    pub fn assert_close(&self, bytes: f64, share: f64) {
        let agreement = self.agreement(Tolerance(bytes, share));
        assert_eq!(agreement, Agreement::Clear, "{self:?}");
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let models: Vec<_> = self.observers.iter().map(|o| o.model.windows()).collect();
        let (cwnd, ssthresh) = (self.cwnd(), self.ssthresh());
        write!(f, "cwnd {cwnd} ssthresh {ssthresh}, models {models:?}, {:?}", self.c)?;
        write!(f, ", {:?}", self.p)
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
}

/// A path with a varying queue.
pub struct Path {
    pub dice: Dice,
    base: u64,
    rtt: u64,
    /// The queue changes slowly, acknowledgements arrive at the rate of the window, and other events are
    /// five times as rare.
    smooth: bool,
    /// Number of steps for which the queue stays empty.
    quiet: u64,
    steps: u64,
}

impl Path {
    /// A path with a base RTT of `base` nanoseconds.
    pub fn new(dice: Dice, base: u64, smooth: bool) -> Path {
        Path { dice, base, rtt: base, smooth, quiet: 0, steps: 0 }
    }

    /// The next event of a flow with a window of `segments` segments.
    pub fn step(&mut self, segments: f64) -> Step {
        let (dice, base) = (&mut self.dice, self.base);
        self.steps += 1;
        self.quiet = match self.quiet {
            0 if dice.roll(0, 200) == 0 => dice.roll(0, 600),
            quiet => quiet.saturating_sub(1),
        };
        self.rtt = if self.quiet > 0 {
            base + dice.roll(0, base / 500)
        } else if self.smooth {
            let up = self.rtt + dice.roll(0, base / 10);
            up.saturating_sub(base / 20).clamp(base, base * 5 / 2)
        } else {
            base + dice.roll(0, base)
        };
        let rtt = self.rtt;
        match dice.roll(0, if self.smooth { 5_000 } else { 1_000 }) {
            0..970 | 1_000.. => {
                let segments_acked = 1 + dice.roll(0, 4) / 3;
                let clock = (rtt as f64 / segments.max(1.0)) as u64 * segments_acked;
                let after = if self.smooth { clock } else { dice.roll(1, base / 10) };
                // Marks occur in bursts, on zero to a third of the segments.
                let marked = dice.roll(0, 100) < self.steps / 100 % 4 * 11;
                Step::Ack { after, rtt, segments: segments_acked, marked }
            }
            970..980 => Step::Unlimited { after: dice.roll(1, base), rtt },
            980..988 => Step::Loss { repair: rtt },
            988..991 => Step::Echo { answer: rtt },
            991..993 => Step::Timeout { after: 2 * rtt },
            993..996 => Step::Spurious { after: rtt },
            996..1_000 => Step::Idle { gap: dice.roll(0, 10_000_000_000) },
        }
    }
}
