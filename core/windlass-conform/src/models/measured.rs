//! Westwood+ (Grieco and Mascolo 2004), Compound (draft-sridharan-tcpm-ctcp-02), LEDBAT (RFC 6817),
//! DCTCP (RFC 8257).

use windlass_cc::{Ack, Conn, Phase, Span, compound, dctcp, ledbat, westwood};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};
use super::{share, time};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

fn growing(c: &Conn) -> bool {
    matches!(c.phase, Phase::Open | Phase::Loss)
}

/// Westwood+.
pub struct Westwood {
    /// Two averages in series instead of the paper's filter.
    cascade: bool,
    min_interval: Span,
    since: f64,
    delivered: u64,
    /// The last sample, or the output of the first average.
    last: f64,
    /// Bytes per second.
    bandwidth: Option<f64>,
}

impl Westwood {
    /// A new connection.
    pub fn new(c: &Conn) -> Westwood {
        Westwood {
            cascade: false,
            min_interval: Span::ZERO,
            since: seconds(c),
            delivered: 0,
            last: 0.0,
            bandwidth: None,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &westwood::Params, c: &Conn) -> Option<Westwood> {
        (p.moment == westwood::Moment::Loss && p.clock == Span::ZERO).then(|| Westwood {
            cascade: p.filter == westwood::Filter::Cascade,
            min_interval: p.min_interval,
            ..Westwood::new(c)
        })
    }
}

impl Law for Westwood {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        self.delivered += a.delivered;
        let rtt = if a.rtt.is_known() { a.rtt } else { c.srtt };
        // Compared as nanoseconds: an interval of exactly an RTT counts.
        let interval = c.now.0 - (self.since * 1e9).round() as u64;
        if !rtt.is_known() || interval == 0 || interval < rtt.max(self.min_interval).0 {
            return;
        }
        let sample = self.delivered as f64 / (interval as f64 * 1e-9);
        let average = (7.0 * self.last + sample) / 8.0;
        (self.last, self.bandwidth) = match self.bandwidth {
            None => (sample, Some(sample)),
            Some(old) if self.cascade => (average, Some((7.0 * old + average) / 8.0)),
            Some(old) => (sample, Some(0.9 * old + 0.1 * (sample + self.last) / 2.0)),
        };
        (self.since, self.delivered) = (seconds(c), 0);
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, 1.0)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        let Some(bandwidth) = self.bandwidth else { return kept(c, 0.5) };
        let pipe = bandwidth * base(c);
        let pipe = if cause == Cause::Timeout { pipe } else { pipe.min(w.cwnd) };
        pipe.max(2.0 * f64::from(c.mss))
    }

    fn idle(&mut self, c: &Conn, _gap: f64) {
        (self.since, self.delivered) = (seconds(c), 0);
    }
}

/// Compound, k 3/4.
pub struct Compound {
    alpha: f64,
    beta: f64,
    zeta: f64,
    /// Minimum and maximum of gamma.
    gammas: (f64, f64),
    lambda: f64,
    low_window: f64,
    rounds: Rounds,
    /// Bytes.
    dwnd: f64,
    base: Option<f64>,
    gamma: f64,
    diff_reno: Option<f64>,
}

impl Compound {
    /// A new connection.
    pub fn new(c: &Conn) -> Compound {
        Compound {
            alpha: 0.125,
            beta: 0.5,
            zeta: 1.0,
            gammas: (5.0, 30.0),
            lambda: 0.8,
            low_window: 41.0,
            rounds: Rounds::new(c),
            dwnd: 0.0,
            base: None,
            gamma: 30.0,
            diff_reno: None,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &compound::Params, c: &Conn) -> Compound {
        let high = p.gamma_high as f64;
        Compound {
            alpha: share(p.alpha),
            beta: share(p.beta),
            zeta: share(p.zeta),
            gammas: ((p.gamma_low as f64).min(high), high),
            lambda: share(p.lambda),
            low_window: p.low_window as f64,
            gamma: high,
            ..Compound::new(c)
        }
    }

    fn loss_window(&self, c: &Conn, w: &Windows) -> f64 {
        (w.cwnd - self.dwnd).max(f64::from(c.mss))
    }
}

impl Law for Compound {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
        let Some(ended) = self.rounds.take(c, a) else { return };
        let Some(base) = self.base.filter(|_| ended.samples > 0 && growing(c)) else { return };
        let mss = f64::from(c.mss);
        let loss_window = self.loss_window(c, w);
        self.diff_reno = Some(queued(loss_window / mss, base, ended.mean));
        self.dwnd = self.dwnd.min(w.cwnd - loss_window);
        if w.cwnd < w.ssthresh {
            return;
        }
        let diff = queued(w.segments(c), base, ended.mean);
        if diff >= self.gamma {
            let less = (self.zeta * diff * mss).min(self.dwnd);
            self.dwnd -= less;
            w.shrink(c, w.cwnd - less);
        } else if c.cwnd_limited() && w.segments(c) >= self.low_window {
            let more = (self.alpha * w.segments(c).powf(0.75) - 1.0).max(0.0) * mss;
            self.dwnd += more;
            w.cwnd += more;
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, 1.0)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        if cause == Cause::Timeout {
            self.dwnd = 0.0;
            self.base = c.srtt.is_known().then_some(c.srtt.0 as f64 * 1e-9);
            (self.gamma, self.diff_reno) = (self.gammas.1, None);
            return kept(c, 0.5);
        }
        if let Some(diff) = self.diff_reno.take() {
            let mean = (1.0 - self.lambda) * self.gamma + self.lambda * 0.75 * diff;
            self.gamma = mean.clamp(self.gammas.0, self.gammas.1);
        }
        let ssthresh = kept(c, 1.0 - self.beta);
        self.dwnd = (ssthresh - self.loss_window(c, w) / 2.0).max(0.0);
        ssthresh
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        self.rounds = Rounds::new(c);
    }

    fn resize(&mut self, _c: &Conn, factor: f64) {
        self.dwnd *= factor;
    }

    /// Roots to a part in 16,384 of the delay window's growth.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}

/// Stages of LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus section 4.4).
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Start,
    Steady,
    /// Two segments.
    Frozen,
    /// Slow start back to the window before the slowdown.
    Ramp,
}

/// The periodic slowdown of LEDBAT++.
struct Slowdown {
    stage: Stage,
    /// End of the stage.
    until: f64,
    /// Start of the last slowdown.
    since: f64,
}

impl Slowdown {
    fn observe(&mut self, c: &Conn, w: &mut Windows) {
        let (now, wait) = (seconds(c), 2.0 * time(c.srtt));
        let slow_start = w.cwnd < w.ssthresh;
        match self.stage {
            Stage::Start if !slow_start => (self.stage, self.until) = (Stage::Steady, now + wait),
            Stage::Steady if !slow_start && now >= self.until => {
                let window = 2.0 * f64::from(c.mss);
                *w = Windows { cwnd: window.min(w.cwnd), ssthresh: w.cwnd.max(window) };
                (self.stage, self.until, self.since) = (Stage::Frozen, now + wait, now);
            }
            Stage::Frozen if now >= self.until => self.stage = Stage::Ramp,
            Stage::Ramp if !slow_start => self.end(c),
            _ => {}
        }
    }

    fn end(&mut self, c: &Conn) {
        let now = seconds(c);
        (self.stage, self.until) = (Stage::Steady, now + 9.0 * (now - self.since));
    }
}

/// LEDBAT and LEDBAT++, with delays from RTTs.
pub struct Ledbat {
    /// TARGET, seconds.
    target: f64,
    gain: f64,
    /// BASE_HISTORY, minutes.
    base_history: usize,
    /// CURRENT_FILTER, samples.
    current_filter: usize,
    allowed_increase: f64,
    min_cwnd: f64,
    /// LEDBAT++.
    slowdown: Option<Slowdown>,
    /// Minimum of each minute in whole nanoseconds, so that a delay of exactly TARGET counts. The
    /// present minute is last.
    minutes: Vec<f64>,
    minute: f64,
    samples: Vec<f64>,
}

impl Ledbat {
    /// A new connection.
    pub fn new(c: &Conn) -> Ledbat {
        Ledbat {
            target: 0.1,
            gain: 1.0,
            base_history: 10,
            current_filter: 4,
            allowed_increase: 1.0,
            min_cwnd: 2.0,
            slowdown: None,
            minutes: vec![f64::INFINITY],
            minute: seconds(c),
            samples: Vec::new(),
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &ledbat::Params, c: &Conn) -> Ledbat {
        let plus_plus = p.variant == ledbat::Variant::PlusPlus;
        let (until, since) = (f64::INFINITY, seconds(c));
        Ledbat {
            target: time(if plus_plus { p.target.min(Span::from_millis(60)) } else { p.target }),
            slowdown: plus_plus.then_some(Slowdown { stage: Stage::Start, until, since }),
            gain: share(p.gain),
            base_history: p.base_history as usize,
            current_filter: p.current_filter as usize,
            allowed_increase: p.allowed_increase as f64,
            min_cwnd: p.min_cwnd as f64,
            ..Ledbat::new(c)
        }
    }

    /// Nanoseconds.
    fn base(&self) -> f64 {
        last(&self.minutes, self.base_history)
    }

    fn queueing_delay(&self) -> f64 {
        let current = last(&self.samples, self.current_filter);
        if current.is_finite() { (current - self.base()) / 1e9 } else { 0.0 }
    }

    /// LEDBAT++ section 4.2: 1/GAIN.
    fn divisor(&self) -> f64 {
        ((2e9 * self.target).round() / self.base()).ceil().clamp(1.0, 16.0)
    }

    fn stage(&self) -> Option<Stage> {
        self.slowdown.as_ref().map(|slowdown| slowdown.stage)
    }

    /// Bytes by which cwnd grows (or shrinks).
    fn step(&self, c: &Conn, a: &Ack, w: &Windows) -> f64 {
        if self.slowdown.is_some() {
            let acked = (a.acked as f64).min(w.cwnd);
            let open = acked * f64::from(c.mss) / w.cwnd / self.divisor();
            let close = acked * (self.queueing_delay() / self.target - 1.0).max(0.0);
            return (open - close).max(-acked / 2.0);
        }
        let off_target = (self.target - self.queueing_delay()) / self.target;
        self.gain * off_target * (a.acked as f64).min(w.cwnd) * f64::from(c.mss) / w.cwnd
    }
}

/// The minimum of the last `n` values.
fn last(list: &[f64], n: usize) -> f64 {
    list[list.len().saturating_sub(n)..].iter().copied().fold(f64::INFINITY, f64::min)
}

impl Law for Ledbat {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        if a.rtt.is_known() {
            let delay = a.rtt.0 as f64;
            if seconds(c) - self.minute >= 60.0 {
                self.minute = seconds(c);
                self.minutes.push(delay);
            } else if let Some(last) = self.minutes.last_mut() {
                *last = last.min(delay);
            }
            self.samples.push(delay);
        }
        if a.acked == 0 || !growing(c) {
            return;
        }
        if w.cwnd < w.ssthresh {
            let limit = match self.stage() {
                None => self.target,
                Some(Stage::Start) => 0.75 * self.target,
                Some(_) => f64::INFINITY,
            };
            if self.queueing_delay() > limit {
                w.ssthresh = w.cwnd;
            }
        } else {
            let step = self.step(c, a, w);
            if step < 0.0 {
                let floor = (self.min_cwnd * f64::from(c.mss)).min(w.cwnd);
                w.cwnd = (w.cwnd + step).max(floor);
                w.ssthresh = w.ssthresh.min(w.cwnd);
            }
        }
        if let Some(slowdown) = &mut self.slowdown {
            slowdown.observe(c, w);
        }
    }

    fn slow_start_gain(&self, _c: &Conn) -> f64 {
        match self.stage() {
            None => 1.0,
            Some(Stage::Frozen) => 0.0,
            Some(_) => 1.0 / self.divisor(),
        }
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        if let Some(slowdown) = &mut self.slowdown
            && matches!(slowdown.stage, Stage::Frozen | Stage::Ramp)
        {
            slowdown.end(c);
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, _credit: f64, w: &mut Windows) -> f64 {
        if self.stage() == Some(Stage::Frozen) {
            return 0.0;
        }
        let mss = f64::from(c.mss);
        w.cwnd += self.step(c, a, w).max(0.0);
        // The flight before this acknowledgement and ALLOWED_INCREASE.
        let flight = (c.flight_size + a.acked) as f64;
        let limit = flight + self.allowed_increase * mss;
        w.shrink(c, limit.max(self.min_cwnd * mss));
        0.0
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    /// Delays in whole microseconds: a part in 10,000 of the step.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 10_000.0
    }
}

/// DCTCP.
pub struct Dctcp {
    g: f64,
    alpha: f64,
    window_end: u64,
    answered_to: u64,
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    /// A new connection.
    pub fn new(c: &Conn) -> Dctcp {
        let (window_end, answered_to) = (c.next_id, c.una);
        Dctcp { g: 1.0 / 16.0, alpha: 1.0, window_end, answered_to, delivered: 0, marked: 0 }
    }
}

impl Dctcp {
    /// A new connection with these parameters.
    pub fn of(p: &dctcp::Params, c: &Conn) -> Option<Dctcp> {
        let (g, alpha) = (share(p.gain), share(p.initial_alpha));
        (p.variant == dctcp::Variant::Rfc).then(|| Dctcp { g, alpha, ..Dctcp::new(c) })
    }

    fn kept(&self, c: &Conn, w: &Windows) -> f64 {
        (w.cwnd * (1.0 - self.alpha / 2.0)).max(2.0 * f64::from(c.mss))
    }
}

impl Law for Dctcp {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        self.delivered += a.delivered;
        self.marked += a.ce;
        if c.una > self.window_end {
            let fraction = self.marked as f64 / self.delivered as f64;
            self.alpha = self.alpha * (1.0 - self.g) + fraction * self.g;
            (self.window_end, self.delivered, self.marked) = (c.next_id, 0, 0);
        }
        if a.ce > 0 && growing(c) && c.una > self.answered_to {
            self.answered_to = c.next_id;
            w.shrink(c, self.kept(c, w));
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if a.ce > 0 { 0.0 } else { per_round(c, credit, w, 1.0) }
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        let answered = c.una <= self.answered_to;
        self.answered_to = c.next_id;
        match cause {
            Cause::Mark if answered => w.cwnd,
            Cause::Mark => self.kept(c, w),
            Cause::Loss | Cause::Timeout => kept(c, 0.5),
        }
    }
}
