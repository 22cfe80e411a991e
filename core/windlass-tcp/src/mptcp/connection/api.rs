//! The application's interface of a connection, and its visible state.

use windlass_cc::{CrossLayer, Time};

use super::{Connection, MultipathProfile, MultipathStats, Role};
use crate::endpoint::{Endpoint, Failure, State, Stats};

impl Connection {
    /// Active open of a client: the next [`poll_transmit`](Connection::poll_transmit) returns a SYN. A second
    /// call, and a call on a server, have no effect.
    pub fn connect(&mut self) {
        if self.role == Role::Client && !self.started {
            self.started = true;
            self.open_on(0);
        }
    }

    /// Passive open of a server.
    pub fn listen(&mut self) {
        self.started |= self.role == Role::Server;
    }

    /// Offers `bytes` more bytes to send. After [`close`](Connection::close) the call has no effect.
    pub fn offer(&mut self, bytes: u64) {
        if self.fallback && !self.sender.closed {
            self.subflows[self.initial].endpoint.offer(bytes);
        }
        self.sender.offer(bytes);
    }

    /// Closes the sending direction. A DATA_FIN follows the offered data. The peer may continue to send.
    pub fn close(&mut self) {
        if !self.started {
            return;
        }
        if self.fallback {
            self.subflows[self.initial].endpoint.close();
        } else if self.role == Role::Server && self.is_idle() {
            self.started = false;
            return;
        }
        self.sender.closed = true;
    }

    /// True if no subflow is established and no handshake is in progress.
    fn is_idle(&self) -> bool {
        self.subflows.iter().all(|s| s.endpoint.state() == State::Closed)
    }

    /// Bytes that have arrived in order and have not been read.
    pub fn readable(&self) -> u64 {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.readable(),
            false => self.receiver.readable(),
        }
    }

    /// Reads up to `max` bytes. A window update may follow.
    pub fn read(&mut self, p: &MultipathProfile, now: Time, max: u64) -> u64 {
        if self.fallback {
            return self.subflows[self.initial].endpoint.read(p.path(self.initial), now, max);
        }
        let n = self.receiver.read(max);
        let last = &self.subflows[self.last_path].endpoint;
        let (mss, most) = (u64::from(last.mss()), last.most_window());
        if n > 0 && self.receiver.update_is_due(mss, most) {
            let usable = self.subflows[self.last_path].is_live();
            let path = if usable { Some(self.last_path) } else { self.path_for_signals() };
            if let Some(path) = path {
                self.subflows[path].endpoint.acknowledge_now();
            }
        }
        n
    }

    /// True if the peer has closed its side and all its data have been read.
    pub fn at_end(&self) -> bool {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.at_end(),
            false => self.receiver.has_ended() && self.receiver.readable() == 0,
        }
    }

    /// True if all offered data have been acknowledged at data level.
    pub fn all_acknowledged(&self) -> bool {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.all_acknowledged(),
            false => self.sender.all_acknowledged(),
        }
    }

    /// True if the first handshake has completed at any time.
    pub fn was_established(&self) -> bool {
        self.established
    }

    /// True if nothing is left to do: both directions are closed and all subflows have ended, or the
    /// connection has failed.
    pub fn is_closed(&self) -> bool {
        let over = self.closing || self.fallback || !self.started || self.failure.is_some();
        over && self.is_idle()
    }

    /// Cause of the failure, if the connection failed.
    pub fn failure(&self) -> Option<Failure> {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.failure(),
            false => self.failure,
        }
    }

    /// Data bytes that the peer has acknowledged at data level.
    pub fn acknowledged(&self) -> u64 {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.acknowledged(),
            false => self.sender.una.min(self.sender.end) - 1,
        }
    }

    /// Data bytes received in order.
    pub fn received(&self) -> u64 {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.received(),
            false => self.receiver.received(),
        }
    }

    /// Bytes in the receive buffer that wait for earlier bytes of any subflow, including gaps within a
    /// subflow.
    pub fn out_of_order(&self) -> u64 {
        self.receiver.waiting() + self.out_of_order_on_subflows()
    }

    /// Bytes in the receive buffer that wait for earlier bytes of the same subflow.
    pub fn out_of_order_on_subflows(&self) -> u64 {
        self.subflows.iter().map(|s| s.endpoint.out_of_order()).sum()
    }

    /// Bytes of the stream that the current subflow of a path has received to send and that are not
    /// acknowledged on it, including repetitions and probes.
    pub fn outstanding(&self, path: usize) -> u64 {
        let acked = self.subflows[path].endpoint.acknowledged_to();
        self.subflows[path].sent.iter().map(|p| p.end() - p.start.max(acked).min(p.end())).sum()
    }

    /// The current or last subflow of a path.
    pub fn subflow(&self, path: usize) -> &Endpoint {
        &self.subflows[path].endpoint
    }

    /// Starts a journal in the endpoint of each path.
    pub fn keep_journals(&mut self) {
        self.subflows.iter_mut().for_each(|s| s.endpoint.keep_journal());
    }

    /// True if the path has a subflow that carries data and is not suspended.
    pub fn in_use(&self, path: usize) -> bool {
        self.subflows[path].is_usable() || (self.fallback && path == self.initial)
    }

    /// Number of paths.
    pub fn paths(&self) -> usize {
        self.subflows.len()
    }

    /// Sum of the counters of all subflows that a path has had.
    pub fn path_stats(&self, path: usize) -> Stats {
        self.subflows[path].total()
    }

    /// Counters above the subflows.
    pub fn stats(&self) -> &MultipathStats {
        &self.stats
    }

    /// True if the connection is a plain TCP connection, because an end or a middlebox does not support
    /// Multipath TCP.
    pub fn fallen_back(&self) -> bool {
        self.fallback
    }

    /// Passes the state of the sending node's lower layers to the controller of a path that
    /// [needs](windlass_cc::Requirements::cross_layer) it. Call it like [`Endpoint::on_cross_layer`].
    pub fn on_cross_layer(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        path: usize,
        layers: &CrossLayer,
    ) {
        self.subflows[path].endpoint.on_cross_layer(p.path(path), now, layers);
    }

    /// Passes the lower layers' state of a path to a scheduler that
    /// [needs](super::super::Scheduler::wants_layers) it. The queue, rate and failures refer only to packets
    /// for the path's next hop. Without a route the number of hops is zero. Call this before the segment or
    /// deadline to which the state belongs.
    pub fn tell_scheduler(&mut self, path: usize, layers: &CrossLayer) {
        self.subflows[path].layers = Some(*layers);
    }

    /// Mode that the connection's coordinator selected for a path.
    pub fn mode(&self, path: usize) -> u8 {
        self.coupling.mode(path)
    }
}
