//! Device traffic over successive connections: dialogues, reconnection after a loss, and power
//! cuts of the ends.
//!
//! One end, the *opener*, connects and begins each dialogue; the other end, the *listener*,
//! answers. Each end owns its connections (`connections.rs`). The opener's supervisor
//! (`opener.rs`) decides when it connects, and keeps the messages. Each connection has a number, which its packets carry
//! as a port. A packet of a dead connection therefore never reaches a later connection: its end
//! answers with a reset.
//!
//! The simulation carries no bytes. An end that writes hands the other end a list of the written
//! parts with their offsets, as the contents of the stream.

mod backoff;
mod connections;
mod end;
mod loss;
mod opener;
pub(crate) mod plan;
mod result;

use std::sync::Arc;

use windlass_cc::Time;

pub(crate) use end::SessionEnd;
pub use loss::Cause;
pub use plan::{Connect, Dialogue, Exchanges, Reconnect, Sessions, Side, Spread, Step};
pub use result::ConnectionsResult;
pub(crate) use result::{completed, failure, together};

/// The configuration that both ends share.
pub(crate) type Shared = Arc<Sessions>;

/// A message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: u64,
    pub(crate) due: Time,
    pub(crate) bytes: u64,
}

/// A written part of a stream: a step of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Offset of the byte after the part.
    pub(crate) end: u64,
    pub(crate) place: Place,
}

/// A step of a dialogue. A step of an exchange has its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) dialogue: usize,
    pub(crate) step: usize,
    pub(crate) message: Option<Message>,
}

impl Place {
    pub(crate) fn next(self) -> Place {
        Place { step: self.step + 1, ..self }
    }

    /// Bytes of the step.
    pub(crate) fn size(&self, step: &Step) -> u64 {
        step.size(self.message.map_or(0, |message| message.bytes))
    }
}
