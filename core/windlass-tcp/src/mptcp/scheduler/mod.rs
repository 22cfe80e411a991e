//! Schedulers: the selection of the path of the next data.

mod blest;
mod earliest;
mod ecf;
mod fpf;
mod linger;
mod path;

use windlass_cc::group::MAX_PATHS;

use super::config::Scheduler;

pub use path::{Assignment, Backlog, PathState, lowest_rtt};

/// A scheduler with its state.
#[derive(Clone, Debug)]
pub struct Scheduling {
    kind: Scheduler,
    /// Round robin: the next path.
    turn: usize,
    /// Redundant: the next offset of each path.
    cursors: [u64; MAX_PATHS],
    ecf: ecf::Ecf,
    blest: blest::Blest,
    plan: earliest::Plan,
    linger: linger::Linger,
    fpf: fpf::Fpf,
}

impl Scheduling {
    /// A scheduler at the beginning of a connection.
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

    /// True if every path carries all data.
    pub fn is_redundant(&self) -> bool {
        self.kind == Scheduler::Redundant
    }

    /// The next piece of a path: offset of its first byte, and the maximum offset of its end.
    pub fn piece_for(&self, path: usize, b: &Backlog) -> (u64, u64) {
        match self.kind {
            Scheduler::Redundant => (self.cursors[path].max(b.una), b.limit),
            Scheduler::EarliestArrival | Scheduler::Linux => {
                self.plan.next_for(path, b).unwrap_or((b.next, b.limit))
            }
            _ => (b.next, b.limit),
        }
    }

    /// True if the size of a path's next piece is final: it does not grow by waiting.
    pub fn is_settled(&self, path: usize, b: &Backlog) -> bool {
        match self.kind {
            Scheduler::Redundant => self.piece_for(path, b).0 < b.next,
            Scheduler::EarliestArrival | Scheduler::Linux => self.plan.next_for(path, b).is_some(),
            _ => false,
        }
    }

    /// The next piece and its path. `paths` has all paths that may carry new data, with or without space.
    /// `None` means to wait for data or for a better path.
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

    /// Notes that a piece is assigned to its path.
    pub fn on_assigned(&mut self, a: &Assignment) {
        match self.kind {
            Scheduler::RoundRobin => self.turn = a.path + 1,
            Scheduler::Redundant => self.cursors[a.path] = a.start + a.len,
            Scheduler::EarliestArrival | Scheduler::Linux => self.plan.take(a),
            Scheduler::Fpf(_) | Scheduler::PathChoice => self.fpf.on_assigned(a.path),
            _ => {}
        }
    }

    /// Notes that the receive window limits the sender although a path has space.
    pub fn on_blocked(&mut self) {
        self.blest.on_blocked();
    }

    /// Notes that a path has lost its subflow or is out of use. Data planned for it are planned for other
    /// paths.
    pub fn on_path_gone(&mut self, path: usize) {
        self.cursors[path] = 1;
        self.plan.withdraw(path);
        self.linger.forget(path);
    }

    /// True if a byte below the highest assigned offset is not assigned yet.
    pub fn plans(&self, offset: u64) -> bool {
        self.plan.holds(offset)
    }

    /// True if pieces may wait that are below data already assigned to a path.
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
