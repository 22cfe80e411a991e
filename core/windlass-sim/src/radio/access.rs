//! Channel access of a station under the DCF: interframe spaces, back-off and virtual carrier sense.

use windlass_cc::{Span, Time};

use crate::radio::station::{Phase, Station, Timing};

impl Station {
    /// True if the station senses a signal or transmits.
    pub fn senses_busy(&self) -> bool {
        self.signals > 0 || self.transmitting_until.is_some()
    }

    /// True if the station has a packet or a beacon and contends for the channel.
    fn wants_access(&self) -> bool {
        let announces = || self.announcer.as_ref().is_some_and(|a| a.waiting > 0);
        self.phase == Phase::Contend && (!self.queue.is_empty() || announces())
    }

    /// Draws a back-off of 0 … `window` slots.
    pub(super) fn draw(&mut self) -> u32 {
        let slots = u64::from(self.window) + 1;
        (((self.stream.next_u64() >> 32) * slots) >> 32) as u32
    }

    /// Starts a new back-off. If the channel is already idle, the back-off starts at the next slot boundary
    /// of this idle period.
    pub fn start_backoff(&mut self, now: Time, timing: &Timing) {
        self.backoff = Some(self.draw());
        self.grant = Time::NEVER;
        let past = now.since(self.slots_from).0.div_ceil(timing.slot.0);
        self.slots_from += Span(past.saturating_mul(timing.slot.0));
    }

    /// Requests the channel for a packet that arrived in an empty queue.
    ///
    /// The packet is transmitted at once if the channel has been idle for a DIFS and no back-off is under
    /// way. Otherwise it waits until both are true. If the channel is busy, it waits for a back-off (IEEE
    /// 802.11-2016 section 10.3.4.2).
    pub fn request_access(&mut self, now: Time, timing: &Timing) {
        let busy = self.senses_busy() || self.nav > now;
        if busy && self.backoff.is_none() {
            self.backoff = Some(self.draw());
        }
        self.plan_access(now, timing);
    }

    fn end_of(&self, slots: u32, timing: &Timing) -> Time {
        self.slots_from + Span(u64::from(slots) * timing.slot.0)
    }

    /// Computes the time at which the station may transmit, unless the channel is busy or the station has
    /// nothing to transmit.
    pub fn plan_access(&mut self, now: Time, timing: &Timing) {
        if self.senses_busy() || !self.wants_access() || self.grant != Time::NEVER {
            return;
        }
        self.grant = match self.backoff {
            Some(slots) => self.end_of(slots, timing),
            None => self.slots_from,
        }
        .max(now);
    }

    /// The channel becomes idle.
    pub fn on_idle(&mut self, now: Time, timing: &Timing) {
        self.idle_since = now;
        let space = if self.after_error { timing.eifs } else { timing.difs };
        self.slots_from = (now + space).max(self.nav + timing.difs);
    }

    /// The channel becomes busy: the back-off is frozen, and an incomplete slot is counted again. A station
    /// that would transmit within its turnaround time still transmits.
    pub fn on_busy(&mut self, now: Time, timing: &Timing) {
        let seen = now + timing.turnaround;
        if self.grant <= seen {
            return;
        }
        let wants = self.wants_access();
        self.backoff = match self.backoff {
            Some(slots) => {
                let passed = seen.since(self.slots_from).0 / timing.slot.0;
                let left = u64::from(slots).saturating_sub(passed) as u32;
                (wants || left > 0).then_some(left)
            }
            None => wants.then(|| self.draw()),
        };
        self.grant = Time::NEVER;
    }

    /// The station's own transmission begins. The rest of a back-off is kept for later.
    pub fn on_transmit(&mut self, now: Time, timing: &Timing) {
        if self.signals == 0 {
            self.on_busy(now, timing); // otherwise it is frozen already
        }
        self.grant = Time::NEVER;
        self.reception = None;
        self.after_error = false;
    }

    /// A frame begins to arrive. An RTS that reserved the channel on the condition of such a frame now sets
    /// the NAV.
    pub fn confirm_nav(&mut self, now: Time) {
        if let Some((before, until)) = self.nav_asked.take()
            && now <= before
        {
            self.nav = self.nav.max(until);
        }
    }
}
