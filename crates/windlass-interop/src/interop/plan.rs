//! Set-up of a case.

use std::fmt;
use std::net::Ipv4Addr;

use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_tcp::mptcp::MultipathConfig;
use windlass_tcp::wire::Addresses;
use windlass_tcp::{Profile, StackConfig, stack};

use super::faults::{Fault, What, Which};
use super::findings::Findings;
use super::script::Step;
use super::trace::Trace;
use super::{Direction, Side};

/// Largest IP packet of the path, bytes.
const MTU: u32 = 1500;
/// Duration of TIME-WAIT in Windlass's endpoint. The kernel's duration, one minute, is fixed; no case waits
/// for it.
const TIME_WAIT: Span = Span::from_secs(5);

type Check = Box<dyn Fn(&Trace, &mut Findings) + Send + Sync>;

/// A case: the actions of both ends, the faults of their packets, and the expected results.
pub struct Case {
    /// Name, such as `lost-syn`.
    pub name: String,
    /// Expected result, in one line.
    pub about: String,
    /// Directions in which the case is run.
    pub directions: Vec<Direction>,
    pub(super) plan: Plan,
    pub(super) check: Check,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("plan", &self.plan).finish()
    }
}

impl Case {
    /// Creates a case in both directions that only checks the general rules.
    pub(super) fn new(name: impl Into<String>, about: impl Into<String>, plan: Plan) -> Case {
        Case {
            name: name.into(),
            about: about.into(),
            directions: Direction::ALL.to_vec(),
            plan,
            check: Box::new(|_, _| {}),
        }
    }

    /// Adds a check of the results.
    pub(super) fn check(
        mut self,
        check: impl Fn(&Trace, &mut Findings) + Send + Sync + 'static,
    ) -> Case {
        self.check = Box::new(check);
        self
    }

    pub(super) fn only(mut self, direction: Direction) -> Case {
        self.directions = vec![direction];
        self
    }
}

/// An end of a case.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub stack: StackConfig,
    /// Identifier of the congestion control.
    pub algorithm: &'static str,
    pub script: Vec<Step>,
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
    /// Creates a plan with these scripts. Both ends use Linux's stack and CUBIC, over 20 Mbps and 10 ms in
    /// each direction.
    pub fn new(sender: Vec<Step>, receiver: Vec<Step>) -> Plan {
        let stack = StackConfig { time_wait: TIME_WAIT, ..stack::LINUX };
        let end = |script| End { stack, algorithm: "cubic", script };
        Plan {
            rate_bps: 20_000_000,
            delay: Span::from_millis(10),
            discipline: Discipline::DropTail,
            loss: [None, None],
            ends: [end(sender), end(receiver)],
            faults: Vec::new(),
            resets: false,
            needless: Some(0),
            patience: Time::from_secs(15),
            multipath: None,
        }
    }

    /// Makes the connection use Multipath TCP, with changes of its set-up.
    pub fn multipath(mut self, change: impl FnOnce(&mut Multipath)) -> Plan {
        let mut multipath = Multipath::new();
        change(&mut multipath);
        self.multipath = Some(multipath);
        self.needless(None)
    }

    /// Returns the number of paths.
    pub fn paths(&self) -> u8 {
        if self.multipath.is_some() { 2 } else { 1 }
    }

    /// Returns the end that opens the connection.
    pub fn client(&self) -> Side {
        let opens = self.ends[0].script.contains(&Step::Connect);
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

    /// Creates a transfer: the sender opens, sends this number of bytes and closes; the receiver closes after
    /// that.
    pub fn transfer(bytes: u64) -> Plan {
        Plan::new(
            vec![Step::Connect, Step::Send(bytes), Step::Close, Step::End, Step::Over],
            vec![
                Step::Listen,
                Step::Open(1),
                Step::Received(bytes),
                Step::End,
                Step::Close,
                Step::Over,
            ],
        )
    }

    /// Changes the stacks of both ends.
    pub fn stacks(self, change: impl Fn(&mut StackConfig)) -> Plan {
        self.stack(Side::Sender, &change).stack(Side::Receiver, &change)
    }

    /// Changes the stack of one end.
    pub fn stack(mut self, side: Side, change: impl Fn(&mut StackConfig)) -> Plan {
        change(&mut self.ends[side as usize].stack);
        self
    }

    /// Sets the congestion control of the sender.
    pub fn algorithm(mut self, id: &'static str) -> Plan {
        self.ends[0].algorithm = id;
        self
    }

    /// Adds a fault.
    pub fn fault(mut self, from: Side, which: Which, what: What) -> Plan {
        self.faults.push(Fault { from, which, what });
        self
    }

    /// Adds a loss.
    pub fn lose(self, from: Side, which: Which) -> Plan {
        self.fault(from, which, What::Drop)
    }

    /// Allows resets.
    pub fn with_resets(mut self) -> Plan {
        self.resets = true;
        self
    }

    /// Sets the maximum number of unnecessary retransmissions per end.
    pub fn needless(mut self, most: impl Into<Option<u32>>) -> Plan {
        self.needless = most.into();
        self
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
