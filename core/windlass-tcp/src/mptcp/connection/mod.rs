//! One end of a multipath connection.

mod api;
mod assign;
mod handshake;
mod input;
mod output;
mod timers;

use windlass_cc::{Span, Time};

use super::config::{MultipathConfig, MultipathProfile};
use super::group::Coupling;
use super::keys::{initial_data_seq, token};
use super::option::MpOption;
use super::receiver::Receiver;
use super::scheduler::Scheduling;
use super::sender::{Reinjection, Sender};
use super::stats::MultipathStats;
use super::subflow::{Stage, Subflow};
use crate::endpoint::{Failure, State};
use crate::segment::Segment;
use crate::seq::Seq;

/// Time that a connection without any subflow waits for a new subflow.
const ORPHAN_LIFE: Span = Span::from_secs(600);

/// A segment that is sent on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The path.
    pub path: usize,
    /// Number of the attempt on the path, from 0. Each attempt is a subflow with its own port.
    pub attempt: u16,
    /// The segment.
    pub segment: Segment,
    /// The segment's option of Multipath TCP.
    pub option: Option<MpOption>,
}

impl Outgoing {
    /// Size of the IPv4 packet that carries the segment, bytes.
    pub fn ip_len(&self) -> u32 {
        self.segment.ip_len() + self.option.map_or(0, |o| o.wire_len())
    }
}

/// The role of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Opens the connection and all its subflows.
    Client,
    /// Waits for the connection and its subflows.
    Server,
}

/// One end of a multipath connection, without input or output.
///
/// It is driven like an [`Endpoint`](crate::Endpoint), but each segment belongs to a path. The client opens
/// the connection on path 0, or on the next path if path 0 does not respond. It joins the other paths when
/// the peer has confirmed that it supports Multipath TCP. A path that fails, or cannot be established, is
/// retried with backoff. It never stops the other paths.
#[derive(Clone, Debug)]
pub struct Connection {
    role: Role,
    /// True if the application has opened the connection.
    started: bool,
    subflows: Vec<Subflow>,
    /// The path of the first handshake.
    initial: usize,
    key: u64,
    peer_key: u64,
    /// Both first data sequence numbers and this end's token. They are hashes of the keys.
    own_start: u64,
    peer_start: u64,
    token: u32,
    random: u64,
    established: bool,
    /// True if the peer has sent a data sequence signal: no middlebox removes these signals.
    confirmed: bool,
    /// The client's third segment is sent before its first data, and may be lost.
    third_ack_now: bool,
    fallback: bool,
    failure: Option<Failure>,
    sender: Sender,
    receiver: Receiver,
    scheduling: Scheduling,
    coupling: Coupling,
    /// True if both streams have ended, so that the subflows close.
    closing: bool,
    /// True if the DATA_FIN must be retransmitted.
    fin_now: bool,
    /// Path of the last data that arrived.
    last_path: usize,
    /// Time at which the connection fails, because it has no subflow.
    orphaned_at: Time,
    stats: MultipathStats,
}

impl Connection {
    /// The end that opens the connection. The seed determines keys, random numbers and sequence numbers. The
    /// two ends must have different seeds.
    pub fn client(p: &MultipathProfile, seed: u64) -> Connection {
        Connection::new(p, seed, Role::Client)
    }

    /// The end that waits for the connection.
    pub fn server(p: &MultipathProfile, seed: u64) -> Connection {
        Connection::new(p, seed, Role::Server)
    }

    fn new(p: &MultipathProfile, seed: u64, role: Role) -> Connection {
        let mut random = seed;
        let key = draw(&mut random);
        let config: &MultipathConfig = p.config();
        let subflow = |path| Subflow::new(path, Seq(draw(&mut random) as u32));
        Connection {
            role,
            started: false,
            subflows: p.paths().iter().map(subflow).collect(),
            initial: 0,
            key,
            peer_key: 0,
            own_start: initial_data_seq(key),
            peer_start: 0,
            token: token(key),
            random,
            established: false,
            confirmed: false,
            third_ack_now: false,
            fallback: false,
            failure: None,
            sender: Sender::new(config.send_buffer),
            receiver: Receiver::new(config.receive_buffer),
            scheduling: Scheduling::new(config.scheduler),
            coupling: Coupling::new(),
            closing: false,
            fin_now: false,
            last_path: 0,
            orphaned_at: Time::NEVER,
            stats: MultipathStats::default(),
        }
    }

    /// The next number of the connection's own random sequence (SplitMix64, Steele et al. 2014).
    fn draw(&mut self) -> u64 {
        draw(&mut self.random)
    }

    /// Updates the state after an event on a path.
    fn refresh(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        self.follow_handshake(p, now, path);
        let subflow = &mut self.subflows[path];
        self.coupling.report(now, path, subflow);
        // RFC 8684-3.3.2-3
        subflow.sent.forget_below(subflow.endpoint.acknowledged_to());
        if subflow.suspended && subflow.endpoint.unanswered() == 0 {
            subflow.suspended = false;
            self.stats.returns += 1;
        }
        let over = subflow.stage != Stage::Idle && subflow.endpoint.state() == State::Closed;
        if over {
            self.end_subflow(p, now, path);
        } else if subflow.stage == Stage::Ready && subflow.endpoint.has_peers_fin() {
            // The peer sends no more data on this subflow, and this end stops too.
            if subflow.endpoint.carries_data() && !self.closing {
                self.give_to_others(path, 0);
                self.scheduling.on_path_gone(path);
            }
            self.subflows[path].endpoint.close();
        }
        self.settle(p, now);
    }

    /// Updates the state of the whole connection after an event.
    fn settle(&mut self, p: &MultipathProfile, now: Time) {
        if self.fallback || self.failure.is_some() {
            return;
        }
        // RFC 8684-3.3.3-2
        if !self.closing && self.sender.fin_is_acknowledged() && self.receiver.has_ended() {
            self.closing = true;
        }
        if self.closing {
            self.close_subflows();
        } else if self.established {
            self.join_paths(p, now);
            self.watch_orphan(now);
        }
        self.coupling.share(p, now, &mut self.subflows);
    }

    /// Closes the subflows after the end of both streams, and aborts handshakes.
    // RFC 8684-3.3.3-3
    fn close_subflows(&mut self) {
        self.orphaned_at = Time::NEVER;
        for subflow in &mut self.subflows {
            subflow.retry_at = Time::NEVER;
            match subflow.stage {
                Stage::Ready => subflow.endpoint.close(),
                Stage::Joining | Stage::Opening => subflow.endpoint.abort(),
                Stage::Idle => {}
            }
        }
    }

    /// Processes the end of a subflow, or of an attempt to establish a subflow.
    fn end_subflow(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        let stage = std::mem::replace(&mut self.subflows[path].stage, Stage::Idle);
        match stage {
            Stage::Opening => {
                self.opening_failed(p, path);
                return;
            }
            Stage::Ready if self.role == Role::Client && !self.confirmed => {
                // The peer may not accept another subflow.
                let why = self.subflows[path].endpoint.failure().unwrap_or(Failure::Reset);
                self.fail(why);
                return;
            }
            Stage::Joining if !self.closing => self.stats.failed_joins += 1,
            Stage::Ready if !self.closing => self.stats.lost_subflows += 1,
            _ => {}
        }
        self.give_to_others(path, 0);
        self.sender.forget_carrier(path);
        self.scheduling.on_path_gone(path);
        let subflow = &mut self.subflows[path];
        subflow.sent.clear();
        subflow.arrived.clear();
        subflow.suspended = false;
        subflow.confirm_at = Time::NEVER;
        if self.role == Role::Client && !self.closing {
            let wait = p.config().join_retry.0.saturating_mul(1 << subflow.failures.min(6));
            subflow.failures += 1;
            subflow.retry_at = now + Span(wait.max(1));
        }
    }

    /// Reinjects the unacknowledged data of a path on other paths; `carried` has a bit for each path that
    /// need not take them.
    // RFC 8684-3.3.6-1
    fn give_to_others(&mut self, path: usize, carried: u8) {
        if self.scheduling.is_redundant() {
            return; // they carry all data
        }
        let una = self.sender.una;
        for piece in self.subflows[path].sent.iter_mut() {
            // A probe of the window is not part of the waiting stream.
            if piece.repeated || piece.data_end() <= una {
                continue;
            }
            piece.repeated = true;
            let (start, end) = (piece.data, piece.data_end());
            self.sender.reinject(Reinjection { start, end, carried, opportunistic: false });
        }
    }

    /// Assigns a part of the stream to a path.
    fn give(&mut self, path: usize, data: u64, len: u64) {
        let subflow = &mut self.subflows[path];
        let start = subflow.endpoint.given_to();
        subflow.sent.push(super::subflow::DssMapping { start, data, len, repeated: false });
        subflow.endpoint.offer(len);
    }

    /// Ends the connection with a failure and resets every subflow.
    fn fail(&mut self, why: Failure) {
        self.failure.get_or_insert(why);
        self.orphaned_at = Time::NEVER;
        for subflow in &mut self.subflows {
            subflow.endpoint.abort();
            subflow.retry_at = Time::NEVER;
            subflow.confirm_at = Time::NEVER;
            subflow.stage = Stage::Idle;
        }
    }

    /// The path for a single signal: the fastest path in use, or any live path.
    fn path_for_signals(&self) -> Option<usize> {
        let live = || self.subflows.iter().enumerate().filter(|(_, s)| s.is_live() && s.confirmed);
        let fastest = |(path, s): &(usize, &Subflow)| (s.endpoint.srtt(), *path);
        let in_use = live().filter(|(_, s)| !s.suspended).min_by_key(fastest);
        in_use.or_else(|| live().min_by_key(fastest)).map(|(path, _)| path)
    }
}

fn draw(random: &mut u64) -> u64 {
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*random ^ (*random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
