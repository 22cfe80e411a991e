//! Selection of the algorithm of each path of a connection.

use super::cycle::Cycle;
use crate::group::PathEvent;
use crate::time::Time;

/// Decisions of a connection about its paths.
// Boxing the large variants would need an allocator.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coordinator {
    /// No decisions: every path is in mode 0.
    #[default]
    None,
    /// MFVL selects the algorithm of each path.
    Mfvl(Cycle),
}

impl Coordinator {
    /// Takes an event of the path with this index.
    pub fn on_event(&mut self, now: Time, place: usize, what: PathEvent) {
        match self {
            Coordinator::None => {}
            Coordinator::Mfvl(cycle) => cycle.on_event(now, place, what),
        }
    }

    /// Updates the decisions to the time `now`. Returns true if a mode has changed.
    pub fn advance(&mut self, now: Time) -> bool {
        match self {
            Coordinator::None => false,
            Coordinator::Mfvl(cycle) => cycle.advance(now),
        }
    }

    /// Time of the next decision of [`advance`](Coordinator::advance); [`Time::NEVER`] without
    /// decisions.
    pub fn deadline(&self) -> Time {
        match self {
            Coordinator::None => Time::NEVER,
            Coordinator::Mfvl(cycle) => cycle.deadline(),
        }
    }

    /// Mode of the path with this index.
    pub fn mode(&self, place: usize) -> u8 {
        match self {
            Coordinator::None => 0,
            Coordinator::Mfvl(cycle) => cycle.mode(place),
        }
    }
}
