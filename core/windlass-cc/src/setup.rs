//! Settings of a controller: the settings of the host's stack, and the algorithm's own parameters.

use core::fmt::Debug;

use crate::arithmetic::window::MAX_WINDOW;
use crate::params::{Known, Param, ParamKind, Parameters};
use crate::recovery::LossRecovery;
use crate::time::Rate;

/// Unit of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Counting {
    /// Bytes with a fraction: growth depends on the exact window (RFC 5681 section 3.1).
    #[default]
    Bytes,
    /// Whole segments, as in Linux (`snd_cwnd`, with `snd_cwnd_cnt` for the part of a segment). Growth
    /// divides by the whole segments (`tcp_cong_avoid_ai`), and a cut leaves whole segments. Recovery
    /// allows whole segments (`tcp_cwnd_reduction`). A timeout leaves one segment more than the
    /// segments that it did not consider lost (`tcp_enter_loss`).
    Segments,
}

impl Counting {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Counting); 2] =
        [("bytes", Counting::Bytes), ("segments", Counting::Segments)];
}

/// The bytes that increase the window at an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Credit {
    /// The cumulatively acknowledged bytes. The acknowledgement that ends recovery does not increase
    /// the window (RFC 5681 section 3.2 step 6).
    #[default]
    Acked,
    /// All delivered bytes, including selectively acknowledged data, after the change of phase. The
    /// acknowledgement that ends recovery also increases the window. Linux's `tcp_cong_control`.
    Delivered,
}

impl Credit {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Credit); 2] =
        [("acked", Credit::Acked), ("delivered", Credit::Delivered)];
}

/// Duration of a cut for a mark, if the host responds to marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum MarkCut {
    /// None: the window is at once the threshold. To marks that are echoed exactly
    /// ([`Ack::ce`](crate::Ack::ce)) the algorithm responds itself.
    #[default]
    AtOnce,
    /// An RTT, in which the window does not grow, by proportional rate reduction if that is the loss
    /// recovery. Linux's `tcp_enter_cwr`, for marks of both kinds.
    Proportional,
}

impl MarkCut {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, MarkCut); 2] =
        [("at-once", MarkCut::AtOnce), ("proportional", MarkCut::Proportional)];
}

/// Parameters of a controller: `P` are the algorithm's own parameters, and `S` the parameters of its
/// slow start if it can be chosen.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup<P, S = ()> {
    /// Initial congestion window, bytes (RFC 5681 section 3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; "arbitrarily high" by default (RFC 5681 section 3.1).
    pub initial_ssthresh: u64,
    /// Loss recovery of the host, `None` for the recovery that the algorithm requires.
    pub recovery: Option<LossRecovery>,
    /// Maximum number of segments that one acknowledgement counts, instead of the stack's limit; a
    /// paced sender may have no limit.
    pub ack_limit: u32,
    /// Unit of the window. Only algorithms with
    /// [`CongestionAvoidance`](crate::congestion_avoidance::CongestionAvoidance) support fractions.
    pub counting: Counting,
    /// The bytes that increase the window of such an algorithm at an acknowledgement.
    pub credit: Credit,
    /// Duration of a cut for a mark.
    pub mark_cut: MarkCut,
    /// Sending rate that every router of the path has approved for the first RTT, including headers
    /// (RFC 4782); zero without approval. Slow starts that did not request a rate ignore it.
    pub approved: Rate,
    /// Parameters of the slow start.
    pub slow_start: S,
    /// The algorithm's own parameters.
    pub own: P,
}

/// Description of [`Setup::initial_ssthresh`] in a scenario, among the parameters of every algorithm
/// whose slow start can be chosen.
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
    /// These parameters with the default settings of the stack.
    pub const fn of(own: P, slow_start: S) -> Setup<P, S> {
        Setup {
            initial_window: 14_600,
            // RFC 5681-3.1-6
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

    /// The same settings with other parameters of the algorithm and of the slow start.
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

/// The table of the algorithm's own parameters.
impl<P: Parameters, S: Copy + Default + PartialEq + Debug> Parameters for Setup<P, S> {
    const TABLE: &'static [Param] = P::TABLE;

    fn get(&self, place: usize) -> Option<u64> {
        self.own.get(place)
    }

    fn set(&mut self, place: usize, raw: u64) -> bool {
        self.own.set(place, raw)
    }
}
