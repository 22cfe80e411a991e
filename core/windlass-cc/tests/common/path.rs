//! A path small enough for a check by hand; the simulator would add headers and a handshake to each time. One
//! bottleneck serves whole segments in order, with an unlimited queue before it, a fixed delay, and an
//! acknowledgement for each segment.

use std::collections::VecDeque;

use windlass_cc::{Ack, AnyController, AnyParams, Conn, Control, Span, Time};

/// Payload of every segment.
pub const MSS: u64 = 1_000;

/// A segment in transit, with the contents of its acknowledgement.
struct Segment {
    acked_at: u64,
    sent_at: u64,
    marked: bool,
}

/// One sender that always has data, without competing flows.
pub struct Path {
    pub p: AnyParams,
    pub state: AnyController,
    pub c: Conn,
    /// Time to serve one segment.
    service: u64,
    base_rtt: u64,
    /// Number of queued segments above which a segment is marked.
    pub mark_above: Option<u64>,
    link_free: u64,
    segments: VecDeque<Segment>,
    /// Number of marked bytes.
    pub marked: u64,
}

impl Path {
    /// A path that serves `rate` segments per second and adds `base_rtt` (without the service time of
    /// the segment itself).
    pub fn new(p: AnyParams, rate: u64, base_rtt: Span) -> Path {
        let c = Conn::new(MSS as u32);
        let state = AnyController::init(&p, &c);
        let service = 1_000_000_000 / rate;
        Path {
            p,
            state,
            c,
            service,
            base_rtt: base_rtt.0,
            mark_above: None,
            link_free: 0,
            segments: VecDeque::new(),
            marked: 0,
        }
    }

    pub fn control(&self) -> Control {
        self.state.control(&self.p, &self.c)
    }

    pub fn cwnd_segments(&self) -> f64 {
        self.control().cwnd as f64 / MSS as f64
    }

    /// Increases the delay of the path by `by`.
    pub fn lengthen(&mut self, by: Span) {
        self.base_rtt += by.0;
    }

    /// Segments queued or in service at the bottleneck.
    pub fn queued(&self) -> u64 {
        self.link_free.saturating_sub(self.c.now.0).div_ceil(self.service)
    }

    /// Minimum possible RTT.
    pub fn least_rtt(&self) -> u64 {
        self.base_rtt + self.service
    }

    /// Segments that the path holds without a queue.
    pub fn capacity_segments(&self) -> f64 {
        self.least_rtt() as f64 / self.service as f64
    }

    fn send(&mut self) {
        while self.c.next_id + MSS <= self.c.una + self.control().cwnd {
            let marked = self.mark_above.is_some_and(|above| self.queued() > above);
            self.link_free = self.link_free.max(self.c.now.0) + self.service;
            self.segments.push_back(Segment {
                acked_at: self.link_free + self.base_rtt,
                sent_at: self.c.now.0,
                marked,
            });
            self.c.next_id += MSS;
            self.c.sent += MSS;
        }
        self.c.flight_size = self.c.next_id - self.c.una;
        self.c.in_flight = self.c.flight_size;
    }

    /// Sends the data that the window allows and takes the next acknowledgement.
    pub fn step(&mut self) {
        self.send();
        let segment = self.segments.pop_front().expect("a window of at least one segment");
        let prior_in_flight = self.c.in_flight;
        let rtt = segment.acked_at - segment.sent_at;
        self.c.now = Time(segment.acked_at);
        self.c.una += MSS;
        self.c.delivered += MSS;
        self.c.flight_size -= MSS;
        self.c.in_flight -= MSS;
        self.c.min_rtt = self.c.min_rtt.min(Span(rtt));
        self.c.srtt =
            Span(if self.c.srtt.is_known() { (7 * self.c.srtt.0 + rtt) / 8 } else { rtt });
        let ce = if segment.marked { MSS } else { 0 };
        self.marked += ce;
        let ack = Ack { rtt: Span(rtt), ce, prior_in_flight, ..Ack::of(MSS) };
        self.state.on_ack(&self.p, &self.c, &ack);
    }

    /// Steps until this time.
    pub fn run_until(&mut self, time: Time) {
        while self.c.now < time {
            self.step();
        }
    }

    /// Steps for `seconds` seconds and returns the minimum and maximum of `measure` after each step.
    pub fn range(&mut self, seconds: u64, measure: impl Fn(&Path) -> f64) -> (f64, f64) {
        let end = self.c.now + Span::from_secs(seconds);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        while self.c.now < end {
            self.step();
            let value = measure(self);
            (least, most) = (least.min(value), most.max(value));
        }
        (least, most)
    }

    /// The value of a field of the trace.
    pub fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.state.trace(&mut |field, value| {
            if field.name == name {
                found = Some(value);
            }
        });
        found.expect("a field of the trace")
    }
}
