//! TCP Prague: the scalable congestion control of L4S, independent of short RTTs and paced.

use super::dctcp;
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{Window, quotient};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::event::{Ack, Conn, Phase, flags};
use crate::info::{Ecn, Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Rate, Span, Time};

crate::parameters! {
    /// Parameters of TCP Prague.
    pub struct Params {
        /// Weight of an RTT's marked fraction in alpha.
        gain: Ratio = Ratio::of(1, 16),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Linux tcp_prague 0.6 (1/16)";
        /// Alpha of a new connection; with 1, the first mark halves the window.
        initial_alpha: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "Linux tcp_prague 0.6 (1)";
        /// RTT at which a connection with a shorter RTT competes; zero for no RTT independence.
        reference_rtt: Span = Span::from_millis(25),
            ParamKind::Time { min: Span(0), max: Span::from_millis(100) },
            "Linux tcp_prague 0.6 (25 ms, at most 100 ms)";
        /// Number of RTTs outside slow start before RTT independence begins, so that short flows are not slowed down.
        transition_rounds: u64 = 500,
            ParamKind::Count { min: 0, max: 1 << 30 },
            "Linux tcp_prague 0.6 (500)";
    }
}

/// Fractional bits of alpha in the kernel (`PRAGUE_ALPHA_BITS`).
const ALPHA_BITS: u32 = 20;
/// Additional bits of the average, which keep it exact to a unit of alpha.
const GAIN_BITS: u32 = 4;
/// Alpha of one.
const ONE: u64 = 1 << (ALPHA_BITS + GAIN_BITS);

/// Congestion avoidance of TCP Prague.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Prague {
    /// Stream offset beyond which data belong to the next observation of alpha.
    window_end: u64,
    /// Start of the observation.
    window_start: Time,
    /// Stream offset up to which marks have had a response.
    cut_end: u64,
    /// Time of the last response to a mark.
    cut_at: Time,
    /// Bytes delivered in the observation. Above 2³² both counts are halved.
    delivered: u32,
    /// Bytes delivered with a mark in the observation.
    marked: u32,
    /// Average fraction of marked bytes, with [`ALPHA_BITS`] + [`GAIN_BITS`] fractional bits.
    alpha: u32,
    /// RTTs outside slow start, up to the transition.
    rounds: u32,
    /// True after the first mark.
    saw_mark: bool,
    /// True after the first response to a mark.
    has_cut: bool,
}

const TRACE: &[TraceField] = &[TraceField { name: "alpha_ppm", unit: "1e-6" }];

/// True if the peer does not support ECN: Prague is then Reno.
fn falls_back(c: &Conn) -> bool {
    c.flags & flags::WITHOUT_ECN != 0
}

impl Prague {
    /// The average fraction of marked bytes, in millionths, cut to a whole number.
    pub fn alpha_ppm(&self) -> u64 {
        (u64::from(self.alpha) * 1_000_000) >> (ALPHA_BITS + GAIN_BITS)
    }

    /// The RTT that determines the reactions: the connection's RTT, at least the reference after the
    /// transition.
    fn virtual_rtt(&self, p: &Params, c: &Conn) -> Span {
        let rtt = if c.srtt.is_known() { c.srtt } else { Span::ZERO };
        if u64::from(self.rounds) < p.transition_rounds { rtt } else { rtt.max(p.reference_rtt) }
    }

    /// Growth in segments per RTT: the square of the RTT's share of the virtual RTT.
    fn increase(&self, p: &Params, c: &Conn) -> Ratio {
        let most = self.virtual_rtt(p, c);
        if !c.srtt.is_known() || c.srtt >= most {
            return Ratio::ONE;
        }
        let share = mul_div(c.srtt.0, Ratio::ONE.0, most.0.max(1));
        Ratio(Ratio(share).times(share).max(1))
    }

    /// True if the virtual RTT that began at `start` is over.
    fn is_over(&self, p: &Params, c: &Conn, start: Time) -> bool {
        u64::from(self.rounds) < p.transition_rounds || c.now.since(start) >= self.virtual_rtt(p, c)
    }

    /// DCTCP's average, from the first mark on.
    fn average(&self, p: &Params) -> u32 {
        if !self.saw_mark {
            return self.alpha;
        }
        dctcp::average(self.alpha, self.marked.into(), self.delivered.into(), p.gain, ONE)
    }

    fn kept(&self, c: &Conn, bytes: u64) -> u64 {
        dctcp::kept(c, bytes, self.alpha, ONE)
    }

    fn count(&mut self, a: &Ack) {
        let delivered = u64::from(self.delivered).saturating_add(a.delivered);
        let marked = u64::from(self.marked).saturating_add(a.ce);
        let shift = u32::from(delivered > u64::from(u32::MAX));
        self.delivered = u32::try_from(delivered >> shift).unwrap_or(u32::MAX);
        self.marked = u32::try_from(marked >> shift).unwrap_or(u32::MAX);
    }

    /// True if marks have no response yet in this virtual RTT.
    fn may_cut(&self, p: &Params, c: &Conn) -> bool {
        !self.has_cut || (c.una > self.cut_end && self.is_over(p, c, self.cut_at))
    }

    fn note_cut(&mut self, c: &Conn) {
        (self.cut_end, self.cut_at, self.has_cut) = (c.next_id, c.now, true);
    }
}

impl CongestionAvoidance for Prague {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "prague",
        name: "TCP Prague",
        origin: "Linux of the L4S team, tcp_prague 0.6; De Schepper, Tilmans, Briscoe and Goel, Prague \
            Congestion Control, draft-briscoe-iccrg-prague-congestion-control-04",
        citation: "prague04",
        description: "The congestion control of L4S. Packets carry ECT(1). Alpha is the average of \
            the fraction of marked bytes per RTT, and a mark cuts the window by alpha/2, once per RTT. \
            Bytes without a mark increase the window by one segment per RTT. After \
            `transition_rounds` RTTs, a connection with an RTT below `reference_rtt` reacts once per \
            reference RTT, and its growth per RTT is the square of its RTT's share. Its rate then \
            does not depend on its RTT. Segments are paced at the window per RTT, and at twice this \
            rate while the window is below half of the threshold. Losses and timeouts have Reno's \
            response. If the peer refuses ECN, the algorithm is Reno without pacing. It needs exact \
            echoes: accurate ECN, or the echo of RFC 8257 as with DCTCP; the classic echo is not \
            enough. Version: the rules and constants of tcp_prague 0.6; the draft, which has expired, is \
            its published description. In every stack it keeps fractions of a segment and cuts at once, as \
            tcp_prague replaces the kernel's reduction. Deviations: a gap follows each segment, and not a \
            burst of up to 0.25 ms. A segment is sent only if all of it fits into the window. The \
            detection of queues with a classic AQM, which is off by default in tcp_prague, is missing. \
            The fraction also counts selectively delivered bytes.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { ecn: Ecn::Exact, l4s: true, ..Requirements::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> Prague {
        let alpha = p.initial_alpha.min(Ratio::ONE).0 << (ALPHA_BITS + GAIN_BITS - 16);
        Prague {
            window_end: c.next_id,
            window_start: c.now,
            cut_end: c.una,
            cut_at: c.now,
            delivered: 0,
            marked: 0,
            alpha: u32::try_from(alpha).unwrap_or(0),
            rounds: 0,
            saw_mark: false,
            has_cut: false,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.saw_mark |= a.ce > 0;
        self.count(a);
        if c.una > self.window_end && self.is_over(p, c, self.window_start) {
            self.rounds = self.rounds.saturating_add(u32::from(!w.in_slow_start()));
            self.alpha = self.average(p);
            (self.window_end, self.window_start) = (c.next_id, c.now);
            (self.delivered, self.marked) = (0, 0);
        }
    }

    fn answer_marks(&mut self, p: &Params, c: &Conn, _a: &Ack, w: &mut Window) {
        let growing = matches!(c.phase, Phase::Open | Phase::Loss);
        if growing && self.may_cut(p, c) {
            self.note_cut(c);
            w.shrink(c, self.kept(c, w.cwnd()));
            w.set_ssthresh(w.ssthresh().min(w.cwnd()));
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        if falls_back(c) {
            return w.add_q(additive(c, credit, w.cwnd()));
        }
        let clean = credit.saturating_sub(a.ce);
        let step = quotient(c.mss.into(), clean, w.cwnd());
        w.add_q(self.increase(p, c).times(step));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        let may_cut = self.may_cut(p, c);
        match why {
            CongestionEvent::Ecn if !may_cut => return w.cwnd(),
            CongestionEvent::Ecn => {}
            CongestionEvent::Loss | CongestionEvent::Timeout => {
                self.note_cut(c);
                return half_flight(c);
            }
        }
        self.note_cut(c);
        self.kept(c, w.cwnd())
    }

    fn pacing(&self, _p: &Params, c: &Conn, w: &Window) -> Rate {
        if falls_back(c) || !c.srtt.is_known() || c.srtt.0 == 0 {
            return Rate(0);
        }
        let double = u64::from(w.cwnd() < w.ssthresh() / 2);
        Rate(mul_div(mul(w.cwnd(), 1 + double), 1_000_000_000, c.srtt.0).max(1))
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.alpha_ppm()], sink);
    }
}
