//! The peer of a case, with the path to it and the application's plan.
//!
//! It sees only one stack and follows fixed rules. Two stacks that send the same segments receive the same
//! segments.

use std::collections::BTreeMap;

use windlass_tcp::{Codepoint, Flags};

use super::case::{Case, Deed, Fate};
use super::receive::{Arrival, Came, Receive};
use crate::script::{Bounds, OptionsSpec, SegmentSpec, Stamp, TimestampsSpec};

/// Time at which the connection is opened.
const OPENING: u64 = 10;
/// Shift of the peer's window.
const SHIFT: u8 = 7;

/// The next event of the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// This segment of the peer arrives.
    Deliver(SegmentSpec),
    /// The application acts.
    Act(Deed),
    /// Nothing.
    Nothing,
}

#[derive(Clone, Debug)]
enum Item {
    Act(Deed),
    Syn,
    Arrive(Arrival),
    AckTimer(u32),
    Deliver(SegmentSpec),
    Send(usize),
    Fin,
    Reopen,
}

pub(super) struct Remote<'a> {
    case: &'a Case,
    queue: BTreeMap<(u64, u32), Item>,
    serial: u32,
    receive: Receive,
    /// SYNs, data segments and acknowledgements seen so far.
    syns: u32,
    data: u32,
    acks: u32,
    last_arrival: u64,
    established: bool,
    timer: u32,
    /// Next byte of the peer's stream, counted as in a script.
    next: i64,
    ecn: bool,
    owes_cwr: bool,
    /// True if the connection may have timestamps.
    stamps: bool,
}

/// The name of the timestamp of a departure.
pub(super) fn stamp_name(number: u32) -> String {
    format!("t{number}")
}

impl<'a> Remote<'a> {
    pub(super) fn new(case: &'a Case) -> Remote<'a> {
        let window = case.receiver.window;
        let mut remote = Remote {
            case,
            queue: BTreeMap::new(),
            serial: 0,
            receive: Receive::new(window.into(), case.options.sack, case.receiver.dsack),
            syns: 0,
            data: 0,
            acks: 0,
            last_arrival: 0,
            established: false,
            timer: 0,
            next: 0,
            ecn: false,
            owes_cwr: false,
            stamps: case.options.timestamps,
        };
        if case.active {
            remote.plan(OPENING, Item::Act(Deed::Connect));
        } else {
            remote.plan(0, Item::Act(Deed::Listen));
            remote.plan(OPENING, Item::Syn);
        }
        remote
    }

    fn plan(&mut self, at: u64, item: Item) {
        self.serial += 1;
        self.queue.insert((at, self.serial), item);
    }

    /// The time of the next event, milliseconds.
    pub(super) fn due(&self) -> Option<u64> {
        self.queue.keys().next().map(|key| key.0)
    }

    /// Takes the next event. The time may be later than planned.
    pub(super) fn step(&mut self, now: u64) -> Next {
        let Some((_, item)) = self.queue.pop_first() else { return Next::Nothing };
        match item {
            Item::Act(deed) => return Next::Act(deed),
            Item::Deliver(spec) => return Next::Deliver(spec),
            Item::Syn => return Next::Deliver(self.syn(Flags::SYN)),
            Item::Arrive(arrival) => self.arrive(now, &arrival),
            Item::AckTimer(timer) if timer == self.timer && self.receive.owes() => {
                self.acknowledge(now);
            }
            Item::AckTimer(_) => {}
            Item::Send(i) => return Next::Deliver(self.send(i)),
            Item::Fin => return Next::Deliver(self.fin()),
            Item::Reopen => {
                if self.receive.reopen() {
                    self.acknowledge(now);
                }
            }
        }
        Next::Nothing
    }

    /// A segment has left the stack.
    pub(super) fn departed(&mut self, now: u64, number: u32, spec: &SegmentSpec) {
        let carries = spec.len > 0 || spec.flags.has(Flags::FIN);
        let mut arrival = Arrival { spec: spec.clone(), number, marked: false };
        let mut fate = None;
        if spec.flags.has(Flags::SYN) {
            self.syns += 1;
            fate = (self.syns <= self.case.lost_syns).then_some(Fate::Lose);
        } else if carries {
            fate = of(&self.case.fates, self.data);
            self.data += 1;
        }
        if fate == Some(Fate::Lose) {
            return;
        }
        let at = (now + u64::from(self.case.rtt)).max(self.last_arrival + self.spacing(carries));
        match fate {
            Some(Fate::Late(more)) => {
                return self.plan(at + u64::from(more), Item::Arrive(arrival));
            }
            Some(Fate::Twice(after)) => {
                self.plan(at + u64::from(after), Item::Arrive(arrival.clone()));
            }
            Some(Fate::Mark) => {
                arrival.marked = self.ecn && spec.ecn.is_some_and(Codepoint::is_capable);
            }
            _ => {}
        }
        self.last_arrival = at;
        self.plan(at, Item::Arrive(arrival));
    }

    fn spacing(&self, carries: bool) -> u64 {
        if carries { self.case.spacing.into() } else { 0 }
    }

    fn arrive(&mut self, now: u64, arrival: &Arrival) {
        let spec = &arrival.spec;
        if spec.flags.has(Flags::RST) {
            self.queue.clear();
            return;
        }
        if spec.flags.has(Flags::SYN) {
            return self.greet(now, arrival);
        }
        let ece = spec.flags.has(Flags::ECE);
        self.owes_cwr |= self.ecn && ece;
        match self.receive.take(arrival, self.case.receiver.every) {
            Came::Nothing => {}
            Came::AckNow => self.acknowledge(now),
            Came::AckLater => {
                self.timer += 1;
                let at = now + u64::from(self.case.receiver.delay);
                self.plan(at, Item::AckTimer(self.timer));
            }
        }
    }

    /// The stack's SYN or SYN-ACK has arrived.
    fn greet(&mut self, now: u64, arrival: &Arrival) {
        self.receive.greet(arrival);
        let flags = arrival.spec.flags;
        let reply = if flags.has(Flags::ACK) {
            self.ecn = self.case.options.ecn && flags.has(Flags::ECE);
            let mut ack = self.blank(Flags::ACK);
            ack.window = Some(exactly(self.receive.window(self.granule())));
            ack
        } else {
            self.ecn = self.case.options.ecn && flags.has(Flags::ECE.with(Flags::CWR));
            self.syn(Flags::SYN.with(Flags::ACK))
        };
        self.plan(now, Item::Deliver(reply));
        if !self.established {
            self.established = true;
            self.begin(now + 1);
        }
    }

    /// The plans that begin with the connection.
    fn begin(&mut self, now: u64) {
        let mut at = now;
        for act in &self.case.acts {
            at += u64::from(act.after);
            self.plan(at, Item::Act(act.deed));
        }
        let mut at = now;
        for (i, send) in self.case.sends.iter().enumerate() {
            at += u64::from(send.after);
            self.plan(at, Item::Send(i));
        }
        if let Some(after) = self.case.fin {
            self.plan(at + u64::from(after), Item::Fin);
        }
    }

    fn acknowledge(&mut self, now: u64) {
        let number = self.acks;
        self.acks += 1;
        for (from, lasts) in &self.case.receiver.stalls {
            if *from == number {
                self.receive.stall();
                self.plan(now + u64::from(*lasts), Item::Reopen);
            }
        }
        let mut spec = self.answer(Flags::ACK);
        spec.options.sack = self.receive.blocks();
        match of(&self.case.ack_fates, number) {
            Some(Fate::Lose) => {}
            Some(Fate::Late(more)) => self.plan(now + u64::from(more), Item::Deliver(spec)),
            _ => self.plan(now, Item::Deliver(spec)),
        }
    }

    /// A segment that acknowledges all data that have arrived.
    fn answer(&mut self, flags: Flags) -> SegmentSpec {
        self.timer += 1;
        let flags = if self.receive.echoes() { flags.with(Flags::ECE) } else { flags };
        let window = self.receive.acknowledged(self.granule());
        SegmentSpec { window: Some(exactly(window)), ..self.blank(flags) }
    }

    fn send(&mut self, i: usize) -> SegmentSpec {
        let send = &self.case.sends[i];
        let mut flags = Flags::ACK.with(Flags::PSH);
        if std::mem::take(&mut self.owes_cwr) {
            flags = flags.with(Flags::CWR);
        }
        let mut spec = self.answer(flags);
        spec.seq = Some(1 + i64::from(send.at));
        spec.len = send.len;
        if self.ecn {
            spec.ecn = Some(if send.marked { Codepoint::Ce } else { Codepoint::Ect0 });
        }
        self.next = self.next.max(1 + i64::from(send.at) + i64::from(send.len));
        spec
    }

    fn fin(&mut self) -> SegmentSpec {
        let spec = self.answer(Flags::FIN.with(Flags::ACK));
        self.next += 1;
        spec
    }

    fn syn(&mut self, flags: Flags) -> SegmentSpec {
        let o = &self.case.options;
        let mut spec = self.blank(flags);
        if o.ecn {
            let echo = if flags.has(Flags::ACK) { Flags::ECE } else { Flags::ECE.with(Flags::CWR) };
            spec.flags = spec.flags.with(echo);
        }
        spec.seq = Some(0);
        spec.window = Some(exactly(self.case.receiver.window.min(64_512).into()));
        spec.options.mss = Some(exactly(o.mss.into()));
        spec.options.sack_permitted = o.sack;
        spec.options.window_scale = o.window_scaling.then_some(exactly(SHIFT.into()));
        if o.timestamps && !flags.has(Flags::ACK) {
            spec.options.timestamps = TimestampsSpec::Given(Stamp::Any, Stamp::Number(0));
        }
        self.next = 1;
        spec
    }

    fn blank(&self, flags: Flags) -> SegmentSpec {
        let echo = self.receive.echo().filter(|_| self.stamps);
        SegmentSpec {
            flags,
            seq: Some(self.next),
            len: 0,
            ack: flags.has(Flags::ACK).then(|| self.receive.next()),
            window: None,
            ecn: None,
            options: OptionsSpec {
                timestamps: echo.map_or(TimestampsSpec::Implied, |number| {
                    TimestampsSpec::Given(Stamp::Any, Stamp::Named(stamp_name(number)))
                }),
                ..OptionsSpec::default()
            },
        }
    }

    /// Windows are whole multiples of this.
    fn granule(&self) -> u64 {
        if self.case.options.window_scaling { 1 << SHIFT } else { 1 }
    }
}

fn of(fates: &[(u32, Fate)], number: u32) -> Option<Fate> {
    fates.iter().find(|fate| fate.0 == number).map(|fate| fate.1)
}

fn exactly(value: u64) -> Bounds {
    Bounds { least: value, most: value }
}
