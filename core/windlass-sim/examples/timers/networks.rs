//! The networks in which timers are compared. Flow 0 is the measured flow. Its first and its last
//! link are wires without delay.

use windlass_cc::rto::AnyParams as Timer;
use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_sim::radio::{Hops, PathLoss, Phy, Position, RadioConfig, StationConfig};
use windlass_tcp::Profile;
use windlass_tcp::stack::RFC;

/// Network between the two wires.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A bottleneck that three flows share.
    Shared,
    /// A wire that loses packets.
    Lossy,
    /// Three hops over a radio, with a flow in the other direction.
    Chain,
}

/// A network.
pub struct Network {
    /// Description for the tables.
    pub about: &'static str,
    kind: Kind,
}

/// All networks.
pub const NETWORKS: [Network; 3] = [
    Network {
        about: "three Reno flows share 5 Mbit/s, 40 ms, a queue of 50 packets",
        kind: Kind::Shared,
    },
    Network {
        about: "one Reno flow on 5 Mbit/s, 40 ms, 3 % of the packets lost",
        kind: Kind::Lossy,
    },
    Network {
        about: "three hops of 802.11b at 2 Mbit/s, 150 m each, queues of 30 packets, a flow each way",
        kind: Kind::Chain,
    },
];

fn wire(ends: [usize; 2]) -> LinkConfig {
    LinkConfig {
        name: format!("{}-{}", ends[0], ends[1]),
        ends,
        rate_bps: 100_000_000,
        delay: Span::ZERO,
        queue: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
        framing: Framing::NONE,
        loss: Default::default(),
        down: Vec::new(),
        quick_start: None,
        back: None,
        radio: None,
        course: Default::default(),
    }
}

fn bulk(ends: [usize; 2], timer: Timer, start_ms: u64) -> FlowConfig {
    let mut stack = RFC;
    stack.rto = timer;
    FlowConfig {
        name: format!("{}>{}", ends[0], ends[1]),
        from: ends[0],
        to: ends[1],
        profile: Profile::new(stack, AnyParams::by_name("reno").expect("Reno"), 1500).into(),
        traffic: Traffic::Bulk { bytes: None },
        read: ReadPolicy::Immediate,
        start: Time::from_millis(start_ms),
        pauses: Vec::new(),
        multipath: None,
    }
}

impl Network {
    /// The network with this timer in the stack of flow 0. Other flows have RFC 6298's timer.
    pub fn config(&self, seed: u64, seconds: u64, timer: Timer) -> Config {
        let standard = Timer::by_name("rfc6298").expect("a timer");
        let mut flows = vec![bulk([0, 3], timer, 0)];
        let mut links = vec![wire([0, 1]), wire([2, 3])];
        let mut radios = Vec::new();
        match self.kind {
            Kind::Shared | Kind::Lossy => {
                let mut middle = wire([1, 2]);
                middle.rate_bps = 5_000_000;
                middle.delay = Span::from_millis(20);
                middle.queue = QueueLimit::Packets(50);
                if self.kind == Kind::Lossy {
                    middle.loss[0] = Some(LossModel::Drop { probability: 0.03 });
                } else {
                    // The start times depend on the seed. Nothing else in this network does.
                    for i in 1..3u64 {
                        let start = (seed * 37 * i) % 1_000;
                        flows.push(bulk([0, 3], standard, start));
                    }
                }
                links.push(middle);
            }
            Kind::Chain => {
                radios.push(chain());
                flows.push(bulk([3, 0], standard, 0));
            }
        }
        let nodes = if self.kind == Kind::Chain { 6 } else { 4 };
        Config {
            nodes: (0..nodes).map(|n| format!("n{n}")).collect(),
            links,
            radios,
            flows,
            duration: Time::from_secs(seconds),
            seed,
            record: Record::default(),
        }
    }
}

/// A chain of stations 1, 4, 5 and 2. Only neighbours are in range of each other.
fn chain() -> RadioConfig {
    let mut radio = RadioConfig::new("air", Phy::B_LONG);
    radio.data_rate_bps = 2_000_000;
    radio.control_rate_bps = 2_000_000;
    radio.path_loss = PathLoss::Disc { receive_mm: 180_000, sense_mm: 360_000 };
    let station = |(i, node): (i64, usize)| StationConfig {
        node,
        position: Position::metres(150 * i, 0),
        queue: QueueLimit::Packets(30),
        battery_uj: None,
        sleep: None,
    };
    radio.stations = (0..).zip([1, 4, 5, 2]).map(station).collect();
    radio.hops = Hops::InRange;
    radio
}
