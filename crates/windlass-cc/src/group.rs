//! All paths of a connection at one moment: what coupled controllers see of each other.

use crate::event::Phase;
use crate::time::Span;

/// Most paths that a connection may have.
pub const MAX_PATHS: usize = 8;

/// Paths that a BPF program looks at: with each the ways through it multiply, which a kernel's verifier goes one by one.
pub const VERIFIED: usize = 3;

/// Least [mode](Group::mode) that says with whom a path is coupled: with those in the same mode.
pub const COUPLED: u8 = 2;

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
        self.mode < COUPLED || sibling.disclosed == u64::from(self.mode)
    }

    /// The paths.
    pub fn paths(&self) -> &[PathView] {
        self.views.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// The paths and their places; in a BPF program those of the first [`VERIFIED`]. The steps have a bound for a compiler
    /// that knows nothing of the group, and so for a kernel's verifier.
    pub fn places(&self) -> impl Iterator<Item = (usize, &PathView)> {
        let most = if cfg!(target_arch = "bpf") { VERIFIED } else { MAX_PATHS };
        let count = usize::from(self.count);
        self.views.iter().take(most).enumerate().filter(move |(place, _)| *place < count)
    }

    /// One's own path; an empty one in an empty group.
    pub fn own(&self) -> &PathView {
        let own = usize::from(self.own);
        if own < usize::from(self.count) { &self.views[own % MAX_PATHS] } else { &PathView::EMPTY }
    }

    /// Place of one's own path among [`paths`](Group::paths).
    pub fn place(&self) -> usize {
        usize::from(self.own)
    }

    /// What the connection's [`Coordinator`](crate::Coordinator) decided for one's own path; 0 unless there is one.
    pub fn mode(&self) -> u8 {
        self.mode
    }
}

/// What happened on a path, as a [`Coordinator`](crate::Coordinator) hears it.
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
