//! CUBIC (RFC 9438). Windows are in segments and times in seconds, as in the RFC.

use windlass_cc::{Ack, Conn, cubic::Params};

use super::frame::{Cause, Law, Windows, kept};
use super::share;

#[derive(Clone, Copy, Default)]
struct State {
    w_max: f64,
    cwnd_prior: f64,
    w_est: f64,
    k: f64,
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy)]
enum Epoch {
    /// Began at this time.
    Since(f64),
    /// Has run for this time and is stopped, because cwnd does not limit the sender.
    Stopped(f64),
}

/// CUBIC.
pub struct Cubic {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    friendly: bool,
    /// Section 4.3: alpha is 1 above cwnd_prior.
    reno_beyond: bool,
    /// Windows before a reduction are kept to a 64th of a segment.
    rounded: bool,
    now: State,
    /// State before the last reduction (section 4.9.2).
    prior: State,
}

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

impl Default for Cubic {
    /// The constants of section 5.
    fn default() -> Cubic {
        Cubic {
            c: 0.4,
            beta: 0.7,
            beta_ecn: 0.7,
            fast_convergence: true,
            friendly: true,
            reno_beyond: true,
            rounded: false,
            now: State::default(),
            prior: State::default(),
        }
    }
}

impl Cubic {
    /// CUBIC with these parameters, rounded as Windlass does.
    pub fn of(p: &Params) -> Option<Cubic> {
        (!p.reno_paced).then(|| Cubic {
            c: share(p.c),
            beta: share(p.keep),
            beta_ecn: share(p.keep_ecn),
            fast_convergence: p.fast_convergence,
            friendly: p.friendliness,
            reno_beyond: p.reno_beyond,
            rounded: true,
            ..Cubic::default()
        })
    }

    fn round(&self, segments: f64) -> f64 {
        if self.rounded { (segments * 64.0).round() / 64.0 } else { segments }
    }

    fn begin(&mut self, c: &Conn, cwnd: f64) -> f64 {
        let now = seconds(c);
        let start = match self.now.epoch {
            Some(Epoch::Since(start)) => start,
            Some(Epoch::Stopped(ran)) => now - ran,
            None => {
                // Figure 2; sections 4.8 and 4.10 for windows at or above W_max.
                let first = self.round(cwnd);
                self.now.w_max = self.now.w_max.max(first);
                self.now.k = ((self.now.w_max - first) / self.c).cbrt();
                self.now.w_est = cwnd;
                now
            }
        };
        self.now.epoch = Some(Epoch::Since(start));
        now - start
    }

    /// Figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        self.c * (t - self.now.k).powi(3) + self.now.w_max
    }
}

impl Law for Cubic {
    fn observe(&mut self, c: &Conn, _a: &Ack, w: &mut Windows) {
        if w.cwnd < w.ssthresh {
            self.now.epoch = None;
        } else if let (Some(Epoch::Since(start)), false) = (self.now.epoch, c.cwnd_limited()) {
            self.now.epoch = Some(Epoch::Stopped(seconds(c) - start)); // section 5.8
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let mss = f64::from(c.mss);
        let cwnd = w.segments(c);
        let t = self.begin(c, cwnd);
        // Figure 4 and the paragraph after it.
        let alpha = if self.reno_beyond && self.round(self.now.w_est) >= self.now.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        };
        self.now.w_est += alpha * a.acked as f64 / mss / cwnd;
        if self.friendly && self.w_cubic(t) < self.now.w_est {
            // Section 4.3; never faster than slow start.
            return ((self.now.w_est - cwnd).max(0.0) * mss).min(credit.max(mss));
        }
        let rtt = if c.srtt.is_known() { c.srtt.0 as f64 * 1e-9 } else { 0.0 };
        let target = self.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd); // section 4.2
        (target - cwnd) / cwnd * credit.max(mss) // section 4.4
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        self.prior = self.now;
        let cwnd = self.round(w.segments(c));
        let beta = if cause == Cause::Mark { self.beta_ecn } else { self.beta };
        self.now.w_max = match cause {
            Cause::Timeout => 0.0, // section 4.8: the window at the next epoch
            _ if self.fast_convergence && cwnd < self.now.w_max => {
                let lowered = cwnd * (1.0 + beta) / 2.0; // section 4.7
                if self.rounded { (lowered * 64.0).floor() / 64.0 } else { lowered }
            }
            _ => cwnd,
        };
        self.now.cwnd_prior = cwnd;
        kept(c, beta) // section 4.6
    }

    fn restart(&mut self, _c: &Conn, _w: &Windows) {
        self.now.epoch = None;
    }

    fn undo(&mut self, c: &Conn, w: &Windows) {
        // The state is not restored if cwnd has passed its value before the reduction.
        if self.round(w.segments(c)) <= self.now.cwnd_prior + 1e-9 {
            let w_est = match self.rounded {
                true => self.round(self.prior.w_est).min(w.segments(c)),
                false => self.prior.w_est,
            };
            self.now = State { w_est, ..self.prior };
        }
    }

    fn idle(&mut self, _c: &Conn, gap: f64) {
        if let Some(Epoch::Since(start)) = self.now.epoch {
            self.now.epoch = Some(Epoch::Since(start + gap));
        }
    }

    /// Section 4.10 uses slow start while cwnd is at most ssthresh. Section 4.3 begins W_est at the
    /// cwnd with which congestion avoidance begins. A W_est from before the idle time would cancel
    /// RFC 5681's restart window at once.
    fn fall_back(&mut self, _c: &Conn) {
        self.now.epoch = None;
    }

    /// An implementation may round W_max and other values in segments to a 64th.
    fn tolerance(&self, _w: &Windows) -> f64 {
        4.0 + 1_460.0 / 64.0
    }
}
