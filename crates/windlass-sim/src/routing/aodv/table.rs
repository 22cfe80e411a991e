//! The routing table of a node.
//!
//! Where RFC 3561 can be read in several ways, of which some lead packets in circles (van Glabbeek,
//! Höfner, Tan and Portmann, "Sequence numbers do not guarantee loop freedom: AODV can yield routing
//! loops", MSWiM 2013), the one proven free of loops is taken (Fehnker et al., "A process algebra for
//! wireless mesh networks used for modelling, verifying and analysing AODV", 2013): a route changes
//! only for a newer sequence number, or the same one and fewer hops or no valid route; an entry never
//! forgets its number; an error counts only if its number is newer than the route's. And entries are
//! never deleted (the RFC's DELETE_PERIOD says when they may be): a number once known stays known.

use std::collections::BTreeMap;

use windlass_cc::Time;

/// What a route leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// The destination, by its index among the radio's stations.
    pub node: u32,
    /// 0 for the route that everybody shares; others are those of [`super::DisjointPath`].
    pub path_id: u32,
}

impl Key {
    /// The shared route to a node.
    pub const fn shared(node: u32) -> Key {
        Key { node, path_id: 0 }
    }
}

/// Whether sequence number `a` is newer than `b`: compared as signed 32-bit integers (RFC 3561
/// section 6.1), so that numbers may come round.
pub fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// A route, or what is left of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Sequence number of the destination, 0 if none was ever known.
    pub seq: u32,
    /// Whether the number came with this route, so that others may be told of it.
    pub seq_known: bool,
    /// Whether it may be used until `expires`.
    pub valid: bool,
    /// Hops to the destination; of a broken route what they were.
    pub hops: u32,
    /// The next one on the way.
    pub next: u32,
    /// When it ceases to be valid unless it is used.
    pub expires: Time,
    /// Neighbours that were told of the route, and use it perhaps.
    pub precursors: Vec<u32>,
    /// On a disjoint path: the nodes between its ends, known to these.
    pub path: Vec<u32>,
}

impl Route {
    fn add_precursor(&mut self, neighbour: u32) {
        if !self.precursors.contains(&neighbour) {
            self.precursors.push(neighbour);
        }
    }

    /// The route is gone; its number makes every older statement void.
    fn invalidate(&mut self, seq: u32) {
        self.valid = false;
        self.seq = seq;
    }

    fn next_seq(&self) -> u32 {
        match self.seq {
            0 => 0,
            seq => seq.wrapping_add(1).max(1),
        }
    }
}

/// What a message says of a route.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// Sequence number of the destination.
    pub seq: u32,
    /// Hops by way of `next`.
    pub hops: u32,
    /// The neighbour who says so.
    pub next: u32,
    /// Until when it is good.
    pub expires: Time,
}

/// The routes of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    routes: BTreeMap<Key, Route>,
}

impl Table {
    /// The entry for a destination, valid or not, after seeing whether it has expired.
    pub fn look(&mut self, now: Time, key: Key) -> Option<&mut Route> {
        let route = self.routes.get_mut(&key)?;
        if route.valid && route.expires <= now {
            let seq = route.next_seq();
            route.invalidate(seq);
            route.precursors.clear();
        }
        Some(route)
    }

    /// The route to a destination, if there is one that may be used.
    pub fn valid(&mut self, now: Time, key: Key) -> Option<&mut Route> {
        self.look(now, key).filter(|route| route.valid)
    }

    /// The same for whoever only looks, and leaves no trace of it.
    pub fn peek(&self, now: Time, key: Key) -> Option<&Route> {
        self.routes.get(&key).filter(|route| route.valid && route.expires > now)
    }

    /// All entries as they are; a valid one may have expired.
    pub fn entries(&self) -> impl Iterator<Item = (&Key, &Route)> {
        self.routes.iter()
    }

    /// A neighbour has been heard: it is one hop away (RFC 3561 section 6.5). Its number stays.
    pub fn hear(&mut self, now: Time, neighbour: u32, expires: Time) {
        let key = Key::shared(neighbour);
        self.look(now, key);
        let route = self.routes.entry(key).or_insert_with(|| Route::none(neighbour));
        if route.valid && route.hops == 1 {
            route.expires = route.expires.max(expires);
            return;
        }
        let seq_known = false;
        *route = Route { seq_known, hops: 1, next: neighbour, ..route.clone() };
        route.valid = true;
        route.expires = expires;
    }

    /// Takes a route if it is better than what is known; whether it is.
    pub fn learn(&mut self, now: Time, key: Key, news: News, path: &[u32]) -> bool {
        let News { seq, hops, next, expires } = news;
        if let Some(route) = self.look(now, key) {
            // A neighbour that was only heard is confirmed with its number.
            let confirms = !route.seq_known && (hops, next) == (route.hops, route.next);
            let better = newer(seq, route.seq)
                || seq == route.seq && (!route.valid || hops < route.hops || confirms);
            if !better {
                return false;
            }
        }
        let route = self.routes.entry(key).or_insert_with(|| Route::none(next));
        route.seq = seq;
        route.seq_known = true;
        route.valid = true;
        route.hops = hops;
        route.next = next;
        route.expires = expires;
        route.path.clear();
        route.path.extend_from_slice(path);
        true
    }

    /// A valid route lives until `expires` at least.
    pub fn prolong(&mut self, now: Time, key: Key, expires: Time) {
        if let Some(route) = self.valid(now, key) {
            route.expires = route.expires.max(expires);
        }
    }

    /// A neighbour is told of a route, or was on the way to one.
    pub fn add_precursor(&mut self, now: Time, key: Key, neighbour: u32) {
        if let Some(route) = self.valid(now, key) {
            route.add_precursor(neighbour);
        }
    }

    /// A neighbour is lost: what was reached through it, with the numbers that void those routes and
    /// the neighbours who ought to know.
    pub fn lose(&mut self, now: Time, neighbour: u32) -> Lost {
        let mut lost = Lost::default();
        for (key, route) in &mut self.routes {
            if route.valid && route.next == neighbour && route.expires > now {
                let seq = route.next_seq();
                lost.add(*key, seq, route);
            }
        }
        lost
    }

    /// A neighbour no longer reaches these destinations.
    pub fn lose_some(&mut self, now: Time, from: u32, gone: &[(Key, u32)]) -> Lost {
        let mut lost = Lost::default();
        for &(key, seq) in gone {
            if let Some(route) = self.valid(now, key)
                && route.next == from
                && newer(seq, route.seq)
            {
                lost.add(key, seq, route);
            }
        }
        lost
    }

    /// The number that voids whatever others believe of a destination that this node cannot reach.
    pub fn void_seq(&mut self, now: Time, key: Key) -> u32 {
        self.look(now, key).map_or(0, |route| route.seq)
    }
}

impl Route {
    fn none(next: u32) -> Route {
        Route {
            seq: 0,
            seq_known: false,
            valid: false,
            hops: 0,
            next,
            expires: Time::ZERO,
            precursors: Vec::new(),
            path: Vec::new(),
        }
    }
}

/// Destinations that a node has just lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lost {
    /// All of them.
    pub routes: u32,
    /// Those that others were told of, with the numbers that void them.
    pub told: Vec<(Key, u32)>,
    /// Whom they were told.
    pub precursors: Vec<u32>,
}

impl Lost {
    fn add(&mut self, key: Key, seq: u32, route: &mut Route) {
        route.invalidate(seq);
        self.routes += 1;
        if route.precursors.is_empty() {
            return;
        }
        self.told.push((key, seq));
        for neighbour in route.precursors.drain(..) {
            if !self.precursors.contains(&neighbour) {
                self.precursors.push(neighbour);
            }
        }
    }
}
