//! Least linger: the scheduler of Linux since 5.19 (`mptcp_subflow_get_send` in `net/mptcp/protocol.c`).
//!
//! Data does not wait for room in a path's window. It is put into the paths' send queues ahead of it, 64 KB
//! at a time: each burst goes to the path whose queue would be sent soonest at the rate at which the
//! path sends. Nothing more is put anywhere while that path's queue is full.

use windlass_cc::coupling::MAX_PATHS;

use super::earliest::Plan;
use super::{Assignment, Backlog, PathState};

/// Bytes of a burst (`MPTCP_SEND_BURST_SIZE`: 64 KB less the headers).
const BURST: u64 = (1 << 16) - 40 - 20 - 40;
/// Segments of a queue for each one of the window: `tcp_sndbuf_expand` makes room for two windows of
/// segments that fill their memory, of which the usual ones take two thirds. Those under way count.
const WINDOWS: u64 = 3;
/// Segments that the smallest window counts for (`TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;

/// What the scheduler keeps of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Mean sending rate, bytes per second; 0 before anything is known.
    rate: u64,
    /// Size of the send queue, bytes: it only grows.
    buffer: u64,
}

/// The scheduler's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Linger {
    lanes: [Lane; MAX_PATHS],
    /// The path that gets the present burst, and what is left of it.
    path: usize,
    left: u64,
}

impl Linger {
    /// Puts into the queues what they take, and returns the next piece that can be sent.
    pub(super) fn next(
        &mut self,
        plan: &mut Plan,
        paths: &[PathState],
        b: &Backlog,
    ) -> Option<Assignment> {
        for p in paths {
            let window = p.cwnd.max(LEAST_WINDOW * p.mss);
            let lane = &mut self.lanes[p.path];
            lane.buffer = lane.buffer.max(WINDOWS * window);
        }
        loop {
            let chosen = paths.iter().find(|p| p.path == self.path && self.left > 0);
            let Some(p) = chosen.or_else(|| self.choose(plan, paths)) else { break };
            let whole = self.left.next_multiple_of(p.mss.max(1));
            let Some(range) = plan.unplanned(whole, b) else { break };
            self.left = self.left.saturating_sub(range.1 - range.0);
            plan.give(p.path, range);
        }
        plan.ready(paths, b)
    }

    /// Begins a burst, unless the path that it would go to has no memory for it.
    fn choose<'a>(&mut self, plan: &Plan, paths: &'a [PathState]) -> Option<&'a PathState> {
        let queued = |p: &PathState| p.queued + plan.bytes(p.path);
        let linger = |p: &&PathState| {
            let lane = self.lanes[p.path];
            let rate = if lane.rate == 0 { rate(p) } else { lane.rate };
            (u128::from(queued(p)) << 32) / u128::from(rate.max(1))
        };
        let best = paths.iter().min_by_key(linger)?;
        let lane = &mut self.lanes[best.path];
        let (waiting, now) = (u128::from(queued(best)), u128::from(rate(best)));
        if waiting >= u128::from(lane.buffer) {
            return None;
        }
        let before = if lane.rate == 0 { now } else { u128::from(lane.rate) };
        let burst = u128::from(BURST);
        lane.rate = ((before * waiting + now * burst) / (waiting + burst)) as u64;
        (self.path, self.left) = (best.path, BURST);
        Some(best)
    }

    /// A path is gone.
    pub(super) fn forget(&mut self, path: usize) {
        self.lanes[path] = Lane::default();
        self.left = if self.path == path { 0 } else { self.left };
    }
}

/// What a path sends, bytes per second: twice its window a round trip in slow start and 1.2 times it
/// later (`tcp_update_pacing_rate`).
fn rate(p: &PathState) -> u64 {
    let percent = if p.cwnd < p.ssthresh / 2 { 200 } else { 120 };
    let bytes = u128::from(p.cwnd.max(p.in_flight)) * percent / 100;
    u64::try_from(bytes * 1_000_000_000 / u128::from(p.srtt.0.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_cc::{Span, Time};

    const MSS: u64 = 1400;

    fn path(path: usize, srtt_ms: u64, queued: u64) -> PathState {
        PathState {
            path,
            srtt: Span::from_millis(srtt_ms),
            cwnd: 10 * MSS,
            ssthresh: 10 * MSS,
            in_flight: queued,
            queued,
            mss: MSS,
            room: MSS,
            ..PathState::default()
        }
    }

    fn backlog(bytes: u64) -> Backlog {
        let (next, unsent) = (1, bytes);
        Backlog { now: Time::ZERO, next, limit: next + bytes, una: next, unsent, window: bytes }
    }

    #[test]
    fn bursts_go_where_the_queue_is_sent_soonest_until_it_is_full() {
        let (mut linger, mut plan) = (Linger::default(), Plan::default());
        let paths = [path(0, 10, 0), path(1, 100, 0)];
        let a = linger.next(&mut plan, &paths, &backlog(1_000_000)).unwrap();
        assert_eq!((a.path, a.start, a.len), (0, 1, MSS));
        // The first burst fills the fast path's queue of 42 000 bytes. An empty queue lingers for
        // no time, so that the second burst is the slow path's, and the third the fast one's
        // again: it has no memory, and that is the end.
        let burst = BURST.next_multiple_of(MSS);
        assert_eq!([plan.bytes(0), plan.bytes(1)], [burst, burst]);
    }

    #[test]
    fn a_full_queue_of_the_best_path_keeps_data_from_all() {
        let (mut linger, mut plan) = (Linger::default(), Plan::default());
        let paths = [path(0, 10, 50_000), path(1, 1000, 14_000)];
        assert_eq!(linger.next(&mut plan, &paths, &backlog(1_000_000)), None);
        assert!(plan.is_empty());
    }
}
