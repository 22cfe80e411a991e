//! Events and state that a host passes to a controller, and the controller's answer. The types do not
//! depend on the host.

use crate::time::{Rate, Span, Time};

/// Bits of [`Conn::flags`]: the reasons that limited the sender, and what ECN has told.
pub mod flags {
    /// Within the last window the sender had data but `cwnd` limited it (RFC 7661's validated phase).
    /// Hosts that do not validate the window always set it.
    pub const CWND_LIMITED: u32 = 1;
    /// Within the last window the application had nothing more to send.
    pub const APP_LIMITED: u32 = 2;
    /// Within the last window the peer's receive window limited the sender.
    pub const RWND_LIMITED: u32 = 4;
    /// The peer has refused the ECN that the algorithm needs. Set only for algorithms of L4S.
    pub const WITHOUT_ECN: u32 = 8;
    /// In a call of `on_undo`: a mark has confirmed the reduction. It ends, and the window stays.
    pub const CONFIRMED: u32 = 16;
}

/// Phase of a connection's loss recovery. The host sets it; a controller never infers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Phase {
    /// No data is known to be missing.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// Recovery after a retransmission timeout.
    Loss,
    /// The window is reduced in response to an ECN echo (RFC 3168 section 6.1.2); no data is missing.
    Cwr,
}

/// State of the connection *after* the host has processed the event.
///
/// A change of `mss` is reported by [`Controller::on_mss`](crate::Controller::on_mss). Volumes have an
/// arbitrary origin, so that only differences have a meaning.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conn {
    /// Time of the event.
    pub now: Time,
    /// Estimate of the bytes in the network: RFC 6675's `pipe` for a sender with SACK, otherwise
    /// `flight_size`.
    pub in_flight: u64,
    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub flight_size: u64,
    /// Stream offset below which everything is acknowledged (SND.UNA).
    pub una: u64,
    /// Stream offset of the next byte that is sent for the first time. It never goes back: a sender
    /// that returns to lost data lowers SND.NXT, but not this.
    pub next_id: u64,
    /// Bytes delivered so far: acknowledged cumulatively or selectively, each counted once.
    pub delivered: u64,
    /// Bytes deemed lost so far.
    pub lost: u64,
    /// Bytes sent so far, retransmissions included.
    pub sent: u64,
    /// SRTT, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Minimum RTT, [`Span::NONE`] before the first sample.
    pub min_rtt: Span,
    /// Maximum payload of one segment, bytes.
    pub mss: u32,
    /// Reasons that limited the sender and the refusal of ECN, see [`flags`].
    pub flags: u32,
    /// A fresh random number, drawn from the flow's own stream.
    pub entropy: u32,
    /// The phase after the event.
    pub phase: Phase,
}

impl Conn {
    /// A new connection with this segment size in bytes, without data sent and without measurements.
    pub const fn new(mss: u32) -> Conn {
        Conn {
            now: Time::ZERO,
            in_flight: 0,
            flight_size: 0,
            una: 0,
            next_id: 0,
            delivered: 0,
            lost: 0,
            sent: 0,
            srtt: Span::NONE,
            min_rtt: Span::NONE,
            mss,
            flags: flags::CWND_LIMITED,
            entropy: 0,
            phase: Phase::Open,
        }
    }

    /// True if the congestion window limits the sender.
    #[inline]
    pub const fn cwnd_limited(&self) -> bool {
        self.flags & flags::CWND_LIMITED != 0
    }
}

/// One received acknowledgement: its cumulative and its selective part.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// Bytes newly acknowledged cumulatively; zero for a duplicate.
    pub acked: u64,
    /// Bytes newly delivered: acknowledged cumulatively or selectively for the first time. A sender
    /// without SACK counts one segment for a duplicate (RFC 6937 section 3).
    pub delivered: u64,
    /// Bytes that the host deems lost because of this acknowledgement.
    pub lost: u64,
    /// Newly delivered bytes that the receiver reports as marked (ECN).
    pub ce: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight: u64,
    /// RTT sample, [`Span::NONE`] if Karn's rule forbids one.
    pub rtt: Span,
    /// Delivery-rate sample, for algorithms that require it.
    pub rate: RateSample,
    /// A duplicate acknowledgement in the sense of RFC 5681 section 2.
    pub duplicate: bool,
}

impl Default for Ack {
    fn default() -> Ack {
        Ack {
            acked: 0,
            delivered: 0,
            lost: 0,
            ce: 0,
            prior_in_flight: 0,
            rtt: Span::NONE,
            rate: RateSample::NONE,
            duplicate: false,
        }
    }
}

impl Ack {
    /// An acknowledgement of `bytes` bytes in order.
    pub fn of(bytes: u64) -> Ack {
        Ack { acked: bytes, delivered: bytes, ..Ack::default() }
    }
}

/// Delivery rate between the sending of a packet and its acknowledgement (draft-ietf-ccwg-bbr section
/// 4.1, Delivery Rate Sampling).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The longer of the send interval and the acknowledgement interval; [`Span::NONE`] makes the
    /// sample invalid.
    pub interval: Span,
    /// [`Conn::delivered`] when the packet was sent.
    pub prior_delivered: u64,
    /// Bytes deemed lost since the packet was sent.
    pub lost: u64,
    /// Bytes in flight just after the packet was sent.
    pub tx_in_flight: u64,
    /// True if the application did not fill the window at some time in the interval.
    pub app_limited: bool,
}

impl RateSample {
    /// No sample.
    pub const NONE: RateSample = RateSample {
        delivered: 0,
        interval: Span::NONE,
        prior_delivered: 0,
        lost: 0,
        tx_in_flight: 0,
        app_limited: false,
    };

    /// True if the sample gives a rate.
    pub const fn is_valid(&self) -> bool {
        self.interval.is_known() && self.interval.0 > 0
    }
}

/// A segment that the host has just deemed lost.
///
/// Only `bytes` is meaningful for all controllers. The other fields are set for controllers whose
/// description has `rate_samples`; a host need not maintain them for others.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Payload of the segment, bytes.
    pub bytes: u64,
    /// Bytes in flight just after the segment was sent, including it.
    pub tx_in_flight: u64,
    /// Bytes deemed lost since the segment was sent, including it.
    pub lost_since_sent: u64,
    /// True if the segment was sent while the application limited the sender.
    pub app_limited: bool,
}

/// Evidence that a reduction of the window was unfounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Undo {
    /// Duplicate SACKs cover every retransmission (RFC 3708).
    Dsack,
    /// The acknowledgement's timestamp is older than the retransmission (RFC 3522).
    Eifel,
    /// Data that was not retransmitted was acknowledged first after a timeout (RFC 5682).
    Frto,
}

/// Output of a controller, which the host must obey. A controller has no other output.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Pacing rate; a [`Rate`] of zero means no pacing.
    pub pacing: Rate,
}
