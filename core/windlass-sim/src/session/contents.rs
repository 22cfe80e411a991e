//! The contents of the streams: messages, and the written steps of dialogues.

use std::sync::Arc;

use windlass_cc::Time;

use super::plan::{Sessions, Step};

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
