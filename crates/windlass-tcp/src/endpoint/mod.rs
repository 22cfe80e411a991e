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

use windlass_cc::{AnyController, AnyParams, Conn, Control, Phase, Setup, Time, flags};

use crate::seq::Seq;
use crate::stack::{LossCut, StackConfig};

use handshake::Negotiated;
use receive::Receiver;
use sender::{Sender, mix};
use timer::Timers;

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
    /// The handshake has completed at some time.
    established: bool,
    syn_retransmitted: bool,
    /// Opened by [`listen`](Endpoint::listen): a refused handshake leads back there.
    passive: bool,
    agreed: Negotiated,
    stream: Stream,
    send: Sender,
    recv: Receiver,
    timers: Timers,
    cc: AnyController,
    /// The controller's last answer.
    control: Control,
    ecn: ecn::EcnState,
    layer: layer::Layer,
    /// State of the endpoint's random numbers.
    random: u64,
    reset: Option<Reset>,
    /// What is left to do of Quick-Start; nothing soon after the handshake.
    quick: Option<Box<quick_start::Quick>>,
    failure: Option<Failure>,
    stats: Stats,
}

/// What the application has said of its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stream {
    /// One past the last byte that it has offered.
    end: u64,
    /// It has closed: a FIN follows what it has offered.
    fin_queued: bool,
    /// It has closed the receiving direction too (`SHUT_RD`).
    shut_read: bool,
}

impl Endpoint {
    /// A closed endpoint whose own sequence numbers will start at `iss`.
    pub fn new(p: &Profile, iss: Seq) -> Endpoint {
        let conn = Conn::new(p.mss());
        let params = p.params_for(p.mss());
        let cc = AnyController::init(&params, &conn);
        Endpoint {
            state: State::Closed,
            established: false,
            syn_retransmitted: false,
            passive: false,
            agreed: Negotiated::none(p.mss()),
            stream: Stream { end: 1, fin_queued: false, shut_read: false },
            send: Sender::new(p, iss),
            recv: Receiver::default(),
            timers: Timers::default(),
            control: cc.control(&p.params, &conn),
            cc,
            ecn: ecn::EcnState::default(),
            layer: layer::Layer::default(),
            random: u64::from(iss.0),
            reset: None,
            quick: None,
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
            in_flight: self.send.in_flight(),
            flight_size: self.send.flight_size(),
            una: self.send.una,
            next_id: self.send.max,
            delivered: self.send.sampler.delivered(),
            lost: self.send.sampler.lost(),
            sent: self.stats.data_bytes,
            srtt: self.send.rto.srtt(),
            min_rtt: self.send.shown_rtt,
            mss: self.agreed.mss,
            flags: limits,
            entropy: mix(self.random ^ now.0),
            phase: self.send.phase,
        }
    }

    /// Moves to another phase of recovery with so many bytes in flight, the controller being told.
    fn set_phase(&mut self, p: &Profile, now: Time, to: Phase, in_flight: u64) {
        let from = self.send.phase;
        self.send.phase = to;
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
            self.control.cwnd - self.control.cwnd % u64::from(self.agreed.mss)
        } else if self.send.inflates() {
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
        self.recv.ack_now = false;
        self.send.retransmit_first = false;
        self.send.probe_now = false;
        self.send.rack.stop();
        self.timers = Timers::default();
    }

    fn fail(&mut self, why: Failure) {
        self.failure.get_or_insert(why);
        self.shut();
    }
}
