//! The supervisor at the end that opens connections: it keeps the messages, and decides when the
//! end connects, writes and closes.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};
use windlass_tcp::{Profile, State};

use super::backoff::{Backoff, uniform};
use super::connections::{Completed, Connections, Unconfirmed};
use super::contents::{Message, Place};
use super::log::What;
use super::loss::{Cause, Loss, NO_ANSWER, TIME_LIMIT};
use super::plan::{Connect, Exchanges, Reconnect, Sessions, Side};
use crate::arrivals::ArrivalProcess;
use crate::random::Stream;

/// The supervisor.
#[derive(Clone, Debug)]
pub(super) struct Opener {
    source: Source,
    /// Messages that have not been written on a connection, or are to be written again.
    waiting: VecDeque<Message>,
    phase: Phase,
    backoff: Backoff,
    stream: Stream,
    /// Number of the next connection.
    next: u32,
    /// Number of messages so far.
    pub(super) messages: u64,
    /// Time since which the end has no connection, after a loss or a power cut.
    lost_at: Option<Time>,
    pub(super) counts: Counts,
    /// Durations from a loss to the next ready connection.
    pub(super) reconnects_ns: Vec<u64>,
    pub(super) responses_s: Vec<f64>,
    /// Time of the last call of `act`.
    acted: Time,
    /// True after the last allowed attempt.
    pub(super) gave_up: bool,
}

/// Counts of connections and messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) opened: u64,
    pub(super) ready: u64,
    /// Messages lost because the queue was full.
    pub(super) dropped: u64,
    /// Messages lost with a connection or with the power.
    pub(super) lost: u64,
    pub(super) resent: u64,
}

/// Origin of the messages.
#[derive(Clone, Debug)]
enum Source {
    Drawn(Box<ArrivalProcess>),
    /// The next request is at `next`; [`Time::NEVER`] during an exchange.
    Requests {
        left: u32,
        next: Time,
        response: u64,
        think: Span,
    },
}

impl Source {
    /// Due time and bytes of the next message.
    fn next(&self) -> Option<(Time, u64)> {
        match self {
            Source::Drawn(process) => process.next(),
            Source::Requests { left, next, response, .. } => {
                (*left > 0).then_some((*next, *response))
            }
        }
    }

    /// Time from which on the application knows that no message follows.
    fn end(&self) -> Time {
        match self {
            Source::Drawn(process) => process.stop(),
            Source::Requests { left: 0, .. } => Time::ZERO,
            Source::Requests { .. } => Time::NEVER,
        }
    }

    fn advance(&mut self) {
        match self {
            Source::Drawn(process) => process.advance(),
            Source::Requests { left, next, .. } => {
                *left -= 1;
                *next = Time::NEVER;
            }
        }
    }

    /// An exchange has ended.
    fn settle(&mut self, now: Time) {
        if let Source::Requests { next, think, .. } = self {
            *next = now + *think;
        }
    }
}

/// Phase of the supervisor.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Connects at this time.
    Waiting(Time),
    /// Has no connection and needs none.
    Idle,
    /// Has a connection.
    Present {
        number: u32,
        since: Time,
        /// True from the first dialogue on.
        begun: bool,
        /// Time from which on exchanges may begin.
        ready: Option<Time>,
    },
    /// Has no power.
    Off,
    /// Connects no more.
    Over,
}

impl Opener {
    pub(super) fn new(plan: &Sessions, start: Time, stream: Stream) -> Opener {
        let source = match plan.exchanges {
            Exchanges::Messages(arrivals) => {
                Source::Drawn(Box::new(ArrivalProcess::new(arrivals, start)))
            }
            Exchanges::Requests { response, requests, think } => {
                Source::Requests { left: requests, next: start, response, think }
            }
        };
        Opener {
            source,
            waiting: VecDeque::new(),
            phase: Phase::Waiting(start),
            backoff: Backoff::default(),
            stream,
            next: 0,
            messages: 0,
            lost_at: None,
            counts: Counts::default(),
            reconnects_ns: Vec::new(),
            responses_s: Vec::new(),
            acted: Time::ZERO,
            gave_up: false,
        }
    }

    /// Time of the next call of [`act`](Opener::act) without another event.
    pub(super) fn deadline(&self, line: &Connections) -> Time {
        let plan = &line.plan;
        let due = self.source.next().map_or(Time::NEVER, |(due, _)| due);
        let patience = match self.phase {
            Phase::Present { number, ready: Some(_), .. } => line.patience(number),
            _ => Time::NEVER,
        };
        let next = match self.phase {
            Phase::Waiting(until) => until,
            Phase::Idle => due,
            Phase::Present { ready: Some(_), .. } if plan.connect == Connect::Once => {
                let end = self.source.end();
                // After the end, only an event can complete the last exchange.
                due.min(if end > self.acted { end } else { Time::NEVER })
            }
            Phase::Present { ready: None, since, .. } => {
                plan.time_limit().map_or(Time::NEVER, |limit| since + limit)
            }
            Phase::Present { .. } | Phase::Off | Phase::Over => Time::NEVER,
        };
        next.min(patience)
    }

    /// Acts after an event of the end's connections, or at the deadline.
    pub(super) fn act(&mut self, now: Time, p: &Profile, line: &mut Connections) {
        self.acted = now;
        self.accept(now, line);
        self.settle(now, line);
        for (number, cause, messages) in line.take_failed(now) {
            self.lose(now, line, number, cause, messages);
        }
        self.check_limit(now, line);
        // Each step of the loop changes the phase or writes. Without a change it ends.
        while self.go_on(now, p, line) {}
    }

    /// Takes the messages that are due.
    fn accept(&mut self, now: Time, line: &Connections) {
        let reconnect = line.plan.reconnect;
        let limit = reconnect.map_or(usize::MAX, |r| r.queue as usize);
        while let Some((due, bytes)) = self.source.next().filter(|(due, _)| *due <= now) {
            let message = Message { id: self.messages, due, bytes };
            self.messages += 1;
            self.source.advance();
            let connected = matches!(self.phase, Phase::Present { ready: Some(_), .. })
                && line.plan.connect == Connect::Once;
            // A message that begins a connection does not wait for it in the queue.
            let begins = matches!(self.phase, Phase::Idle) && self.waiting.is_empty();
            if connected || begins || self.waiting.len() < limit {
                self.waiting.push_back(message);
            } else {
                self.counts.dropped += 1;
                self.source.settle(now);
            }
        }
    }

    /// Handles completed steps and acknowledgements.
    fn settle(&mut self, now: Time, line: &mut Connections) {
        for step in std::mem::take(&mut line.completed) {
            self.complete(now, line, step);
        }
        let (source, responses) = (&mut self.source, &mut self.responses_s);
        line.confirm_by_tcp(|message| confirm(now, source, responses, message));
    }

    fn complete(&mut self, now: Time, line: &mut Connections, step: Completed) {
        let Completed { number, place, read } = step;
        if place.step + 1 != line.plan.dialogue(place.dialogue).release {
            return;
        }
        let Some(message) = place.message else {
            self.open_next(now, line, number, place.dialogue + 1);
            return;
        };
        let Some(connection) = line.get(number) else { return };
        connection.open_exchanges = connection.open_exchanges.saturating_sub(1);
        if read {
            connection.unconfirmed.retain(|u| u.message != message);
            confirm(now, &mut self.source, &mut self.responses_s, message);
        }
    }

    /// Begins the opening dialogue with this number, or is ready after the last.
    fn open_next(&mut self, now: Time, line: &mut Connections, of: u32, dialogue: usize) {
        let Phase::Present { number, ready, .. } = &mut self.phase else { return };
        if *number != of || ready.is_some() {
            return;
        }
        if dialogue < line.plan.opening.len() {
            line.begin(now, of, Place { dialogue, step: 0, message: None });
            // The dialogue may be complete at once, if this end writes all its steps.
            self.settle(now, line);
            return;
        }
        *ready = Some(now);
        line.note(now, of, What::Ready);
        self.counts.ready += 1;
        if line.plan.reconnect.is_none_or(|r| r.reset == Span::ZERO) {
            self.backoff.reset();
        }
        if let Some(lost_at) = self.lost_at.take() {
            self.reconnects_ns.push(now.since(lost_at).0);
        }
    }

    /// Ends an attempt that has taken too long.
    fn check_limit(&mut self, now: Time, line: &mut Connections) {
        let Phase::Present { number, since, ready, .. } = self.phase else { return };
        let limit = line.plan.time_limit().map_or(Time::NEVER, |limit| since + limit);
        let (ends, text) = match ready {
            None => (limit, TIME_LIMIT),
            Some(_) => (line.patience(number), NO_ANSWER),
        };
        if now >= ends {
            let cause = Cause::TimeLimit;
            let messages = line.give_up(number, Loss { number, at: now, cause, text });
            self.lose(now, line, number, cause, messages);
        }
    }

    /// Handles the loss of a connection.
    fn lose(
        &mut self,
        now: Time,
        line: &Connections,
        number: u32,
        cause: Cause,
        messages: Vec<Message>,
    ) {
        let reconnect = line.plan.reconnect;
        self.keep(now, messages, reconnect.is_some_and(|r| r.resend));
        let ready = match self.phase {
            Phase::Present { number: present, ready, .. } if present == number => ready,
            // An earlier connection, which was closing.
            Phase::Over if cause != Cause::Unclosed && !self.waiting.is_empty() => None,
            _ => return,
        };
        let Some(reconnect) = reconnect else {
            self.lost_at.get_or_insert(now);
            let again = line.plan.connect == Connect::PerMessage;
            (self.phase, self.gave_up) = (if again { Phase::Idle } else { Phase::Over }, !again);
            return;
        };
        if ready.is_some_and(|since| now.since(since) >= reconnect.reset) {
            self.backoff.reset();
        }
        self.lost_at.get_or_insert(now);
        if self.backoff.waits >= reconnect.attempts {
            (self.phase, self.gave_up) = (Phase::Over, true);
            return;
        }
        self.phase = Phase::Waiting(now + self.backoff.wait(&reconnect, &mut self.stream));
    }

    /// Keeps the unconfirmed messages of a lost connection before all others, or loses them.
    fn keep(&mut self, now: Time, messages: Vec<Message>, keeps: bool) {
        let n = messages.len() as u64;
        if keeps {
            self.counts.resent += n;
            messages.into_iter().rev().for_each(|message| self.waiting.push_front(message));
        } else {
            self.counts.lost += n;
            if n > 0 {
                self.source.settle(now);
            }
        }
    }

    /// Enters the next phase, or writes. Returns true if it did.
    fn go_on(&mut self, now: Time, p: &Profile, line: &mut Connections) -> bool {
        let per_message = line.plan.connect == Connect::PerMessage;
        match self.phase {
            Phase::Waiting(until) if now >= until => {
                self.phase = Phase::Idle;
                self.accept(now, line);
                if !per_message && now < self.source.end() {
                    self.open(now, p, line);
                }
                true
            }
            Phase::Idle if !self.waiting.is_empty() => {
                self.open(now, p, line);
                true
            }
            Phase::Present { number, begun: false, since, ready } => {
                let Some(connection) = line.get(number) else { return false };
                if connection.endpoint.state() != State::Established {
                    return false;
                }
                self.phase = Phase::Present { number, begun: true, since, ready };
                self.open_next(now, line, number, 0);
                true
            }
            Phase::Present { number, ready: Some(_), .. } => self.write(now, line, number),
            _ => false,
        }
    }

    fn open(&mut self, now: Time, p: &Profile, line: &mut Connections) {
        let number = self.next;
        self.next += 1;
        self.counts.opened += 1;
        line.add(p, number).endpoint.connect();
        line.note(now, number, What::Begun);
        self.phase = Phase::Present { number, since: now, begun: false, ready: None };
    }

    /// Writes waiting messages on the ready connection, or closes it after the last exchange.
    fn write(&mut self, now: Time, line: &mut Connections, number: u32) -> bool {
        let per_message = line.plan.connect == Connect::PerMessage;
        let dialogue = line.plan.opening.len();
        let Some(connection) = line.get(number) else { return false };
        let fresh = connection.exchanges == 0;
        if (!per_message || fresh)
            && let Some(message) = self.waiting.pop_front()
        {
            if connection.open_exchanges == 0 {
                connection.progress.1 = now;
            }
            connection.exchanges += 1;
            connection.open_exchanges += 1;
            connection.unconfirmed.push_back(Unconfirmed { message, end: None });
            line.begin(now, number, Place { dialogue, step: 0, message: Some(message) });
            self.settle(now, line);
            return true;
        }
        let complete = connection.open_exchanges == 0;
        let done = if per_message { !fresh } else { now >= self.source.end() };
        if !(done && complete) {
            return false;
        }
        connection.endpoint.close();
        self.phase = if per_message { Phase::Idle } else { Phase::Over };
        true
    }

    /// Loses the power, with these unconfirmed messages.
    pub(super) fn lose_power(&mut self, now: Time, plan: &Sessions, messages: Vec<Message>) {
        let stored = |r: &Reconnect| r.stored;
        let reconnect = plan.reconnect.filter(stored);
        self.keep(now, messages, reconnect.is_some_and(|r| r.resend));
        if reconnect.is_none() {
            self.counts.lost += self.waiting.len() as u64;
            if !self.waiting.is_empty() {
                self.source.settle(now);
            }
            self.waiting.clear();
        }
        if self.gave_up || !matches!(self.phase, Phase::Over) {
            (self.phase, self.gave_up) = (Phase::Off, false);
        }
    }

    /// Has power again.
    pub(super) fn restart(&mut self, now: Time, start: Time, line: &Connections) {
        let stored = line.plan.reconnect.is_some_and(|r| r.stored);
        while !stored
            && let Source::Drawn(process) = &mut self.source
            && process.next().is_some_and(|(due, _)| due < now)
        {
            self.messages += 1;
            self.counts.lost += 1;
            process.advance();
        }
        if matches!(self.phase, Phase::Over) {
            return;
        }
        self.backoff.reset();
        let spread = line.plan.reconnect.map_or(Span::ZERO, |r| r.spread);
        let at = now + uniform(Span::ZERO, spread, &mut self.stream);
        if self.counts.opened > 0 {
            self.lost_at = Some(now);
        }
        self.phase = Phase::Waiting(at.max(start));
    }

    /// True if an exchange or an opening awaits the peer.
    pub(super) fn awaits(&self, line: &Connections) -> bool {
        let opening = matches!(self.phase, Phase::Present { ready: None, .. });
        let answers = line.plan.exchange.steps.last().is_some_and(|s| s.by == Side::Listener);
        opening || answers && line.all.iter().any(|c| c.open_exchanges > 0)
    }

    /// True if the end has lost its connection and has not made another one ready.
    pub(super) fn is_lost(&self) -> bool {
        let cut = matches!(self.phase, Phase::Off) && self.counts.opened > 0;
        cut || self.lost_at.is_some()
    }

    /// The counts at the end of the run. Messages that fell due without power, or after the application gave up, have
    /// met no event that counted them.
    pub(super) fn counts_at(&self, end: Time, plan: &Sessions) -> Counts {
        let mut counts = self.counts;
        let Source::Drawn(process) = &self.source else { return counts };
        let mut process = process.clone();
        let mut waiting = self.waiting.len() as u64;
        let limit = plan.reconnect.map_or(u64::MAX, |r| r.queue.into());
        let stored = plan.reconnect.is_some_and(|r| r.stored);
        while process.next().is_some_and(|(due, _)| due <= end) {
            match self.phase {
                Phase::Off if !stored => counts.lost += 1,
                _ if waiting < limit => waiting += 1,
                _ => counts.dropped += 1,
            }
            process.advance();
        }
        counts
    }

    /// True if every message has been written, and none is left to send.
    pub(super) fn is_done(&self) -> bool {
        self.source.next().is_none() && self.waiting.is_empty()
    }
}

/// Notes a confirmed message. An exchange of requests ends with it.
fn confirm(now: Time, source: &mut Source, responses_s: &mut Vec<f64>, message: Message) {
    if matches!(source, Source::Requests { .. }) {
        responses_s.push(now.since(message.due).0 as f64 / 1e9);
        source.settle(now);
    }
}
