//! The connections of one end, and the steps of dialogues that it writes and reads on them.

use std::collections::VecDeque;

use windlass_cc::slow_start::Saved;
use windlass_cc::{Span, Time};
use windlass_tcp::{
    Cause, CongestionControl, Decision, Endpoint, Journal, Profile, Segment, Seq, State, Stats,
};

use super::contents::{Item, Message, Place, Shared};
use super::log::{Note, What};
use super::loss::{self, Loss};
use super::plan::Side;
use crate::random::Stream;

/// A connection at one end.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) number: u32,
    pub(super) endpoint: Endpoint,
    /// Parts of the peer's stream that have not been read completely.
    incoming: VecDeque<Item>,
    read: u64,
    written: u64,
    /// Time at which this end closes after the peer; [`Time::NEVER`] until the peer has closed.
    closes: Time,
    /// True if the peer has closed.
    closing: bool,
    /// Messages that are not confirmed.
    pub(super) unconfirmed: VecDeque<Unconfirmed>,
    /// Exchanges whose last step is neither written nor read.
    pub(super) open_exchanges: u32,
    /// Exchanges begun.
    pub(super) exchanges: u64,
    /// True if the end of the connection needs no further note.
    noted: bool,
    /// Bytes acknowledged and read, and the time at which they last grew.
    pub(super) progress: (u64, Time),
}

/// A message that this end has begun to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unconfirmed {
    pub(super) message: Message,
    /// Offset after the last step of its exchange, if this end has written that step.
    pub(super) end: Option<u64>,
}

/// A step that is complete at this end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) number: u32,
    pub(super) place: Place,
    /// True if this end has read the step, false if it has written the step.
    pub(super) read: bool,
}

/// The connections of one end.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    pub(super) plan: Shared,
    pub(super) side: Side,
    pub(super) all: Vec<Connection>,
    /// Number of the newest connection so far.
    newest: u32,
    /// Steps that wait for their think time.
    delayed: Vec<(Time, u32, Place)>,
    /// Parts written since the owner last took them to the peer.
    pub(super) outbox: Vec<(u32, Item)>,
    /// Steps completed since the owner last handled them.
    pub(super) completed: Vec<Completed>,
    pub(super) losses: Vec<Loss>,
    /// Bytes of the opening dialogues written by this end.
    pub(super) opening_bytes: u64,
    /// Counters of the connections that are gone.
    past: Stats,
    /// Smoothed RTT of the last connection that is gone, and minimum RTT of all of them.
    rtts: [Span; 2],
    /// The saved set of a connection that is gone, for the next connection, and its time (RFC 9959).
    saved: Option<(Saved, Time)>,
    /// True after the first connection, which uses the set of its profile.
    opened: bool,
    /// Draws initial sequence numbers.
    isn: Stream,
    /// Algorithm of each new endpoint, in place of the profile's algorithm.
    pub(super) controller: Option<Box<dyn CongestionControl>>,
    pub(super) keeps_journal: bool,
    /// Events of the connections, if they are recorded.
    pub(super) notes: Option<Vec<Note>>,
    /// Journals of the connections that are gone.
    journals: Vec<Journal>,
}

impl Connections {
    pub(super) fn new(plan: Shared, side: Side, isn: Stream) -> Connections {
        Connections {
            plan,
            side,
            all: Vec::new(),
            newest: 0,
            delayed: Vec::new(),
            outbox: Vec::new(),
            completed: Vec::new(),
            losses: Vec::new(),
            opening_bytes: 0,
            past: Stats::default(),
            rtts: [Span::NONE; 2],
            saved: None,
            opened: false,
            isn,
            controller: None,
            keeps_journal: false,
            notes: None,
            journals: Vec::new(),
        }
    }

    /// Records an event of a connection.
    pub(super) fn note(&mut self, time: Time, connection: u32, what: What) {
        if let Some(notes) = &mut self.notes {
            notes.push(Note { time, connection, what });
        }
    }

    /// Adds a connection, whose endpoint is closed.
    pub(super) fn add(&mut self, p: &Profile, number: u32) -> &mut Connection {
        let mut endpoint = Endpoint::new(p, Seq(self.isn.next_u64() as u32));
        if let Some(controller) = &self.controller {
            endpoint.set_controller(controller.clone());
        }
        if self.keeps_journal {
            endpoint.keep_journal();
        }
        if std::mem::replace(&mut self.opened, true) && p.resumes() {
            endpoint.resume(self.take_saved());
        }
        self.newest = self.newest.max(number);
        self.all.push(Connection {
            number,
            endpoint,
            incoming: VecDeque::new(),
            read: 0,
            written: 0,
            closes: Time::NEVER,
            closing: false,
            unconfirmed: VecDeque::new(),
            open_exchanges: 0,
            exchanges: 0,
            noted: false,
            progress: (0, Time::ZERO),
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    /// The set for the next connection, which uses it once: that of the newest connection, or of one
    /// that is gone.
    fn take_saved(&mut self) -> Option<(Saved, Time)> {
        self.all.last().and_then(left).or(self.saved.take())
    }

    pub(super) fn get(&mut self, number: u32) -> Option<&mut Connection> {
        self.all.iter_mut().rev().find(|c| c.number == number)
    }

    /// The connection of a port, and its number. Numbers continue beyond the range of ports.
    pub(super) fn number_of(&self, port: u16) -> u32 {
        let last = self.newest;
        let near = (last & !0xffff) | u32::from(port);
        if near + 0x8000 < last { near + 0x1_0000 } else { near }
    }

    /// Passes on a segment. A segment for an unknown connection opens it, or is refused.
    pub(super) fn receive(&mut self, now: Time, p: &Profile, port: u16, segment: &Segment) {
        if let Some(known) = self.all.iter_mut().rev().find(|c| c.number as u16 == port) {
            return known.endpoint.on_segment(p, now, segment);
        }
        let (number, listens) = (self.number_of(port), self.side == Side::Listener);
        let new = self.add(p, number);
        if listens {
            new.endpoint.listen();
        }
        new.endpoint.on_segment(p, now, segment);
    }

    /// Takes a part that the peer has written.
    pub(super) fn expect(&mut self, number: u32, item: Item) {
        if let Some(connection) = self.get(number) {
            connection.incoming.push_back(item);
        }
    }

    /// Processes due timers, reads, and writes the steps that are due. Completed steps are in
    /// `completed`.
    pub(super) fn act(&mut self, now: Time, p: &Profile) {
        let listens = self.side == Side::Listener;
        for place in 0..self.all.len() {
            let connection = &mut self.all[place];
            if now >= connection.endpoint.deadline() {
                connection.endpoint.on_deadline(p, now);
                let last = connection.endpoint.journal().and_then(|j| j.decisions().last());
                if let Some(Decision { time, cause: Cause::Timeout { rto, .. }, .. }) = last
                    && *time == now
                {
                    let (number, what) = (connection.number, What::Timeout(*rto));
                    self.note(now, number, what);
                }
            }
            let connection = &mut self.all[place];
            if now >= connection.closes {
                connection.closes = Time::NEVER;
                connection.endpoint.close();
            }
            let readable = connection.endpoint.readable();
            if readable > 0 {
                connection.read += connection.endpoint.read(p, now, readable);
                self.read(now, place);
            }
            let connection = &mut self.all[place];
            let moved = connection.endpoint.acknowledged() + connection.read;
            if moved > connection.progress.0 {
                connection.progress = (moved, now);
            }
            // In a separate step, as a real stack acknowledges the FIN before it notifies the
            // application.
            if listens && connection.endpoint.at_end() && !connection.closing {
                connection.closing = true;
                connection.closes = now;
            }
        }
        while let Some(place) = self.delayed.iter().position(|(due, ..)| *due <= now) {
            let (_, number, step) = self.delayed.swap_remove(place);
            self.write(now, number, step);
        }
    }

    /// Follows the dialogue at each part that has been read completely.
    fn read(&mut self, now: Time, at: usize) {
        loop {
            let Connection { incoming, read, number, .. } = &mut self.all[at];
            let (read, number) = (*read, *number);
            if incoming.front().is_none_or(|item| item.end > read) {
                return;
            }
            let Some(item) = incoming.pop_front() else { return };
            self.complete(now, Completed { number, place: item.place, read: true });
        }
    }

    /// Begins a step of this end, after its think time.
    pub(super) fn begin(&mut self, now: Time, number: u32, place: Place) {
        let think = self.plan.dialogue(place.dialogue).steps[place.step].think;
        if think > Span::ZERO {
            self.delayed.push((now + think, number, place));
        } else {
            self.write(now, number, place);
        }
    }

    /// Writes a step.
    fn write(&mut self, now: Time, number: u32, place: Place) {
        let dialogue = self.plan.dialogue(place.dialogue);
        let step = dialogue.steps[place.step];
        let bytes = place.size(&step);
        let is_last = place.step + 1 == dialogue.steps.len();
        let opening = place.dialogue < self.plan.opening.len();
        let Some(connection) = self.get(number) else { return };
        connection.endpoint.offer(bytes);
        connection.written += bytes;
        let end = connection.written;
        if let Some(message) = place.message
            && is_last
            && let Some(open) = connection.unconfirmed.iter_mut().find(|u| u.message == message)
        {
            open.end = Some(end);
        }
        if let Some(message) = place.message.filter(|_| step.message) {
            let range = [end - bytes, end];
            self.note(now, number, What::Written { message: message.id, range });
        }
        self.outbox.push((number, Item { end, place }));
        if opening {
            self.opening_bytes += bytes;
        }
        self.complete(now, Completed { number, place, read: false });
    }

    /// Notes a complete step, and begins the next step if it is this end's.
    fn complete(&mut self, now: Time, step: Completed) {
        self.completed.push(step);
        let next = step.place.next();
        let steps = &self.plan.dialogue(next.dialogue).steps;
        if steps.get(next.step).is_some_and(|next| next.by == self.side) {
            self.begin(now, step.number, next);
        }
    }

    /// Time at which a connection that awaits the answer to a message is given up; [`Time::NEVER`]
    /// without such an answer or limit.
    pub(super) fn patience(&self, number: u32) -> Time {
        let steps = &self.plan.exchange.steps;
        let think = steps.iter().map(|step| step.think).max().unwrap_or(Span::ZERO);
        let found = self.all.iter().rev().find(|c| c.number == number);
        match (self.plan.time_limit(), found) {
            (Some(limit), Some(c)) if c.open_exchanges > 0 => c.progress.1 + (limit + think),
            _ => Time::NEVER,
        }
    }

    /// Removes the messages of a connection that its peer has confirmed: by the last step of the
    /// exchange, or by TCP if this end writes that step.
    pub(super) fn confirm_by_tcp(&mut self, mut confirmed: impl FnMut(Message)) {
        for connection in &mut self.all {
            let known = connection.endpoint.acknowledged();
            connection.unconfirmed.retain(|open| {
                let arrived = open.end.is_some_and(|end| end <= known);
                if arrived {
                    confirmed(open.message);
                }
                !arrived
            });
        }
    }

    /// Notes connections that have failed: their numbers, and their unconfirmed messages.
    pub(super) fn take_failed(&mut self, now: Time) -> Vec<(u32, loss::Cause, Vec<Message>)> {
        let mut failed = Vec::new();
        for connection in self.all.iter_mut().filter(|c| !c.noted) {
            let Some(failure) = connection.endpoint.failure() else { continue };
            connection.noted = true;
            let (number, cause) = (connection.number, loss::Cause::of(failure));
            let text = connection.endpoint.failure_text().unwrap_or_default();
            self.losses.push(Loss { number, at: now, cause, text });
            let messages = connection.unconfirmed.drain(..).map(|u| u.message).collect();
            failed.push((number, cause, messages));
        }
        failed
    }

    /// Notes the loss of a connection for a reason outside of TCP, and resets it.
    pub(super) fn give_up(&mut self, number: u32, loss: Loss) -> Vec<Message> {
        let Some(connection) = self.get(number) else { return Vec::new() };
        connection.noted = true;
        connection.endpoint.abort();
        let messages = connection.unconfirmed.drain(..).map(|u| u.message).collect();
        self.losses.push(loss);
        messages
    }

    /// Loses all connections without a segment. Returns their unconfirmed messages.
    pub(super) fn lose_power(&mut self, now: Time) -> Vec<Message> {
        self.delayed.clear();
        self.outbox.clear();
        self.completed.clear();
        let mut messages = Vec::new();
        for mut connection in std::mem::take(&mut self.all) {
            let live = matches!(
                connection.endpoint.state(),
                State::SynSent | State::SynReceived | State::Established | State::CloseWait
            );
            if live && !connection.noted {
                let (number, cause) = (connection.number, loss::Cause::PowerCut);
                self.losses.push(Loss { number, at: now, cause, text: super::loss::POWER_CUT });
            }
            messages.extend(connection.unconfirmed.drain(..).map(|u| u.message));
            self.bury(&connection);
        }
        messages
    }

    /// The next segment to send now, with the port of its connection. Afterwards, connections that
    /// are gone are removed.
    pub(super) fn next_segment(&mut self, now: Time, p: &Profile) -> Option<(u16, Segment)> {
        for connection in &mut self.all {
            if let Some(segment) = connection.endpoint.poll_transmit(p, now) {
                return Some((connection.number as u16, segment));
            }
        }
        let gone = |c: &Connection| {
            let (failed, state) = (c.endpoint.failure().is_some(), c.endpoint.state());
            matches!(state, State::Closed | State::Listen) && (c.noted || !failed)
        };
        while let Some(place) = self.all.iter().position(gone) {
            let connection = self.all.remove(place);
            self.bury(&connection);
        }
        None
    }

    /// Keeps the counters of a connection that is gone.
    fn bury(&mut self, connection: &Connection) {
        self.past = self.past.plus(connection.endpoint.stats());
        // A newer connection has already taken the set of an older one.
        if connection.number == self.newest {
            self.saved = left(connection).or(self.saved);
        }
        self.rtts = after(self.rtts, &connection.endpoint);
        self.journals.extend(connection.endpoint.journal().cloned());
    }

    /// Journals of all connections.
    pub(super) fn journals(&self) -> impl Iterator<Item = &Journal> {
        let present = self.all.iter().filter_map(|c| c.endpoint.journal());
        self.journals.iter().chain(present)
    }

    /// Time of the next call of [`act`](Connections::act).
    pub(super) fn deadline(&self) -> Time {
        let connections = self.all.iter().map(|c| c.endpoint.deadline().min(c.closes));
        connections.chain(self.delayed.iter().map(|(due, ..)| *due)).min().unwrap_or(Time::NEVER)
    }

    /// The newest connection.
    pub(super) fn newest(&self) -> Option<&Connection> {
        self.all.last()
    }

    /// Counters of all connections.
    pub(super) fn stats(&self) -> Stats {
        self.all.iter().fold(self.past, |sum, c| sum.plus(c.endpoint.stats()))
    }

    /// Smoothed RTT of the newest connection with a sample, and minimum RTT of all.
    pub(super) fn rtts(&self) -> [Span; 2] {
        self.all.iter().fold(self.rtts, |rtts, c| after(rtts, &c.endpoint))
    }
}

/// The saved set of a connection, and the time of its last progress.
fn left(connection: &Connection) -> Option<(Saved, Time)> {
    connection.endpoint.saved().map(|saved| (saved, connection.progress.1))
}

/// The RTTs after this endpoint.
fn after([srtt, min]: [Span; 2], endpoint: &Endpoint) -> [Span; 2] {
    let newer = endpoint.srtt();
    [if newer.is_known() { newer } else { srtt }, min.min(endpoint.min_rtt())]
}
