//! On which path the next data goes.

mod blest;
mod earliest;
mod ecf;
mod fpf;
mod linger;

use windlass_cc::group::MAX_PATHS;
use windlass_cc::{CrossLayer, Span, Time};

use super::config::Scheduler;

/// A path as a scheduler sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathState {
    /// Which path it is.
    pub path: usize,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// The last round trip that data made; [`Span::NONE`] before there was one.
    pub rtt: Span,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Bytes in the network.
    pub in_flight: u64,
    /// Bytes that the path has got and that are not acknowledged on it.
    pub queued: u64,
    /// Largest payload of a segment, bytes.
    pub mss: u64,
    /// Payload of a segment that would leave at once, bytes; 0 if the path has to wait.
    pub room: u64,
    /// Data segments sent so far, retransmissions included.
    pub segments: u64,
    /// Of them, retransmissions.
    pub retransmits: u64,
    /// What the sending node's lower layers know of the path; `None` unless the scheduler
    /// [wants](Scheduler::wants_layers) it and has been told.
    pub layers: Option<CrossLayer>,
}

/// What is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// The moment.
    pub now: Time,
    /// Offset of the first byte that no path has got.
    pub next: u64,
    /// Offset up to which the receive window and the send buffer let data go.
    pub limit: u64,
    /// Everything below this offset is acknowledged.
    pub una: u64,
    /// Bytes that wait for a path, whether the windows let them go or not.
    pub unsent: u64,
    /// Window of the connection, bytes from `una` on.
    pub window: u64,
}

/// A piece of the stream for a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The path.
    pub path: usize,
    /// Offset of the first byte.
    pub start: u64,
    /// Bytes; no more than the path has room for.
    pub len: u64,
}

/// A scheduler with its memory.
#[derive(Clone, Debug)]
pub struct Scheduling {
    kind: Scheduler,
    /// Round robin: the path that comes next.
    turn: usize,
    /// Redundant: what each path carries next.
    cursors: [u64; MAX_PATHS],
    ecf: ecf::Ecf,
    blest: blest::Blest,
    plan: earliest::Plan,
    linger: linger::Linger,
    fpf: fpf::Fpf,
}

impl Scheduling {
    /// A scheduler that has sent nothing.
    pub fn new(kind: Scheduler) -> Scheduling {
        Scheduling {
            kind,
            turn: 0,
            cursors: [1; MAX_PATHS],
            ecf: ecf::Ecf::default(),
            blest: blest::Blest::default(),
            plan: earliest::Plan::default(),
            linger: linger::Linger::default(),
            fpf: fpf::Fpf::default(),
        }
    }

    /// Whether every path carries everything anyhow.
    pub fn is_redundant(&self) -> bool {
        self.kind == Scheduler::Redundant
    }

    /// What a path would carry next: offset of the first byte, and where the piece ends at the
    /// latest.
    pub fn piece_for(&self, path: usize, b: &Backlog) -> (u64, u64) {
        match self.kind {
            Scheduler::Redundant => (self.cursors[path].max(b.una), b.limit),
            Scheduler::EarliestArrival | Scheduler::Linux => {
                self.plan.next_for(path, b).unwrap_or((b.next, b.limit))
            }
            _ => (b.next, b.limit),
        }
    }

    /// Whether the size of what a path would carry next is settled: it does not grow by waiting.
    pub fn is_settled(&self, path: usize, b: &Backlog) -> bool {
        match self.kind {
            Scheduler::Redundant => self.piece_for(path, b).0 < b.next,
            Scheduler::EarliestArrival | Scheduler::Linux => self.plan.next_for(path, b).is_some(),
            _ => false,
        }
    }

    /// The next piece and its path. `paths` are all that may carry new data, whether they have room
    /// or not; `None` to wait, for data or for a better path.
    pub fn next(&mut self, paths: &[PathState], b: &Backlog) -> Option<Assignment> {
        let path = match self.kind {
            Scheduler::LowestRtt => lowest_rtt(paths)?,
            Scheduler::RoundRobin => self.next_in_turn(paths)?,
            Scheduler::Redundant => lowest_rtt(paths)?,
            Scheduler::Blest => self.blest.choose(paths, b)?,
            Scheduler::Ecf => self.ecf.choose(paths, b)?,
            Scheduler::EarliestArrival => return self.plan.next(paths, b),
            Scheduler::Linux => return self.linger.next(&mut self.plan, paths, b),
            Scheduler::Fpf(reading) => self.fpf.choose(paths, b.now, Some(reading))?,
            Scheduler::PathChoice => self.fpf.choose(paths, b.now, None)?,
        };
        let (start, end) = self.piece_for(path.path, b);
        let len = path.room.min(end.saturating_sub(start));
        (len > 0).then_some(Assignment { path: path.path, start, len })
    }

    /// A piece is with its path.
    pub fn on_assigned(&mut self, a: &Assignment) {
        match self.kind {
            Scheduler::RoundRobin => self.turn = a.path + 1,
            Scheduler::Redundant => self.cursors[a.path] = a.start + a.len,
            Scheduler::EarliestArrival | Scheduler::Linux => self.plan.take(a),
            Scheduler::Fpf(_) | Scheduler::PathChoice => self.fpf.on_assigned(a.path),
            _ => {}
        }
    }

    /// The receive window keeps data back although a path has room.
    pub fn on_blocked(&mut self) {
        self.blest.on_blocked();
    }

    /// A path has lost its subflow or is out of use: what was planned for it goes to others.
    pub fn on_path_gone(&mut self, path: usize) {
        self.cursors[path] = 1;
        self.plan.withdraw(path);
        self.linger.forget(path);
    }

    /// Whether a byte that some path got past is still to be assigned.
    pub fn plans(&self, offset: u64) -> bool {
        self.plan.holds(offset)
    }

    /// Whether pieces may wait that lie below what some path has got already.
    pub fn has_earlier_pieces(&self) -> bool {
        self.is_redundant() || !self.plan.is_empty()
    }
}

impl Scheduling {
    fn next_in_turn<'a>(&self, paths: &'a [PathState]) -> Option<&'a PathState> {
        let ready = || paths.iter().filter(|p| p.room > 0);
        ready().find(|p| p.path >= self.turn).or_else(|| ready().next())
    }
}

/// The path with the lowest round-trip time of those that have room.
pub fn lowest_rtt(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().filter(|p| p.room > 0).min_by_key(|p| (p.srtt, p.path))
}

/// The path with the lowest round-trip time of all.
fn fastest(paths: &[PathState]) -> Option<&PathState> {
    paths.iter().min_by_key(|p| (p.srtt, p.path))
}
