//! What a host tells a controller, and the answer: plain facts that know nothing of who uses them.

use crate::time::{Rate, Span, Time};

/// Bits of [`Conn::flags`]: what kept the sender from sending more.
pub mod flags {
    /// Within the last window the sender had data but `cwnd` stopped it (RFC 7661's validated
    /// phase). Hosts that do not validate the window always set it.
    pub const CWND_LIMITED: u32 = 1;
    /// Within the last window the application had nothing more to send.
    pub const APP_LIMITED: u32 = 2;
    /// Within the last window the peer's receive window stopped the sender.
    pub const RWND_LIMITED: u32 = 4;
}

/// Where a connection stands in loss recovery. The host says so; a controller never infers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Phase {
    /// Nothing is known to be missing.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// Recovery after a retransmission timeout.
    Loss,
    /// The window is reduced in answer to an ECN echo (RFC 3168 section 6.1.2); nothing is missing.
    Cwr,
}

/// Facts about the connection *after* the host accounted for the event.
///
/// A change of `mss` comes with [`Controller::on_mss`](crate::Controller::on_mss). Volumes are counted from any origin: only
/// differences mean anything.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conn {
    /// The moment of the event.
    pub now: Time,
    /// Estimate of the bytes in the network: RFC 6675's `pipe` for a sender with SACK, otherwise
    /// `flight_size`.
    pub in_flight: u64,
    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub flight_size: u64,
    /// Stream offset below which everything is acknowledged (SND.UNA).
    pub una: u64,
    /// Stream offset that the next byte never sent before will carry. It never goes back: a sender
    /// that returns to what was lost lowers SND.NXT, not this.
    pub next_id: u64,
    /// Bytes delivered so far: acknowledged cumulatively or selectively, each counted once.
    pub delivered: u64,
    /// Bytes deemed lost so far.
    pub lost: u64,
    /// Bytes sent so far, retransmissions included.
    pub sent: u64,
    /// Smoothed round-trip time, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Least round-trip time seen, [`Span::NONE`] before the first sample.
    pub min_rtt: Span,
    /// Largest payload of one segment, bytes.
    pub mss: u32,
    /// What limited the sender, see [`flags`].
    pub flags: u32,
    /// A fresh random number, drawn from the flow's own stream.
    pub entropy: u32,
    /// The phase after the event.
    pub phase: Phase,
}

impl Conn {
    /// A fresh connection with this segment size in bytes: nothing sent, nothing measured.
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

    /// Whether the congestion window is what limits the sender.
    #[inline]
    pub const fn cwnd_limited(&self) -> bool {
        self.flags & flags::CWND_LIMITED != 0
    }
}

/// One received acknowledgement, its cumulative and its selective part together.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// Bytes newly acknowledged cumulatively; zero for a duplicate.
    pub acked: u64,
    /// Bytes newly delivered: acknowledged cumulatively or selectively and never before. A sender
    /// without SACK counts one segment for a duplicate (RFC 6937 section 3).
    pub delivered: u64,
    /// Bytes that this acknowledgement made the host deem lost.
    pub lost: u64,
    /// Bytes newly delivered that the receiver says were marked (ECN).
    pub ce: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight: u64,
    /// Round-trip sample, [`Span::NONE`] when none may be taken (Karn's rule).
    pub rtt: Span,
    /// Delivery-rate sample, for algorithms that want it.
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
    /// An acknowledgement of so many bytes in order.
    pub fn of(bytes: u64) -> Ack {
        Ack { acked: bytes, delivered: bytes, ..Ack::default() }
    }
}

/// How fast data was delivered between the sending of a packet and its acknowledgement
/// (draft-ietf-ccwg-bbr section 4.1, Delivery Rate Sampling).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The longer of send and acknowledgement interval; [`Span::NONE`] makes the sample invalid.
    pub interval: Span,
    /// [`Conn::delivered`] when the packet was sent.
    pub prior_delivered: u64,
    /// Bytes deemed lost since the packet was sent.
    pub lost: u64,
    /// Bytes in flight when the packet had been sent.
    pub tx_in_flight: u64,
    /// The application did not fill the window at some moment of the interval.
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

    /// Whether a rate can be taken from it.
    pub const fn is_valid(&self) -> bool {
        self.interval.is_known() && self.interval.0 > 0
    }
}

/// A segment that the host has just deemed lost.
///
/// All but `bytes` means something only for controllers whose description has `rate_samples`: a host need not keep it for
/// others.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Its payload, bytes.
    pub bytes: u64,
    /// Bytes in flight when it had been sent, itself included.
    pub tx_in_flight: u64,
    /// Bytes deemed lost since it was sent, itself included.
    pub lost_since_sent: u64,
    /// It was sent while the application limited the sender.
    pub app_limited: bool,
}

/// Why the host believes that a reduction of the window was unfounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Undo {
    /// Duplicate SACKs cover every retransmission (RFC 3708).
    Dsack,
    /// The acknowledgement's timestamp is older than the retransmission (RFC 3522).
    Eifel,
    /// Data not retransmitted was acknowledged first after a timeout (RFC 5682).
    Frto,
}

/// What the host must obey. Nothing else comes out of a controller.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Pacing rate; [`Rate`] zero means that the algorithm asks for none.
    pub pacing: Rate,
}
