//! The algorithm that an endpoint runs: its profile's, or one that somebody else has defined.

use std::fmt::Debug;

use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Event, Group, Loss, Phase, Span,
    TraceField, Undo,
};

/// A congestion control from outside `windlass-cc`, at work on one connection
/// ([`Endpoint::set_controller`](super::Endpoint::set_controller)).
///
/// It is told what [`windlass_cc::Controller`] would be, in the same order, as data. What the host does for an algorithm
/// (rate samples, ECN, cross-layer information) it does as for the profile's.
pub trait CongestionControl: Debug + Send {
    /// The connection begins: the handshake is over. `params` are the profile's, with initial window and
    /// recovery as the stack has them.
    fn begin(&mut self, params: &AnyParams, conn: &Conn);

    /// Something happened.
    fn on_event(&mut self, conn: &Conn, event: &Event);

    /// What the endpoint may do now; calling it twice changes nothing.
    fn control(&self) -> Control;

    /// A copy, for a copy of the endpoint.
    fn boxed(&self) -> Box<dyn CongestionControl>;
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Box<dyn CongestionControl> {
        (**self).boxed()
    }
}

/// What runs.
// The large one is what nearly all run.
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

    /// Visits the inner state, of which a foreign algorithm shows none.
    pub(super) fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        match self {
            Own(own) => own.trace(sink),
            Foreign(_) => {}
        }
    }
}
