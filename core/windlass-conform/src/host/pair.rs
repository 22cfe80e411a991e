//! Two small hosts that are the paths of one connection.

use windlass_cc::{Conn, Event, Group, PathView, Time};

use super::{Host, Sender, Step};

/// The sender of a path, as its sibling path sees it.
pub trait Sibling: Sender {
    /// Slow-start threshold, bytes.
    fn ssthresh(&self, c: &Conn) -> u64;
    /// The value that it discloses.
    fn disclosed(&self) -> u64;
}

/// One step of a connection of two paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// This number of acknowledgements arrives on either path, in the order of time.
    Acks(u32),
    /// A step on the path with this index.
    On(usize, Step),
    /// The second path leaves the group, and the first path is notified.
    Leave,
    /// The second path joins the group again.
    Join,
    /// The connection selects these modes for its paths.
    Decide([u8; 2]),
}

/// Two paths. Each path is notified of the other when a cwnd, an ssthresh, an RTT, a phase, a
/// disclosed value or a mode has changed.
pub struct Pair<S> {
    hosts: [Host<S>; 2],
    together: bool,
    modes: [u8; 2],
    told: (Group, [u8; 2]),
}

impl<S: Sibling> Pair<S> {
    /// Two paths that have sent nothing and have not been notified of each other.
    pub fn new(hosts: [Host<S>; 2]) -> Pair<S> {
        Pair { hosts, together: true, modes: [0; 2], told: (Group::EMPTY, [0; 2]) }
    }

    /// Plays one move. `seen` receives every event of the first path, with the connection after it,
    /// after the sender.
    pub fn play(&mut self, step: &Move, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        match step {
            Move::Acks(count) => {
                for _ in 0..*count {
                    let next = self.next();
                    self.on(next, &Step::Acks(1), seen);
                }
            }
            Move::On(place, step) => self.on(*place, step, seen),
            Move::Leave => self.together = false,
            Move::Join => self.together = true,
            Move::Decide(modes) => self.modes = *modes,
        }
        self.tell(seen);
    }

    fn on(&mut self, place: usize, step: &Step, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        if place == 0 {
            self.hosts[0].play(step, seen);
        } else {
            self.hosts[1].play(step, &mut |_, _, _| {});
        }
        self.tell(seen);
    }

    /// The path on which an acknowledgement arrives next.
    fn next(&mut self) -> usize {
        let arrival = |host: &mut Host<S>| {
            host.send(1);
            host.ack_time(1)
        };
        let [first, second] = &mut self.hosts;
        usize::from(self.together && arrival(second) < arrival(first))
    }

    fn tell(&mut self, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        let members = if self.together { 2 } else { 1 };
        let group = Group::new(self.hosts[..members].iter().map(Host::view));
        if (group, self.modes) == self.told {
            return;
        }
        self.told = (group, self.modes);
        let now = self.hosts.iter().map(|host| host.c.now).max().unwrap_or(Time::ZERO);
        let [first, second] = &mut self.hosts;
        first.join(&group.seen_from(0, self.modes[0]), now, seen);
        if self.together {
            second.join(&group.seen_from(1, self.modes[1]), now, &mut |_, _, _| {});
        }
    }
}

impl<S: Sibling> Host<S> {
    fn view(&self) -> PathView {
        PathView {
            cwnd: self.sender.cwnd(&self.c),
            ssthresh: self.sender.ssthresh(&self.c),
            srtt: self.c.srtt,
            min_rtt: self.c.min_rtt,
            disclosed: self.sender.disclosed(),
            mss: self.c.mss,
            phase: self.c.phase,
        }
    }

    /// Receives the group of all paths, with a clock that its siblings share.
    fn join(&mut self, group: &Group, now: Time, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        self.c.now = self.c.now.max(now);
        self.tell(Event::Group(*group), seen);
    }
}
