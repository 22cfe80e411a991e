//! Quick-Start at the two ends of a connection (RFC 4782 section 4): who asks, who answers, and what
//! the answer is worth. What the approved rate makes of the window is the slow start's business.

use windlass_cc::pacer::{self, Pacer};
use windlass_cc::{Rate, Setup, Time, math};

use super::{Endpoint, Profile, State};
use crate::quick_start::{
    Carried, Nonce, QuickOption, RateCode, Report, Request, Response, TIME_TO_LIVE,
};
use crate::segment::{Flags, Segment};

const NANOS: u64 = 1_000_000_000;

/// Where an end stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quick {
    /// The SYN has asked.
    Asked(Asked),
    /// The answer to it has come, and is worth this much.
    Answered { asked: Asked, rate: RateCode },
    /// What is made of it is to be reported.
    Owes(Report),
    /// The peer has asked: this goes into every SYN-ACK. With true the window is to be told once
    /// more after it.
    Answers { response: Response, tell_window: bool },
}

/// A request as it was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    rate: RateCode,
    ttl_diff: u8,
    nonce: Nonce,
}

impl Asked {
    /// What a response is worth: nothing if a router took no part, or if somebody says more than the
    /// routers did (section 4.4).
    fn worth(&self, r: &Response) -> RateCode {
        let honest = r.ttl_diff == self.ttl_diff
            && r.rate <= self.rate
            && r.nonce.agrees(self.nonce, r.rate);
        if honest { r.rate } else { RateCode::ZERO }
    }
}

impl Profile {
    /// The rate that a connection asks the routers for, if its slow start asks for one.
    fn rate_code(&self) -> Option<RateCode> {
        self.params.requirements().slow_start?;
        self.params.common().slow_start.rate_code().map(RateCode::new)
    }

    /// Whether connections with this profile have packets for
    /// [`poll_quick_start`](Endpoint::poll_quick_start).
    pub fn asks_routers(&self) -> bool {
        self.rate_code().is_some()
    }

    /// What Quick-Start sends is paced whatever the stack does otherwise (section 4.4).
    pub(super) fn pace_quick_start(&mut self) {
        use crate::stack::Pacing;
        if self.stack.pacing == Pacing::Off && self.rate_code().is_some() {
            self.stack.pacing = Pacing::Algorithm;
        }
    }
}

impl Endpoint {
    /// The next segment that carries an option of Quick-Start, and segments that belong to it. To be
    /// called before [`poll_transmit`](Endpoint::poll_transmit) by hosts that carry such options.
    /// `None` when there is none, as for all connections whose slow start is another.
    pub fn poll_quick_start(
        &mut self,
        p: &Profile,
        now: Time,
    ) -> Option<(Segment, Option<Carried>)> {
        match (self.state, self.quick.as_deref().copied()) {
            (State::SynSent, None) => self.ask(p, now),
            (State::SynReceived, Some(Quick::Answers { response, tell_window })) => {
                self.answer(p, now, response, tell_window)
            }
            (state, Some(Quick::Owes(report))) if state != State::Closed => {
                self.quick = None;
                let segment = self.acknowledgement(p, now);
                Some((segment, Some(Carried::sent(QuickOption::Report(report)))))
            }
            _ => None,
        }
    }

    /// A segment arrived with an option of Quick-Start: takes both.
    pub fn on_quick_start(&mut self, p: &Profile, now: Time, s: &Segment, carried: &Carried) {
        match carried.option {
            QuickOption::Request(r) if self.state == State::Listen && !self.layer.on => {
                let ttl_diff = carried.ttl.wrapping_sub(r.ttl);
                // What was refused says nothing else either (section 4.3).
                let response = match r.rate {
                    RateCode::ZERO => Response::default(),
                    rate => Response { rate, ttl_diff, nonce: r.nonce },
                };
                self.on_segment(p, now, s);
                if self.state == State::SynReceived {
                    let tell_window = self.agreed.scaling && r.rate > RateCode::ZERO;
                    self.quick = Some(Box::new(Quick::Answers { response, tell_window }));
                }
            }
            QuickOption::Response(r) => {
                if let Some(Quick::Asked(asked)) = self.quick.as_deref().copied()
                    && self.is_answer(s)
                {
                    let rate = asked.worth(&r);
                    self.quick = Some(Box::new(Quick::Answered { asked, rate }));
                }
                self.on_segment(p, now, s);
            }
            // The report tells routers; this end has no use for it.
            _ => self.on_segment(p, now, s),
        }
    }

    /// The first SYN asks, if there is more to send than goes at once anyway. One that is retransmitted
    /// does not: the option may have been what the first was dropped for (section 4.7.2).
    fn ask(&mut self, p: &Profile, now: Time) -> Option<(Segment, Option<Carried>)> {
        let rate = p.rate_code()?;
        let enough = self.stream.end - 1 > p.stack.initial_window.bytes(p.mss());
        if self.send.max > 0 || self.layer.on || !enough {
            return None;
        }
        let ttl = self.entropy() as u8;
        let nonce = Nonce::new(self.entropy());
        let asked = Asked { rate, ttl_diff: TIME_TO_LIVE.wrapping_sub(ttl), nonce };
        self.quick = Some(Box::new(Quick::Asked(asked)));
        let segment = self.poll_unsynchronised(p, now)?;
        Some((segment, Some(Carried::sent(QuickOption::Request(Request { rate, ttl, nonce })))))
    }

    /// The SYN-ACK with the response. The window of a SYN cannot be scaled (RFC 7323 section 2.2),
    /// so that 64 KiB would be all of the approved window; the bare acknowledgement that follows
    /// tells the whole one in time.
    fn answer(
        &mut self,
        p: &Profile,
        now: Time,
        response: Response,
        tell_window: bool,
    ) -> Option<(Segment, Option<Carried>)> {
        if let Some(segment) = self.poll_unsynchronised(p, now) {
            let carried = segment.flags.has(Flags::SYN.with(Flags::ACK));
            let option = Carried::sent(QuickOption::Response(response));
            return Some((segment, carried.then_some(option)));
        }
        if !tell_window {
            return None;
        }
        self.quick = Some(Box::new(Quick::Answers { response, tell_window: false }));
        Some((self.acknowledgement(p, now), None))
    }

    /// The handshake is complete, and this end had asked: the controller's parameters take in what
    /// was approved.
    pub(super) fn take_approval(&mut self, common: &mut Setup<()>) {
        let (asked, rate) = match self.quick.as_deref() {
            Some(Quick::Asked(asked)) => (*asked, RateCode::ZERO),
            Some(Quick::Answered { asked, rate }) => (*asked, *rate),
            _ => {
                self.quick = None;
                return;
            }
        };
        let rate = if self.syn_retransmitted { RateCode::ZERO } else { rate };
        common.approved = rate.rate();
        self.quick = Some(Box::new(Quick::Owes(Report { rate, nonce: asked.nonce })));
    }

    /// The controller has begun, with `initial` bytes if nothing was approved. What is beyond them is
    /// spread over a round trip: until something of it is acknowledged, `control` is not asked for
    /// again. An approval that opens nothing is reported as none.
    pub(super) fn use_approval(&mut self, initial: u64) {
        let Some(Quick::Owes(report)) = self.quick.as_deref_mut() else { return };
        let srtt = self.send.rto.srtt();
        if report.rate == RateCode::ZERO || self.control.cwnd <= initial || !srtt.is_known() {
            report.rate = RateCode::ZERO;
            return;
        }
        let rate = math::mul_div(self.control.cwnd, NANOS, srtt.0);
        self.control.pacing = Rate(rate.max(1));
        self.send.pacer = Pacer::new(&pacer::Params::default());
    }
}
