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
mod state;
mod way;

use std::collections::VecDeque;

use windlass_cc::Time;

pub use config::{Access, Cellular, ClassA, Invalid, LinkRadio, Power, Release};

pub use state::RadioState;

use meter::Times;
pub(crate) use way::Way;

/// State of a radio. Calls are in the order of time. `waiting` is true for the ways with a waiting
/// packet; it has not changed since the last call.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    kind: Kind,
    /// Times without power that are not over.
    off: VecDeque<[Time; 2]>,
    /// True in the first of them.
    is_off: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Cellular(cellular::Machine),
    ClassA(class_a::Machine),
}

/// Calls the machine of either kind.
macro_rules! either {
    ($kind:expr, $machine:ident => $call:expr) => {
        match $kind {
            Kind::Cellular($machine) => $call,
            Kind::ClassA($machine) => $call,
        }
    };
}

impl Machine {
    pub(crate) fn new(radio: &LinkRadio) -> Machine {
        let kind = match &radio.access {
            Access::Cellular(config) => Kind::Cellular(cellular::Machine::new(*config)),
            Access::ClassA(config) => Kind::ClassA(class_a::Machine::new(*config)),
        };
        Machine { kind, off: radio.off.iter().copied().collect(), is_off: false }
    }

    /// Records the states, if this is true and the radio is cellular.
    pub(crate) fn recording(mut self, records: bool) -> Machine {
        if let (Kind::Cellular(machine), true) = (&mut self.kind, records) {
            machine.record();
        }
        self
    }

    /// The recorded states.
    pub(crate) fn states(&self) -> Option<&[(Time, RadioState)]> {
        match &self.kind {
            Kind::Cellular(machine) => machine.states.as_deref(),
            Kind::ClassA(_) => None,
        }
    }

    /// Proceeds to `now`.
    pub(crate) fn advance(&mut self, now: Time, waiting: [bool; 2]) {
        while let Some([from, until]) = self.off.front().copied()
            && from <= now
        {
            if !self.is_off {
                self.proceed(from, waiting);
                self.is_off = true;
            }
            either!(&mut self.kind, machine => machine.off_until(until.min(now)));
            if until > now {
                return;
            }
            self.off.pop_front();
            self.is_off = false;
            either!(&mut self.kind, machine => machine.restart(until));
        }
        self.proceed(now, waiting);
    }

    fn proceed(&mut self, now: Time, waiting: [bool; 2]) {
        match &mut self.kind {
            Kind::Cellular(machine) => machine.advance(now, waiting),
            Kind::ClassA(machine) => machine.advance(now),
        }
    }

    /// Beginning and end of each time without power that is not over.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = Time> + use<> {
        self.off.clone().into_iter().flatten()
    }

    /// True if the device has no power.
    pub(crate) fn is_off(&self) -> bool {
        self.is_off
    }

    /// A packet has arrived at an empty queue. `sending` is true if a frame of this way is on the
    /// air.
    pub(crate) fn arrive(&mut self, now: Time, way: Way, sending: bool) {
        if let Kind::Cellular(machine) = &mut self.kind
            && !self.is_off
        {
            machine.arrive(now, way, sending);
        }
    }

    /// Earliest start of the next frame of this way in the present state, at `now` or later; `None`
    /// if no frame can start in this state.
    pub(crate) fn start(&self, now: Time, way: Way) -> Option<Time> {
        if self.is_off {
            return None;
        }
        either!(&self.kind, machine => machine.start(now, way))
    }

    /// Next change of the state that matters to waiting packets.
    pub(crate) fn change(&self, waiting: [bool; 2]) -> Option<Time> {
        let off = self.off.front().map(|[from, until]| if self.is_off { *until } else { *from });
        let own = match &self.kind {
            Kind::Cellular(machine) if !self.is_off => machine.change(waiting),
            _ => None,
        };
        own.into_iter().chain(off).min()
    }

    /// A frame of this way starts at `now` and ends at `ends`.
    pub(crate) fn sent(&mut self, now: Time, way: Way, ends: Time) {
        either!(&mut self.kind, machine => machine.sent(now, way, ends));
    }

    /// Times in each state up to the last call.
    pub(crate) fn times(&self) -> &Times {
        either!(&self.kind, machine => &machine.times)
    }

    /// Connections begun so far.
    pub(crate) fn connections(&self) -> u64 {
        match &self.kind {
            Kind::Cellular(machine) => machine.connections,
            Kind::ClassA(_) => 0,
        }
    }

    /// Modulation of the next frame of this way at `now`; `None` if the link has its own rate.
    pub(crate) fn modulation(&self, now: Time, way: Way) -> Option<(lora::Modulation, u32)> {
        match &self.kind {
            Kind::Cellular(_) => None,
            Kind::ClassA(machine) => Some(machine.modulation(now, way)),
        }
    }
}
