//! Stations of IEEE 802.15.4 that [sleep](crate::radio::sleep), and their parents, which keep packets for
//! them.

use windlass_cc::{Span, Time};

use crate::radio::channel::{Frame, FrameKind};
use crate::radio::config::RadioConfig;
use crate::radio::lowpan::Lowpan;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::queued::Queued;
use crate::radio::rates::CONTROL;
use crate::radio::sleep::{AGAIN, Device, Job, Kept, MAX_ATTEMPTS, Parent, Progress, Sleep};
use crate::radio::station::{Phase, Station};

/// Payload of a data request after the MAC header, bytes: the number of the command.
const COMMAND_BYTES: u32 = 1;

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

    /// Makes this station the parent of `child`, for which it keeps packets. Children must be added in
    /// ascending order.
    pub(super) fn adopt(&mut self, child: u32) {
        let sleep = self.sleep.get_or_insert_with(|| Box::new(Sleep::Parent(Parent::default())));
        if let Sleep::Parent(parent) = &mut **sleep {
            parent.children.push(child);
        }
    }

    /// True if it keeps packets for this station.
    pub(super) fn is_parent_of(&self, child: u32) -> bool {
        self.parent().is_some_and(|parent| parent.children.binary_search(&child).is_ok())
    }

    /// True if it sleeps because it has nothing to do.
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

    /// Time of the next event of its sleep schedule.
    pub(super) fn sleep_deadline(&self) -> Time {
        let Some(device) = self.device().filter(|_| !self.is_off()) else { return Time::NEVER };
        match device.awaits {
            Some(until) => until,
            None if self.is_free() => device.due,
            None => Time::NEVER,
        }
    }

    /// Keeps a packet for a sleeping child. The caller has checked that there is room.
    pub(super) fn keep(&mut self, queued: Queued) {
        let kept = Kept { queued, attempts: 0, progress: None };
        self.parent_mut().into_iter().for_each(|parent| parent.kept.push_back(kept));
    }

    /// Number of packets that it keeps for sleeping children.
    pub(super) fn kept(&self) -> u64 {
        self.parent().map_or(0, |parent| parent.kept.len() as u64)
    }

    /// Number of packets that it holds for this station, or for all stations if `next` is `None`.
    pub fn holds(&self, next: Option<u32>) -> usize {
        let kept = self.parent().into_iter().flat_map(|parent| &parent.kept).map(|k| k.queued.to);
        let all = self.queue.iter().map(|queued| queued.to).chain(kept);
        all.filter(|to| next.is_none_or(|next| *to == next)).count()
    }

    /// Number of kept packets that their device has received, although no acknowledgement has confirmed it.
    pub(super) fn kept_and_taken(&self) -> u64 {
        let kept = self.parent().into_iter().flat_map(|parent| &parent.kept);
        kept.filter(|k| k.progress.is_some_and(|p| p.taken)).count() as u64
    }

    /// The station is switched off. Adds the kept packets that no device has received to `lost`.
    pub(super) fn drop_kept(&mut self, lost: &mut Vec<Queued>) {
        let taken = self.kept_and_taken();
        self.counters.unconfirmed += taken;
        let Some(parent) = self.parent_mut() else { return };
        parent.asked.clear();
        let kept = parent.kept.drain(..);
        let open = kept.filter(|k| k.progress.is_none_or(|p| !p.taken));
        lost.extend(open.map(|k| k.queued));
    }

    /// Chooses the next frame. A data request that is due, and a frame that a device waits for, precede the
    /// packets of the queue.
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

    /// Puts a kept packet at the head of the queue.
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

    /// True if the data frame that it is about to send announces more frames for its receiver.
    pub(super) fn announces_more(&self) -> bool {
        let to = self.queue.front().map(|head| head.to).filter(|_| self.job == Job::Kept);
        let [part, parts] = self.part;
        to.is_some_and(|to| part + 1 < parts || self.parent().is_some_and(|p| p.keeps_for(to)))
    }

    /// Resumes the packet that the kept packet interrupted.
    fn give_way(&mut self, now: Time) {
        match self.parent_mut().and_then(|parent| parent.interrupted.take()) {
            Some(progress) => self.resume(progress),
            None => self.serve(now),
        }
    }

    /// Puts a kept packet back after an attempt of one of its frames. Returns `None`, or `Some(())` if the
    /// packet is finished.
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
    /// Sets up the stations that sleep, and their parents. The first request of each station is at a random
    /// time of its interval.
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

    /// One more application or transport of the station's node waits for an answer, or one fewer.
    pub(crate) fn expect_answer(&mut self, station: u32, more: bool, now: Time) {
        if let Some(device) = self.stations[station as usize].device_mut() {
            device.expect(more, now);
            self.wake(station, now);
        }
    }

    /// Handles the events of a station that sleeps or that keeps packets.
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
        let bytes = request_bytes(&lowpan);
        let frame = Frame::bare(FrameKind::Request, station, parent, CONTROL, bytes);
        self.transmit(station, frame, now);
    }

    /// Answers the data request of a device.
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
        let answer = Frame { bytes: self.ack_bytes, rate: CONTROL, ..answer };
        s.response = Some((now + self.timing.sifs, answer));
    }

    /// Ends a data request or a kept frame, which has been acknowledged or given up.
    pub(super) fn finish_job(&mut self, station: u32, answer: Option<Frame>, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let s = &mut self.stations[station as usize];
        let bytes = match (s.job, s.queue.front()) {
            (Job::Kept, Some(head)) => {
                lowpan.framing_of(head.saved).bytes(head.handle.size, u32::from(s.part[0]))
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

/// Size of a data request, bytes.
fn request_bytes(lowpan: &Lowpan) -> u32 {
    lowpan.mac_header + COMMAND_BYTES
}
