//! LIA: all paths of a connection together grow as one TCP on the best path.

use crate::arithmetic::math::{divisor, mul, mul_div};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::coupling::members::{InRecovery, Member, Members};
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters};
use crate::recovery::LossRecovery;

crate::choice! {
    /// Arithmetic of the growth.
    pub enum Form {
        /// RFC 6356's equation 1, in bytes with a fraction.
        Equation = "equation",
        /// Whole segments after enough acknowledged segments, with the integers of RFC 6356 section 4.1
        /// (MFVL's equations 15 and 16).
        Counted = "counted",
    }
}

crate::choice! {
    /// Time of the computation of alpha.
    pub enum Refresh {
        /// At every report of the host on the paths.
        Always = "always",
        /// Once per RTT of this path, and after each of its cuts.
        Round = "round",
    }
}

crate::parameters! {
    /// Parameters of LIA.
    pub struct Params {
        /// Window of a path in fast recovery: its slow-start threshold, or its window including the
        /// inflation by duplicate acknowledgements.
        in_recovery: InRecovery = InRecovery::Threshold, InRecovery::KIND,
            "RFC 6356 section 3; out-of-tree Linux mptcp_coupled: window";
        /// Limit the growth of each path to Reno's growth on this path.
        cap: bool = true, ParamKind::Flag,
            "RFC 6356 equation 1, second argument";
        /// Time of the computation of alpha: at every report of the host on the paths, or once per
        /// RTT and after each cut.
        refresh: Refresh = Refresh::Always, Refresh::KIND,
            "RFC 6356 section 4.1";
        /// Growth of the window: in bytes by the equation, or in whole segments with an integer
        /// alpha.
        form: Form = Form::Equation, Form::KIND,
            "RFC 6356 equation 1 and section 4.1; MFVL equations 15 and 16 (MF-24)";
    }
}

/// `alpha_scale` of the integer form (RFC 6356 section 4.1, MFVL equation 16).
pub const ALPHA_SCALE: u64 = 512;

/// Congestion avoidance of LIA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Lia {
    /// `cwnd_total/alpha`, the divisor of the growth, bytes. Zero for a single path.
    linked: u64,
    /// [`Refresh::Round`]: stream offset beyond which data belongs to the next round.
    round_end: u64,
    /// [`Form::Counted`]: segments acknowledged since the window last grew.
    counted: u32,
    /// [`Refresh::Round`]: true if alpha is out of date.
    due: bool,
}

const TRACE: &[TraceField] = &[TraceField { name: "linked_B", unit: "B" }];

impl Lia {
    /// Growth of the window for an acknowledgement, bytes with
    /// [`FRACTION_BITS`](crate::window::FRACTION_BITS) fractional bits (RFC 6356 equation 1).
    pub(crate) fn increase(&self, cap: bool, c: &Conn, credit: u64, w: &Window) -> u64 {
        let least = if cap || self.linked == 0 { w.cwnd() } else { 0 };
        additive(c, credit, self.linked.max(least))
    }

    /// Takes the host's report on the paths.
    pub(crate) fn link(&mut self, p: &Params, c: &Conn, g: &Group, w: &Window) {
        if p.refresh == Refresh::Round && !self.due && c.una <= self.round_end {
            return;
        }
        (self.round_end, self.due) = (c.next_id, false);
        self.linked = match Members::of(g, w, p.in_recovery) {
            None => 0,
            Some(members) if p.form == Form::Counted => counted_link(&members),
            Some(members) => members.linked().max(1),
        };
    }

    /// Equation 15: grows by a segment after more than `max(alpha_scale·cwnd_total/alpha, cwnd)`
    /// acknowledged segments.
    fn count(&mut self, p: &Params, c: &Conn, credit: u64, w: &mut Window) {
        let mss = divisor(u64::from(c.mss));
        let segments = (credit / mss).clamp(1, u64::from(u32::MAX));
        self.counted = self.counted.saturating_add(segments as u32);
        let least = if p.cap || self.linked == 0 { w.cwnd() / mss } else { 0 };
        if u64::from(self.counted) > (self.linked / mss).max(least) {
            self.counted = 0;
            w.add(u64::from(c.mss));
        }
    }

    pub(crate) fn new(c: &Conn) -> Lia {
        Lia { linked: 0, round_end: c.next_id, counted: 0, due: true }
    }
}

/// `alpha_scale·cwnd_total/alpha` in bytes, cut to whole segments. `alpha` is equation 16 in integers:
/// `alpha_scale·cwnd_total·cwnd_max/(Σ rtt_max·cwnd_i/rtt_i)²`, with a minimum of one. "max" is the
/// path with the largest `cwnd/rtt²`.
fn counted_link(members: &Members) -> u64 {
    let rank = |path: &Member| members.per_squared(path.segments(), path.rtt);
    let best = members
        .all()
        .fold(members.own, |best, path| if rank(&path) > rank(&best) { path } else { best });
    let cwnd = |path: &Member| path.segments().max(1);
    let total = members.all().fold(0, |sum, path| sum + cwnd(&path));
    let pooled = members
        .all()
        .fold(0u64, |sum, path| sum.saturating_add(mul_div(best.rtt, cwnd(&path), path.rtt)));
    // The best path's own term is its window, so the sum is not zero.
    let squared = mul(pooled, pooled);
    let alpha = mul_div(mul(ALPHA_SCALE, total), cwnd(&best), squared).max(1);
    mul(mul(ALPHA_SCALE, total) / divisor(alpha), members.own.mss)
}

impl CongestionAvoidance for Lia {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "lia",
        name: "LIA",
        origin: "RFC 6356, Coupled Congestion Control for Multipath Transport Protocols",
        citation: "rfc6356",
        description: "Linked increases, the coupled congestion control of Multipath TCP. An \
            acknowledgement on a path increases its window by a segment divided by (sum of w/rtt)² \
            / max(w/rtt²), where Reno divides by the path's own window. The increase is at most \
            Reno's. All paths together therefore get as much as one TCP on the best of them. \
            Losses, timeouts, slow start and recovery are separate for each path, as in Reno. On a \
            single path it is Reno, byte for byte. Windows are in bytes. A path without a known \
            RTT takes no part.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { recovery: LossRecovery::Reno, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;

    fn init(_p: &Params, c: &Conn) -> Lia {
        Lia::new(c)
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        match p.form {
            Form::Equation => w.add_q(self.increase(p.cap, c, credit, w)),
            Form::Counted => self.count(p, c, credit, w),
        }
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        (self.due, self.counted) = (true, 0);
        half_flight(c)
    }

    fn on_group(&mut self, p: &Params, c: &Conn, g: &Group, w: &mut Window) {
        self.link(p, c, g, w);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.linked], sink);
    }
}
