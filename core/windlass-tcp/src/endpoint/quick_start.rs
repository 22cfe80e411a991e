//! Quick-Start at the two ends of a connection (RFC 4782 section 4): requests, responses and the check of
//! responses. The slow start decides the effect of the approved rate on cwnd.

use windlass_cc::pacer::{self, Pacer};
use windlass_cc::{Rate, Setup, Time, math};

use super::{Endpoint, Profile, State};
use crate::quick_start::{
    Carried, Nonce, QuickOption, RateCode, Report, Request, Response, TIME_TO_LIVE,
};
use crate::segment::{Flags, Segment};

const NANOS: u64 = 1_000_000_000;

/// State of Quick-Start at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quick {
    /// The SYN contained a request.
    Asked(Asked),
    /// The response has arrived, and `rate` is approved.
    Answered { asked: Asked, rate: RateCode },
    /// The report of the approved rate is not sent yet.
    Owes(Report),
    /// The peer sent a request, and each SYN-ACK contains this response. With `tell_window`, the window is
    /// announced once more after the SYN-ACK.
    Answers { response: Response, tell_window: bool },
}

/// A request as sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    rate: RateCode,
    ttl_diff: u8,
    nonce: Nonce,
}

impl Asked {
    /// The rate that a response approves. It is zero if a router did not take part, or if the response claims
    /// more than the routers approved (section 4.4).
    fn worth(&self, r: &Response) -> RateCode {
        let honest = r.ttl_diff == self.ttl_diff
            && r.rate <= self.rate
            && r.nonce.agrees(self.nonce, r.rate);
        if honest { r.rate } else { RateCode::ZERO }
    }
}

impl Profile {
    /// The rate that a connection requests from the routers, if its slow start uses Quick-Start.
    fn rate_code(&self) -> Option<RateCode> {
        self.params.requirements().slow_start?;
        self.params.common().slow_start.rate_code().map(RateCode::new)
    }

    /// True if connections with this profile have packets for
    /// [`poll_quick_start`](Endpoint::poll_quick_start).
    pub fn asks_routers(&self) -> bool {
        self.rate_code().is_some()
    }

    /// Turns pacing on for Quick-Start (section 4.4) and for Careful Resume (RFC 9959 section 3.3),
    /// regardless of the stack's setting.
    pub(super) fn pace_jumps(&mut self) {
        use crate::stack::Pacing;
        if self.stack.pacing == Pacing::Off && (self.rate_code().is_some() || self.resumes()) {
            self.stack.pacing = Pacing::Algorithm;
        }
    }
}

impl Endpoint {
    /// The next segment with an option of Quick-Start, and the segments that belong to it. Hosts that support
    /// such options call it before [`poll_transmit`](Endpoint::poll_transmit). Returns `None` if there is no
    /// such segment, as for all connections with another slow start.
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

    /// Processes a segment with an option of Quick-Start.
    pub fn on_quick_start(&mut self, p: &Profile, now: Time, s: &Segment, carried: &Carried) {
        match carried.option {
            QuickOption::Request(r) if self.state == State::Listen && !self.layer.on => {
                let ttl_diff = carried.ttl.wrapping_sub(r.ttl);
                // The response to a refused request has zero in all fields (section 4.3).
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
            // The report is for routers; this end does not use it.
            _ => self.on_segment(p, now, s),
        }
    }

    /// The first SYN has a request, if there are more data than the initial window allows. A retransmitted
    /// SYN has no request, because the first SYN may have been dropped for its option (section 4.7.2).
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

    /// The SYN-ACK with the response. The window of a SYN is not scaled (RFC 7323 section 2.2), so that it
    /// announces at most 64 KiB. The pure acknowledgement that follows announces the whole window in time.
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

    /// Completes the handshake of an end that sent a request: the controller's parameters receive the
    /// approved rate.
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

    /// Applies the approval after the controller has begun. `initial` is the cwnd without an approval, bytes.
    /// A larger cwnd is paced over one RTT, until data are acknowledged and `control` is called again. An
    /// approval that does not grow cwnd is reported as zero.
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
