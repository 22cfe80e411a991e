//! Set-up of a case.

use std::net::Ipv4Addr;

use windlass_cc::{AnyParams, Span, Time};
use windlass_script::Bounds;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_tcp::mptcp::MultipathConfig;
use windlass_tcp::wire::Addresses;
use windlass_tcp::{Profile, StackConfig, stack};

use super::faults::Fault;
use super::findings::Findings;
use super::steps::Step;
use super::trace::Trace;
use super::{Direction, Side};

/// Largest IP packet of the path, bytes.
const MTU: u32 = 1500;
/// Duration of TIME-WAIT in Windlass's endpoint. The kernel's duration, one minute, is fixed; no case waits
/// for it.
const TIME_WAIT: Span = Span::from_secs(5);

/// A case: the actions of both ends, the faults of their packets, and the expected results.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name, such as `lost-syn`.
    pub name: String,
    /// Expected result, in one line.
    pub title: String,
    /// Sources of the expected behaviour: RFCs with their sections.
    pub sources: Vec<String>,
    /// Directions in which the case is run.
    pub directions: Vec<Direction>,
    pub(super) plan: Plan,
    pub(super) expected: Vec<Expected>,
}

impl Case {
    /// Creates a case in both directions that only checks the general rules.
    pub(super) fn new(name: &str) -> Case {
        Case {
            name: name.to_owned(),
            title: String::new(),
            sources: Vec::new(),
            directions: Direction::ALL.to_vec(),
            plan: Plan::new(),
            expected: Vec::new(),
        }
    }

    /// Returns the expected result with its sources.
    pub fn about(&self) -> String {
        match &self.sources[..] {
            [] => self.title.clone(),
            sources => format!("{} ({})", self.title, sources.join(", ")),
        }
    }
}

/// Name of a value that a case may bound, and the value in a run for an end.
pub(super) type Measure = (&'static str, fn(&Plan, &Trace, Side) -> u64);

/// An expected result of a case, in addition to the general rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub measure: &'static Measure,
    pub side: Side,
    pub value: Bounds,
}

impl Expected {
    /// Compares a run with the expected result.
    pub fn check(&self, plan: &Plan, trace: &Trace, findings: &mut Findings) {
        let (name, measure) = self.measure;
        let found = measure(plan, trace, self.side);
        let expected = format_args!("{name} of the {}: {}", self.side, self.value);
        findings.expect(self.value.allow(found), expected, found);
    }
}

/// An end of a case.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub stack: StackConfig,
    /// Identifier of the congestion control.
    pub algorithm: &'static str,
    pub steps: Vec<Step>,
}

/// Set-up of a case.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Rate in each direction, bits per second.
    pub rate_bps: u64,
    /// Propagation delay in each direction.
    pub delay: Span,
    pub discipline: Discipline,
    /// Error models towards the receiver, and towards the sender.
    pub loss: [Option<LossModel>; 2],
    /// The sender and the receiver.
    pub ends: [End; 2],
    pub faults: Vec<Fault>,
    /// True if resets are part of the case.
    pub resets: bool,
    /// Maximum number of unnecessary retransmissions per end: data segments whose bytes have all arrived
    /// before. `None` for no maximum.
    pub needless: Option<u32>,
    /// Time by which both applications must have finished.
    pub patience: Time,
    /// Settings of Multipath TCP, if the connection uses it.
    pub multipath: Option<Multipath>,
}

/// Additional set-up of a case of Multipath TCP. The plan's values for one path apply to the first path.
#[derive(Clone, Debug)]
pub(super) struct Multipath {
    /// Propagation delay of the second path in each direction.
    pub delay: Span,
    /// Behaviour of Windlass's end.
    pub config: MultipathConfig,
    /// Type of the kernel's socket: plain TCP, Multipath TCP, or Multipath TCP with checksums.
    pub kernel: KernelSocket,
    /// Faults of the second path.
    pub faults: Vec<Fault>,
    /// Times at which paths deliver nothing.
    pub outages: Vec<Outage>,
}

/// The kernel's socket in a case of Multipath TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelSocket {
    /// An ordinary socket.
    Plain,
    /// A socket of Multipath TCP.
    Multipath,
    /// A socket of Multipath TCP that requests checksums.
    Checksums,
}

/// A period in which a path accepts all packets and delivers none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outage {
    pub path: u8,
    pub from: Time,
    pub to: Time,
}

impl Multipath {
    /// A second path with a delay of 20 ms in each direction.
    pub fn new() -> Multipath {
        Multipath {
            delay: Span::from_millis(20),
            config: MultipathConfig::default(),
            kernel: KernelSocket::Multipath,
            faults: Vec::new(),
            outages: Vec::new(),
        }
    }
}

impl Plan {
    /// Creates a plan whose applications do nothing. Both ends use Linux's stack and CUBIC, over 20 Mbps and 10 ms
    /// in each direction.
    pub fn new() -> Plan {
        let stack = StackConfig { time_wait: TIME_WAIT, ..stack::LINUX };
        let end = || End { stack, algorithm: "cubic", steps: Vec::new() };
        Plan {
            rate_bps: 20_000_000,
            delay: Span::from_millis(10),
            discipline: Discipline::DropTail,
            loss: [None, None],
            ends: [end(), end()],
            faults: Vec::new(),
            resets: false,
            needless: Some(0),
            patience: Time::from_secs(15),
            multipath: None,
        }
    }

    /// Returns the number of paths.
    pub fn paths(&self) -> u8 {
        if self.multipath.is_some() { 2 } else { 1 }
    }

    /// Returns the end that opens the connection.
    pub fn client(&self) -> Side {
        let opens = self.ends[0].steps.contains(&Step::Connect);
        if opens { Side::Sender } else { Side::Receiver }
    }

    /// Returns the addresses of the two ends, the sender's first.
    pub fn addresses(&self) -> FlowAddresses {
        let addresses = super::addresses();
        if self.client() == Side::Sender { addresses } else { addresses.opened_by_to() }
    }

    /// Returns the path of packets with these addresses, which is given by the client's address.
    pub fn path_of(&self, addresses: &Addresses) -> Option<u8> {
        let ends = [addresses.source.ip(), addresses.destination.ip()];
        (0..self.paths()).find(|path| ends.contains(&&self.client_address(*path)))
    }

    /// Returns the client's address on a path.
    pub fn client_address(&self, path: u8) -> Ipv4Addr {
        self.addresses().client(path)
    }

    /// Returns the network, with all hosts outside the simulation. Each path is a link between its own two
    /// nodes.
    pub fn network(&self, seed: u64) -> Config {
        let delays = [Some(self.delay), self.multipath.as_ref().map(|m| m.delay)];
        let paths = (0_u32..).zip(delays.into_iter().flatten());
        let (mut nodes, mut links, mut flows) = (Vec::new(), Vec::new(), Vec::new());
        for (path, delay) in paths {
            let (name, at) = (path + 1, 2 * path as usize);
            nodes.extend([format!("sender-{name}"), format!("receiver-{name}")]);
            links.push(LinkConfig {
                name: format!("wire-{name}"),
                ends: [at, at + 1],
                rate_bps: self.rate_bps,
                delay,
                queue: QueueLimit::Packets(1_000),
                discipline: self.discipline.clone(),
                framing: Framing::NONE,
                loss: self.loss.clone().into(),
                down: Vec::new(),
                quick_start: None,
                back: None,
                radio: None,
                course: Default::default(),
            });
            let flow = self.flow(Side::Sender);
            flows.push(FlowConfig {
                name: format!("subflow-{name}"),
                from: at,
                to: at + 1,
                ..flow
            });
        }
        Config {
            nodes,
            links,
            radios: Vec::new(),
            flows,
            duration: self.patience,
            seed,
            record: Record { capture: (0..self.paths().into()).collect(), ..Record::default() },
        }
    }

    /// Returns the connection, with an end's stack.
    pub fn flow(&self, side: Side) -> FlowConfig {
        FlowConfig {
            name: "connection".into(),
            from: 0,
            to: 1,
            profile: self.profile(side).into(),
            traffic: Traffic::Bulk { bytes: None },
            read: ReadPolicy::Immediate,
            start: Time::ZERO,
            multipath: None,
            pauses: Vec::new(),
        }
    }

    /// Returns the stack and the congestion control of an end. An unknown algorithm would become Reno; a test
    /// checks that all names are known.
    pub fn profile(&self, side: Side) -> Profile {
        let end = &self.ends[side as usize];
        let params = AnyParams::by_name(end.algorithm).unwrap_or_default();
        Profile::new(end.stack, params, MTU)
    }
}
