//! MFVL: MVegas, MFast or LIA on each path, chosen by the connection.

use super::lia::{self, Lia};
use crate::algorithms::delay::mfast::{self, MFast};
use crate::algorithms::delay::mvegas::{self, Decrement, MVegas, Offsets};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use crate::coupling::cycle::{CycleParams, MFAST, MVEGAS};
use crate::event::{Ack, Conn};
use crate::group::{COUPLED, Group};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{Known, Param, Parameters};
use crate::time::Span;

/// Parameters of MFVL and its parts. The defaults are the paper as printed;
/// [`repaired`](Params::repaired) has the repaired values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Params {
    /// Parameters of MVegas, with names that begin with `mvegas_`.
    pub mvegas: mvegas::Params,
    /// Parameters of MFast, with names that begin with `mfast_`.
    pub mfast: mfast::Params,
    /// Parameters of the loop.
    pub cycle: CycleParams,
}

impl Known for Params {
    const DEFAULT: Params = Params {
        mvegas: mvegas::Params::DEFAULT,
        mfast: mfast::Params::DEFAULT,
        cycle: CycleParams::DEFAULT,
    };
}

impl Params {
    /// The values that correct errors in the printed paper, by its own text or by the work that it
    /// cites: MF-4, MF-6, MF-12, MF-13, MF-15, MF-17 and MF-19.
    pub fn repaired() -> Params {
        Params {
            mvegas: mvegas::Params {
                offsets: Offsets::Repaired,
                decrement: Decrement::Inverse,
                ..mvegas::Params::default()
            },
            mfast: mfast::Params::default(),
            cycle: CycleParams::repaired(),
        }
    }
}

/// Names of the parameters of MVegas and MFast in MFVL's table.
const NAMES: [&str; MFAST_ENDS] = [
    "mvegas_alpha",
    "mvegas_beta",
    "mvegas_k",
    "mvegas_alpha_offset",
    "mvegas_beta_offset",
    "mvegas_offsets",
    "mvegas_decrement",
    "mfast_sigma",
    "mfast_alpha",
    "mfast_gamma",
    "mfast_interval",
    "mfast_weight",
    "mfast_mi_threshold",
    "mfast_mi",
    "mfast_start_gamma",
];
const MVEGAS_ENDS: usize = mvegas::Params::TABLE.len();
const MFAST_ENDS: usize = MVEGAS_ENDS + mfast::Params::TABLE.len();
const ALL: usize = MFAST_ENDS + CycleParams::TABLE.len();

/// The tables of the parts, in sequence.
const fn table() -> [Param; ALL] {
    let mut table = [mvegas::Params::TABLE[0]; ALL];
    let mut place = 0;
    while place < ALL {
        table[place] = if place < MVEGAS_ENDS {
            Param { name: NAMES[place], ..mvegas::Params::TABLE[place] }
        } else if place < MFAST_ENDS {
            Param { name: NAMES[place], ..mfast::Params::TABLE[place - MVEGAS_ENDS] }
        } else {
            CycleParams::TABLE[place - MFAST_ENDS]
        };
        place += 1;
    }
    table
}

impl Parameters for Params {
    const TABLE: &'static [Param] = &table();

    fn get(&self, place: usize) -> Option<u64> {
        match place {
            ..MVEGAS_ENDS => self.mvegas.get(place),
            MVEGAS_ENDS..MFAST_ENDS => self.mfast.get(place - MVEGAS_ENDS),
            _ => self.cycle.get(place - MFAST_ENDS),
        }
    }

    fn set(&mut self, place: usize, raw: u64) -> bool {
        match place {
            ..MVEGAS_ENDS => self.mvegas.set(place, raw),
            MVEGAS_ENDS..MFAST_ENDS => self.mfast.set(place - MVEGAS_ENDS, raw),
            _ => self.cycle.set(place - MFAST_ENDS, raw),
        }
    }
}

/// Congestion avoidance of MFVL: the algorithm of a path.
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

    /// Switches the path to another mode. The new algorithm begins as on a new connection, with the
    /// present window. Between two coupled modes, LIA keeps its state.
    fn switch(&mut self, p: &Params, c: &Conn, to: u8) {
        if let (Mfvl::Coupled { mode, .. }, COUPLED..) = (&mut *self, to) {
            *mode = to;
        } else if to != self.mode() {
            *self = match to {
                MVEGAS => Mfvl::MVegas(MVegas::init(&p.mvegas, c)),
                MFAST => Mfvl::MFast(MFast::init(&p.mfast, c)),
                mode => Mfvl::Coupled { mode, lia: Lia::init(&lia::Params::default(), c) },
            };
        }
    }
}

/// Calls a method of the active algorithm, with its parameters.
macro_rules! run {
    ($self:ident, $p:ident, $method:ident($($argument:expr),*)) => {
        match $self {
            Mfvl::MVegas(own) => own.$method(&$p.mvegas, $($argument),*),
            Mfvl::MFast(own) => own.$method(&$p.mfast, $($argument),*),
            Mfvl::Coupled { lia, .. } => lia.$method(&lia::Params::default(), $($argument),*),
        }
    };
}

impl CongestionAvoidance for Mfvl {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "mfvl",
        name: "MFVL",
        origin: "M. U. Mudassir and M. I. Baig, MFVL HCCA: a modified Fast-Vegas-LIA hybrid \
            congestion control algorithm for MPTCP traffic flows in multihomed smart gas IoT \
            networks, Electronics 10(6):711, 2021",
        citation: "mudassir2021mfvl",
        description: "A multipath connection chooses the algorithms of its paths in each cycle. \
            Paths with losses at the same time share a bottleneck and run LIA together. Among the \
            other paths, the path with the fewest retransmissions runs MFast, and paths with more \
            retransmissions run MVegas. All paths begin with MVegas, unless `first` is different. \
            A newly chosen algorithm starts as on a new connection, with the present window. A \
            single path runs MVegas. The defaults are Algorithm 1 as printed. The repaired set is \
            mvegas_offsets repaired, mvegas_decrement inverse, matching one-to-one, events \
            entries, reset each-cycle, compare ratios, selection exclusive. The paper has two \
            paths. With more, every two paths are matched, and two paths that both share a \
            bottleneck with a third path also share it. Paths with equal load keep their algorithm \
            (MF-16), and so does a path that sent nothing. A path without an event shares nothing \
            (MF-14). MVegas has the slow start of the set-up (Vegas's), and the other algorithms \
            have the standard slow start.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("vegas"), ..Requirements::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> Mfvl {
        Mfvl::MVegas(MVegas::init(&p.mvegas, c))
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        run!(self, p, observe(c, a, w))
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        run!(self, p, avoid(c, a, credit, w))
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
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

    fn on_group(&mut self, p: &Params, c: &Conn, g: &Group, w: &mut Window) {
        self.switch(p, c, g.mode());
        if let Mfvl::Coupled { lia, .. } = self {
            lia.on_group(&lia::Params::default(), c, g, w);
        }
    }

    fn disclosed(&self) -> u64 {
        u64::from(self.mode())
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.mode().into()], sink);
    }
}
