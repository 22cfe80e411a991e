//! One end of a TCP connection.

mod acks;
mod algorithm;
mod api;
mod autotune;
mod cross_layer;
mod ecn;
mod handshake;
mod input;
mod journal;
mod layer;
mod profile;
mod quick_start;
mod receive;
mod sender;
mod status;
mod timer;

use windlass_cc::setup::MarkCut;
use windlass_cc::{AnyController, Conn, Control, Phase, Time, flags};

use crate::decision::{Cause, Journal};
use crate::seq::Seq;
use crate::stack::LossCut;

use algorithm::Algorithm;
use handshake::Negotiated;
use receive::Receiver;
use sender::{Sender, mix};
use status::{Reset, Stream};
use timer::Timers;

pub use algorithm::CongestionControl;
pub use profile::Profile;
pub use status::{Failure, State, Stats};

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
    cc: Algorithm,
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
    /// What is decided and why, of an endpoint that was told to keep it.
    journal: Option<Box<Journal>>,
}

impl Endpoint {
    /// A closed endpoint whose own sequence numbers will start at `iss`.
    pub fn new(p: &Profile, iss: Seq) -> Endpoint {
        let conn = Conn::new(p.mss());
        let params = p.params_for(p.mss());
        let cc = Algorithm::Own(AnyController::init(&params, &conn));
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
            journal: None,
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
            sent: self.send.sent,
            srtt: self.send.rto.srtt(),
            min_rtt: self.send.shown_rtt,
            mss: self.agreed.mss,
            flags: limits,
            entropy: mix(self.random ^ now.0),
            phase: self.send.phase,
        }
    }

    /// Moves to another phase of recovery with this number of bytes in flight, the controller being told.
    fn set_phase(&mut self, p: &Profile, now: Time, to: Phase, in_flight: u64, why: Cause) {
        self.change_phase(p, now, to, in_flight, why, flags::CWND_LIMITED);
    }

    /// The same, with what limited the sender.
    fn change_phase(
        &mut self,
        p: &Profile,
        now: Time,
        to: Phase,
        in_flight: u64,
        why: Cause,
        limits: u32,
    ) {
        let from = self.send.phase;
        self.send.phase = to;
        // A loss within the round trip of a mark is no second reduction to tell the peer of.
        if to != Phase::Open && (from, to) != (Phase::Cwr, Phase::Recovery) {
            self.note_reduction();
        }
        if to == Phase::Cwr {
            self.stats.ecn_reductions += 1;
        }
        // With SACK the sender goes on beyond a hole, so that what lies above it may be many windows
        // of data that has long arrived or been lost. A cut is of the window that sent it; RFC 5681
        // equation 4 says "no more than" half the FlightSize. Where a mark's cut takes no time, the acknowledgement that
        // brings it has just opened the window, which was smaller when the mark was met: there the flight counts.
        let cut = match to {
            Phase::Recovery | Phase::Loss => true,
            Phase::Cwr => p.stack.mark_cut == MarkCut::Proportional,
            Phase::Open => false,
        };
        let fresh = from != Phase::Recovery && cut;
        let flight_size = if fresh && p.stack.loss_cut == LossCut::Window {
            self.control.cwnd - self.control.cwnd % u64::from(self.agreed.mss)
        } else if self.send.inflates() {
            in_flight
        } else {
            in_flight.min(self.control.cwnd)
        };
        let conn = Conn { flight_size, ..self.conn(now, limits) };
        self.cc.on_phase(&p.params, &conn, from, to);
        self.control = self.cc.control(&p.params, &conn);
        self.note(p, now, why, from, flight_size);
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
