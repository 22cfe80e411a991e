//! Two stacks with the same peer and the same application, compared packet by packet.
//!
//! The reference is the kernel. The peer reacts to the segments of the reference. The endpoint gets the
//! same events at the same times, and must send the same segments.

use windlass_cc::{Span, Time};
use windlass_tcp::Flags;

use super::case::{Case, Deed};
use super::exchange::{AT_ONCE, Exchange, Step, carries, end};
use super::finding::{Finding, Kind, Outcome, State, class};
use super::remote::{Next, Remote, stamp_name};
use super::timing::{EARLY, beside, late};
use crate::script::{
    Action, Bounds, Check, Departure, Peer, Seen, SegmentSpec, Stack, TimestampsSpec, VirtualTime,
    milliseconds,
};

/// Both stacks must be silent for this time at the end.
const LAST_LOOK: Span = Span::from_secs(4);
/// A case ends after this time, or this many segments.
const LONGEST: Time = Time::from_secs(60);
const MOST_SEGMENTS: u32 = 600;
/// After a difference, the other stack may send the same segment within this time.
const LATER: Span = Span::from_secs(3);

/// The script player watches a stack for this time after the last line.
const TOGETHER: Span = Span::from_millis(12);

/// The endpoint's time of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// The planned time, in whole milliseconds.
    Planned,
    /// The time at which the reference got the event.
    Reference,
}

/// Plays a case against both stacks up to the first difference.
///
/// # Errors
///
/// Returns the reason, in one sentence, if a stack cannot be played against.
pub fn compare(
    case: &Case,
    reference: &mut dyn Stack,
    endpoint: &mut VirtualTime,
    clock: Clock,
) -> Result<Outcome, String> {
    let mut duel = Duel {
        case,
        clock,
        remote: Remote::new(case),
        stacks: Stacks { reference, endpoint },
        peers: [Peer::new(), Peer::new()],
        exchange: Exchange::default(),
        number: 0,
        sent: 0,
        read: 0,
        ended: false,
        deaf: false,
        skew: Span::ZERO,
        states: [State::default(), State::default()],
        looked: Time::ZERO,
        parted: None,
    };
    match duel.play() {
        Ok(()) => Ok(Outcome::Equal(duel.number)),
        Err(End::Refused) => Ok(Outcome::Equal(duel.number)),
        Err(End::Difference(outcome)) => Ok(outcome),
        Err(End::Failed(why)) => Err(why),
    }
}

/// Reason why a case ends early.
enum End {
    Difference(Outcome),
    /// The reference accepts no more actions of the application: the connection is over.
    Refused,
    Failed(String),
}

impl From<String> for End {
    fn from(why: String) -> End {
        End::Failed(why)
    }
}

struct Stacks<'a> {
    reference: &'a mut dyn Stack,
    endpoint: &'a mut VirtualTime,
}

struct Duel<'a> {
    case: &'a Case,
    clock: Clock,
    remote: Remote<'a>,
    stacks: Stacks<'a>,
    /// The script peers of the reference and of the endpoint.
    peers: [Peer; 2],
    exchange: Exchange,
    /// Segments that the reference has sent.
    number: u32,
    /// Sequence number after the highest number that the reference has sent.
    sent: i64,
    /// Bytes that the application has read.
    read: u32,
    /// True if the application has closed its sending direction, or both.
    ended: bool,
    deaf: bool,
    /// Time by which the endpoint's last departure was earlier than the reference's. Its timers count from
    /// its own departure.
    skew: Span,
    /// Both states before the latest event.
    states: [State; 2],
    /// Time at which the states were read.
    looked: Time,
    parted: Option<String>,
}

impl Duel<'_> {
    fn play(&mut self) -> Result<(), End> {
        loop {
            let last = self.exchange.last_out();
            let end = last + LAST_LOOK;
            let due = self.remote.due().map_or(end, Time::from_millis);
            let at = due.max(self.stacks.endpoint.now()).max(whole(self.stacks.reference.now()));
            let at = beside(at, self.stacks.endpoint.deadline(), last);
            if at > LONGEST || self.number > MOST_SEGMENTS {
                return Ok(());
            }
            if let Some(departure) = self.stacks.reference.next(at)? {
                self.departed(&departure)?;
                continue;
            }
            if let Some(departure) = self.stacks.endpoint.next(at)? {
                return Err(self.unexpected(&departure, at)?);
            }
            if at > self.looked {
                self.look(at);
            }
            match (self.remote.due(), at) {
                (None, _) => return Ok(()),
                (Some(_), at) => {
                    let next = self.remote.step(at.0 / 1_000_000);
                    self.perform(next, at)?;
                }
            }
        }
    }

    /// Records the states of both stacks, and the first time at which their windows differ.
    fn look(&mut self, at: Time) {
        self.looked = at;
        self.states = [State::of(self.stacks.reference), State::of(self.stacks.endpoint)];
        let [kernel, ours] = &self.states;
        if self.parted.is_none() && kernel.parts_from(ours) {
            let at = milliseconds(at);
            self.parted = Some(format!("before {at}: kernel {kernel}; endpoint {ours}"));
        }
    }

    fn perform(&mut self, next: Next, at: Time) -> Result<(), End> {
        match next {
            Next::Nothing => Ok(()),
            Next::Deliver(spec) => self.deliver(spec, at),
            Next::Act(Deed::Read) => self.read_all(at),
            Next::Act(deed) => self.act(action(deed), at),
        }
    }

    fn deliver(&mut self, spec: SegmentSpec, at: Time) -> Result<(), End> {
        let [to_reference, to_endpoint] = &mut self.peers;
        let segments = (to_reference.write(&spec, at)?, to_endpoint.write(&spec, at)?);
        let data = spec.len > 0;
        self.exchange.add(at, Step::In(spec));
        self.stacks.reference.deliver(&segments.0)?;
        self.catch_up();
        self.stacks.endpoint.deliver(&segments.1)?;
        self.drain(at)?;
        if data && self.case.reads_at_once { self.read_all(at) } else { Ok(()) }
    }

    /// Gives the endpoint the reference's time, if the comparison uses it.
    fn catch_up(&mut self) {
        if self.clock == Clock::Reference {
            self.stacks.endpoint.catch_up(self.stacks.reference.now());
        }
    }

    /// Takes all segments that the reference has sent already.
    fn drain(&mut self, at: Time) -> Result<(), End> {
        while let Some(departure) = self.stacks.reference.next(at)? {
            self.departed(&departure)?;
        }
        Ok(())
    }

    fn act(&mut self, action: Action, at: Time) -> Result<(), End> {
        if self.ended && matches!(action, Action::Write(_)) {
            return Ok(());
        }
        self.ended |= matches!(action, Action::Shutdown | Action::Close);
        self.deaf |= action == Action::Close;
        self.exchange.add(at, Step::Act(action));
        self.stacks.reference.act(action).map_err(|_| End::Refused)?;
        self.catch_up();
        self.stacks.endpoint.act(action)?;
        self.drain(at)
    }

    /// The application reads all data, and writes the answers that are due.
    fn read_all(&mut self, at: Time) -> Result<(), End> {
        if self.deaf {
            return Ok(());
        }
        let check = Check::Readable(Bounds::ANY);
        let readable = |stack: &mut dyn Stack| match stack.look(&check) {
            Ok(Seen::Number(n)) => n as u32,
            _ => 0,
        };
        let both = [readable(self.stacks.reference), readable(self.stacks.endpoint)];
        if both[0] != both[1] {
            let said = both.map(|n| format!("{n} bytes to read"));
            return Err(self.differs(at, Kind::Application, "readable bytes", said));
        }
        if both[0] == 0 {
            return Ok(());
        }
        self.act(Action::Read(both[0]), at)?;
        let before = self.read;
        self.read += both[0];
        let now = self.read;
        let due = self.case.answers.iter().filter(|answer| before < answer.0 && answer.0 <= now);
        due.clone().try_for_each(|answer| self.act(Action::Write(answer.1), at))
    }

    /// Processes a segment of the reference. The endpoint must send the same segment.
    fn departed(&mut self, departure: &Departure) -> Result<(), End> {
        let at = departure.at;
        let number = self.number;
        self.number += 1;
        let expected = spec_of(departure, &mut self.peers[0], number);
        let sent = self.sent;
        let earliest = self.earliest(&expected, at);
        self.exchange.add(at, Step::Out(expected.clone(), number, earliest));
        self.sent = self.sent.max(end(&expected));
        if !departure.intact {
            let said = [format!("{expected}, with other bytes"), "its own".to_owned()];
            return Err(self.differs(at, Kind::Application, "payload", said));
        }
        let Some(own) = self.stacks.endpoint.next(at + EARLY)? else {
            return Err(self.missing(&expected, at, sent)?);
        };
        let came = spec_of(&own, &mut self.peers[1], number);
        let parts = differing(&expected, &came);
        let said = [told(&expected, at), told(&came, own.at)];
        if !parts.is_empty() {
            return Err(self.differs(
                at,
                Kind::Parts(parts),
                &classes(&expected, &came, sent),
                said,
            ));
        }
        if own.at < earliest {
            return Err(self.differs(own.at, Kind::Early, class(&expected, sent), said));
        }
        if carries(&expected) {
            self.skew = at.since(own.at);
        }
        let ms = self.consequence(at).unwrap_or(at).0 / 1_000_000;
        self.remote.departed(ms, number, &expected);
        Ok(())
    }

    /// Returns the time of the event that immediately led to a departure. A departure by a timer has no such
    /// event.
    fn consequence(&self, at: Time) -> Option<Time> {
        self.exchange.cause().map(|cause| cause.0).filter(|cause| at.since(*cause) < AT_ONCE)
    }

    /// Returns the earliest time at which the endpoint may send the segment that the reference sends at `at`.
    fn earliest(&self, expected: &SegmentSpec, at: Time) -> Time {
        let allowed = match self.consequence(at) {
            Some(_) => late(Span::ZERO),
            None => Span(late(at.since(self.exchange.armed(expected))).0 + self.skew.0),
        };
        Time(at.0.saturating_sub(allowed.0))
    }

    /// Handles a segment of the reference that the endpoint has not sent. Checks whether the endpoint sends
    /// it later.
    fn missing(&mut self, expected: &SegmentSpec, at: Time, sent: i64) -> Result<End, End> {
        let class = class(expected, sent);
        let (kind, came) = match self.stacks.endpoint.next(at + LATER)? {
            None => (Kind::Missing, "nothing".to_owned()),
            Some(own) => {
                let came = spec_of(&own, &mut self.peers[1], u32::MAX);
                let same = same_bytes(expected, &came);
                (if same { Kind::Late } else { Kind::Missing }, told(&came, own.at))
            }
        };
        Ok(self.differs(at, kind, class, [told(expected, at), came]))
    }

    /// Handles a segment of the endpoint that the reference has not sent by `at`. The reference may send it
    /// later.
    fn unexpected(&mut self, own: &Departure, at: Time) -> Result<End, End> {
        let came = spec_of(own, &mut self.peers[1], u32::MAX);
        let class = class(&came, self.sent);
        let next = self.stacks.reference.next((own.at + LATER).max(at))?;
        let expected = next.map(|next| (spec_of(&next, &mut self.peers[0], u32::MAX), next.at));
        let said = |kernel| [kernel, told(&came, own.at)];
        let Some((expected, then)) = expected else {
            self.exchange.add(at, Step::Quiet);
            return Ok(self.differs(own.at, Kind::Extra, class, said("nothing".to_owned())));
        };
        let kernel = told(&expected, then);
        if !same_bytes(&expected, &came) {
            // The script player watches the stack for a while, and must not see the next segment.
            let quiet = Time(self.earliest(&expected, then).0.saturating_sub(TOGETHER.0));
            let until = whole(at.min(quiet).max(own.at + Span::from_millis(1)));
            self.exchange.add(until, Step::Quiet);
            return Ok(self.differs(own.at, Kind::Extra, class, said(kernel)));
        }
        let earliest = self.earliest(&expected, then);
        self.exchange.add(then, Step::Out(expected, self.number, earliest));
        let finding = Box::new(self.finding(own.at, Kind::Early, class, said(kernel)));
        let tie = own.at >= earliest;
        let outcome = if tie { Outcome::Tie(finding) } else { Outcome::Differs(finding) };
        Ok(End::Difference(outcome))
    }

    fn differs(&mut self, at: Time, kind: Kind, class: &str, said: [String; 2]) -> End {
        let finding = self.finding(at, kind, class, said);
        End::Difference(Outcome::Differs(Box::new(finding)))
    }

    fn finding(&mut self, at: Time, kind: Kind, class: &str, said: [String; 2]) -> Finding {
        let [kernel, endpoint] = said;
        let trigger = self.trigger(at);
        let [kernels, own] = std::mem::take(&mut self.states);
        let states =
            [kernels.with_state(self.stacks.reference), own.with_state(self.stacks.endpoint)];
        let parts = match &kind {
            Kind::Parts(parts) => parts.clone(),
            _ => Vec::new(),
        };
        self.exchange.mark(parts);
        if !self.exchange.ends_quiet() {
            self.follow();
        }
        let title = format!("{kind} {class}, after {trigger}");
        Finding {
            kind,
            class: class.to_owned(),
            trigger,
            kernel,
            endpoint,
            states,
            parted: self.parted.clone(),
            script: self.exchange.script(self.case, &title),
        }
    }

    /// Adds the segments that the reference sends together with the segment that differs.
    fn follow(&mut self) {
        let until = self.stacks.reference.now() + TOGETHER;
        while let Ok(Some(departure)) = self.stacks.reference.next(until) {
            let spec = spec_of(&departure, &mut self.peers[0], self.number);
            let earliest = self.earliest(&spec, departure.at);
            self.exchange.add(departure.at, Step::Out(spec, self.number, earliest));
            self.number += 1;
        }
    }

    /// Returns the event that led to the latest step, in one word or two.
    fn trigger(&self, now: Time) -> String {
        let Some((at, cause)) = self.exchange.cause() else { return "the begin".to_owned() };
        let kind = match cause {
            Step::Act(Action::Write(_)) => "a write",
            Step::Act(Action::Read(_)) => "a read",
            Step::Act(Action::Shutdown | Action::Close) => "a close",
            Step::In(spec) => self.arrival(spec),
            _ => "the opening",
        };
        let waited = now.since(*at) >= AT_ONCE;
        if waited { format!("a wait behind {kind}") } else { kind.to_owned() }
    }

    fn arrival(&self, spec: &SegmentSpec) -> &'static str {
        let has = |flag| spec.flags.has(flag);
        let before = self.exchange.arrivals().nth(1);
        if has(Flags::SYN) {
            "a SYN"
        } else if has(Flags::FIN) {
            "a FIN"
        } else if spec.len > 0 {
            "data"
        } else if has(Flags::ECE) {
            "an acknowledgement with ECE"
        } else if spec.options.sack.iter().any(|b| spec.ack.is_some_and(|ack| b.1 <= ack)) {
            "a D-SACK"
        } else if !spec.options.sack.is_empty() {
            "a SACK"
        } else if before.is_some_and(|before| before.ack >= spec.ack) {
            "a repeated acknowledgement"
        } else {
            "an acknowledgement"
        }
    }
}

fn action(deed: Deed) -> Action {
    match deed {
        Deed::Listen => Action::Listen,
        Deed::Connect => Action::Connect,
        Deed::Write(bytes) => Action::Write(bytes),
        Deed::Read => Action::Read(1),
        Deed::Shutdown => Action::Shutdown,
        Deed::Close => Action::Close,
    }
}

/// Returns a departure as the peer reads it. The peer stores the timestamp under the number.
fn spec_of(departure: &Departure, peer: &mut Peer, number: u32) -> SegmentSpec {
    peer.read(&departure.segment);
    if let Some(t) = departure.segment.options.timestamps {
        peer.remember(&stamp_name(number), t.value);
    }
    SegmentSpec::of_departure(&departure.segment, peer)
}

fn told(spec: &SegmentSpec, at: Time) -> String {
    let mut spec = spec.clone();
    spec.window = spec.window.filter(|window| window.least == 0);
    if spec.options.timestamps == TimestampsSpec::Absent {
        spec.options.timestamps = TimestampsSpec::Implied;
    }
    format!("{spec} at {}", milliseconds(at))
}

/// Returns the last whole millisecond.
fn whole(at: Time) -> Time {
    Time::from_millis(at.0 / 1_000_000)
}

/// True if two segments have the same numbers and flags.
fn same_bytes(a: &SegmentSpec, b: &SegmentSpec) -> bool {
    (a.flags, a.seq, a.len) == (b.flags, b.seq, b.len)
}

fn classes(kernel: &SegmentSpec, own: &SegmentSpec, sent: i64) -> String {
    let (kernel, own) = (class(kernel, sent), class(own, sent));
    if kernel == own { kernel.to_owned() } else { format!("{kernel} (endpoint: {own})") }
}

/// Returns the fields in which two segments differ.
fn differing(a: &SegmentSpec, b: &SegmentSpec) -> Vec<String> {
    let echo = |spec: &SegmentSpec| match &spec.options.timestamps {
        TimestampsSpec::Given(_, echo) => Some(echo.to_string()),
        _ => None,
    };
    let fixed = |spec: &SegmentSpec| {
        let o = &spec.options;
        (o.mss, o.window_scale, o.sack_permitted, echo(spec).is_some())
    };
    let parts = [
        ("flags", a.flags != b.flags),
        ("number", a.seq != b.seq),
        ("length", a.len != b.len),
        ("acknowledgement", a.ack != b.ack),
        ("window", a.window != b.window),
        ("codepoint", a.ecn != b.ecn),
        ("SACK blocks", a.options.sack != b.options.sack),
        ("options", fixed(a) != fixed(b)),
        ("timestamp echo", fixed(a) == fixed(b) && echo(a) != echo(b)),
    ];
    parts.into_iter().filter(|part| part.1).map(|part| part.0.to_owned()).collect()
}
