//! TCP Modified (Hasan and Alisa 2023, section 3): its two lists of steps.

use windlass_cc::tcp_modified::{
    AlphaUnit, AlphaUpdate, Backoff, Params, RoundTrip, RttReset, Threshold, Throughput, WhenRising,
};
use windlass_cc::{Ack, Conn};

use super::frame::{Cause, Law, Windows, per_round};
use super::{share, time};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

/// The constants of the steps.
struct Constants {
    low_speed: f64,
    slope: f64,
    curve: f64,
    beta: f64,
    beta_gain: f64,
    rise: f64,
    flight_gain: f64,
    floor: f64,
}

/// TCP Modified.
pub struct TcpModified {
    k: Constants,
    /// The interpretation of the steps; the numbers in it are not used.
    way: Params,
    round_end: u64,
    congestion: f64,
    beta: f64,
    /// The values before the last congestion event.
    before: (f64, f64),
    /// Beginning of the throughput measurement: a time and the bytes delivered then.
    start: (f64, u64),
    throughput: f64,
    last_throughput: f64,
    min_rtt: f64,
    max_rtt: f64,
}

impl TcpModified {
    /// A new connection.
    pub fn new(c: &Conn) -> TcpModified {
        let now = seconds(c);
        TcpModified {
            k: Constants {
                low_speed: 1.0,
                slope: 10.0,
                curve: 0.3,
                beta: 0.67,
                beta_gain: 1.1,
                rise: 0.33,
                flight_gain: 1.25,
                floor: 25.0,
            },
            way: Params::default(),
            round_end: c.next_id,
            congestion: now,
            beta: 0.67,
            before: (now, 0.67),
            start: (now, c.delivered),
            throughput: 0.0,
            last_throughput: 0.0,
            min_rtt: f64::MAX,
            max_rtt: 0.0,
        }
    }

    /// A new connection with these parameters.
    pub fn of(p: &Params, c: &Conn) -> Option<TcpModified> {
        let known = p.alpha_update == AlphaUpdate::Fresh
            && p.threshold == Threshold::Real
            && p.throughput != Throughput::Ack
            && p.round_trip == RoundTrip::Sample;
        let beta = share(p.beta_default);
        known.then(|| TcpModified {
            k: Constants {
                low_speed: time(p.low_speed),
                slope: share(p.alpha_slope),
                curve: share(p.alpha_curve),
                beta,
                beta_gain: share(p.beta_gain),
                rise: share(p.rise),
                flight_gain: share(p.flight_gain),
                floor: p.floor as f64,
            },
            way: *p,
            beta,
            before: (seconds(c), beta),
            ..TcpModified::new(c)
        })
    }

    fn begin_round(&mut self, c: &Conn) {
        self.start = (seconds(c), c.delivered);
        self.round_end = c.next_id;
    }
}

impl Law for TcpModified {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        let (since, delivered) = self.start;
        let throughput = (c.delivered - delivered) as f64 / (seconds(c) - since).max(0.001);
        if self.way.throughput == Throughput::Epoch {
            self.throughput = throughput;
        } else if c.una > self.round_end {
            self.throughput = throughput;
            self.begin_round(c);
        }
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            self.min_rtt = self.min_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let delta = seconds(c) - self.congestion;
        let mut alpha = 1.0;
        if delta > self.k.low_speed {
            let difference = delta - self.k.low_speed;
            alpha = 1.0 + self.k.slope * difference + self.k.curve * difference * difference;
        }
        alpha = (2.0 * (1.0 - self.beta) * alpha).max(1.0);
        if self.way.alpha_unit == AlphaUnit::Segments {
            return per_round(c, credit, w, alpha.min(w.segments(c)));
        }
        let segment = f64::from(c.mss);
        (segment * segment + w.cwnd * alpha) / w.cwnd
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.before = (self.congestion, self.beta);
        let diff = self.throughput - self.last_throughput;
        let steady = self.last_throughput > 0.0 && diff / self.last_throughput <= self.k.rise;
        if steady && self.max_rtt > 0.0 {
            self.beta = self.k.beta_gain * self.min_rtt / self.max_rtt;
        } else if self.way.when_rising == WhenRising::Default {
            self.beta = self.k.beta;
        }
        let clamped = self.way.backoff == Backoff::Clamped;
        if clamped {
            self.beta = self.beta.clamp(0.5, 0.8);
        }
        let now = seconds(c);
        (self.congestion, self.last_throughput) = (now, self.throughput);
        if self.way.throughput == Throughput::Epoch {
            (self.start, self.throughput) = ((now, c.delivered), 0.0);
        }
        if self.way.rtt_reset == RttReset::Both {
            self.min_rtt = f64::MAX;
        }
        if self.way.rtt_reset != RttReset::None {
            self.max_rtt = 0.0;
        }
        let (mss, flight) = (f64::from(c.mss), c.flight_size as f64);
        let ssthresh = (self.k.floor * mss).max(flight * self.beta * self.k.flight_gain);
        if clamped { ssthresh.min(flight).max(2.0 * mss) } else { ssthresh }
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        (self.congestion, self.beta) = self.before;
    }

    fn idle(&mut self, c: &Conn, gap: f64) {
        self.congestion += gap;
        match self.way.throughput {
            Throughput::Epoch => self.start.0 += gap,
            _ => self.begin_round(c),
        }
        self.before.0 += gap;
    }

    /// Beta to 1/32768, of windows below a megabyte.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}
