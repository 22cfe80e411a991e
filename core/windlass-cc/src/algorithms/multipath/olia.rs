//! OLIA: linked increases that move traffic to the best paths.

use crate::arithmetic::math::{divisor, mul};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive};
use crate::coupling::members::{InRecovery, Member, Members};
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters};
use crate::recovery::LossRecovery;

crate::parameters! {
    /// Parameters of OLIA.
    pub struct Params {
        /// Window of a path in fast recovery: its slow-start threshold, or its window including the
        /// inflation by duplicate acknowledgements.
        in_recovery: InRecovery = InRecovery::Threshold, InRecovery::KIND,
            "out-of-tree Linux mptcp_olia; RFC 6356 section 3";
        /// Minimum threshold after a cut if the connection has several paths; on one path it is RFC
        /// 5681's two segments.
        least: u64 = 1, ParamKind::Segments { min: 1, max: 2 },
            "draft-khalili-mptcp-congestion-control-05 section 3";
    }
}

/// Direction in which the second term moves the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Shift {
    /// No change.
    Stay,
    /// Up: the path is among the best, and its window is not the largest.
    Up,
    /// Down: its window is the largest while another path is among the best.
    Down,
}

/// Congestion avoidance of OLIA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Olia {
    /// Divisor of the first term, bytes; zero for a single path.
    linked: u64,
    /// Bytes acknowledged since the last loss.
    since: u64,
    /// Bytes acknowledged between the last two losses.
    between: u64,
    /// `between` before the last loss.
    prior: u64,
    /// Divisor of the second term, in addition to the window.
    parts: u8,
    shift: Shift,
    /// True if the last loss ended a period without loss.
    moved: bool,
}

const TRACE: &[TraceField] =
    &[TraceField { name: "linked_B", unit: "B" }, TraceField { name: "loss_free_B", unit: "B" }];

impl Olia {
    /// `l_r`: the larger of the last two periods without loss, bytes.
    fn loss_free(&self) -> u64 {
        self.since.max(self.between)
    }

    /// Sets the sign and the denominator of the second term for this path.
    fn weigh(&mut self, members: &Members) {
        let own = Member { disclosed: self.loss_free(), ..members.own };
        let quality = |path: &Member| members.per_squared(path.disclosed, path.rtt);
        let all = || members.all();
        let most = all().fold(own.segments(), |most, path| most.max(path.segments()));
        let finest = all().fold(quality(&own), |finest, path| finest.max(quality(&path)));
        let largest = |path: &Member| path.segments() == most;
        let rising = |path: &Member| !largest(path) && quality(path) == finest;
        let rising_count = all().filter(|path| rising(path)).count() as u64;
        let largest_count = all().filter(|path| largest(path)).count() as u64;
        let (shift, peers) = match () {
            () if rising_count == 0 => (Shift::Stay, 0),
            () if rising(&own) => (Shift::Up, rising_count),
            () if largest(&own) => (Shift::Down, largest_count),
            () => (Shift::Stay, 0),
        };
        self.shift = shift;
        self.parts = mul(members.count(), peers).clamp(1, u64::from(u8::MAX)) as u8;
    }
}

impl CongestionAvoidance for Olia {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "olia",
        name: "OLIA",
        origin: "R. Khalili, N. Gast, M. Popovic, J.-Y. Le Boudec, MPTCP Is Not Pareto-Optimal: \
            Performance Issues and a Possible Solution, IEEE/ACM Transactions on Networking 21(5), \
            2013; draft-khalili-mptcp-congestion-control-05",
        citation: "khalili2013mptcp",
        description: "Opportunistic linked increases. An acknowledgement on a path increases its \
            window by (w/rtt²) / (sum of w/rtt)² segments, plus or minus a second term. This term \
            moves window from the paths with the largest windows to the paths with the largest \
            l/rtt², where l is the larger of the last two byte counts between losses. Losses have \
            Reno's response, but with several paths the threshold may fall to one segment. On one \
            path it is Reno. A path discloses l in bytes to its siblings; siblings with another \
            algorithm disclose another value. Windows are compared in whole segments, as in Linux. \
            If the sum is negative, the window shrinks, to at least one segment. The threshold \
            shrinks with it, so that no slow start begins.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { recovery: LossRecovery::Reno, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;

    fn init(_p: &Params, _c: &Conn) -> Olia {
        Olia {
            linked: 0,
            since: 0,
            between: 0,
            prior: 0,
            parts: 1,
            shift: Shift::Stay,
            moved: false,
        }
    }

    fn observe(&mut self, _p: &Params, _c: &Conn, a: &Ack, _w: &mut Window) {
        self.since = self.since.saturating_add(a.acked);
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let linked = additive(c, credit, self.linked.max(w.cwnd()));
        let shifted = additive(c, credit, w.cwnd()) / divisor(u64::from(self.parts));
        match self.shift {
            Shift::Stay => w.add_q(linked),
            Shift::Up => w.add_q(linked.saturating_add(shifted)),
            Shift::Down if linked >= shifted => w.add_q(linked - shifted),
            Shift::Down => {
                w.sub_q(c, shifted - linked);
                w.set_ssthresh(w.ssthresh().min(w.cwnd()));
            }
        }
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        self.moved = self.since > 0;
        if self.moved {
            (self.prior, self.between, self.since) = (self.between, self.since, 0);
        }
        let least = if self.linked == 0 { 2 } else { p.least };
        (c.flight_size / 2).max(mul(least, u64::from(c.mss)))
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, _w: &Window) {
        if core::mem::take(&mut self.moved) {
            self.since = self.since.saturating_add(self.between);
            self.between = self.prior;
        }
    }

    fn on_group(&mut self, p: &Params, _c: &Conn, g: &Group, w: &mut Window) {
        match Members::of(g, w, p.in_recovery) {
            Some(members) => {
                self.linked = members.pooled(&members.own).max(1);
                self.weigh(&members);
            }
            None => (self.linked, self.shift) = (0, Shift::Stay),
        }
    }

    fn disclosed(&self) -> u64 {
        self.loss_free()
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.linked, self.loss_free()], sink);
    }
}
