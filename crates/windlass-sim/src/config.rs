//! What to simulate, fully resolved: no names to look up, no units to parse.

use std::sync::Arc;

use windlass_cc::{Span, Time};
use windlass_tcp::Profile;
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile};

use crate::course::Course;
use crate::link::{Framing, QueueLimit};
use crate::loss::LossModel;
use crate::queue::Discipline;
use crate::radio::RadioConfig;
use crate::results::Series;

pub use crate::traffic::{Cbr, Coap, ReadPolicy, Traffic};

/// A network, its flows and what to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Names of the nodes; elsewhere a node is its index here.
    pub nodes: Vec<String>,
    /// Links, each with two directions.
    pub links: Vec<LinkConfig>,
    /// Radio channels.
    pub radios: Vec<RadioConfig>,
    /// Flows.
    pub flows: Vec<FlowConfig>,
    /// When the run ends.
    pub duration: Time,
    /// Seed of every random choice.
    pub seed: u64,
    /// What to record.
    pub record: Record,
}

/// A bidirectional link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Name.
    pub name: String,
    /// Its two ends; forward is from the first to the second.
    pub ends: [usize; 2],
    /// Bits per second, each direction; at least 1. Frames that follow one another take the time of all their bits
    /// together, rounded up to a nanosecond.
    pub rate_bps: u64,
    /// Propagation delay, each direction.
    pub delay: Span,
    /// Most that may wait, each direction.
    pub queue: QueueLimit,
    /// What each direction does with packets that have to wait.
    pub discipline: Discipline,
    /// Link layer.
    pub framing: Framing,
    /// Error model of the forward and the backward direction.
    pub loss: [Option<LossModel>; 2],
    /// When both directions are down, from the first to the second moment of each pair: what is
    /// transmitted then, even in part, is lost. The queue goes on draining, as before an antenna
    /// that nobody hears. Moments ascend.
    pub down: Vec<[Time; 2]>,
    /// Whether the routers at both ends answer Quick-Start requests (RFC 4782) for what they put on
    /// the link; otherwise they do not know the option.
    pub quick_start: Option<QuickStart>,
    /// What the backward direction has in place of `rate_bps`, `delay`, `queue` and `discipline`.
    pub back: Option<Box<LinkDirection>>,
    /// How the forward and the backward direction depart from a constant rate and delay.
    pub course: [Course; 2],
}

/// What one direction of a link has to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirection {
    /// Bits per second; of a link whose rate changes the one that stands for all, as where a length is a share of a
    /// bandwidth-delay product.
    pub rate_bps: u64,
    /// Propagation delay, at the beginning where it changes.
    pub delay: Span,
    /// Most that may wait.
    pub queue: QueueLimit,
    /// What is done with packets that have to wait.
    pub discipline: Discipline,
}

impl LinkConfig {
    /// Its forward direction, with 0, or its backward one, with 1.
    pub fn direction(&self, direction: usize) -> LinkDirection {
        match &self.back {
            Some(back) if direction == 1 => LinkDirection::clone(back),
            _ => LinkDirection {
                rate_bps: self.rate_bps,
                delay: self.delay,
                queue: self.queue,
                discipline: self.discipline.clone(),
            },
        }
    }
}

/// That the routers at the two ends of a link answer Quick-Start requests for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStart {
    /// Share of the link's rate up to which requests are approved, what is in use and what was
    /// approved a short time ago included; more than 0, at most 1.
    pub share: f64,
    /// Use is measured over intervals of this length, and what was approved in the running one and
    /// the one before it counts as used.
    pub interval: Span,
}

impl QuickStart {
    /// Up to the whole rate, looking back 150 to 300 ms: longer than most round trips, so that who
    /// was told a rate can be seen to use it before it is forgotten.
    pub const DEFAULT: QuickStart = QuickStart { share: 1.0, interval: Span::from_millis(150) };

    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err("quick_start: the share must be more than 0 and at most 1".to_string());
        }
        if self.interval == Span::ZERO {
            return Err("quick_start: the interval must be more than 0".to_string());
        }
        Ok(())
    }
}

/// A flow: `from` sends the data, `to` receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// Name.
    pub name: String,
    /// Node that sends the data.
    pub from: usize,
    /// Node that receives it.
    pub to: usize,
    /// Stack and algorithm of both ends; flows with the same may share it.
    pub profile: Arc<Profile>,
    /// What is sent.
    pub traffic: Traffic,
    /// How the receiving application reads.
    pub read: ReadPolicy,
    /// When the flow starts.
    pub start: Time,
    /// Times, each from … until before …, in which a source of datagrams is silent: ascending, and
    /// between `start` and the source's stop. After each it sends at once.
    pub pauses: Vec<[Time; 2]>,
    /// Subflows, of a Multipath TCP connection; not of datagrams.
    pub multipath: Option<Multipath>,
}

impl FlowConfig {
    /// How long a source of datagrams has been silent by a moment.
    pub fn paused_until(&self, end: Time) -> Span {
        let past = self.pauses.iter().map(|[from, until]| until.min(&end).since(*from));
        past.fold(Span::ZERO, |sum, pause| sum + pause)
    }
}

/// What makes a flow a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipath {
    /// Scheduler, buffers and the like.
    pub config: MultipathConfig,
    /// One or more; the connection begins on the first.
    pub subflows: Vec<SubflowConfig>,
    /// Whether the two subflows that cross a radio whose stations route by AODV do so on node-disjoint
    /// routes ([`DisjointPath`](crate::routing::aodv::DisjointPath)). There must be such a radio, and on each
    /// of them exactly two of the subflows, between the same two stations.
    pub disjoint: bool,
}

/// A subflow: one path of a multipath connection.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowConfig {
    /// Name, unique within the flow.
    pub name: String,
    /// Nodes that its path leads over on the way from `from` to `to`, by the shortest path from one
    /// to the next. What comes back takes the same way.
    pub via: Vec<usize>,
    /// Stack and algorithm.
    pub profile: Profile,
}

impl FlowConfig {
    /// Its profile, to be changed for it alone.
    pub fn profile_mut(&mut self) -> &mut Profile {
        Arc::make_mut(&mut self.profile)
    }

    /// The profiles of its connections: its own, or those of the subflows.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        let subflows = self.multipath.iter().flat_map(|m| &m.subflows).map(|s| &s.profile);
        let own = self.multipath.is_none().then_some(&*self.profile);
        own.into_iter().chain(subflows)
    }
}

impl Multipath {
    /// The connection's profile; an error is a sentence.
    pub(crate) fn profile(&self) -> Result<MultipathProfile, &'static str> {
        MultipathProfile::new(self.config, self.subflows.iter().map(|s| s.profile).collect())
    }
}

impl Config {
    /// How many subflows the flows have together.
    pub fn subflows(&self) -> usize {
        self.flows.iter().filter_map(|f| f.multipath.as_ref()).map(|m| m.subflows.len()).sum()
    }

    /// Where the subflows of the flow with this index begin in the numbering of
    /// [`Sample::flow`](crate::Sample::flow): all flows first, then all subflows in their order.
    pub fn track(&self, flow: usize) -> usize {
        let before = self.flows.iter().take(flow).filter_map(|f| f.multipath.as_ref());
        self.flows.len() + before.map(|m| m.subflows.len()).sum::<usize>()
    }
}

/// What to record besides totals.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Record {
    /// Series of every flow.
    pub series: Vec<Series>,
    /// Least time between two samples of a series; zero records every change.
    pub interval: Span,
    /// Links whose packets are logged.
    pub capture: Vec<usize>,
    /// Spans of time, each from … to …, to which the log is restricted; all of the run if there are none.
    pub capture_within: Vec<[Time; 2]>,
    /// Length of the intervals of [`Timeline`](crate::results::Timeline); zero for none.
    pub bins: Span,
    /// Whether the delay of each data packet is measured.
    pub delays: bool,
    /// Whether what senders decide is noted with its cause, and what becomes of packets that are dropped or marked.
    pub decisions: bool,
}

/// Why a configuration cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A flow's ends are not connected.
    NoRoute {
        /// The flow, or flow and subflow.
        flow: String,
    },
    /// More links, radios and flows than events can address.
    TooLarge,
    /// A value that cannot be simulated.
    Invalid {
        /// Whose value: `link "wire"`, `flow "a"`, `the run`.
        of: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigError::NoRoute { flow } => {
                write!(f, "no chain of links and radio hops joins the two ends of flow \"{flow}\"")
            }
            ConfigError::TooLarge => write!(
                f,
                "links, radios and flows together exceed {} entities",
                crate::event_queue::MAX_ENTITIES
            ),
            ConfigError::Invalid { of, problem } => write!(f, "{of}: {problem}"),
        }
    }
}

impl std::error::Error for ConfigError {}
