//! The three-way handshake, simultaneous open included (RFC 9293 section 3.5), and resets.

use windlass_cc::{Flavour, Setup, Time, flags};

use super::status::Reset;
use super::{Endpoint, Failure, Profile, State};
use crate::decision::Cause;
use crate::segment::{DEFAULT_MSS, Flags, MAX_SACK_BLOCKS, Options, Segment};
use crate::seq::Seq;

/// Parameters that the two ends negotiated in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Negotiated {
    /// Effective payload per segment, bytes, without options.
    pub(super) mss: u32,
    /// True if timestamps are in use (RFC 7323).
    pub(super) timestamps: bool,
    /// True if SACK is in use (RFC 2018).
    pub(super) sack: bool,
    /// True if both sides offered window scaling.
    pub(super) scaling: bool,
    /// Shift of the windows that the peer announces.
    pub(super) snd_scale: u8,
    /// Shift of the windows that this end announces.
    pub(super) rcv_scale: u8,
}

impl Negotiated {
    /// Parameters before the handshake, with segments of up to `mss` bytes.
    pub(super) fn none(mss: u32) -> Negotiated {
        Negotiated {
            mss,
            timestamps: false,
            sack: false,
            scaling: false,
            snd_scale: 0,
            rcv_scale: 0,
        }
    }
}

impl Endpoint {
    // RFC 9293-3.10.7.1-1
    pub(super) fn on_segment_closed(&mut self, s: &Segment) {
        if !s.flags.has(Flags::RST) {
            self.refuse(s);
        }
    }

    pub(super) fn on_segment_listen(&mut self, p: &Profile, now: Time, s: &Segment) {
        if s.flags.has(Flags::RST) {
            return;
        }
        if s.flags.has(Flags::ACK) {
            self.refuse(s);
        } else if s.flags.has(Flags::SYN) {
            self.take_syn(p, now, s);
            self.state = State::SynReceived;
        }
    }

    #[cold]
    pub(super) fn on_segment_syn_sent(&mut self, p: &Profile, now: Time, s: &Segment) {
        let acks_syn =
            s.flags.has(Flags::ACK) && s.ack == self.send.iss.add(1) && self.send.max == 1;
        if s.flags.has(Flags::RST) {
            // RFC 9293-3.10.7.3-1
            if acks_syn {
                self.fail(Failure::Reset);
            }
            return;
        }
        if s.flags.has(Flags::ACK) && !acks_syn {
            // A response to an old SYN: the reset returns the peer to LISTEN (RFC 9293 figure 8).
            self.refuse(s);
            return;
        }
        if !s.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(p, now, s);
        if acks_syn {
            self.complete_handshake(p, now, s);
            if p.stack.rules == Flavour::Linux && !self.layer.on {
                // Data do not wait for the response: an application writes as soon as the connection is
                // established.
                self.recv.flushed = Some(self.acknowledgement(p, now));
                return;
            }
        } else {
            // RFC 9293-3.5-MUST-10
            // Simultaneous open: this end's SYN is retransmitted, now with an acknowledgement.
            self.state = State::SynReceived;
            self.send.nxt = 0;
        }
        self.recv.ack_now = true;
    }

    /// Processes a segment in SYN-RECEIVED that repeats the peer's SYN. Returns true if it did.
    #[cold]
    pub(super) fn on_repeated_syn(&mut self, p: &Profile, now: Time, s: &Segment) -> bool {
        if !s.flags.has(Flags::SYN) || s.flags.has(Flags::RST) || s.seq != self.recv.irs {
            return false;
        }
        if s.flags.has(Flags::ACK) && s.ack == self.send.iss.add(1) && self.send.max == 1 {
            // The second half of a simultaneous open.
            self.complete_handshake(p, now, s);
        } else {
            // The peer repeats its SYN, because this end's SYN-ACK was lost.
            self.on_repeated_syn_field(s);
            self.syn_retransmitted |= self.send.nxt > 0;
        }
        self.recv.ack_now = true;
        true
    }

    /// Processes the acknowledgement of a segment in SYN-RECEIVED. Returns true if it was valid.
    #[cold]
    pub(super) fn on_handshake_ack(&mut self, p: &Profile, now: Time, s: &Segment) -> bool {
        if s.ack != self.send.iss.add(1) || self.send.max == 0 {
            self.refuse(s);
            return false;
        }
        self.on_third_ack(p, s);
        self.complete_handshake(p, now, s);
        true
    }

    /// Processes a reset in SYN-RECEIVED: returns to LISTEN if the endpoint came from there (RFC 9293 section
    /// 3.10.7.4).
    // RFC 9293-3.5-MUST-11
    #[cold]
    pub(super) fn on_handshake_reset(&mut self, p: &Profile) {
        if !self.passive {
            self.fail(Failure::Reset);
            return;
        }
        *self = Endpoint {
            state: State::Listen,
            passive: true,
            stream: self.stream,
            layer: self.layer,
            stats: self.stats,
            journal: self.journal.take(),
            ..Endpoint::new(p, self.send.iss)
        };
    }

    /// Reads the peer's sequence number and options from its SYN.
    // RFC 7323-2.2-3
    #[cold]
    fn take_syn(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.recv.irs = s.seq;
        self.recv.nxt = 1;
        self.recv.last_ack_sent = 1;
        let o = &s.options;
        // RFC 7323-3.2-6
        self.agreed.timestamps = p.stack.timestamps && o.timestamps.is_some();
        self.agreed.sack = p.stack.sack && o.sack_permitted;
        self.agree_on_ecn(p, s);
        if let Some(t) = o.timestamps {
            self.recv.ts_recent = t.value;
            self.recv.ts_recent_at = now;
        }
        if let (true, Some(shift)) = (p.stack.window_scaling, o.window_scale) {
            // RFC 7323-2.2-2
            self.agreed.scaling = true;
            // RFC 7323-2.3-3, 7323-2.3-6
            self.agreed.snd_scale = shift.min(14);
            self.agreed.rcv_scale = Endpoint::scale_for(p.stack.receive_buffer);
        }
        // RFC 9293-3.7.1-MUST-14, 9293-3.7.1-MUST-15
        let peer = o.mss.map_or(DEFAULT_MSS, u32::from);
        let options = if self.agreed.timestamps { 12 } else { 0 } + self.layer.option_room();
        // RFC 9293-3.7.1-MUST-16
        self.agreed.mss = p.mss().min(peer).saturating_sub(options).max(1);
        self.recv.adv = self.first_edge(p);
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        // RFC 7323-2.2-4
        self.send.wnd = self.limiting_window(u64::from(s.window));
        self.send.max_wnd = self.send.wnd;
        self.send.wl1 = 0;
    }

    /// Smallest shift with which 16 bits can describe the buffer.
    // RFC 7323-2.3-2
    fn scale_for(buffer: u64) -> u8 {
        (0u8..14).find(|shift| buffer >> shift <= 0xffff).unwrap_or(14)
    }

    /// This end's SYN is acknowledged: the segment size is final and the controller starts.
    #[cold]
    fn complete_handshake(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.sample_handshake(p, now, s);
        self.send.rto.on_progress(&p.stack.rto);
        self.send.una = 1;
        self.send.nxt = 1;
        self.state = match self.stream.fin_queued {
            true => State::FinWait1,
            false => State::Established,
        };
        self.established = true;
        self.recv.autotune.begin(now);
        self.timers.rto = Time::NEVER;
        let again = self.send.retries.max(u32::from(self.syn_retransmitted));
        self.send.retries = 0;
        self.choose_recovery(p, now);
        self.open_buffer(p);
        let mut params = p.params_for(self.agreed.mss);
        params.set_common(&Setup { recovery: Some(self.send.recovery), ..params.common() });
        if self.syn_retransmitted {
            self.send.rto.after_lost_syn(&p.stack.rto);
        }
        if again > p.stack.spared_syns {
            // RFC 5681-3.1-4
            let one_segment = u64::from(self.agreed.mss); // RFC 5681 section 3.1
            params.set_common(&Setup { initial_window: one_segment, ..params.common() });
        }
        let initial = params.common().initial_window;
        if self.quick.is_some() {
            let mut common = params.common();
            self.take_approval(&mut common);
            params.set_common(&common);
        }
        if p.resumes() {
            let mut common = params.common();
            self.take_saved(now, &mut common);
            params.set_common(&common);
        }
        let conn = self.conn(now, flags::CWND_LIMITED);
        // RFC 5681-3.1-3
        self.cc.begin(&params, &conn);
        self.control = self.cc.control(&p.params, &conn);
        self.use_approval(initial);
        self.note(p, now, Cause::Handshake, self.send.phase, 0);
    }

    /// The next segment before a connection is established: a reset, a SYN or a SYN-ACK.
    #[cold]
    pub(super) fn poll_unsynchronised(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(self.send_reset(p, now, reset));
        }
        match self.state {
            State::SynSent | State::SynReceived => self.poll_handshake(p, now),
            _ => None,
        }
    }

    fn poll_handshake(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        let answer = self.state == State::SynReceived;
        let again = answer && std::mem::take(&mut self.recv.ack_now);
        if self.send.nxt > 0 && !again {
            return None;
        }
        let mut s = Segment {
            seq: self.send.iss,
            flags: self.ecn_offer(p, answer).with(if answer {
                Flags::SYN.with(Flags::ACK)
            } else {
                Flags::SYN
            }),
            // Never scaled (RFC 7323 section 2.2).
            window: self.first_window(p) as u16,
            ..Segment::default()
        };
        if answer {
            s.ack = self.recv.irs.add(self.recv.nxt);
        }
        // A SYN-ACK has only options that the peer offered too.
        // RFC 9293-3.2-MUST-65, 9293-3.7.1-MUST-14, 9293-3.7.1-SHLD-5
        s.options.mss = Some(p.mss().min(65_535) as u16);
        if if answer { self.agreed.scaling } else { p.stack.window_scaling } {
            // RFC 7323-2.2-1, 7323-2.3-1
            s.options.window_scale = Some(Endpoint::scale_for(p.stack.receive_buffer));
        }
        s.options.sack_permitted = if answer { self.agreed.sack } else { p.stack.sack };
        if if answer { self.agreed.timestamps } else { p.stack.timestamps } {
            // RFC 7323-3.2-1
            s.options.timestamps = Some(self.stamp(now));
        }
        if answer {
            self.offer_ecn_option(p, &mut s.options);
        }
        if self.send.max == 0 {
            self.send.timed.watch(now, 1);
        }
        self.send.nxt = 1;
        self.send.max = 1;
        self.stats.segments_sent += 1;
        if self.timers.rto.is_never() {
            self.arm_rto(p, now);
        }
        Some(s)
    }

    /// Prepares a reset for a segment that belongs to no connection (RFC 9293 section 3.5.2).
    pub(super) fn refuse(&mut self, s: &Segment) {
        let (seq, ack) = match s.flags.has(Flags::ACK) {
            true => (s.ack, None),
            false => (Seq(0), Some(s.seq.add(u64::from(s.seq_len())))),
        };
        self.reset = Some(Reset { seq, ack, stamped: false });
    }

    /// Prepares a reset that ends this connection at the peer.
    // RFC 7323-5.2-3
    pub(super) fn reset_peer(&mut self) {
        let seq = self.send.iss.add(self.empty_segment_start());
        let ack = Some(self.recv.irs.add(self.recv.nxt));
        self.reset = Some(Reset { seq, ack, stamped: self.agreed.timestamps });
    }

    fn send_reset(&mut self, p: &Profile, now: Time, reset: Reset) -> Segment {
        self.stats.segments_sent += 1;
        // RFC 7323-3.2-5
        let timestamps = reset.stamped.then(|| self.stamp(now));
        let mut options = Options { timestamps, ..Options::default() };
        let mut flags = if reset.ack.is_some() { Flags::RST.with(Flags::ACK) } else { Flags::RST };
        if reset.ack.is_some() && p.stack.rules == Flavour::Linux {
            // As in any other segment of a connection (`tcp_send_active_reset`).
            flags = flags.with(self.ecn_echo());
            if self.agreed.sack {
                self.report_ranges(&mut options, MAX_SACK_BLOCKS);
            }
        }
        Segment {
            options,
            seq: reset.seq,
            ack: reset.ack.unwrap_or_default(),
            flags,
            ..Segment::default()
        }
    }
}
