//! Header options of Quick-Start (RFC 4782): the request and the report in an option of the IPv4 header, and
//! the response in an option of the TCP header.
//!
//! The ordinary calls of an endpoint do not handle a packet with such an option.
//! [`Endpoint::poll_quick_start`](crate::Endpoint::poll_quick_start) returns such a packet, and
//! [`Endpoint::on_quick_start`](crate::Endpoint::on_quick_start) processes it. A host that calls neither
//! sends no request and no response.

use windlass_cc::Rate;

/// Number of the option in an IPv4 header: not copied on fragmentation, class 0, number 25 (section
/// 3.1).
pub const IP_OPTION: u8 = 25;
/// Kind of the option in a TCP header (section 4.2).
pub const TCP_OPTION: u8 = 27;
/// Length of each option, bytes.
pub const OPTION_LEN: u32 = 8;
/// Time to live of an IP packet when it is sent.
pub const TIME_TO_LIVE: u8 = 64;

/// Bits of the nonce: two for each step of a rate reduction.
const NONCE_BITS: u32 = 30;
/// The function field's values.
const REQUEST: u8 = 0b0000;
const REPORT: u8 = 0b1000;

/// A rate as encoded in the options, in 4 bits (section 3.1, table 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateCode(u8);

impl RateCode {
    /// No rate: the value that a router writes to refuse the request.
    pub const ZERO: RateCode = RateCode(0);

    /// The rate with this number. Numbers above 15 become 15.
    pub const fn new(number: u8) -> RateCode {
        RateCode(if number > 15 { 15 } else { number })
    }

    /// The number of the rate, 0 to 15.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Bits per second, headers from the IP header on included: 0, or 40 000 · 2^N for number N.
    pub const fn bits_per_second(self) -> u64 {
        if self.0 == 0 { 0 } else { 40_000 << self.0 }
    }

    /// The rate in the type that controllers use.
    pub const fn rate(self) -> Rate {
        Rate(self.bits_per_second() / 8)
    }

    /// The largest rate that is at most `bits_per_second`.
    pub fn at_most(bits_per_second: u64) -> RateCode {
        let fits = |code: &RateCode| code.bits_per_second() <= bits_per_second;
        (0..=15).rev().map(RateCode).find(fits).unwrap_or_default()
    }
}

/// The 30-bit nonce. It reveals a receiver that reports a higher rate than it received.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nonce(u32);

impl Nonce {
    /// A nonce of the lower 30 bits of `bits`.
    pub const fn new(bits: u32) -> Nonce {
        Nonce(bits & ((1 << NONCE_BITS) - 1))
    }

    /// The bits. The two lowest bits belong to the step from rate 1 to rate 0 (section 3.1, table 2).
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The bits of the steps below a rate: the rightmost 2·K bits.
    const fn steps_below(rate: RateCode) -> u32 {
        (1 << (2 * rate.0)) - 1
    }

    /// True if both nonces are equal in the bits that a request reduced to this rate still has (section 4.4).
    pub const fn agrees(self, other: Nonce, rate: RateCode) -> bool {
        (self.0 ^ other.0) & Nonce::steps_below(rate) == 0
    }
}

/// A Rate Request, in the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// The requested rate, limited by the approvals of the routers so far.
    pub rate: RateCode,
    /// QS TTL: each router that approves decreases it together with the IP packet's TTL.
    pub ttl: u8,
    /// QS Nonce.
    pub nonce: Nonce,
}

impl Request {
    /// Limits the request to `rate`. A router that reduces the rate replaces the nonce's bits of each step by
    /// random bits, so that the receiver does not learn them (section 3.3).
    pub fn reduce(&mut self, rate: RateCode, random: u32) {
        if rate >= self.rate {
            return;
        }
        if rate == RateCode::ZERO {
            *self = Request::default();
            return;
        }
        let steps = Nonce::steps_below(self.rate) & !Nonce::steps_below(rate);
        self.nonce = Nonce((self.nonce.0 & !steps) | (random & steps));
        self.rate = rate;
    }
}

/// A Response, in the TCP header: the result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Response {
    /// The rate of the request on arrival.
    pub rate: RateCode,
    /// IP TTL minus QS TTL of the request on arrival, modulo 256.
    pub ttl_diff: u8,
    /// The nonce of the request on arrival.
    pub nonce: Nonce,
}

/// A Report of Approved Rate, in the IP header: the rate that the sender takes as approved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The rate that the sender uses; zero for none.
    pub rate: RateCode,
    /// The nonce of the request when it was sent.
    pub nonce: Nonce,
}

/// One of the options of Quick-Start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum QuickOption {
    /// In the IP header of a SYN.
    Request(Request),
    /// In the TCP header of a SYN-ACK.
    Response(Response),
    /// In the IP header of a packet after the SYN-ACK.
    Report(Report),
}

/// An option of Quick-Start with the time to live of the packet that carries it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Carried {
    /// The option.
    pub option: QuickOption,
    /// Time to live in the IP header.
    pub ttl: u8,
}

impl Carried {
    /// The option in a packet that is sent now, with the initial time to live.
    pub const fn sent(option: QuickOption) -> Carried {
        Carried { option, ttl: TIME_TO_LIVE }
    }

    /// True if the option belongs in the IP header.
    pub const fn in_ip_header(&self) -> bool {
        !matches!(self.option, QuickOption::Response(_))
    }
}

/// Encodes an option for its header.
pub(crate) fn encode(option: &QuickOption) -> [u8; OPTION_LEN as usize] {
    let (kind, third, fourth, nonce) = match option {
        QuickOption::Request(r) => (IP_OPTION, REQUEST << 4 | r.rate.0, r.ttl, r.nonce),
        QuickOption::Report(r) => (IP_OPTION, REPORT << 4 | r.rate.0, 0, r.nonce),
        QuickOption::Response(r) => (TCP_OPTION, r.rate.0, r.ttl_diff, r.nonce),
    };
    let [a, b, c, d] = (nonce.0 << 2).to_be_bytes();
    [kind, OPTION_LEN as u8, third, fourth, a, b, c, d]
}

/// Decodes an option of the IP header from its bytes after kind and length. `None` for other lengths and
/// functions.
pub(crate) fn decode_ip(value: &[u8]) -> Option<QuickOption> {
    let (third, ttl, nonce) = fields(value)?;
    let rate = RateCode(third & 0xf);
    match third >> 4 {
        REQUEST => Some(QuickOption::Request(Request { rate, ttl, nonce })),
        REPORT => Some(QuickOption::Report(Report { rate, nonce })),
        _ => None,
    }
}

/// Decodes an option of the TCP header from its bytes after kind and length. `None` for other lengths.
pub(crate) fn decode_tcp(value: &[u8]) -> Option<QuickOption> {
    let (third, ttl_diff, nonce) = fields(value)?;
    Some(QuickOption::Response(Response { rate: RateCode(third & 0xf), ttl_diff, nonce }))
}

fn fields(value: &[u8]) -> Option<(u8, u8, Nonce)> {
    let &[third, fourth, a, b, c, d] = value else { return None };
    Some((third, fourth, Nonce(u32::from_be_bytes([a, b, c, d]) >> 2)))
}
