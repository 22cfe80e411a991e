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

/// How long a connection without any subflow waits for a new one.
const ORPHAN_LIFE: Span = Span::from_secs(600);

/// A segment that leaves on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The path.
    pub path: usize,
    /// Which attempt on the path it belongs to, from 0: each is a subflow with a port of its own.
    pub attempt: u16,
    /// The segment.
    pub segment: Segment,
    /// The option of Multipath TCP that it carries.
    pub option: Option<MpOption>,
}

impl Outgoing {
    /// Size of the IPv4 packet that carries the segment, bytes.
    pub fn ip_len(&self) -> u32 {
        self.segment.ip_len() + self.option.map_or(0, |o| o.wire_len())
    }
}

/// Which end it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Opens the connection and all its subflows.
    Client,
    /// Waits for them.
    Server,
}

/// One end of a multipath connection, without input or output.
///
/// It is driven as an [`Endpoint`](crate::Endpoint) is, only that segments come and go on a path.
/// The client opens the connection on path 0, or on the next if that does not answer, and joins the
/// other paths once the peer has confirmed that it speaks Multipath TCP. A path that does not come up or
/// goes down is tried again with back-off and never stops the others.
#[derive(Clone, Debug)]
pub struct Connection {
    role: Role,
    /// The application has opened it.
    started: bool,
    subflows: Vec<Subflow>,
    /// The path on which it was opened.
    initial: usize,
    key: u64,
    peer_key: u64,
    /// Both first data sequence numbers and our token, which are hashes of the keys.
    own_start: u64,
    peer_start: u64,
    token: u32,
    random: u64,
    established: bool,
    /// The peer has sent a data sequence signal: no box on the way removes them.
    confirmed: bool,
    /// The client's third segment goes before its first data, which may get lost.
    third_ack_now: bool,
    fallback: bool,
    failure: Option<Failure>,
    sender: Sender,
    receiver: Receiver,
    scheduling: Scheduling,
    coupling: Coupling,
    /// Both streams have ended, and so do the subflows.
    closing: bool,
    /// A DATA_FIN is to go again.
    fin_now: bool,
    /// Path on which data arrived last.
    last_path: usize,
    /// When the connection fails for want of a subflow.
    orphaned_at: Time,
    stats: MultipathStats,
}

impl Connection {
    /// The end that opens the connection. Keys, random numbers and sequence numbers are drawn from
    /// the seed; the two ends must have different ones.
    pub fn client(p: &MultipathProfile, seed: u64) -> Connection {
        Connection::new(p, seed, Role::Client)
    }

    /// The end that waits for it.
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

    /// The next number of the connection's own sequence (SplitMix64, Steele et al. 2014).
    fn draw(&mut self) -> u64 {
        draw(&mut self.random)
    }

    /// Brings everything up to date after something has happened on a path.
    fn refresh(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        self.follow_handshake(p, now, path);
        let subflow = &mut self.subflows[path];
        self.coupling.report(now, path, subflow);
        subflow.sent.forget_below(subflow.endpoint.acknowledged_to());
        if subflow.suspended && subflow.endpoint.unanswered() == 0 {
            subflow.suspended = false;
            self.stats.returns += 1;
        }
        let over = subflow.stage != Stage::Idle && subflow.endpoint.state() == State::Closed;
        if over {
            self.end_subflow(p, now, path);
        } else if subflow.stage == Stage::Ready && subflow.endpoint.has_peers_fin() {
            // The peer sends no more here, and neither do we.
            if subflow.endpoint.carries_data() && !self.closing {
                self.give_to_others(path, 0);
                self.scheduling.on_path_gone(path);
            }
            self.subflows[path].endpoint.close();
        }
        self.settle(p, now);
    }

    /// What the connection as a whole makes of what has happened.
    fn settle(&mut self, p: &MultipathProfile, now: Time) {
        if self.fallback || self.failure.is_some() {
            return;
        }
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

    /// Both streams have ended: so do the subflows, and whatever was about to become one.
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

    /// The subflow on a path, or the attempt to have one, has ended.
    fn end_subflow(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        let stage = std::mem::replace(&mut self.subflows[path].stage, Stage::Idle);
        match stage {
            Stage::Opening => {
                self.opening_failed(p, path);
                return;
            }
            Stage::Ready if self.role == Role::Client && !self.confirmed => {
                // Nothing shows yet that the peer would accept another subflow.
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

    /// What a path carries and the peer does not have goes on others too; `carried` are paths that
    /// need not take it, a bit each.
    fn give_to_others(&mut self, path: usize, carried: u8) {
        if self.scheduling.is_redundant() {
            return; // they carry it anyhow
        }
        let una = self.sender.una;
        for piece in self.subflows[path].sent.iter_mut() {
            // A probe of the window is no part of the stream that waits.
            if piece.repeated || piece.data_end() <= una {
                continue;
            }
            piece.repeated = true;
            let (start, end) = (piece.data, piece.data_end());
            self.sender.reinject(Reinjection { start, end, carried, opportunistic: false });
        }
    }

    /// Gives a part of the stream to a path.
    fn give(&mut self, path: usize, data: u64, len: u64) {
        let subflow = &mut self.subflows[path];
        let start = subflow.endpoint.given_to();
        subflow.sent.push(super::subflow::DssMapping { start, data, len, repeated: false });
        subflow.endpoint.offer(len);
    }

    /// The connection cannot go on; every subflow is reset.
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

    /// The path for what is to be said once: the fastest of those in use, or any that lives.
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
