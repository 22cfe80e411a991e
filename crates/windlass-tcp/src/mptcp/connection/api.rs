//! The application's side of a connection, and what can be seen of it.

use windlass_cc::{CrossLayer, Time};

use super::{Connection, MultipathProfile, MultipathStats, Role};
use crate::endpoint::{Endpoint, Failure, State, Stats};

impl Connection {
    /// Active open of a client: the next [`poll_transmit`](Connection::poll_transmit) yields a SYN.
    /// Does nothing for the second time, or to a server.
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

    /// Offers `bytes` more to send. After [`close`](Connection::close) nothing is taken.
    pub fn offer(&mut self, bytes: u64) {
        if self.fallback && !self.sender.closed {
            self.subflows[self.initial].endpoint.offer(bytes);
        }
        self.sender.offer(bytes);
    }

    /// No more data will be offered: a DATA_FIN follows what has been. The peer may go on sending.
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

    /// Whether no subflow is up or coming up.
    fn is_idle(&self) -> bool {
        self.subflows.iter().all(|s| s.endpoint.state() == State::Closed)
    }

    /// Bytes that have arrived in order and not been read.
    pub fn readable(&self) -> u64 {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.readable(),
            false => self.receiver.readable(),
        }
    }

    /// Reads up to `max` bytes; a window update may follow.
    pub fn read(&mut self, p: &MultipathProfile, max: u64) -> u64 {
        if self.fallback {
            return self.subflows[self.initial].endpoint.read(p.path(self.initial), max);
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

    /// Whether the peer has closed its side and everything before that has been read.
    pub fn at_end(&self) -> bool {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.at_end(),
            false => self.receiver.has_ended() && self.receiver.readable() == 0,
        }
    }

    /// Whether all offered data has been acknowledged, at data level.
    pub fn all_acknowledged(&self) -> bool {
        match self.fallback {
            true => self.subflows[self.initial].endpoint.all_acknowledged(),
            false => self.sender.all_acknowledged(),
        }
    }

    /// Whether the first handshake has completed at some time.
    pub fn was_established(&self) -> bool {
        self.established
    }

    /// Whether nothing is left to do: both directions are closed and all subflows gone, or the
    /// connection has failed.
    pub fn is_closed(&self) -> bool {
        let over = self.closing || self.fallback || !self.started || self.failure.is_some();
        over && self.is_idle()
    }

    /// Why the connection failed, if it did.
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

    /// Bytes in the receive buffer that wait for earlier ones of any subflow, gaps within a
    /// subflow included.
    pub fn out_of_order(&self) -> u64 {
        self.receiver.waiting() + self.out_of_order_on_subflows()
    }

    /// Of them, those that wait for earlier bytes of their own subflow.
    pub fn out_of_order_on_subflows(&self) -> u64 {
        self.subflows.iter().map(|s| s.endpoint.out_of_order()).sum()
    }

    /// Bytes of the stream, repetitions and probes included, that were given to the present subflow
    /// of a path and that it has not seen acknowledged.
    pub fn outstanding(&self, path: usize) -> u64 {
        let acked = self.subflows[path].endpoint.acknowledged_to();
        self.subflows[path].sent.iter().map(|p| p.end() - p.start.max(acked).min(p.end())).sum()
    }

    /// The subflow on a path, as it is or was last.
    pub fn subflow(&self, path: usize) -> &Endpoint {
        &self.subflows[path].endpoint
    }

    /// From now on the endpoints of all paths keep a journal each.
    pub fn keep_journals(&mut self) {
        self.subflows.iter_mut().for_each(|s| s.endpoint.keep_journal());
    }

    /// Whether the path has a subflow that carries data, and has not been taken out of use.
    pub fn in_use(&self, path: usize) -> bool {
        self.subflows[path].is_usable() || (self.fallback && path == self.initial)
    }

    /// Number of paths.
    pub fn paths(&self) -> usize {
        self.subflows.len()
    }

    /// Counters of all subflows that a path has had, together.
    pub fn path_stats(&self, path: usize) -> Stats {
        self.subflows[path].total()
    }

    /// Counters above the subflows.
    pub fn stats(&self) -> &MultipathStats {
        &self.stats
    }

    /// Whether the connection is a plain one, since an end or a box on the way does not speak
    /// Multipath TCP.
    pub fn fallen_back(&self) -> bool {
        self.fallback
    }

    /// What the sending node's lower layers know of its station and the way, for the controller of a
    /// path that [wants](windlass_cc::Requirements::cross_layer) it: to be told as
    /// [`Endpoint::on_cross_layer`] is.
    pub fn on_cross_layer(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        path: usize,
        layers: &CrossLayer,
    ) {
        self.subflows[path].endpoint.on_cross_layer(p.path(path), now, layers);
    }

    /// What they know of a path, for a scheduler that
    /// [wants](super::super::Scheduler::wants_layers) it: the queue, rate and failures are those of
    /// packets for the path's next hop alone, and without a route there are no hops. To be told
    /// before each segment or deadline that is handled with it.
    pub fn tell_scheduler(&mut self, path: usize, layers: &CrossLayer) {
        self.subflows[path].layers = Some(*layers);
    }

    /// What the connection's coordinator decided for a path.
    pub fn mode(&self, path: usize) -> u8 {
        self.coupling.mode(path)
    }
}
