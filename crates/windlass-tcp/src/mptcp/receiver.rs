//! Reception at the level of the connection: reassembly in one receive buffer for all subflows, and the
//! resulting window (RFC 8684 sections 3.3.2 to 3.3.5).
//!
//! Offsets count from the initial data sequence number, which MP_CAPABLE occupies. The first byte of the
//! stream has offset 1, and DATA_FIN has the offset after the last byte.

use crate::reassembly::Ranges;

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The next missing byte.
    next: u64,
    /// One past the last byte that the application has read.
    read: u64,
    /// End of the stream, if the peer has announced it.
    end: Option<u64>,
    ranges: Ranges,
    /// Bytes in `ranges`.
    waiting: u64,
    buffer: u64,
    /// Right edge of the last offered window.
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

    /// One past the last byte for which the buffer has space.
    fn limit(&self) -> u64 {
        self.read.saturating_add(self.buffer)
    }

    /// Takes the bytes `start..end`. Bytes beyond the buffer are dropped; a correct peer does not send any.
    /// Returns the number of bytes that had arrived before.
    // RFC 8684-3.3.1-2
    pub(super) fn take(&mut self, start: u64, end: u64) -> u64 {
        // RFC 8684-3.3.4-2
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

    /// Sets the end of the peer's stream before this offset. Only the first valid announcement counts. An end
    /// below received data is ignored.
    pub(super) fn end_at(&mut self, end: u64) {
        if end >= self.next {
            self.end.get_or_insert(end);
        }
    }

    /// The next expected offset, after the DATA_FIN if the stream has ended.
    pub(super) fn acknowledgement(&self) -> u64 {
        self.next + u64::from(self.has_ended())
    }

    /// True if everything up to the end of the stream has arrived.
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

    /// Bytes that wait for earlier bytes.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    pub(super) fn read(&mut self, max: u64) -> u64 {
        let n = self.readable().min(max);
        self.read += n;
        n
    }

    /// The window to announce, bytes from the acknowledgement on, at most `most`. Its right edge advances
    /// only by sufficiently large steps, as RFC 1122 section 4.2.3.3 requires.
    // RFC 8684-3.3.4-1
    pub(super) fn window(&self, mss: u64, most: u64) -> u64 {
        let edge = (self.next + most).min(self.limit());
        let step = mss.min(self.buffer / 2).max(1);
        let edge = if edge >= self.offered + step { edge } else { self.offered };
        edge.saturating_sub(self.next)
    }

    /// Notes that a segment with this window is sent.
    pub(super) fn note_offer(&mut self, window: u64) {
        self.offered = self.offered.max(self.next + window);
    }

    /// True if the application has read enough since the last offer for an immediate window update: two
    /// segments or half the buffer, as for a plain connection.
    pub(super) fn update_is_due(&self, mss: u64, most: u64) -> bool {
        let step = (2 * mss).min(self.buffer / 2).max(1);
        let edge = (self.next + most).min(self.limit());
        edge >= self.offered + step && !self.has_ended()
    }
}
