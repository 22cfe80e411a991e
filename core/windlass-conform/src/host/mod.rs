//! A small host. It turns a script of network behaviour into the consistent history of events that a controller
//! receives.
//!
//! It has one path (a bottleneck and a delay), a scoreboard, the recovery styles of [`LossRecovery`], pacing for a
//! sender with a pacing rate, and no limited transmit. It is not a TCP: it has no handshake and no receive window, and
//! the script determines the losses. The test vectors are its histories, so that they do not change with the
//! simulator's endpoint.

use std::collections::VecDeque;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Ack, Conn, Ecn, Event, Loss, Phase, RateSample, Span, Time, Undo, flags};

mod pair;
mod sending;

pub use pair::{Move, Pair, Sibling};

pub use super::script::{Sender, Setting, Step};

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    len: u64,
    sent: Time,
    /// Arrival time of its acknowledgement at the sender; [`Time::NEVER`] if the network dropped it.
    arrives: Time,
    /// Arrival time of the acknowledgement of its first transmission, if it was retransmitted.
    original: Time,
    delivered: bool,
    lost: bool,
    resent: bool,
    marked: bool,
    record: Record,
}

/// The connection when a segment was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

impl Segment {
    fn in_network(&self) -> bool {
        !self.delivered && (!self.lost || self.resent)
    }

    /// Arrival time, by any of its transmissions.
    fn arrival(&self) -> Time {
        if self.delivered { Time::NEVER } else { self.arrives.min(self.original) }
    }

    fn arrives_unresent(&self) -> bool {
        self.resent && self.original <= self.arrives && !self.original.is_never()
    }
}

/// The host with its sender and its history.
pub struct Host<S> {
    /// The sender.
    pub sender: S,
    c: Conn,
    setting: Setting,
    flight: VecDeque<Segment>,
    link_free: Time,
    delivered_at: Time,
    first_sent: Time,
    /// Offset at which the current phase ends.
    recover: u64,
    duplicates: u32,
    expiries: u32,
    app_limit: Option<u32>,
    drop_every: Option<u64>,
    /// Segments sent for the first time since the network began to drop segments periodically.
    since_drop: u64,
    /// The samples are limited by the application until more than this number of bytes is delivered.
    app_limited_until: Option<u64>,
    /// End of the sent data when the window last stopped the sender.
    window_full_until: u64,
    /// Time at which the pacing rate allows the next segment.
    release: Time,
}

/// The effect of an arrival.
struct Arrival {
    ack: Ack,
    spurious: bool,
}

impl<S: Sender> Host<S> {
    /// A connection that has sent nothing. The caller gives `first` to the sender.
    pub fn new(sender: S, first: Conn, setting: Setting) -> Host<S> {
        Host {
            sender,
            c: first,
            setting,
            flight: VecDeque::new(),
            link_free: first.now,
            delivered_at: first.now,
            first_sent: first.now,
            recover: first.una,
            duplicates: 0,
            expiries: 0,
            app_limit: None,
            drop_every: None,
            since_drop: 0,
            app_limited_until: None,
            window_full_until: first.una,
            release: first.now,
        }
    }

    /// Plays one step. `seen` receives every event, with the connection after it, after the sender.
    pub fn play(&mut self, step: &Step, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        self.send(if let Step::Aggregated { of, .. } = step { *of } else { 1 });
        match step {
            Step::Acks(count) => self.acks(*count, 1, seen),
            Step::Aggregated { acks, of } => self.acks(*acks, *of, seen),
            Step::Drop(places) => self.each(places, |segment| segment.arrives = Time::NEVER),
            Step::DropEvery(every) => (self.drop_every, self.since_drop) = (*every, 0),
            Step::Delay(place, by) => self.each(&[*place], |segment| {
                if !segment.arrives.is_never() {
                    segment.arrives += *by;
                }
            }),
            Step::Mark(places) => self.each(places, |segment| segment.marked = true),
            Step::Timeout => {
                for segment in &mut self.flight {
                    segment.arrives = Time::NEVER;
                    segment.original = Time::NEVER;
                }
                self.timeout(seen);
            }
            Step::EarlyTimeout => self.timeout(seen),
            Step::Idle(gap) => self.idle(*gap, seen),
            Step::Mss(mss) => {
                let old = std::mem::replace(&mut self.c.mss, (*mss).max(1));
                self.tell(Event::Mss(old), seen);
            }
            Step::AppLimit(limit) => self.app_limit = *limit,
            Step::Link { rtt, segment_time } => {
                (self.setting.rtt, self.setting.segment_time) = (*rtt, *segment_time);
            }
        }
    }

    /// True if an acknowledgement is in transit.
    pub fn awaits(&self) -> bool {
        self.next_arrival().is_some()
    }

    /// Segments outstanding.
    pub fn outstanding(&self) -> usize {
        self.flight.len()
    }

    fn each(&mut self, places: &[usize], mut change: impl FnMut(&mut Segment)) {
        for place in places {
            if let Some(segment) = self.flight.get_mut(*place).filter(|s| !s.delivered) {
                change(segment);
            }
        }
    }

    fn tell(&mut self, e: Event, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        self.c.entropy = self.c.entropy.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.sender.apply(&self.c, &e);
        seen(&self.sender, &self.c, &e);
    }

    fn scoreboard(&self) -> bool {
        matches!(self.setting.style, LossRecovery::Sack | LossRecovery::Prr)
    }

    fn pipe(&self) -> u64 {
        self.flight.iter().filter(|s| s.in_network()).map(|s| s.len).sum()
    }

    /// Updates the connection's counts from the flight.
    fn account(&mut self) {
        self.c.una = self.flight.front().map_or(self.c.next_id, |s| s.start);
        self.c.flight_size = self.c.next_id - self.c.una;
        self.c.in_flight = if self.scoreboard() || self.c.phase == Phase::Loss {
            self.pipe()
        } else {
            self.c.flight_size
        };
    }

    // Acknowledgements

    fn next_arrival(&self) -> Option<usize> {
        let at = |place: &usize| self.flight[*place].arrival();
        (0..self.flight.len()).filter(|place| !at(place).is_never()).min_by_key(at)
    }

    /// Arrival time of the acknowledgement of the next `of` segments in order, or of one segment out of order.
    fn ack_time(&self, of: u32) -> Time {
        let mut arrivals: Vec<(Time, usize)> =
            self.flight.iter().map(Segment::arrival).zip(0..).filter(|a| !a.0.is_never()).collect();
        arrivals.sort_unstable();
        let undelivered = (0..self.flight.len()).filter(|place| !self.flight[*place].delivered);
        let mut last = Time::NEVER;
        for ((time, place), front) in arrivals.into_iter().zip(undelivered).take(of.max(1) as usize)
        {
            last = time;
            if place != front {
                break;
            }
        }
        last
    }

    fn acks(&mut self, count: u32, of: u32, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        for _ in 0..count {
            if !self.awaits() {
                break;
            }
            self.acknowledge(of, seen);
            self.send(of);
        }
    }

    fn acknowledge(&mut self, of: u32, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        let arrival = self.receive(of);
        let undone = arrival.spurious
            && arrival.ack.acked > 0
            && matches!(self.c.phase, Phase::Recovery | Phase::Loss)
            && !self.flight.iter().any(|s| s.lost && s.arrival().is_never());
        self.duplicates = if arrival.ack.duplicate { self.duplicates + 1 } else { 0 };
        let lost = if undone { Vec::new() } else { self.find_lost(&arrival.ack) };
        let lost_bytes = self.lose(&lost, seen);
        if undone {
            for segment in &mut self.flight {
                segment.lost = false;
            }
            self.account();
            let why = if self.c.phase == Phase::Loss { Undo::Frto } else { Undo::Dsack };
            self.tell(Event::Undo(why), seen);
        }
        let mut ack = Ack { lost: lost_bytes, ..arrival.ack };
        ack.rate.lost += lost_bytes;
        self.tell(Event::Ack(ack), seen);
        self.follow(&ack, undone, !lost.is_empty(), seen);
    }

    /// Receives arrivals from the network: up to `of` in order, one out of order.
    fn receive(&mut self, of: u32) -> Arrival {
        self.account();
        let prior_in_flight = self.c.in_flight;
        let una = self.c.una;
        let mut ack = Ack { prior_in_flight, ..Ack::default() };
        let mut newest: Option<Segment> = None;
        let mut spurious = false;
        for _ in 0..of.max(1) {
            let Some(at) = self.next_arrival() else { break };
            let Some(segment) = self.flight.get_mut(at) else { break };
            self.c.now = self.c.now.max(segment.arrival());
            segment.delivered = true;
            spurious |= segment.arrives_unresent();
            ack.delivered += segment.len;
            if segment.marked && self.setting.ecn != Ecn::None {
                ack.ce += segment.len;
            }
            if newest.is_none_or(|n| n.sent <= segment.sent) {
                newest = Some(*segment);
            }
            if at != 0 {
                break;
            }
            while self.flight.front().is_some_and(|s| s.delivered) {
                self.flight.pop_front();
            }
        }
        self.c.delivered += ack.delivered;
        if self.app_limited_until.is_some_and(|until| self.c.delivered > until) {
            self.app_limited_until = None;
        }
        self.account();
        ack.acked = self.c.una - una;
        ack.duplicate = ack.acked == 0;
        if let Some(segment) = newest {
            self.measure(&segment, &mut ack);
        }
        self.delivered_at = self.c.now;
        Arrival { ack, spurious }
    }

    fn measure(&mut self, segment: &Segment, ack: &mut Ack) {
        if !segment.resent {
            ack.rtt = self.c.now - segment.sent;
            let Span(rtt) = ack.rtt;
            self.c.min_rtt = self.c.min_rtt.min(ack.rtt);
            let Span(srtt) = self.c.srtt;
            self.c.srtt = Span(if srtt == u64::MAX { rtt } else { srtt - srtt / 8 + rtt / 8 });
        }
        let record = &segment.record;
        let longer = (segment.sent - record.first_sent).max(self.c.now - record.delivered_at);
        // draft-ietf-ccwg-bbr-06 section 4.1.2.3: the acknowledgement was for an earlier transmission.
        let early = self.c.min_rtt.is_known() && longer < self.c.min_rtt;
        let interval = if early { Span::NONE } else { longer };
        ack.rate = RateSample {
            delivered: self.c.delivered - record.delivered,
            interval,
            prior_delivered: record.delivered,
            lost: self.c.lost - record.lost,
            tx_in_flight: record.in_flight,
            app_limited: record.app_limited,
        };
        self.first_sent = segment.sent;
    }

    /// Indices of segments that are lost according to the acknowledgement.
    fn find_lost(&self, ack: &Ack) -> Vec<usize> {
        let fresh = |place: &usize| !self.flight[*place].lost && !self.flight[*place].delivered;
        if self.scoreboard() {
            let above =
                |place: usize| self.flight.iter().skip(place).filter(|s| s.delivered).count();
            return (0..self.flight.len()).filter(fresh).filter(|p| above(*p) >= 3).collect();
        }
        let third =
            self.c.phase != Phase::Loss && self.c.phase != Phase::Recovery && self.duplicates == 3;
        let partial = self.setting.style == LossRecovery::NewReno
            && self.c.phase == Phase::Recovery
            && ack.acked > 0
            && self.c.una < self.recover;
        if third || partial { [0].into_iter().filter(fresh).collect() } else { Vec::new() }
    }

    /// Marks segments as lost, with one event each. Returns their bytes.
    fn lose(&mut self, places: &[usize], seen: &mut impl FnMut(&S, &Conn, &Event)) -> u64 {
        let mut bytes = 0;
        for place in places {
            let Some(segment) = self.flight.get_mut(*place) else { continue };
            segment.lost = true;
            let Segment { len, record, .. } = *segment;
            bytes += len;
            self.c.lost += len;
            self.account();
            let loss = Loss {
                bytes: len,
                tx_in_flight: record.in_flight,
                lost_since_sent: self.c.lost - record.lost,
                app_limited: record.app_limited,
            };
            self.tell(Event::Loss(loss), seen);
        }
        bytes
    }

    // Phases

    fn enter(&mut self, to: Phase, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        let from = std::mem::replace(&mut self.c.phase, to);
        self.account();
        self.tell(Event::Phase { from, to }, seen);
    }

    fn follow(
        &mut self,
        ack: &Ack,
        undone: bool,
        lost: bool,
        seen: &mut impl FnMut(&S, &Conn, &Event),
    ) {
        let complete = ack.acked > 0 && self.c.una >= self.recover;
        let marked = ack.ce > 0 && self.setting.ecn == Ecn::Classic;
        match self.c.phase {
            Phase::Open | Phase::Cwr if lost => self.begin_recovery(seen),
            Phase::Open if marked => {
                self.recover = self.c.next_id;
                self.enter(Phase::Cwr, seen);
            }
            Phase::Cwr if complete => self.enter(Phase::Open, seen),
            Phase::Recovery | Phase::Loss if undone => self.enter(Phase::Open, seen),
            Phase::Recovery if complete => self.enter(Phase::Open, seen),
            Phase::Recovery if ack.acked > 0 && self.setting.style == LossRecovery::Reno => {
                self.enter(Phase::Open, seen);
            }
            Phase::Recovery if lost => self.resend(0), // NewReno's partial acknowledgement
            Phase::Loss if complete => self.enter(Phase::Open, seen),
            _ => {}
        }
        if ack.acked > 0 {
            self.expiries = 0;
        }
    }

    fn begin_recovery(&mut self, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        self.recover = self.c.next_id;
        if self.setting.style == LossRecovery::Tahoe {
            for segment in &mut self.flight {
                segment.lost |= !segment.delivered;
            }
            self.enter(Phase::Loss, seen);
        } else {
            self.enter(Phase::Recovery, seen);
        }
        if let Some(first) = self.flight.iter().position(|s| s.lost && !s.delivered) {
            self.resend(first);
        }
    }

    fn timeout(&mut self, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        if self.flight.is_empty() {
            return;
        }
        let Span(rto) = self.setting.rto;
        self.c.now += Span(rto << self.expiries.min(6));
        let again = self.c.phase == Phase::Loss && self.expiries > 0;
        if self.c.phase == Phase::Loss && !again {
            self.enter(Phase::Open, seen);
        }
        let fresh: Vec<usize> = (0..self.flight.len())
            .filter(|place| !self.flight[*place].delivered && !self.flight[*place].lost)
            .collect();
        for segment in &mut self.flight {
            if segment.lost && segment.arrives.is_never() {
                segment.resent = false;
            }
        }
        self.expiries += 1;
        self.lose(&fresh, seen);
        self.recover = self.c.next_id;
        self.duplicates = 0;
        self.enter(Phase::Loss, seen);
        if let Some(first) = self.flight.iter().position(|s| !s.delivered) {
            self.resend(first);
        }
    }

    fn idle(&mut self, gap: Span, seen: &mut impl FnMut(&S, &Conn, &Event)) {
        let limit = self.app_limit.replace(0);
        while self.awaits() {
            self.acknowledge(1, seen);
            self.send(1);
        }
        if self.flight.is_empty() {
            self.c.now += gap;
            self.account();
            self.c.flags = flags::APP_LIMITED;
            self.app_limited_until = Some(self.c.delivered);
            let reset = gap > self.setting.rto;
            self.tell(Event::IdleRestart { gap, reset }, seen);
        }
        self.app_limit = limit;
    }
}
