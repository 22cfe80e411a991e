//! Transmission of segments with their options.

use windlass_cc::{Span, Time};

use super::{Connection, MultipathProfile, Outgoing, Role};
use crate::mptcp::option::{Dss, Mapping, MpOption};
use crate::segment::{Flags, Segment};

/// Maximum length of the options in a TCP header, bytes.
const MAX_OPTIONS: u32 = 40;

impl Connection {
    /// The next segment to send now; `None` if there is no segment to send.
    pub fn poll_transmit(&mut self, p: &MultipathProfile, now: Time) -> Option<Outgoing> {
        if self.fallback {
            return self.poll_plain(p, now);
        }
        let third = std::mem::take(&mut self.third_ack_now);
        let first = if third { Some(self.initial) } else { self.assign(p, now) };
        self.instruct();
        let others = (0..self.subflows.len()).filter(|i| Some(*i) != first);
        for path in first.into_iter().chain(others) {
            if let Some(out) = self.poll_subflow(p, now, path, false) {
                return Some(out);
            }
        }
        let fin = self.poll_fin(p, now);
        if fin.is_none() && self.established {
            let stack = &p.path(0).stack;
            let first = match stack.persist_timeout {
                Span::ZERO => self.longest_rto(p),
                fixed => fixed,
            };
            self.sender.watch_window(now, first, stack.rto.max());
            self.watch_progress(p, now);
        }
        fin
    }

    /// The longest retransmission timeout of a subflow.
    fn longest_rto(&self, p: &MultipathProfile) -> Span {
        let rtos = self.subflows.iter().enumerate().map(|(i, s)| s.endpoint.rto(p.path(i)));
        rtos.max().unwrap_or(Span::from_secs(1))
    }

    fn poll_plain(&mut self, p: &MultipathProfile, now: Time) -> Option<Outgoing> {
        for (path, subflow) in self.subflows.iter_mut().enumerate() {
            let attempt = subflow.attempt;
            if let Some(segment) = subflow.endpoint.poll_transmit(p.path(path), now) {
                return Some(Outgoing { path, attempt, segment, option: None });
            }
        }
        None
    }

    /// Passes the window of the connection to the subflows.
    fn instruct(&mut self) {
        for subflow in &mut self.subflows {
            let endpoint = &mut subflow.endpoint;
            let (mss, most) = (u64::from(endpoint.mss()), endpoint.most_window());
            endpoint.instruct(self.receiver.window(mss, most), subflow.waiting);
        }
    }

    fn poll_subflow(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        path: usize,
        fin: bool,
    ) -> Option<Outgoing> {
        let subflow = &mut self.subflows[path];
        let attempt = subflow.attempt;
        let mut segment = subflow.endpoint.poll_transmit(p.path(path), now)?;
        self.coupling.report(now, path, &mut self.subflows[path]);
        let option = self.option_for(path, &segment, fin);
        self.fit(path, &mut segment, option.as_ref());
        Some(Outgoing { path, attempt, segment, option })
    }

    /// The option of a segment.
    // RFC 8684-3-2
    fn option_for(&mut self, path: usize, s: &Segment, fin: bool) -> Option<MpOption> {
        if s.flags.has(Flags::RST) {
            return None;
        }
        if s.flags.has(Flags::SYN) {
            return self.handshake_option(path, s.flags);
        }
        let subflow = &self.subflows[path];
        let start = subflow.endpoint.offset_of(s, false).unwrap_or(0);
        let client = self.role == Role::Client;
        if client && !subflow.confirmed {
            return Some(self.join_proof(path));
        }
        if client && !self.confirmed && path == self.initial && !fin && (s.len == 0 || start == 1) {
            // RFC 8684-3.1-5
            return Some(MpOption::Capable {
                sender_key: Some(self.key),
                receiver_key: Some(self.peer_key),
                data_len: (s.len > 0).then_some(s.len as u16),
            });
        }
        let data_ack = Some(self.peer_start.wrapping_add(self.receiver.acknowledgement()));
        let mapping = match s.len {
            // RFC 8684-3.3.3-1
            0 if fin => Some((self.sender.end, 0, 1)),
            0 => None,
            // RFC 8684-3.7-2
            len => subflow
                .sent
                .at(start)
                .map(|piece| (piece.data + (start - piece.start), start as u32, len as u16)),
        };
        let mapping = mapping.map(|(data, subflow_offset, len)| Mapping {
            data_seq: self.own_start.wrapping_add(data),
            subflow_offset,
            len,
        });
        Some(MpOption::Dss(Dss { data_ack, mapping, data_fin: fin && s.len == 0 }))
    }

    /// Adapts a segment to its option.
    fn fit(&mut self, path: usize, s: &mut Segment, option: Option<&MpOption>) {
        let room = MAX_OPTIONS - option.map_or(0, MpOption::wire_len);
        while s.options.wire_len() > room && s.options.sack_count > 0 {
            s.options.sack_count -= 1;
            s.options.sack[usize::from(s.options.sack_count)] = Default::default();
        }
        if s.flags.has(Flags::SYN) || s.flags.has(Flags::RST) {
            return;
        }
        // A subflow has only its current piece, but the stream may continue.
        let ends = s.len > 0 && self.sender.next == self.sender.end;
        if !ends {
            s.flags = Flags(s.flags.0 & !Flags::PSH.0);
        }
        let endpoint = &self.subflows[path].endpoint;
        self.receiver
            .note_offer(self.receiver.window(u64::from(endpoint.mss()), endpoint.most_window()));
    }

    /// Sends the end of the stream in a separate segment, when no payload is left to carry it.
    fn poll_fin(&mut self, p: &MultipathProfile, now: Time) -> Option<Outgoing> {
        let due = self.fin_now || self.sender.fin_tries == 0;
        if !self.established || !due || !self.sender.may_end() {
            return None;
        }
        let path = self.path_for_fin()?;
        self.fin_now = false;
        self.sender.fin_tries += 1;
        let subflow = &mut self.subflows[path];
        let backoff = 1 << (self.sender.fin_tries - 1).min(6);
        let wait = subflow.endpoint.rto(p.path(path)).0.saturating_mul(backoff);
        self.sender.fin_at = now + windlass_cc::Span(wait.max(1));
        subflow.endpoint.acknowledge_now();
        self.poll_subflow(p, now, path, true)
    }

    /// The path for the end of the stream: the best path without unanswered retransmissions. Each
    /// retransmission uses another path, because a subflow that has only received cannot show that it has
    /// failed.
    fn path_for_fin(&self) -> Option<usize> {
        let best = self.path_for_signals()?;
        let count = self.subflows.len();
        let live = |path: &usize| self.subflows[*path].is_live() && self.subflows[*path].confirmed;
        let live = || (best..best + count).map(|path| path % count).filter(live);
        let quiet = || {
            live().filter(|path| {
                let subflow = &self.subflows[*path];
                !subflow.suspended && subflow.endpoint.unanswered() == 0
            })
        };
        let tries = self.sender.fin_tries as usize;
        match quiet().count() {
            0 => live().nth(tries % live().count().max(1)),
            n => quiet().nth(tries % n),
        }
    }
}
