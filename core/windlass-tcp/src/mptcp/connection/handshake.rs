//! Handshakes: MP_CAPABLE on the first subflow, MP_JOIN on the others, and the reactions to failures (RFC
//! 8684 sections 3.1, 3.2 and 3.7).

use windlass_cc::{Span, Time};

use super::{Connection, MultipathProfile, Role};
use crate::endpoint::{Failure, State};
use crate::mptcp::keys::{Credentials, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token};
use crate::mptcp::option::MpOption;
use crate::mptcp::subflow::Stage;
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// Number of SYN timeouts after which the next path is tried.
const SYN_TIMEOUTS: u64 = 2;

/// The result of the check of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The segment belongs to the subflow.
    Take,
    /// The segment must be ignored.
    Drop,
    /// The subflow cannot be part of the connection.
    Abort,
}

impl Connection {
    /// Begins the connection on a path that has a new endpoint.
    pub(super) fn open_on(&mut self, path: usize) {
        self.initial = path;
        let subflow = &mut self.subflows[path];
        subflow.stage = Stage::Opening;
        subflow.tried = true;
        subflow.endpoint.set_layered(true);
        subflow.endpoint.connect();
    }

    /// Creates a new endpoint for another attempt on a path.
    fn renew(&mut self, p: &MultipathProfile, path: usize, stage: Stage) {
        let iss = Seq(self.draw() as u32);
        self.subflows[path].renew(p.path(path), iss, stage);
    }

    /// Processes the failure of the first handshake on a path.
    pub(super) fn opening_failed(&mut self, p: &MultipathProfile, path: usize) {
        if self.role == Role::Server || self.established {
            return;
        }
        let why = self.subflows[path].endpoint.failure().unwrap_or(Failure::ConnectTimeout);
        let all_tried = self.subflows.iter().all(|s| s.tried);
        if all_tried || !self.open_on_next(p) {
            self.fail(why);
        }
    }

    /// Tries the first handshake on the next path. Returns false if there is no further path. A path gets at
    /// most as many SYNs as a plain connection sends.
    fn open_on_next(&mut self, p: &MultipathProfile) -> bool {
        let count = self.subflows.len();
        let most = u64::from(p.path(0).stack.max_syn_retries);
        let next = (1..count).map(|i| (self.initial + i) % count);
        let fresh = |path: &usize| self.subflows[*path].total().rto_count <= most;
        let Some(next) = next.into_iter().find(fresh) else { return false };
        let old = self.initial;
        // Later segments there are answered with a reset, so that the server drops its state.
        self.renew(p, old, Stage::Idle);
        self.renew(p, next, Stage::Idle);
        self.open_on(next);
        true
    }

    /// Tries another path after unanswered SYNs.
    pub(super) fn reconsider_opening(&mut self, p: &MultipathProfile) {
        let endpoint = &self.subflows[self.initial].endpoint;
        let waiting = self.role == Role::Client && endpoint.state() == State::SynSent;
        if waiting && self.subflows.len() > 1 && endpoint.stats().rto_count >= SYN_TIMEOUTS {
            self.open_on_next(p);
        }
    }

    /// Checks a segment for the handshakes, before the endpoint of its path processes it.
    pub(super) fn judge(
        &mut self,
        p: &MultipathProfile,
        path: usize,
        s: &Segment,
        o: Option<&MpOption>,
    ) -> Verdict {
        if s.flags.has(Flags::RST) {
            return Verdict::Take;
        }
        let opens = s.flags.has(Flags::SYN) && !s.flags.has(Flags::ACK);
        if self.role == Role::Server && opens && self.started {
            return self.judge_syn(p, path, s, o);
        }
        match (self.subflows[path].stage, self.role) {
            (Stage::Idle, _) => Verdict::Take, // the endpoint responds with a reset
            (Stage::Opening, Role::Client) => self.judge_answer(path, s, o),
            (Stage::Opening, Role::Server) => self.judge_third_ack(path, s, o),
            (Stage::Joining, Role::Client) => self.judge_join_answer(path, s, o),
            (Stage::Joining, Role::Server) => self.judge_join_third_ack(path, o),
            (Stage::Ready, _) => self.judge_ready(path, s, o),
        }
    }

    /// Checks a SYN that arrives at a server.
    fn judge_syn(
        &mut self,
        p: &MultipathProfile,
        path: usize,
        s: &Segment,
        o: Option<&MpOption>,
    ) -> Verdict {
        let subflow = &self.subflows[path];
        let pending = matches!(subflow.stage, Stage::Opening | Stage::Joining);
        if pending && subflow.endpoint.peer_start() == s.seq {
            return Verdict::Take; // a repetition
        }
        match o {
            Some(MpOption::JoinSyn { token, nonce, .. }) => {
                if subflow.nonces_seen.contains(nonce) {
                    // An old duplicate, or a repetition to which the endpoint responds again.
                    return if subflow.nonces_seen.last() == Some(nonce) {
                        Verdict::Take
                    } else {
                        Verdict::Drop
                    };
                }
                // RFC 8684-3.2-5
                let known = self.established && *token == self.token && !self.closing;
                if !known {
                    return if subflow.stage == Stage::Idle {
                        Verdict::Take
                    } else {
                        Verdict::Drop
                    };
                }
                self.answer_join(p, path, *nonce);
                Verdict::Take
            }
            _ if self.established => match subflow.stage {
                Stage::Ready => Verdict::Take, // challenged
                _ => Verdict::Drop,
            },
            _ => {
                let capable = matches!(o, Some(MpOption::Capable { .. }));
                self.renew(p, path, Stage::Opening);
                let endpoint = &mut self.subflows[path].endpoint;
                // RFC 8684-3.1-18
                endpoint.set_layered(capable && p.config().peer_capable);
                endpoint.listen();
                Verdict::Take
            }
        }
    }

    /// Accepts a valid SYN of a new subflow at a server. For the client, an earlier subflow of this path has
    /// ended.
    fn answer_join(&mut self, p: &MultipathProfile, path: usize, nonce: u32) {
        if self.subflows[path].stage == Stage::Ready {
            self.stats.lost_subflows += 1;
            self.give_to_others(path, 0);
            self.sender.forget_carrier(path);
            self.scheduling.on_path_gone(path);
        }
        self.renew(p, path, Stage::Joining);
        let own = self.draw() as u32;
        let subflow = &mut self.subflows[path];
        subflow.nonce = own;
        subflow.peer_nonce = nonce;
        subflow.nonces_seen.push(nonce);
        subflow.endpoint.set_layered(true);
        subflow.endpoint.listen();
    }

    /// Checks the response to the client's SYN, with or without MP_CAPABLE.
    fn judge_answer(&mut self, path: usize, s: &Segment, o: Option<&MpOption>) -> Verdict {
        if !self.subflows[path].endpoint.is_answer(s) {
            return Verdict::Take; // the endpoint handles it
        }
        match o {
            Some(MpOption::Capable { sender_key: Some(key), .. }) => {
                self.meet_peer(*key);
                self.sender.open_window(1, u64::from(s.window));
            }
            // RFC 8684-3.1-17
            _ => self.fall_back(path),
        }
        Verdict::Take
    }

    fn meet_peer(&mut self, key: u64) {
        self.peer_key = key;
        self.peer_start = initial_data_seq(key);
    }

    /// Checks the third segment of the first handshake at a server. Without the peer's key, the server cannot
    /// use any other segment.
    // RFC 8684-3.1-6
    fn judge_third_ack(&mut self, path: usize, s: &Segment, o: Option<&MpOption>) -> Verdict {
        if !self.subflows[path].endpoint.is_layered() {
            return Verdict::Take;
        }
        match o {
            Some(MpOption::Capable { sender_key: Some(peer), receiver_key: Some(own), .. })
                if *own == self.key =>
            {
                self.meet_peer(*peer);
                Verdict::Take
            }
            Some(_) => Verdict::Drop,
            None if s.flags.has(Flags::ACK) => {
                // RFC 8684-3.1-19
                // A middlebox has removed the option (RFC 8684 section 3.7).
                self.subflows[path].endpoint.set_layered(false);
                Verdict::Take
            }
            None => Verdict::Take,
        }
    }

    fn own_credentials(&self, path: usize) -> Credentials {
        Credentials { key: self.key, nonce: self.subflows[path].nonce }
    }

    fn peer_credentials(&self, path: usize) -> Credentials {
        Credentials { key: self.peer_key, nonce: self.subflows[path].peer_nonce }
    }

    // RFC 8684-3.2-7
    fn judge_join_answer(&mut self, path: usize, s: &Segment, o: Option<&MpOption>) -> Verdict {
        if !self.subflows[path].endpoint.is_answer(s) {
            return Verdict::Take;
        }
        let Some(MpOption::JoinSynAck { hmac, nonce, .. }) = o else { return Verdict::Abort };
        self.subflows[path].peer_nonce = *nonce;
        let expected = join_syn_ack_hmac(self.peer_credentials(path), self.own_credentials(path));
        // RFC 8684-3.2-6
        if *hmac == expected { Verdict::Take } else { Verdict::Abort }
    }

    // RFC 8684-3.2-6
    fn judge_join_third_ack(&mut self, path: usize, o: Option<&MpOption>) -> Verdict {
        if self.subflows[path].confirmed {
            return Verdict::Take;
        }
        // Another segment has data that overtook the third segment. The data will be retransmitted.
        let Some(MpOption::JoinAck { hmac }) = o else { return Verdict::Drop };
        if *hmac != join_ack_hmac(self.peer_credentials(path), self.own_credentials(path)) {
            return Verdict::Abort;
        }
        self.subflows[path].confirmed = true;
        Verdict::Take
    }

    /// Checks a segment of an established subflow.
    fn judge_ready(&mut self, path: usize, s: &Segment, o: Option<&MpOption>) -> Verdict {
        if s.flags.has(Flags::SYN) {
            return Verdict::Take; // challenged, or the repeated response to this end's SYN
        }
        if self.role == Role::Client && o.is_none() && s.flags.has(Flags::ACK) {
            let subflow = &self.subflows[path];
            let plain = subflow.sent.iter().all(|p| p.data == p.start) && self.stats.joins == 0;
            // RFC 8684-3.7-4
            if path == self.initial && !self.confirmed && plain {
                self.fall_back(path);
                return Verdict::Take;
            }
        }
        self.judge_place(path, s, o)
    }

    /// Advances the handshake of a path whose endpoint is established.
    pub(super) fn follow_handshake(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        let subflow = &self.subflows[path];
        if !subflow.endpoint.was_established() {
            return;
        }
        match subflow.stage {
            Stage::Opening if self.established => {
                // Another path was faster.
                self.subflows[path].endpoint.abort();
            }
            Stage::Opening => self.establish(p, now, path),
            Stage::Joining => self.complete_join(p, now, path),
            Stage::Idle | Stage::Ready => {}
        }
    }

    fn establish(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        self.established = true;
        self.initial = path;
        self.last_path = path;
        self.subflows[path].stage = Stage::Ready;
        self.subflows[path].confirmed = true;
        self.third_ack_now = self.role == Role::Client;
        self.coupling.begin(p, now);
        if !self.subflows[path].endpoint.is_layered() && !self.fallback {
            self.fall_back(path);
        }
        // A server that received SYNs on several paths continues with one path.
        for other in (0..self.subflows.len()).filter(|i| *i != path) {
            if self.subflows[other].stage == Stage::Opening {
                self.renew(p, other, Stage::Idle);
            }
        }
    }

    fn complete_join(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        self.stats.joins += 1;
        let subflow = &mut self.subflows[path];
        subflow.stage = Stage::Ready;
        if self.role == Role::Server {
            // The client must not send data before this acknowledgement (RFC 8684 section 3.2).
            // RFC 8684-3.2-4
            subflow.endpoint.acknowledge_now();
        } else {
            subflow.confirm_at = now + subflow.endpoint.rto(p.path(path));
        }
    }

    /// Starts the joins of a client on every path whose retry time is reached.
    // RFC 8684-3.1-7
    pub(super) fn join_paths(&mut self, p: &MultipathProfile, now: Time) {
        if self.role == Role::Server || !self.confirmed || self.failure.is_some() {
            return;
        }
        for path in 0..self.subflows.len() {
            let subflow = &self.subflows[path];
            let due = subflow.retry_at.is_never() || subflow.retry_at <= now;
            if subflow.stage != Stage::Idle || !due {
                continue;
            }
            self.renew(p, path, Stage::Joining);
            let nonce = self.draw() as u32;
            let subflow = &mut self.subflows[path];
            subflow.nonce = nonce;
            subflow.endpoint.set_layered(true);
            subflow.endpoint.connect();
        }
    }

    /// Notes that the peer has accepted the join.
    pub(super) fn confirm_join(&mut self, path: usize) {
        let subflow = &mut self.subflows[path];
        if !subflow.confirmed && subflow.stage == Stage::Ready {
            subflow.confirmed = true;
            subflow.failures = 0;
            subflow.confirm_at = Time::NEVER;
        }
    }

    /// Retransmits the third segment of a join until the peer responds.
    // RFC 8684-3.2-4
    pub(super) fn repeat_third_ack(&mut self, p: &MultipathProfile, now: Time, path: usize) {
        let subflow = &mut self.subflows[path];
        if now < subflow.confirm_at {
            return;
        }
        subflow.confirm_shift += 1;
        if subflow.confirm_shift > p.path(path).stack.max_syn_retries {
            subflow.endpoint.abort();
            return;
        }
        let wait =
            subflow.endpoint.rto(p.path(path)).0.saturating_mul(1 << subflow.confirm_shift.min(6));
        subflow.confirm_at = now + Span(wait);
        subflow.endpoint.acknowledge_now();
    }

    /// Continues as a plain connection on this path (RFC 8684 section 3.7). The offsets of the stream and of
    /// the subflow are equal, because no data were sent on other paths.
    // RFC 8684-3.7-1
    pub(super) fn fall_back(&mut self, path: usize) {
        self.fallback = true;
        self.initial = path;
        let left = self.sender.end - self.sender.next;
        let closed = self.sender.closed;
        let subflow = &mut self.subflows[path];
        subflow.endpoint.set_layered(false);
        subflow.endpoint.offer(left);
        if closed {
            subflow.endpoint.close();
        }
        subflow.sent.clear();
        self.sender.next = self.sender.end;
    }

    /// The option of a SYN or SYN-ACK.
    pub(super) fn handshake_option(&self, path: usize, flags: Flags) -> Option<MpOption> {
        let subflow = &self.subflows[path];
        let answer = flags.has(Flags::ACK);
        match subflow.stage {
            _ if !subflow.endpoint.is_layered() => None,
            Stage::Opening => Some(MpOption::Capable {
                sender_key: answer.then_some(self.key),
                receiver_key: None,
                data_len: None,
            }),
            // RFC 8684-3.2-3
            Stage::Joining if answer => Some(MpOption::JoinSynAck {
                backup: false,
                address: path as u8,
                hmac: join_syn_ack_hmac(self.own_credentials(path), self.peer_credentials(path)),
                nonce: subflow.nonce,
            }),
            Stage::Joining => Some(MpOption::JoinSyn {
                backup: false,
                address: path as u8,
                token: token(self.peer_key),
                nonce: subflow.nonce,
            }),
            Stage::Idle | Stage::Ready => None,
        }
    }

    /// The proof in the third segment of a join.
    pub(super) fn join_proof(&self, path: usize) -> MpOption {
        let hmac = join_ack_hmac(self.own_credentials(path), self.peer_credentials(path));
        MpOption::JoinAck { hmac }
    }
}
