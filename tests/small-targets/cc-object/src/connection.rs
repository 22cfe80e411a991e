//! A connection over one bottleneck, in integers and without a heap: the events with which the cost of an
//! acknowledgement is counted, the same on a microcontroller and on a workstation.
//!
//! The pipe holds 50 segments and its queue 50 more. Each acknowledgement is of one segment; the window is
//! always used. What overflows the queue is lost, and so is one segment in a thousand; every third loss is
//! found by the timer, the others by duplicates. So there is slow start, avoidance, recovery and timeouts in
//! the life of every algorithm.

use core::ffi::c_void;

use windlass_cc::{Ack, Conn, Control, Loss, Phase, Rate, RateSample, Span};

use crate::Entry;

const MSS: u32 = 1448;
const PIPE: u64 = 50;
const QUEUE: u64 = 50;
/// A 1500-byte packet at 10 Mbps.
const SERVICE: u64 = 1_200_000;
const LOST_ONE_IN: u64 = 1000;
const TIMEOUT_ONE_IN: u32 = 3;
/// Acknowledgements of one life.
pub const ACKS: u32 = 6000;
/// Bytes, aligned to 8, that hold the largest state or parameters.
pub const ROOM: usize = 1024;

/// What an acknowledgement met, for the statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Below the threshold.
    SlowStart,
    /// Above it.
    Avoidance,
    /// While a loss is being repaired.
    Recovery,
}

/// Counts what passes between two calls.
pub trait Meter {
    /// Before the algorithm sees an acknowledgement.
    fn start(&mut self);
    /// After its answer has been read.
    fn stop(&mut self, stage: Stage);
}

#[repr(C, align(8))]
struct Room([u8; ROOM]);

/// One life of an algorithm.
pub struct Connection<'a> {
    entry: &'a Entry,
    params: Room,
    state: Room,
    conn: Conn,
    control: Control,
    losses: u32,
    draws: u64,
    /// Stream offset at which the present recovery ends.
    recover: u64,
}

impl<'a> Connection<'a> {
    /// A new connection with the default parameters, or none when state or parameters are too large for
    /// the room there is.
    pub fn new(entry: &'a Entry) -> Option<Connection<'a>> {
        if entry.state_bytes > ROOM || entry.params_bytes > ROOM {
            return None;
        }
        let mut this = Connection {
            entry,
            params: Room([0; ROOM]),
            state: Room([0; ROOM]),
            conn: Conn::new(MSS),
            control: Control { cwnd: 0, ssthresh: 0, pacing: Rate(0) },
            losses: 0,
            draws: 1,
            recover: 0,
        };
        unsafe {
            (entry.params)(this.params.0.as_mut_ptr().cast());
            (entry.init)(this.state.0.as_mut_ptr().cast(), this.params(), &this.conn);
        }
        this.read();
        Some(this)
    }

    /// Runs the whole life.
    pub fn run(mut self, meter: &mut impl Meter) {
        self.send();
        for _ in 0..ACKS {
            if self.conn.phase == Phase::Open
                && (self.overflows() || self.draw().is_multiple_of(LOST_ONE_IN))
            {
                self.lose();
            }
            self.acknowledge(meter);
            self.send();
        }
    }

    fn params(&self) -> *const c_void {
        self.params.0.as_ptr().cast()
    }

    fn in_flight(&self) -> u64 {
        self.conn.in_flight / u64::from(MSS)
    }

    fn overflows(&self) -> bool {
        self.in_flight() >= PIPE + QUEUE
    }

    /// Marsaglia's xorshift.
    fn draw(&mut self) -> u64 {
        self.draws ^= self.draws << 13;
        self.draws ^= self.draws >> 7;
        self.draws ^= self.draws << 17;
        self.draws
    }

    fn read(&mut self) {
        unsafe {
            (self.entry.control)(
                self.state.0.as_ptr().cast(),
                self.params(),
                &self.conn,
                &mut self.control,
            )
        }
    }

    fn turn(&mut self, to: Phase) {
        let from = self.conn.phase;
        self.conn.phase = to;
        unsafe {
            (self.entry.on_phase)(
                self.state.0.as_mut_ptr().cast(),
                self.params(),
                &self.conn,
                from as u32,
                to as u32,
            );
        }
        self.read();
    }

    /// The oldest segment is found to be missing.
    fn lose(&mut self) {
        let mss = u64::from(MSS);
        self.losses += 1;
        self.recover = self.conn.next_id;
        let loss = Loss {
            bytes: mss,
            tx_in_flight: self.conn.in_flight,
            lost_since_sent: mss,
            app_limited: false,
        };
        self.conn.lost += mss;
        unsafe {
            (self.entry.on_loss)(self.state.0.as_mut_ptr().cast(), self.params(), &self.conn, &loss)
        };
        if self.losses.is_multiple_of(TIMEOUT_ONE_IN) {
            self.conn.now.0 += 1_000_000_000;
            self.conn.entropy = self.draw() as u32;
            self.turn(Phase::Loss);
            // All is sent again.
            self.conn.in_flight = 0;
            self.send();
        } else {
            self.turn(Phase::Recovery);
        }
    }

    fn acknowledge(&mut self, meter: &mut impl Meter) {
        let mss = u64::from(MSS);
        let prior_in_flight = self.conn.in_flight;
        let flight = self.in_flight().max(1);
        let waiting = flight.saturating_sub(PIPE);
        let rtt = Span((PIPE + waiting) * SERVICE + self.draw() % (SERVICE / 4));
        self.conn.now.0 += if flight >= PIPE { SERVICE } else { PIPE * SERVICE / flight };
        self.conn.in_flight = prior_in_flight.saturating_sub(mss);
        self.conn.delivered += mss;
        let duplicate = self.conn.phase == Phase::Recovery && self.conn.delivered < self.recover;
        let acked = if duplicate {
            0
        } else {
            (self.conn.delivered - self.conn.una).min(self.conn.next_id - self.conn.una)
        };
        self.conn.una += acked;
        self.conn.flight_size = self.conn.next_id - self.conn.una;
        self.measure_rtt(rtt);
        let ack = Ack {
            acked,
            delivered: mss,
            prior_in_flight,
            rtt,
            rate: RateSample {
                delivered: flight * mss,
                interval: rtt,
                prior_delivered: self.conn.delivered.saturating_sub(flight * mss),
                lost: 0,
                tx_in_flight: prior_in_flight,
                app_limited: false,
            },
            duplicate,
            ..Ack::default()
        };
        self.conn.entropy = self.draw() as u32;
        let stage = self.stage();
        meter.start();
        unsafe {
            (self.entry.on_ack)(self.state.0.as_mut_ptr().cast(), self.params(), &self.conn, &ack)
        };
        self.read();
        meter.stop(stage);
        if self.conn.phase != Phase::Open && self.conn.una >= self.recover {
            self.turn(Phase::Open);
        }
    }

    fn stage(&self) -> Stage {
        match self.conn.phase {
            Phase::Recovery | Phase::Cwr => Stage::Recovery,
            Phase::Open | Phase::Loss if self.control.cwnd < self.control.ssthresh => {
                Stage::SlowStart
            }
            Phase::Open | Phase::Loss => Stage::Avoidance,
        }
    }

    /// RFC 6298's smoothing.
    fn measure_rtt(&mut self, rtt: Span) {
        let srtt = self.conn.srtt;
        self.conn.srtt = if srtt.is_known() { Span(srtt.0 - srtt.0 / 8 + rtt.0 / 8) } else { rtt };
        self.conn.min_rtt =
            if self.conn.min_rtt.is_known() { self.conn.min_rtt.min(rtt) } else { rtt };
    }

    /// Fills the window, or the pipe and its queue; at least one segment is always under way.
    fn send(&mut self) {
        let mss = u64::from(MSS);
        let window = self.control.cwnd.min((PIPE + QUEUE) * mss);
        while self.conn.in_flight + mss <= window || self.conn.in_flight == 0 {
            self.conn.in_flight += mss;
            self.conn.sent += mss;
            let again = self.conn.phase == Phase::Loss
                && self.conn.una + self.conn.in_flight <= self.recover;
            if !again {
                self.conn.next_id += mss;
            }
        }
        self.conn.flight_size = self.conn.next_id - self.conn.una;
    }
}
