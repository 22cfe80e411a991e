//! What a case sets up.

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
/// Time in TIME-WAIT of our endpoint. The kernel's, a minute, cannot be changed; no case waits for it.
const TIME_WAIT: Span = Span::from_secs(5);

type Check = Box<dyn Fn(&Trace, &mut Findings) + Send + Sync>;

/// A case: what both ends do, what happens to their packets, and what must come of it.
pub struct Case {
    /// Its name, such as `lost-syn`.
    pub name: String,
    /// What must come of it, in one line.
    pub about: String,
    /// The directions in which it is run.
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
    /// A case in both directions, of which only the rules that hold for all are demanded so far.
    pub(super) fn new(name: impl Into<String>, about: impl Into<String>, plan: Plan) -> Case {
        Case {
            name: name.into(),
            about: about.into(),
            directions: Direction::ALL.to_vec(),
            plan,
            check: Box::new(|_, _| {}),
        }
    }

    /// What is demanded besides.
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
    /// Identifier of its congestion control.
    pub algorithm: &'static str,
    pub script: Vec<Step>,
}

/// What a case sets up.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Bits per second, each way.
    pub rate_bps: u64,
    /// Propagation delay, each way.
    pub delay: Span,
    pub discipline: Discipline,
    /// Error model towards the receiver, and towards the sender.
    pub loss: [Option<LossModel>; 2],
    /// Sender and receiver.
    pub ends: [End; 2],
    pub faults: Vec<Fault>,
    /// Whether resets are part of the case.
    pub resets: bool,
    /// Data segments that each end may send although all of it has arrived; `None` for any number.
    pub needless: Option<u32>,
    /// Time by which both applications must be done.
    pub patience: Time,
    /// What makes the connection one of Multipath TCP.
    pub multipath: Option<Multipath>,
}

/// What a case of Multipath TCP sets up besides. All that a plan says of one path is of the first.
#[derive(Clone, Debug)]
pub(super) struct Multipath {
    /// Propagation delay of the second path, each way.
    pub delay: Span,
    /// Behaviour of our end.
    pub config: MultipathConfig,
    /// Whether the kernel's socket is one of Multipath TCP, and whether it wants checksums.
    pub kernel: KernelSocket,
    /// Faults of the second path.
    pub faults: Vec<Fault>,
    /// When nothing passes.
    pub outages: Vec<Outage>,
}

/// The kernel's socket in a case of Multipath TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelSocket {
    /// An ordinary one.
    Plain,
    /// One of Multipath TCP.
    Multipath,
    /// One that wants checksums.
    Checksums,
}

/// A time in which a path takes everything and delivers nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outage {
    pub path: u8,
    pub from: Time,
    pub to: Time,
}

impl Multipath {
    /// A second path of 20 ms each way.
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
    /// Two ends with these scripts: Linux's stack and CUBIC over 20 Mbps and 10 ms each way.
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

    /// Makes the connection one of Multipath TCP, after changes to what that is.
    pub fn multipath(mut self, change: impl FnOnce(&mut Multipath)) -> Plan {
        let mut multipath = Multipath::new();
        change(&mut multipath);
        self.multipath = Some(multipath);
        self.needless(None)
    }

    /// Number of paths.
    pub fn paths(&self) -> u8 {
        if self.multipath.is_some() { 2 } else { 1 }
    }

    /// The end that opens the connection.
    pub fn client(&self) -> Side {
        let opens = self.ends[0].script.contains(&Step::Connect);
        if opens { Side::Sender } else { Side::Receiver }
    }

    /// Addresses of the two ends, the sender's first.
    pub fn addresses(&self) -> FlowAddresses {
        let addresses = super::addresses();
        if self.client() == Side::Sender { addresses } else { addresses.opened_by_to() }
    }

    /// The path on which packets with these addresses go: the one with the client's.
    pub fn path_of(&self, addresses: &Addresses) -> Option<u8> {
        let ends = [addresses.source.ip(), addresses.destination.ip()];
        (0..self.paths()).find(|path| ends.contains(&&self.client_address(*path)))
    }

    /// The client's address on a path.
    pub fn client_address(&self, path: u8) -> Ipv4Addr {
        self.addresses().client(path)
    }

    /// The sender opens, sends this number of bytes and closes; then the receiver does.
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

    /// Changes the stack of both ends.
    pub fn stacks(self, change: impl Fn(&mut StackConfig)) -> Plan {
        self.stack(Side::Sender, &change).stack(Side::Receiver, &change)
    }

    /// Changes the stack of one end.
    pub fn stack(mut self, side: Side, change: impl Fn(&mut StackConfig)) -> Plan {
        change(&mut self.ends[side as usize].stack);
        self
    }

    /// The congestion control of the sender.
    pub fn algorithm(mut self, id: &'static str) -> Plan {
        self.ends[0].algorithm = id;
        self
    }

    /// One more fault.
    pub fn fault(mut self, from: Side, which: Which, what: What) -> Plan {
        self.faults.push(Fault { from, which, what });
        self
    }

    /// One more loss.
    pub fn lose(self, from: Side, which: Which) -> Plan {
        self.fault(from, which, What::Drop)
    }

    /// Resets are part of the case.
    pub fn with_resets(mut self) -> Plan {
        self.resets = true;
        self
    }

    /// How many data segments each end may send although all of it has arrived.
    pub fn needless(mut self, most: impl Into<Option<u32>>) -> Plan {
        self.needless = most.into();
        self
    }

    /// The network, of which all hosts are outside: for each path a link between two nodes of its own.
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
                loss: self.loss.clone(),
                down: Vec::new(),
                quick_start: None,
                back: None,
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

    /// The connection, with an end's stack.
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

    /// Stack and congestion control of an end. A name that is none would be Reno; a test sees to it
    /// that there is none.
    pub fn profile(&self, side: Side) -> Profile {
        let end = &self.ends[side as usize];
        let params = AnyParams::by_name(end.algorithm).unwrap_or_default();
        Profile::new(end.stack, params, MTU)
    }
}
