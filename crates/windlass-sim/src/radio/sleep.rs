//! End devices of IEEE 802.15.4 that sleep, and the parents that keep packets for them: indirect transmission
//! (IEEE 802.15.4-2015 section 6.7.3) in a network without beacons.
//!
//! A device is off unless it has something to send, asks its parent for what that keeps, or waits for it. It asks by
//! a data request, a MAC command that contends for the channel as any frame does. The acknowledgement says whether
//! there is something; then the device stays awake for the frame, and asks again at once if the frame says that more
//! is kept. Where the standard leaves a choice, or stacks differ from it:
//!
//! * A packet is kept until its device has taken it; each of its frames has so many requests in which it is tried
//!   once, and goes after those (OpenThread's four). The standard drops it after a time, which would lose the packets
//!   of every device that sleeps for longer.
//! * What is kept takes room in the station's queue, as in a stack with one pool of buffers.
//! * The frame is sent by CSMA-CA once the acknowledgement is out, before frames of other packets, whose present frame
//!   is finished first. If that takes longer than the device waits, it is not sent.
//! * The device waits for macMaxFrameTotalWaitTime after an acknowledgement that announced a frame, and what its
//!   parent needs to prepare one; then it asks again at once. A request that fails is repeated after half a second. Both
//!   do so a few times in a row, as OpenThread's; the standard leaves it to the layers above.
//! * Only a data request is answered with what is kept: acknowledgements of data announce nothing.
//! * Waking takes no time and no energy.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;
use crate::radio::channel::{Frame, FrameKind};
use crate::radio::config::{Hops, RadioConfig, StationConfig};
use crate::radio::lowpan::Lowpan;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::queued::Queued;
use crate::radio::station::{Phase, Station};

/// Shortest and longest time between two polls.
pub const POLLS: [Span; 2] = [Span::from_millis(1), Span::from_secs(86_400)];
/// Requests in which a frame is tried before its packet is given up.
pub const MAX_ATTEMPTS: u8 = 4;
/// How often in a row a request may bring nothing that should before the device waits for its time again.
pub const MAX_MISSES: u8 = 5;
/// After a request that failed, the next comes no later than this.
pub const AGAIN: Span = Span::from_millis(500);
/// Bytes of a data request beside the MAC header: the command's number.
const COMMAND_BYTES: u32 = 1;

/// How a station sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    /// From one data request to the next.
    pub poll_interval: Span,
    /// The same while an application or transport of its node waits for an answer.
    pub fast_poll: Option<Span>,
}

/// What the frame is of that a station tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Job {
    /// The first packet of its queue.
    #[default]
    Packet,
    /// A data request.
    Request,
    /// A packet kept for a device that has asked, which stands first in the queue meanwhile.
    Kept,
}

/// The part of a station in this.
#[derive(Clone, Debug)]
pub enum Sleep {
    /// It sleeps.
    Device(Device),
    /// It keeps packets for those that do.
    Parent(Parent),
}

/// A station that sleeps.
#[derive(Clone, Debug)]
pub struct Device {
    parent: u32,
    polling: Polling,
    /// How many of its node wait for an answer.
    expecting: u32,
    /// When it asked last, and when it is to ask next.
    last: Time,
    due: Time,
    /// Until when it waits for a frame that was announced.
    awaits: Option<Time>,
    misses: u8,
}

/// A station that keeps packets for others.
#[derive(Clone, Debug, Default)]
pub struct Parent {
    children: Vec<u32>,
    kept: VecDeque<Kept>,
    /// Who has asked for a frame, and until when it waits.
    asked: VecDeque<(u32, Time)>,
    /// Attempts of the kept frame being tried.
    attempts: u8,
    /// How far the packet has come in whose place it goes.
    interrupted: Option<Progress>,
}

/// A packet that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    queued: Queued,
    attempts: u8,
    /// `None` if no frame of it has been tried.
    progress: Option<Progress>,
}

/// How far a packet has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    sequence: u64,
    part: u8,
    tried: bool,
    taken: bool,
    head_since: Time,
}

impl RadioConfig {
    /// The stations that sleep, and how.
    pub fn sleepers(&self) -> impl Iterator<Item = (usize, Polling)> + '_ {
        let polling = |(i, s): (usize, &StationConfig)| Some((i, s.sleep?));
        self.stations.iter().enumerate().filter_map(polling)
    }

    /// The other end of a station's only hop.
    fn parent(&self, station: usize) -> Option<usize> {
        let other = |[a, b]: [usize; 2]| match station {
            s if s == a => Some(b),
            s if s == b => Some(a),
            _ => None,
        };
        let mut others = self.pairs().into_iter().filter_map(other);
        others.next().filter(|first| others.all(|o| o == *first))
    }

    /// Whether a station can sleep as it is told to.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, as a sentence without the radio's name.
    pub fn check_sleep(&self, station: usize, nodes: &[String]) -> Result<(), String> {
        let Some(polling) = self.stations[station].sleep else { return Ok(()) };
        let name = &nodes[self.stations[station].node];
        if self.lowpan.is_none() {
            let phy = self.phy.name;
            return Err(format!(
                "station \"{name}\" cannot sleep: {phy} has no data requests here; those of 802.15.4 can"
            ));
        }
        let [least, most] = POLLS;
        let fast = polling.fast_poll.unwrap_or(polling.poll_interval);
        if !(least..=most).contains(&polling.poll_interval) || fast < least {
            return Err(format!(
                "station \"{name}\" must poll at intervals of 1 ms to 1 day, for example every 2 s"
            ));
        }
        if fast > polling.poll_interval {
            return Err(format!(
                "station \"{name}\" must poll no less often while it waits for an answer than otherwise"
            ));
        }
        let star = matches!(self.hops, Hops::Star { centre } if centre == station);
        match self.parent(station).filter(|_| !star && !matches!(self.hops, Hops::Aodv(_))) {
            None => Err(format!(
                "station \"{name}\" cannot sleep: others may be routed through it; only a station with a single \
                 hop sleeps, over which its parent keeps packets for it"
            )),
            Some(parent) if self.stations[parent].sleep.is_some() => {
                let parent = &nodes[self.stations[parent].node];
                Err(format!(
                    "station \"{name}\" cannot sleep: its parent \"{parent}\" sleeps too, and must be ready \
                     when it asks"
                ))
            }
            Some(_) => Ok(()),
        }
    }
}

impl Device {
    /// A device that has this parent and first asks at `due`.
    pub fn new(parent: u32, polling: Polling, due: Time) -> Device {
        let (expecting, last, awaits, misses) = (0, Time::ZERO, None, 0);
        Device { parent, polling, expecting, last, due, awaits, misses }
    }

    fn interval(&self) -> Span {
        let fast = self.polling.fast_poll.filter(|_| self.expecting > 0);
        fast.unwrap_or(self.polling.poll_interval)
    }

    fn is_due(&self, now: Time) -> bool {
        self.due <= now && self.awaits.is_none()
    }

    fn begin(&mut self, now: Time) {
        (self.last, self.due) = (now, now + self.interval());
    }

    /// One more of its node waits for an answer, or one less.
    fn expect(&mut self, more: bool, now: Time) {
        self.expecting = if more { self.expecting + 1 } else { self.expecting.saturating_sub(1) };
        self.due = match more {
            true => self.due.min(now + self.interval()),
            false => (self.last + self.interval()).max(now),
        };
    }

    /// Its parent has something for it, or nothing more.
    fn answered(&mut self, pending: bool, now: Time, wait: Span) {
        self.awaits = pending.then_some(now + wait);
        self.misses = if pending { self.misses } else { 0 };
    }

    /// A frame has come, which says whether there is more.
    pub(super) fn receive(&mut self, pending: bool, now: Time) {
        (self.awaits, self.misses) = (None, 0);
        if pending {
            self.due = now;
        }
    }

    /// The frame that was announced has not come, or the request has failed: the next comes no later than this.
    fn miss(&mut self, next: Time) {
        self.awaits = None;
        self.misses += 1;
        if self.misses < MAX_MISSES {
            self.due = self.due.min(next);
        } else {
            self.misses = 0;
        }
    }
}

impl Parent {
    fn keeps_for(&self, child: u32) -> bool {
        self.kept.iter().any(|k| k.queued.to == child)
    }

    /// The packet of which a device in time has asked for a frame.
    fn next(&mut self, now: Time) -> Option<Kept> {
        while let Some((child, until)) = self.asked.pop_front() {
            let place = self.kept.iter().position(|k| k.queued.to == child);
            if until > now
                && let Some(kept) = place.and_then(|place| self.kept.remove(place))
            {
                return Some(kept);
            }
        }
        None
    }
}

impl Station {
    fn device(&self) -> Option<&Device> {
        match self.sleep.as_deref() {
            Some(Sleep::Device(device)) => Some(device),
            _ => None,
        }
    }

    pub(super) fn device_mut(&mut self) -> Option<&mut Device> {
        match self.sleep.as_deref_mut() {
            Some(Sleep::Device(device)) => Some(device),
            _ => None,
        }
    }

    fn parent(&self) -> Option<&Parent> {
        match self.sleep.as_deref() {
            Some(Sleep::Parent(parent)) => Some(parent),
            _ => None,
        }
    }

    fn parent_mut(&mut self) -> Option<&mut Parent> {
        match self.sleep.as_deref_mut() {
            Some(Sleep::Parent(parent)) => Some(parent),
            _ => None,
        }
    }

    /// From now on it keeps packets for this station, too.
    pub(super) fn adopt(&mut self, child: u32) {
        let sleep = self.sleep.get_or_insert_with(|| Box::new(Sleep::Parent(Parent::default())));
        if let Sleep::Parent(parent) = &mut **sleep {
            parent.children.push(child);
        }
    }

    /// Whether it keeps packets for this station.
    pub(super) fn is_parent_of(&self, child: u32) -> bool {
        self.parent().is_some_and(|parent| parent.children.contains(&child))
    }

    /// Whether its radio is off because it has nothing to do.
    pub(super) fn is_asleep(&self) -> bool {
        self.device().is_some_and(|device| device.awaits.is_none())
            && self.queue.is_empty()
            && self.job != Job::Request
            && self.response.is_none()
            && self.transmitting_until.is_none()
    }

    fn is_free(&self) -> bool {
        self.phase == Phase::Contend && self.response.is_none() && self.transmitting_until.is_none()
    }

    /// When it must be looked after for what it does about sleep.
    pub(super) fn sleep_deadline(&self) -> Time {
        let Some(device) = self.device().filter(|_| !self.is_off()) else { return Time::NEVER };
        match device.awaits {
            Some(until) => until,
            None if self.is_free() => device.due,
            None => Time::NEVER,
        }
    }

    /// Keeps a packet, for which there is room.
    pub(super) fn keep(&mut self, queued: Queued) {
        let kept = Kept { queued, attempts: 0, progress: None };
        self.parent_mut().into_iter().for_each(|parent| parent.kept.push_back(kept));
    }

    /// Packets that it keeps.
    pub(super) fn kept(&self) -> u64 {
        self.parent().map_or(0, |parent| parent.kept.len() as u64)
    }

    /// Packets for this station, or for all, that it holds.
    pub fn holds(&self, next: Option<u32>) -> usize {
        let kept = self.parent().into_iter().flat_map(|parent| &parent.kept).map(|k| k.queued.to);
        let all = self.queue.iter().map(|queued| queued.to).chain(kept);
        all.filter(|to| next.is_none_or(|next| *to == next)).count()
    }

    /// Of the packets kept: those that their device has taken, which this station does not know.
    pub(super) fn kept_and_taken(&self) -> u64 {
        let kept = self.parent().into_iter().flat_map(|parent| &parent.kept);
        kept.filter(|k| k.progress.is_some_and(|p| p.taken)).count() as u64
    }

    /// It goes off: adds what it kept and what nobody has taken.
    pub(super) fn drop_kept(&mut self, lost: &mut Vec<Queued>) {
        let taken = self.kept_and_taken();
        self.counters.unconfirmed += taken;
        let Some(parent) = self.parent_mut() else { return };
        parent.asked.clear();
        let kept = parent.kept.drain(..);
        let open = kept.filter(|k| k.progress.is_none_or(|p| !p.taken));
        lost.extend(open.map(|k| k.queued));
    }

    /// A frame is next: a data request that is due and a frame that a device waits for go before those of the queue.
    pub(super) fn take_job(&mut self, now: Time) {
        self.job = Job::Packet;
        match self.sleep.as_deref_mut() {
            Some(Sleep::Device(device)) if device.is_due(now) => {
                device.begin(now);
                self.job = Job::Request;
            }
            Some(Sleep::Parent(parent)) => {
                if let Some(kept) = parent.next(now) {
                    self.take_out(now, kept);
                }
            }
            _ => {}
        }
    }

    /// Puts a packet that was kept first in the queue.
    fn take_out(&mut self, now: Time, kept: Kept) {
        let interrupted = (!self.queue.is_empty()).then(|| self.progress());
        self.queue.push_front(kept.queued);
        match kept.progress {
            Some(progress) => self.resume(progress),
            None => self.serve(now),
        }
        if let Some(parent) = self.parent_mut() {
            (parent.interrupted, parent.attempts) = (interrupted, kept.attempts);
        }
        self.job = Job::Kept;
    }

    fn progress(&self) -> Progress {
        let Station { sequence, part: [part, _], tried, taken, head_since, .. } = *self;
        Progress { sequence, part, tried, taken, head_since }
    }

    fn resume(&mut self, progress: Progress) {
        let Progress { sequence, part, tried, taken, head_since } = progress;
        (self.sequence, self.part[0], self.tried) = (sequence, part, tried);
        (self.taken, self.head_since, self.failed) = (taken, head_since, [0; 2]);
    }

    /// Whether the data frame that it is about to send says that it keeps more for its receiver.
    pub(super) fn announces_more(&self) -> bool {
        let to = self.queue.front().map(|head| head.to).filter(|_| self.job == Job::Kept);
        let [part, parts] = self.part;
        to.is_some_and(|to| part + 1 < parts || self.parent().is_some_and(|p| p.keeps_for(to)))
    }

    /// The packet that was kept makes room for the one that it has interrupted.
    fn give_way(&mut self, now: Time) {
        match self.parent_mut().and_then(|parent| parent.interrupted.take()) {
            Some(progress) => self.resume(progress),
            None => self.serve(now),
        }
    }

    /// A kept frame has been tried; `None` unless its packet is done with.
    fn put_back(&mut self, arrived: bool) -> Option<()> {
        let attempts = self.parent()?.attempts + 1;
        let done =
            if arrived { self.part[0] + 1 == self.part[1] } else { attempts == MAX_ATTEMPTS };
        if done {
            return Some(());
        }
        if arrived {
            (self.part[0], self.tried) = (self.part[0] + 1, false);
        }
        let attempts = if arrived { 0 } else { attempts };
        let (queued, progress) = (self.queue.pop_front()?, Some(self.progress()));
        self.parent_mut()?.kept.push_front(Kept { queued, attempts, progress });
        None
    }
}

impl Radio {
    /// At the beginning: stations that sleep, each with a first request at a random moment of its interval, and parents.
    pub(super) fn put_to_sleep(&mut self, config: &RadioConfig) {
        for (station, polling) in config.sleepers() {
            let Some(parent) = config.parent(station) else { continue };
            let s = &mut self.stations[station];
            let first = s.stream.next_u64() % polling.poll_interval.0.max(1);
            let device = Device::new(parent as u32, polling, Time::ZERO + Span(first));
            s.sleep = Some(Box::new(Sleep::Device(device)));
            s.update_meter(Time::ZERO);
            self.stations[parent].adopt(station as u32);
        }
    }

    /// Whether one more of a station's node waits for an answer, or one less.
    pub(crate) fn expect_answer(&mut self, station: u32, more: bool, now: Time) {
        if let Some(device) = self.stations[station as usize].device_mut() {
            device.expect(more, now);
            self.wake(station, now);
        }
    }

    /// What is due at a station that sleeps, or that keeps packets.
    pub(super) fn on_sleep(&mut self, station: u32, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let longest = Lowpan::longest_frame(&self.phy);
        let s = &mut self.stations[station as usize];
        if s.is_off() {
            return;
        }
        let receives = s.reception.is_some_and(|r| r.own);
        if let Some(device) = s.device_mut().filter(|d| d.awaits.is_some_and(|t| t <= now)) {
            match receives {
                true => device.awaits = Some(now + longest),
                false => device.miss(now),
            }
        }
        let is_due = match s.sleep.as_deref() {
            Some(Sleep::Device(device)) => device.is_due(now),
            Some(Sleep::Parent(parent)) => !parent.asked.is_empty(),
            None => false,
        };
        if is_due && s.is_free() {
            s.begin_frame(now, &lowpan, &self.timing);
        }
        s.update_meter(now);
    }

    /// Transmits a data request.
    pub(super) fn send_request(&mut self, station: u32, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let s = &mut self.stations[station as usize];
        let Some(&Device { parent, .. }) = s.device() else { return };
        s.phase = Phase::SendData;
        s.counters.polls += 1;
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Request,
            from: station,
            to: parent,
            nav: Span::ZERO,
            sequence: 0,
            retry: false,
            part: 0,
            parts: 1,
            pending: false,
            handle: PacketHandle { id: 0, size: 0, hop: 0 },
            bytes: request_bytes(&lowpan),
        };
        self.transmit(station, frame, self.control, now);
    }

    /// A device asks for what is kept for it.
    pub(super) fn answer_request(&mut self, at: u32, request: &Frame, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let s = &mut self.stations[at as usize];
        let being_sent =
            s.job == Job::Kept && s.queue.front().is_some_and(|h| h.to == request.from);
        let Some(parent) = s.parent_mut() else { return };
        let pending = being_sent || parent.keeps_for(request.from);
        parent.asked.retain(|(child, _)| *child != request.from);
        if pending && !being_sent {
            let until = now + lowpan.frame_wait(&self.phy);
            parent.asked.push_back((request.from, until));
        }
        let answer =
            Frame { kind: FrameKind::Ack, from: at, to: request.from, pending, ..*request };
        let answer = Frame { bytes: self.ack_bytes, ..answer };
        s.response = Some((now + self.timing.sifs, answer));
    }

    /// A data request or a kept frame is done with: acknowledged, or given up.
    pub(super) fn finish_job(&mut self, station: u32, answer: Option<Frame>, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let s = &mut self.stations[station as usize];
        let bytes = match (s.job, s.queue.front()) {
            (Job::Kept, Some(head)) => {
                lowpan.framing().bytes(head.handle.size, u32::from(s.part[0]))
            }
            _ => request_bytes(&lowpan),
        };
        if answer.is_some() {
            s.space_until = now + Lowpan::space(&self.phy, bytes);
        }
        match (s.job, answer) {
            (Job::Kept, _) => self.finish_kept(station, answer.is_some(), now),
            (_, answer) => {
                let wait = lowpan.frame_wait(&self.phy);
                match (s.device_mut(), answer) {
                    (Some(device), Some(answer)) => device.answered(answer.pending, now, wait),
                    (Some(device), None) => device.miss(now + AGAIN),
                    (None, _) => {}
                }
            }
        }
        self.stations[station as usize].begin_frame(now, &lowpan, &self.timing);
    }

    fn finish_kept(&mut self, station: u32, arrived: bool, now: Time) {
        let s = &mut self.stations[station as usize];
        let done = s.put_back(arrived).and_then(|()| s.let_go(now));
        if let Some(Queued { handle, to, .. }) = done.filter(|_| !arrived) {
            let taken = s.taken;
            s.counters.unconfirmed += u64::from(taken);
            s.counters.drops_retry += u64::from(!taken);
            self.outcomes.push(Outcome::GaveUp { from: station, to, handle, taken });
        }
        self.stations[station as usize].give_way(now);
    }
}

/// Bytes of a data request.
fn request_bytes(lowpan: &Lowpan) -> u32 {
    lowpan.mac_header + COMMAND_BYTES
}
