//! The routing table of a node.
//!
//! Some interpretations of RFC 3561 lead to routing loops (van Glabbeek, Höfner, Tan and Portmann, "Sequence
//! numbers do not guarantee loop freedom: AODV can yield routing loops", MSWiM 2013). This table uses an
//! interpretation that is proven to be free of loops (Fehnker et al., "A process algebra for wireless mesh
//! networks used for modelling, verifying and analysing AODV", 2013):
//!
//! * A route changes only for a newer sequence number. For an equal number, it changes if the new route has
//!   fewer hops, or if the old route is not valid.
//! * An entry always keeps its sequence number.
//! * An error is accepted only if its number is newer than the route's number.
//! * Entries are never deleted, so that a known number is never lost. The RFC's DELETE_PERIOD states when
//!   they may be deleted.

use std::collections::BTreeMap;

use windlass_cc::Time;

/// Destination of a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Index of the destination among the radio's stations.
    pub node: u32,
    /// 0 for the route that all flows share; otherwise the number of a [`super::DisjointPath`].
    pub path_id: u32,
}

impl Key {
    /// Key of the shared route to a node.
    pub const fn shared(node: u32) -> Key {
        Key { node, path_id: 0 }
    }
}

/// True if sequence number `a` is newer than `b`. They are compared as signed 32-bit integers (RFC 3561
/// section 6.1), so that numbers may wrap around.
pub fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// A route, valid or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Sequence number of the destination; 0 if it was never known.
    pub seq: u32,
    /// True if the number came with this route, so that this node may pass it on.
    pub seq_known: bool,
    /// True if the route may be used until `expires`.
    pub valid: bool,
    /// Hops to the destination; for a broken route, the former number.
    pub hops: u32,
    /// Next node on the route.
    pub next: u32,
    /// Time at which the route expires unless it is used.
    pub expires: Time,
    /// Neighbours to which this node has sent the route, and which may use it.
    pub precursors: Vec<u32>,
    /// On a disjoint path: the nodes between its ends. Only the ends have this list.
    pub path: Vec<u32>,
}

impl Route {
    fn add_precursor(&mut self, neighbour: u32) {
        if !self.precursors.contains(&neighbour) {
            self.precursors.push(neighbour);
        }
    }

    /// Marks the route as broken. The new sequence number makes all older messages about it obsolete.
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

/// Information about a route in a message.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// Sequence number of the destination.
    pub seq: u32,
    /// Hops of the route over `next`.
    pub hops: u32,
    /// The neighbour that sent the message.
    pub next: u32,
    /// Expiry time of the route.
    pub expires: Time,
}

/// The routes of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    routes: BTreeMap<Key, Route>,
}

impl Table {
    /// Returns the entry for a destination, valid or not. An expired route becomes invalid first.
    pub fn look(&mut self, now: Time, key: Key) -> Option<&mut Route> {
        let route = self.routes.get_mut(&key)?;
        if route.valid && route.expires <= now {
            let seq = route.next_seq();
            route.invalidate(seq);
            route.precursors.clear();
        }
        Some(route)
    }

    /// Returns the valid route to a destination, if any.
    pub fn valid(&mut self, now: Time, key: Key) -> Option<&mut Route> {
        self.look(now, key).filter(|route| route.valid)
    }

    /// Like [`Table::valid`], but without changing the table.
    pub fn peek(&self, now: Time, key: Key) -> Option<&Route> {
        self.routes.get(&key).filter(|route| route.valid && route.expires > now)
    }

    /// All entries. An entry marked as valid may have expired.
    pub fn entries(&self) -> impl Iterator<Item = (&Key, &Route)> {
        self.routes.iter()
    }

    /// A message of a neighbour has arrived: the neighbour is one hop away (RFC 3561 section 6.5). Its
    /// sequence number does not change.
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

    /// Replaces a route if the new route is better. Returns true if it is.
    pub fn learn(&mut self, now: Time, key: Key, news: News, path: &[u32]) -> bool {
        let News { seq, hops, next, expires } = news;
        if let Some(route) = self.look(now, key) {
            // A neighbour's entry without a known number is confirmed by a message with its number.
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

    /// Extends the lifetime of a valid route to at least `expires`.
    pub fn prolong(&mut self, now: Time, key: Key, expires: Time) {
        if let Some(route) = self.valid(now, key) {
            route.expires = route.expires.max(expires);
        }
    }

    /// Adds a precursor: a neighbour that received a route, or that is on the path to such a neighbour.
    pub fn add_precursor(&mut self, now: Time, key: Key, neighbour: u32) {
        if let Some(route) = self.valid(now, key) {
            route.add_precursor(neighbour);
        }
    }

    /// Invalidates all routes over a lost neighbour. Returns the routes with the sequence numbers that
    /// invalidate them elsewhere, and the neighbours that need a notification.
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

    /// Invalidates the routes to these destinations over a neighbour that no longer reaches them.
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

    /// Sequence number that invalidates other nodes' routes to a destination that this node cannot reach.
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
    /// Number of lost routes.
    pub routes: u32,
    /// Lost routes that have precursors, with the sequence numbers that invalidate them.
    pub told: Vec<(Key, u32)>,
    /// The precursors of these routes.
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
