//! Unslotted CSMA-CA of IEEE 802.15.4-2015 (section 6.2.5.1), with acknowledgements (6.7.4). The parts of a
//! packet are sent one after the other.
//!
//! A frame waits for the space after the previous frame, then for a random number of back-off periods,
//! regardless of the channel. Then the station assesses the channel. If the channel was idle, the station
//! turns from reception to transmission, during which it cannot receive, and transmits. If the channel was
//! busy, the window doubles. After a number of attempts, the access has failed.
//!
//! Points where simulators and stacks differ:
//!
//! * The channel is busy if the station sensed any frame at any time of the assessment.
//! * A station that has to send an acknowledgement finds the channel busy.
//! * While a station waits for an acknowledgement, another frame does not end the wait.
//! * Receivers listen during the back-off.

use windlass_cc::{Span, Time};

use crate::radio::lowpan::Lowpan;
use crate::radio::mac::Radio;
use crate::radio::sleep::Job;
use crate::radio::station::{Phase, Station, Timing};

impl Station {
    /// Starts the next frame, if there is a packet or a request: the next part of the first packet of the
    /// queue.
    pub(super) fn begin_frame(&mut self, now: Time, lowpan: &Lowpan, timing: &Timing) {
        self.tried = false;
        self.failed[0] = 0;
        self.take_job(now);
        if let Some(head) = self.queue.front() {
            self.part[1] = lowpan.framing_of(head.saved).parts(head.handle.size) as u8;
        } else if self.job == Job::Packet {
            (self.phase, self.phase_until) = (Phase::Contend, Time::NEVER);
            return;
        }
        let from = self.space_until.max(now);
        self.pause(now, from + lowpan.prepare, timing);
    }

    fn pause(&mut self, now: Time, until: Time, timing: &Timing) {
        (self.phase, self.phase_until) = (Phase::Pause, until);
        if until <= now {
            self.begin_access(now, timing);
        }
    }

    fn begin_access(&mut self, now: Time, timing: &Timing) {
        self.window = timing.cw_min;
        self.failed[1] = 0;
        self.back_off(now, timing);
    }

    fn back_off(&mut self, now: Time, timing: &Timing) {
        let slots = u64::from(self.draw());
        self.phase = Phase::Assess;
        self.phase_until = now + Span(slots * timing.slot.0) + timing.assessment;
    }

    /// True if an assessment that ends now found the channel idle.
    fn finds_idle(&self, now: Time, timing: &Timing) -> bool {
        !self.senses_busy() && self.response.is_none() && self.idle_since + timing.assessment <= now
    }
}

impl Radio {
    /// Starts the next step of the frame of a station, when the present phase ends by its timer.
    pub(super) fn on_csma_phase_end(&mut self, station: u32, now: Time) {
        let (s, timing) = (&mut self.stations[station as usize], &self.timing);
        s.phase_until = Time::NEVER;
        match s.phase {
            Phase::Pause => s.begin_access(now, timing),
            Phase::Assess if s.finds_idle(now, timing) => {
                (s.phase, s.phase_until) = (Phase::Turn, now + timing.turnaround);
            }
            Phase::Assess => self.on_busy_channel(station, now),
            Phase::Turn if s.job == Job::Request => self.send_request(station, now),
            Phase::Turn => self.send_data(station, now),
            Phase::AwaitAck => {
                s.counters.failures += 1;
                self.try_again(station, now);
            }
            _ => {}
        }
    }

    fn on_busy_channel(&mut self, station: u32, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let (s, timing) = (&mut self.stations[station as usize], &self.timing);
        s.failed[1] += 1;
        if s.failed[1] <= lowpan.max_backoffs {
            s.window = (2 * s.window + 1).min(timing.cw_max);
            s.back_off(now, timing);
            return;
        }
        s.counters.access_failures += 1;
        match lowpan.retry_busy {
            true => self.try_again(station, now),
            false => self.give_up(station, now),
        }
    }

    /// An attempt has failed.
    fn try_again(&mut self, station: u32, now: Time) {
        let Some(lowpan) = self.lowpan else { return };
        let s = &mut self.stations[station as usize];
        s.failed[0] += 1;
        // A frame that was kept is tried once for each request.
        let most = if s.job == Job::Kept { 0 } else { lowpan.max_retries };
        if s.failed[0] > most {
            self.give_up(station, now);
            return;
        }
        let delay = match lowpan.retry_delay.0 {
            0 => 0,
            most => s.stream.next_u64() % (most + 1),
        };
        s.pause(now, now + Span(delay), &self.timing);
    }

    /// A part of a packet has arrived, or has been broadcast. Starts the next part. Returns false if the
    /// packet has no other part, and always under DCF.
    pub(super) fn begin_next_part(&mut self, station: u32, now: Time) -> bool {
        let Some(lowpan) = self.lowpan else { return false };
        let (s, phy) = (&mut self.stations[station as usize], &self.phy);
        let Some(head) = s.queue.front() else { return false };
        let bytes = lowpan.framing_of(head.saved).bytes(head.handle.size, u32::from(s.part[0]));
        s.space_until = now + Lowpan::space(phy, bytes);
        let more = s.part[0] + 1 < s.part[1];
        if more {
            s.part[0] += 1;
            s.begin_frame(now, &lowpan, &self.timing);
        }
        more
    }
}
