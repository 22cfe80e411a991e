//! Copa (Arun and Balakrishnan 2018). Windows are in bytes, times in nanoseconds, 1/δ in packets.
//!
//! The paper leaves several rules open, and `windlass algorithms copa` states the choices. cwnd grows
//! only while it limits the sender, and at most doubles with an acknowledgement. The velocity is at
//! most the change of cwnd by its own value in an RTT, and cwnd is at least two segments, as in the
//! authors' code. The mode is judged after slow start. After a timeout, cwnd is one segment and slow
//! start begins again. After a longer idle time, slow start begins again with the initial window.

use windlass_cc::{Ack, Conn, Event, Phase, Span};

use super::Model;
use super::filters::Best;

/// 1/δ of the default mode (section 2.2).
const DEFAULT: f64 = 2.0;

/// cwnd and appetite, which an undo restores.
#[derive(Clone, Copy)]
struct Saved {
    cwnd: f64,
    inverse: f64,
    slow_start: bool,
}

/// Copa.
pub struct Copa {
    now: Saved,
    prior: Saved,
    initial_window: f64,
    rtt_min: Best,
    rtt_standing: Best,
    rtt_max: Best,
    /// Time at which the queue was last nearly empty.
    emptied: f64,
    competitive: bool,
    /// End of the window of data that is being acknowledged, and cwnd at its beginning.
    round: (u64, f64),
    up: bool,
    /// Number of consecutive windows with this direction.
    held: u32,
    velocity: f64,
    lossy_round: bool,
}

fn now(c: &Conn) -> f64 {
    c.now.0 as f64
}

fn srtt(c: &Conn) -> f64 {
    c.srtt.0 as f64
}

fn mss(c: &Conn) -> f64 {
    f64::from(c.mss)
}

impl Copa {
    /// A new connection.
    pub fn new(cwnd: f64, c: &Conn) -> Copa {
        let begin = Saved { cwnd, inverse: DEFAULT, slow_start: true };
        Copa {
            now: begin,
            prior: begin,
            initial_window: cwnd,
            rtt_min: Best::smallest(),
            rtt_standing: Best::smallest(),
            rtt_max: Best::largest(),
            emptied: now(c),
            competitive: false,
            round: (c.next_id, cwnd),
            up: true,
            held: 0,
            velocity: 1.0,
            lossy_round: false,
        }
    }

    /// Section 2.1: RTTstanding over half a smoothed RTT, RTTmin over ten seconds. Section 2.2: RTTmax
    /// over four RTTs.
    fn measure(&mut self, c: &Conn, Span(rtt): Span) {
        let (at, rtt) = (now(c), rtt as f64);
        self.rtt_min.take(10e9, at, rtt);
        self.rtt_standing.take(srtt(c) / 2.0, at, rtt);
        self.rtt_max.take(4.0 * srtt(c), at, rtt);
    }

    /// Section 2.2: the queue is nearly empty below a tenth of the range of the RTTs. A flow without a
    /// nearly empty queue for five RTTs competes.
    fn judge(&mut self, c: &Conn, queueing: f64, least: f64, largest: f64) {
        if self.now.slow_start || queueing == 0.0 || queueing < 0.1 * (largest - least) {
            self.emptied = now(c);
        }
        self.competitive = now(c) - self.emptied > 5.0 * srtt(c);
        if !self.competitive {
            self.now.inverse = DEFAULT;
        }
    }

    /// Section 2.1, steps 2 and 3, for the given number of delivered bytes.
    fn step(&mut self, c: &Conn, queueing: f64, standing: f64, delivered: f64) {
        let rate = self.now.cwnd / mss(c) / standing;
        let below = queueing == 0.0 || rate <= self.now.inverse / queueing;
        if self.now.slow_start && !below {
            self.now.slow_start = false;
            self.steady(c);
        }
        let packets = delivered / mss(c);
        let change = packets * self.velocity * self.now.inverse * mss(c) * mss(c) / self.now.cwnd;
        self.now.cwnd += match (below, self.now.slow_start) {
            (true, _) if !c.cwnd_limited() => 0.0,
            (true, true) => delivered,
            (true, false) => change.min(self.now.cwnd),
            (false, _) => -change,
        };
        self.now.cwnd = self.now.cwnd.max(2.0 * mss(c));
    }

    /// Section 2.1, step 4, once per window; section 2.2 for 1/δ.
    fn end_round(&mut self, c: &Conn) {
        let up = self.now.cwnd > self.round.1;
        if up == self.up {
            self.held += 1;
            if self.held >= 3 {
                self.velocity *= 2.0;
            }
        } else {
            (self.up, self.held, self.velocity) = (up, 0, 1.0);
        }
        let most = (self.now.cwnd / (self.now.inverse * mss(c))).floor().max(1.0);
        self.velocity = self.velocity.min(most);
        if self.competitive && !self.lossy_round {
            self.now.inverse += 1.0;
        }
        self.lossy_round = false;
        self.round = (c.next_id, self.now.cwnd);
    }

    /// Resets velocity and direction.
    fn steady(&mut self, c: &Conn) {
        (self.held, self.velocity) = (0, 1.0);
        self.round = (c.next_id, self.now.cwnd);
    }

    fn on_ack(&mut self, c: &Conn, a: &Ack) {
        if a.rtt.is_known() {
            self.measure(c, a.rtt);
        }
        let times = (self.rtt_min.get(), self.rtt_standing.get(), self.rtt_max.get());
        let (Some(least), Some(standing), Some(largest)) = times else { return };
        let queueing = standing - least;
        self.judge(c, queueing, least, largest);
        if a.delivered > 0 {
            self.step(c, queueing, standing, a.delivered as f64);
        }
        if c.una > self.round.0 {
            self.end_round(c);
        }
    }

    /// Section 2.2: multiplicative decrease of 1/δ, which stays at or above the default mode's value.
    fn on_loss_episode(&mut self) {
        self.prior = self.now;
        self.lossy_round = true;
        if self.competitive {
            self.now.inverse = (self.now.inverse / 2.0).max(DEFAULT);
        }
    }

    fn on_phase(&mut self, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (Phase::Open, Phase::Recovery) => self.on_loss_episode(),
            (_, Phase::Loss) => {
                if from != Phase::Loss {
                    self.on_loss_episode();
                }
                self.now.cwnd = mss(c);
                self.now.slow_start = true;
                self.steady(c);
            }
            _ => {}
        }
    }
}

impl Model for Copa {
    fn apply(&mut self, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => self.on_ack(c, a),
            Event::Phase { from, to } => self.on_phase(c, *from, *to),
            Event::Undo(_) => {
                self.now.cwnd = self.now.cwnd.max(self.prior.cwnd);
                self.now.slow_start &= self.prior.slow_start;
                if self.competitive {
                    self.now.inverse = self.now.inverse.max(self.prior.inverse);
                }
            }
            Event::IdleRestart { reset, .. } => {
                self.emptied = now(c);
                if *reset {
                    self.now.cwnd = self.now.cwnd.min(self.initial_window);
                    self.now.slow_start = true;
                    (self.held, self.velocity) = (0, 1.0);
                }
                self.round = (c.next_id, self.now.cwnd);
            }
            Event::Mss(_) => self.now.cwnd = self.now.cwnd.max(mss(c)),
            Event::Loss(_) | Event::Group(_) | Event::CrossLayer(_) => {}
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.now.cwnd, f64::INFINITY)
    }

    /// Section 2.1: twice cwnd per standing RTT.
    fn pacing(&self) -> Option<f64> {
        self.rtt_standing.get().map(|standing| 2.0 * self.now.cwnd / standing * 1e9)
    }

    /// Bytes of error, because steps are divided by a window truncated to whole segments: one part in
    /// `cwnd` of a step.
    fn tolerance(&self) -> f64 {
        4.0 + self.now.cwnd / 10_000.0
    }
}
