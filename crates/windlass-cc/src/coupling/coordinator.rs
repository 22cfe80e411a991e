//! Which algorithm runs on which path of a connection.

use super::cycle::Cycle;
use crate::group::PathEvent;
use crate::time::Time;

/// Decisions of a connection about its paths.
// Boxing what is large needs an allocator.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coordinator {
    /// Nothing is decided: every path is in mode 0.
    #[default]
    None,
    /// MFVL chooses what runs on which path.
    Mfvl(Cycle),
}

impl Coordinator {
    /// Something happened on the path with this place.
    pub fn on_event(&mut self, now: Time, place: usize, what: PathEvent) {
        match self {
            Coordinator::None => {}
            Coordinator::Mfvl(cycle) => cycle.on_event(now, place, what),
        }
    }

    /// Brings decisions up to date with the clock; returns whether a mode has changed.
    pub fn advance(&mut self, now: Time) -> bool {
        match self {
            Coordinator::None => false,
            Coordinator::Mfvl(cycle) => cycle.advance(now),
        }
    }

    /// When [`advance`](Coordinator::advance) decides next, [`Time::NEVER`] for not at all.
    pub fn deadline(&self) -> Time {
        match self {
            Coordinator::None => Time::NEVER,
            Coordinator::Mfvl(cycle) => cycle.deadline(),
        }
    }

    /// Mode of the path with this place.
    pub fn mode(&self, place: usize) -> u8 {
        match self {
            Coordinator::None => 0,
            Coordinator::Mfvl(cycle) => cycle.mode(place),
        }
    }
}
