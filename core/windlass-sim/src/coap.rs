//! CoAP over UDP (RFC 7252): a client whose requests are due by an arrival process, and a server
//! that piggybacks each response on its acknowledgement.
//!
//! Not modelled: separate responses, resets, blockwise transfer, and a cache of responses. Each
//! request has its own message id, so that no id is used twice. The server remembers all ids, as
//! real servers do for EXCHANGE_LIFETIME (section 4.8.2).

use windlass_cc::{AnyRto, RttSample, Span, Time};

use crate::arrivals::ArrivalProcess;
use crate::dtls::{Dtls, Flight, Handshakes, Keys};
use crate::latency::{Messages, latencies_of};
use crate::random::Stream;
use crate::results::CoapResult;
use crate::traffic::Coap;

/// A CoAP message in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Message id. An acknowledgement has the id of its request.
    pub id: u32,
    /// Payload, bytes.
    pub len: u32,
    /// Due time of a request, for the receiver's statistics; it adds no bytes.
    pub due: Time,
    /// Number of the handshake whose keys protect the message; 0 without a security layer.
    pub keys: u32,
    /// The flight of a handshake, in place of a CoAP message.
    pub flight: Option<Flight>,
}

impl Message {
    /// A flight of the handshake with this number.
    fn of_flight(dtls: &Dtls, keys: u32, flight: Flight) -> (Message, u32) {
        let (len, due) = (dtls.size(flight), Time::ZERO);
        let message = Message { id: 0, len, due, keys, flight: Some(flight) };
        (message, Coap::flight_size(len))
    }
}

/// The end that sends requests.
#[derive(Clone, Debug)]
pub struct Client {
    coap: Coap,
    /// Requests that have not begun, including requests that wait for their turn.
    ahead: ArrivalProcess,
    open: Vec<Exchange>,
    /// RTT estimator of the client. This copy is never backed off.
    timer: AnyRto,
    stream: Stream,
    next_id: u32,
    /// Payload bytes of begun requests, and of exchanges that ended with a response.
    begun_bytes: u64,
    answered_bytes: u64,
    /// Requests sent, including retransmissions.
    pub sent: u64,
    /// Payload of these requests, bytes.
    pub sent_bytes: u64,
    /// Retransmitted requests.
    pub retransmits: u64,
    /// Expiries of retransmission timers, including expiries that ended an exchange.
    pub expiries: u64,
    given_up: u64,
    /// Times from the due time of a request to its response, in the order of the responses.
    delays_ns: Vec<u64>,
    min_rtt: Span,
    /// The handshakes, with a security layer.
    handshakes: Option<Handshakes>,
}

/// A request that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request: Message,
    first_sent: Time,
    retransmits: u32,
    expires: Time,
    /// Copy of the client's timer from the beginning of the exchange, backed off by this exchange's
    /// expiries.
    timer: AnyRto,
    /// Position between timeout and timeout times ACK_RANDOM_FACTOR, drawn once per exchange
    /// (section 4.2).
    entropy: u32,
}

impl Client {
    /// A client whose first request is due after `start`.
    pub fn new(coap: Coap, start: Time, stream: Stream) -> Client {
        Client {
            coap,
            ahead: ArrivalProcess::new(coap.requests, start),
            open: Vec::new(),
            timer: AnyRto::init(&coap.timer),
            stream,
            next_id: 0,
            begun_bytes: 0,
            answered_bytes: 0,
            sent: 0,
            sent_bytes: 0,
            retransmits: 0,
            expiries: 0,
            given_up: 0,
            delays_ns: Vec::new(),
            min_rtt: Span::NONE,
            handshakes: coap.security.map(Handshakes::new),
        }
    }

    /// Time of the client's next action.
    pub fn deadline(&self) -> Time {
        let expiry = self.open.iter().map(|e| e.expires).min().unwrap_or(Time::NEVER);
        let flight = self.handshakes.as_ref().map_or(Time::NEVER, Handshakes::deadline);
        let can_begin = self.has_turn() && self.handshakes.as_ref().is_none_or(Handshakes::can_act);
        match self.ahead.next() {
            Some((due, _)) if can_begin => due.min(expiry).min(flight),
            _ => expiry.min(flight),
        }
    }

    /// The request or flight to send now, and its size as an IP packet.
    pub fn poll(&mut self, now: Time) -> Option<(Message, u32)> {
        if self.handshakes.as_mut().is_some_and(|h| h.fails(now)) {
            self.give_up_unsent(now);
        }
        self.prepare(now);
        if let Some(handshakes) = &mut self.handshakes
            && let Some(flight) = handshakes.poll(now)
        {
            return Some(Message::of_flight(&handshakes.dtls, handshakes.number, flight));
        }
        let request = self.send_again(now).or_else(|| self.begin(now))?;
        self.sent += 1;
        self.sent_bytes += u64::from(request.len);
        Some((request, self.coap.request_size(request.len)))
    }

    /// Begins a handshake for a request that is due, if it needs one.
    fn prepare(&mut self, now: Time) {
        if self.has_turn()
            && self.ahead.next().is_some_and(|(due, _)| due <= now)
            && let Some(handshakes) = &mut self.handshakes
        {
            handshakes.begin(now);
        }
    }

    /// True if a request or a flight is not answered yet.
    pub fn has_open(&self) -> bool {
        let flight = |h: &Handshakes| !h.deadline().is_never();
        !self.open.is_empty() || self.handshakes.as_ref().is_some_and(flight)
    }

    /// Packets sent.
    pub fn packets(&self) -> u64 {
        self.sent + self.handshakes.as_ref().map_or(0, |h| h.sent)
    }

    /// Gives up the request for which a handshake failed.
    fn give_up_unsent(&mut self, now: Time) {
        if self.ahead.next().is_some_and(|(due, _)| due <= now) {
            self.ahead.advance();
            self.next_id += 1;
            self.given_up += 1;
        }
    }

    /// An exchange has ended, or a request without one was sent.
    fn settle(&mut self, waits: bool) {
        if let Some(handshakes) = &mut self.handshakes {
            handshakes.settle(waits);
        }
    }

    fn has_turn(&self) -> bool {
        self.open.len() < self.coap.nstart as usize
    }

    fn send_again(&mut self, now: Time) -> Option<Message> {
        while let Some(place) = self.open.iter().position(|e| e.expires <= now) {
            self.expiries += 1;
            let exchange = &mut self.open[place];
            if exchange.retransmits == self.coap.max_retransmit {
                self.open.remove(place);
                self.given_up += 1;
                self.settle(false);
                continue;
            }
            exchange.retransmits += 1;
            self.retransmits += 1;
            exchange.timer.on_timeout(&self.coap.timer);
            exchange.expires = now + exchange.timer.arm(&self.coap.timer, now, exchange.entropy);
            return Some(exchange.request);
        }
        None
    }

    fn begin(&mut self, now: Time) -> Option<Message> {
        let (due, bytes) = self.ahead.next().filter(|(due, _)| *due <= now && self.has_turn())?;
        let keys = self.handshakes.as_ref().map_or(Some(0), Handshakes::keys)?;
        self.ahead.advance();
        let request = Message { id: self.next_id, len: bytes as u32, due, keys, flight: None };
        self.next_id += 1;
        self.begun_bytes += bytes;
        if self.coap.confirmable {
            let entropy = self.stream.next_u64() as u32;
            let expires = now + self.timer.arm(&self.coap.timer, now, entropy);
            let timer = self.timer;
            let (first_sent, retransmits) = (now, 0);
            self.open.push(Exchange { request, first_sent, retransmits, expires, timer, entropy });
        } else {
            self.settle(true);
        }
        Some(request)
    }

    /// Receives an acknowledgement, which carries the response, or a flight. An acknowledgement
    /// without an open exchange has no effect.
    pub fn receive(&mut self, now: Time, answer: &Message) {
        if let Some(handshakes) = &mut self.handshakes {
            match answer.flight {
                Some(flight) => return handshakes.receive(now, answer.keys, flight),
                None => handshakes.answered(answer.keys),
            }
        }
        let Some(place) = self.open.iter().position(|e| e.request.id == answer.id) else { return };
        let Exchange { request, first_sent, retransmits, .. } = self.open.remove(place);
        self.settle(false);
        self.delays_ns.push(now.since(request.due).0);
        self.answered_bytes += u64::from(request.len);
        let rtt = now.since(first_sent);
        if retransmits == 0 {
            self.min_rtt = self.min_rtt.min(rtt);
        }
        if retransmits == 0 || self.coap.timer.wants_ambiguous() {
            let sample = RttSample {
                rtt,
                retransmits,
                now,
                una: self.answered_bytes,
                next_id: self.begun_bytes,
                sent: self.sent,
                resent: self.retransmits,
            };
            self.timer.on_sample(&self.coap.timer, &sample);
        }
    }

    /// Smoothed RTT, minimum RTT of requests without retransmission, and timeout of the next
    /// exchange before its randomisation. The first two are [`Span::NONE`] without a sample.
    pub fn times(&self) -> [Span; 3] {
        [self.timer.srtt(), self.min_rtt, self.timer.rto(&self.coap.timer)]
    }

    /// Duration of each exchange, seconds.
    pub fn delays_s(&self) -> Vec<f64> {
        self.delays_ns.iter().map(|ns| *ns as f64 / 1e9).collect()
    }

    /// Results of the exchanges; `None` if requests are not confirmable. `duplicates` is the
    /// server's count.
    pub fn result(&self, duplicates: u64) -> Option<CoapResult> {
        let delay = latencies_of(self.delays_ns.clone(), self.given_up);
        self.coap.confirmable.then(|| CoapResult {
            begun: u64::from(self.next_id),
            completed: delay.arrived,
            given_up: self.given_up,
            duplicates,
            mean_ms: delay.mean_ms,
            p50_ms: delay.p50_ms,
            p95_ms: delay.p95_ms,
            p99_ms: delay.p99_ms,
            max_ms: delay.max_ms,
            handshakes: self.handshakes.as_ref().map_or(0, |h| h.completed),
            handshake_bytes: self.handshakes.as_ref().map_or(0, |h| h.bytes),
        })
    }
}

/// The end that sends responses.
#[derive(Clone, Debug)]
pub struct Server {
    coap: Coap,
    /// Bit set of the message ids received.
    seen: Vec<u64>,
    /// Acknowledgement or flight to send immediately.
    answer: Option<Message>,
    /// Packets sent.
    pub sent: u64,
    keys: Keys,
    /// Payload bytes of requests, without duplicates.
    pub bytes: u64,
    /// Duplicate requests received.
    pub duplicates: u64,
    /// Deadline statistics of the requests, if they have a deadline.
    pub messages: Option<Box<Messages>>,
}

impl Server {
    /// The server of a flow that starts at this moment.
    pub fn new(coap: Coap, start: Time) -> Server {
        Server {
            coap,
            seen: Vec::new(),
            answer: None,
            sent: 0,
            keys: Keys::default(),
            bytes: 0,
            duplicates: 0,
            messages: Messages::of_arrivals(coap.requests, start).map(Box::new),
        }
    }

    /// Receives a request. A duplicate is acknowledged again and not delivered (section 4.5).
    pub fn receive(&mut self, now: Time, request: &Message) {
        if let (Some(dtls), Some(flight)) = (&self.coap.security, request.flight) {
            let answer = self.keys.receive(dtls, request.keys, flight);
            self.answer = answer.map(|f| Message::of_flight(dtls, request.keys, f).0);
            return;
        }
        if !self.keys.reads(request.keys) {
            return;
        }
        if self.coap.confirmable {
            self.answer = Some(Message { len: self.coap.response, ..*request });
        }
        if !self.note(request.id) {
            self.duplicates += 1;
            return;
        }
        self.bytes += u64::from(request.len);
        if let Some(messages) = &mut self.messages {
            messages.arrived(now, request.due);
        }
    }

    /// The acknowledgement to send now, and its size as an IP packet.
    pub fn poll(&mut self) -> Option<(Message, u32)> {
        let answer = self.answer.take()?;
        self.sent += 1;
        let size = match answer.flight {
            Some(_) => Coap::flight_size(answer.len),
            None => self.coap.response_size(),
        };
        Some((answer, size))
    }

    /// Records this id. Returns true if it is new.
    fn note(&mut self, id: u32) -> bool {
        let (word, bit) = (id as usize / 64, 1 << (id % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}
