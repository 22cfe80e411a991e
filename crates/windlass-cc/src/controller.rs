//! The controller trait, its events and its answer.

use crate::info::{Info, TraceField};
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
    /// Fast recovery after duplicate acknowledgements.
    Recovery,
    /// Recovery after a retransmission timeout.
    Loss,
}

/// Facts about the connection *after* the host accounted for the event.
///
/// A change of `mss` comes with [`Controller::on_mss`].
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conn {
    /// The moment of the event.
    pub now: Time,
    /// Bytes sent and neither acknowledged nor deemed lost (RFC 5681's FlightSize for a sender
    /// without SACK).
    pub in_flight: u64,
    /// Bytes acknowledged since the connection began.
    pub delivered: u64,
    /// Stream offset that the next byte never sent before will carry.
    pub next_id: u64,
    /// Smoothed round-trip time, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Least round-trip time seen, [`Span::NONE`] before the first sample.
    pub min_rtt: Span,
    /// Largest payload of one segment, bytes.
    pub mss: u32,
    /// What limited the sender, see [`flags`].
    pub flags: u32,
    /// The phase after the event.
    pub phase: Phase,
}

impl Conn {
    /// A fresh connection with this segment size in bytes: nothing sent, nothing measured.
    pub const fn new(mss: u32) -> Conn {
        Conn {
            now: Time::ZERO,
            in_flight: 0,
            delivered: 0,
            next_id: 0,
            srtt: Span::NONE,
            min_rtt: Span::NONE,
            mss,
            flags: flags::CWND_LIMITED,
            phase: Phase::Open,
        }
    }
}

/// One received acknowledgement.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// Bytes newly acknowledged; zero for a duplicate.
    pub acked: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight: u64,
    /// Round-trip sample, [`Span::NONE`] when none may be taken (Karn's rule).
    pub rtt: Span,
    /// A duplicate acknowledgement in the sense of RFC 5681 section 2.
    pub duplicate: bool,
}

impl Default for Ack {
    fn default() -> Ack {
        Ack { acked: 0, prior_in_flight: 0, rtt: Span::NONE, duplicate: false }
    }
}

/// What the host must obey. Nothing else comes out of a controller.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Pacing rate; [`Rate`] zero means unpaced.
    pub pacing: Rate,
}

/// An event as data: what recording, replay and fuzzing use in place of the methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// [`Controller::on_ack`].
    Ack(Ack),
    /// [`Controller::on_phase`].
    Phase {
        /// The phase before.
        from: Phase,
        /// The phase after.
        to: Phase,
    },
    /// [`Controller::on_idle_restart`] after this long without sending.
    IdleRestart(Span),
    /// [`Controller::on_mss`], with the segment size before the change.
    Mss(u32),
}

/// A congestion-control algorithm.
///
/// For one incoming segment the host calls, in this order: [`on_ack`](Controller::on_ack) in the
/// phase in which the acknowledgement arrived, [`on_phase`](Controller::on_phase) if it changes
/// the phase, then reads [`control`](Controller::control). So the third duplicate does not inflate
/// the window beyond `ssthresh + 3·SMSS`, and the acknowledgement that ends recovery does not also
/// grow it (RFC 5681 section 3.2 steps 3 and 6).
pub trait Controller: Copy {
    /// Plain, shared, validated parameters.
    type Params;

    /// What the algorithm is, for people.
    const INFO: &'static Info;

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// An acknowledgement arrived, duplicates included.
    fn on_ack(&mut self, p: &Self::Params, c: &Conn, a: &Ack);

    /// The host's loss recovery moved on. `c.phase` is the new phase, and `c.in_flight` still the
    /// FlightSize at which the loss was found, data sent by limited transmit left out.
    ///
    /// `Loss → Loss` is a repeated timeout of the same data; a timeout of other data during `Loss`
    /// comes as `Loss → Open` and `Open → Loss`, since it sets `ssthresh` anew.
    fn on_phase(&mut self, p: &Self::Params, c: &Conn, from: Phase, to: Phase);

    /// What the host may do now. Pure: calling it twice changes nothing.
    fn control(&self, p: &Self::Params, c: &Conn) -> Control;

    /// The first transmission after `gap` without anything to send or in flight.
    fn on_idle_restart(&mut self, _p: &Self::Params, _c: &Conn, _gap: Span) {}

    /// The segment size changed from `old` to `c.mss`.
    fn on_mss(&mut self, _p: &Self::Params, _c: &Conn, _old: u32) {}

    /// Visits the inner state as named integers, in the order of [`Info::trace`].
    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64));

    /// Dispatches a recorded event.
    fn apply(&mut self, p: &Self::Params, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => self.on_ack(p, c, a),
            Event::Phase { from, to } => self.on_phase(p, c, *from, *to),
            Event::IdleRestart(gap) => self.on_idle_restart(p, c, *gap),
            Event::Mss(old) => self.on_mss(p, c, *old),
        }
    }
}
