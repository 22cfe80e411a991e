//! What a multipath connection is configured with.

use windlass_cc::Span;
use windlass_cc::group::MAX_PATHS;

use crate::endpoint::Profile;
use crate::fitness::Reading;

/// On which path the next data goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// On the path with the lowest smoothed round-trip time of those whose window has room: the
    /// default of the kernels before Multipath TCP was in Linux.
    #[default]
    LowestRtt,
    /// On one path after the other, a segment each, as their windows have room.
    RoundRobin,
    /// On every path: what arrives first counts.
    Redundant,
    /// BLEST (Ferlin, Alay, Mehani, Boreli 2016): not on a slow path where it would keep the fast
    /// one waiting for the receive window.
    Blest,
    /// ECF (Lim, Nahum, Towsley, Gibbens 2017): not on a slow path where the fast one would have
    /// finished earlier.
    Ecf,
    /// On the path where it is predicted to arrive first, its backlog counted; a path takes data
    /// from further ahead the slower it is, so that all arrives in order. An approximation of the
    /// scheduler of BC-CPS (Wei et al. 2021), whose equations are not public.
    EarliestArrival,
    /// In bursts into the send queue of the path that would have sent its queue soonest, whether its
    /// window has room or not: the scheduler of Linux.
    Linux,
    /// On the best path that has room by two scores together, from what the sending node's lower layers
    /// and the subflow know: the fitness of equations 4 and 5 of Parween and Hussain, and their choice
    /// of path by congestion, delay and throughput.
    Fpf(Reading),
    /// The same by the choice of path alone.
    PathChoice,
}

impl Scheduler {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Scheduler); 10] = [
        ("lowest-rtt", Scheduler::LowestRtt),
        ("round-robin", Scheduler::RoundRobin),
        ("redundant", Scheduler::Redundant),
        ("blest", Scheduler::Blest),
        ("ecf", Scheduler::Ecf),
        ("earliest-arrival", Scheduler::EarliestArrival),
        ("linux", Scheduler::Linux),
        ("fpf", Scheduler::Fpf(Reading::Repaired)),
        ("fpf-literal", Scheduler::Fpf(Reading::Literal)),
        ("path-choice", Scheduler::PathChoice),
    ];

    /// Whether it goes by what the sending node's lower layers know of the paths
    /// ([`Connection::tell_scheduler`](super::Connection::tell_scheduler)).
    pub const fn wants_layers(self) -> bool {
        matches!(self, Scheduler::Fpf(_) | Scheduler::PathChoice)
    }
}

/// Behaviour of a multipath connection above its subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MultipathConfig {
    /// On which path the next data goes.
    pub scheduler: Scheduler,
    /// Receive buffer that all subflows share, bytes, at least 1. Data that arrived and waits for
    /// earlier data of another subflow stays in it, so that one slow path can hold up all.
    pub receive_buffer: u64,
    /// Send buffer that all subflows share, bytes, at least 1: data that may be under way or wait
    /// for its acknowledgement at data level.
    pub send_buffer: u64,
    /// A path that holds up the receive window has its window reduced, at most once per round trip
    /// of its own (Raiciu et al. 2012, section 4.2).
    pub penalise: bool,
    /// Data that holds up the receive window is retransmitted on a path that has room (the same).
    pub opportunistic: bool,
    /// Checksum of the data in each mapping (RFC 8684 section 3.3.1): two octets of option, and
    /// what is damaged is found. Both ends use it if one asks for it.
    pub checksum: bool,
    /// Whether a server speaks Multipath TCP at all; otherwise it answers as a plain one does, and
    /// the connection is a plain one on the first path that comes up. Nothing to a client.
    pub peer_capable: bool,
    /// Consecutive retransmission timeouts after which a subflow gets no more data and what it
    /// carried goes on others, until it is heard of again; at least 1.
    pub timeouts_to_fail: u32,
    /// Time from the failure of a subflow, or of an attempt to join, to the next attempt; twice as
    /// long after each that fails too.
    pub join_retry: Span,
}

impl Default for MultipathConfig {
    /// RFC 8684 with the buffers, the scheduler and the mechanisms of the Multipath TCP kernels.
    fn default() -> MultipathConfig {
        MultipathConfig {
            scheduler: Scheduler::LowestRtt,
            receive_buffer: 6 << 20,
            send_buffer: 4 << 20,
            penalise: true,
            opportunistic: true,
            checksum: false,
            peer_capable: true,
            timeouts_to_fail: 3,
            join_retry: Span::from_secs(1),
        }
    }
}

impl MultipathConfig {
    /// What the Linux kernel itself has (6.1 and later, `net/mptcp/protocol.c`): its own scheduler, and
    /// neither of the mechanisms that the kernels before Multipath TCP was in Linux had against a full
    /// receive window.
    pub fn linux() -> MultipathConfig {
        let scheduler = Scheduler::Linux;
        MultipathConfig { scheduler, penalise: false, opportunistic: false, ..Default::default() }
    }
}

/// What a multipath connection is configured with; one value serves any number of connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultipathProfile {
    config: MultipathConfig,
    paths: Vec<Profile>,
    nagle: bool,
}

impl MultipathProfile {
    /// The profile of a connection with one entry of `paths` for each path; the algorithm of a path
    /// is in its parameters. The buffers of the connection take the place of those of the stacks,
    /// and so does Nagle's algorithm of the first path's. An error is a sentence for people.
    pub fn new(
        config: MultipathConfig,
        mut paths: Vec<Profile>,
    ) -> Result<MultipathProfile, &'static str> {
        if paths.is_empty() {
            return Err("a multipath connection needs at least one path");
        }
        if paths.len() > MAX_PATHS {
            return Err("a multipath connection has at most 8 paths");
        }
        if config.receive_buffer == 0 {
            return Err("a receive buffer of 0 bytes takes no data; give at least 1 byte");
        }
        if config.send_buffer == 0 {
            return Err("a send buffer of 0 bytes takes no data; give at least 1 byte");
        }
        if config.timeouts_to_fail == 0 {
            return Err("a subflow cannot fail after 0 timeouts; give at least 1");
        }
        let nagle = paths[0].stack.nagle;
        for path in &mut paths {
            path.stack.receive_buffer = config.receive_buffer;
            path.stack.send_buffer = config.send_buffer;
            // The connection's window is offered, which the subflow's stream knows nothing of.
            path.stack.receive_autotuning = false;
            path.stack.nagle = nagle;
        }
        Ok(MultipathProfile { config, paths, nagle })
    }

    /// Behaviour above the subflows.
    pub fn config(&self) -> &MultipathConfig {
        &self.config
    }

    /// The profile of each path.
    pub fn paths(&self) -> &[Profile] {
        &self.paths
    }

    /// The profile of a path.
    pub fn path(&self, path: usize) -> &Profile {
        &self.paths[path]
    }

    /// Whether a part of a segment waits while data is outstanding (RFC 1122 section 4.2.3.4).
    pub fn nagle(&self) -> bool {
        self.nagle
    }
}
