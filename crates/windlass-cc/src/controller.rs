//! The controller trait, and its events as data.

use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn, Control, Loss, Phase, Undo};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::time::Span;

/// An event as data: what recording, replay and fuzzing use in place of the methods.
// Boxing what is large needs an allocator.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// [`Controller::on_ack`].
    Ack(Ack),
    /// [`Controller::on_phase`].
    Phase {
        /// The phase before.
        from: Phase,
        /// The phase after.
        to: Phase,
    },
    /// [`Controller::on_loss`].
    Loss(Loss),
    /// [`Controller::on_undo`].
    Undo(Undo),
    /// [`Controller::on_idle_restart`].
    IdleRestart {
        /// How long nothing was sent or in flight.
        gap: Span,
        /// Whether the window is to fall back.
        reset: bool,
    },
    /// [`Controller::on_mss`], with the segment size before the change.
    Mss(u32),
    /// [`Controller::on_group`].
    Group(Group),
    /// [`Controller::on_cross_layer`].
    CrossLayer(CrossLayer),
}

/// A congestion-control algorithm.
///
/// For one incoming segment the host calls, in this order: [`on_loss`](Controller::on_loss) for each
/// segment deemed lost, [`on_undo`](Controller::on_undo) if an earlier reduction turns out to be
/// unfounded, [`on_ack`](Controller::on_ack) in the phase in which the acknowledgement arrived,
/// [`on_phase`](Controller::on_phase) if it changes the phase, then reads
/// [`control`](Controller::control). So the third duplicate does not inflate
/// the window beyond `ssthresh + 3·SMSS`, and the acknowledgement that ends recovery does not also
/// grow it (RFC 5681 section 3.2 steps 3 and 6).
pub trait Controller: Copy {
    /// Plain, shared, validated parameters.
    type Params;

    /// What the algorithm is, for people.
    const INFO: &'static Info;

    /// What the algorithm wants of its host.
    const REQUIREMENTS: Requirements;

    /// How stacks differ from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// An acknowledgement arrived, duplicates included.
    fn on_ack(&mut self, p: &Self::Params, c: &Conn, a: &Ack);

    /// The host's loss recovery moved on. `c.phase` is the new phase, and `c.flight_size` still the
    /// FlightSize at which the loss was found, data sent by limited transmit left out.
    ///
    /// `Loss → Loss` is a repeated timeout of the same data; a timeout of other data during `Loss`
    /// comes as `Loss → Open` and `Open → Loss`, since it sets `ssthresh` anew. `Cwr → Recovery` is
    /// a loss in the round trip that an ECN echo has already answered.
    fn on_phase(&mut self, p: &Self::Params, c: &Conn, from: Phase, to: Phase);

    /// What the host may do now. Pure: calling it twice changes nothing.
    fn control(&self, p: &Self::Params, c: &Conn) -> Control;

    /// A segment was deemed lost. Loss-based algorithms wait for the phase instead.
    fn on_loss(&mut self, _p: &Self::Params, _c: &Conn, _l: &Loss) {}

    /// The last loss or timeout for which the window was reduced was none; if recovery still runs,
    /// the phase follows. What `Open → Recovery` or `Open → Loss` and all that came of it took away
    /// is taken back, once. An answer to a mark is never taken back: after `Open → Cwr` there is
    /// nothing that could be, and after `Cwr → Recovery` or `Cwr → Loss` what came on top of it.
    fn on_undo(&mut self, _p: &Self::Params, _c: &Conn, _why: Undo) {}

    /// The first transmission after `gap` without anything to send or in flight. With `reset` the
    /// gap exceeds an RTO and the stack lets the window fall back (RFC 5681 section 4.1).
    fn on_idle_restart(&mut self, _p: &Self::Params, _c: &Conn, _gap: Span, _reset: bool) {}

    /// The segment size changed from `old` to `c.mss`.
    fn on_mss(&mut self, _p: &Self::Params, _c: &Conn, _old: u32) {}

    /// The paths of the connection as they are now, for algorithms that couple them
    /// ([`crate::coupling`]). A connection with one path is told too.
    fn on_group(&mut self, _p: &Self::Params, _c: &Conn, _g: &Group) {}

    /// What this path's siblings are to know of it beyond its window and round-trip time.
    fn disclosed(&self) -> u64 {
        0
    }

    /// What the node's lower layers know, for algorithms that [want](Requirements::cross_layer) it: told
    /// before the acknowledgement that it comes with.
    fn on_cross_layer(&mut self, _p: &Self::Params, _c: &Conn, _l: &CrossLayer) {}

    /// Visits the inner state as named integers, in the order of [`Info::trace`].
    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64));

    /// Dispatches a recorded event.
    fn apply(&mut self, p: &Self::Params, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => self.on_ack(p, c, a),
            Event::Phase { from, to } => self.on_phase(p, c, *from, *to),
            Event::Loss(l) => self.on_loss(p, c, l),
            Event::Undo(why) => self.on_undo(p, c, *why),
            Event::IdleRestart { gap, reset } => self.on_idle_restart(p, c, *gap, *reset),
            Event::Mss(old) => self.on_mss(p, c, *old),
            Event::Group(g) => self.on_group(p, c, g),
            Event::CrossLayer(l) => self.on_cross_layer(p, c, l),
        }
    }
}
