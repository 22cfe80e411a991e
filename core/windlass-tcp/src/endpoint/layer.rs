//! An endpoint under another layer: a subflow of a multipath connection (RFC 8684).
//!
//! The layer above gives the endpoint one segment at a time, if the endpoint has [room](Endpoint::room) for
//! it, and takes arriving data at once. The receive window belongs to the layer, and every subflow announces
//! it. The window in the peer's header limits the layer above and not the subflow.

use windlass_cc::group::{Group, PathView};
use windlass_cc::{Phase, Time, flags};

use super::{Endpoint, Profile, State};
use crate::decision::Cause;
use crate::segment::{Flags, Segment};

/// Option bytes of the layer above in a segment with payload: a data acknowledgement and a mapping with
/// 64-bit numbers (RFC 8684 section 3.3).
pub(crate) const OPTION_ROOM: u32 = 28;

/// Window of a subflow under a layer, bytes, in both directions. It is larger than any flight, and small
/// enough for unambiguous sequence numbers.
const NO_LIMIT: u64 = 1 << 30;

/// Instructions of the layer above. By default no such layer exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Layer {
    /// True if the layer exists.
    pub(super) on: bool,
    /// True if the layer has more data to send, which only this endpoint's cwnd limits.
    waiting: bool,
    /// Receive window to advertise, bytes.
    window: u64,
}

impl Layer {
    /// Bytes reserved in a segment with payload for the layer's option.
    pub(super) fn option_room(self) -> u32 {
        if self.on { OPTION_ROOM } else { 0 }
    }

    /// Bytes that wait to be sent, used to find the limit of the sender. `available` is the endpoint's own
    /// backlog.
    pub(super) fn backlog(self, available: u64) -> u64 {
        if self.waiting { u64::MAX } else { available }
    }
}

impl Endpoint {
    /// Puts the endpoint under a layer, or removes the layer. Call this before the handshake is complete, or
    /// while no segment has arrived.
    pub(crate) fn set_layered(&mut self, on: bool) {
        self.layer = Layer { on, ..Layer::default() };
    }

    /// True if the endpoint is under a layer.
    pub(crate) fn is_layered(&self) -> bool {
        self.layer.on
    }

    /// True if a segment is the response to this endpoint's SYN.
    pub(crate) fn is_answer(&self, s: &Segment) -> bool {
        self.state == State::SynSent
            && s.flags.has(Flags::SYN.with(Flags::ACK))
            && s.ack == self.send.iss.add(1)
    }

    /// One past the last byte that the endpoint received from the layer to send.
    pub(crate) fn given_to(&self) -> u64 {
        self.stream.end
    }

    /// Sets the instructions before the endpoint is polled: the receive window in bytes, and whether more
    /// data wait.
    pub(crate) fn instruct(&mut self, window: u64, waiting: bool) {
        self.layer.window = window;
        self.layer.waiting = waiting;
    }

    /// The window in the peer's header as a limit of this endpoint. Under a layer it is no limit.
    #[inline]
    pub(super) fn limiting_window(&self, told: u64) -> u64 {
        if self.layer.on { NO_LIMIT } else { told }
    }

    /// The window in bytes that the header of a segment announces to the layer above.
    pub(crate) fn window_told(&self, s: &Segment) -> u64 {
        let shift = if s.flags.has(Flags::SYN) { 0 } else { self.agreed.snd_scale };
        u64::from(s.window) << shift
    }

    /// The window field under a layer, and the right edge up to which data are accepted.
    pub(super) fn layered_window(&self) -> (u64, u64) {
        (self.layer.window >> self.agreed.rcv_scale, self.recv.nxt + NO_LIMIT)
    }

    /// Right edge of the receive window that this endpoint's SYN announces.
    pub(super) fn first_edge(&self, p: &Profile) -> u64 {
        1 + if self.layer.on { NO_LIMIT } else { self.first_window(p) }
    }

    /// Largest window that the header can announce, bytes.
    pub(crate) fn most_window(&self) -> u64 {
        0xffff << self.agreed.rcv_scale
    }

    /// True if the endpoint can carry data.
    pub(crate) fn carries_data(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.stream.fin_queued
    }

    /// Bytes that would be sent at once if the layer above offered `want` bytes, at most `want`. Returns 0 if
    /// the endpoint must wait for the window, for the pacer or for retransmissions.
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

    /// Takes the data that have arrived in order. Returns the offset one past the last byte.
    pub(crate) fn take_arrived(&mut self) -> u64 {
        self.recv.read = self.recv.data_received();
        self.recv.read
    }

    /// Bytes that have arrived out of order.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.recv.ranges.bytes()
    }

    /// Stream offset of the first byte of a sent segment or, with `arriving`, of a received segment.
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

    /// True if the peer has closed the subflow.
    pub(crate) fn has_peers_fin(&self) -> bool {
        self.recv.fin_received()
    }

    /// Consecutive retransmissions without an acknowledgement.
    pub(crate) fn unanswered(&self) -> u32 {
        self.send.retries
    }

    /// Schedules an immediate acknowledgement.
    pub(crate) fn acknowledge_now(&mut self) {
        self.recv.ack_now |= !matches!(self.state, State::Closed | State::Listen | State::SynSent);
    }

    /// The last RTT sample of data.
    pub(crate) fn last_rtt(&self) -> windlass_cc::Span {
        self.send.last_rtt
    }

    /// Mean deviation of the RTT.
    pub(crate) fn rttvar(&self) -> windlass_cc::Span {
        self.send.rto.rttvar()
    }

    /// The state that other paths of the connection see.
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

    /// Passes the current state of all paths to the controller.
    pub(crate) fn show_group(&mut self, p: &Profile, now: Time, group: &Group) {
        let conn = self.glance(now, flags::CWND_LIMITED);
        self.cc.on_group(&p.params, &conn, group);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, Cause::Coupling, self.send.phase, conn.flight_size);
    }

    /// Reduces cwnd without a loss, for one RTT, as in response to an ECN mark. Has no effect during the
    /// response to a loss or a mark. Returns true if cwnd was reduced.
    pub(crate) fn reduce(&mut self, p: &Profile, now: Time) -> bool {
        let open = self.send.phase == Phase::Open;
        if open {
            self.answer_mark(p, now, self.send.flight_size(), Cause::Coupling);
        }
        open
    }
}
