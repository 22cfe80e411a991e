//! The record of decisions: each change of cwnd, ssthresh and the pacing rate, each timer expiry and each
//! segment deemed lost, with its cause.
//!
//! An endpoint keeps a journal after a call of [`Endpoint::keep_journal`](crate::Endpoint::keep_journal). The
//! journal does not change the connection.

use windlass_cc::{Control, Phase, Span, Time, Undo};

use crate::seq::Seq;

/// The cause of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Acknowledgements arrived in the phase [`Decision::from`].
    Acks,
    /// Segments were deemed lost, and cwnd is reduced for them ([`Journal::losses_of`]).
    Losses,
    /// The retransmission timer expired.
    Timeout {
        /// The duration of the timeout, without a stack's rounding.
        rto: Span,
        /// Consecutive expiries without an acknowledgement between them, including this expiry.
        expiries: u32,
    },
    /// The sender responds to an ECN echo (RFC 3168 section 6.1.2).
    Echo,
    /// A tail loss probe repaired a loss that was not detected otherwise (RFC 8985 section 7.4).
    RepairedByProbe,
    /// All data that were outstanding at the reduction are acknowledged.
    RecoveryEnds,
    /// The last reduction was unnecessary.
    Undo(Undo),
    /// New data are sent after an idle time of this length (RFC 5681 section 4.1).
    Idle(Span),
    /// The handshake is complete, and the initial window is set.
    Handshake,
    /// The other paths of the connection, or their scheduler, requested the change.
    Coupling,
    /// The tail loss probe timer expired (RFC 8985 section 7.3).
    ProbeTimer,
    /// The persist timer, which probes a closed receive window, expired (RFC 9293 section 3.8.6.1).
    PersistTimer,
}

/// The rule that detected a lost segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossRule {
    /// Enough consecutive duplicate acknowledgements arrived (RFC 5681 section 3.2).
    Duplicates,
    /// Enough data above the segment was reported as received (RFC 6675 section 4, IsLost).
    Count,
    /// A segment that was sent later has arrived, and this segment did not arrive in time (RFC 8985 section
    /// 6.2).
    Overtaken,
    /// A partial acknowledgement ended at the segment (RFC 6582 section 3.2).
    Partial,
    /// The retransmission timer expired (RFC 6298 section 5).
    Timeout,
    /// The sender goes back to the first loss and retransmits everything after it (Tahoe).
    GoBack,
}

/// A segment that was deemed lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// Time at which it was deemed lost.
    pub time: Time,
    /// Stream offset of its first byte; the first byte of data has 1.
    pub start: u64,
    /// Bytes of sequence space.
    pub len: u32,
    /// Its sequence number on the wire.
    pub seq: Seq,
    /// Time of the transmission that is deemed lost.
    pub sent: Time,
    /// Number of that transmission, from 1.
    pub transmission: u32,
    /// The rule that detected the loss.
    pub rule: LossRule,
}

/// A field of an algorithm's internal state: name, unit and value.
pub type Inner = (&'static str, &'static str, u64);

/// A change, or several consecutive changes with the same cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Time of the first change.
    pub since: Time,
    /// Time of the last change.
    pub time: Time,
    /// Number of changes.
    pub count: u32,
    /// The cause.
    pub cause: Cause,
    /// Phase of loss recovery before the change.
    pub from: Phase,
    /// Phase of loss recovery after the change.
    pub to: Phase,
    /// cwnd, ssthresh and pacing rate before the first change.
    pub before: Control,
    /// cwnd, ssthresh and pacing rate after the last change.
    pub after: Control,
    /// Bytes from which the controller computed the reduction: RFC 5681's FlightSize.
    pub flight_size: u64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Smoothed RTT; [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Retransmission timeout after the change.
    pub rto: Span,
    /// Internal state that the algorithm exposes; empty unless the decision is a reduction.
    pub inner: Vec<Inner>,
    /// Range of the journal's losses to which the decision responds.
    losses: [u32; 2],
}

impl Decision {
    /// True if cwnd or ssthresh is smaller after the decision. An ssthresh that was unlimited before counts
    /// as larger.
    pub fn reduces(&self) -> bool {
        self.after.cwnd < self.before.cwnd || self.after.ssthresh < self.before.ssthresh
    }

    /// True if `next` continues this decision, so that both form one entry.
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

/// The decisions of an endpoint, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journal {
    decisions: Vec<Decision>,
    losses: Vec<LostSegment>,
    /// cwnd, ssthresh and pacing rate at the last note.
    control: Control,
    /// Number of losses to which a decision has responded.
    answered: u32,
}

/// The time of a decision and the state at that time.
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
    /// An empty journal of an endpoint with this cwnd, ssthresh and pacing rate.
    pub(crate) fn new(control: Control) -> Journal {
        Journal { decisions: Vec::new(), losses: Vec::new(), control, answered: 0 }
    }

    /// All decisions.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// All segments that were deemed lost.
    pub fn losses(&self) -> &[LostSegment] {
        &self.losses
    }

    /// Segments deemed lost between the previous reduction or end of recovery and this decision. For a
    /// reduction or a timeout, these are the losses to which the decision responds.
    pub fn losses_of(&self, decision: &Decision) -> &[LostSegment] {
        let [from, to] = decision.losses.map(|place| place as usize);
        self.losses.get(from..to).unwrap_or_default()
    }

    pub(crate) fn lose(&mut self, lost: LostSegment) {
        self.losses.push(lost);
    }

    /// Records a decision. `inner` is called only after a reduction.
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
