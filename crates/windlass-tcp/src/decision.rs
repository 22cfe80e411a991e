//! The record of decisions: each change of the congestion window, the slow-start threshold and the pacing rate, each
//! expiry of a timer and each segment deemed lost, with its cause.
//!
//! An endpoint keeps one from [`Endpoint::keep_journal`](crate::Endpoint::keep_journal) on. It only looks: with a journal
//! or without, the connection is the same.

use windlass_cc::{Control, Phase, Span, Time, Undo};

use crate::seq::Seq;

/// Why something was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Acknowledgements came, in the phase [`Decision::from`].
    Acks,
    /// Segments were deemed lost, and the window is reduced for them ([`Journal::losses_of`]).
    Losses,
    /// The retransmission timer expired.
    Timeout {
        /// The timeout that it had been set to, without a stack's rounding.
        rto: Span,
        /// Expiries in a row that nothing has answered, this one included.
        expiries: u32,
    },
    /// An ECN echo is answered (RFC 3168 section 6.1.2).
    Echo,
    /// A tail loss probe has repaired a loss that nobody had noticed (RFC 8985 section 7.4).
    RepairedByProbe,
    /// What the window was reduced for is acknowledged.
    RecoveryEnds,
    /// The last reduction proved unfounded.
    Undo(Undo),
    /// New data after a silence this long (RFC 5681 section 4.1).
    Idle(Span),
    /// The handshake is complete: the initial window.
    Handshake,
    /// The other paths of the connection, or their scheduler, asked for it.
    Coupling,
    /// The timer of the tail loss probe expired (RFC 8985 section 7.3).
    ProbeTimer,
    /// The timer that probes a closed receive window expired (RFC 9293 section 3.8.6.1).
    PersistTimer,
}

/// How a segment was found to be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossRule {
    /// Enough duplicate acknowledgements in a row (RFC 5681 section 3.2).
    Duplicates,
    /// Enough data above it was reported to have arrived (RFC 6675 section 4, IsLost).
    Count,
    /// A segment that was sent later has arrived, and it did not follow in time (RFC 8985 section 6.2).
    Overtaken,
    /// A partial acknowledgement ended at it (RFC 6582 section 3.2).
    Partial,
    /// The retransmission timer expired (RFC 6298 section 5).
    Timeout,
    /// The sender goes back to the first loss and sends everything after it again (Tahoe).
    GoBack,
}

/// A segment that was deemed lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// When it was deemed lost.
    pub time: Time,
    /// Stream offset of its first byte; the first byte of data has 1.
    pub start: u64,
    /// Bytes of sequence space.
    pub len: u32,
    /// Its sequence number on the wire.
    pub seq: Seq,
    /// When the transmission that is deemed lost was made.
    pub sent: Time,
    /// Which transmission that was, from 1.
    pub transmission: u32,
    /// How it was found.
    pub rule: LossRule,
}

/// A field of an algorithm's inner state: its name, its unit and its value.
pub type Inner = (&'static str, &'static str, u64);

/// A change, or several that followed each other for the same reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// When the first of them was made.
    pub since: Time,
    /// When the last of them was made.
    pub time: Time,
    /// How many they are.
    pub count: u32,
    /// Why.
    pub cause: Cause,
    /// Phase of loss recovery in which the cause was met.
    pub from: Phase,
    /// Phase afterwards.
    pub to: Phase,
    /// Window, threshold and pacing rate before the first.
    pub before: Control,
    /// The same after the last.
    pub after: Control,
    /// Bytes that the reduction was reckoned from, as the controller was told: RFC 5681's FlightSize.
    pub flight_size: u64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Smoothed round-trip time, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Retransmission timeout afterwards.
    pub rto: Span,
    /// What the algorithm shows of its inner state after a reduction; empty after anything else.
    pub inner: Vec<Inner>,
    /// Which of the journal's losses it answers.
    losses: [u32; 2],
}

impl Decision {
    /// Whether window or threshold are smaller afterwards. What a threshold that was never set falls to does not
    /// count where the window stays: then slow start has ended.
    pub fn reduces(&self) -> bool {
        self.after.cwnd < self.before.cwnd || self.after.ssthresh < self.before.ssthresh
    }

    /// Whether `next` goes on with what this one does.
    fn goes_on(&self, next: &Decision) -> bool {
        let way = |d: &Decision| d.after.cwnd.cmp(&d.before.cwnd);
        let starting = |d: &Decision| d.before.cwnd < d.before.ssthresh;
        let plain = |d: &Decision| d.cause == Cause::Acks && d.before.ssthresh == d.after.ssthresh;
        plain(self)
            && plain(next)
            && self.from == next.from
            && way(self) == way(next)
            && starting(self) == starting(next)
    }

    fn extend(&mut self, next: Decision) {
        self.time = next.time;
        self.count += 1;
        (self.after, self.flight_size) = (next.after, next.flight_size);
        (self.srtt, self.rto, self.inner) = (next.srtt, next.rto, next.inner);
    }
}

/// What an endpoint has decided, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journal {
    decisions: Vec<Decision>,
    losses: Vec<LostSegment>,
    /// As they were noted last.
    control: Control,
    /// Losses that a decision has answered.
    answered: u32,
}

/// The moment of a decision, and what was known then.
pub(crate) struct Moment {
    pub(crate) now: Time,
    pub(crate) cause: Cause,
    pub(crate) phases: [Phase; 2],
    pub(crate) control: Control,
    pub(crate) flight_size: u64,
    pub(crate) mss: u32,
    pub(crate) srtt: Span,
    pub(crate) rto: Span,
}

impl Journal {
    /// An empty one of an endpoint with this window, threshold and pacing rate.
    pub(crate) fn new(control: Control) -> Journal {
        Journal { decisions: Vec::new(), losses: Vec::new(), control, answered: 0 }
    }

    /// Everything that was decided.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Everything that was deemed lost.
    pub fn losses(&self) -> &[LostSegment] {
        &self.losses
    }

    /// What was deemed lost since the window was last reduced or a recovery last ended, up to this decision: of a
    /// reduction for losses or of a timeout, what it answers.
    pub fn losses_of(&self, decision: &Decision) -> &[LostSegment] {
        let [from, to] = decision.losses.map(|place| place as usize);
        self.losses.get(from..to).unwrap_or_default()
    }

    pub(crate) fn lose(&mut self, lost: LostSegment) {
        self.losses.push(lost);
    }

    /// Notes what has been decided. `inner` is asked only after a reduction.
    pub(crate) fn note(&mut self, moment: Moment, inner: impl FnOnce() -> Vec<Inner>) {
        let Moment { now, cause, phases: [from, to], control, flight_size, mss, srtt, rto } =
            moment;
        let before = std::mem::replace(&mut self.control, control);
        let expiry =
            matches!(cause, Cause::Timeout { .. } | Cause::ProbeTimer | Cause::PersistTimer);
        if before == control && from == to && !expiry {
            return;
        }
        let mut decision = Decision {
            since: now,
            time: now,
            count: 1,
            cause,
            from,
            to,
            before,
            after: control,
            flight_size,
            mss,
            srtt,
            rto,
            inner: Vec::new(),
            losses: [self.answered; 2],
        };
        if decision.reduces() {
            decision.inner = inner();
        }
        if let Some(last) = self.decisions.last_mut()
            && last.goes_on(&decision)
        {
            return last.extend(decision);
        }
        if from != to || matches!(cause, Cause::Timeout { .. }) {
            self.answered = self.losses.len() as u32;
            decision.losses[1] = self.answered;
        }
        self.decisions.push(decision);
    }
}
