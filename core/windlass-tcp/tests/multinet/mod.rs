//! Two ends of a multipath connection, and paths that delay, reorder, lose and fail. It is not the simulator, because
//! tests change, forge, duplicate and strip single segments.

use std::collections::{BTreeMap, HashMap};

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Span, Time};
use windlass_tcp::mptcp::keys::initial_data_seq;
use windlass_tcp::mptcp::{
    Connection, Dss, MpOption, MultipathConfig, MultipathProfile, Outgoing, Scheduler,
};
use windlass_tcp::stack::RFC;
use windlass_tcp::{Flags, Profile, StackConfig};

pub use crate::pipe::App;

/// Behaviour of a path, in both directions.
#[derive(Clone, Debug)]
pub struct Path {
    /// Minimum delay in milliseconds, and the maximum additional delay.
    pub delay: u64,
    pub jitter: u64,
    /// Lost and duplicated segments per thousand segments.
    pub loss: u64,
    pub twice: u64,
    /// Nanoseconds per byte on the path; 0 for no limit.
    pub byte_ns: u64,
    /// Maximum wait in the queue, milliseconds. A segment with a longer wait is dropped.
    pub queue: u64,
    /// Intervals in which the path loses everything, milliseconds.
    pub outages: Vec<(u64, u64)>,
    /// Options of Multipath TCP that middleboxes on the path remove.
    pub strips: Strip,
}

/// Segments from which a middlebox removes options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    Nothing,
    /// SYNs of the client.
    Syn,
    /// SYN-ACKs.
    SynAck,
    /// All segments of the client except SYNs.
    ClientData,
}

impl Path {
    pub fn clean(delay: u64) -> Path {
        Path {
            delay,
            jitter: 0,
            loss: 0,
            twice: 0,
            byte_ns: 0,
            queue: 100,
            outages: Vec::new(),
            strips: Strip::Nothing,
        }
    }

    /// A clean path with a rate in megabits per second.
    pub fn rated(delay: u64, mbps: u64) -> Path {
        Path { byte_ns: 8_000 / mbps, ..Path::clean(delay) }
    }
}

pub struct End {
    pub p: MultipathProfile,
    pub c: Connection,
    pub app: App,
    pub offered: u64,
    pub read: u64,
    server: bool,
    trusting: bool,
    closed: bool,
    wake: Time,
    /// True for each byte of the peer's stream that the network has delivered.
    arrived: Vec<bool>,
    prefix: usize,
    /// First data sequence number of this end's stream.
    start: Option<u64>,
    /// The first sequence number of each attempt on each path.
    iss: HashMap<(usize, u16), u32>,
    /// Offset in the stream of each byte of a subflow.
    places: HashMap<(usize, u16, u32), u64>,
}

pub struct Net {
    pub now: Time,
    pub ends: [End; 2],
    pub paths: Vec<Path>,
    wire: BTreeMap<(Time, u64), (usize, Outgoing, Option<u64>)>,
    /// Time at which each direction of each path is free again.
    busy: Vec<[Time; 2]>,
    random: u64,
    pub sent: u64,
    departures: u64,
    /// All sent segments: time, side, segment.
    pub log: Vec<(Time, usize, Outgoing)>,
    pub keep_log: bool,
    /// True if segments are not checked, because the test manipulates them.
    pub trusting: bool,
    /// Numbers of the client's segments with payload that are lost, from 0.
    pub drop_data: Vec<u64>,
    data_sent: u64,
    /// Change that a middlebox makes to a segment; the argument is the sending side.
    pub tamper: fn(usize, &mut Outgoing),
    /// Segments that the network loses; the first argument is the sending side.
    pub lose: fn(usize, &Outgoing) -> bool,
}

pub fn profile(algorithm: &str, stack: StackConfig, mtu: u32) -> Profile {
    Profile::new(stack, AnyParams::by_name(algorithm).unwrap(), mtu)
}

/// `paths` paths with Reno, the recovery of RFC 6675 and otherwise the stack of the RFCs.
pub fn multipath(config: MultipathConfig, paths: usize) -> MultipathProfile {
    let stack = StackConfig { recovery: Some(LossRecovery::Sack), ..RFC };
    MultipathProfile::new(config, vec![profile("reno", stack, 1500); paths]).unwrap()
}

pub fn scheduled(scheduler: Scheduler) -> MultipathConfig {
    MultipathConfig { scheduler, ..MultipathConfig::default() }
}

impl Net {
    pub fn new(p: [MultipathProfile; 2], apps: [App; 2], paths: Vec<Path>, seed: u64) -> Net {
        let [p0, p1] = p;
        let connections = [
            Connection::client(&p0, seed ^ 0xc0ffee),
            Connection::server(&p1, seed.wrapping_add(1)),
        ];
        let mut profiles = [Some(p0), Some(p1)];
        let mut connections = connections.map(Some);
        let ends = [0, 1].map(|i| End {
            p: profiles[i].take().unwrap(),
            c: connections[i].take().unwrap(),
            app: apps[i],
            offered: 0,
            read: 0,
            server: i == 1,
            trusting: false,
            closed: false,
            wake: Time::NEVER,
            arrived: vec![false; apps[1 - i].bytes.min(1 << 22) as usize],
            prefix: 0,
            start: None,
            iss: HashMap::new(),
            places: HashMap::new(),
        });
        let busy = vec![[Time::ZERO; 2]; paths.len()];
        let mut net = Net {
            now: Time::from_millis(1),
            ends,
            paths,
            wire: BTreeMap::new(),
            busy,
            random: seed,
            sent: 0,
            departures: 0,
            log: Vec::new(),
            keep_log: false,
            trusting: false,
            drop_data: Vec::new(),
            data_sent: 0,
            tamper: |_, _| {},
            lose: |_, _| false,
        };
        net.ends[1].c.listen();
        net.ends[0].c.connect();
        net
    }

    /// A transfer of one stream from the client with the same profile at both ends.
    pub fn transfer(p: MultipathProfile, bytes: u64, paths: Vec<Path>, seed: u64) -> Net {
        Net::new([p.clone(), p], [App::sends(bytes), App::receives()], paths, seed)
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below.max(1)
    }

    /// True if both ends are done.
    pub fn is_over(&self) -> bool {
        self.ends.iter().all(|e| e.c.is_closed() && e.wake.is_never())
    }

    /// Runs until both sides are closed. Panics at any error.
    pub fn run_to_close(&mut self, most_events: u64) {
        self.start();
        for _ in 0..most_events {
            if self.is_over() {
                return;
            }
            self.step();
        }
        if std::env::var_os("DUMP").is_some() {
            for e in &self.ends {
                let all = format!("{:?}", e.c);
                let from = all.find("sender: Sender").unwrap();
                eprintln!("{}", &all[from..from + 5000.min(all.len() - from)]);
            }
        }
        panic!("not closed after {most_events} events: {}", self.describe());
    }

    /// Runs until no event is left, or until only attempts to join a failed end are left.
    pub fn run_to_rest(&mut self, most_events: u64) {
        self.start();
        for event in 1..=most_events {
            if self.next_event().is_never() || (event % 20_000 == 0 && self.is_deserted()) {
                return;
            }
            self.step();
        }
        panic!("events continue after {most_events} events: {}", self.describe());
    }

    /// True if one end has failed, and the other end has nothing to send. The other end does not detect the
    /// failure, and tries to join again for ever.
    fn is_deserted(&self) -> bool {
        let gone = |e: &End| e.c.failure().is_some() && e.c.is_closed();
        let [a, b] = &self.ends;
        gone(a) && b.c.all_acknowledged() || gone(b) && a.c.all_acknowledged()
    }

    /// Runs until this time, milliseconds.
    pub fn run_until(&mut self, ms: u64) {
        self.start();
        while self.next_event() <= Time::from_millis(ms) {
            self.step();
        }
        self.now = Time::from_millis(ms);
    }

    pub fn describe(&self) -> String {
        let end = |e: &End| {
            let subflows: Vec<_> = (0..e.c.paths())
                .map(|i| {
                    let s = e.c.subflow(i);
                    (s.state(), s.in_flight(), s.control().cwnd, s.stats().rto_count, e.c.in_use(i))
                })
                .collect();
            format!(
                "offered {} acked {} received {} read {} established {} failure {:?} closed {} \
                 {:?} {subflows:?} deadline {:?}",
                e.offered,
                e.c.acknowledged(),
                e.c.received(),
                e.read,
                e.c.was_established(),
                e.c.failure(),
                e.c.is_closed(),
                e.c.stats(),
                e.c.deadline(),
            )
        };
        format!(
            "at {:?}\n  client {}\n  server {}",
            self.now,
            end(&self.ends[0]),
            end(&self.ends[1])
        )
    }

    fn start(&mut self) {
        for i in 0..2 {
            self.ends[i].act(self.now);
            self.flush(i);
        }
    }

    fn next_event(&self) -> Time {
        let arrival = self.wire.first_key_value().map_or(Time::NEVER, |(k, _)| k.0);
        let due = |end: &End| end.c.deadline().min(end.wake);
        due(&self.ends[0]).min(due(&self.ends[1])).min(arrival)
    }

    pub fn step(&mut self) {
        let next = self.next_event();
        assert!(!next.is_never(), "no further event: {}", self.describe());
        self.now = self.now.max(next);
        let arrival = self.wire.first_key_value().map_or(Time::NEVER, |(k, _)| k.0);
        if arrival <= self.now {
            let (_, (to, out, place)) = self.wire.pop_first().unwrap();
            let end = &mut self.ends[to];
            end.trusting = self.trusting;
            end.deliver(self.now, &out, place);
        }
        for i in 0..2 {
            let end = &mut self.ends[i];
            if end.c.deadline() <= self.now {
                end.c.on_deadline(&end.p, self.now);
            }
            end.act(self.now);
            self.flush(i);
            let left = self.ends[i].c.deadline();
            assert!(
                left > self.now,
                "a deadline does not advance at side {i}: {}",
                self.describe()
            );
        }
    }

    /// Delivers a segment to one side, as if the network had delivered it.
    pub fn inject(&mut self, to: usize, out: &Outgoing) {
        let end = &mut self.ends[to];
        end.c.on_segment(&end.p, self.now, out.path, &out.segment, out.option.as_ref());
        self.flush(to);
    }

    fn flush(&mut self, from: usize) {
        for turn in 0.. {
            assert!(turn < 200_000, "an endless burst: {}", self.describe());
            let end = &mut self.ends[from];
            let Some(out) = end.c.poll_transmit(&end.p, self.now) else { return };
            let place = if self.trusting { None } else { end.check(&out) };
            self.sent += 1;
            if self.keep_log {
                self.log.push((self.now, from, out));
            }
            self.put(from, out, place);
        }
    }

    fn put(&mut self, from: usize, mut out: Outgoing, place: Option<u64>) {
        let path = self.paths[out.path].clone();
        let ms = self.now.0 / 1_000_000;
        let nth = self.data_sent;
        self.data_sent += u64::from(from == 0 && out.segment.len > 0);
        if from == 0 && out.segment.len > 0 && self.drop_data.contains(&nth) {
            return;
        }
        if (self.lose)(from, &out) {
            return;
        }
        (self.tamper)(from, &mut out);
        let dead = path.outages.iter().any(|o| o.0 <= ms && ms < o.1);
        if dead || self.draw(1000) < path.loss {
            return;
        }
        let flags = out.segment.flags;
        let (syn, ack) = (flags.has(Flags::SYN), flags.has(Flags::ACK));
        let strip = match path.strips {
            Strip::Nothing => false,
            Strip::Syn => from == 0 && syn,
            Strip::SynAck => syn && ack,
            Strip::ClientData => from == 0 && !syn,
        };
        if strip {
            out.option = None;
        }
        let mut at = self.now;
        if path.byte_ns > 0 {
            let free = &mut self.busy[out.path][from];
            if *free > at + Span::from_millis(path.queue) {
                return;
            }
            at = at.max(*free) + Span(path.byte_ns * u64::from(out.ip_len()));
            *free = at;
        }
        let copies = 1 + u64::from(self.draw(1000) < path.twice);
        for _ in 0..copies {
            let late = self.draw(path.jitter + 1);
            self.departures += 1;
            let key = (at + Span::from_millis(path.delay + late), self.departures);
            self.wire.insert(key, (1 - from, out, place));
        }
    }
}

impl End {
    fn deliver(&mut self, now: Time, out: &Outgoing, place: Option<u64>) {
        if let Some(place) = place.filter(|_| self.whole_stream()) {
            let range = place as usize..(place + u64::from(out.segment.len)) as usize;
            self.arrived[range].fill(true);
            while self.arrived.get(self.prefix) == Some(&true) {
                self.prefix += 1;
            }
        }
        self.c.on_segment(&self.p, now, out.path, &out.segment, out.option.as_ref());
        if self.whole_stream() && !self.trusting {
            assert!(self.c.received() <= self.prefix as u64, "bytes that never arrived");
        }
    }

    /// True if the stream is short enough to check each byte.
    fn whole_stream(&self) -> bool {
        self.arrived.len() < 1 << 22
    }

    /// Checks a segment that this side sends. Returns the offset in its stream of the first payload byte;
    /// `None` without payload or for a probe of the window.
    fn check(&mut self, out: &Outgoing) -> Option<u64> {
        let s = &out.segment;
        let option_len = out.option.map_or(0, |o| o.wire_len());
        assert!(s.options.wire_len() + option_len <= 40, "options too long: {out:?}");
        assert!(out.ip_len() <= self.p.path(out.path).mtu, "too long: {out:?}");
        if s.flags.has(Flags::RST) {
            return None;
        }
        let attempt = (out.path, out.attempt);
        if s.flags.has(Flags::SYN) {
            let known = *self.iss.entry(attempt).or_insert(s.seq.0);
            assert_eq!(known, s.seq.0, "an attempt with two initial sequence numbers");
        }
        if let Some(MpOption::Capable { sender_key: Some(key), .. }) = out.option {
            self.start = Some(initial_data_seq(key));
        }
        if s.len == 0 {
            return None;
        }
        let iss = self.iss[&attempt];
        let offset = s.seq.0.wrapping_sub(iss);
        let place = match out.option {
            None => u64::from(offset),
            Some(MpOption::Capable { data_len: Some(len), .. }) => {
                assert_eq!(u32::from(len), s.len);
                1
            }
            Some(MpOption::Dss(Dss { mapping: Some(m), data_fin, .. })) => {
                assert_eq!(m.subflow_offset, offset, "the mapping does not match the segment");
                assert_eq!(u32::from(m.len), s.len + u32::from(data_fin));
                m.data_seq.wrapping_sub(self.start.expect("keys were exchanged"))
            }
            other => panic!("payload without a mapping: {other:?}"),
        };
        assert!(place + u64::from(s.len) <= 1 + self.offered, "never offered: {out:?}");
        if self.offered < 1 << 17 {
            for i in 0..s.len {
                let key = (out.path, out.attempt, offset.wrapping_add(i));
                let known = *self.places.entry(key).or_insert(place + u64::from(i));
                assert_eq!(known, place + u64::from(i), "a byte changes its position: {out:?}");
            }
        }
        place.checked_sub(1)
    }

    /// The application acts a period after work becomes available.
    fn act(&mut self, now: Time) {
        self.set_alarm(now);
        if now < self.wake {
            return;
        }
        self.wake = Time::NEVER;
        let more = self.app.write.min(self.app.bytes - self.offered);
        self.c.offer(more);
        self.offered += more;
        let n = self.c.read(&self.p, now, self.app.read);
        assert!(n <= self.app.read);
        self.read += n;
        if self.may_close() && !self.closed {
            self.closed = true;
            self.c.close();
        }
        self.set_alarm(now);
    }

    fn set_alarm(&mut self, now: Time) {
        let idle = self.offered == self.app.bytes && self.c.readable() == 0;
        let more = !idle || (self.may_close() && !self.closed);
        // A server acts when a connection exists, not before.
        let waiting = self.server && self.iss.is_empty() || self.c.failure().is_some();
        if self.wake.is_never() && more && !waiting {
            self.wake = now + Span::from_millis(self.app.period);
        }
    }

    fn may_close(&self) -> bool {
        self.offered == self.app.bytes && (!self.app.closes_last || self.c.at_end())
    }
}
