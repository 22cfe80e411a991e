//! Explicit congestion notification: RFC 3168, RFC 8257's exact echo, and RFC 9768.

use windlass_cc::setup::MarkCut;
use windlass_cc::{Ecn, Flavour, Phase, Time, flags};

use super::accurate_ecn::{self, AccurateEcn, Agreement, Delivery};
use super::ecn_option::EcnOptions;
use super::{Endpoint, Profile};
use crate::decision::Cause;
use crate::segment::{Codepoint, Flags, Options, Segment};
use crate::stack::{EcnFeedback, Lies};

/// Number of immediate acknowledgements after a mark (`tcp_enter_quickack_mode`).
const FEW_QUICK: u32 = 2;

/// Received and echoed marks of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct EcnState {
    /// True if both sides have agreed on ECN.
    pub(super) agreed: bool,
    /// State of accurate ECN, if both sides have agreed on it.
    accurate: Option<AccurateEcn>,
    /// True if acknowledgements carry the echo: until the peer has reduced its cwnd (RFC 3168), or, for an
    /// exact echo, while arriving data are marked (RFC 8257's DCTCP.CE).
    pub(super) echo: bool,
    /// True if the next segment of new data reports to the peer that cwnd is reduced.
    reduced: bool,
    /// Separate acknowledgement of the data received before the marking changed: the offset that it
    /// acknowledges, and its echo.
    pending_ack: Option<(u64, bool)>,
    /// The response to an echo lasts until data above this offset are acknowledged.
    answered_to: u64,
    /// True if the peer has sent ECN-capable data.
    seen: bool,
    /// True if the algorithm is of L4S and the peer has refused ECN.
    refused: bool,
    /// True if the present acknowledgement reports a mark.
    echo_now: bool,
    /// True if a mark has been reported since the present reduction began, or it began with one.
    confirmed: bool,
}

/// Bytes that SACK blocks and counters of accurate ECN take.
fn option_bytes(blocks: usize, counters: usize) -> u64 {
    let sack = if blocks > 0 { 4 + 8 * blocks as u64 } else { 0 };
    let ecn = if counters > 0 { (2 + 3 * counters as u64).next_multiple_of(4) } else { 0 };
    sack + ecn
}

impl EcnState {
    /// True if both sides have agreed on accurate ECN.
    #[inline]
    pub(super) fn is_accurate(&self) -> bool {
        self.accurate.is_some()
    }

    pub(super) fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// The refusal as a bit of [`flags`].
    pub(super) fn refusal(&self) -> u32 {
        if self.refused { flags::WITHOUT_ECN } else { 0 }
    }
}

impl Endpoint {
    fn is_exact(p: &Profile) -> bool {
        p.params.requirements().ecn == Ecn::Exact
    }

    /// Reads the ECN flags of the peer's SYN or SYN-ACK (RFC 3168 section 6.1.1).
    // RFC 9293-3.8.2-SHLD-8
    pub(super) fn agree_on_ecn(&mut self, p: &Profile, s: &Segment) {
        let answered = s.flags.has(Flags::ACK);
        let agreement = match (p.stack.ecn, s.flags.ace()) {
            (EcnFeedback::Off, _) => Agreement::None,
            (feedback, ace) if feedback.is_accurate() && answered => accurate_ecn::on_syn_ack(ace),
            (feedback, ace) if feedback.is_accurate() => accurate_ecn::on_syn(ace),
            // The third flag has no meaning here.
            (EcnFeedback::Classic, 0b001 | 0b101) if answered => Agreement::Classic,
            (EcnFeedback::Classic, 0b011 | 0b111) if !answered => Agreement::Classic,
            _ => Agreement::None,
        };
        let agreed = agreement != Agreement::None;
        let refused = p.params.requirements().l4s && !agreed;
        let accurate = (agreement == Agreement::Accurate).then(|| AccurateEcn::new(s));
        // A timeout of the SYN is a reduction too (`tcp_enter_loss`).
        let reduced = agreement == Agreement::Classic
            && answered
            && self.syn_retransmitted
            && p.stack.rules == Flavour::Linux;
        self.ecn = EcnState { agreed, accurate, reduced, refused, ..EcnState::default() };
    }

    /// Reads the ECN field of a repeated SYN.
    pub(super) fn on_repeated_syn_field(&mut self, s: &Segment) {
        if let Some(accurate) = &mut self.ecn.accurate {
            accurate.on_repeated_syn(s);
        }
    }

    /// Reads the ACE field of the segment that completes the handshake of a server.
    pub(super) fn on_third_ack(&mut self, p: &Profile, s: &Segment) {
        if let Some(accurate) = &mut self.ecn.accurate {
            accurate.on_third_ack(s, p.stack.rules == Flavour::Linux);
        }
    }

    /// Reads the ECN field of a SYN-ACK that arrives again.
    pub(super) fn on_repeated_syn_ack(&mut self, s: &Segment) {
        let answers = self.recv.ack_now && s.flags.has(Flags::ACK);
        if let (Some(accurate), true) = (&mut self.ecn.accurate, answers) {
            accurate.on_repeated_syn_ack(s);
        }
    }

    /// The ECN flags of a SYN or SYN-ACK.
    pub(super) fn ecn_offer(&mut self, p: &Profile, answer: bool) -> Flags {
        let timeouts = self.send.retries;
        match (answer, &mut self.ecn.accurate) {
            (true, Some(accurate)) => accurate.answer(timeouts),
            (true, None) if self.ecn.agreed => Flags::ECE,
            (false, _) if p.stack.ecn.is_accurate() => accurate_ecn::request(timeouts),
            // Section 6.1.1.1: a middlebox may drop such a SYN.
            (false, _) if p.stack.ecn.is_on() && !self.syn_retransmitted => {
                Flags::ECE.with(Flags::CWR)
            }
            _ => Flags::default(),
        }
    }

    /// The echo of an acknowledgement: a flag, or the counter of accurate ECN.
    pub(super) fn ecn_echo(&mut self) -> Flags {
        match &mut self.ecn.accurate {
            Some(accurate) => accurate.report(),
            None if self.ecn.echo => Flags::ECE,
            None => Flags::default(),
        }
    }

    /// True if the acknowledgement reports a mark.
    pub(super) fn is_echoed(&self, s: &Segment) -> bool {
        match &self.ecn.accurate {
            Some(accurate) => accurate.news > 0,
            None => s.flags.has(Flags::ECE),
        }
    }

    /// Notes if an acknowledgement reports a mark; `None` at a timer.
    #[inline]
    pub(super) fn note_echo(&mut self, s: Option<&Segment>) {
        self.ecn.echo_now = self.ecn.agreed && s.is_some_and(|s| self.is_echoed(s));
        self.ecn.confirmed |= self.ecn.echo_now;
    }

    /// A repair begins. A mark in the same acknowledgement or before it confirms its reduction (`tcp_enter_recovery`).
    pub(super) fn begin_repair(&mut self, from: Phase) {
        match from {
            Phase::Open => self.ecn.confirmed = self.ecn.echo_now,
            Phase::Cwr => self.ecn.confirmed = true,
            Phase::Recovery | Phase::Loss => {}
        }
    }

    /// The bit of [`flags`] if a mark has confirmed the reduction, so that an undo restores nothing
    /// (`tcp_fastretrans_alert`).
    pub(super) fn confirmation(&self, p: &Profile) -> u32 {
        let confirmed = p.stack.rules == Flavour::Linux && self.ecn.confirmed;
        if confirmed { flags::CONFIRMED } else { 0 }
    }

    /// Reads the counters of accurate ECN, from an acknowledgement that delivers this number of bytes.
    pub(super) fn count_marks(&mut self, s: &Segment, delivered: u64) {
        let Some(accurate) = &mut self.ecn.accurate else { return };
        let mss = u64::from(self.agreed.mss.max(1));
        let stamp = s.options.timestamps.filter(|_| self.agreed.timestamps);
        let later = stamp.is_some_and(|t| t.value.wrapping_sub(self.recv.ts_recent) as i32 > 0);
        let delivery = Delivery {
            packets: delivered.div_ceil(mss),
            bytes: delivered,
            newer: delivered > 0 || later,
            certain: self.send.selective || matches!(self.send.phase, Phase::Open | Phase::Cwr),
            mss,
        };
        accurate.on_ack(s, &delivery);
    }

    /// Counts a marked segment without data. Linux does not acknowledge it.
    pub(super) fn on_empty_segment(&mut self, p: &Profile, s: &Segment) {
        if let (Some(accurate), true) = (&mut self.ecn.accurate, p.stack.lies != Lies::HidesMarks) {
            let due = accurate.on_empty(s.ecn);
            self.recv.ack_now |= due && p.stack.rules != Flavour::Linux;
        }
    }

    /// The option of a SYN-ACK, which only the first has: a middlebox may drop it (RFC 9768 section 3.2.3.2.2).
    pub(super) fn offer_ecn_option(&self, p: &Profile, options: &mut Options) {
        let sends = p.stack.ecn == EcnFeedback::Accurate && !self.layer.on;
        if sends && self.ecn.accurate.is_some() && self.send.max == 0 {
            options.set_accurate_ecn(&EcnOptions::initial());
        }
    }

    /// Decides on an option of accurate ECN in the next segment. Multipath TCP leaves no room for it.
    #[inline(never)] // keeps the paths of other connections short
    #[cold]
    pub(super) fn plan_ecn_option(&mut self, p: &Profile, now: Time) {
        let srtt = self.srtt();
        let Some(accurate) = &mut self.ecn.accurate else { return };
        if p.stack.ecn == EcnFeedback::Accurate && !self.layer.on {
            accurate.option.plan(now, srtt, p.stack.rules == Flavour::Linux);
        }
    }

    /// Number of SACK blocks and of counters in a segment with data, if it has an option. The options may take half of the
    /// segment.
    fn ecn_option_beside_data(&self, blocks: usize) -> Option<(usize, usize)> {
        let (blocks, counters) = self.ecn.accurate.as_ref()?.option.fit(blocks)?;
        let most = u64::from(self.send.segment / 2);
        (option_bytes(blocks, counters) <= most).then_some((blocks, counters))
    }

    /// Maximum payload of a segment with an option of accurate ECN, or with these SACK blocks alone.
    #[inline(never)] // keeps the paths of other connections short
    #[cold]
    pub(super) fn payload_beside_ecn_option(&self, blocks: usize) -> u64 {
        let (blocks, counters) = self.ecn_option_beside_data(blocks).unwrap_or((blocks, 0));
        u64::from(self.send.segment) - option_bytes(blocks, counters)
    }

    /// Adds the option of accurate ECN to the other options, in a segment with `len` bytes of payload. Returns the ECN
    /// field of the segment: in Linux every segment is ECN-capable, as the feedback counts every segment.
    #[inline(never)] // keeps the paths of other connections short
    #[cold]
    pub(super) fn finish_accurate(
        &mut self,
        p: &Profile,
        now: Time,
        len: u64,
        options: &mut Options,
    ) -> Codepoint {
        let blocks = usize::from(options.sack_count);
        if len == 0 {
            self.plan_ecn_option(p, now);
        }
        let fit = match len {
            0 => self.ecn.accurate.as_ref().and_then(|accurate| accurate.option.fit(blocks)),
            _ => self.ecn_option_beside_data(blocks),
        };
        let first = options.sack_blocks().first().map(|block| block.left);
        let first = first.and_then(|left| left.unwrap_near(self.recv.irs, self.recv.nxt));
        let duplicate = first.filter(|start| *start < self.recv.nxt);
        if let Some(accurate) = &mut self.ecn.accurate {
            match fit {
                Some((kept, counters)) => {
                    for slot in options.sack.iter_mut().skip(kept) {
                        *slot = Default::default();
                    }
                    options.sack_count = kept as u8;
                    options.set_accurate_ecn(&accurate.option.send(now, counters, duplicate));
                }
                None => accurate.option.send_nothing(),
            }
        }
        match p.stack.rules {
            Flavour::Linux => self.codepoint(p),
            _ => Codepoint::NotEct,
        }
    }

    /// Notes duplicate data at this offset.
    pub(super) fn note_duplicate_for_ecn(&mut self, start: u64) {
        if let Some(accurate) = &mut self.ecn.accurate {
            accurate.option.on_duplicate(start);
        }
    }

    /// Marks that the peer has reported: packets, and with the option bytes with ECT(1), CE and ECT(0).
    pub fn reported_marks(&self) -> Option<(u64, [u32; 3])> {
        self.ecn.accurate.as_ref().map(|accurate| (accurate.total, accurate.option.delivered()))
    }

    /// The CWR flag, if the segment has new data and a reduction is not reported yet.
    pub(super) fn ecn_news(&mut self, new_data: bool) -> Flags {
        let tell = new_data && std::mem::take(&mut self.ecn.reduced);
        if tell { Flags::CWR } else { Flags::default() }
    }

    /// Codepoint of new data. All other segments are not ECN-capable (RFC 3168 sections 6.1.4 to 6.1.6).
    #[inline]
    pub(super) fn codepoint(&self, p: &Profile) -> Codepoint {
        match self.ecn.agreed {
            true => self.codepoint_if_agreed(p),
            false => Codepoint::NotEct,
        }
    }

    #[cold]
    fn codepoint_if_agreed(&self, p: &Profile) -> Codepoint {
        let wants = p.params.requirements();
        let mute = self.ecn.accurate.is_some_and(|accurate| accurate.mute);
        match wants.ecn != Ecn::None && !mute {
            true if wants.l4s => Codepoint::Ect1,
            true => Codepoint::Ect0,
            false => Codepoint::NotEct,
        }
    }

    /// cwnd is reduced for any reason, so that the peer may stop its echo (RFC 3168 section 6.1.2).
    pub(super) fn note_reduction(&mut self) {
        self.ecn.reduced = self.ecn.agreed && self.ecn.accurate.is_none();
    }

    /// The reduction was unnecessary, and the peer need not be notified (`tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw_reduction(&mut self) {
        self.ecn.reduced = false;
    }

    /// Updates the echo when a segment with data arrives.
    pub(super) fn on_mark(&mut self, p: &Profile, s: &Segment) {
        if !self.ecn.agreed || p.stack.lies == Lies::HidesMarks {
            return;
        }
        if let Some(accurate) = &mut self.ecn.accurate {
            self.recv.ack_now |= accurate.on_data(s.ecn, s.len);
            return;
        }
        let marked = s.ecn == Codepoint::Ce;
        if !Endpoint::is_exact(p) {
            let kept = self.ecn.echo && !s.flags.has(Flags::CWR);
            self.ecn.echo = kept || marked;
            return;
        }
        // RFC 8257 section 3.2: a change is reported at once, separately from the data before it.
        if marked != self.ecn.echo {
            if self.recv.unacked_segments > 0 {
                self.ecn.pending_ack.get_or_insert((self.recv.nxt, !marked));
            }
            self.ecn.echo = marked;
            self.recv.ack_now = true;
        }
    }

    /// Linux does not delay an acknowledgement if the sender's cwnd may be very small: for the first mark,
    /// for data with CWR, and for retransmitted data without a codepoint (`__tcp_ecn_check_ce`,
    /// `tcp_ecn_accept_cwr`). `echoed` is true if marks were echoed before.
    pub(super) fn hasten_for_mark(&mut self, p: &Profile, s: &Segment, echoed: bool) {
        let follows = p.stack.quick_acks && p.stack.lies != Lies::HidesMarks;
        if !follows || !self.ecn.agreed || self.ecn.accurate.is_some() {
            return;
        }
        self.recv.ack_now |= s.flags.has(Flags::CWR);
        match s.ecn {
            Codepoint::NotEct if self.ecn.seen => self.recv.acks.hasten(p, FEW_QUICK),
            Codepoint::NotEct => {}
            Codepoint::Ce if !echoed => {
                self.recv.acks.hasten(p, FEW_QUICK);
                self.ecn.seen = true;
            }
            _ => self.ecn.seen = true,
        }
    }

    /// The acknowledgement of the data before a change of the marking, with their echo.
    #[inline]
    pub(super) fn poll_pending_ack(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        let (ack, echo) = self.ecn.pending_ack?;
        Some(self.acknowledge_apart(p, now, ack, echo))
    }

    /// One of the acknowledgements of a receiver that splits acknowledgements, except the last.
    #[cold]
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
        // The right edge of the window does not change.
        s.window = (self.recv.adv.saturating_sub(ack) >> self.agreed.rcv_scale).min(0xffff) as u16;
        s
    }

    /// Volume of `delivered` that the peer reports as marked, if the echo is exact. If the response is a
    /// reduction that takes an RTT, the result is `delivered`. The acknowledgement then does not grow cwnd
    /// before the reduction (`tcp_fastretrans_alert` runs before `tcp_cong_control`).
    pub(super) fn marked_bytes(&self, p: &Profile, s: &Segment, delivered: u64) -> u64 {
        if !self.ecn.agreed || !self.is_echoed(s) {
            return 0;
        }
        let turns = p.stack.mark_cut == MarkCut::Proportional
            && p.params.requirements().ecn == Ecn::Classic
            && self.send.phase == Phase::Open
            && self.send.scoreboard.pending() == 0;
        match self.ecn.accurate {
            _ if turns => delivered,
            _ if !Endpoint::is_exact(p) => 0,
            Some(accurate) => (accurate.news * u64::from(self.agreed.mss)).min(delivered),
            None => delivered,
        }
    }

    /// Responds to an echo once per window of data, and not during the response to a loss (RFC 3168 section
    /// 6.1.2). The flight of the marked packet includes the bytes that this acknowledgement removed.
    #[inline(always)] // usually only this test runs
    pub(super) fn on_echo(&mut self, p: &Profile, now: Time, acked: u64, s: &Segment) {
        if self.ecn.agreed && self.is_echoed(s) {
            self.heed_echo(p, now, acked);
        }
    }

    #[cold]
    fn heed_echo(&mut self, p: &Profile, now: Time, acked: u64) {
        if let Some(accurate) = &mut self.ecn.accurate {
            accurate.news = 0;
        }
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

    /// Reduces cwnd as for a mark in this flight.
    pub(super) fn answer_mark(&mut self, p: &Profile, now: Time, flight: u64, why: Cause) {
        self.send.spurious.forget();
        self.ecn.answered_to = self.send.max;
        self.set_phase(p, now, Phase::Cwr, flight, why);
    }

    /// True if an acknowledgement covers more than the data sent before the reduction for a mark. The first
    /// segment after the reduction reports the reduction to the peer.
    pub(super) fn echo_is_answered(&self) -> bool {
        self.send.una > self.ecn.answered_to
    }

    /// End of the data that had been sent when cwnd was reduced for a mark.
    pub(super) fn answered_to(&self) -> u64 {
        self.ecn.answered_to
    }
}
