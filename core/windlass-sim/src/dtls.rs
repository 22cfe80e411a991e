//! Handshakes of DTLS 1.3 (RFC 9147) before the requests of a CoAP client.
//!
//! A handshake has three flights of one packet each and the acknowledgement of the last. The client
//! repeats its flights by a timer (section 5.8.2: one second, doubled up to one minute). It fails
//! after that minute, which the standard leaves open. The server answers each flight that it receives, and has no timer. Records
//! that arrive before their handshake are dropped.

use windlass_cc::{Span, Time};

/// A security layer of CoAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtls {
    /// UDP payload of the three flights, bytes.
    pub flights: [u32; 3],
    /// Bytes that a record adds to a message.
    pub record: u32,
    /// True if requests follow the first flight at once (0-RTT).
    pub early: bool,
    /// True for a handshake before each request; otherwise one precedes the first request.
    pub each: bool,
}

impl Dtls {
    /// UDP payload of an acknowledgement beyond the overhead of its record: the length of the list
    /// and one record number (section 7).
    const ACK: u32 = 18;

    /// UDP payload of a flight, bytes.
    pub(crate) fn size(&self, flight: Flight) -> u32 {
        match flight {
            Flight::First => self.flights[0],
            Flight::Second => self.flights[1],
            Flight::Third => self.flights[2],
            Flight::Ack => self.record + Dtls::ACK,
        }
    }
}

/// A flight of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flight {
    /// ClientHello.
    First,
    /// ServerHello to Finished.
    Second,
    /// The client's Finished, and its certificate if it has one.
    Third,
    /// The server's acknowledgement of the third flight.
    Ack,
}

/// The client's handshakes.
#[derive(Clone, Debug)]
pub(crate) struct Handshakes {
    pub(crate) dtls: Dtls,
    /// Number of the newest handshake, from 1; 0 before the first.
    pub(crate) number: u32,
    /// The flight that awaits its answer, its next sending, and the timer after that; `None` if the
    /// handshake fails then.
    open: Option<(Flight, Time, Option<Span>)>,
    /// True if requests may be sent.
    ready: bool,
    /// True if the request of this handshake has been sent, so that no other may follow.
    spent: bool,
    /// Handshakes whose third flight the server has acknowledged.
    pub(crate) completed: u64,
    /// Flights sent, and their UDP payload, bytes.
    pub(crate) sent: u64,
    pub(crate) bytes: u64,
}

impl Handshakes {
    const FIRST: Span = Span::from_secs(1);
    const MOST: Span = Span::from_secs(60);

    pub(crate) fn new(dtls: Dtls) -> Handshakes {
        let (number, completed, sent, bytes) = (0, 0, 0, 0);
        let (open, ready, spent) = (None, false, false);
        Handshakes { dtls, number, open, ready, spent, completed, sent, bytes }
    }

    /// Begins a handshake for a request, unless there are keys or a handshake is open.
    pub(crate) fn begin(&mut self, now: Time) {
        if !self.ready && self.open.is_none() {
            self.number += 1;
            self.open = Some((Flight::First, now, Some(Handshakes::FIRST)));
            self.spent = false;
        }
    }

    /// Number of the handshake whose keys protect a request now; `None` without keys.
    pub(crate) fn keys(&self) -> Option<u32> {
        self.ready.then_some(self.number)
    }

    /// True if a request that is due now can be sent, or begins a handshake.
    pub(crate) fn can_act(&self) -> bool {
        self.ready || self.open.is_none()
    }

    pub(crate) fn deadline(&self) -> Time {
        self.open.map_or(Time::NEVER, |(_, due, _)| due)
    }

    /// Ends the handshake if its last timer has expired. Returns true if no request could follow it.
    pub(crate) fn fails(&mut self, now: Time) -> bool {
        let failed = self.open.is_some_and(|(_, due, timer)| due <= now && timer.is_none());
        let blocked = failed && !self.ready && !self.spent;
        if failed {
            (self.open, self.ready) = (None, false);
        }
        blocked
    }

    /// The flight to send now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Flight> {
        let (flight, due, timer) = self.open.as_mut()?;
        let wait = timer.filter(|_| *due <= now)?;
        *due = now + wait;
        let doubled = Handshakes::MOST.min(Span(wait.0 * 2));
        *timer = (wait < Handshakes::MOST).then_some(doubled);
        self.ready |= self.dtls.early && !self.spent;
        self.sent += 1;
        self.bytes += u64::from(self.dtls.size(*flight));
        Some(*flight)
    }

    /// Receives a flight of the server.
    pub(crate) fn receive(&mut self, now: Time, number: u32, flight: Flight) {
        if number != self.number {
            return;
        }
        match (flight, self.open) {
            (Flight::Second, Some((Flight::First, ..))) => {
                self.open = Some((Flight::Third, now, Some(Handshakes::FIRST)));
                self.ready = !self.spent;
            }
            (Flight::Ack, Some((Flight::Third, ..))) => self.complete(),
            _ => {}
        }
    }

    /// A protected answer of the server acknowledges the third flight (section 7.1).
    pub(crate) fn answered(&mut self, number: u32) {
        if number == self.number && matches!(self.open, Some((Flight::Third, ..))) {
            self.complete();
        }
    }

    fn complete(&mut self) {
        self.open = None;
        self.completed += 1;
    }

    /// An exchange has ended, or a request without a response was sent: `waits` is then true, because
    /// the handshake may still be open.
    pub(crate) fn settle(&mut self, waits: bool) {
        if self.dtls.each {
            (self.ready, self.spent) = (false, true);
            self.open = self.open.filter(|_| waits);
        }
    }
}

/// The server's keys: the newest handshake that has begun, and the newest with keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    begun: u32,
    known: u32,
}

impl Keys {
    /// Receives a flight of the client. Returns the answer.
    pub(crate) fn receive(&mut self, dtls: &Dtls, number: u32, flight: Flight) -> Option<Flight> {
        match flight {
            Flight::First if number >= self.begun => {
                self.begun = number;
                if dtls.early {
                    self.known = number;
                }
                Some(Flight::Second)
            }
            Flight::Third if number >= self.known && number == self.begun => {
                self.known = number;
                Some(Flight::Ack)
            }
            _ => None,
        }
    }

    /// True if the server can read a record with the keys of this handshake.
    pub(crate) fn reads(&self, number: u32) -> bool {
        number == self.known
    }
}
