//! An endpoint under another layer: a subflow of a multipath connection (RFC 8684).
//!
//! The layer above gives the endpoint one segment at a time, when there is [room](Endpoint::room)
//! for it, and takes what arrives at once. The receive window is the layer's own, told on every
//! subflow: what the peer's header says limits the layer above and not the subflow.

use windlass_cc::group::{Group, PathView};
use windlass_cc::{Phase, Time, flags};

use super::{Endpoint, Profile, State};
use crate::decision::Cause;
use crate::segment::{Flags, Segment};

/// Bytes of a segment's options that belong to the layer above where the segment has payload: a
/// data acknowledgement and a mapping with 64-bit numbers (RFC 8684 section 3.3).
pub(crate) const OPTION_ROOM: u32 = 28;

/// Window of a subflow under a layer, bytes, for either direction: more than any flight, and little
/// enough for sequence numbers to be told apart.
const NO_LIMIT: u64 = 1 << 30;

/// What the layer above says to an endpoint; there is none by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Layer {
    /// There is such a layer.
    pub(super) on: bool,
    /// It has more to send, which only this endpoint's window keeps back.
    waiting: bool,
    /// Receive window to advertise, bytes.
    window: u64,
}

impl Layer {
    /// Bytes that a segment with payload leaves to the layer's option.
    pub(super) fn option_room(self) -> u32 {
        if self.on { OPTION_ROOM } else { 0 }
    }

    /// What is there to send beside `available`, as far as it matters why nothing is sent.
    pub(super) fn backlog(self, available: u64) -> u64 {
        if self.waiting { u64::MAX } else { available }
    }
}

impl Endpoint {
    /// Puts the endpoint under a layer, or takes the layer away: before its handshake is complete,
    /// or while nothing has arrived.
    pub(crate) fn set_layered(&mut self, on: bool) {
        self.layer = Layer { on, ..Layer::default() };
    }

    /// Whether there is a layer above.
    pub(crate) fn is_layered(&self) -> bool {
        self.layer.on
    }

    /// Whether a segment answers the SYN that this endpoint has sent.
    pub(crate) fn is_answer(&self, s: &Segment) -> bool {
        self.state == State::SynSent
            && s.flags.has(Flags::SYN.with(Flags::ACK))
            && s.ack == self.send.iss.add(1)
    }

    /// One past the last byte that was given to it to send.
    pub(crate) fn given_to(&self) -> u64 {
        self.stream.end
    }

    /// What the layer above has to say before the endpoint is polled: the receive window, bytes,
    /// and whether more waits to be sent.
    pub(crate) fn instruct(&mut self, window: u64, waiting: bool) {
        self.layer.window = window;
        self.layer.waiting = waiting;
    }

    /// The peer's window that the header of a segment tells, as far as it limits this endpoint.
    #[inline]
    pub(super) fn limiting_window(&self, told: u64) -> u64 {
        if self.layer.on { NO_LIMIT } else { told }
    }

    /// The peer's window in bytes that the header of a segment tells the layer above.
    pub(crate) fn window_told(&self, s: &Segment) -> u64 {
        let shift = if s.flags.has(Flags::SYN) { 0 } else { self.agreed.snd_scale };
        u64::from(s.window) << shift
    }

    /// The window field under a layer, and the right edge up to which data is taken.
    pub(super) fn layered_window(&self) -> (u64, u64) {
        (self.layer.window >> self.agreed.rcv_scale, self.recv.nxt + NO_LIMIT)
    }

    /// Right edge of the receive window that a SYN of this endpoint opens.
    pub(super) fn first_edge(&self, p: &Profile) -> u64 {
        1 + if self.layer.on { NO_LIMIT } else { p.stack.receive_buffer.min(0xffff) }
    }

    /// Largest window that the header can tell, bytes.
    pub(crate) fn most_window(&self) -> u64 {
        0xffff << self.agreed.rcv_scale
    }

    /// Whether the endpoint can carry data.
    pub(crate) fn carries_data(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.stream.fin_queued
    }

    /// Bytes of a segment that would leave at once if the layer above gave it `want`; no more than
    /// that, and 0 if it has to wait, for the window, for the pacer or for what was lost.
    pub(crate) fn room(&mut self, p: &Profile, now: Time, want: u64) -> u64 {
        let want = want.min(u64::from(self.agreed.mss));
        let repairs = self.send.scoreboard.pending() > 0 && !self.send.spurious.prefers_new();
        if !self.carries_data() || repairs || self.send.nxt != self.stream.end {
            return 0;
        }
        let usable = self.usable_window(p);
        let idle = self.send.nxt == self.send.una;
        let fits = if usable >= want || idle { want.min(usable) } else { 0 };
        if fits == 0 || self.must_wait(p, now) { 0 } else { fits }
    }

    /// Takes what has arrived in order: one past the last byte's offset.
    pub(crate) fn take_arrived(&mut self) -> u64 {
        self.recv.read = self.recv.data_received();
        self.recv.read
    }

    /// Bytes that wait for earlier ones.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.recv.ranges.bytes()
    }

    /// Stream offset of the first byte of a segment that leaves or, with `arriving`, arrives.
    pub(crate) fn offset_of(&self, s: &Segment, arriving: bool) -> Option<u64> {
        match arriving {
            true => s.seq.unwrap_near(self.recv.irs, self.recv.nxt),
            false => s.seq.unwrap_near(self.send.iss, self.send.una),
        }
    }

    /// The peer's initial sequence number.
    pub(crate) fn peer_start(&self) -> crate::Seq {
        self.recv.irs
    }

    /// Everything below this offset is acknowledged.
    pub(crate) fn acknowledged_to(&self) -> u64 {
        self.send.una
    }

    /// Whether the peer has closed the subflow.
    pub(crate) fn has_peers_fin(&self) -> bool {
        self.recv.fin_received()
    }

    /// Retransmissions in a row that nothing has answered.
    pub(crate) fn unanswered(&self) -> u32 {
        self.send.retries
    }

    /// An acknowledgement is due now.
    pub(crate) fn acknowledge_now(&mut self) {
        self.recv.ack_now |= !matches!(self.state, State::Closed | State::Listen | State::SynSent);
    }

    /// The last round trip that data made.
    pub(crate) fn last_rtt(&self) -> windlass_cc::Span {
        self.send.last_rtt
    }

    /// Mean deviation of the round-trip time.
    pub(crate) fn rttvar(&self) -> windlass_cc::Span {
        self.send.rto.rttvar()
    }

    /// The endpoint as its siblings see it.
    pub(crate) fn view(&self) -> PathView {
        PathView {
            cwnd: self.control.cwnd,
            ssthresh: self.control.ssthresh,
            srtt: self.srtt(),
            min_rtt: self.send.min_rtt,
            disclosed: self.cc.disclosed(),
            mss: self.agreed.mss,
            phase: self.send.phase,
        }
    }

    /// The paths of the connection as they are now.
    pub(crate) fn show_group(&mut self, p: &Profile, now: Time, group: &Group) {
        let conn = self.glance(now, flags::CWND_LIMITED);
        self.cc.on_group(&p.params, &conn, group);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, Cause::Coupling, self.send.phase, conn.flight_size);
    }

    /// The window is to be reduced although nothing was lost: as in answer to an ECN mark, and for a
    /// round trip. Does nothing while a loss or a mark is being answered already; returns whether
    /// it did.
    pub(crate) fn reduce(&mut self, p: &Profile, now: Time) -> bool {
        let open = self.send.phase == Phase::Open;
        if open {
            self.answer_mark(p, now, self.send.flight_size(), Cause::Coupling);
        }
        open
    }
}
