//! Rules for every segment of every case, in both directions.

use std::collections::HashSet;

use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_tcp::{Codepoint, Flags, Options, Segment, Seq};

use super::findings::Findings;
use super::plan::Plan;
use super::spans::Spans;
use super::trace::{Trace, describe};
use super::{Side, multipath};

/// Checks a run against the rules of every case.
pub(super) fn judge(plan: &Plan, trace: &Trace, findings: &mut Findings) {
    for side in Side::BOTH {
        applications(plan, trace, side, findings);
    }
    for fault in &trace.unused {
        findings.expect(false, format_args!("{fault} to be applied"), "that it never was");
    }
    // A subflow is a TCP connection too.
    let path = |p: &PacketEvent| p.path.map_or(0, |packet| packet.path);
    for other in (1..plan.paths()).rev() {
        let mut book = Book { plan, ends: Default::default(), told: HashSet::new(), findings };
        trace.packets.iter().filter(|p| path(p) == other).for_each(|p| book.enter(p));
    }
    if plan.multipath.is_some() {
        multipath::rules::judge(trace, findings);
    }
    let mut book = Book { plan, ends: Default::default(), told: HashSet::new(), findings };
    trace.packets.iter().filter(|p| path(p) == 0).for_each(|p| book.enter(p));
    for side in Side::BOTH {
        let needless = book.ends[side as usize].needless;
        let most = plan.needless.unwrap_or(u32::MAX);
        book.findings.expect(
            needless <= most,
            format_args!("at most {most} data segments of the {side} that had arrived before"),
            needless,
        );
    }
}

fn applications(plan: &Plan, trace: &Trace, side: Side, findings: &mut Findings) {
    let standing = &trace.standings[side as usize];
    if let Some(step) = trace.waiting[side as usize] {
        findings.expect(
            false,
            format_args!(
                "the {side}'s application to be done within {} s",
                plan.patience.0 / 1_000_000_000
            ),
            format_args!("that it waits for {step:?}: {standing:?}"),
        );
    }
    if let Some(offset) = standing.wrong_at {
        findings.expect(
            false,
            "the bytes that were sent",
            format_args!("another at {offset} in what the {side} read"),
        );
    }
    if let Some(why) = standing.failed {
        findings.expect(false, format_args!("the {side}'s connection to hold"), why);
    }
    findings.expect(
        plan.resets || !standing.reset,
        "no reset",
        format_args!("that the {side}'s connection was reset"),
    );
}

/// State of the connection, packet by packet. Offsets count from the SYN, which is 0.
struct Book<'a> {
    plan: &'a Plan,
    ends: [End; 2],
    /// Rules that have already been reported; each is reported once per end.
    told: HashSet<(&'static str, Side)>,
    findings: &'a mut Findings,
}

#[derive(Debug, Default)]
struct End {
    iss: Option<Seq>,
    /// Options of the SYN.
    options: Options,
    syn: Flags,
    /// Offset after the last byte sent.
    sent_to: u64,
    fin_at: Option<u64>,
    /// Right edge of the window that the peer has allowed, according to the segments that this end has
    /// received.
    edge: u64,
    /// Right edge of the window that this end has allowed.
    allowed: u64,
    /// Ranges of the peer's stream that have arrived.
    arrived: Spans,
    /// Last timestamp of this end, and the timestamps that it has received.
    clock: Option<u32>,
    heard: HashSet<u32>,
    needless: u32,
}

impl Book<'_> {
    fn enter(&mut self, p: &PacketEvent) {
        let from = if p.forward { Side::Sender } else { Side::Receiver };
        let Some(s) = &p.segment else { return };
        match p.fate {
            PacketFate::Sent if s.flags.has(Flags::RST) => {
                let resets = self.plan.resets;
                self.rule("reset", from, resets, || "no reset".into(), || describe(s));
            }
            PacketFate::Sent if s.flags.has(Flags::SYN) => self.syn(from, s),
            PacketFate::Sent => self.sent(from, s),
            PacketFate::Delivered if !s.flags.has(Flags::RST) => self.delivered(from, s),
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

    /// Checks a SYN, which starts a connection. An answer has no option that was not offered (RFC 7323
    /// sections 2.2 and 3.2, RFC 2018 section 2).
    fn syn(&mut self, from: Side, s: &Segment) {
        let place = from as usize;
        if self.ends[place].iss != Some(s.seq) {
            if self.ends[place].iss.is_some() && !s.flags.has(Flags::ACK) {
                let needless = [0, 1].map(|i| self.ends[i].needless);
                self.ends = needless.map(|needless| End { needless, ..End::default() });
            }
            let me = &mut self.ends[place];
            (me.iss, me.options, me.syn, me.sent_to) = (Some(s.seq), s.options, s.flags, 1);
        }
        if s.flags.has(Flags::ACK) {
            let (mine, theirs) = (s.options, self.ends[1 - place].options);
            let unasked = (mine.sack_permitted && !theirs.sack_permitted)
                || (mine.timestamps.is_some() && theirs.timestamps.is_none())
                || (mine.window_scale.is_some() && theirs.window_scale.is_none());
            let expected = || "an answer with no option that was not offered".into();
            self.rule("answer", from, !unasked, expected, || describe(s));
        }
        self.ends[place].clock = s.options.timestamps.map(|t| t.value);
    }

    fn sent(&mut self, from: Side, s: &Segment) {
        let [me, peer] = self.pair(from);
        let (Some(iss), Some(irs)) = (me.iss, peer.iss) else { return };
        let Some(start) = s.seq.unwrap_near(iss, me.sent_to) else {
            return self.rule(
                "start",
                from,
                false,
                || "no segment before the SYN".into(),
                || describe(s),
            );
        };
        self.options(from, s);
        self.data(from, start, s);
        if s.flags.has(Flags::ACK) {
            self.acknowledgement(from, irs, s);
        }
    }

    /// Checks that segments have exactly the agreed options (RFC 7323 section 3.2, RFC 2018 section 3, RFC
    /// 3168 section 6.1.1).
    fn options(&mut self, from: Side, s: &Segment) {
        let [me, peer] = self.pair(from);
        let both = |has: fn(&Options) -> bool| has(&me.options) && has(&peer.options);
        let stamped = both(|o| o.timestamps.is_some());
        let sack = both(|o| o.sack_permitted);
        let ecn = [me, peer].iter().all(|end| end.syn.has(Flags::ECE));
        let clock = me.clock;
        let heard = s.options.timestamps.is_none_or(|t| me.heard.contains(&t.echo));
        let value = s.options.timestamps.map(|t| t.value);
        let on = |yes| if yes { "agreed on" } else { "not agreed on" };
        self.rule(
            "timestamps",
            from,
            stamped == value.is_some(),
            || format!("timestamps exactly if agreed on; they are {}", on(stamped)),
            || describe(s),
        );
        self.rule(
            "echo",
            from,
            heard,
            || "the echo of a timestamp that came".into(),
            || describe(s),
        );
        let forward = value.zip(clock).is_none_or(|(now, last)| now.wrapping_sub(last) as i32 >= 0);
        self.rule(
            "clock",
            from,
            forward,
            || "a timestamp clock that never goes back".into(),
            || describe(s),
        );
        self.rule(
            "sack",
            from,
            sack || s.options.sack_count == 0,
            || "no SACK block, as SACK was not agreed on".into(),
            || describe(s),
        );
        let echo = s.flags.has(Flags::ECE) || s.flags.has(Flags::CWR);
        let quiet = !echo && !s.ecn.is_capable();
        self.rule(
            "ecn",
            from,
            ecn || quiet,
            || "nothing of ECN, as it was not agreed on".into(),
            || describe(s),
        );
        let marked = s.ecn == Codepoint::Ce || (s.len == 0 && s.ecn.is_capable());
        self.rule(
            "codepoint",
            from,
            !marked,
            || "ECT on segments with data only, and no mark".into(),
            || describe(s),
        );
        self.ends[from as usize].clock = value.or(clock);
    }

    /// Checks that data stay within the segment size and the window that the peer has allowed (RFC 9293
    /// sections 3.7.1 and 3.8.6), and end at the FIN. A probe of a closed window has one byte.
    fn data(&mut self, from: Side, start: u64, s: &Segment) {
        let [me, peer] = self.pair(from);
        let limit = u32::from(peer.options.mss.unwrap_or(536));
        let end = start + u64::from(s.len);
        let (edge, fin_at) = (me.edge, me.fin_at);
        let probe = s.len == 1 && start >= edge;
        let needless = s.len > 0 && !probe && peer.arrived.covers(start, end);
        self.rule(
            "size",
            from,
            s.len + s.options.wire_len() <= limit || s.len == 0,
            || format!("at most {limit} bytes of options and payload"),
            || describe(s),
        );
        // With Multipath TCP, windows belong to the connection, not to its subflows.
        let own_window = self.plan.multipath.is_none();
        self.rule(
            "window",
            from,
            s.len == 0 || probe || end <= edge || !own_window,
            || format!("nothing beyond the window's edge, offset {edge}"),
            || format!("{} with offsets {start} to {end}", describe(s)),
        );
        let fin = s.flags.has(Flags::FIN);
        let ends_well =
            fin_at.is_none_or(|at| if fin { end == at } else { end <= at || s.len == 0 });
        self.rule("fin", from, ends_well, || "one end of the data".into(), || describe(s));
        let me = &mut self.ends[from as usize];
        me.needless += u32::from(needless);
        if fin {
            me.fin_at = Some(end);
        }
        me.sent_to = me.sent_to.max(end + u64::from(fin));
    }

    /// Checks that acknowledgements cover only arrived data, and that the window does not shrink (RFC 9293
    /// section 3.8.6) by more than the rounding of scaling.
    fn acknowledgement(&mut self, from: Side, irs: Seq, s: &Segment) {
        let shift = self.shift(from);
        let [me, _] = self.pair(from);
        let come = me.arrived.contiguous();
        let Some(ack) = s.ack.unwrap_near(irs, come) else {
            return self.rule(
                "ack",
                from,
                false,
                || "an acknowledgement of the SYN or more".into(),
                || describe(s),
            );
        };
        let held = s.options.sack_blocks().iter().all(|block| {
            let start = block.left.unwrap_near(irs, come);
            let end = block.right.unwrap_near(irs, come);
            start.zip(end).is_some_and(|(start, end)| start < end && me.arrived.covers(start, end))
        });
        let (edge, allowed) = (ack + (u64::from(s.window) << shift), me.allowed);
        // After the peer's FIN a window allows nothing. Linux advertises a smaller window in TIME-WAIT.
        let over = self.ends[from.other() as usize].fin_at.is_some_and(|at| ack > at);
        self.rule(
            "ack",
            from,
            ack <= come,
            || format!("no acknowledgement beyond offset {come}, the end of the arrived data"),
            || format!("{ack} in {}", describe(s)),
        );
        self.rule("blocks", from, held, || "SACK blocks of arrived data".into(), || describe(s));
        self.rule(
            "shrink",
            from,
            over || edge + (1 << shift) > allowed || self.plan.multipath.is_some(),
            || format!("a window that reaches offset {allowed} as before"),
            || format!("{edge} in {}", describe(s)),
        );
        let me = &mut self.ends[from as usize];
        me.allowed = me.allowed.max(edge);
    }

    fn delivered(&mut self, from: Side, s: &Segment) {
        let shift = if s.flags.has(Flags::SYN) { 0 } else { self.shift(from) };
        let [peer, me] = self.pair(from);
        let Some(irs) = peer.iss else { return };
        let (iss, near, sent_to) = (me.iss, me.arrived.contiguous(), me.sent_to);
        let me = &mut self.ends[from.other() as usize];
        if let Some(start) = s.seq.unwrap_near(irs, near) {
            me.arrived.insert(start, start + u64::from(s.seq_len()));
        }
        me.heard.extend(s.options.timestamps.map(|t| t.value));
        let ack = iss.filter(|_| s.flags.has(Flags::ACK));
        if let Some(ack) = ack.and_then(|iss| s.ack.unwrap_near(iss, sent_to)) {
            me.edge = me.edge.max(ack + (u64::from(s.window) << shift));
        }
    }

    /// Returns the sender of a segment and its peer.
    fn pair(&self, from: Side) -> [&End; 2] {
        [&self.ends[from as usize], &self.ends[from.other() as usize]]
    }

    /// Returns the shift of the windows that this end advertises.
    fn shift(&self, from: Side) -> u8 {
        let [me, peer] = self.pair(from);
        let both = peer.options.window_scale.and(me.options.window_scale);
        both.unwrap_or(0).min(14)
    }
}

#[cfg(test)]
mod tests;
