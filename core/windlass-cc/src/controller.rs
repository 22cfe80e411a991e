//! The controller trait, and its events as data.

use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn, Control, Loss, Phase, Undo};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::time::Span;

/// An event as data. Recording, replay and fuzzing use it instead of the methods.
// Boxing the large variants would need an allocator.
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
        /// Time without data to send or in flight.
        gap: Span,
        /// True if the stack resets the window to the restart window.
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
/// For one incoming segment the host calls, in this order:
///
/// * [`on_loss`](Controller::on_loss) for each segment deemed lost,
/// * [`on_undo`](Controller::on_undo) if an earlier reduction turns out to be unfounded,
/// * [`on_ack`](Controller::on_ack) in the phase in which the acknowledgement arrived,
/// * [`on_phase`](Controller::on_phase) if the acknowledgement changes the phase.
///
/// Then it reads [`control`](Controller::control). Therefore the third duplicate does not inflate the
/// window beyond `ssthresh + 3·SMSS`, and the acknowledgement that ends recovery does not also increase
/// the window (RFC 5681 section 3.2 steps 3 and 6).
pub trait Controller: Copy {
    /// Plain, shared, validated parameters.
    type Params;

    /// Description of the algorithm for users.
    const INFO: &'static Info;

    /// Requirements of the algorithm on its host.
    const REQUIREMENTS: Requirements;

    /// Deviations of real stacks from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// Takes an acknowledgement, including duplicates.
    fn on_ack(&mut self, p: &Self::Params, c: &Conn, a: &Ack);

    /// Takes a change of the phase of the host's loss recovery. `c.phase` is the new phase.
    /// `c.flight_size` is still the FlightSize at the detection of the loss, without the data sent by
    /// limited transmit.
    ///
    /// `Loss → Loss` is a repeated timeout of the same data. A timeout of other data during `Loss` is
    /// reported as `Loss → Open` and `Open → Loss`, because it sets `ssthresh` again. `Cwr → Recovery`
    /// is a loss in the RTT in which an ECN echo has already reduced the window.
    fn on_phase(&mut self, p: &Self::Params, c: &Conn, from: Phase, to: Phase);

    /// Returns the window, threshold and pacing rate. The call has no side effects.
    fn control(&self, p: &Self::Params, c: &Conn) -> Control;

    /// Takes a segment deemed lost. Loss-based algorithms wait for the phase instead.
    fn on_loss(&mut self, _p: &Self::Params, _c: &Conn, _l: &Loss) {}

    /// Undoes the last reduction of the window for a loss or timeout, which was unfounded. If recovery
    /// still runs, the phase follows. The undo restores, once, all reductions since `Open → Recovery`
    /// or `Open → Loss`. The response to a mark is never undone: after `Open → Cwr` there is nothing to
    /// undo, and after `Cwr → Recovery` or `Cwr → Loss` only the further reduction.
    fn on_undo(&mut self, _p: &Self::Params, _c: &Conn, _why: Undo) {}

    /// Takes the first transmission after a time `gap` without data to send or in flight. With `reset`
    /// the gap exceeds an RTO and the stack resets the window to the restart window (RFC 5681 section
    /// 4.1).
    fn on_idle_restart(&mut self, _p: &Self::Params, _c: &Conn, _gap: Span, _reset: bool) {}

    /// Takes a change of the segment size from `old` to `c.mss`.
    fn on_mss(&mut self, _p: &Self::Params, _c: &Conn, _old: u32) {}

    /// Takes the present state of the connection's paths, for algorithms that couple them
    /// ([`crate::coupling`]). It is also called for a connection with one path.
    fn on_group(&mut self, _p: &Self::Params, _c: &Conn, _g: &Group) {}

    /// Value that this path's siblings receive in addition to its window and RTT.
    fn disclosed(&self) -> u64 {
        0
    }

    /// Bytes that the path has carried in an RTT, for the next connection on it; zero if unknown.
    fn capacity(&self) -> u64 {
        0
    }

    /// Takes a report of the node's lower layers, for algorithms that
    /// [require](Requirements::cross_layer) it. It precedes the acknowledgement of the same time.
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
