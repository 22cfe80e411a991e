//! Snapshot of all paths of a connection, for coupled controllers.

use crate::event::Phase;
use crate::time::Span;

/// Maximum number of paths of a connection.
pub const MAX_PATHS: usize = 8;

/// Number of paths that a BPF program reads. Each further path multiplies the branches, and a kernel's
/// verifier follows each one.
pub const VERIFIED: usize = 3;

/// Minimum [mode](Group::mode) that means coupling: a path is coupled with the paths in the same mode.
pub const COUPLED: u8 = 2;

/// State of one path for its siblings.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathView {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// SRTT, [`Span::NONE`] before the first sample.
    pub srtt: Span,
    /// Minimum RTT, [`Span::NONE`] before the first sample.
    pub min_rtt: Span,
    /// Value that the path's controller discloses; its meaning depends on the algorithm.
    pub disclosed: u64,
    /// Maximum payload of a segment, bytes.
    pub mss: u32,
    /// Phase of the path's loss recovery.
    pub phase: Phase,
}

impl PathView {
    /// A path without measurements.
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

/// All established paths of a connection at one time, and the index of the controller's own path.
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

    /// The group of these paths, without an own path; paths beyond [`MAX_PATHS`] are omitted.
    pub fn new(paths: impl IntoIterator<Item = PathView>) -> Group {
        let mut group = Group::EMPTY;
        for (place, path) in group.views.iter_mut().zip(paths) {
            *place = path;
            group.count += 1;
        }
        group
    }

    /// The same group for the path with this index, to which the coordinator has assigned this mode.
    pub fn seen_from(&self, own: usize, mode: u8) -> Group {
        let own = own.min(usize::from(self.count.saturating_sub(1)));
        Group { own: own as u8, mode, ..*self }
    }

    /// True if a sibling is coupled with this path. Without a coordinator's decision all siblings are.
    /// Otherwise these are the siblings that disclose the mode of this path.
    pub fn coupled_with(&self, sibling: &PathView) -> bool {
        self.mode < COUPLED || sibling.disclosed == u64::from(self.mode)
    }

    /// The paths.
    pub fn paths(&self) -> &[PathView] {
        self.views.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// The paths and their indices; in a BPF program only the first [`VERIFIED`]. The constant bound of
    /// the loop lets the kernel's verifier accept it.
    pub fn places(&self) -> impl Iterator<Item = (usize, &PathView)> {
        let most = if cfg!(target_arch = "bpf") { VERIFIED } else { MAX_PATHS };
        let count = usize::from(self.count);
        self.views.iter().take(most).enumerate().filter(move |(place, _)| *place < count)
    }

    /// The controller's own path; an empty path in an empty group.
    pub fn own(&self) -> &PathView {
        let own = usize::from(self.own);
        if own < usize::from(self.count) { &self.views[own % MAX_PATHS] } else { &PathView::EMPTY }
    }

    /// Index of the own path among [`paths`](Group::paths).
    pub fn place(&self) -> usize {
        usize::from(self.own)
    }

    /// Mode that the connection's [`Coordinator`](crate::Coordinator) has assigned to the own path; 0
    /// without a coordinator.
    pub fn mode(&self) -> u8 {
        self.mode
    }
}

/// Event of a path that a [`Coordinator`](crate::Coordinator) receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathEvent {
    /// Fast recovery began: a loss event.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// Segments were retransmitted, for any reason.
    Retransmitted(u32),
    /// Segments were sent for the first time.
    Sent(u32),
}
