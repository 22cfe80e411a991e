//! The least-linger scheduler of Linux since 5.19 (`mptcp_subflow_get_send` in `net/mptcp/protocol.c`), and
//! the send buffers that limit it.
//!
//! Data do not wait for space in a path's cwnd. They are put into the paths' send queues in advance, 64 KB at
//! a time. Each burst is assigned to the path whose queue would be empty first at the path's sending rate. If
//! that path's queue is full, no path receives data.
//!
//! A path's queue grows with its cwnd. The connection's own buffer is the sum of its paths' buffers, and data
//! stay in it until they are acknowledged at data level. A burst on a slow path therefore soon stops the fast
//! path, too, until the burst has arrived. This effect, and not a window, limits a connection over unequal
//! paths.

use windlass_cc::group::MAX_PATHS;

use super::earliest::Plan;
use super::path::{Assignment, Backlog, PathState};

/// Bytes of a burst (`MPTCP_SEND_BURST_SIZE`: 64 KB minus the headers).
const BURST: u64 = (1 << 16) - 40 - 20 - 40;
/// Bytes of send buffer per segment of cwnd: twice the memory of a full segment (`tcp_sndbuf_expand`; 4352
/// with an MSS of 1460).
const ROOM: u64 = 2 * 4352;
/// Minimum cwnd for the size of the buffer, segments (`TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;
/// Memory of a queued segment in addition to its payload, bytes: the `sk_buff` and its header.
const OVERHEAD: u64 = 930;

/// The scheduler's state of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Mean sending rate, bytes per second; 0 if unknown.
    rate: u64,
    /// Size of the send buffer, bytes. It never shrinks.
    buffer: u64,
}

/// The scheduler's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Linger {
    lanes: [Lane; MAX_PATHS],
    /// The path of the current burst, and the remaining bytes of the burst.
    path: usize,
    left: u64,
    /// Offset up to which the application has filled the connection's buffer.
    written: u64,
}

impl Linger {
    /// Fills the queues, and returns the next piece that can be sent.
    pub(super) fn next(
        &mut self,
        plan: &mut Plan,
        paths: &[PathState],
        b: &Backlog,
    ) -> Option<Assignment> {
        for p in paths {
            let window = p.cwnd.div_ceil(p.mss.max(1)).max(LEAST_WINDOW);
            let lane = &mut self.lanes[p.path];
            lane.buffer = lane.buffer.max(ROOM * window);
        }
        let b = &Backlog { limit: b.limit.min(self.write(b.una)), ..*b };
        loop {
            let chosen = paths.iter().find(|p| p.path == self.path && self.left > 0);
            let Some(p) = chosen.or_else(|| self.choose(plan, paths, b.una)) else { break };
            let burst = self.left.next_multiple_of(p.mss.max(1));
            let Some(range) = plan.unplanned(plan.whole(burst, p.mss, b), b) else { break };
            self.left = self.left.saturating_sub(range.1 - range.0);
            plan.give(p.path, range);
        }
        plan.ready(paths, b)
    }

    /// Lets the application write if a third of the buffer is free (`sk_stream_is_writeable`). Returns the
    /// offset up to which it has written.
    fn write(&mut self, una: u64) -> u64 {
        let buffer: u64 = self.lanes.iter().map(|lane| lane.buffer).sum();
        let used = self.written.saturating_sub(una);
        if 3 * used <= 2 * buffer {
            self.written = una + buffer;
        }
        self.written
    }

    /// Begins a burst, unless the chosen path has no memory for it.
    fn choose<'a>(
        &mut self,
        plan: &Plan,
        paths: &'a [PathState],
        una: u64,
    ) -> Option<&'a PathState> {
        let queued = |p: &PathState| {
            let bytes = p.queued + plan.bytes(p.path, una);
            bytes + bytes.div_ceil(p.mss.max(1)) * OVERHEAD
        };
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

    /// Removes the state of a path that is gone.
    pub(super) fn forget(&mut self, path: usize) {
        self.lanes[path] = Lane::default();
        self.left = if self.path == path { 0 } else { self.left };
    }
}

/// Sending rate of a path, bytes per second: twice cwnd per RTT in slow start and 1.2 times cwnd per RTT
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

    fn backlog(una: u64) -> Backlog {
        let bytes = 10_000_000;
        Backlog {
            now: Time::ZERO,
            next: una,
            limit: una + bytes,
            una,
            unsent: bytes,
            window: bytes,
        }
    }

    #[test]
    fn bursts_go_where_the_queue_is_sent_soonest_and_fill_the_connections_buffer() {
        let (mut linger, mut plan) = (Linger::default(), Plan::default());
        let paths = [path(0, 10, 0), path(1, 100, 0)];
        let a = linger.next(&mut plan, &paths, &backlog(1)).unwrap();
        assert_eq!((a.path, a.start, a.len), (0, 1, MSS));
        // Two cwnds of ten segments give a buffer of 174 080 bytes: one burst for the fast path, and one for
        // the slow path, whose empty queue needs no time. The rest is for the fast path, which has no memory
        // for more.
        let burst = BURST.next_multiple_of(MSS);
        assert_eq!([plan.bytes(0, 1), plan.bytes(1, 1)], [burst, burst]);
        // The application writes again if a third of the buffer is acknowledged.
        assert_eq!((linger.write(50_000), linger.write(60_000)), (174_081, 234_080));
    }

    #[test]
    fn a_full_queue_of_the_best_path_keeps_data_from_all() {
        let (mut linger, mut plan) = (Linger::default(), Plan::default());
        let paths = [path(0, 10, 90_000), path(1, 1000, 14_000)];
        assert_eq!(linger.next(&mut plan, &paths, &backlog(1)), None);
        assert!(plan.is_empty());
    }
}
