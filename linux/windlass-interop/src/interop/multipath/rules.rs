//! Rules for every connection of Multipath TCP, in both directions (RFC 8684 section 3).

use std::collections::HashSet;

use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_tcp::mptcp::keys::{self, Credentials};
use windlass_tcp::mptcp::{Dss, MpOption};
use windlass_tcp::{Flags, Segment};

use super::super::Side;
use super::super::findings::Findings;
use super::super::spans::Spans;
use super::super::trace::{Trace, describe};
use super::streams::{Piece, Stream};

/// Checks a run against the rules.
pub(in super::super) fn judge(trace: &Trace, findings: &mut Findings) {
    let mut book = Book { ends: Default::default(), told: HashSet::new(), findings };
    trace.packets.iter().for_each(|p| book.enter(p));
}

struct Book<'a> {
    ends: [End; 2],
    told: HashSet<(&'static str, Side)>,
    findings: &'a mut Findings,
}

/// State of an end: the data that it has sent and received.
#[derive(Default)]
struct End {
    key: Option<u64>,
    stream: Stream,
    /// Nonce and window shift of the last SYN on each path.
    paths: [OfPath; 2],
    /// True if the last SYN had MP_CAPABLE.
    offers: bool,
    /// Offset after the end of the own stream, including the DATA_FIN.
    fin_at: Option<u64>,
    /// Ranges of the peer's stream that have arrived, including the DATA_FIN.
    arrived: Spans,
    /// Right edge of the window that the peer has advertised to this end.
    edge: u64,
}

#[derive(Clone, Copy, Default)]
struct OfPath {
    nonce: u32,
    /// Window shift that the end has offered, if any.
    shift: Option<u8>,
}

impl Book<'_> {
    fn enter(&mut self, p: &PacketEvent) {
        let from = if p.forward { Side::Sender } else { Side::Receiver };
        let (Some(s), Some(path)) = (&p.segment, p.path) else { return };
        let option = path.option.as_ref();
        match p.fate {
            PacketFate::Sent => self.sent(from, path.path, s, option),
            PacketFate::Delivered => self.delivered(from, path.path, s, option),
            _ => {}
        }
    }

    fn rule(
        &mut self,
        name: &'static str,
        from: Side,
        holds: bool,
        expected: impl FnOnce() -> String,
        found: impl FnOnce() -> String,
    ) {
        if !holds && self.told.insert((name, from)) {
            self.findings.expect(false, format_args!("of the {from}: {}", expected()), found());
        }
    }

    fn sent(&mut self, from: Side, path: u8, s: &Segment, option: Option<&MpOption>) {
        let me = &mut self.ends[from as usize];
        if s.flags.has(Flags::SYN) {
            me.paths[usize::from(path)].shift = s.options.window_scale;
            me.offers = matches!(option, Some(MpOption::Capable { .. }));
            let unasked = s.flags.has(Flags::ACK) && me.offers;
            let asked = self.ends[from.other() as usize].offers || !unasked;
            let found = || describe(s);
            self.rule("answer", from, asked, || "MP_CAPABLE only if it was offered".into(), found);
        }
        let me = &mut self.ends[from as usize];
        let agrees = me.stream.learn(path, s, option);
        let told = || describe(s);
        self.rule("mapping", from, agrees, || "mappings that do not contradict".into(), told);
        match option {
            Some(MpOption::Capable { sender_key, receiver_key, .. }) => {
                self.ends[from as usize].key = sender_key.or(self.ends[from as usize].key);
                let theirs = self.ends[from.other() as usize].key;
                let echoed = receiver_key.is_none() || *receiver_key == theirs;
                self.rule("echo", from, echoed, || "the echo of the peer's key".into(), told);
            }
            Some(
                option @ (MpOption::JoinSyn { .. }
                | MpOption::JoinSynAck { .. }
                | MpOption::JoinAck { .. }),
            ) => self.join(from, path, option),
            Some(MpOption::Dss(dss)) => self.dss(from, s, dss),
            _ => {}
        }
        self.payload(from, path, s);
    }

    /// Checks tokens and proofs (section 3.2).
    fn join(&mut self, from: Side, path: u8, option: &MpOption) {
        let place = usize::from(path);
        if let MpOption::JoinSyn { nonce, .. } | MpOption::JoinSynAck { nonce, .. } = option {
            self.ends[from as usize].paths[place].nonce = *nonce;
        }
        let [me, peer] = [from, from.other()].map(|side| &self.ends[side as usize]);
        let credentials =
            |end: &End| Some(Credentials { key: end.key?, nonce: end.paths[place].nonce });
        let Some((mine, theirs)) = credentials(me).zip(credentials(peer)) else {
            let found = || "one before the keys were known".into();
            return self.rule("early join", from, false, || "a join of a connection".into(), found);
        };
        let right = match *option {
            MpOption::JoinSyn { token, .. } => token == keys::token(theirs.key),
            MpOption::JoinSynAck { hmac, .. } => hmac == keys::join_syn_ack_hmac(mine, theirs),
            MpOption::JoinAck { hmac } => hmac == keys::join_ack_hmac(mine, theirs),
            _ => true,
        };
        let expected = || "token and proofs that follow from keys and nonces".into();
        self.rule("join", from, right, expected, || format!("{option:?}"));
    }

    /// Checks that data acknowledgements cover only arrived data, and that the stream has one end (sections
    /// 3.3.2 and 3.3.3).
    fn dss(&mut self, from: Side, s: &Segment, dss: &Dss) {
        let [me, peer] = [from, from.other()].map(|side| &self.ends[side as usize]);
        let come = me.arrived.contiguous();
        let ack = dss.data_ack.and_then(|ack| peer.stream.offset(ack));
        let end = dss
            .mapping
            .filter(|_| dss.data_fin)
            .and_then(|m| me.stream.offset(m.data_seq.wrapping_add(m.len.into())));
        let one_end = end.is_none_or(|end| me.fin_at.is_none_or(|at| at == end));
        let told = || format!("{dss:?} in {}", describe(s));
        self.rule(
            "data ack",
            from,
            ack.is_none_or(|ack| ack <= come),
            || format!("no data acknowledgement beyond offset {come}, the end of the arrived data"),
            told,
        );
        self.rule("data fin", from, one_end, || "one end of the stream".into(), told);
        let me = &mut self.ends[from as usize];
        me.fin_at = end.or(me.fin_at);
    }

    /// Checks that payload has a mapping, and stays within the stream and within the window that the peer has
    /// advertised (section 3.3.4). A probe of a closed window has one byte.
    fn payload(&mut self, from: Side, path: u8, s: &Segment) {
        let me = &mut self.ends[from as usize];
        if s.len == 0 || !me.stream.is_multipath() {
            return;
        }
        let pieces = me.stream.pieces(path, s);
        let (edge, fin_at) = (me.edge, me.fin_at);
        let mapped: usize = pieces.iter().map(|piece| piece.len).sum();
        let end = pieces.iter().map(|piece| piece.at + piece.len as u64).max().unwrap_or(0);
        let told = || format!("{} with {pieces:?}", describe(s));
        let probe = s.len == 1;
        self.rule(
            "place",
            from,
            mapped == s.len as usize,
            || "payload with a mapping".into(),
            told,
        );
        let inside = end <= edge || probe;
        let expected = || format!("nothing beyond the window's edge, offset {edge} of the stream");
        self.rule("data window", from, inside, expected, told);
        let before = fin_at.is_none_or(|at| end < at);
        self.rule("after data fin", from, before, || "no data after DATA_FIN".into(), told);
    }

    fn delivered(&mut self, from: Side, path: u8, s: &Segment, option: Option<&MpOption>) {
        let place = usize::from(path);
        let [peer, me] = [from, from.other()].map(|side| &self.ends[side as usize]);
        let both = peer.paths[place].shift.and(me.paths[place].shift).is_some();
        let shift = peer.paths[place].shift.filter(|_| both && !s.flags.has(Flags::SYN));
        let window = u64::from(s.window) << shift.unwrap_or(0).min(14);
        // Before any data acknowledgement the window starts at the start of the stream (section 3.3.4).
        let acked = match option {
            Some(MpOption::Dss(Dss { data_ack: Some(ack), .. })) => me.stream.offset(*ack),
            Some(MpOption::Capable { .. }) => Some(0),
            _ => None,
        };
        let (edge, fin) = (acked.map(|ack| ack + window), end_of(peer, option));
        let pieces: Vec<Piece> = self.ends[from as usize].stream.pieces(path, s);
        let me = &mut self.ends[from.other() as usize];
        me.edge = me.edge.max(edge.unwrap_or(0));
        let runs = pieces.iter().map(|piece| (piece.at, piece.at + piece.len as u64));
        runs.chain(fin).for_each(|(start, end)| me.arrived.insert(start, end));
    }
}

/// Returns the position of a DATA_FIN.
fn end_of(from: &End, option: Option<&MpOption>) -> Option<(u64, u64)> {
    let Some(MpOption::Dss(Dss { mapping: Some(mapping), data_fin: true, .. })) = option else {
        return None;
    };
    let end = from.stream.offset(mapping.data_seq.wrapping_add(mapping.len.into()))?;
    Some((end - 1, end))
}

#[cfg(test)]
mod tests;
