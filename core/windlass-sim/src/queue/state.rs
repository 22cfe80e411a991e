//! The interface of the queue disciplines of this crate and of other crates.

use std::fmt::Debug;

use windlass_cc::{Span, Time};

use super::waiting::{Dropped, Waiting};
use crate::extension::cloneable;
use crate::link::QueueLimit;
use crate::random::Stream;

/// A queue discipline that another crate defines, as a configuration holds it in
/// [`Discipline::Custom`](super::Discipline::Custom).
pub trait QueueDiscipline: Debug + Send + Sync {
    /// The empty queue of one link direction. It should hold at most `limit`, and it draws random
    /// values only from this stream.
    fn start(&self, limit: QueueLimit, stream: Stream) -> Box<dyn QueueState>;
}

/// State of a queue discipline on one link direction. It hands out every packet exactly once, for
/// transmission or as dropped, and counts the packets it holds. The conservation check at the end
/// of the run verifies this.
pub trait QueueState: Debug + Send + Sync + CloneQueueState {
    /// Adds a packet. `idle` is the time for which the link has been idle, or `None` if it is busy.
    /// Dropped packets, which may include this packet, are added to `drops`. Returns true if the
    /// packet must be marked.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool;
    /// The packet that the idle link transmits, and true if the packet must be marked.
    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)>;
    /// Packets that wait.
    fn len(&self) -> u64;
    /// IP bytes that wait.
    fn bytes(&self) -> u64;
    /// True if no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

cloneable! {
    /// Copies of a simulation copy their queues. Every [`QueueState`] that is `Clone` implements
    /// this trait.
    CloneQueueState, QueueState
}
