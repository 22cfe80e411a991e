//! DCTCP: cuts the window by half the fraction of bytes that were marked.

use crate::arithmetic::math::mul_div;
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{
    CongestionAvoidance, CongestionEvent, Rounding, additive, half_flight,
};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Ecn, Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};

crate::choice! {
    /// Implementation of DCTCP.
    pub enum Variant {
        /// RFC 8257: alpha has the precision of the arithmetic. An observation window ends with the
        /// first data sent after its start.
        Rfc = "rfc",
        /// Linux (`dctcp_update_alpha`): alpha is in 1024ths. The decrease and the increase are each
        /// rounded down. If the decrease is less than one, the whole of alpha is subtracted. An
        /// observation window ends with the last data sent before its start. The acknowledgement that
        /// ends it belongs to the next window.
        Linux = "linux",
    }
}

crate::parameters! {
    /// Parameters of DCTCP.
    pub struct Params {
        /// Weight `g` of a window's marked fraction in alpha.
        gain: Ratio = Ratio::of(1, 16),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "RFC 8257 section 4.2 (1/16)";
        /// Alpha of a new connection; with 1, the first mark halves the window.
        initial_alpha: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "RFC 8257 section 3.3 (1)";
        /// Implementation of two points in which RFC and kernel differ: the precision of alpha, and
        /// the end of its window.
        variant: Variant = Variant::Rfc, Variant::KIND,
            "RFC 8257 section 3.3; Linux tcp_dctcp";
    }
}

/// Fractional bits of alpha: enough that it decays to less than a millionth before it stops.
const ALPHA_BITS: u32 = 30;
/// Fractional bits of alpha in variant linux (`DCTCP_MAX_ALPHA` is 1024).
const LINUX_BITS: u32 = 10;

/// Congestion avoidance of DCTCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Dctcp {
    /// Stream offset beyond which data belongs to the next observation window.
    window_end: u64,
    /// Stream offset up to which marks have had a response.
    cut_end: u64,
    /// Bytes delivered in the observation window.
    delivered: u64,
    /// Bytes delivered with a mark in the observation window.
    marked: u64,
    /// Estimated fraction of marked bytes, with [`ALPHA_BITS`] fractional bits.
    alpha: u32,
}

const TRACE: &[TraceField] = &[TraceField { name: "alpha_ppm", unit: "1e-6" }];

impl Dctcp {
    /// The estimated fraction of marked bytes, in millionths, cut to a whole number.
    pub fn alpha_ppm(&self) -> u64 {
        (u64::from(self.alpha) * 1_000_000) >> ALPHA_BITS
    }

    fn count(&mut self, p: &Params, c: &Conn, a: &Ack) {
        if p.variant == Variant::Linux && c.una >= self.window_end {
            self.alpha = self.average_in_1024ths(p);
            (self.window_end, self.delivered, self.marked) = (c.next_id, 0, 0);
        }
        self.delivered = self.delivered.saturating_add(a.delivered);
        self.marked = self.marked.saturating_add(a.ce);
        if p.variant == Variant::Rfc && c.una > self.window_end {
            self.alpha = average(self.alpha, self.marked, self.delivered, p.gain, 1 << ALPHA_BITS);
            (self.window_end, self.delivered, self.marked) = (c.next_id, 0, 0);
        }
    }

    /// The average with the kernel's arithmetic.
    fn average_in_1024ths(&self, p: &Params) -> u32 {
        let one = 1 << LINUX_BITS;
        let old = u64::from(self.alpha >> (ALPHA_BITS - LINUX_BITS));
        let fall = match p.gain.times(old) {
            0 => old,
            part => part,
        };
        let delivered = self.delivered.max(1);
        let rise = mul_div(self.marked.min(delivered), p.gain.times(one), delivered);
        let alpha = (old.saturating_sub(fall) + rise).min(one) << (ALPHA_BITS - LINUX_BITS);
        u32::try_from(alpha).unwrap_or(0)
    }

    fn kept(&self, c: &Conn, bytes: u64) -> u64 {
        kept(c, bytes, self.alpha, 1 << ALPHA_BITS)
    }
}

/// RFC 8257 section 3.3: `alpha + gain · (fraction - alpha)`, where an alpha of one is `one`.
pub(super) fn average(alpha: u32, marked: u64, delivered: u64, gain: Ratio, one: u64) -> u32 {
    if delivered == 0 {
        return alpha;
    }
    let fraction = mul_div(marked.min(delivered), one, delivered);
    let old = u64::from(alpha);
    let step = gain.times(old.abs_diff(fraction));
    let alpha = if fraction > old { old + step } else { old.saturating_sub(step) };
    u32::try_from(alpha.min(one)).unwrap_or(0)
}

/// `bytes · (1 - alpha/2)`, at least two segments, where an alpha of one is `one`.
pub(super) fn kept(c: &Conn, bytes: u64, alpha: u32, one: u64) -> u64 {
    let cut = mul_div(bytes, u64::from(alpha), 2 * one);
    bytes.saturating_sub(cut).max(2 * u64::from(c.mss))
}

impl CongestionAvoidance for Dctcp {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "dctcp",
        name: "DCTCP",
        origin: "RFC 8257, Data Center TCP (DCTCP): TCP Congestion Control for Data Centers",
        citation: "rfc8257",
        description: "Reno with a response to the extent of marking. Alpha is the average of the \
            fraction of marked bytes in each window of data. The first mark cuts the window by \
            alpha/2, once per window of data, and ends slow start. Losses and timeouts have Reno's \
            response. DCTCP needs a receiver that echoes each change of mark at once, and a queue \
            that marks above a low threshold. Without marks, alpha decays, and DCTCP is Reno. An \
            acknowledgement with a mark does not increase the window (RFC 3168 section 6.1.2). A \
            host that responds to marks itself gets the same cut, as Linux does over an RTT in \
            which the window does not grow. Deviation: the fraction also counts selectively \
            delivered bytes.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements { ecn: Ecn::Exact, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[Departure::linux(
        "variant",
        Variant::Linux as u64,
        "`dctcp_update_alpha` computes in 1024ths, before the acknowledgement is counted",
    )];

    /// `dctcp_ssthresh`; `dctcp_react_to_loss` halves.
    fn rounding(why: CongestionEvent) -> Rounding {
        if why == CongestionEvent::Ecn { Rounding::Up } else { Rounding::Down }
    }

    fn init(p: &Params, c: &Conn) -> Dctcp {
        let alpha = p.initial_alpha.min(Ratio::ONE).0 << (ALPHA_BITS - 16);
        Dctcp {
            window_end: c.next_id,
            cut_end: c.una,
            delivered: 0,
            marked: 0,
            alpha: u32::try_from(alpha).unwrap_or(0),
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, _w: &mut Window) {
        self.count(p, c, a);
    }

    fn answer_marks(&mut self, _p: &Params, c: &Conn, _a: &Ack, w: &mut Window) {
        let growing = matches!(c.phase, Phase::Open | Phase::Loss);
        if growing && c.una > self.cut_end {
            self.cut_end = c.next_id;
            w.shrink(c, self.kept(c, w.cwnd()));
            w.set_ssthresh(w.ssthresh().min(w.cwnd()));
        }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        if a.ce == 0 {
            w.add_q(additive(c, credit, w.cwnd()));
        }
    }

    /// A cut is the response to all marks on data sent before it.
    fn ssthresh(&mut self, _p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        let answered = c.una <= self.cut_end;
        self.cut_end = c.next_id;
        match why {
            CongestionEvent::Ecn if answered => w.cwnd(),
            CongestionEvent::Ecn => self.kept(c, w.cwnd()),
            CongestionEvent::Loss | CongestionEvent::Timeout => half_flight(c),
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.alpha_ppm()], sink);
    }
}
