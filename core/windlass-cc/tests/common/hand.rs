//! A connection driven by a test.

use windlass_cc::{Ack, AnyController, AnyParams, Conn, Phase, Span};

/// Payload of every segment.
pub const MSS: u64 = 1_000;

pub const MS_40: Span = Span::from_millis(40);
pub const MS_60: Span = Span::from_millis(60);

/// A connection that always has a full window in flight, driven by a test.
pub struct Hand {
    pub p: AnyParams,
    pub state: AnyController,
    pub c: Conn,
}

impl Hand {
    pub fn new(p: AnyParams) -> Hand {
        let c = Conn::new(MSS as u32);
        let state = AnyController::init(&p, &c);
        Hand { p, state, c }
    }

    pub fn cwnd(&self) -> u64 {
        self.state.control(&self.p, &self.c).cwnd
    }

    pub fn ssthresh(&self) -> u64 {
        self.state.control(&self.p, &self.c).ssthresh
    }

    /// Acknowledges one segment `after` the last event with this RTT.
    pub fn ack(&mut self, after: Span, rtt: Span, a: Ack) {
        self.c.next_id = self.c.next_id.max(self.c.una + self.cwnd());
        let prior_in_flight = self.c.next_id - self.c.una;
        self.c.now += after;
        self.c.una += a.acked;
        self.c.delivered += a.delivered;
        self.c.flight_size = self.c.next_id - self.c.una;
        self.c.in_flight = self.c.flight_size;
        if rtt.is_known() {
            (self.c.srtt, self.c.min_rtt) = (rtt, self.c.min_rtt.min(rtt));
        }
        self.state.on_ack(&self.p, &self.c, &Ack { rtt, prior_in_flight, ..a });
    }

    /// One RTT of acknowledgements of one segment, evenly spread.
    pub fn round(&mut self, rtt: Span) {
        self.round_with(rtt, |_| 0);
    }

    /// One RTT of acknowledgements, each with the number of marked bytes that `ce` returns.
    pub fn round_with(&mut self, rtt: Span, ce: impl Fn(u64) -> u64) {
        let segments = (self.cwnd() / MSS).max(1);
        for at in 0..segments {
            self.ack(Span(rtt.0 / segments), rtt, Ack { ce: ce(at), ..Ack::of(MSS) });
        }
    }

    pub fn phase(&mut self, from: Phase, to: Phase) {
        self.c.phase = to;
        self.c.flight_size = self.c.next_id - self.c.una;
        self.state.on_phase(&self.p, &self.c, from, to);
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
