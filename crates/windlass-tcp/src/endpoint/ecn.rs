//! Explicit congestion notification: RFC 3168, and RFC 8257's exact echo.

use windlass_cc::setup::MarkCut;
use windlass_cc::{Ecn, Phase, Time};

use super::{Endpoint, Profile};
use crate::decision::Cause;
use crate::segment::{Codepoint, Flags, Segment};
use crate::stack::Lies;

/// Acknowledgements that a mark has sent at once (`tcp_enter_quickack_mode`).
const FEW_QUICK: u32 = 2;

/// Marks received and marks echoed, of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct EcnState {
    /// Both sides have agreed.
    agreed: bool,
    /// Acknowledgements carry the echo: until the peer has reduced its window (RFC 3168), or, for
    /// an exact echo, while what arrives is marked (RFC 8257's DCTCP.CE).
    echo: bool,
    /// The next segment of new data tells the peer that the window is reduced.
    reduced: bool,
    /// What was received before the mark changed has an acknowledgement of its own: the offset that
    /// it acknowledges, and its echo.
    pending_ack: Option<(u64, bool)>,
    /// An echo is being answered until more than this is acknowledged.
    answered_to: u64,
    /// The peer has sent data that are ECN-capable.
    seen: bool,
}

impl Endpoint {
    fn is_exact(p: &Profile) -> bool {
        p.params.requirements().ecn == Ecn::Exact
    }

    /// RFC 3168 section 6.1.1: the peer's SYN, or the answer to ours.
    pub(super) fn agree_on_ecn(&mut self, p: &Profile, s: &Segment) {
        let both = s.flags.has(Flags::ECE) && s.flags.has(Flags::CWR);
        let one = s.flags.has(Flags::ECE) && !s.flags.has(Flags::CWR);
        let offered = if s.flags.has(Flags::ACK) { one } else { both };
        self.ecn = EcnState { agreed: p.stack.ecn && offered, ..EcnState::default() };
    }

    /// What a SYN or the answer to one says of ECN.
    pub(super) fn ecn_offer(&self, p: &Profile, answer: bool) -> Flags {
        match answer {
            true if self.ecn.agreed => Flags::ECE,
            // Section 6.1.1.1: somebody on the way may drop such a SYN.
            false if p.stack.ecn && !self.syn_retransmitted => Flags::ECE.with(Flags::CWR),
            _ => Flags::default(),
        }
    }

    /// The echo that an acknowledgement carries.
    pub(super) fn ecn_echo(&self) -> Flags {
        if self.ecn.echo { Flags::ECE } else { Flags::default() }
    }

    /// With new data, the news of a smaller window.
    pub(super) fn ecn_news(&mut self, new_data: bool) -> Flags {
        let tell = new_data && std::mem::take(&mut self.ecn.reduced);
        if tell { Flags::CWR } else { Flags::default() }
    }

    /// Codepoint of new data. Whatever else is sent is not ECN-capable (RFC 3168 sections 6.1.4 to
    /// 6.1.6).
    pub(super) fn codepoint(&self, p: &Profile) -> Codepoint {
        let capable = self.ecn.agreed && p.params.requirements().ecn != Ecn::None;
        if capable { Codepoint::Ect0 } else { Codepoint::NotEct }
    }

    /// The window is reduced, for whatever reason: the peer may stop its echo (RFC 3168 section
    /// 6.1.2).
    pub(super) fn note_reduction(&mut self) {
        self.ecn.reduced = self.ecn.agreed;
    }

    /// The reduction was unfounded: the peer need not hear of it (`tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw_reduction(&mut self) {
        self.ecn.reduced = false;
    }

    /// A segment with data arrived: what is to be echoed from now on.
    pub(super) fn on_mark(&mut self, p: &Profile, s: &Segment) {
        if !self.ecn.agreed || p.stack.lies == Lies::HidesMarks {
            return;
        }
        let marked = s.ecn == Codepoint::Ce;
        if p.stack.quick_acks {
            self.hasten_for_mark(p, s);
        }
        if !Endpoint::is_exact(p) {
            let kept = self.ecn.echo && !s.flags.has(Flags::CWR);
            self.ecn.echo = kept || marked;
            return;
        }
        // RFC 8257 section 3.2: a change is told at once, and apart from what came before it.
        if marked != self.ecn.echo {
            if self.recv.unacked_segments > 0 {
                self.ecn.pending_ack.get_or_insert((self.recv.nxt, !marked));
            }
            self.ecn.echo = marked;
            self.recv.ack_now = true;
        }
    }

    /// Linux delays no acknowledgement where the sender's window may be very small: the first mark, data that tell of a
    /// reduction, and what is retransmitted without a codepoint (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`).
    fn hasten_for_mark(&mut self, p: &Profile, s: &Segment) {
        self.recv.ack_now |= s.flags.has(Flags::CWR);
        match s.ecn {
            Codepoint::NotEct if self.ecn.seen => self.recv.acks.hasten(p, FEW_QUICK),
            Codepoint::NotEct => {}
            Codepoint::Ce if !self.ecn.echo => {
                self.recv.acks.hasten(p, FEW_QUICK);
                self.ecn.seen = true;
            }
            _ => self.ecn.seen = true,
        }
    }

    /// The acknowledgement of what came before a change of marks, with the echo that belonged to it.
    #[inline]
    pub(super) fn poll_pending_ack(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        let (ack, echo) = self.ecn.pending_ack?;
        Some(self.acknowledge_apart(p, now, ack, echo))
    }

    /// One of the acknowledgements of a receiver that splits them, but for the last.
    pub(super) fn poll_part_of_ack(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        let part = self.recv.last_ack_sent + u64::from(self.agreed.mss / 4).max(1);
        let due = self.recv.ack_now && part < self.recv.nxt;
        due.then(|| self.acknowledge_apart(p, now, part, self.ecn.echo))
    }

    #[cold]
    fn acknowledge_apart(&mut self, p: &Profile, now: Time, ack: u64, echo: bool) -> Segment {
        self.ecn.pending_ack = None;
        let due = self.recv.ack_now;
        let now_echo = std::mem::replace(&mut self.ecn.echo, echo);
        let mut s = self.acknowledgement(p, now);
        self.ecn.echo = now_echo;
        self.recv.ack_now = due;
        s.ack = self.recv.irs.add(ack);
        self.recv.last_ack_sent = ack;
        // The same right edge as ever.
        s.window = (self.recv.adv.saturating_sub(ack) >> self.agreed.rcv_scale).min(0xffff) as u16;
        s
    }

    /// Volume of `delivered` that the peer reports as marked, if the echo is exact. It is all of it if the answer is a cut
    /// that takes a round trip: the acknowledgement then does not open the window before (`tcp_fastretrans_alert` runs
    /// before `tcp_cong_control`).
    pub(super) fn marked_bytes(&self, p: &Profile, s: &Segment, delivered: u64) -> u64 {
        if !self.ecn.agreed || !s.flags.has(Flags::ECE) {
            return 0;
        }
        let turns = p.stack.mark_cut == MarkCut::Proportional
            && p.params.requirements().ecn == Ecn::Classic
            && self.send.phase == Phase::Open
            && self.send.scoreboard.pending() == 0;
        if turns || Endpoint::is_exact(p) { delivered } else { 0 }
    }

    /// RFC 3168 section 6.1.2: an echo is answered once per window of data, and not while a loss is.
    /// The flight that met the mark has the bytes in it that this acknowledgement took off.
    #[inline(always)] // mostly the one test
    pub(super) fn on_echo(&mut self, p: &Profile, now: Time, acked: u64, s: &Segment) {
        if self.ecn.agreed && s.flags.has(Flags::ECE) {
            self.heed_echo(p, now, acked);
        }
    }

    fn heed_echo(&mut self, p: &Profile, now: Time, acked: u64) {
        let answers = match p.params.requirements().ecn {
            Ecn::None => false,
            Ecn::Classic => true,
            Ecn::Exact => p.stack.mark_cut == MarkCut::Proportional,
        };
        if answers && self.send.phase == Phase::Open {
            let flight = self.send.flight_size() + acked;
            self.answer_mark(p, now, flight, Cause::Echo);
        }
    }

    /// The window is reduced as for a mark that this flight met.
    pub(super) fn answer_mark(&mut self, p: &Profile, now: Time, flight: u64, why: Cause) {
        self.send.spurious.forget();
        self.ecn.answered_to = self.send.max;
        self.set_phase(p, now, Phase::Cwr, flight, why);
    }

    /// Whether what was sent before the window was reduced for a mark is acknowledged, and more: the
    /// first segment after it is the one that says so to the peer.
    pub(super) fn echo_is_answered(&self) -> bool {
        self.send.una > self.ecn.answered_to
    }

    /// Where the data end that had been sent when the window was reduced for a mark.
    pub(super) fn answered_to(&self) -> u64 {
        self.ecn.answered_to
    }
}
