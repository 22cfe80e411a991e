//! Real-time media over UDP with the congestion control NADA (RFC 8698): a sender whose rate follows
//! the reports of its receiver.
//!
//! Not modelled: frames of different sizes and the buffer that shapes them (section 5.2; the encoder
//! follows the rate at once, with packets of one size), and a reaction to missing reports.

pub mod nada;
mod receiver;

use windlass_cc::{Span, Time};
use windlass_tcp::segment::{Codepoint, IPV4_HEADER};
use windlass_tcp::wire::UDP_HEADER;

use nada::{Feedback, Rate};
use receiver::{Receiver, ms};

/// Media with NADA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Payload of a packet, bytes; at least 1.
    pub packet: u32,
    /// Minimum and maximum rate of the payload, bits per second: RMIN, at least 1, and RMAX.
    pub rates_bps: [u64; 2],
    /// True if queues may mark the packets instead of dropping them.
    pub ecn: bool,
    /// Time of the stop.
    pub stop: Time,
}

/// A packet of a media flow in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Media.
    Data(Data),
    /// Feedback of the receiver.
    Report(Report),
}

/// A packet with media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Sequence number.
    pub number: u64,
    /// Payload, bytes.
    pub len: u32,
    /// Sending time, which the packet carries.
    pub sent: Time,
    /// ECN field.
    pub ecn: Codepoint,
}

/// A report in the format of section 5.3. It also carries the sending time of the newest packet and
/// the time since its arrival, as a receiver report of RTCP does (RFC 3550, section 6.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    gradual: bool,
    /// Aggregated congestion signal, units of 0.1 ms in 15 bits.
    signal: u16,
    /// Receiving rate, bits per second.
    received_bps: u32,
    echo: Time,
    held: Span,
}

impl Report {
    /// Payload of a report, bytes: the headers of RTCP (8), the fields of section 5.3 (6), the two
    /// times (8), and padding to words of 32 bits.
    pub const LEN: u32 = 24;
    /// Largest signal.
    const MAX_SIGNAL: f64 = 32_767.0;

    fn new(feedback: Feedback, echo: Time, held: Span) -> Report {
        Report {
            gradual: feedback.gradual,
            signal: libm::round(10.0 * feedback.signal).min(Report::MAX_SIGNAL) as u16,
            received_bps: feedback.received as u32, // a cast saturates
            echo,
            held,
        }
    }

    fn feedback(&self) -> Feedback {
        Feedback {
            gradual: self.gradual,
            signal: f64::from(self.signal) / 10.0,
            received: self.received_bps.into(),
        }
    }
}

impl Packet {
    /// Payload of the datagram, bytes.
    pub fn payload(&self) -> u32 {
        match self {
            Packet::Data(data) => data.len,
            Packet::Report(_) => Report::LEN,
        }
    }

    /// ECN field. Reports are not ECN-capable.
    pub fn ecn(&self) -> Codepoint {
        match self {
            Packet::Data(data) => data.ecn,
            Packet::Report(_) => Codepoint::NotEct,
        }
    }

    /// The packet and its size as an IP packet.
    fn sized(self) -> (Packet, u32) {
        (self, (IPV4_HEADER + UDP_HEADER).saturating_add(self.payload()))
    }
}

/// The end that sends media.
#[derive(Clone, Debug)]
pub struct Source {
    media: Media,
    rate: Rate,
    /// Departure time of the next packet.
    next: Time,
    /// Time of the last report, or of the start.
    reported: Time,
    /// Packets sent.
    pub sent: u64,
}

impl Source {
    /// A sender that begins at `start`.
    pub fn new(media: Media, start: Time) -> Source {
        let rate = Rate::new(media.rates_bps);
        Source { media, rate, next: start, reported: start, sent: 0 }
    }

    /// Time at which the next packet leaves.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// The present rate, bits per second.
    pub fn rate_bps(&self) -> u64 {
        self.rate.reference() as u64
    }

    /// Payload sent, bytes.
    pub fn sent_bytes(&self) -> u64 {
        self.sent * u64::from(self.media.packet)
    }

    /// The packet that is due, and its size as an IP packet.
    pub fn poll(&mut self, now: Time) -> Option<(Packet, u32)> {
        if now < self.next {
            return None;
        }
        if now >= self.media.stop {
            self.next = Time::NEVER;
            return None;
        }
        let interval = 8e9 * f64::from(self.media.packet) / self.rate.reference();
        self.next = now + Span((interval as u64).max(1));
        let ecn = if self.media.ecn { Codepoint::Ect0 } else { Codepoint::NotEct };
        let data = Data { number: self.sent, len: self.media.packet, sent: now, ecn };
        self.sent += 1;
        Some(Packet::Data(data).sized())
    }

    /// Receives a report.
    pub fn receive(&mut self, now: Time, packet: &Packet) {
        let Packet::Report(report) = packet else { return };
        let rtt = Span(now.since(report.echo).0.saturating_sub(report.held.0));
        self.rate.update(report.feedback(), ms(rtt), ms(now.since(self.reported)));
        self.reported = now;
    }
}

/// The end that receives media.
#[derive(Clone, Debug)]
pub struct Sink {
    receiver: Receiver,
    /// Time of the next report.
    next: Time,
    /// Sending time of the newest packet.
    newest: Time,
    /// Payload received, bytes.
    pub bytes: u64,
    /// Arrival time of the last packet.
    pub last: Time,
    /// Reports sent.
    pub sent: u64,
}

impl Default for Sink {
    fn default() -> Sink {
        let (next, newest, last) = (Time::NEVER, Time::ZERO, Time::ZERO);
        Sink { receiver: Receiver::new(), next, newest, bytes: 0, last, sent: 0 }
    }
}

impl Sink {
    /// Time of the next report; [`Time::NEVER`] while no packet arrives.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Receives media.
    pub fn receive(&mut self, now: Time, packet: &Packet) {
        let Packet::Data(data) = packet else { return };
        let marked = data.ecn == Codepoint::Ce;
        self.receiver.receive(now, data.sent, data.number, data.len, marked);
        self.bytes += u64::from(data.len);
        (self.newest, self.last) = (data.sent, now);
        if self.next.is_never() {
            self.next = now + Sink::INTERVAL;
        }
    }

    /// Time between two reports.
    const INTERVAL: Span = Span::from_millis(nada::DELTA as u64);

    /// The report that is due, and its size as an IP packet.
    pub fn poll(&mut self, now: Time) -> Option<(Packet, u32)> {
        if now < self.next {
            return None;
        }
        self.next = Time::NEVER;
        let feedback = self.receiver.report(now)?;
        self.next = now + Sink::INTERVAL;
        self.sent += 1;
        Some(Packet::Report(Report::new(feedback, self.newest, now.since(self.last))).sized())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_rounds_to_its_format_and_limits_the_signal() {
        let of = |signal, received| {
            let feedback = Feedback { gradual: true, signal, received };
            Report::new(feedback, Time::ZERO, Span::ZERO).feedback()
        };
        assert_eq!(of(12.34, 1e6), Feedback { gradual: true, signal: 12.3, received: 1e6 });
        assert_eq!(of(1e5, 1e12).signal, 3_276.7);
        assert_eq!(of(0.0, 1e12).received, f64::from(u32::MAX));
    }
}
