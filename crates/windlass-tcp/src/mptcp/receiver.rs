//! What arrives, at the level of the connection: reassembly under one receive buffer for all
//! subflows, and the window that it leaves (RFC 8684 sections 3.3.2 to 3.3.5).
//!
//! Offsets count from the initial data sequence number, which MP_CAPABLE takes: the first byte of
//! the stream has offset 1, and DATA_FIN the one after the last byte.

use crate::reassembly::Ranges;

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The next byte that is missing.
    next: u64,
    /// One past the last byte that the application has read.
    read: u64,
    /// Where the stream ends, once the peer has said so.
    end: Option<u64>,
    ranges: Ranges,
    /// Bytes in `ranges`.
    waiting: u64,
    buffer: u64,
    /// Right edge of the window that was offered last.
    offered: u64,
}

impl Receiver {
    pub(super) fn new(buffer: u64) -> Receiver {
        Receiver {
            next: 1,
            read: 1,
            end: None,
            ranges: Ranges::default(),
            waiting: 0,
            buffer,
            offered: 1 + buffer.min(0xffff),
        }
    }

    /// One past the last byte that the buffer has room for.
    fn limit(&self) -> u64 {
        self.read.saturating_add(self.buffer)
    }

    /// Bytes `start..end` arrive. What lies beyond the buffer has no room and is not kept: an
    /// honest peer sends nothing there. Returns how many had arrived before.
    pub(super) fn take(&mut self, start: u64, end: u64) -> u64 {
        let end = end.min(self.limit()).min(self.end.unwrap_or(u64::MAX));
        if start >= end {
            return 0;
        }
        let from = start.max(self.next);
        if from >= end {
            return end - start;
        }
        self.ranges.insert(from, end);
        let held = self.ranges.bytes();
        let fresh = held - self.waiting;
        self.next = self.ranges.advance(self.next);
        self.waiting = self.ranges.bytes();
        (end - start).saturating_sub(fresh)
    }

    /// The peer's stream ends before this offset. Only the first word on it counts, and none that
    /// would take back what has arrived.
    pub(super) fn end_at(&mut self, end: u64) {
        if end >= self.next {
            self.end.get_or_insert(end);
        }
    }

    /// The next offset expected, a DATA_FIN that has been reached being behind it.
    pub(super) fn acknowledgement(&self) -> u64 {
        self.next + u64::from(self.has_ended())
    }

    /// Whether everything up to the end of the stream has arrived.
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some_and(|end| self.next >= end)
    }

    /// Data bytes received in order.
    pub(super) fn received(&self) -> u64 {
        self.next - 1
    }

    pub(super) fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Bytes that wait for earlier ones.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    pub(super) fn read(&mut self, max: u64) -> u64 {
        let n = self.readable().min(max);
        self.read += n;
        n
    }

    /// The window to tell, bytes from the acknowledgement on, at most `most`. Its right edge moves
    /// by worthwhile steps only, as RFC 1122 section 4.2.3.3 asks.
    pub(super) fn window(&self, mss: u64, most: u64) -> u64 {
        let edge = (self.next + most).min(self.limit());
        let step = mss.min(self.buffer / 2).max(1);
        let edge = if edge >= self.offered + step { edge } else { self.offered };
        edge.saturating_sub(self.next)
    }

    /// A segment with this window leaves.
    pub(super) fn note_offer(&mut self, window: u64) {
        self.offered = self.offered.max(self.next + window);
    }

    /// Whether the application has read enough since the last offer for the peer to be told at
    /// once: two segments or half the buffer, as for a plain connection.
    pub(super) fn update_is_due(&self, mss: u64, most: u64) -> bool {
        let step = (2 * mss).min(self.buffer / 2).max(1);
        let edge = (self.next + most).min(self.limit());
        edge >= self.offered + step && !self.has_ended()
    }
}
