//! What the paths of a connection amount to together: the one place where coupled algorithms divide.
//!
//! A host may hand over anything, so each quantity is brought into its range here, once:
//!
//! * a round-trip time of zero, from a clock too coarse to see it, counts as a nanosecond;
//! * a path whose round-trip time is not known takes no part, since its rate is not known either;
//! * a window lies between a byte and [`MAX_WINDOW`], so that no rate is zero and every sum has a
//!   positive term: no denominator can be zero;
//! * a window carried over to another round-trip time stops at 2^56, so that eight of them add up.
//!
//! Windows are kept with eight fractional bits here: cutting a term off costs less than a byte in
//! two hundred, whatever the number of paths.

use crate::arithmetic::math::{divisor, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::Phase;
use crate::group::{Group, PathView};
use crate::params::Ratio;

crate::choice! {
    /// What stands for the window of a path that is in fast recovery, where duplicate
    /// acknowledgements may inflate it.
    pub enum InRecovery {
        /// Its slow-start threshold: the window that recovery ends with.
        Threshold = "threshold",
        /// Its window as it is.
        Window = "window",
    }
}

/// Fractional bits of windows here.
const BITS: u32 = 8;
/// Largest window once carried over to another round-trip time.
const MOST: u64 = 1 << 56;

/// A path that takes part.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// Bytes, from 1 to [`MAX_WINDOW`].
    pub window: u64,
    /// Smoothed round-trip time, nanoseconds, at least 1.
    pub rtt: u64,
    /// What its controller discloses.
    pub disclosed: u64,
    /// Largest payload of a segment, bytes, at least 1.
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

    /// The window that would give this path's rate at another round-trip time, `w·rtt/r`, with
    /// [`BITS`] fractional bits.
    fn at(&self, rtt: u64) -> u64 {
        mul_div(self.window << BITS, rtt, self.rtt).min(MOST)
    }
}

/// The paths that take part, two at least, one's own among them. They are read off the group each
/// time: a copy of them all would take half the stack that a BPF program has.
pub(crate) struct Members<'a> {
    group: &'a Group,
    in_recovery: InRecovery,
    count: u8,
    /// The least round-trip time among them, nanoseconds.
    shortest: u64,
    /// One's own path.
    pub own: Member,
}

impl<'a> Members<'a> {
    /// Of a group as one of its paths sees it, whose own window is `w`. `None`: that path is alone,
    /// or nothing is known of its round-trip time yet.
    pub fn of(group: &'a Group, w: &Window, in_recovery: InRecovery) -> Option<Members<'a>> {
        let seen = PathView { cwnd: w.cwnd(), ssthresh: w.ssthresh(), ..*group.own() };
        let own = Member::of(&seen, in_recovery)?;
        let mut members = Members { group, in_recovery, count: 0, shortest: own.rtt, own };
        let counted = |(count, least): (u8, u64), path: Member| (count + 1, least.min(path.rtt));
        (members.count, members.shortest) = members.all().fold((0, own.rtt), counted);
        (members.count >= 2).then_some(members)
    }

    /// All of them.
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

    /// How many there are.
    pub fn count(&self) -> u64 {
        u64::from(self.count)
    }

    /// `rtt · Σ w_j/r_j`: the window that carries the rate of all paths at this round-trip time,
    /// bytes with [`BITS`] fractional bits; at least that of any one of them.
    fn total_at(&self, rtt: u64) -> u64 {
        self.all().fold(0, |sum, path| sum + path.at(rtt)).max(1)
    }

    /// `a/r²` for one of the paths, with round-trip time `rtt`, to compare paths by: in units of the shortest
    /// round-trip time, so that the factors are at most one and nothing overflows.
    pub fn per_squared(&self, a: u64, rtt: u64) -> u64 {
        mul_div(mul_div(a.min(MAX_WINDOW) << 16, self.shortest, rtt), self.shortest, rtt)
    }

    /// `(Σ w_j/r_j)² / max(w_j/r_j²)`, bytes: the window by which RFC 6356 divides, `cwnd_total`
    /// over its alpha. It is what remains of equation 2 when `cwnd_total` is cancelled, and at least
    /// the window of the path that attains the maximum.
    pub fn linked(&self) -> u64 {
        let rank = |path: &Member| self.per_squared(path.window, path.rtt);
        let best = self
            .all()
            .fold(self.own, |best, path| if rank(&path) > rank(&best) { path } else { best });
        self.pooled(&best)
    }

    /// `(Σ w_j/r_j)² · r²/w` for one path, bytes: by which OLIA's first term divides.
    pub fn pooled(&self, path: &Member) -> u64 {
        let total = self.total_at(path.rtt);
        mul_div(total, total, path.window << BITS) >> BITS
    }

    /// By what BALIA divides, `10·w·(Σ w_j r/r_j)² / ((w + m)(4w + m))` in bytes, where `m` is the
    /// window that gives the largest rate of all paths at one's own round-trip time: the paper's
    /// `x/(r·(Σx)²) · (1 + a)/2 · (4 + a)/5` with `a = m/w`.
    pub fn balanced(&self) -> u64 {
        let (w, m) = (self.own.window << BITS, self.largest());
        let total = self.total_at(self.own.rtt);
        let once = mul_div(total, total, w + m);
        mul_div(once, 10 * w, 4 * w + m) >> BITS
    }

    /// `m` of [`balanced`](Members::balanced), at least one's own window.
    fn largest(&self) -> u64 {
        let own = self.own.at(self.own.rtt);
        self.all().fold(own, |most, path| most.max(path.at(self.own.rtt)))
    }

    /// The largest rate of all paths as a multiple of one's own, at least one.
    pub fn imbalance(&self) -> Ratio {
        Ratio(mul_div(self.largest(), Ratio::ONE.0, self.own.window << BITS))
    }

    /// One's own part of the rate of all paths, at most one.
    pub fn share(&self) -> Ratio {
        let total = self.total_at(self.own.rtt);
        Ratio(mul_div(self.own.window << BITS, Ratio::ONE.0, total))
    }
}
