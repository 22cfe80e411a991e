//! End devices of IEEE 802.15.4 that sleep, and the parents that keep packets for them: indirect transmission
//! (IEEE 802.15.4-2015 section 6.7.3) in a network without beacons.
//!
//! A device sleeps unless it sends, polls its parent, or waits for a frame of its parent. It polls with a
//! data request, a MAC command that contends for the channel like any frame. The acknowledgement announces a
//! kept frame; then the device stays awake for this frame. If the frame announces another one, the device
//! polls again at once.
//!
//! Points where the standard leaves a choice, or stacks differ from it:
//!
//! * A packet is kept until its device has received it or its attempts are used up. Each of its frames has
//!   one attempt per data request, up to four requests (as in OpenThread). The standard drops a packet after
//!   a time, which would lose the packets of every device that sleeps longer.
//! * Kept packets take room in the station's queue, as in a stack with one pool of buffers.
//! * The frame is sent by CSMA-CA after the acknowledgement. It precedes frames of other packets, except for
//!   a frame that is being sent. If this takes longer than the device waits, the frame is not sent.
//! * After an acknowledgement that announced a frame, the device waits for macMaxFrameTotalWaitTime plus the
//!   preparation time of its parent; then it polls again at once. A failed request is repeated after half a
//!   second. Both have a limit, as in OpenThread; the standard leaves this to the higher layers.
//! * Only a data request is answered with kept frames. Acknowledgements of data announce nothing.
//! * Waking up takes no time and no energy.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use crate::radio::queued::Queued;

/// Minimum and maximum time between two polls.
pub const POLLS: [Span; 2] = [Span::from_millis(1), Span::from_secs(86_400)];
/// Maximum number of data requests with an attempt of the same frame.
pub const MAX_ATTEMPTS: u8 = 4;
/// Number of consecutive unsuccessful requests after which the device waits for its regular interval.
pub const MAX_MISSES: u8 = 5;
/// Maximum delay of the next request after a failed request.
pub const AGAIN: Span = Span::from_millis(500);

/// Sleep schedule of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    /// Time between two data requests.
    pub poll_interval: Span,
    /// Time between two data requests while an application or transport of its node waits for an answer.
    pub fast_poll: Option<Span>,
}

/// Content of the frame that a station sends next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Job {
    /// The first packet of its queue.
    #[default]
    Packet,
    /// A data request.
    Request,
    /// A packet kept for a device that has polled. It is at the head of the queue meanwhile.
    Kept,
}

/// Role of a station in indirect transmission.
#[derive(Clone, Debug)]
pub(super) enum Sleep {
    /// The station sleeps.
    Device(Device),
    /// The station keeps packets for sleeping stations.
    Parent(Parent),
}

/// A station that sleeps.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) parent: u32,
    pub(super) polling: Polling,
    /// Number of applications and transports of its node that wait for an answer.
    pub(super) expecting: u32,
    /// Time of the last data request (`last`) and of the next (`due`).
    pub(super) last: Time,
    pub(super) due: Time,
    /// Time until which it waits for an announced frame.
    pub(super) awaits: Option<Time>,
    pub(super) misses: u8,
}

/// A station that keeps packets for others.
#[derive(Clone, Debug, Default)]
pub(super) struct Parent {
    /// Sleeping stations, in ascending order.
    pub(super) children: Vec<u32>,
    pub(super) kept: VecDeque<Kept>,
    /// Stations that have polled for a frame, each with the time until which it waits.
    pub(super) asked: VecDeque<(u32, Time)>,
    /// Number of attempts of the kept frame in transmission.
    pub(super) attempts: u8,
    /// Progress of the packet that the kept frame interrupted.
    pub(super) interrupted: Option<Progress>,
}

/// A kept packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) queued: Queued,
    pub(super) attempts: u8,
    /// `None` before the first attempt of its first frame.
    pub(super) progress: Option<Progress>,
}

/// Progress of a packet in transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) sequence: u64,
    pub(super) part: u8,
    pub(super) tried: bool,
    pub(super) taken: bool,
    pub(super) head_since: Time,
}

impl Device {
    /// Returns a device with this parent that polls first at `due`.
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

    /// One more application or transport of its node waits for an answer, or one fewer.
    pub(super) fn expect(&mut self, more: bool, now: Time) {
        self.expecting = if more { self.expecting + 1 } else { self.expecting.saturating_sub(1) };
        self.due = match more {
            true => self.due.min(now + self.interval()),
            false => (self.last + self.interval()).max(now),
        };
    }

    /// Its parent has acknowledged a data request, and has a frame for the device if `pending` is true.
    pub(super) fn answered(&mut self, pending: bool, now: Time, wait: Span) {
        self.awaits = pending.then_some(now + wait);
        self.misses = if pending { self.misses } else { 0 };
    }

    /// A frame has arrived. It announces another frame if `pending` is true.
    pub(super) fn receive(&mut self, pending: bool, now: Time) {
        (self.awaits, self.misses) = (None, 0);
        if pending {
            self.due = now;
        }
    }

    /// An announced frame did not arrive, or a request failed. The next request is at `next` or earlier.
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

    /// Removes the next packet for a device that has polled and still waits.
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
