//! Radios of devices on links: cellular radios (NB-IoT, LTE-M) and LoRaWAN class A.
//!
//! A radio is a gate in front of the transmitters of both directions of a link. It states the time
//! at which the next frame of a direction may start, and it counts the time and the energy of the
//! device in each state. The rate and the delay of the link do not change.
//!
//! The models have one device per link and no cell: other devices, the scheduler of the network,
//! retransmissions below IP and collisions are left out.

mod cellular;
mod class_a;
pub mod config;
pub(crate) mod gate;
pub mod lora;
mod meter;
pub mod presets;
mod way;

use windlass_cc::Time;

pub use config::{Access, Cellular, ClassA, Invalid, LinkRadio, Power, Release};

use meter::Times;
pub(crate) use way::Way;

/// State of a radio. Calls are in the order of time. `waiting` is true for the ways with a waiting
/// packet; it has not changed since the last call.
#[derive(Clone, Debug)]
pub(crate) enum Machine {
    Cellular(cellular::Machine),
    ClassA(class_a::Machine),
}

impl Machine {
    pub(crate) fn new(access: &Access) -> Machine {
        match access {
            Access::Cellular(config) => Machine::Cellular(cellular::Machine::new(*config)),
            Access::ClassA(config) => Machine::ClassA(class_a::Machine::new(*config)),
        }
    }

    /// Proceeds to `now`.
    pub(crate) fn advance(&mut self, now: Time, waiting: [bool; 2]) {
        match self {
            Machine::Cellular(machine) => machine.advance(now, waiting),
            Machine::ClassA(machine) => machine.advance(now),
        }
    }

    /// A packet has arrived at an empty queue. `sending` is true if a frame of this way is on the
    /// air.
    pub(crate) fn arrive(&mut self, now: Time, way: Way, sending: bool) {
        if let Machine::Cellular(machine) = self {
            machine.arrive(now, way, sending);
        }
    }

    /// Earliest start of the next frame of this way in the present state, at `now` or later; `None`
    /// if no frame can start in this state.
    pub(crate) fn start(&self, now: Time, way: Way) -> Option<Time> {
        match self {
            Machine::Cellular(machine) => machine.start(now, way),
            Machine::ClassA(machine) => machine.start(now, way),
        }
    }

    /// Next change of the state that matters to waiting packets.
    pub(crate) fn change(&self, waiting: [bool; 2]) -> Option<Time> {
        match self {
            Machine::Cellular(machine) => machine.change(waiting),
            Machine::ClassA(_) => None,
        }
    }

    /// A frame of this way starts at `now` and ends at `ends`.
    pub(crate) fn sent(&mut self, now: Time, way: Way, ends: Time) {
        match self {
            Machine::Cellular(machine) => machine.sent(now, way, ends),
            Machine::ClassA(machine) => machine.sent(now, way, ends),
        }
    }

    /// Times in each state up to the last call.
    pub(crate) fn times(&self) -> &Times {
        match self {
            Machine::Cellular(machine) => &machine.times,
            Machine::ClassA(machine) => &machine.times,
        }
    }

    /// Connections begun so far.
    pub(crate) fn connections(&self) -> u64 {
        match self {
            Machine::Cellular(machine) => machine.connections,
            Machine::ClassA(_) => 0,
        }
    }

    /// Modulation of the next frame of this way at `now`; `None` if the link has its own rate.
    pub(crate) fn modulation(&self, now: Time, way: Way) -> Option<(lora::Modulation, u32)> {
        match self {
            Machine::Cellular(_) => None,
            Machine::ClassA(machine) => Some(machine.modulation(now, way)),
        }
    }
}
