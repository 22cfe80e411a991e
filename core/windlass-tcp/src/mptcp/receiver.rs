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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_bytes_are_counted_and_bytes_beyond_the_buffer_are_dropped() {
        let mut r = Receiver::new(1_000);
        assert_eq!(r.take(101, 201), 0);
        assert_eq!((r.received(), r.waiting(), r.readable()), (0, 100, 0));
        assert_eq!(r.take(51, 151), 50, "the second half is known");
        assert_eq!(r.take(1, 51), 0);
        assert_eq!((r.received(), r.waiting(), r.acknowledgement()), (200, 0, 201));
        assert_eq!(r.take(1, 201), 200);
        assert_eq!(r.take(151, 301), 50);
        assert_eq!(r.take(901, 1_101), 0);
        assert_eq!(r.waiting(), 100, "the buffer ends at 1 000 bytes");
        assert_eq!(r.take(1_001, 1_101), 0);
        assert_eq!((r.waiting(), r.received()), (100, 300));
        assert_eq!((r.read(120), r.readable()), (120, 180));
        assert_eq!(r.take(1_001, 1_200), 0);
        assert_eq!(r.waiting(), 220, "120 bytes were read");
    }

    // RFC 8684-3.3.3-1
    #[test]
    fn only_the_first_valid_end_of_the_stream_counts() {
        let mut r = Receiver::new(1_000);
        r.take(1, 101);
        r.end_at(100);
        assert!(!r.has_ended(), "below received data");
        r.end_at(201);
        r.end_at(151);
        assert_eq!(r.take(151, 251), 0);
        assert_eq!((r.has_ended(), r.waiting()), (false, 50));
        r.take(101, 151);
        assert_eq!((r.has_ended(), r.received(), r.acknowledgement()), (true, 200, 202));
        let mut empty = Receiver::new(1_000);
        empty.end_at(1);
        assert_eq!((empty.has_ended(), empty.acknowledgement()), (true, 2));
    }

    /// RFC 1122 section 4.2.3.3: the edge moves by the smaller of a segment and half the buffer.
    // RFC 8684-3.3.4-1
    #[test]
    fn window_advances_by_a_segment_or_half_the_buffer() {
        for (mss, step) in [(200, 200), (800, 500)] {
            let mut r = Receiver::new(1_000);
            assert_eq!(r.window(mss, 5_000), 1_000);
            r.note_offer(1_000);
            r.take(1, 1_001);
            assert_eq!(r.window(mss, 5_000), 0);
            r.read(step - 1);
            assert_eq!(r.window(mss, 5_000), 0);
            r.read(1);
            assert_eq!(r.window(mss, 5_000), step);
            assert_eq!(r.window(mss, 100), 0, "the largest window that a header can have");
            r.note_offer(step);
            assert_eq!(r.window(mss, 5_000), step, "offered before");
        }
    }

    #[test]
    fn window_update_is_due_after_two_segments_or_half_the_buffer() {
        for (mss, step) in [(200, 400), (300, 500), (800, 500)] {
            let mut r = Receiver::new(1_000);
            r.note_offer(1_000);
            r.take(1, 1_001);
            r.read(step - 1);
            assert!(!r.update_is_due(mss, 5_000));
            r.read(1);
            assert!(r.update_is_due(mss, 5_000) && !r.update_is_due(mss, step - 1));
            r.end_at(1_001);
            assert!(!r.update_is_due(mss, 5_000), "nothing more arrives");
        }
    }
}
