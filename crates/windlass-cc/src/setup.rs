//! What a controller is set up with: what the host's stack decides, and the algorithm's own
//! parameters.

use core::fmt::Debug;

use crate::arithmetic::window::MAX_WINDOW;
use crate::params::{Known, Param, ParamKind, Parameters};
use crate::recovery::LossRecovery;
use crate::time::Rate;

/// In what a window is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Counting {
    /// In bytes with a fraction: growth goes by the window as it is (RFC 5681 section 3.1).
    #[default]
    Bytes,
    /// In whole segments, as Linux does (`snd_cwnd`, and `snd_cwnd_cnt` for what is not a segment
    /// yet): growth divides by the whole segments (`tcp_cong_avoid_ai`), a cut leaves whole ones,
    /// recovery allows whole ones (`tcp_cwnd_reduction`), and a timeout leaves one more than it did not
    /// take for lost (`tcp_enter_loss`).
    Segments,
}

impl Counting {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Counting); 2] =
        [("bytes", Counting::Bytes), ("segments", Counting::Segments)];
}

/// What of an acknowledgement opens the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Credit {
    /// What it acknowledges cumulatively. That which ends recovery opens nothing (RFC 5681 section
    /// 3.2 step 6).
    #[default]
    Acked,
    /// All that it delivers, selectively acknowledged data included, once it has changed the phase:
    /// that which ends recovery opens the window too. Linux's `tcp_cong_control`.
    Delivered,
}

impl Credit {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Credit); 2] =
        [("acked", Credit::Acked), ("delivered", Credit::Delivered)];
}

/// How long a cut for a mark takes, where the host answers marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum MarkCut {
    /// None: the window is the threshold from then on. Marks that are echoed exactly ([`Ack::ce`](crate::Ack::ce))
    /// the algorithm answers itself.
    #[default]
    AtOnce,
    /// A round trip, by proportional rate reduction where that is the loss recovery, in which the window does
    /// not grow: Linux's `tcp_enter_cwr`, for marks of both kinds.
    Proportional,
}

impl MarkCut {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, MarkCut); 2] =
        [("at-once", MarkCut::AtOnce), ("proportional", MarkCut::Proportional)];
}

/// Parameters of a controller: `P` are the algorithm's own, `S` those of its slow start, if it has one
/// to choose.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup<P, S = ()> {
    /// Initial congestion window, bytes (RFC 5681 section 3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; "arbitrarily high" by default (RFC 5681 section 3.1).
    pub initial_ssthresh: u64,
    /// Loss recovery that the host runs, `None` for the one that the algorithm wants.
    pub recovery: Option<LossRecovery>,
    /// Maximum number of segments that one acknowledgement counts, instead of the stack's limit; a
    /// paced sender may have no limit.
    pub ack_limit: u32,
    /// In what the window is kept. Only algorithms made of [`CongestionAvoidance`](crate::congestion_avoidance::CongestionAvoidance) know
    /// fractions to begin with.
    pub counting: Counting,
    /// What of an acknowledgement opens the window of such an algorithm.
    pub credit: Credit,
    /// How long a cut for a mark takes.
    pub mark_cut: MarkCut,
    /// Sending rate that every router of the path has approved for the first round trip, headers
    /// included (RFC 4782); zero for none. Slow starts that did not ask ignore it.
    pub approved: Rate,
    /// Parameters of the slow start.
    pub slow_start: S,
    /// The algorithm's own parameters.
    pub own: P,
}

/// What a scenario may say of [`Setup::initial_ssthresh`], among the parameters of every algorithm
/// that has a slow start to choose.
pub const INITIAL_SSTHRESH: Param = Param {
    name: "initial_ssthresh",
    doc: "Slow-start threshold of a new connection.",
    kind: ParamKind::Bytes { min: 1, max: MAX_WINDOW },
    source: "RFC 5681 section 3.1 (arbitrarily high)",
};

impl<P: Default, S: Default> Default for Setup<P, S> {
    fn default() -> Setup<P, S> {
        Setup::of(P::default(), S::default())
    }
}

impl<P: Known, S: Known> Known for Setup<P, S> {
    const DEFAULT: Setup<P, S> = Setup::of(P::DEFAULT, S::DEFAULT);
}

impl<P, S> Setup<P, S> {
    /// These parameters in a stack that decides nothing itself.
    pub const fn of(own: P, slow_start: S) -> Setup<P, S> {
        Setup {
            initial_window: 14_600,
            initial_ssthresh: MAX_WINDOW,
            recovery: None,
            ack_limit: 1,
            counting: Counting::Bytes,
            credit: Credit::Acked,
            mark_cut: MarkCut::AtOnce,
            approved: Rate(0),
            slow_start,
            own,
        }
    }

    /// The same setup with other parameters of the algorithm and of the slow start.
    pub fn with<Q, T>(&self, own: Q, slow_start: T) -> Setup<Q, T> {
        Setup {
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh,
            recovery: self.recovery,
            ack_limit: self.ack_limit,
            counting: self.counting,
            credit: self.credit,
            mark_cut: self.mark_cut,
            approved: self.approved,
            slow_start,
            own,
        }
    }
}

/// The table is that of the algorithm's own.
impl<P: Parameters, S: Copy + Default + PartialEq + Debug> Parameters for Setup<P, S> {
    const TABLE: &'static [Param] = P::TABLE;

    fn get(&self, place: usize) -> Option<u64> {
        self.own.get(place)
    }

    fn set(&mut self, place: usize, raw: u64) -> bool {
        self.own.set(place, raw)
    }
}
