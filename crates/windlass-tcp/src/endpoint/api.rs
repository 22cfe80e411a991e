//! The application's side of an endpoint, and what can be seen of it.

use windlass_cc::{Control, Phase, Span, TraceField};

use crate::scoreboard::Scoreboard;

use super::algorithm::{Algorithm, CongestionControl};
use super::{Endpoint, Failure, Profile, State, Stats};

impl Endpoint {
    /// Active open: the next [`poll_transmit`](Endpoint::poll_transmit) yields a SYN.
    pub fn connect(&mut self) {
        if self.state == State::Closed && self.send.max == 0 && self.failure.is_none() {
            self.state = State::SynSent;
        }
    }

    /// Passive open.
    pub fn listen(&mut self) {
        if self.state == State::Closed && self.send.max == 0 && self.failure.is_none() {
            self.state = State::Listen;
            self.passive = true;
        }
    }

    /// Offers `bytes` more to send. The endpoint takes them into its send buffer as room appears.
    /// After [`close`](Endpoint::close) nothing is taken.
    pub fn offer(&mut self, bytes: u64) {
        if !self.stream.fin_queued {
            self.stream.end = self.stream.end.saturating_add(bytes).min(1 << 60);
        }
    }

    /// Bytes that have arrived in order and not been read.
    pub fn readable(&self) -> u64 {
        self.recv.data_received().saturating_sub(self.recv.read)
    }

    /// Reads up to `max` bytes; a window update may follow.
    pub fn read(&mut self, p: &Profile, max: u64) -> u64 {
        let n = self.readable().min(max);
        self.recv.read += n;
        if n > 0 {
            self.after_read(p);
        }
        n
    }

    /// No more data will be offered: a FIN follows what has been, once the handshake is done. The
    /// peer may go on sending.
    pub fn close(&mut self) {
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            // Section 3.10.4: the state changes at once, though the FIN waits behind data.
            _ => {
                self.stream.fin_queued = true;
                self.state = match self.state {
                    State::Established => State::FinWait1,
                    State::CloseWait => State::LastAck,
                    same => same,
                };
            }
        }
    }

    /// Closes both directions: as [`close`](Endpoint::close), and nobody will read what still comes.
    /// Data that wait to be read, or come later, would be lost in silence: the peer is told by a
    /// reset (RFC 9293 section 3.6.1, SHLD-3).
    pub fn close_both(&mut self) {
        if self.state == State::SynSent {
            return self.shut(); // RFC 9293 section 3.10.4: an answer that still comes is refused
        }
        self.close();
        self.stream.shut_read = true;
        if self.readable() > 0 && self.state != State::Closed {
            self.reset_peer();
            self.fail(Failure::Aborted);
        }
    }

    /// Has this algorithm decide in place of the profile's from the end of the handshake on.
    pub fn set_controller(&mut self, controller: Box<dyn CongestionControl>) {
        self.cc = Algorithm::Foreign(controller);
    }

    /// Drops the connection and tells the peer with a reset where it still expects anything
    /// (RFC 9293 section 3.10.5). Does nothing to a connection that is closed already.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => {}
            State::TimeWait => self.shut(),
            State::Listen | State::SynSent | State::Closing | State::LastAck => {
                self.fail(Failure::Aborted);
            }
            _ => {
                self.reset_peer();
                self.fail(Failure::Aborted);
            }
        }
    }

    /// Whether the handshake has completed at some time.
    pub fn was_established(&self) -> bool {
        self.established
    }

    /// Whether the peer has closed its side and everything before that has been read.
    pub fn at_end(&self) -> bool {
        self.recv.fin_received() && self.readable() == 0
    }

    /// Whether all offered data has been acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.send.una >= self.stream.end
    }

    /// The connection's state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The controller's last answer.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Visits the inner state of the controller as named integers.
    pub fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        self.cc.trace(sink);
    }

    /// Phase of loss recovery.
    pub fn phase(&self) -> Phase {
        self.send.phase
    }

    /// Bytes sent and neither acknowledged nor given up as lost: RFC 6675's `pipe`. Tahoe, Reno and
    /// NewReno leave in it what duplicate acknowledgements stand for.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.send.scoreboard.pipe()
    }

    /// Whether anything that it has sent, a SYN or FIN included, is still to be acknowledged.
    #[inline]
    pub fn has_outstanding(&self) -> bool {
        self.send.una < self.send.max && self.failure.is_none()
    }

    /// What is known of each segment in the network.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.send.scoreboard
    }

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    pub fn srtt(&self) -> Span {
        self.send.rto.srtt()
    }

    /// Least RTT seen, [`Span::NONE`] before the first sample.
    pub fn min_rtt(&self) -> Span {
        self.send.min_rtt
    }

    /// The retransmission timeout now, back-off included.
    pub fn rto(&self, p: &Profile) -> Span {
        self.send.rto.rto(&p.stack.rto)
    }

    /// Effective payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.agreed.mss
    }

    /// Data bytes received in order.
    pub fn received(&self) -> u64 {
        self.recv.data_received().saturating_sub(1)
    }

    /// Data bytes that this end has acknowledged to the peer.
    pub fn acknowledged_to_peer(&self) -> u64 {
        self.recv.last_ack_sent.saturating_sub(1).min(self.received())
    }

    /// Data bytes acknowledged by the peer.
    pub fn acknowledged(&self) -> u64 {
        self.send.una.saturating_sub(1).min(self.stream.end - 1)
    }

    /// Receive window that the last segment advertised, bytes.
    pub fn advertised_window(&self) -> u64 {
        self.recv.adv.saturating_sub(self.recv.nxt)
    }
}
