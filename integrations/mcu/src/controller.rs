//! An algorithm of windlass-cc behind smoltcp's congestion control. `check` copies smoltcp, replaces its `reno.rs` by
//! this file, and adds `crate.rs` or `library.rs` as `algorithm.rs`, because smoltcp accepts no external congestion
//! control.
//!
//! smoltcp has no SACK and counts duplicates in the flight, so that cwnd inflates as in RFC 6582's recovery. One
//! segment at a time is timed for the RTT and for the rate (RFC 6298, section 3). It has no pacing, no marks and no
//! undo.

#[allow(unsafe_code)]
mod algorithm {
    include!("algorithm.rs");
}

use algorithm::{Algorithm, INITIAL_WINDOW, PARAMS};
#[allow(unused_imports)] // the library's has no trait
use windlass_cc::Controller as _;
use windlass_cc::{Ack, Conn, Loss, Phase, RateSample, Span, Time, flags};

use super::Controller;
use crate::socket::tcp::RttEstimator;
use crate::time::Instant;

/// A segment in flight whose RTT is measured.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    at: Time,
    delivered: u64,
    in_flight: u64,
}

/// The algorithm and the connection's values.
#[derive(Debug)]
pub struct Reno {
    algorithm: Algorithm,
    conn: Conn,
    window: u64,
    timed: Option<Timed>,
    /// Stream offsets of the next segment, and of the end of the recovery.
    next: u64,
    recover: u64,
    /// Bytes that duplicate acknowledgements have counted as delivered, and that no acknowledgement has covered.
    counted: u64,
    established: bool,
    /// The next segment is the first missing segment.
    repairing: bool,
}

impl Reno {
    pub fn new() -> Reno {
        let conn = Conn::new(536);
        Reno {
            algorithm: Algorithm::init(&PARAMS, &conn),
            conn,
            window: INITIAL_WINDOW,
            timed: None,
            next: 0,
            recover: 0,
            counted: 0,
            established: false,
            repairing: false,
        }
    }

    fn obey(&mut self) {
        self.window = self.algorithm.control(&PARAMS, &self.conn).cwnd;
    }

    fn look(&mut self, now: Instant, in_flight: u64) {
        self.conn.now = Time(now.total_micros() as u64 * 1_000);
        self.conn.in_flight = in_flight;
        self.conn.flight_size = in_flight;
    }

    fn move_to(&mut self, to: Phase) {
        let from = self.conn.phase;
        self.conn.phase = to;
        self.conn.flags = flags::CWND_LIMITED;
        self.algorithm.on_phase(&PARAMS, &self.conn, from, to);
        self.obey();
    }

    fn lose(&mut self, bytes: u64, in_flight: u64) {
        self.timed = None;
        self.conn.lost += bytes;
        let loss =
            Loss { bytes, tx_in_flight: in_flight, lost_since_sent: bytes, app_limited: false };
        self.algorithm.on_loss(&PARAMS, &self.conn, &loss);
    }

    /// The RTT and the rate, if the timed segment has arrived.
    fn sample(&mut self) -> (Span, RateSample) {
        let Some(timed) = self.timed.filter(|timed| self.conn.una >= timed.end) else {
            return (Span::NONE, RateSample::NONE);
        };
        self.timed = None;
        let rtt = self.conn.now.since(timed.at);
        if rtt.0 < self.conn.min_rtt.0 {
            self.conn.min_rtt = rtt;
        }
        let delivered = self.conn.delivered - timed.delivered;
        let (prior_delivered, tx_in_flight) = (timed.delivered, timed.in_flight);
        let rate = RateSample {
            delivered,
            interval: rtt,
            prior_delivered,
            tx_in_flight,
            ..RateSample::NONE
        };
        (rtt, rate)
    }

    fn acknowledge(&mut self, ack: Ack) {
        let limited = ack.prior_in_flight + u64::from(self.conn.mss) > self.window;
        self.conn.flags = if limited { flags::CWND_LIMITED } else { 0 };
        self.algorithm.on_ack(&PARAMS, &self.conn, &ack);
        self.obey();
    }
}

impl Controller for Reno {
    fn window(&self) -> usize {
        self.window as usize
    }

    fn on_ack(&mut self, now: Instant, len: usize, in_flight: usize, rtt: &RttEstimator) {
        if len == 0 {
            return;
        }
        let (acked, in_flight) = (len as u64, in_flight as u64);
        self.look(now, in_flight);
        if rtt.have_measurement {
            self.conn.srtt = Span(u64::from(rtt.srtt) * 1_000_000);
        }
        self.conn.una += acked;
        self.next = self.next.max(self.conn.una);
        let known = self.counted.min(acked);
        self.counted -= known;
        let delivered = acked - known;
        self.conn.delivered += delivered;
        let (rtt, rate) = self.sample();
        self.acknowledge(Ack {
            acked,
            delivered,
            prior_in_flight: in_flight + acked,
            rtt,
            rate,
            ..Ack::default()
        });
        if self.conn.phase != Phase::Open && self.conn.una >= self.recover {
            self.counted = 0;
            self.move_to(Phase::Open);
        }
    }

    fn on_dup_ack(&mut self, now: Instant, len: usize, in_flight: usize) {
        let (delivered, prior_in_flight) = (len as u64, in_flight as u64);
        self.look(now, prior_in_flight);
        self.counted += delivered;
        self.conn.delivered += delivered;
        self.acknowledge(Ack { delivered, prior_in_flight, duplicate: true, ..Ack::default() });
    }

    fn on_loss(&mut self, now: Instant, in_flight: usize) {
        self.look(now, in_flight as u64);
        self.lose(u64::from(self.conn.mss), in_flight as u64);
        self.repairing = true;
        if self.conn.phase == Phase::Open {
            self.recover = self.conn.next_id;
            self.move_to(Phase::Recovery);
        }
    }

    fn on_rto(&mut self, now: Instant, in_flight: usize) {
        if !self.established {
            return;
        }
        self.look(now, in_flight as u64);
        self.lose(in_flight as u64, in_flight as u64);
        self.repairing = false;
        self.recover = self.conn.next_id;
        self.next = self.conn.una;
        self.counted = 0;
        self.move_to(Phase::Loss);
    }

    fn post_transmit(&mut self, now: Instant, len: usize) {
        if !self.established {
            return;
        }
        self.conn.sent += len as u64;
        if core::mem::take(&mut self.repairing) {
            return;
        }
        self.next += len as u64;
        if self.next > self.conn.next_id {
            self.conn.next_id = self.next;
            let at = Time(now.total_micros() as u64 * 1_000);
            let in_flight = self.next - self.conn.una;
            let timed = Timed { end: self.next, at, delivered: self.conn.delivered, in_flight };
            self.timed.get_or_insert(timed);
        }
    }

    fn set_mss(&mut self, mss: usize) {
        self.established = true;
        self.conn.mss = mss as u32;
        self.algorithm = Algorithm::init(&PARAMS, &self.conn);
        self.obey();
    }
}
