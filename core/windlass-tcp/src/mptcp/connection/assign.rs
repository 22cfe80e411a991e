//! Assignment of the stream's next piece to a path.

use windlass_cc::group::MAX_PATHS;
use windlass_cc::{Phase, Time};

use super::{Connection, MultipathProfile};
use crate::mptcp::scheduler::{Assignment, Backlog, PathState};
use crate::mptcp::sender::{Demand, Reinjection};
use crate::mptcp::subflow::Subflow;

/// A segment that blocks the receive window is retransmitted on another path in two cases. That path's RTT is
/// shorter by the factor `MUCH_FASTER`, or the cwnd of the segment's own path has at most `SMALL_WINDOW`
/// segments.
const MUCH_FASTER: u64 = 4;
const SMALL_WINDOW: u64 = 4;

impl Connection {
    /// Assigns the next piece of the stream to a path, if a piece can be sent now. Returns the path.
    pub(super) fn assign(&mut self, p: &MultipathProfile, now: Time) -> Option<usize> {
        if !self.established || self.closing {
            return None;
        }
        if let Some(path) = self.assign_reinjection(p, now) {
            return Some(path);
        }
        let demand = self.sender.demand();
        let waits = demand.unsent > 0 || self.scheduling.has_earlier_pieces();
        if !waits {
            self.set_waiting(false);
            return None;
        }
        let backlog = self.backlog(now, &demand);
        let states = self.path_states(p, now, &backlog);
        if let Some(a) = self.scheduling.next(states.paths(), &backlog) {
            self.assign_new(&a);
            return Some(a.path);
        }
        for state in states.paths() {
            // A path with space that the scheduler does not choose has nothing to send.
            self.subflows[state.path].waiting = state.room == 0 || demand.window_limited;
        }
        if demand.window_limited {
            return self.answer_blocking(p, now);
        }
        None
    }

    fn set_waiting(&mut self, waiting: bool) {
        for subflow in &mut self.subflows {
            subflow.waiting = waiting;
        }
    }

    fn assign_new(&mut self, a: &Assignment) {
        self.give(a.path, a.start, a.len);
        self.scheduling.on_assigned(a);
        let end = a.start + a.len;
        if self.scheduling.is_redundant() {
            let fresh = end.saturating_sub(self.sender.next.max(a.start));
            self.stats.first_bytes += fresh;
            self.stats.redundant_bytes += a.len - fresh;
        } else {
            self.stats.first_bytes += a.len;
        }
        self.sender.next = self.sender.next.max(end);
        self.sender.probe_now = false;
        self.set_waiting(true);
    }

    fn backlog(&self, now: Time, demand: &Demand) -> Backlog {
        Backlog {
            now,
            next: self.sender.next,
            limit: self.sender.next + demand.sendable,
            una: self.sender.una,
            unsent: demand.unsent,
            window: self.sender.window(),
        }
    }

    /// State of the paths that may carry new data, for the scheduler.
    fn path_states(&mut self, p: &MultipathProfile, now: Time, b: &Backlog) -> States {
        let mut states = States::default();
        for path in 0..self.subflows.len() {
            if !self.subflows[path].is_usable() {
                continue;
            }
            let (start, end) = self.scheduling.piece_for(path, b);
            let mss = u64::from(self.subflows[path].endpoint.mss());
            let want = mss.min(end.saturating_sub(start));
            let settled = self.scheduling.is_settled(path, b);
            let worthwhile = settled || self.sender.is_worthwhile(want, mss, b.unsent, p.nagle());
            let (total, layers) = (self.subflows[path].total(), self.subflows[path].layers);
            let Subflow { endpoint, sent, .. } = &mut self.subflows[path];
            let room =
                if want > 0 && worthwhile { endpoint.room(p.path(path), now, want) } else { 0 };
            // The RTT of a path whose SYN was retransmitted is unknown until data are acknowledged.
            let srtt = endpoint.srtt();
            let known = srtt.is_known() && srtt.0 > 0;
            let queued = sent.span();
            states.push(PathState {
                path,
                srtt: if known { srtt } else { endpoint.rto(p.path(path)) },
                rttvar: endpoint.rttvar(),
                rtt: endpoint.last_rtt(),
                cwnd: endpoint.control().cwnd,
                ssthresh: endpoint.control().ssthresh,
                in_flight: endpoint.in_flight(),
                queued,
                mss,
                room,
                segments: total.data_segments,
                retransmits: total.retransmits,
                layers,
            });
        }
        states
    }

    /// The usable path with the lowest SRTT that takes a piece of up to `len` bytes at once, and the number
    /// of bytes that it takes. `without` has a bit for each excluded path.
    fn path_with_room(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        len: u64,
        without: u8,
    ) -> Option<(usize, u64)> {
        let mut best = None;
        for (path, subflow) in self.subflows.iter_mut().enumerate() {
            if !subflow.is_usable() || without & (1 << path) != 0 {
                continue;
            }
            let room = subflow.endpoint.room(p.path(path), now, len);
            let key = (subflow.endpoint.srtt(), path);
            if room > 0 && best.is_none_or(|(least, _)| key < least) {
                best = Some((key, room));
            }
        }
        best.map(|((_, path), room)| (path, room))
    }

    /// The paths that may carry data, as a bit mask.
    pub(super) fn usable_paths(&self) -> u8 {
        let usable = self.subflows.iter().enumerate().filter(|(_, s)| s.is_usable());
        usable.fold(0, |mask, (path, _)| mask | 1 << path)
    }

    /// Assigns reinjected data, which have priority over all other data.
    fn assign_reinjection(&mut self, p: &MultipathProfile, now: Time) -> Option<usize> {
        if !self.sender.has_reinjections() {
            return None;
        }
        let mut mask = self.usable_paths();
        let (place, again, path, room) = loop {
            let (place, again) = self.sender.next_reinjection(mask)?;
            let len = again.end - again.start;
            let without = again.carried | !mask;
            if let Some((path, room)) = self.path_with_room(p, now, len, without) {
                break (place, again, path, room);
            }
            mask &= again.carried; // excludes the paths without space
        };
        self.give(path, again.start, room);
        self.sender.reinjected(place, again.start, room);
        self.stats.reinjections += 1;
        self.stats.reinjected_bytes += room;
        self.stats.opportunistic += u64::from(again.opportunistic);
        Some(path)
    }

    /// Responds to a full receive window. If a path has space, the data that block the window are
    /// retransmitted on it, and the path that blocks the window can be slowed (Raiciu et al. 2012, sections
    /// 4.1 and 4.2). A closed window is probed.
    fn answer_blocking(&mut self, p: &MultipathProfile, now: Time) -> Option<usize> {
        let mss = u64::from(self.subflows[self.initial].endpoint.mss());
        let (path, _) = self.path_with_room(p, now, mss, 0)?;
        self.scheduling.on_blocked();
        if self.sender.probe_now {
            return self.probe_window(p, now);
        }
        let una = self.sender.una;
        let config = p.config();
        let unasked = std::mem::replace(&mut self.sender.asked_at, una) != una;
        let blocked = unasked && self.sender.is_outstanding() && !self.scheduling.is_redundant();
        if !blocked || !(config.opportunistic || config.penalise) {
            return None;
        }
        let mut carriers = 0;
        let mut end = una;
        let mut slow = false;
        let srtt = self.subflows[path].endpoint.srtt();
        for (other, subflow) in self.subflows.iter_mut().enumerate() {
            let Some(piece) = subflow.sent.holding(una) else { continue };
            carriers |= 1 << other;
            end = end.max(piece.data_end());
            let endpoint = &mut subflow.endpoint;
            let segments = endpoint.control().cwnd / u64::from(endpoint.mss());
            slow |=
                srtt.0.saturating_mul(MUCH_FASTER) < endpoint.srtt().0 || segments <= SMALL_WINDOW;
            let due = now >= subflow.penalty_over && endpoint.srtt() > srtt && other != path;
            if config.penalise && due && endpoint.phase() == Phase::Open {
                endpoint.reduce(p.path(other), now);
                subflow.penalty_over = now + endpoint.srtt();
                self.stats.penalties += 1;
            }
        }
        let elsewhere = carriers != 0 && carriers & (1 << path) == 0;
        if !(config.opportunistic && slow && elsewhere) {
            return None;
        }
        self.sender.reinject(Reinjection {
            start: una,
            end,
            carried: carriers,
            opportunistic: true,
        });
        self.assign_reinjection(p, now)
    }

    /// Retransmits a byte that the peer has received, so that the response gives the peer's window. If the peer has
    /// received none, the probe is the first byte of the stream.
    fn probe_window(&mut self, p: &MultipathProfile, now: Time) -> Option<usize> {
        let (path, _) = self.path_with_room(p, now, 1, 0)?;
        self.sender.probe_now = false;
        if self.sender.una == 1 {
            self.assign_new(&Assignment { path, start: self.sender.next, len: 1 });
            return Some(path);
        }
        self.stats.probe_bytes += 1;
        self.give(path, self.sender.una - 1, 1);
        Some(path)
    }
}

/// States of the usable paths, without heap allocation.
#[derive(Default)]
struct States {
    count: usize,
    list: [PathState; MAX_PATHS],
}

impl States {
    fn push(&mut self, state: PathState) {
        self.list[self.count] = state;
        self.count += 1;
    }

    fn paths(&self) -> &[PathState] {
        &self.list[..self.count]
    }
}
