//! One end of a TCP connection.

mod ack;
mod input;
mod output;
mod receive;

use windlass_cc::{
    AnyController, Conn, Control, Phase, Rfc6298, RtoEstimator, Span, Time, flags, reno,
};

use crate::reassembly::Ranges;

use crate::seq::Seq;
use crate::stack::StackConfig;

/// What an endpoint is configured with; one value serves any number of endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Behaviour of the stack.
    pub stack: StackConfig,
    /// Identifier of the congestion-control algorithm.
    pub algorithm: &'static str,
    /// Its parameters; the initial window comes from the stack.
    pub params: reno::Params,
    /// Largest IP packet that the path carries, bytes.
    pub mtu: u32,
}

impl Profile {
    /// Largest payload of a segment without options, bytes.
    pub fn mss(&self) -> u32 {
        let path =
            self.mtu.saturating_sub(crate::segment::IPV4_HEADER + crate::segment::TCP_HEADER);
        self.stack.mss.unwrap_or(path).min(path).max(1)
    }
}

/// Connection states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// Why a connection failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The SYN went unanswered too often.
    ConnectTimeout,
    /// The same data was retransmitted too often.
    DataTimeout,
    /// The peer sent a reset.
    Reset,
    /// The application gave up.
    Aborted,
}

impl Failure {
    /// A sentence for people.
    pub fn describe(self) -> &'static str {
        match self {
            Failure::ConnectTimeout => "the connection attempt timed out",
            Failure::DataTimeout => "data went unacknowledged through all retransmissions",
            Failure::Reset => "the peer reset the connection",
            Failure::Aborted => "the application aborted the connection",
        }
    }
}

/// Counters of an endpoint since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments of any kind sent.
    pub segments_sent: u64,
    /// Segments with payload sent, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes sent, retransmissions included.
    pub data_bytes: u64,
    /// Data segments sent again.
    pub retransmits: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub rto_count: u64,
    /// Duplicate acknowledgements received.
    pub dup_acks: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
}

/// One end of a TCP connection, without input or output.
///
/// Stream offsets count from the SYN: the SYN is byte 0, the first byte of data is byte 1, the
/// FIN follows the data.
#[derive(Clone, Debug)]
pub struct Endpoint {
    // What every acknowledgement and transmission touches comes first.
    state: State,
    phase: Phase,
    ack_now: bool,
    retransmit_first: bool,
    probe_now: bool,
    fin_queued: bool,
    established: bool,
    /// Effective payload per segment, options taken off.
    mss: u32,
    snd_una: u64,
    snd_nxt: u64,
    /// One past the highest byte ever sent.
    snd_max: u64,
    /// Peer's window in bytes, after scaling.
    snd_wnd: u64,
    /// One past the last byte that the application has offered.
    snd_end: u64,
    cc: AnyController,
    control: Control,
    rto_deadline: Time,
    delack_deadline: Time,
    persist_deadline: Time,
    rcv_nxt: u64,
    /// One past the last byte that the application has read.
    rcv_read: u64,
    /// Right edge of the window advertised last.
    rcv_adv: u64,
    iss: Seq,
    irs: Seq,
    /// Segments received since the last acknowledgement was sent.
    unacked_segments: u32,
    dup_acks: u32,
    /// Recovery ends when everything below this is acknowledged.
    recover: u64,
    /// One past the last byte of the segment being timed.
    timed_end: u64,
    timed_at: Time,
    rto: Rfc6298,
    min_rtt: Span,
    last_sent: Time,
    max_snd_wnd: u64,
    /// Offsets of the segment that last updated the window (RFC 9293's SND.WL1 and WL2).
    snd_wl1: u64,
    snd_wl2: u64,
    ranges: Ranges,
    fin_at: Option<u64>,
    retries: u32,
    persist_shift: u32,
    partial_acks: u32,
    snd_scale: u8,
    rcv_scale: u8,
    timestamps: bool,
    sack: bool,
    syn_retransmitted: bool,
    reset_pending: bool,
    ts_recent: u32,
    last_ack_sent: u64,
    time_wait_deadline: Time,
    failure: Option<Failure>,
    stats: Stats,
}

impl Endpoint {
    /// A closed endpoint whose own sequence numbers will start at `iss`.
    pub fn new(p: &Profile, iss: Seq) -> Endpoint {
        let conn = Conn::new(p.mss());
        let cc = AnyController::by_name(p.algorithm, &p.params, &conn)
            .unwrap_or_else(|| panic!("no algorithm is called {}", p.algorithm));
        Endpoint {
            state: State::Closed,
            phase: Phase::Open,
            ack_now: false,
            retransmit_first: false,
            probe_now: false,
            fin_queued: false,
            established: false,
            mss: p.mss(),
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            snd_wnd: 0,
            snd_end: 1,
            control: cc.control(&p.params, &conn),
            cc,
            rto_deadline: Time::NEVER,
            delack_deadline: Time::NEVER,
            persist_deadline: Time::NEVER,
            rcv_nxt: 0,
            rcv_read: 1,
            rcv_adv: 0,
            iss,
            irs: Seq(0),
            unacked_segments: 0,
            dup_acks: 0,
            recover: 0,
            timed_end: 0,
            timed_at: Time::NEVER,
            rto: Rfc6298::init(&p.stack.rto),
            min_rtt: Span::NONE,
            last_sent: Time::ZERO,
            max_snd_wnd: 0,
            snd_wl1: 0,
            snd_wl2: 0,
            ranges: Ranges::default(),
            fin_at: None,
            retries: 0,
            persist_shift: 0,
            partial_acks: 0,
            snd_scale: 0,
            rcv_scale: 0,
            timestamps: false,
            sack: false,
            syn_retransmitted: false,
            reset_pending: false,
            ts_recent: 0,
            last_ack_sent: 0,
            time_wait_deadline: Time::NEVER,
            failure: None,
            stats: Stats::default(),
        }
    }

    // ---- the application's side -------------------------------------------------------------

    /// Active open: the next [`poll_transmit`](Endpoint::poll_transmit) yields a SYN.
    pub fn connect(&mut self) {
        if self.state == State::Closed && self.snd_max == 0 && self.failure.is_none() {
            self.state = State::SynSent;
        }
    }

    /// Passive open.
    pub fn listen(&mut self) {
        if self.state == State::Closed && self.snd_max == 0 && self.failure.is_none() {
            self.state = State::Listen;
        }
    }

    /// Offers `bytes` more to send. The endpoint takes them into its send buffer as room appears.
    pub fn offer(&mut self, bytes: u64) {
        if !self.fin_queued {
            self.snd_end = self.snd_end.saturating_add(bytes).min(1 << 60);
        }
    }

    /// Bytes that have arrived in order and not been read.
    pub fn readable(&self) -> u64 {
        self.data_received().saturating_sub(self.rcv_read)
    }

    /// Reads up to `max` bytes; a window update may follow.
    pub fn read(&mut self, p: &Profile, max: u64) -> u64 {
        let n = self.readable().min(max);
        self.rcv_read += n;
        if n > 0 {
            self.after_read(p);
        }
        n
    }

    /// No more data will be offered: a FIN follows what has been.
    pub fn close(&mut self) {
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            _ => self.fin_queued = true,
        }
    }

    /// Drops the connection and tells the peer with a reset.
    pub fn abort(&mut self) {
        self.reset_pending = self.established || self.state == State::SynReceived;
        self.fail(Failure::Aborted);
    }

    /// Whether the handshake has completed at some time.
    pub fn was_established(&self) -> bool {
        self.established
    }

    /// Whether the peer has closed its side and everything before that has been read.
    pub fn at_end(&self) -> bool {
        self.fin_at.is_some_and(|end| self.rcv_nxt > end) && self.readable() == 0
    }

    /// Whether all offered data has been acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.snd_una >= self.snd_end
    }

    // ---- what can be seen ---------------------------------------------------------------------

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

    /// The controller.
    pub fn controller(&self) -> &AnyController {
        &self.cc
    }

    /// Phase of loss recovery.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Bytes sent and neither acknowledged nor given up as lost.
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt.saturating_sub(self.snd_una)
    }

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    pub fn srtt(&self) -> Span {
        self.rto.srtt()
    }

    /// Least RTT seen, [`Span::NONE`] before the first sample.
    pub fn min_rtt(&self) -> Span {
        self.min_rtt
    }

    /// The retransmission timeout now, back-off included.
    pub fn rto(&self, p: &Profile) -> Span {
        self.rto.rto(&p.stack.rto)
    }

    /// Effective payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Data bytes received in order.
    pub fn received(&self) -> u64 {
        self.data_received().saturating_sub(1)
    }

    /// Data bytes acknowledged by the peer.
    pub fn acknowledged(&self) -> u64 {
        self.snd_una.saturating_sub(1).min(self.snd_end - 1)
    }

    /// Receive window that the last segment advertised, bytes.
    pub fn advertised_window(&self) -> u64 {
        self.rcv_adv.saturating_sub(self.rcv_nxt)
    }

    /// Peer's receive window, bytes.
    pub fn peer_window(&self) -> u64 {
        self.snd_wnd
    }

    // ---- time -----------------------------------------------------------------------------------

    /// When [`on_deadline`](Endpoint::on_deadline) must be called, [`Time::NEVER`] for not at all.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_deadline
            .min(self.delack_deadline)
            .min(self.persist_deadline)
            .min(self.time_wait_deadline)
    }

    /// A deadline has come: timers that are due act. Calling it early does nothing.
    pub fn on_deadline(&mut self, p: &Profile, now: Time) {
        if now >= self.delack_deadline {
            self.delack_deadline = Time::NEVER;
            self.ack_now = true;
        }
        if now >= self.rto_deadline {
            self.on_retransmission_timeout(p, now);
        }
        if now >= self.persist_deadline {
            self.persist_deadline = Time::NEVER;
            self.probe_now = true;
        }
        if now >= self.time_wait_deadline {
            self.time_wait_deadline = Time::NEVER;
            self.state = State::Closed;
        }
    }

    /// `now + after`, moved up to the stack's timer period where it has one.
    fn expiry(p: &Profile, now: Time, after: Span) -> Time {
        let at = (now + after).0;
        match p.stack.timer_tick.0 {
            0 => Time(at),
            tick => Time(at.div_ceil(tick).saturating_mul(tick)),
        }
    }

    fn arm_rto(&mut self, p: &Profile, now: Time) {
        self.rto_deadline = Endpoint::expiry(p, now, self.rto.rto(&p.stack.rto));
    }

    fn fail(&mut self, why: Failure) {
        self.failure.get_or_insert(why);
        self.state = State::Closed;
        self.ack_now = false;
        self.retransmit_first = false;
        self.probe_now = false;
        self.rto_deadline = Time::NEVER;
        self.delack_deadline = Time::NEVER;
        self.persist_deadline = Time::NEVER;
        self.time_wait_deadline = Time::NEVER;
    }

    // ---- the controller ---------------------------------------------------------------------------

    /// What the controller may know, as of now.
    fn conn(&self, now: Time, limits: u32) -> Conn {
        Conn {
            now,
            in_flight: self.in_flight(),
            delivered: self.snd_una,
            next_id: self.snd_nxt,
            srtt: self.rto.srtt(),
            min_rtt: self.min_rtt,
            mss: self.mss,
            flags: limits,
            phase: self.phase,
        }
    }

    /// Moves to another phase of recovery, the controller being told.
    fn set_phase(&mut self, p: &Profile, now: Time, to: Phase) {
        let from = self.phase;
        self.phase = to;
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_phase(&p.params, &conn, from, to);
        self.control = self.cc.control(&p.params, &conn);
    }

    /// The handshake is done: the segment size is known and the controller starts.
    fn establish(&mut self, p: &Profile, now: Time) {
        self.established = true;
        let mut params = p.params;
        params.initial_window = p.stack.initial_window.bytes(self.mss);
        if self.syn_retransmitted {
            // RFC 5681 section 3.1 and RFC 6298 rule 5.7.
            params.initial_window = u64::from(self.mss);
            if p.stack.rto.initial < Span::from_secs(3) && !self.rto.srtt().is_known() {
                let three = windlass_cc::RtoParams { initial: Span::from_secs(3), ..p.stack.rto };
                self.rto = Rfc6298::init(&three);
            }
        }
        let conn = self.conn(now, flags::CWND_LIMITED);
        if let Some(cc) = AnyController::by_name(p.algorithm, &params, &conn) {
            self.cc = cc;
        }
        self.control = self.cc.control(&p.params, &conn);
        self.rto_deadline = Time::NEVER;
        self.retries = 0;
    }
}
