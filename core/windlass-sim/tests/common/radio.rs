//! Cells for the radio tests.

use windlass_cc::{Span, Time};
use windlass_sim::config::{Cbr, Config, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::packet::PacketHandle;
use windlass_sim::radio::{
    BROADCAST, Hops, Outcome, PathLoss, Phy, Position, Radio, RadioConfig, StationConfig,
};
use windlass_sim::routing::aodv::Aodv;

use super::{flow, network, rfc};

/// A station of node `node` on a line, `metres` metres from the origin, with a queue of 100 packets.
pub fn station(node: usize, metres: i64) -> StationConfig {
    StationConfig {
        node,
        position: Position::metres(metres, 0),
        queue: QueueLimit::Packets(100),
        battery_uj: None,
        sleep: None,
    }
}

/// Stations on a line that receive frames up to 250 m and sense them up to `sense_m`.
pub fn line(phy: Phy, sense_m: u64, places: &[i64]) -> RadioConfig {
    let mut radio = RadioConfig::new("air", phy);
    radio.path_loss = PathLoss::Disc { receive_mm: 250_000, sense_mm: 1000 * sense_m };
    radio.stations = places.iter().enumerate().map(|(i, x)| station(i, *x)).collect();
    radio
}

/// A network of only this radio, with datagram flows.
pub fn over(radio: RadioConfig, flows: &[([usize; 2], Cbr)], duration: Time) -> Config {
    let nodes = radio.stations.len();
    let flows = flows.iter().map(|(ends, c)| flow(*ends, rfc("reno"), Traffic::CbrUdp(*c)));
    let mut config = network(Vec::new(), flows.collect(), duration);
    config.nodes = (0..nodes).map(|n| format!("n{n}")).collect();
    config.radios = vec![radio];
    config
}

/// A radio without a network, and the log of its outcomes with their times.
pub struct Driver {
    /// The radio.
    pub radio: Radio,
    /// Outcomes so far.
    pub log: Vec<(Time, Outcome)>,
    next: u32,
}

impl Driver {
    /// Returns the radio at time zero.
    pub fn new(config: &RadioConfig, seed: u64) -> Driver {
        let nodes: Vec<String> = (0..config.stations.len()).map(|n| format!("n{n}")).collect();
        config.check(&nodes).expect("valid");
        Driver { radio: Radio::new(config, seed, 0), log: Vec::new(), next: 0 }
    }

    /// Processes all events before `end`, and stops at `end`.
    pub fn run_until(&mut self, end: Time) {
        while let Some(at) = self.radio.next_event().filter(|at| *at < end) {
            self.radio.step(at);
            self.log.extend(self.radio.take_outcomes().map(|o| (at, o)));
        }
    }

    /// Hands a packet to a station at `at`; `size` is in bytes. Returns its number. Panics if the queue is full.
    pub fn send(&mut self, at: Time, from: u32, to: u32, size: u32) -> u32 {
        self.try_send(at, from, to, size).expect("room")
    }

    /// Like `send`, but returns `None` if the queue is full.
    pub fn try_send(&mut self, at: Time, from: u32, to: u32, size: u32) -> Option<u32> {
        self.run_until(at);
        let id = self.next;
        self.next += 1;
        self.radio.offer(at, from, to, PacketHandle { id, size, hop: 0 }).then_some(id)
    }

    /// Sends a packet to all stations in range.
    pub fn broadcast(&mut self, at: Time, from: u32, size: u32) -> u32 {
        self.send(at, from, BROADCAST, size)
    }

    /// Processes all events until no event is left.
    pub fn finish(&mut self) {
        self.run_until(Time(u64::MAX));
    }

    /// Times at which the receiver received a packet.
    pub fn delivered(&self, id: u32) -> Vec<Time> {
        let taken = self.log.iter().filter_map(|(at, o)| match o {
            Outcome::Delivered { handle, .. } if handle.id == id => Some(*at),
            _ => None,
        });
        taken.collect()
    }
}

/// Microseconds.
pub fn us(n: u64) -> Span {
    Span::from_micros(n)
}

/// Hops between only these pairs of stations.
pub fn pairs(pairs: &[[usize; 2]]) -> Hops {
    Hops::Pairs(pairs.to_vec())
}

/// Stations in rows and columns, 150 m apart, each with a queue of 30 packets. Each station is received by
/// its four neighbours and sensed two steps away.
pub fn grid(rows: usize, columns: usize) -> RadioConfig {
    let mut radio = RadioConfig::new("air", Phy::B_LONG);
    radio.path_loss = PathLoss::Disc { receive_mm: 180_000, sense_mm: 330_000 };
    let place = |i: usize| {
        let (x, y) = ((i % columns) as i64, (i / columns) as i64);
        Position::metres(150 * x, 150 * y)
    };
    let queue = QueueLimit::Packets(30);
    let station =
        |node| StationConfig { node, position: place(node), queue, battery_uj: None, sleep: None };
    radio.stations = (0..rows * columns).map(station).collect();
    radio.hops = Hops::Aodv(Aodv::RFC3561);
    radio
}
