//! The peer as a receiver: the data that have arrived, the acknowledgements and the window.

use windlass_tcp::Flags;
use windlass_tcp::segment::MAX_SACK_BLOCKS;

use crate::script::SegmentSpec;

/// A segment of the stack on its way to the peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    pub(super) spec: SegmentSpec,
    /// Number among the stack's departures, by which its timestamp is named.
    pub(super) number: u32,
    pub(super) marked: bool,
}

/// The receiver's reaction to a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Came {
    Nothing,
    AckNow,
    AckLater,
}

#[derive(Debug)]
pub(super) struct Receive {
    sack: bool,
    dsack: bool,
    /// Next byte that is expected, counted as in a script.
    next: i64,
    /// Ranges that have arrived beyond a gap, the latest first.
    beyond: Vec<(i64, i64)>,
    /// A range that has arrived twice and is not reported yet.
    twice: Option<(i64, i64)>,
    /// Size of the window while the application reads.
    size: u64,
    /// First byte beyond the advertised window.
    edge: i64,
    stalled: bool,
    unacknowledged: u32,
    /// The FIN's number.
    fin: Option<i64>,
    /// Number up to which acknowledgements have been sent.
    acknowledged: i64,
    /// The departure whose timestamp is echoed (RFC 7323 section 4.3).
    recent: Option<u32>,
    /// True after a mark has arrived, until a CWR arrives.
    marked: bool,
}

impl Receive {
    pub(super) fn new(size: u64, sack: bool, dsack: bool) -> Receive {
        Receive {
            sack,
            dsack: sack && dsack,
            next: 0,
            beyond: Vec::new(),
            twice: None,
            size,
            edge: 0,
            stalled: false,
            unacknowledged: 0,
            fin: None,
            acknowledged: 0,
            recent: None,
            marked: false,
        }
    }

    pub(super) fn greet(&mut self, arrival: &Arrival) {
        self.next = self.next.max(1);
        self.acknowledged = self.next;
        self.recent = Some(arrival.number);
        self.edge = self.edge.max(1 + self.size as i64);
    }

    pub(super) fn next(&self) -> i64 {
        self.next
    }

    pub(super) fn echo(&self) -> Option<u32> {
        self.recent
    }

    pub(super) fn echoes(&self) -> bool {
        self.marked
    }

    pub(super) fn owes(&self) -> bool {
        self.unacknowledged > 0
    }

    /// A segment arrives; `every` segments in order are acknowledged together.
    pub(super) fn take(&mut self, arrival: &Arrival, every: u32) -> Came {
        let spec = &arrival.spec;
        let fin = spec.flags.has(Flags::FIN);
        let left = spec.seq.unwrap_or(0);
        let right = left + i64::from(spec.len) + i64::from(fin);
        if left == right {
            // A probe precedes the expected data; a bare acknowledgement does not.
            return if left < self.next { Came::AckNow } else { Came::Nothing };
        }
        if spec.flags.has(Flags::CWR) {
            self.marked = false;
        }
        self.marked |= arrival.marked;
        if left <= self.acknowledged {
            self.recent = Some(arrival.number);
        }
        if right <= self.next || self.beyond.iter().any(|b| b.0 <= left && right <= b.1) {
            self.twice = Some((left, right)).filter(|_| self.dsack);
            return Came::AckNow;
        }
        if left >= self.edge && !(fin && spec.len == 0) {
            return Came::AckNow;
        }
        if fin {
            self.fin = Some(right);
        }
        if left > self.next {
            self.keep(left, right);
            return Came::AckNow;
        }
        let filled = !self.beyond.is_empty();
        self.next = right;
        while let Some(i) = self.beyond.iter().position(|b| b.0 <= self.next) {
            self.next = self.next.max(self.beyond.remove(i).1);
        }
        self.unacknowledged += 1;
        let at_end = self.fin.is_some_and(|fin| fin <= self.next);
        let now = filled || at_end || self.unacknowledged >= every;
        if now { Came::AckNow } else { Came::AckLater }
    }

    /// Keeps a range beyond the gap, and joins it with the ranges that it touches.
    fn keep(&mut self, mut left: i64, mut right: i64) {
        self.beyond.retain(|b| {
            let apart = b.1 < left || right < b.0;
            if !apart {
                (left, right) = (left.min(b.0), right.max(b.1));
            }
            apart
        });
        self.beyond.insert(0, (left, right));
    }

    /// SACK blocks of an acknowledgement that is sent now.
    pub(super) fn blocks(&mut self) -> Vec<(i64, i64)> {
        if !self.sack {
            return Vec::new();
        }
        let twice = self.twice.take();
        twice.into_iter().chain(self.beyond.iter().copied()).take(MAX_SACK_BLOCKS).collect()
    }

    /// The window now, in whole multiples of `granule`.
    pub(super) fn window(&self, granule: u64) -> u64 {
        let open = if self.stalled { self.edge - self.next } else { self.size as i64 };
        let most = 0xffff * granule;
        (open.max(0) as u64).min(most) / granule * granule
    }

    /// Records that an acknowledgement is sent. Returns the window in it.
    pub(super) fn acknowledged(&mut self, granule: u64) -> u64 {
        let window = self.window(granule);
        self.edge = self.edge.max(self.next + window as i64);
        self.unacknowledged = 0;
        self.acknowledged = self.next;
        window
    }

    /// The application stops reading.
    pub(super) fn stall(&mut self) {
        self.stalled = true;
    }

    /// The application resumes reading. Returns true if the window grows as a result.
    pub(super) fn reopen(&mut self) -> bool {
        let had = self.stalled.then_some(self.edge - self.next);
        self.stalled = false;
        had.is_some_and(|had| had < self.size as i64)
    }
}
