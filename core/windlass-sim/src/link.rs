//! One direction of a link: queue, serialiser, constant-delay pipe.
//!
//! A drop-tail FIFO determines a packet's departure on its arrival, so that no "transmission done"
//! event exists. A packet costs one event per hop. A link has one pending event, regardless of the
//! number of packets in its pipe.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};
use windlass_tcp::ring;

use crate::loss::Errors;
use crate::packet::PacketHandle;
use crate::schedule::Schedule;
use crate::utilisation::UtilisationMeter;

/// Limit of the packets that wait for transmission, without the packet in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Maximum number of packets.
    Packets(u64),
    /// Maximum number of bytes of IP packets.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

impl QueueLimit {
    /// True if a packet of `size` bytes fits into a queue with `packets` and `bytes`.
    pub(crate) fn has_room(self, packets: u64, bytes: u64, size: u64) -> bool {
        match self {
            QueueLimit::Packets(n) => packets < n,
            QueueLimit::Bytes(n) => bytes + size <= n,
            QueueLimit::Unlimited => true,
        }
    }
}

/// Bytes that the link layer adds to IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Framing {
    /// Header and check sequence: part of the frame, so bit errors in them count.
    pub frame_bytes: u32,
    /// Minimum size of a frame; smaller frames are padded.
    pub min_frame_bytes: u32,
    /// Preamble and gap. They take time on the wire, but are not part of the frame.
    pub gap_bytes: u32,
}

impl Framing {
    /// Ethernet: 14 bytes of header and 4 bytes of check sequence, with a minimum of 64 bytes; 8
    /// bytes of preamble and 12 bytes of gap.
    pub const ETHERNET: Framing = Framing { frame_bytes: 18, min_frame_bytes: 64, gap_bytes: 20 };
    /// PPP as ns-3 models it: 2 bytes of protocol number.
    pub const PPP: Framing = Framing { frame_bytes: 2, min_frame_bytes: 0, gap_bytes: 0 };
    /// No framing: the frame is the IP packet.
    pub const NONE: Framing = Framing { frame_bytes: 0, min_frame_bytes: 0, gap_bytes: 0 };
    /// Every framing with its name in scenarios.
    pub const ALL: [(&'static str, Framing); 3] =
        [("none", Framing::NONE), ("ethernet", Framing::ETHERNET), ("ppp", Framing::PPP)];

    /// Size of the frame around an IP packet of this size, bytes.
    pub fn frame_len(self, ip_len: u32) -> u32 {
        (ip_len + self.frame_bytes).max(self.min_frame_bytes)
    }
}

/// A packet in a link, with its arrival time at the far end.
#[derive(Clone, Copy, Debug)]
struct Transit {
    arrives: Time,
    handle: PacketHandle,
    lost: bool,
}

/// Totals of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Packets handed to the link.
    pub offered: u64,
    /// Packets that arrived at the far end.
    pub delivered: u64,
    /// Packets that the queue dropped.
    pub dropped_queue: u64,
    /// Packets that the error model lost, or that were transmitted during an outage.
    pub dropped_error: u64,
    /// IP bytes accepted, including bytes that still wait.
    pub bytes: u64,
    /// Time spent transmitting, nanoseconds.
    pub busy_ns: u64,
    /// Sum of the queueing delays before transmission, nanoseconds.
    pub waited_ns: u64,
    /// Maximum number of packets that waited at the same time.
    pub max_waiting: u64,
}

/// Result of handing a packet to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// The queue was full.
    Dropped,
    /// Accepted. `starts` is the start of its transmission. `wake` is the time of the link's
    /// pending event, if the event is not scheduled yet.
    Accepted {
        /// Start of transmission.
        starts: Time,
        /// Event to schedule.
        wake: Option<Time>,
    },
}

/// Properties of few links. Other links skip them with one test.
#[derive(Clone, Debug, Default)]
struct Extras {
    errors: Option<Errors>,
    meter: Option<UtilisationMeter>,
    schedule: Option<Schedule>,
}

impl Extras {
    /// Records the next frame, which arrives at `now` and is transmitted from the first to the
    /// second time. Returns true if the frame is lost.
    fn take(&mut self, now: Time, frame_bytes: u32, [starts, ends]: [Time; 2]) -> bool {
        if let Some(meter) = &mut self.meter {
            meter.note(now, starts, ends);
        }
        self.errors.as_mut().is_some_and(|errors| errors.take(frame_bytes, starts, ends))
    }
}

/// One direction of a link. Fields in use together are adjacent. With thousands of links they are not in the cache, and
/// a packet that need not wait touches three of the four lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// Packets in the link. The last `waiting` packets waited at the last update.
    pipe: VecDeque<Transit>,
    waiting: u64,
    busy_until: Time,
    delay: Span,
    extras: Option<Box<Extras>>,

    /// Totals.
    pub counters: LinkCounters,

    rate_bps: u64,
    /// The last packet size, its transmission time rounded up, and the rounding difference in units
    /// of 1/`rate_bps` ns. Most packets have the same size.
    last_tx: (u32, Span, u64),
    /// Accumulated rounding difference of `busy_until`, in the same units. When it reaches a
    /// nanosecond, the next frame takes a nanosecond less.
    rounded_up: u64,
    waiting_bytes: u64,
    /// Start of the transmission of the first of the `waiting` packets, if there are any.
    first_starts: Time,

    /// Arrival times of packets that had to wait. The last entries belong to the `waiting` packets.
    came: VecDeque<Time>,
    limit: QueueLimit,
    framing: Framing,
}

impl Link {
    /// An idle link of `rate_bps` bits per second.
    pub fn new(
        rate_bps: u64,
        delay: Span,
        limit: QueueLimit,
        framing: Framing,
        errors: Option<Errors>,
    ) -> Link {
        Link {
            busy_until: Time::ZERO,
            delay,
            last_tx: (0, Span::ZERO, 0),
            rounded_up: 0,
            pipe: VecDeque::new(),
            waiting: 0,
            waiting_bytes: 0,
            first_starts: Time::ZERO,
            came: VecDeque::new(),
            limit,
            extras: errors
                .map(|errors| Box::new(Extras { errors: Some(errors), ..Extras::default() })),
            rate_bps: rate_bps.max(1),
            framing,
            counters: LinkCounters::default(),
        }
    }

    /// Starts to measure the utilisation of the link, by intervals of this length.
    pub(crate) fn measure(&mut self, interval: Span) {
        self.extras.get_or_insert_default().meter = Some(UtilisationMeter::new(interval));
    }

    /// Sets the schedule that determines the rate of the link.
    pub(crate) fn follow(&mut self, schedule: Schedule) {
        self.extras.get_or_insert_default().schedule = Some(schedule);
    }

    /// The utilisation meter, if the link is measured.
    pub(crate) fn meter(&self) -> Option<&UtilisationMeter> {
        self.extras.as_ref()?.meter.as_ref()
    }

    /// Time on the wire of an IP packet of this size, rounded up to a nanosecond.
    pub fn transmission_time(&self, ip_len: u32) -> Span {
        Span(self.work(ip_len).div_ceil(self.rate_bps))
    }

    /// Time on the wire without rounding, in units of 1/`rate_bps` ns.
    fn work(&self, ip_len: u32) -> u64 {
        let bits = 8 * u64::from(self.framing.frame_len(ip_len) + self.framing.gap_bytes);
        bits * 1_000_000_000
    }

    /// Transmission time of the next frame, which follows the previous frame directly or arrives at
    /// an idle transmitter. The total time of back-to-back frames is the time of their total bits,
    /// rounded up once.
    #[inline]
    fn next_transmission(&mut self, starts: Time, size: u32) -> Span {
        if size != self.last_tx.0 {
            // The sizes always differ on a link with a schedule, so that other links have no
            // additional cost.
            if let Some(time) = self.scheduled(starts, size) {
                return time;
            }
            let time = self.transmission_time(size);
            self.last_tx = (size, time, time.0 * self.rate_bps - self.work(size));
        }
        let (_, time, rounded_up) = self.last_tx;
        self.rounded_up += rounded_up;
        if self.rounded_up < self.rate_bps {
            return time;
        }
        self.rounded_up -= self.rate_bps;
        Span(time.0 - 1)
    }

    #[cold]
    fn scheduled(&mut self, starts: Time, size: u32) -> Option<Span> {
        let on_the_wire = self.framing.frame_len(size) + self.framing.gap_bytes;
        let schedule = self.extras.as_mut()?.schedule.as_mut()?;
        Some(schedule.finish(starts, 8 * u64::from(on_the_wire), size).since(starts))
    }

    /// Start of transmission of a packet that had to wait, by its index in the pipe.
    fn starts_at(&self, place: usize) -> Time {
        match place.checked_sub(1) {
            Some(before) => Time(self.pipe[before].arrives.0 - self.delay.0),
            None => Time::ZERO,
        }
    }

    /// Propagation delay.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Packets that wait for their transmission at `now`.
    pub fn waiting_at(&self, now: Time) -> u64 {
        self.waiting_after(now).count() as u64
    }

    /// The packets that waited at the last refusal, without the first `known`.
    pub(crate) fn refused_for(&self, known: usize) -> impl Iterator<Item = PacketHandle> {
        let first = self.pipe.len() - self.waiting as usize + known;
        self.pipe.range(first..).map(|transit| transit.handle)
    }

    /// Number of packets that were not refused.
    pub(crate) fn accepted(&self) -> u64 {
        self.counters.offered - self.counters.dropped_queue
    }

    /// Number of the packets that waited at the last refusal, and their IP bytes.
    pub(crate) fn refused_at(&self) -> (u64, u64) {
        (self.waiting, self.waiting_bytes)
    }

    /// Packets inside, waiting or on the wire.
    pub fn inside(&self) -> u64 {
        self.pipe.len() as u64
    }

    /// Time at which the transmitter becomes or became idle.
    pub(crate) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Hands a packet to the link.
    // Without this attribute the compiler does not inline the function, because it has two callers.
    // That takes 4 % more instructions for a whole run.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, handle: PacketHandle) -> Offer {
        self.counters.offered += 1;
        let size = handle.size;
        let starts = if self.busy_until > now {
            if !self.make_room(now, size) {
                self.counters.dropped_queue += 1;
                return Offer::Dropped;
            }
            self.busy_until
        } else {
            // The transmission of all waiting packets has begun.
            self.waiting = 0;
            self.waiting_bytes = 0;
            if self.busy_until < now {
                self.rounded_up = 0;
            }
            now
        };
        let transmission = self.next_transmission(starts, size);
        self.counters.bytes += u64::from(size);
        self.counters.busy_ns += transmission.0;
        self.counters.waited_ns += starts.since(now).0;
        self.busy_until = starts + transmission;
        let arrives = self.busy_until + self.delay;
        let lost = match &mut self.extras {
            Some(extras) => {
                extras.take(now, self.framing.frame_len(size), [starts, self.busy_until])
            }
            None => false,
        };
        let wake = self.pipe.is_empty().then_some(arrives);
        ring::push(&mut self.pipe, Transit { arrives, handle, lost });
        Offer::Accepted { starts, wake }
    }

    /// Removes packets whose transmission has begun from the waiting packets. Returns true if one
    /// more packet may wait.
    fn make_room(&mut self, now: Time, size: u32) -> bool {
        while self.waiting > 0 && self.first_starts <= now {
            let begun = self.pipe[self.pipe.len() - self.waiting as usize];
            self.begin(begun);
        }
        let fits = self.limit.has_room(self.waiting, self.waiting_bytes, u64::from(size));
        if fits {
            if self.waiting == 0 {
                self.first_starts = self.busy_until;
            }
            self.waiting += 1;
            self.waiting_bytes += u64::from(size);
            if self.came.len() == self.came.capacity() {
                self.forget_begun();
            }
            self.came.push_back(now);
            self.counters.max_waiting = self.counters.max_waiting.max(self.waiting);
        }
        fits
    }

    /// Removes the first of the `waiting` packets from them. The next packet follows at its departure.
    #[inline(always)]
    fn begin(&mut self, first: Transit) {
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(first.handle.size);
        self.first_starts = Time(first.arrives.0 - self.delay.0);
    }

    /// Makes room in `came` for one more entry. It removes packets whose transmission has begun,
    /// and grows `came` if these are less than a quarter.
    #[cold]
    fn forget_begun(&mut self) {
        let begun = self.came.len() + 1 - self.waiting as usize;
        self.came.drain(..begun);
        if 4 * begun <= self.came.capacity() {
            ring::reserve(&mut self.came);
        }
    }

    /// Handles the pending event: returns the first packet, and true if it is lost.
    #[inline]
    pub fn take_arrival(&mut self) -> Option<(PacketHandle, bool)> {
        let transit = self.pipe.pop_front()?;
        if self.pipe.is_empty() {
            // The ring restarts at its first slot, which is in the cache. Otherwise it would move
            // through all the memory that its largest burst needed.
            self.pipe.clear();
        }
        if self.waiting > self.pipe.len() as u64 {
            // The packet was the first of the `waiting` packets. The count was not updated since.
            self.begin(transit);
        }
        if transit.lost {
            self.counters.dropped_error += 1;
        } else {
            self.counters.delivered += 1;
        }
        Some((transit.handle, transit.lost))
    }

    /// Arrival time of the next packet at the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.pipe.front().map(|t| t.arrives)
    }

    /// Time spent transmitting up to `now`, without later transmissions.
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        self.counters.busy_ns.saturating_sub(self.busy_until.since(now).0)
    }

    /// Time that packets spent waiting up to `now`, without later waits.
    pub fn waited_ns_by(&self, now: Time) -> u64 {
        let ahead = self.waiting_after(now).map(|(starts, _)| starts.since(now).0).sum();
        self.counters.waited_ns.saturating_sub(ahead)
    }

    /// Packets whose transmission had begun by `now`, and the sum of their queueing delays,
    /// nanoseconds.
    pub fn begun_by(&self, now: Time) -> (u64, u64) {
        let waits = self.waiting_after(now).map(|(starts, came)| (1, starts.since(came).0));
        let (packets, waits) = waits.fold((0, 0), |(n, sum), (one, ns)| (n + one, sum + ns));
        (self.accepted() - packets, self.counters.waited_ns.saturating_sub(waits))
    }

    /// Start of transmission and arrival time of each packet that waits at `now`.
    fn waiting_after(&self, now: Time) -> impl Iterator<Item = (Time, Time)> {
        let n = self.waiting as usize;
        let starts = (self.pipe.len() - n..self.pipe.len()).map(|i| self.starts_at(i));
        let came = self.came.range(self.came.len() - n..);
        starts.zip(came.copied()).filter(move |(starts, _)| *starts > now)
    }

    /// True if all packets handed to the link are accounted for.
    pub fn conserves_packets(&self) -> bool {
        let c = &self.counters;
        c.offered == c.delivered + c.dropped_queue + c.dropped_error + self.inside()
    }
}
