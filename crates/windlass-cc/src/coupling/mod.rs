//! Several paths, one connection: what the subflows of a multipath connection know of each other.
//!
//! No controller holds a pointer to a sibling. The host takes a snapshot of all paths ([`Group`])
//! and shows it to each controller ([`Controller::on_group`](crate::Controller::on_group)) after an
//! acknowledgement that moved a window, after a change of phase and when a path comes or goes; what
//! a controller wants its siblings to know beyond windows and round-trip times it
//! [discloses](crate::Controller::disclosed). So coupling is a function of a snapshot, and a
//! coupled algorithm on one path is a single-path algorithm.
//!
//! Decisions that belong to the connection rather than to a path, such as which algorithm runs on
//! which path, are a [`Coordinator`]'s. It sees losses on all paths and tells each path its mode.

pub mod balia;
pub mod cycle;
pub mod detection;
pub mod dlia;
pub mod emreno;
pub mod lia;
pub mod members;
pub mod mfvl;
pub mod mpfast;
pub mod olia;
pub mod wvegas;

use crate::controller::Phase;
use crate::registry::AnyParams;
use crate::time::{Span, Time};

/// Most paths that a connection may have.
pub const MAX_PATHS: usize = 8;

/// One path as its siblings see it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathView {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Smoothed round-trip time, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Least round-trip time, [`Span::NONE`] before the first sample.
    pub min_rtt: Span,
    /// What the path's controller discloses; its meaning is the algorithm's.
    pub disclosed: u64,
    /// Largest payload of a segment, bytes.
    pub mss: u32,
    /// Where the path stands in loss recovery.
    pub phase: Phase,
}

impl PathView {
    /// A path of which nothing is known.
    pub const EMPTY: PathView = PathView {
        cwnd: 0,
        ssthresh: 0,
        srtt: Span::NONE,
        min_rtt: Span::NONE,
        disclosed: 0,
        mss: 1,
        phase: Phase::Open,
    };
}

/// All established paths of a connection at one moment, and which of them is one's own.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    views: [PathView; MAX_PATHS],
    count: u8,
    own: u8,
    mode: u8,
}

impl Group {
    /// A group without paths.
    pub const EMPTY: Group =
        Group { views: [PathView::EMPTY; MAX_PATHS], count: 0, own: 0, mode: 0 };

    /// The group of these paths, seen from none of them; paths beyond [`MAX_PATHS`] are left out.
    pub fn new(paths: impl IntoIterator<Item = PathView>) -> Group {
        let mut group = Group::EMPTY;
        for (place, path) in group.views.iter_mut().zip(paths) {
            *place = path;
            group.count += 1;
        }
        group
    }

    /// The same group seen from the path with this place, which the coordinator put in this mode.
    pub fn seen_from(&self, own: usize, mode: u8) -> Group {
        let own = own.min(usize::from(self.count.saturating_sub(1)));
        Group { own: own as u8, mode, ..*self }
    }

    /// Whether a sibling is coupled with one's own path: all are, unless a coordinator has said
    /// which; then those are that disclose one's own mode.
    pub fn coupled_with(&self, sibling: &PathView) -> bool {
        self.mode < cycle::COUPLED || sibling.disclosed == u64::from(self.mode)
    }

    /// The paths.
    pub fn paths(&self) -> &[PathView] {
        self.views.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// One's own path; an empty one in an empty group.
    pub fn own(&self) -> &PathView {
        self.paths().get(usize::from(self.own)).unwrap_or(&PathView::EMPTY)
    }

    /// Place of one's own path among [`paths`](Group::paths).
    pub fn place(&self) -> usize {
        usize::from(self.own)
    }

    /// What the connection's [`Coordinator`] decided for one's own path; 0 unless there is one.
    pub fn mode(&self) -> u8 {
        self.mode
    }
}

/// What happened on a path, as a [`Coordinator`] hears it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEvent {
    /// Fast recovery began: a loss event.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// Segments were sent again, for whatever reason.
    Retransmitted(u32),
    /// Segments were sent for the first time.
    Sent(u32),
}

/// Decisions of a connection about its paths.
// Boxing what is large needs an allocator.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coordinator {
    /// Nothing is decided: every path is in mode 0.
    #[default]
    None,
    /// MFVL chooses what runs on which path.
    Mfvl(cycle::Cycle),
}

impl Coordinator {
    /// What an algorithm with these parameters needs, for a connection that begins at `now`.
    pub fn new(params: &AnyParams, now: Time) -> Coordinator {
        match params {
            AnyParams::Mfvl(setup) => Coordinator::Mfvl(cycle::Cycle::new(&setup.own, now)),
            _ => Coordinator::None,
        }
    }

    /// Something happened on the path with this place.
    pub fn on_event(&mut self, now: Time, place: usize, what: PathEvent) {
        match self {
            Coordinator::None => {}
            Coordinator::Mfvl(cycle) => cycle.on_event(now, place, what),
        }
    }

    /// Brings decisions up to date with the clock; returns whether a mode has changed.
    pub fn advance(&mut self, now: Time) -> bool {
        match self {
            Coordinator::None => false,
            Coordinator::Mfvl(cycle) => cycle.advance(now),
        }
    }

    /// When [`advance`](Coordinator::advance) decides next, [`Time::NEVER`] for not at all.
    pub fn deadline(&self) -> Time {
        match self {
            Coordinator::None => Time::NEVER,
            Coordinator::Mfvl(cycle) => cycle.deadline(),
        }
    }

    /// Mode of the path with this place.
    pub fn mode(&self, place: usize) -> u8 {
        match self {
            Coordinator::None => 0,
            Coordinator::Mfvl(cycle) => cycle.mode(place),
        }
    }
}
