//! An end of a flow with successive connections.

use windlass_cc::{Span, Time};
use windlass_tcp::{CongestionControl, Endpoint, Journal, Profile, Segment, Stats};

use super::connections::{Completed, Connections};
use super::contents::{Item, Message, Shared};
use super::log::{Note, What};
use super::loss::Loss;
use super::opener::Opener;
use super::plan::{Exchanges, Side};
use crate::latency::Messages;
use crate::random::{Purpose, Stream};

/// One end of a flow with successive connections.
#[derive(Clone, Debug)]
pub struct SessionEnd {
    pub(super) line: Connections,
    /// The supervisor, at the end that opens connections.
    pub(super) opener: Option<Box<Opener>>,
    pub(super) inbox: Inbox,
    /// Power cuts that have not ended, in reverse order of time.
    cuts: Vec<[Time; 2]>,
    /// True during a power cut.
    off: bool,
    start: Time,
}

/// Messages that have arrived at an end.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    /// Bit set of the numbers of the messages.
    seen: Vec<u64>,
    /// Messages, and their bytes, without duplicates.
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) duplicates: u64,
    /// Arrival of the newest.
    pub(super) last: Option<Time>,
    /// Statistics of their latency, if they have a deadline.
    pub(super) messages: Option<Box<Messages>>,
}

impl SessionEnd {
    /// The end at `host`, which is the flow's `from` (0) or `to` (1).
    pub(crate) fn new(plan: &Shared, end: usize, start: Time, seed: u64, host: u32) -> SessionEnd {
        let opens = plan.exchanges.opener() == end;
        let side = if opens { Side::Opener } else { Side::Listener };
        let stream = |purpose| Stream::new(seed, u64::from(host), purpose);
        let awaited = match plan.exchanges {
            Exchanges::Messages(arrivals) if end == 1 => Messages::of_arrivals(arrivals, start),
            _ => None,
        };
        SessionEnd {
            line: Connections::new(plan.clone(), side, stream(Purpose::InitialSequence)),
            opener: opens.then(|| Box::new(Opener::new(plan, start, stream(Purpose::Reconnect)))),
            inbox: Inbox { messages: awaited.map(Box::new), ..Inbox::default() },
            cuts: plan.cuts[end].iter().rev().copied().collect(),
            off: false,
            start,
        }
    }

    /// Time at which the end must be served next.
    pub(crate) fn deadline(&self) -> Time {
        let cut = self.cuts.last().map_or(Time::NEVER, |cut| cut[usize::from(self.off)]);
        if self.off {
            return cut;
        }
        let opener = self.opener.as_ref().map_or(Time::NEVER, |o| o.deadline(&self.line));
        self.line.deadline().min(opener).min(cut)
    }

    /// Receives a segment for the connection with this port.
    pub(crate) fn receive(&mut self, now: Time, p: &Profile, port: u16, segment: &Segment) {
        self.follow_power(now);
        if !self.off {
            self.line.receive(now, p, port, segment);
            self.act(now, p);
        }
    }

    /// Handles the deadline.
    pub(crate) fn wake(&mut self, now: Time, p: &Profile) {
        self.follow_power(now);
        if !self.off {
            self.act(now, p);
        }
    }

    fn act(&mut self, now: Time, p: &Profile) {
        self.line.act(now, p);
        for i in 0..self.line.completed.len() {
            let Completed { number, place, read } = self.line.completed[i];
            let carries = self.line.plan.dialogue(place.dialogue).steps[place.step].message;
            if let Some(message) = place.message.filter(|_| read && carries)
                && self.inbox.take(now, message)
            {
                self.line.note(now, number, What::Arrived { message: message.id });
            }
        }
        match &mut self.opener {
            Some(opener) => opener.act(now, p, &mut self.line),
            None => {
                self.line.completed.clear();
                self.line.take_failed(now);
            }
        }
    }

    /// Begins or ends power cuts that are due.
    fn follow_power(&mut self, now: Time) {
        while let Some([from, until]) = self.cuts.last().copied() {
            if !self.off && now >= from {
                self.off = true;
                let messages = self.line.lose_power(now);
                if let Some(opener) = &mut self.opener {
                    opener.lose_power(now, &self.line.plan, messages);
                }
            } else if self.off && now >= until {
                self.off = false;
                self.cuts.pop();
                if let Some(opener) = &mut self.opener {
                    opener.restart(now, self.start, &self.line);
                }
            } else {
                return;
            }
        }
    }

    /// The next segment to send now, and the port of its connection.
    pub(crate) fn next_segment(&mut self, now: Time, p: &Profile) -> Option<(u16, Segment)> {
        self.line.next_segment(now, p)
    }

    /// Parts written since the last call, for the peer.
    pub(crate) fn take_written(&mut self) -> Vec<(u32, Item)> {
        std::mem::take(&mut self.line.outbox)
    }

    /// Takes a part that the peer has written.
    pub(crate) fn expect(&mut self, number: u32, item: Item) {
        self.line.expect(number, item);
    }

    /// True if it awaits an answer of the peer.
    pub(crate) fn expects_answer(&self, is_open: impl Fn(&Endpoint) -> bool) -> bool {
        self.opener.as_ref().is_some_and(|opener| opener.awaits(&self.line))
            || self.line.all.iter().any(|c| is_open(&c.endpoint))
    }

    /// The endpoint of the newest connection.
    pub(crate) fn endpoint(&self) -> Option<&Endpoint> {
        self.line.newest().map(|connection| &connection.endpoint)
    }

    /// All endpoints, for cross-layer information.
    pub(crate) fn endpoints_mut(&mut self) -> impl Iterator<Item = &mut Endpoint> {
        self.line.all.iter_mut().map(|connection| &mut connection.endpoint)
    }

    /// Uses this algorithm on all connections.
    pub(crate) fn set_controller(&mut self, controller: Box<dyn CongestionControl>) {
        self.line.controller = Some(controller);
    }

    /// Keeps the decisions of each connection.
    pub(crate) fn keep_journal(&mut self) {
        self.line.keeps_journal = true;
    }

    /// Records the events of each connection.
    pub(crate) fn keep_notes(&mut self) {
        self.line.notes = Some(Vec::new());
    }

    /// Events of all connections, if they are recorded.
    pub(super) fn notes(&self) -> &[Note] {
        self.line.notes.as_deref().unwrap_or_default()
    }

    /// Decisions of all connections.
    pub(crate) fn journals(&self) -> impl Iterator<Item = &Journal> {
        self.line.journals()
    }

    /// Counters of all connections.
    pub(crate) fn stats(&self) -> Stats {
        self.line.stats()
    }

    /// Smoothed and minimum RTT.
    pub(crate) fn rtts(&self) -> [Span; 2] {
        self.line.rtts()
    }

    /// Bytes of the messages that have arrived.
    pub(crate) fn delivered(&self) -> u64 {
        self.inbox.bytes
    }

    /// Durations of the exchanges that this end began, seconds.
    pub(crate) fn responses_s(&self) -> &[f64] {
        self.opener.as_ref().map_or(&[], |opener| &opener.responses_s)
    }

    /// Statistics of the messages to this end, if they have a deadline.
    pub(crate) fn messages(&self) -> Option<&Messages> {
        self.inbox.messages.as_deref()
    }

    /// Losses that this end noticed.
    pub(super) fn losses(&self) -> &[Loss] {
        &self.line.losses
    }
}

impl Inbox {
    /// Takes a message. Returns false for a duplicate, which only counts as such.
    fn take(&mut self, now: Time, message: Message) -> bool {
        let (word, bit) = (message.id as usize / 64, 1 << (message.id % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            self.duplicates += 1;
            return false;
        }
        self.seen[word] |= bit;
        self.count += 1;
        self.bytes += message.bytes;
        self.last = Some(now);
        if let Some(messages) = &mut self.messages {
            messages.arrived(now, message.due);
        }
        true
    }
}
