//! The application's interface of an endpoint, and its visible state.

use windlass_cc::{Control, Phase, Span, Time, TraceField};

use crate::scoreboard::Scoreboard;

use super::algorithm::{Algorithm, CongestionControl};
use super::autotune::most_received;
use super::sender::most_sent;
use super::{Endpoint, Failure, Profile, State, Stats};

impl Endpoint {
    /// Payload that the buffers of two ends with this profile allow in flight, bytes.
    pub fn buffered_by(p: &Profile) -> u64 {
        let options = if p.stack.timestamps { 12 } else { 0 };
        let mss = p.mss().saturating_sub(options).max(1);
        most_received(&p.stack, mss).min(most_sent(p, mss))
    }

    /// Active open: the next [`poll_transmit`](Endpoint::poll_transmit) returns a SYN.
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

    /// Offers `bytes` more bytes to send. The endpoint moves them into its send buffer when there is space.
    /// After [`close`](Endpoint::close) the call has no effect.
    pub fn offer(&mut self, bytes: u64) {
        self.at_rest = false;
        if !self.stream.fin_queued {
            self.stream.resumed |= self.send.una == self.send.max;
            self.stream.end = self.stream.end.saturating_add(bytes).min(1 << 60);
        }
    }

    /// Bytes that have arrived in order and have not been read.
    pub fn readable(&self) -> u64 {
        self.recv.data_received().saturating_sub(self.recv.read)
    }

    /// Reads up to `max` bytes. A window update may follow.
    pub fn read(&mut self, p: &Profile, now: Time, max: u64) -> u64 {
        let n = self.readable().min(max);
        if n > 0 {
            self.recv.advertised = false;
            self.follow_reads(p, now, n);
            self.after_read(p);
        }
        n
    }

    /// Closes the sending direction. A FIN follows the offered data after the handshake. The peer may
    /// continue to send.
    pub fn close(&mut self) {
        self.at_rest = false;
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            // Section 3.10.4: the state changes at once, although the FIN waits behind data.
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

    /// Closes both directions. Like [`close`](Endpoint::close), but the application reads no more data. If
    /// data wait to be read, or arrive later, the peer receives a reset, because these data are lost (RFC
    /// 9293 section 3.6.1, SHLD-3).
    // RFC 9293-3.6.1-SHLD-3
    pub fn close_both(&mut self) {
        if self.state == State::SynSent {
            return self.shut(); // RFC 9293 section 3.10.4: a later response is refused
        }
        self.close();
        self.stream.shut_read = true;
        if self.readable() > 0 && self.state != State::Closed {
            self.reset_peer();
            self.fail(Failure::Aborted);
        }
    }

    /// Replaces the profile's algorithm by this algorithm, from the end of the handshake on.
    pub fn set_controller(&mut self, controller: Box<dyn CongestionControl>) {
        self.at_rest = false;
        self.cc = Algorithm::Foreign(controller);
    }

    /// Drops the connection and sends a reset if the peer still expects segments (RFC 9293 section 3.10.5).
    /// Has no effect on a closed connection.
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

    /// True if the handshake has completed at any time.
    pub fn was_established(&self) -> bool {
        self.established
    }

    /// True if the peer has closed its side and all its data have been read.
    // RFC 9293-3.6-MUST-12
    pub fn at_end(&self) -> bool {
        self.recv.fin_received() && self.readable() == 0
    }

    /// True if all offered data have been acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.send.una >= self.stream.end
    }

    /// The connection's state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Cause of the failure, if the connection failed.
    // RFC 9293-3.6-MUST-12
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Cause of the failure as a phrase that names the segment; `None` without a failure.
    pub fn failure_text(&self) -> Option<&'static str> {
        self.failure.map(|failure| match failure {
            Failure::ConnectTimeout if self.passive => "the SYN-ACK had no answer",
            Failure::ConnectTimeout => "the SYN had no answer",
            other => other.describe(),
        })
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The controller's last control values.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Visits the controller's internal state as named integers.
    pub fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        self.cc.trace(sink);
    }

    /// Phase of loss recovery.
    pub fn phase(&self) -> Phase {
        self.send.phase
    }

    /// Bytes sent and neither acknowledged nor deemed lost: RFC 6675's `pipe`. Tahoe, Reno and NewReno do not
    /// subtract the segments that duplicate acknowledgements represent.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.send.scoreboard.pipe()
    }

    /// True if sent data, a SYN or a FIN are not acknowledged yet.
    #[inline]
    pub fn has_outstanding(&self) -> bool {
        self.send.una < self.send.max && self.failure.is_none()
    }

    /// State of each segment in the network.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.send.scoreboard
    }

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    pub fn srtt(&self) -> Span {
        self.send.rto.srtt()
    }

    /// Number of RTT samples of data without a retransmission, and the last of them; [`Span::NONE`] before the first.
    pub fn rtt_samples(&self) -> (u32, Span) {
        (self.send.rtt_samples, self.send.last_rtt)
    }

    /// Minimum RTT; [`Span::NONE`] before the first sample.
    pub fn min_rtt(&self) -> Span {
        self.send.min_rtt
    }

    /// The current retransmission timeout, backoff included.
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
