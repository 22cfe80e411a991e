//! CoCoA3+ (Parween and Hussain, section IV.B) with the data of an endpoint: RTT, expired timer,
//! transmission rate and delivery rate.

use windlass_cc::{Ack, Conn};

use super::frame::{Cause, Law, Windows, kept, per_round};

/// A ratio above one by this share means congestion.
const THETA: f64 = 0.25;

/// A round that has begun.
struct Begun {
    end: u64,
    at: f64,
    delivered: u64,
    /// `cwnd / srtt` at the beginning, bytes per second, if cwnd was used.
    sent: Option<f64>,
}

/// CoCoA3+ with its defaults.
pub struct Cocoa3Plus {
    round: Begun,
    /// Delivery rate in the previous round, bytes per second.
    delivery: Option<f64>,
    /// True if the previous round had congestion.
    before: bool,
    congested: bool,
}

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

fn srtt(c: &Conn) -> Option<f64> {
    c.srtt.is_known().then_some(c.srtt.0 as f64 * 1e-9)
}

impl Begun {
    fn new(c: &Conn, sent: Option<f64>) -> Begun {
        Begun { end: c.next_id, at: seconds(c), delivered: c.delivered, sent }
    }
}

impl Cocoa3Plus {
    /// A new connection.
    pub fn new(c: &Conn) -> Cocoa3Plus {
        Cocoa3Plus { round: Begun::new(c, None), delivery: None, before: false, congested: false }
    }

    fn forget(&mut self, c: &Conn) {
        self.round = Begun::new(c, None);
        self.delivery = None;
    }
}

impl Law for Cocoa3Plus {
    fn observe(&mut self, c: &Conn, _a: &Ack, w: &mut Windows) {
        if c.una > self.round.end {
            let arrived = (c.delivered - self.round.delivered) as f64;
            let rate = arrived / (seconds(c) - self.round.at);
            let above = |other: Option<f64>| other.is_some_and(|o| o > (1.0 + THETA) * rate);
            self.before = above(self.round.sent) || above(self.delivery);
            self.delivery = Some(rate);
            let sent = srtt(c).filter(|_| c.cwnd_limited()).map(|srtt| w.cwnd / srtt);
            self.round = Begun::new(c, sent);
        }
        let least = c.min_rtt.0 as f64 * 1e-9;
        let slow = srtt(c).is_some_and(|srtt| srtt > (1.0 + THETA) * least);
        self.congested = self.before || slow;
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        if self.congested { 0.0 } else { per_round(c, credit, w, 1.0) }
    }

    fn slow_start_gain(&self, _c: &Conn) -> f64 {
        if self.congested { 0.0 } else { 1.0 }
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, cause: Cause) -> f64 {
        self.before = cause == Cause::Timeout;
        kept(c, 0.5)
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        self.forget(c);
    }

    fn idle(&mut self, c: &Conn, _gap: f64) {
        self.forget(c);
    }
}
