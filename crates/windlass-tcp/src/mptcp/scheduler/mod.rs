//! On which path the next data goes.

mod blest;
mod earliest;
mod ecf;
mod fpf;
mod linger;
mod path;

use windlass_cc::group::MAX_PATHS;

use super::config::Scheduler;

pub use path::{Assignment, Backlog, PathState, lowest_rtt};

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
