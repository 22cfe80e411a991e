//! The algorithm of an endpoint: the profile's algorithm, or an algorithm defined elsewhere.

use std::fmt::Debug;

use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Event, Group, Loss, Phase, Span,
    TraceField, Undo,
};

/// A congestion control from outside `windlass-cc` for one connection
/// ([`Endpoint::set_controller`](super::Endpoint::set_controller)).
///
/// It receives the events of [`windlass_cc::Controller`], in the same order, as data. The host provides rate
/// samples, ECN and cross-layer information as it does for the profile's algorithm.
pub trait CongestionControl: Debug + Send {
    /// Called when the handshake is complete. `params` are the profile's parameters, with the stack's initial
    /// window and recovery.
    fn begin(&mut self, params: &AnyParams, conn: &Conn);

    /// Called for each event.
    fn on_event(&mut self, conn: &Conn, event: &Event);

    /// The current control values. A call does not change the state.
    fn control(&self) -> Control;

    /// A copy, for a copy of the endpoint.
    fn boxed(&self) -> Box<dyn CongestionControl>;
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Box<dyn CongestionControl> {
        (**self).boxed()
    }
}

/// The algorithm in use.
// Nearly all endpoints use the larger variant.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(super) enum Algorithm {
    Own(AnyController),
    Foreign(Box<dyn CongestionControl>),
}

use Algorithm::{Foreign, Own};

impl Algorithm {
    pub(super) fn begin(&mut self, p: &AnyParams, c: &Conn) {
        match self {
            Own(own) => *own = AnyController::init(p, c),
            Foreign(other) => other.begin(p, c),
        }
    }

    #[inline]
    pub(super) fn control(&self, p: &AnyParams, c: &Conn) -> Control {
        match self {
            Own(own) => own.control(p, c),
            Foreign(other) => other.control(),
        }
    }

    /// Bytes that the path has carried in an RTT; zero if unknown.
    pub(super) fn capacity(&self) -> u64 {
        match self {
            Own(own) => own.capacity(),
            Foreign(_) => 0,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, p: &AnyParams, c: &Conn, a: &Ack) {
        match self {
            Own(own) => own.on_ack(p, c, a),
            Foreign(other) => other.on_event(c, &Event::Ack(*a)),
        }
    }

    pub(super) fn on_phase(&mut self, p: &AnyParams, c: &Conn, from: Phase, to: Phase) {
        match self {
            Own(own) => own.on_phase(p, c, from, to),
            Foreign(other) => other.on_event(c, &Event::Phase { from, to }),
        }
    }

    pub(super) fn on_loss(&mut self, p: &AnyParams, c: &Conn, l: &Loss) {
        match self {
            Own(own) => own.on_loss(p, c, l),
            Foreign(other) => other.on_event(c, &Event::Loss(*l)),
        }
    }

    pub(super) fn on_undo(&mut self, p: &AnyParams, c: &Conn, why: Undo) {
        match self {
            Own(own) => own.on_undo(p, c, why),
            Foreign(other) => other.on_event(c, &Event::Undo(why)),
        }
    }

    pub(super) fn on_idle_restart(&mut self, p: &AnyParams, c: &Conn, gap: Span, reset: bool) {
        match self {
            Own(own) => own.on_idle_restart(p, c, gap, reset),
            Foreign(other) => other.on_event(c, &Event::IdleRestart { gap, reset }),
        }
    }

    pub(super) fn on_group(&mut self, p: &AnyParams, c: &Conn, g: &Group) {
        match self {
            Own(own) => own.on_group(p, c, g),
            Foreign(other) => other.on_event(c, &Event::Group(*g)),
        }
    }

    pub(super) fn on_cross_layer(&mut self, p: &AnyParams, c: &Conn, l: &CrossLayer) {
        match self {
            Own(own) => own.on_cross_layer(p, c, l),
            Foreign(other) => other.on_event(c, &Event::CrossLayer(*l)),
        }
    }

    pub(super) fn disclosed(&self) -> u64 {
        match self {
            Own(own) => own.disclosed(),
            Foreign(_) => 0,
        }
    }

    /// Visits the internal state. A foreign algorithm exposes no state.
    pub(super) fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        match self {
            Own(own) => own.trace(sink),
            Foreign(_) => {}
        }
    }
}
