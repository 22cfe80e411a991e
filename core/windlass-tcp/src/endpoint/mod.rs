//! One end of a TCP connection.

mod accurate_ecn;
mod acks;
mod algorithm;
mod api;
mod autotune;
mod careful_resume;
mod cross_layer;
mod ecn;
mod ecn_option;
mod handshake;
mod input;
mod journal;
mod layer;
mod prediction;
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
/// Stream offsets count from the SYN: the SYN is byte 0, the first byte of data is byte 1, and the FIN
/// follows the data.
#[derive(Clone, Debug)]
pub struct Endpoint {
    state: State,
    /// True if the handshake has completed at any time.
    established: bool,
    syn_retransmitted: bool,
    /// Opened by [`listen`](Endpoint::listen). A refused handshake returns to LISTEN.
    passive: bool,
    /// True if only transmissions and reads happened since the last new data left. The tail loss probe then keeps
    /// its time.
    bursting: bool,
    /// True if the last transmitted segment was the acknowledgement that follows all data.
    drained: bool,
    /// True if there was nothing to send but acknowledgements, and only data in order came since.
    at_rest: bool,
    agreed: Negotiated,
    stream: Stream,
    send: Sender,
    recv: Receiver,
    timers: Timers,
    cc: Algorithm,
    /// The controller's last control values.
    control: Control,
    ecn: ecn::EcnState,
    layer: layer::Layer,
    /// State of the endpoint's random numbers.
    random: u64,
    reset: Option<Reset>,
    /// Remaining steps of Quick-Start; `None` soon after the handshake.
    quick: Option<Box<quick_start::Quick>>,
    /// The saved set of Careful Resume that replaces the profile's, and its time, until the handshake.
    saved: Option<Box<(windlass_cc::slow_start::Saved, Time)>>,
    failure: Option<Failure>,
    stats: Stats,
    /// Decisions and their causes, if the endpoint keeps a journal.
    journal: Option<Box<Journal>>,
}

impl Endpoint {
    /// A closed endpoint whose sequence numbers start at `iss`.
    pub fn new(p: &Profile, iss: Seq) -> Endpoint {
        let conn = Conn::new(p.mss());
        let params = p.params_for(p.mss());
        let cc = Algorithm::Own(AnyController::init(&params, &conn));
        Endpoint {
            state: State::Closed,
            established: false,
            syn_retransmitted: false,
            passive: false,
            bursting: false,
            drained: false,
            at_rest: false,
            agreed: Negotiated::none(p.mss()),
            stream: Stream { end: 1, fin_queued: false, resumed: false, shut_read: false },
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
            saved: None,
            failure: None,
            stats: Stats::default(),
            journal: None,
        }
    }

    /// The connection's state for an event of the controller, with a new random number.
    fn conn(&mut self, now: Time, limits: u32) -> Conn {
        let entropy = self.entropy();
        self.conn_with(now, limits, entropy)
    }

    /// The connection's state for calls other than events. Its random number depends on the time and does not
    /// advance the connection's sequence of random numbers. Such calls therefore do not change later results.
    fn glance(&self, now: Time, limits: u32) -> Conn {
        self.conn_with(now, limits, mix(self.random ^ now.0))
    }

    #[inline]
    fn conn_with(&self, now: Time, limits: u32, entropy: u32) -> Conn {
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
            flags: limits | self.ecn.refusal(),
            entropy,
            phase: self.send.phase,
        }
    }

    /// Changes the phase of recovery with this number of bytes in flight, and notifies the controller.
    fn set_phase(&mut self, p: &Profile, now: Time, to: Phase, in_flight: u64, why: Cause) {
        self.change_phase(p, now, to, in_flight, why, flags::CWND_LIMITED);
    }

    /// Like [`set_phase`](Endpoint::set_phase), with the limits of the sender.
    // RFC 5681-4.3-2
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
        // A loss within one RTT after a mark is not a second reduction to report to the peer.
        if to != Phase::Open && (from, to) != (Phase::Cwr, Phase::Recovery) {
            self.note_reduction();
        }
        match to {
            Phase::Cwr => self.stats.ecn_reductions += 1,
            Phase::Recovery | Phase::Loss => self.begin_repair(from),
            Phase::Open => {}
        }
        // With SACK the sender continues beyond a hole. The data above the hole may be many windows of data
        // that have arrived or been lost. The reduction refers to the window that sent these data; RFC 5681
        // equation 4 states "no more than" half the FlightSize. If a mark reduces cwnd at once, the
        // acknowledgement with the echo has just grown cwnd. cwnd was smaller when the packet was marked, so
        // the flight counts in this case.
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

    /// Closes the connection. Only a pending reset can still be sent.
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
