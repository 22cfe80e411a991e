//! ECF, earliest completion first (Lim, Nahum, Towsley, Gibbens: ECF: An MPTCP path scheduler to
//! manage heterogeneous paths, CoNEXT 2017, algorithm 1).

use super::path::{Backlog, PathState, fastest, lowest_rtt};

/// State of ECF.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Ecf {
    /// True if the last decision was to wait. The next decision to wait is then easier by β = 1/4.
    waiting: bool,
}

impl Ecf {
    /// The fastest path if it has space, otherwise the best of the other paths. It waits if the fast path
    /// would finish first: after one RTT of waiting, the fast path would have sent all waiting data before
    /// the slow path delivers one segment.
    pub(super) fn choose<'a>(
        &mut self,
        paths: &'a [PathState],
        b: &Backlog,
    ) -> Option<&'a PathState> {
        let fast = fastest(paths)?;
        if fast.room > 0 {
            return Some(fast);
        }
        let slow = lowest_rtt(paths)?;
        let wide = u128::from;
        // All times in nanoseconds, multiplied by the cwnd by which the paper divides.
        let delta = wide(fast.rttvar.0.max(slow.rttvar.0));
        let (rtt_f, rtt_s) = (wide(fast.srtt.0), wide(slow.srtt.0));
        let (cwnd_f, cwnd_s) = (wide(fast.cwnd.max(1)), wide(slow.cwnd.max(1)));
        let unsent = wide(b.unsent);
        // (1 + k/CWND_f)·RTT_f < (1 + waiting·β)·(RTT_s + δ)
        let quarters = if self.waiting { 5 } else { 4 };
        let fast_is_sooner = 4 * (cwnd_f + unsent) * rtt_f < quarters * (rtt_s + delta) * cwnd_f;
        if !fast_is_sooner {
            self.waiting = false;
            return Some(slow);
        }
        // k/CWND_s·RTT_s ≥ 2·RTT_f + δ
        if unsent * rtt_s >= (2 * rtt_f + delta) * cwnd_s {
            self.waiting = true;
            return None;
        }
        Some(slow)
    }
}
