//! Aggregate quantities of the paths of a connection. All divisions of coupled algorithms are in this
//! file.
//!
//! A host may pass any values, so each quantity is limited to its range once, here:
//!
//! * an RTT of zero, from a coarse clock, counts as a nanosecond;
//! * a path with an unknown RTT is not a member, because its rate is unknown too;
//! * a window is between a byte and [`MAX_WINDOW`], so that no rate is zero, every sum has a positive
//!   term, and no denominator is zero;
//! * a window converted to another RTT is at most 2^56, so that the sum of eight does not overflow.
//!
//! Windows have eight fractional bits here: cutting off a term loses less than a byte in two hundred,
//! for any number of paths.

use crate::arithmetic::math::{divisor, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::Phase;
use crate::group::{Group, PathView};
use crate::params::Ratio;

crate::choice! {
    /// Window of a path in fast recovery, in which duplicate acknowledgements may inflate it.
    pub enum InRecovery {
        /// The slow-start threshold, which is the window at the end of recovery.
        Threshold = "threshold",
        /// The present window.
        Window = "window",
    }
}

/// Fractional bits of windows here.
const BITS: u32 = 8;
/// Maximum window after the conversion to another RTT.
const MOST: u64 = 1 << 56;

/// A path that is a member.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// Bytes, from 1 to [`MAX_WINDOW`].
    pub window: u64,
    /// SRTT, nanoseconds, at least 1.
    pub rtt: u64,
    /// Value that the path's controller discloses.
    pub disclosed: u64,
    /// Maximum payload of a segment, bytes, at least 1.
    pub mss: u64,
}

impl Member {
    fn of(path: &PathView, in_recovery: InRecovery) -> Option<Member> {
        let inflated = path.phase == Phase::Recovery && in_recovery == InRecovery::Threshold;
        let window = if inflated { path.ssthresh } else { path.cwnd };
        path.srtt.is_known().then_some(Member {
            window: window.clamp(1, MAX_WINDOW),
            rtt: path.srtt.0.max(1),
            disclosed: path.disclosed,
            mss: u64::from(path.mss.max(1)),
        })
    }

    /// Whole segments of the window.
    pub fn segments(&self) -> u64 {
        self.window / divisor(self.mss)
    }

    /// The window that gives this path's rate at another RTT, `w·rtt/r`, with [`BITS`] fractional bits.
    fn at(&self, rtt: u64) -> u64 {
        mul_div(self.window << BITS, rtt, self.rtt).min(MOST)
    }
}

/// The member paths, at least two, including this path. They are read from the group each time, because
/// a copy of all would take half of the stack of a BPF program.
pub(crate) struct Members<'a> {
    group: &'a Group,
    in_recovery: InRecovery,
    count: u8,
    /// Minimum RTT of the members, nanoseconds.
    shortest: u64,
    /// This path.
    pub own: Member,
}

impl<'a> Members<'a> {
    /// Creates the members of a group as one of its paths sees it, whose own window is `w`. Returns
    /// `None` for a single path, or if the RTT of the path is unknown.
    pub fn of(group: &'a Group, w: &Window, in_recovery: InRecovery) -> Option<Members<'a>> {
        let seen = PathView { cwnd: w.cwnd(), ssthresh: w.ssthresh(), ..*group.own() };
        let own = Member::of(&seen, in_recovery)?;
        let mut members = Members { group, in_recovery, count: 0, shortest: own.rtt, own };
        let counted = |(count, least): (u8, u64), path: Member| (count + 1, least.min(path.rtt));
        (members.count, members.shortest) = members.all().fold((0, own.rtt), counted);
        (members.count >= 2).then_some(members)
    }

    /// All members.
    pub fn all(&self) -> impl Iterator<Item = Member> + '_ {
        self.group.places().filter_map(|(place, path)| {
            if place == self.group.place() {
                Some(self.own)
            } else if self.group.coupled_with(path) {
                Member::of(path, self.in_recovery)
            } else {
                None
            }
        })
    }

    /// Number of members.
    pub fn count(&self) -> u64 {
        u64::from(self.count)
    }

    /// `rtt · Σ w_j/r_j`: the window that carries the rate of all paths at this RTT, bytes with
    /// [`BITS`] fractional bits. It is at least the window of each path at this RTT.
    fn total_at(&self, rtt: u64) -> u64 {
        self.all().fold(0, |sum, path| sum + path.at(rtt)).max(1)
    }

    /// `a/r²` for one of the paths, with RTT `rtt`, to compare paths. It is in units of the minimum
    /// RTT, so that the factors are at most one and do not overflow.
    pub fn per_squared(&self, a: u64, rtt: u64) -> u64 {
        mul_div(mul_div(a.min(MAX_WINDOW) << 16, self.shortest, rtt), self.shortest, rtt)
    }

    /// `(Σ w_j/r_j)² / max(w_j/r_j²)`, bytes: the divisor in RFC 6356, `cwnd_total` over its alpha. It
    /// is equation 2 with `cwnd_total` cancelled, and at least the window of the path with the maximum.
    pub fn linked(&self) -> u64 {
        let rank = |path: &Member| self.per_squared(path.window, path.rtt);
        let best = self
            .all()
            .fold(self.own, |best, path| if rank(&path) > rank(&best) { path } else { best });
        self.pooled(&best)
    }

    /// `(Σ w_j/r_j)² · r²/w` for one path, bytes: the divisor of OLIA's first term.
    pub fn pooled(&self, path: &Member) -> u64 {
        let total = self.total_at(path.rtt);
        mul_div(total, total, path.window << BITS) >> BITS
    }

    /// Divisor of BALIA, `10·w·(Σ w_j r/r_j)² / ((w + m)(4w + m))` in bytes. `m` is the window that
    /// gives the largest rate of all paths at this path's RTT. It is the paper's `x/(r·(Σx)²) · (1 +
    /// a)/2 · (4 + a)/5` with `a = m/w`.
    pub fn balanced(&self) -> u64 {
        let (w, m) = (self.own.window << BITS, self.largest());
        let total = self.total_at(self.own.rtt);
        let once = mul_div(total, total, w + m);
        mul_div(once, 10 * w, 4 * w + m) >> BITS
    }

    /// `m` of [`balanced`](Members::balanced), at least this path's window.
    fn largest(&self) -> u64 {
        let own = self.own.at(self.own.rtt);
        self.all().fold(own, |most, path| most.max(path.at(self.own.rtt)))
    }

    /// The largest rate of all paths as a multiple of this path's rate, at least one.
    pub fn imbalance(&self) -> Ratio {
        Ratio(mul_div(self.largest(), Ratio::ONE.0, self.own.window << BITS))
    }

    /// This path's part of the rate of all paths, at most one.
    pub fn share(&self) -> Ratio {
        let total = self.total_at(self.own.rtt);
        Ratio(mul_div(self.own.window << BITS, Ratio::ONE.0, total))
    }
}
