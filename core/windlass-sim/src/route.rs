//! The routes of all hosts in one flat table. A packet handle has an index into the table, which
//! gives the present place of the packet and its following hops.

use crate::routing::Direction;

/// A packed hop of a route. The highest bits give its kind, and the other bits its number within
/// the kind. A link direction is stored as its number, so that one comparison distinguishes the
/// most frequent hops from all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop(u32);

/// Kind of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Over a link direction without a queue discipline.
    Link(Direction),
    /// To the host that receives the packet, which ends the route.
    Host(u32),
    /// Over a link direction with a queue discipline, by queue number.
    Queue(u32),
    /// Over a radio, by index in the list of [`RadioHop`]s.
    Radio(u32),
    /// Through a delay line, by line number.
    Line(u32),
    /// Over a direction of a link with a radio: twice the number of its gate, and one more for the
    /// downlink.
    Gate(u32),
    /// The inner hop for packets with a Quick-Start option, which a router processes first.
    WithOption(Hop),
}

impl Hop {
    const HOST: u32 = 1 << 31;
    const QUEUE: u32 = 1 << 30;
    const RADIO: u32 = 1 << 29;
    const LINE: u32 = Hop::QUEUE | Hop::RADIO;
    const OPTION: u32 = 1 << 28;
    /// A gate has the bit of options and a bit that numbers of other hops do not reach, so that no
    /// other hop takes longer to unpack. Packets with options pass it without being processed.
    const GATE: u32 = Hop::OPTION | 1 << 27;
    /// Number of hops per kind.
    pub(crate) const MAX: usize = 1 << 28;

    pub(crate) const fn link(direction: Direction) -> Hop {
        Hop(direction)
    }

    pub(crate) const fn host(host: u32) -> Hop {
        Hop(Hop::HOST | host)
    }

    pub(crate) const fn queue(queue: u32) -> Hop {
        Hop(Hop::QUEUE | queue)
    }

    pub(crate) const fn radio(hop: u32) -> Hop {
        Hop(Hop::RADIO | hop)
    }

    pub(crate) const fn line(line: u32) -> Hop {
        Hop(Hop::LINE | line)
    }

    pub(crate) const fn gate(number: u32) -> Hop {
        Hop(Hop::GATE | number)
    }

    const fn is_gate(self) -> bool {
        self.0 >> 27 == Hop::GATE >> 27
    }

    /// This hop for packets with an option.
    const fn with_option(self) -> Hop {
        Hop(self.0 | Hop::OPTION)
    }

    pub(crate) const fn has_option(self) -> bool {
        self.0 & Hop::OPTION != 0 && !self.is_gate()
    }

    /// This hop for packets without an option.
    pub(crate) const fn plain(self) -> Hop {
        if self.is_gate() { self } else { Hop(self.0 & !Hop::OPTION) }
    }

    /// True if it ends a route.
    const fn is_last(self) -> bool {
        self.0 & Hop::HOST != 0
    }

    /// The unpacked hop. This is the only place where a hop is unpacked.
    #[inline(always)]
    pub(crate) const fn step(self) -> Step {
        let number = self.0 & (Hop::OPTION - 1);
        if self.0 < Hop::OPTION {
            Step::Link(self.0)
        } else if self.0 & (Hop::HOST | Hop::OPTION) == Hop::HOST {
            Step::Host(number)
        } else if self.0 & Hop::OPTION != 0 {
            match self.is_gate() {
                true => Step::Gate(self.0 & !Hop::GATE),
                false => Step::WithOption(self.plain()),
            }
        } else if self.0 & Hop::LINE == Hop::LINE {
            Step::Line(number)
        } else if self.0 & Hop::QUEUE != 0 {
            Step::Queue(number)
        } else {
            Step::Radio(number)
        }
    }
}

/// A hop over a radio. In a mesh, it is the route between two stations, which the routers find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RadioHop {
    pub(crate) radio: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// See [`crate::routing::aodv::DisjointPath`].
    pub(crate) path_id: u32,
}

/// The routes. The last hop of each route is its host.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteTable(Vec<Hop>);

impl RouteTable {
    /// Adds a route to `host` and returns its start.
    pub(crate) fn add(&mut self, hops: impl IntoIterator<Item = Hop>, host: u32) -> u32 {
        let start = self.0.len() as u32;
        self.0.extend(hops);
        self.0.push(Hop::host(host));
        start
    }

    /// Adds a copy of the route at `start` for packets with an option, and returns its start.
    pub(crate) fn add_with_option(&mut self, start: u32) -> u32 {
        let marked: Vec<Hop> = self.route(start).map(Hop::with_option).collect();
        self.0.extend(marked);
        let last = self.last(start).with_option();
        self.0.push(last);
        (self.0.len() - self.route(start).count() - 1) as u32
    }

    /// The hop at this position.
    #[inline]
    pub(crate) fn at(&self, position: u32) -> Hop {
        self.0[position as usize]
    }

    /// The hops of the route from this position on, without the host.
    pub(crate) fn route(&self, position: u32) -> impl Iterator<Item = Hop> {
        self.0[position as usize..].iter().copied().take_while(|hop| !hop.is_last())
    }

    fn last(&self, position: u32) -> Hop {
        let mut rest = self.0[position as usize..].iter().copied();
        rest.find(|hop| hop.is_last()).unwrap_or(Hop::host(0)) // every route has an end
    }

    /// The destination host of a packet at this position.
    pub(crate) fn destination(&self, position: u32) -> u32 {
        match self.last(position).plain().step() {
            Step::Host(host) => host,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_and_unpacking_a_hop_is_lossless() {
        for n in [0, 1, 12_345, Hop::MAX as u32 - 1] {
            let hops = [Hop::link(n), Hop::host(n), Hop::queue(n), Hop::radio(n), Hop::line(n)];
            let steps =
                [Step::Link(n), Step::Host(n), Step::Queue(n), Step::Radio(n), Step::Line(n)];
            assert_eq!(hops.map(Hop::step), steps);
            if n < 1 << 27 {
                let gate = Hop::gate(n);
                assert_eq!([gate.step(), gate.with_option().step()], [Step::Gate(n); 2]);
                assert_eq!((gate.plain(), gate.has_option()), (gate, false));
            }
            for hop in hops.into_iter().filter(|_| n < 1 << 27) {
                assert_eq!(hop.with_option().step(), Step::WithOption(hop));
                assert_eq!((hop.with_option().plain(), hop.has_option()), (hop, false));
            }
        }
    }

    #[test]
    fn a_route_ends_with_its_host_with_options_and_without() {
        let mut table = RouteTable::default();
        table.add([Hop::link(7)], 1);
        let way = [Hop::link(3), Hop::queue(0), Hop::radio(5)];
        let plain = table.add(way, 9);
        let options = table.add_with_option(plain);
        assert_eq!((plain, options), (2, 6));
        for start in [plain, options] {
            let hops: Vec<Hop> = table.route(start).map(Hop::plain).collect();
            assert_eq!(hops, way);
            assert_eq!([table.destination(start), table.destination(start + 3)], [9, 9]);
        }
        assert!(table.route(options).all(Hop::has_option));
        assert_eq!(table.at(options + 3).step(), Step::WithOption(Hop::host(9)));
    }
}
