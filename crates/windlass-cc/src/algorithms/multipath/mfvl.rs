//! MFVL: MVegas, MFast or LIA on each path, as the connection decides.

use super::lia::{self, Lia};
use crate::algorithms::delay::fast::Weight;
use crate::algorithms::delay::mfast::{self, MFast, Multiplicative};
use crate::algorithms::delay::mvegas::{self, Decrement, MVegas, Offsets};
use crate::arithmetic::window::Window;
use crate::coupling::cycle::{
    Compare, CycleParams, Events, First, MFAST, MVEGAS, Reset, Selection,
};
use crate::coupling::detection::Matching;
use crate::event::{Ack, Conn};
use crate::group::{COUPLED, Group};
use crate::growth::{Cut, Growth};
use crate::info::{Info, TraceField, Wants, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::parameters! {
    /// Parameters of MFVL: those of [MVegas](crate::mvegas::Params) and [MFast](crate::mfast::Params)
    /// under longer names, and those of the loop. The defaults are the paper as printed;
    /// [`repaired`](Params::repaired) has the others.
    pub struct Params {
        /// Segments in the queue below which MVegas opens, without the offset.
        mvegas_alpha: u64 = 1,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Mudassir and Baig 2021, Table 5";
        /// Segments in the queue above which MVegas closes, without the offset.
        mvegas_beta: u64 = 3,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Mudassir and Baig 2021, Table 5";
        /// Largest offset on MVegas's alpha, in alphas (k).
        mvegas_k: Ratio = Ratio::of(2, 1),
            ParamKind::Ratio { min: Ratio::ONE, max: Ratio::of(2, 1) },
            "Mudassir and Baig 2021, section 3.1.2 (MF-5)";
        /// Offset on MVegas's alpha at first, segments.
        mvegas_alpha_offset: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10_000, 1) },
            "Mudassir and Baig 2021, Table 5";
        /// Offset on MVegas's beta at first, segments.
        mvegas_beta_offset: Ratio = Ratio::of(2, 1),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10_000, 1) },
            "Mudassir and Baig 2021, Table 5";
        /// When MVegas's offsets move (MF-4).
        mvegas_offsets: Offsets = Offsets::Literal,
            Offsets::KIND,
            "Mudassir and Baig 2021, equations 5 to 11";
        /// What MVegas's offset on beta comes down by: phi or 1/phi (MF-6).
        mvegas_decrement: Decrement = Decrement::Literal,
            Decrement::KIND,
            "Mudassir and Baig 2021, equation 11";
        /// Factor on where MFast's window is to go (sigma); 1 is FAST.
        mfast_sigma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Mudassir and Baig 2021, equation 13 and Table 6";
        /// Segments that the law of FAST would keep queued.
        mfast_alpha: u64 = 100,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "Mudassir and Baig 2021, Table 6";
        /// Step of MFast towards the new window (gamma).
        mfast_gamma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Mudassir and Baig 2021, Table 6";
        /// Round trips from one update of MFast to the next.
        mfast_interval: u64 = 2,
            ParamKind::Count { min: 1, max: 100 },
            "Mudassir and Baig 2021, section 3.2 (alternate RTTs)";
        /// Weight of a new sample in MFast's averaged round-trip time (MF-9).
        mfast_weight: Weight = Weight::Ns2,
            Weight::KIND,
            "Mudassir and Baig 2021, section 4: the NS-2 module";
        /// Queueing delay at which MFast's multiplicative increase ends (MF-11).
        mfast_mi_threshold: Span = Span::from_micros(750),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) },
            "Mudassir and Baig 2021, Table 6 (0.00075), in seconds as in the NS-2 module";
        /// When MFast's window grows by a segment for each acknowledgement (MF-11).
        mfast_mi: Multiplicative = Multiplicative::Always,
            Multiplicative::KIND,
            "NS-2 module";
        /// Time from one decision to the next (T).
        cycle: Span = Span::from_secs(50),
            ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(1_000_000) },
            "Mudassir and Baig 2021, Table 3";
        /// Events on two paths less than this apart match.
        interval: Span = Span::from_millis(200),
            ParamKind::Time { min: Span(1), max: Span::from_secs(100) },
            "Mudassir and Baig 2021, Table 3";
        /// Two paths share a bottleneck when their matches, divided by the lesser number of
        /// events, exceed this (delta, bn_thresh).
        delta: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1_000, 1) },
            "Mudassir and Baig 2021, Table 3 and equation 14";
        /// Whether an event may match many others or one at most (MF-13).
        matching: Matching = Matching::Pairs,
            Matching::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 22 to 28; Zhang et al. 2004";
        /// Which events are matched: every segment sent again, or each beginning of fast recovery
        /// (MF-17).
        events: Events = Events::Literal,
            Events::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 9 to 18; section 3.3";
        /// Whether matches are counted anew in each cycle (MF-12).
        reset: Reset = Reset::Literal,
            Reset::KIND,
            "Mudassir and Baig 2021, Algorithm 1 line 7";
        /// How the load of paths is compared: by segments sent again, or by their share (MF-19).
        compare: Compare = Compare::Counts,
            Compare::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 33 to 40";
        /// Whether the comparison overwrites the decision to couple (MF-15).
        selection: Selection = Selection::Literal,
            Selection::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 30 to 40; section 3.4";
        /// What runs in the first cycle (MF-18).
        first: First = First::MVegas,
            First::KIND,
            "Mudassir and Baig 2021, Algorithm 1 lines 4 and 5; section 4";
    }
}

impl Params {
    /// The set that mends what the paper prints, by its own text or the work that it cites: MF-4,
    /// MF-6, MF-12, MF-13, MF-15, MF-17 and MF-19.
    pub fn repaired() -> Params {
        Params {
            mvegas_offsets: Offsets::Repaired,
            mvegas_decrement: Decrement::Inverse,
            matching: Matching::OneToOne,
            events: Events::Entries,
            reset: Reset::EachCycle,
            compare: Compare::Ratios,
            selection: Selection::Exclusive,
            ..Params::default()
        }
    }

    /// Those of MVegas.
    pub fn mvegas(&self) -> mvegas::Params {
        mvegas::Params {
            alpha: self.mvegas_alpha,
            beta: self.mvegas_beta,
            k: self.mvegas_k,
            alpha_offset: self.mvegas_alpha_offset,
            beta_offset: self.mvegas_beta_offset,
            offsets: self.mvegas_offsets,
            decrement: self.mvegas_decrement,
        }
    }

    /// Those of MFast.
    pub fn mfast(&self) -> mfast::Params {
        mfast::Params {
            sigma: self.mfast_sigma,
            alpha: self.mfast_alpha,
            gamma: self.mfast_gamma,
            interval: self.mfast_interval,
            weight: self.mfast_weight,
            mi_threshold: self.mfast_mi_threshold,
            mi: self.mfast_mi,
        }
    }

    /// Those of the loop.
    pub fn cycle(&self) -> CycleParams {
        CycleParams {
            length: self.cycle,
            interval: self.interval,
            delta: self.delta,
            matching: self.matching,
            events: self.events,
            reset: self.reset,
            compare: self.compare,
            selection: self.selection,
            first: self.first,
        }
    }
}

/// Growth of MFVL: what runs on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mfvl {
    /// Mode [`MVEGAS`].
    MVegas(MVegas),
    /// Mode [`MFAST`].
    MFast(MFast),
    /// A mode from [`COUPLED`] on.
    Coupled {
        /// The mode.
        mode: u8,
        /// The algorithm.
        lia: Lia,
    },
}

const TRACE: &[TraceField] =
    &[TraceField { name: "mode", unit: "0 MVegas, 1 MFast, 2 and more LIA" }];

impl Mfvl {
    fn mode(&self) -> u8 {
        match self {
            Mfvl::MVegas(_) => MVEGAS,
            Mfvl::MFast(_) => MFAST,
            Mfvl::Coupled { mode, .. } => *mode,
        }
    }

    /// Another mode: what it names begins as on a new connection, with the window as it is. A path
    /// that stays coupled goes on, whoever the others are.
    fn switch(&mut self, p: &Params, c: &Conn, to: u8) {
        if let (Mfvl::Coupled { mode, .. }, COUPLED..) = (&mut *self, to) {
            *mode = to;
        } else if to != self.mode() {
            *self = match to {
                MVEGAS => Mfvl::MVegas(MVegas::init(&p.mvegas(), c)),
                MFAST => Mfvl::MFast(MFast::init(&p.mfast(), c)),
                mode => Mfvl::Coupled { mode, lia: Lia::init(&lia::Params::default(), c) },
            };
        }
    }
}

/// Calls a method of the growth that runs, with its parameters.
macro_rules! run {
    ($self:ident, $p:ident, $method:ident($($argument:expr),*)) => {
        match $self {
            Mfvl::MVegas(own) => own.$method(&$p.mvegas(), $($argument),*),
            Mfvl::MFast(own) => own.$method(&$p.mfast(), $($argument),*),
            Mfvl::Coupled { lia, .. } => lia.$method(&lia::Params::default(), $($argument),*),
        }
    };
}

impl Growth for Mfvl {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "mfvl",
        name: "MFVL",
        origin: "M. U. Mudassir and M. I. Baig, MFVL HCCA: a modified Fast-Vegas-LIA hybrid \
            congestion control algorithm for MPTCP traffic flows in multihomed smart gas IoT \
            networks, Electronics 10(6):711, 2021",
        citation: "mudassir2021mfvl",
        description: "A multipath connection's choice, made anew every cycle: paths whose losses \
            come at the same moments share a bottleneck and run LIA together; of the others the \
            path with the fewest retransmissions runs MFast and those with more run MVegas. All \
            begin with MVegas, unless first says otherwise; an algorithm newly chosen begins as on \
            a new connection, with the window as it is. A single path runs MVegas. The defaults \
            are Algorithm 1 as printed. The repaired set: mvegas_offsets repaired, \
            mvegas_decrement inverse, matching one-to-one, events entries, reset each-cycle, \
            compare ratios, selection exclusive. The paper has two paths; with more, every two of \
            them are matched and what is shared by way of a third path is shared. Paths with equal \
            load keep what they run (MF-16), as does one that sent nothing, and a path without an \
            event shares nothing (MF-14). Slow start is that of the set-up (Vegas's) in MVegas and \
            the standard one otherwise.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const WANTS: Wants = Wants { slow_start: Some("vegas"), ..Wants::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> Mfvl {
        Mfvl::MVegas(MVegas::init(&p.mvegas(), c))
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        run!(self, p, observe(c, a, w))
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        run!(self, p, avoid(c, a, credit, w))
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: Cut) -> u64 {
        run!(self, p, ssthresh(c, w, why))
    }

    fn starts_plainly(&self) -> bool {
        self.mode() != MVEGAS
    }

    fn restart(&mut self, p: &Params, c: &Conn, w: &mut Window) {
        run!(self, p, restart(c, w))
    }

    fn undo(&mut self, p: &Params, c: &Conn, w: &Window) {
        run!(self, p, undo(c, w))
    }

    fn idle(&mut self, p: &Params, c: &Conn, gap: Span) {
        run!(self, p, idle(c, gap))
    }

    fn fall_back(&mut self, p: &Params, c: &Conn, w: &Window) {
        run!(self, p, fall_back(c, w))
    }

    fn on_mss(&mut self, p: &Params, c: &Conn, old: u32) {
        run!(self, p, on_mss(c, old))
    }

    fn regroup(&mut self, p: &Params, c: &Conn, g: &Group, w: &mut Window) {
        self.switch(p, c, g.mode());
        if let Mfvl::Coupled { lia, .. } = self {
            lia.regroup(&lia::Params::default(), c, g, w);
        }
    }

    fn disclosed(&self) -> u64 {
        u64::from(self.mode())
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.mode().into()], sink);
    }
}
