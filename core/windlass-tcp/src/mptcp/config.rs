//! Configuration of a multipath connection.

use windlass_cc::Span;
use windlass_cc::group::MAX_PATHS;

use crate::endpoint::Profile;
use crate::fitness::Reading;

/// The rule that selects the path of the next data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scheduler {
    /// The path with the lowest SRTT among the paths whose cwnd has space: the default of the kernels before
    /// Multipath TCP was in Linux.
    #[default]
    LowestRtt,
    /// One path after the other, a segment each, if their cwnds have space.
    RoundRobin,
    /// Every path. The first copy to arrive counts.
    Redundant,
    /// BLEST (Ferlin, Alay, Mehani, Boreli 2016): no data on a slow path if the fast path would then wait for
    /// the receive window.
    Blest,
    /// ECF (Lim, Nahum, Towsley, Gibbens 2017): no data on a slow path if the fast path would finish earlier.
    Ecf,
    /// The path with the earliest predicted arrival, including its backlog. A slower path takes data from
    /// further ahead, so that all data arrive in order. An approximation of the scheduler of BC-CPS (Wei et
    /// al. 2021), whose equations are not public.
    EarliestArrival,
    /// Bursts into the send queue of the path that would empty its queue first, regardless of the space in
    /// its cwnd: the scheduler of Linux.
    Linux,
    /// The best path that has space, by the sum of two scores. They use the state of the sending node's lower
    /// layers and of the subflow: the fitness of equations 4 and 5 of Parween and Hussain, and their choice
    /// of path by congestion, delay and throughput.
    Fpf(Reading),
    /// Like [`Fpf`](Scheduler::Fpf), but only with the score for the choice of path.
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

    /// True if the scheduler uses the state of the sending node's lower layers
    /// ([`Connection::tell_scheduler`](super::Connection::tell_scheduler)).
    pub const fn wants_layers(self) -> bool {
        matches!(self, Scheduler::Fpf(_) | Scheduler::PathChoice)
    }
}

/// Behaviour of a multipath connection above its subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MultipathConfig {
    /// The rule that selects the path of the next data.
    pub scheduler: Scheduler,
    /// Receive buffer that all subflows share, bytes, at least 1. Data that wait for earlier data of another
    /// subflow stay in it, so that one slow path can block all paths.
    pub receive_buffer: u64,
    /// Send buffer that all subflows share, bytes, at least 1: data in flight, or data that wait for their
    /// acknowledgement at data level.
    pub send_buffer: u64,
    /// Reduce the cwnd of a path that blocks the receive window, at most once per RTT of this path (Raiciu et
    /// al. 2012, section 4.2).
    pub penalise: bool,
    /// Retransmit data that block the receive window on a path that has space (Raiciu et al. 2012, section
    /// 4.1).
    pub opportunistic: bool,
    /// Checksum of the data in each mapping (RFC 8684 section 3.3.1): two option octets that detect damage.
    /// Both ends use it if one end requests it.
    pub checksum: bool,
    /// True if a server supports Multipath TCP. Otherwise it responds like a plain TCP server, and the
    /// connection becomes a plain connection on the first established path. No effect on a client.
    pub peer_capable: bool,
    /// Number of consecutive retransmission timeouts, at least 1, after which a subflow gets no more data.
    /// Its data are retransmitted on other subflows until it responds again.
    pub timeouts_to_fail: u32,
    /// Time from the failure of a subflow, or of an attempt to join, to the next attempt. It doubles after
    /// each failed attempt.
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
    /// The configuration of the Linux kernel itself (6.1 and later, `net/mptcp/protocol.c`): its own
    /// scheduler, without the two mechanisms against a full receive window. The kernels before Multipath TCP
    /// was in Linux had these mechanisms.
    pub fn linux() -> MultipathConfig {
        let scheduler = Scheduler::Linux;
        MultipathConfig { scheduler, penalise: false, opportunistic: false, ..Default::default() }
    }
}

/// Configuration of a multipath connection. One value serves any number of connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MultipathProfile {
    config: MultipathConfig,
    paths: Vec<Profile>,
    nagle: bool,
}

impl MultipathProfile {
    /// The profile of a connection with one entry of `paths` per path; each entry's parameters contain the
    /// path's algorithm. The buffers of the connection replace the buffers of the stacks. The first path's
    /// setting of Nagle's algorithm applies to all paths. An error is a sentence for users.
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
            // The connection's window is offered, and the subflow's stream has no information about it.
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

    /// True if a part of a segment waits while data are outstanding (RFC 1122 section 4.2.3.4).
    pub fn nagle(&self) -> bool {
        self.nagle
    }
}
