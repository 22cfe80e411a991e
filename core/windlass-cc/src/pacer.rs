//! Pacing: the departure time of the next packet (draft-ietf-ccwg-bbr-06 section 5.6.2).

use crate::arithmetic::math;
use crate::params::ParamKind;
use crate::time::{Rate, Span, Time};

/// Maximum packet size for pacing, bytes; larger packets count as this size.
const MAX_PACKET: u64 = u32::MAX as u64;
const NANOS: u64 = 1_000_000_000;

crate::parameters! {
    /// Parameters of the pacer.
    pub struct Params {
        /// Bytes that a new connection may send before pacing begins. Linux sends ten segments.
        initial_burst: u64 = 0,
            ParamKind::Bytes { min: 0, max: 1 << 30 },
            "Linux tcp_update_skb_after_send (10 segments); none in draft-ietf-ccwg-bbr-06";
        /// Bytes that may leave together; the gap after them is the gap for all of them. With zero, or
        /// less than a packet, each packet is paced separately.
        quantum: u64 = 0,
            ParamKind::Bytes { min: 0, max: 1 << 30 },
            "draft-ietf-ccwg-bbr-06 section 5.6.3 (C.send_quantum)";
        /// Shorten the gap after a packet by the delay of the packet, at most by half of the gap.
        credit: bool = false,
            ParamKind::Flag,
            "Linux tcp_update_skb_after_send";
    }
}

/// Departure times of one connection.
///
/// At a constant rate the departure times of a connection with data to send are exact: packet `n`
/// leaves `⌊volume before it / rate⌋` nanoseconds after the first. The fraction of a nanosecond is
/// carried over, so errors do not accumulate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Pacer {
    next: Time,
    /// Remainder of the last division, in units of 1/`rate` ns.
    rest: u64,
    rate: Rate,
    /// Bytes that may still leave without pacing.
    burst: u64,
    /// Bytes of the current quantum that have left.
    gathered: u64,
}

impl Pacer {
    /// The pacer of a new connection: its first packet may leave at any time.
    pub const fn new(p: &Params) -> Pacer {
        Pacer { next: Time::ZERO, rest: 0, rate: Rate(0), burst: p.initial_burst, gathered: 0 }
    }

    /// The time from which the next packet may leave; in the past if it may leave now.
    pub const fn next(&self) -> Time {
        self.next
    }

    /// True if a packet may leave now.
    pub const fn ready(&self, now: Time) -> bool {
        self.next.0 <= now.0
    }

    /// Records a packet of `bytes` that leaves now, at the controller's pacing rate `rate`. Unused time
    /// is not compensated. A [`Rate`] of zero is no pacing.
    pub fn on_sent(&mut self, p: &Params, now: Time, bytes: u64, rate: Rate) {
        if self.burst > 0 {
            self.burst = self.burst.saturating_sub(bytes);
            self.next = now;
            return;
        }
        if rate.0 == 0 {
            self.next = now;
            self.gathered = 0;
            return;
        }
        let late = now.since(self.next);
        if now > self.next {
            self.next = now;
            self.rest = 0;
        }
        self.gathered = self.gathered.saturating_add(bytes).min(MAX_PACKET);
        if self.gathered >= p.quantum {
            let gap = self.gap(self.gathered, rate);
            let credit = if p.credit { late.0.min(gap.0 / 2) } else { 0 };
            self.next += Span(gap.0 - credit);
            self.gathered = 0;
        }
    }

    /// Time that `bytes` take at `rate`, including the remainder of the last gap.
    fn gap(&mut self, bytes: u64, rate: Rate) -> Span {
        let divisor = rate.0.max(1);
        if rate != self.rate {
            self.rest = math::mul_div(self.rest, rate.0, self.rate.0.max(1)).min(divisor - 1);
            self.rate = rate;
        }
        // At most 2^32 · 10^9 < 2^62.
        let nanos = (bytes.min(MAX_PACKET) * NANOS).saturating_add(self.rest);
        self.rest = nanos % divisor;
        Span(nanos / divisor)
    }
}
