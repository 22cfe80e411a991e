//! The shared state of the subflows, and their coordinator.

use windlass_cc::Time;
use windlass_cc::{Coordinator, Group, PathEvent, PathView};

use super::config::MultipathProfile;
use super::subflow::{Stage, Subflow};
use crate::endpoint::Stats;

/// Snapshots of all established subflows for their controllers.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    coordinator: Coordinator,
    begun: bool,
    /// The group that the controllers received last.
    shown: Group,
    modes: [u8; windlass_cc::group::MAX_PATHS],
}

impl Coupling {
    pub(super) fn new() -> Coupling {
        Coupling {
            coordinator: Coordinator::default(),
            begun: false,
            shown: Group::EMPTY,
            modes: Default::default(),
        }
    }

    /// Creates the coordinator that the first path's algorithm needs, when the connection is established.
    pub(super) fn begin(&mut self, p: &MultipathProfile, now: Time) {
        if !self.begun {
            self.begun = true;
            self.coordinator = p.path(0).params.coordinator(now);
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.coordinator.deadline()
    }

    pub(super) fn mode(&self, path: usize) -> u8 {
        self.coordinator.mode(path)
    }

    /// Reports the events on a path since the last call to the coordinator. A path keeps its number, whether
    /// the other paths are established or not.
    pub(super) fn report(&mut self, now: Time, path: usize, s: &mut Subflow) {
        let (was, is) = (s.seen, *s.endpoint.stats());
        if !self.begun || was == is {
            return;
        }
        s.seen = is;
        let mut tell = |what| self.coordinator.on_event(now, path, what);
        let first = |s: &Stats| s.data_segments - s.retransmits;
        let sent = first(&is) - first(&was);
        if sent > 0 {
            tell(PathEvent::Sent(sent as u32));
        }
        let again = is.retransmits - was.retransmits;
        if again > 0 {
            tell(PathEvent::Retransmitted(again as u32));
        }
        for _ in was.fast_retransmits..is.fast_retransmits {
            tell(PathEvent::FastRetransmit);
        }
        for _ in was.rto_count..is.rto_count {
            tell(PathEvent::Timeout);
        }
    }

    /// Passes the state of all subflows to each controller if a relevant value has changed.
    pub(super) fn share(&mut self, p: &MultipathProfile, now: Time, subflows: &mut [Subflow]) {
        self.coordinator.advance(now);
        let established = |s: &Subflow| s.stage == Stage::Ready && s.endpoint.carries_data();
        let views = subflows.iter().filter(|s| established(s)).map(|s| s.endpoint.view());
        let group = Group::new(views);
        let mut modes = self.modes;
        for (path, mode) in modes.iter_mut().enumerate().take(subflows.len()) {
            *mode = self.coordinator.mode(path);
        }
        if modes == self.modes && !differs(self.shown.paths(), group.paths()) {
            return;
        }
        (self.modes, self.shown) = (modes, group);
        let members = subflows.iter_mut().enumerate().filter(|(_, s)| established(s));
        for (place, (path, subflow)) in members.enumerate() {
            let seen = group.seen_from(place, modes[path]);
            subflow.endpoint.show_group(p.path(path), now, &seen);
        }
    }
}

/// True if cwnd, phase or the disclosed value of a path has changed, or the number of paths. An RTT alone is
/// ignored, because RTTs change with every acknowledgement.
fn differs(a: &[PathView], b: &[PathView]) -> bool {
    let key = |v: &PathView| (v.cwnd, v.ssthresh, v.disclosed, v.mss, v.phase);
    a.len() != b.len() || a.iter().zip(b).any(|(a, b)| key(a) != key(b))
}
