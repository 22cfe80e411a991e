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

use crate::radio::queued::Queued;

/// Shortest and longest time between two polls.
pub const POLLS: [Span; 2] = [Span::from_millis(1), Span::from_secs(86_400)];
/// Requests in which a frame is tried before its packet is given up.
pub const MAX_ATTEMPTS: u8 = 4;
/// How often in a row a request may bring nothing that should before the device waits for its time again.
pub const MAX_MISSES: u8 = 5;
/// After a request that failed, the next comes no later than this.
pub const AGAIN: Span = Span::from_millis(500);

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
pub(super) enum Job {
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
pub(super) enum Sleep {
    /// It sleeps.
    Device(Device),
    /// It keeps packets for those that do.
    Parent(Parent),
}

/// A station that sleeps.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) parent: u32,
    pub(super) polling: Polling,
    /// How many of its node wait for an answer.
    pub(super) expecting: u32,
    /// When it asked last, and when it is to ask next.
    pub(super) last: Time,
    pub(super) due: Time,
    /// Until when it waits for a frame that was announced.
    pub(super) awaits: Option<Time>,
    pub(super) misses: u8,
}

/// A station that keeps packets for others.
#[derive(Clone, Debug, Default)]
pub(super) struct Parent {
    /// Ascending.
    pub(super) children: Vec<u32>,
    pub(super) kept: VecDeque<Kept>,
    /// Who has asked for a frame, and until when it waits.
    pub(super) asked: VecDeque<(u32, Time)>,
    /// Attempts of the kept frame being tried.
    pub(super) attempts: u8,
    /// How far the packet has come in whose place it goes.
    pub(super) interrupted: Option<Progress>,
}

/// A packet that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) queued: Queued,
    pub(super) attempts: u8,
    /// `None` if no frame of it has been tried.
    pub(super) progress: Option<Progress>,
}

/// How far a packet has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) sequence: u64,
    pub(super) part: u8,
    pub(super) tried: bool,
    pub(super) taken: bool,
    pub(super) head_since: Time,
}

impl Device {
    /// A device that has this parent and first asks at `due`.
    pub(super) fn new(parent: u32, polling: Polling, due: Time) -> Device {
        let (expecting, last, awaits, misses) = (0, Time::ZERO, None, 0);
        Device { parent, polling, expecting, last, due, awaits, misses }
    }

    fn interval(&self) -> Span {
        let fast = self.polling.fast_poll.filter(|_| self.expecting > 0);
        fast.unwrap_or(self.polling.poll_interval)
    }

    pub(super) fn is_due(&self, now: Time) -> bool {
        self.due <= now && self.awaits.is_none()
    }

    pub(super) fn begin(&mut self, now: Time) {
        (self.last, self.due) = (now, now + self.interval());
    }

    /// One more of its node waits for an answer, or one less.
    pub(super) fn expect(&mut self, more: bool, now: Time) {
        self.expecting = if more { self.expecting + 1 } else { self.expecting.saturating_sub(1) };
        self.due = match more {
            true => self.due.min(now + self.interval()),
            false => (self.last + self.interval()).max(now),
        };
    }

    /// Its parent has something for it, or nothing more.
    pub(super) fn answered(&mut self, pending: bool, now: Time, wait: Span) {
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
    pub(super) fn miss(&mut self, next: Time) {
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
    pub(super) fn keeps_for(&self, child: u32) -> bool {
        self.kept.iter().any(|k| k.queued.to == child)
    }

    /// The packet of which a device in time has asked for a frame.
    pub(super) fn next(&mut self, now: Time) -> Option<Kept> {
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
