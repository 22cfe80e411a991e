//! BLEST, blocking estimation (Ferlin, Alay, Mehani, Boreli: BLEST: Blocking estimation-based MPTCP
//! scheduler for heterogeneous networks, IFIP Networking 2016, section III).

use windlass_cc::Time;

use super::path::{Backlog, PathState, fastest, lowest_rtt};

/// λ and its bounds and steps, thousandths: the values of the authors' kernel.
const LAMBDA: u64 = 1200;
const LEAST_LAMBDA: u64 = 1000;
const MOST_LAMBDA: u64 = 1300;
const AFTER_BLOCKING: u64 = 40;
const WITHOUT_BLOCKING: u64 = 10;

/// State of BLEST.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Blest {
    /// Correction of the estimate, thousandths.
    lambda: u64,
    /// Time of its last adaptation.
    adapted: Time,
    /// True if the receive window has limited the sender since then.
    blocked: bool,
}

impl Default for Blest {
    fn default() -> Blest {
        Blest { lambda: LAMBDA, adapted: Time::ZERO, blocked: false }
    }
}

impl Blest {
    pub(super) fn on_blocked(&mut self) {
        self.blocked = true;
    }

    /// Adapts λ once per RTT of the fastest path: λ rises after blocking, and falls without blocking.
    fn adapt(&mut self, now: Time, fast: &PathState) {
        if now.since(self.adapted) < fast.srtt {
            return;
        }
        self.adapted = now;
        let blocked = std::mem::take(&mut self.blocked);
        let lambda = match blocked {
            true => self.lambda + AFTER_BLOCKING,
            false => self.lambda - WITHOUT_BLOCKING,
        };
        self.lambda = lambda.clamp(LEAST_LAMBDA, MOST_LAMBDA);
    }

    /// The fastest path if it has space, otherwise the best of the other paths. It waits if the segment on
    /// the slow path would occupy the part of the window that the fast path can use until its delivery.
    pub(super) fn choose<'a>(
        &mut self,
        paths: &'a [PathState],
        b: &Backlog,
    ) -> Option<&'a PathState> {
        let fast = fastest(paths)?;
        self.adapt(b.now, fast);
        if fast.room > 0 {
            return Some(fast);
        }
        let slow = lowest_rtt(paths)?;
        // MSS·(inflight_S + 1)
        let occupied = slow.in_flight + slow.mss;
        let needed = u128::from(fast_bytes(fast, slow)) * u128::from(self.lambda) / 1000;
        (needed <= u128::from(b.window.saturating_sub(occupied))).then_some(slow)
    }
}

/// X of the paper, bytes: the data that the fast path sends within one RTT of the slow path, if its cwnd
/// grows by one segment per RTT. The formula is `MSS·(CWND_F + (rtts − 1)/2)·rtts` with `rtts = RTT_S/RTT_F`.
fn fast_bytes(fast: &PathState, slow: &PathState) -> u64 {
    // In thousandths; ratios above a million are not distinguished.
    let rtts = u128::from(slow.srtt.0) * 1000 / u128::from(fast.srtt.0.max(1));
    let rtts = rtts.min(1_000_000_000);
    let growth = u128::from(fast.mss) * rtts.saturating_sub(1000) / 2000;
    let bytes = (u128::from(fast.cwnd) + growth) * rtts / 1000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
