//! One end of a TCP connection.

mod api;
mod autotune;
mod below;
mod ecn;
mod handshake;
mod input;
mod layer;
mod quick_start;
mod receive;
mod sender;
mod timer;

use windlass_cc::pacer::Pacer;
use windlass_cc::rate::RateSampler;
use windlass_cc::recovery::Style;
use windlass_cc::{
    AnyController, AnyParams, AnyRto, Conn, Control, Phase, Setup, Span, Time, flags,
};

use crate::reassembly::Ranges;
use crate::scoreboard::Scoreboard;
use crate::seq::Seq;
use crate::stack::{LossCut, StackConfig};

use sender::{Rack, SpuriousDetector, Timed, Usage, mix};

/// What an endpoint is configured with; one value serves any number of endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Behaviour of the stack.
    pub stack: StackConfig,
    /// The congestion-control algorithm with its parameters. Initial window and recovery come from
    /// the stack when a connection begins; [`new`](Profile::new) takes the rest from it.
    pub params: AnyParams,
    /// Largest IP packet that the path carries, bytes.
    pub mtu: u32,
}

impl Profile {
    /// A profile whose parameters carry what every event asks of the stack: how many segments an
    /// acknowledgement counts for.
    pub fn new(stack: StackConfig, mut params: AnyParams, mtu: u32) -> Profile {
        params.set_common(&Setup {
            ack_limit: stack.ack_limit,
            counting: stack.window_counting,
            credit: stack.growth_credit,
            ..params.common()
        });
        let mut profile = Profile { stack, params, mtu };
        profile.pace_quick_start();
        profile
    }

    /// The algorithm's parameters with what the stack decides.
    fn params_for(&self, mss: u32) -> AnyParams {
        let mut params = self.params;
        params.set_common(&Setup {
            initial_window: self.stack.initial_window.bytes(mss),
            recovery: self.stack.recovery,
            ack_limit: self.stack.ack_limit,
            counting: self.stack.window_counting,
            credit: self.stack.growth_credit,
            ..params.common()
        });
        params
    }

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
    /// Reductions of the window that were taken back.
    pub undone: u64,
    /// Reductions of the window in answer to an ECN echo.
    pub ecn_reductions: u64,
}

impl Stats {
    /// The sum of both.
    pub fn plus(&self, o: &Stats) -> Stats {
        Stats {
            segments_sent: self.segments_sent + o.segments_sent,
            data_segments: self.data_segments + o.data_segments,
            data_bytes: self.data_bytes + o.data_bytes,
            retransmits: self.retransmits + o.retransmits,
            fast_retransmits: self.fast_retransmits + o.fast_retransmits,
            rto_count: self.rto_count + o.rto_count,
            dup_acks: self.dup_acks + o.dup_acks,
            window_probes: self.window_probes + o.window_probes,
            undone: self.undone + o.undone,
            ecn_reductions: self.ecn_reductions + o.ecn_reductions,
        }
    }
}

/// A reset that waits to be sent: its sequence number and what it acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reset {
    seq: Seq,
    ack: Option<Seq>,
}

/// One end of a TCP connection, without input or output.
///
/// Stream offsets count from the SYN: the SYN is byte 0, the first byte of data is byte 1, the
/// FIN follows the data.
#[derive(Clone, Debug)]
pub struct Endpoint {
    state: State,
    phase: Phase,
    ack_now: bool,
    retransmit_first: bool,
    probe_now: bool,
    fin_queued: bool,
    established: bool,
    /// The application has closed the receiving direction too (`SHUT_RD`).
    shut_read: bool,
    /// Loss recovery as negotiated.
    style: Style,
    /// Recovery goes by what the peer reports with SACK.
    selective: bool,
    /// The controller wants samples of the delivery rate.
    samples: bool,
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
    /// When the pacer lets go what waits to be sent, [`Time::NEVER`] while nothing waits for it.
    pace_deadline: Time,
    pacer: Pacer,
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
    timed: Timed,
    rto: AnyRto,
    /// State of the endpoint's random numbers.
    random: u64,
    min_rtt: Span,
    /// The least RTT as the controller is to see it.
    shown_rtt: Span,
    /// The last round trip that data made, without a retransmission.
    last_rtt: Span,
    last_sent: Time,
    max_snd_wnd: u64,
    /// Offset of the segment that last updated the window (RFC 9293's SND.WL1). SND.WL2 would be
    /// `snd_una` or less, and no older acknowledgement gets as far as being compared.
    snd_wl1: u64,
    ranges: Ranges,
    autotune: autotune::Autotune,
    layer: layer::Layer,
    scoreboard: Scoreboard,
    sampler: RateSampler,
    usage: Usage,
    rack: Rack,
    spurious: SpuriousDetector,
    ecn: ecn::EcnState,
    /// The rescue retransmission of this recovery is spent.
    rescued: bool,
    /// Data that arrived once more, to be reported (RFC 2883).
    dsack: Option<(u64, u64)>,
    fin_at: Option<u64>,
    retries: u32,
    persist_shift: u32,
    partial_acks: u32,
    snd_scale: u8,
    rcv_scale: u8,
    timestamps: bool,
    sack: bool,
    syn_retransmitted: bool,
    /// Opened by [`listen`](Endpoint::listen): a refused handshake leads back there.
    passive: bool,
    /// Both sides offered window scaling.
    scaling: bool,
    ts_recent: u32,
    /// When `ts_recent` was taken; it is worth nothing after 24 days (RFC 7323 section 5.5).
    ts_recent_at: Time,
    /// `snd_nxt` when the first duplicate acknowledgement came: what limited transmit sent after
    /// it does not count as flight (RFC 5681 section 3.2 step 2).
    first_dup_nxt: u64,
    reset: Option<Reset>,
    /// What is left to do of Quick-Start; nothing soon after the handshake.
    quick: Option<Box<quick_start::Quick>>,
    last_ack_sent: u64,
    time_wait_deadline: Time,
    failure: Option<Failure>,
    stats: Stats,
}

impl Endpoint {
    /// A closed endpoint whose own sequence numbers will start at `iss`.
    pub fn new(p: &Profile, iss: Seq) -> Endpoint {
        let conn = Conn::new(p.mss());
        let params = p.params_for(p.mss());
        let cc = AnyController::init(&params, &conn);
        Endpoint {
            state: State::Closed,
            phase: Phase::Open,
            ack_now: false,
            retransmit_first: false,
            probe_now: false,
            fin_queued: false,
            established: false,
            shut_read: false,
            style: Style::Reno,
            selective: false,
            samples: false,
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
            pace_deadline: Time::NEVER,
            pacer: Pacer::new(&p.pacer_params()),
            rcv_nxt: 0,
            rcv_read: 1,
            rcv_adv: 0,
            iss,
            irs: Seq(0),
            unacked_segments: 0,
            dup_acks: 0,
            recover: 0,
            timed: Timed::NONE,
            rto: AnyRto::init(&p.stack.rto),
            random: u64::from(iss.0),
            min_rtt: Span::NONE,
            shown_rtt: Span::NONE,
            last_rtt: Span::NONE,
            last_sent: Time::ZERO,
            max_snd_wnd: 0,
            snd_wl1: 0,
            ranges: Ranges::default(),
            autotune: autotune::Autotune::default(),
            layer: layer::Layer::default(),
            scoreboard: Scoreboard::default(),
            sampler: RateSampler::new(Time::ZERO),
            usage: Usage::default(),
            rack: Rack::default(),
            spurious: SpuriousDetector::default(),
            ecn: ecn::EcnState::default(),
            rescued: false,
            dsack: None,
            fin_at: None,
            retries: 0,
            persist_shift: 0,
            partial_acks: 0,
            snd_scale: 0,
            rcv_scale: 0,
            timestamps: false,
            sack: false,
            syn_retransmitted: false,
            passive: false,
            scaling: false,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            first_dup_nxt: 0,
            reset: None,
            quick: None,
            last_ack_sent: 0,
            time_wait_deadline: Time::NEVER,
            failure: None,
            stats: Stats::default(),
        }
    }

    /// What the controller may know of an event now, with a fresh random number.
    fn conn(&mut self, now: Time, limits: u32) -> Conn {
        let entropy = self.entropy();
        Conn { entropy, ..self.glance(now, limits) }
    }

    /// The same for what is told beside the events of the connection, as often as somebody looks. Its
    /// random number is one of the moment and takes none from the connection's sequence: whether
    /// anybody looks makes no difference to what follows.
    fn glance(&self, now: Time, limits: u32) -> Conn {
        Conn {
            now,
            in_flight: self.in_flight(),
            flight_size: self.flight_size(),
            una: self.snd_una,
            next_id: self.snd_max,
            delivered: self.sampler.delivered(),
            lost: self.sampler.lost(),
            sent: self.stats.data_bytes,
            srtt: self.rto.srtt(),
            min_rtt: self.shown_rtt,
            mss: self.mss,
            flags: limits,
            entropy: mix(self.random ^ now.0),
            phase: self.phase,
        }
    }

    /// Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize); of a sender that has gone
    /// back, those that it has sent since.
    fn flight_size(&self) -> u64 {
        match self.inflates() {
            true => self.in_flight(),
            false => self.snd_nxt.saturating_sub(self.snd_una),
        }
    }

    /// Moves to another phase of recovery with so many bytes in flight, the controller being told.
    fn set_phase(&mut self, p: &Profile, now: Time, to: Phase, in_flight: u64) {
        let from = self.phase;
        self.phase = to;
        if to != Phase::Open {
            self.note_reduction();
        }
        if to == Phase::Cwr {
            self.stats.ecn_reductions += 1;
        }
        // With SACK the sender goes on beyond a hole, so that what lies above it may be many windows
        // of data that has long arrived or been lost. A cut is of the window that sent it; RFC 5681
        // equation 4 says "no more than" half the FlightSize. The acknowledgement that brings a mark
        // has just opened the window, which was smaller when the mark was met: there the flight counts.
        let lost = matches!(to, Phase::Recovery | Phase::Loss);
        let fresh = matches!(from, Phase::Open | Phase::Loss) && lost;
        let flight_size = if fresh && p.stack.loss_cut == LossCut::Window {
            self.control.cwnd - self.control.cwnd % u64::from(self.mss)
        } else if self.inflates() {
            in_flight
        } else {
            in_flight.min(self.control.cwnd)
        };
        let conn = Conn { flight_size, ..self.conn(now, flags::CWND_LIMITED) };
        self.cc.on_phase(&p.params, &conn, from, to);
        self.control = self.cc.control(&p.params, &conn);
    }

    /// The connection is gone; nothing but a pending reset is left to say.
    fn shut(&mut self) {
        self.state = State::Closed;
        self.ack_now = false;
        self.retransmit_first = false;
        self.probe_now = false;
        self.rto_deadline = Time::NEVER;
        self.delack_deadline = Time::NEVER;
        self.persist_deadline = Time::NEVER;
        self.pace_deadline = Time::NEVER;
        self.rack.stop();
        self.time_wait_deadline = Time::NEVER;
    }

    fn fail(&mut self, why: Failure) {
        self.failure.get_or_insert(why);
        self.shut();
    }
}
