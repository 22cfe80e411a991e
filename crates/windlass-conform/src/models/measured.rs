//! Westwood+ (Grieco and Mascolo 2004), Compound (draft-sridharan-tcpm-ctcp-02), LEDBAT (RFC 6817),
//! DCTCP (RFC 8257).

use windlass_cc::{Ack, Conn, Phase};

use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

fn growing(c: &Conn) -> bool {
    matches!(c.phase, Phase::Open | Phase::Loss)
}

/// Westwood+ with the paper's filter.
pub struct Westwood {
    since: f64,
    delivered: u64,
    last: f64,
    /// Bytes per second.
    bandwidth: Option<f64>,
}

impl Westwood {
    /// A new connection.
    pub fn new(c: &Conn) -> Westwood {
        Westwood { since: seconds(c), delivered: 0, last: 0.0, bandwidth: None }
    }
}

impl Law for Westwood {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        self.delivered += a.delivered;
        let rtt = if a.rtt.is_known() { a.rtt } else { c.srtt };
        // Compared as nanoseconds: an interval of exactly an RTT counts.
        let interval = c.now.0 - (self.since * 1e9).round() as u64;
        if !rtt.is_known() || interval == 0 || interval < rtt.0 {
            return;
        }
        let sample = self.delivered as f64 / (interval as f64 * 1e-9);
        self.bandwidth = Some(match self.bandwidth {
            None => sample,
            Some(old) => 0.9 * old + 0.1 * (sample + self.last) / 2.0,
        });
        (self.last, self.since, self.delivered) = (sample, seconds(c), 0);
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

/// Compound: alpha 1/8, beta 1/2, k 3/4, zeta 1, gamma from 5 to 30, lambda 0.8, 41 segments.
pub struct Compound {
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
        Compound { rounds: Rounds::new(c), dwnd: 0.0, base: None, gamma: 30.0, diff_reno: None }
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
            let less = (diff * mss).min(self.dwnd);
            self.dwnd -= less;
            w.shrink(c, w.cwnd - less);
        } else if c.cwnd_limited() && w.segments(c) >= 41.0 {
            let more = (0.125 * w.segments(c).powf(0.75) - 1.0).max(0.0) * mss;
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
            (self.gamma, self.diff_reno) = (30.0, None);
            return kept(c, 0.5);
        }
        if let Some(diff) = self.diff_reno.take() {
            self.gamma = (0.2 * self.gamma + 0.8 * 0.75 * diff).clamp(5.0, 30.0);
        }
        let ssthresh = kept(c, 0.5);
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

/// LEDBAT: TARGET 100 ms, GAIN 1, delays from RTTs.
pub struct Ledbat {
    /// Minimum of each minute in whole nanoseconds, so that a delay of exactly TARGET counts. The
    /// present minute is last.
    minutes: Vec<f64>,
    minute: f64,
    samples: Vec<f64>,
}

impl Ledbat {
    /// A new connection.
    pub fn new(c: &Conn) -> Ledbat {
        Ledbat { minutes: vec![f64::INFINITY], minute: seconds(c), samples: Vec::new() }
    }

    fn queueing_delay(&self) -> f64 {
        let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
        let current = least(&self.samples[self.samples.len().saturating_sub(4)..]);
        let base = least(&self.minutes[self.minutes.len().saturating_sub(10)..]);
        if current.is_finite() { (current - base) / 1e9 } else { 0.0 }
    }

    /// Bytes by which cwnd grows (or shrinks).
    fn step(&self, c: &Conn, a: &Ack, w: &Windows) -> f64 {
        let off_target = (0.1 - self.queueing_delay()) / 0.1;
        off_target * (a.acked as f64).min(w.cwnd) * f64::from(c.mss) / w.cwnd
    }
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
            if self.queueing_delay() > 0.1 {
                w.ssthresh = w.cwnd;
            }
            return;
        }
        let step = self.step(c, a, w);
        if step < 0.0 {
            let floor = (2.0 * f64::from(c.mss)).min(w.cwnd);
            w.cwnd = (w.cwnd + step).max(floor);
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, _credit: f64, w: &mut Windows) -> f64 {
        let mss = f64::from(c.mss);
        w.cwnd += self.step(c, a, w).max(0.0);
        // The flight before this acknowledgement and ALLOWED_INCREASE.
        let flight = (c.flight_size + a.acked) as f64;
        w.shrink(c, (flight + mss).max(2.0 * mss));
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

/// DCTCP: g = 1/16, alpha first 1.
pub struct Dctcp {
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
        Dctcp { alpha: 1.0, window_end, answered_to, delivered: 0, marked: 0 }
    }
}

impl Law for Dctcp {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        self.delivered += a.delivered;
        self.marked += a.ce;
        if c.una > self.window_end {
            let fraction = self.marked as f64 / self.delivered as f64;
            self.alpha = self.alpha * (1.0 - 1.0 / 16.0) + fraction / 16.0;
            (self.window_end, self.delivered, self.marked) = (c.next_id, 0, 0);
        }
        if a.ce > 0 && growing(c) && c.una > self.answered_to {
            self.answered_to = c.next_id;
            let left = (w.cwnd * (1.0 - self.alpha / 2.0)).max(2.0 * f64::from(c.mss));
            w.shrink(c, left);
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if a.ce > 0 { 0.0 } else { per_round(c, credit, w, 1.0) }
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.answered_to = c.next_id;
        kept(c, 0.5)
    }
}
