//! The paths of a connection, whose controllers see each other.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_cc::group::{MAX_PATHS, PathEvent, PathView};
use windlass_cc::{AnyParams, Coordinator, Group, Time};

/// The paths of one connection.
#[derive(Debug)]
struct Paths {
    members: Vec<Member>,
    coordinator: Coordinator,
}

#[derive(Debug)]
struct Member {
    view: PathView,
    alive: Weak<()>,
}

/// One path of a connection. It leaves when its last copy is dropped.
#[derive(Clone, Debug)]
pub struct Place {
    paths: Arc<Mutex<Paths>>,
    own: usize,
    _alive: Arc<()>,
}

/// Data that the controllers of one connection share.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Paths>>);

impl Shared {
    /// A new connection; the time of all its paths begins at 0.
    pub fn new(params: &AnyParams) -> Shared {
        let coordinator = params.coordinator(Time::ZERO);
        Shared(Arc::new(Mutex::new(Paths { members: Vec::new(), coordinator })))
    }

    /// Adds a path.
    pub fn join(&self, view: PathView) -> Place {
        let alive = Arc::new(());
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.members.push(Member { view, alive: Arc::downgrade(&alive) });
        Place { paths: self.0.clone(), own: paths.members.len() - 1, _alive: alive }
    }
}

impl Place {
    /// Reports an event on this path.
    pub fn report(&self, now: Time, what: PathEvent) {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.coordinator.on_event(now, self.own, what);
    }

    /// Shows this path to its siblings, and returns the group that it sees. Paths beyond
    /// [`MAX_PATHS`] are alone.
    pub fn show(&self, now: Time, view: PathView) -> Group {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.members[self.own].view = view;
        paths.coordinator.advance(now);
        let alive = |member: &Member| member.alive.strong_count() > 0;
        let place = paths.members[..self.own].iter().filter(|member| alive(member)).count();
        if place >= MAX_PATHS {
            return Group::new([view]);
        }
        let views = paths.members.iter().filter(|member| alive(member)).map(|member| member.view);
        Group::new(views).seen_from(place, paths.coordinator.mode(self.own))
    }
}
