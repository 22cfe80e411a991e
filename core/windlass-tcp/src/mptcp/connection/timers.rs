//! Deadlines, and the reactions to subflows that do not respond.

use windlass_cc::{Span, Time};

use super::{Connection, MultipathProfile, ORPHAN_LIFE};
use crate::endpoint::Failure;
use crate::mptcp::sender::Reinjection;
use crate::mptcp::subflow::{Stage, Subflow};

impl Connection {
    /// Time of the next call of [`on_deadline`](Connection::on_deadline); [`Time::NEVER`] if no timer is set.
    pub fn deadline(&self) -> Time {
        let subflows = self.subflows.iter().map(Subflow::deadline).min().unwrap_or(Time::NEVER);
        if !self.established || self.failure.is_some() {
            return subflows;
        }
        // The coordinator has nothing to decide for paths that carry no data. When they carry data again, the
        // first event calls the coordinator.
        let carries = self.is_sending() && self.subflows.iter().any(|s| s.endpoint.carries_data());
        let decision = if carries { self.coupling.deadline() } else { Time::NEVER };
        if self.fallback {
            return subflows.min(decision);
        }
        subflows.min(decision).min(self.sender.deadline()).min(self.orphaned_at)
    }

    /// True if data wait to be sent or to be acknowledged.
    fn is_sending(&self) -> bool {
        self.failure.is_none() && !self.all_acknowledged()
    }

    /// Processes the timers that are due. An early call has no effect.
    pub fn on_deadline(&mut self, p: &MultipathProfile, now: Time) {
        for path in 0..self.subflows.len() {
            if self.subflows[path].endpoint.deadline() <= now {
                self.on_subflow_deadline(p, now, path);
            }
            if self.subflows[path].confirm_at <= now {
                self.repeat_third_ack(p, now, path);
                self.refresh(p, now, path);
            }
        }
        if !self.established && self.started && self.failure.is_none() {
            self.reconsider_opening(p);
        }
        if self.established && !self.fallback && self.failure.is_none() {
            self.on_stream_deadline(now);
        }
        self.settle(p, now);
        if self.fallback {
            self.coupling.share(p, now, &mut self.subflows);
        }
    }

    fn on_subflow_deadline(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        let before = self.subflows[path].endpoint.stats().rto_count;
        self.subflows[path].endpoint.on_deadline(p.path(path), now);
        if self.fallback {
            self.coupling.report(now, path, &mut self.subflows[path]);
            return;
        }
        let subflow = &self.subflows[path];
        let timeout = subflow.endpoint.stats().rto_count > before;
        if timeout && subflow.stage == Stage::Ready && !self.closing {
            self.on_timeout(p, path);
        }
        self.refresh(p, now, path);
    }

    /// Processes a timeout of a subflow. Its data are reinjected on other subflows. After some consecutive
    /// timeouts it gets no new data.
    fn on_timeout(&mut self, p: &MultipathProfile, path: usize) {
        self.give_to_others(path, 1 << path);
        let subflow = &mut self.subflows[path];
        let silent = subflow.endpoint.unanswered() >= p.config().timeouts_to_fail;
        if silent && !subflow.suspended {
            subflow.suspended = true;
            self.stats.suspensions += 1;
            self.scheduling.on_path_gone(path);
        }
    }

    /// Processes the timers of the connection's own stream.
    fn on_stream_deadline(&mut self, now: Time) {
        if self.sender.fin_at <= now {
            self.sender.fin_at = Time::NEVER;
            self.fin_now = true;
        }
        if self.sender.probe_at <= now {
            self.sender.probe_at = Time::NEVER;
            self.sender.probe_shift = (self.sender.probe_shift + 1).min(16);
            self.sender.probe_now = true;
        }
        if self.sender.data_rto_at <= now {
            self.sender.data_rto_at = Time::NEVER;
            self.sender.data_rto_shift = (self.sender.data_rto_shift + 1).min(6);
            self.on_data_timeout();
        }
        if self.orphaned_at <= now {
            self.orphaned_at = Time::NEVER;
            // If both streams have arrived, only the peer's last acknowledgement is missing.
            if self.receiver.has_ended() && self.sender.all_acknowledged() {
                self.closing = true;
            } else {
                self.fail(Failure::DataTimeout);
            }
        }
    }

    /// Processes a timeout at data level. Data that a subflow has delivered, but the peer has not
    /// acknowledged, were lost above the subflow: the peer had no buffer for them, or its subflow ended.
    fn on_data_timeout(&mut self) {
        let una = self.sender.una;
        let carried = self.subflows.iter().any(|s| s.is_live() && s.sent.holding(una).is_some());
        if carried || self.scheduling.plans(una) {
            return;
        }
        // Data that every remaining path has carried stay in the list until they are acknowledged, but no
        // path takes them. If only such data wait, the current data are lost above the subflows too.
        let usable = self.usable_paths();
        if usable == 0 || self.sender.has_reinjections_for(usable) {
            return;
        }
        let mss = self.subflows.iter().map(|s| u64::from(s.endpoint.mss())).min().unwrap_or(1);
        let end = self.sender.next.min(una + mss);
        self.sender.reinject(Reinjection { start: una, end, carried: 0, opportunistic: false });
    }

    /// Sets the timer that checks the progress of the stream.
    pub(super) fn watch_progress(&mut self, p: &MultipathProfile, now: Time) {
        if !self.sender.is_outstanding() {
            self.sender.data_rto_at = Time::NEVER;
        } else if self.sender.data_rto_at.is_never() {
            let live = self.subflows.iter().enumerate().filter(|(_, s)| s.is_live());
            let slowest = live.map(|(path, s)| s.endpoint.rto(p.path(path))).max();
            let wait = slowest.unwrap_or(Span::from_secs(1)).0.max(1);
            let wait = wait.saturating_mul(2 << self.sender.data_rto_shift);
            self.sender.data_rto_at = now + Span(wait);
        }
    }

    /// Sets the time limit of a connection without any subflow. The paths are retried until then.
    pub(super) fn watch_orphan(&mut self, now: Time) {
        if self.subflows.iter().any(Subflow::is_live) {
            self.orphaned_at = Time::NEVER;
        } else if self.orphaned_at.is_never() {
            self.orphaned_at = now + ORPHAN_LIFE;
        }
    }
}
