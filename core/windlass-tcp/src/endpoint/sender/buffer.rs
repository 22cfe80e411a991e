//! The send buffer. By Linux's rules its limit is memory, it grows with cwnd, and data that end a write are pushed.

use std::collections::VecDeque;

use windlass_cc::Flavour;

use crate::endpoint::{Endpoint, Profile};

/// The kernel's memory for a segment that waits for its acknowledgement, in addition to the payload, bytes: 256
/// for the descriptor and 640 for the headers. With segmentation offload, larger pieces share it.
const SEGMENT_OVERHEAD: u64 = 896;
/// `tcp_sndbuf_expand`: memory that the kernel assumes for a segment. The payload and `ASSUMED_HEADERS` are rounded
/// up to a power of two, and the descriptor follows.
const ASSUMED_HEADERS: u64 = 256 + 320;
const DESCRIPTOR: u64 = 256;
/// `TCP_INIT_CWND`: the minimum cwnd for which the buffer has room, segments.
const LEAST_CWND: u64 = 10;

/// Maximum payload in the send buffer, in segments of `mss` bytes.
pub(in crate::endpoint) fn most_sent(p: &Profile, mss: u32) -> u64 {
    match p.stack.rules {
        Flavour::Linux => room(p.stack.send_buffer, u64::from(mss)),
        _ => p.stack.send_buffer,
    }
}

/// Payload of segments for which `memory` is enough. Each segment takes memory in addition to its payload, and the
/// last segment may exceed the buffer.
fn room(memory: u64, mss: u64) -> u64 {
    memory.div_ceil(mss + SEGMENT_OVERHEAD) * mss
}

/// State of the send buffer.
#[derive(Clone, Debug)]
pub(in crate::endpoint) struct SendBuffer {
    /// Payload for which the buffer has room, bytes.
    capacity: u64,
    /// Payload up to which a buffer that was full counts as full, bytes.
    low: u64,
    /// Offset up to which the application may write.
    writable: u64,
    /// Acknowledged offset, merged segments included, from which on it may write again into a full buffer. Zero
    /// if the buffer is not full.
    refill: u64,
    /// The buffer grows when cwnd exceeds this, bytes.
    outgrown: u64,
    /// Offsets at which the application found the buffer full, and whose segments were not sent yet.
    ends: VecDeque<u64>,
    /// End of the last pushed segment (`pushed_seq`).
    pushed: u64,
}

impl SendBuffer {
    /// A buffer with room for `capacity` bytes.
    pub(super) fn new(capacity: u64) -> SendBuffer {
        SendBuffer {
            capacity,
            low: capacity - capacity / 3,
            writable: 0,
            refill: 0,
            outgrown: u64::MAX,
            ends: VecDeque::new(),
            pushed: 0,
        }
    }

    /// Provides memory for `factor` times `cwnd` bytes, at most the stack's buffer (`tcp_sndbuf_expand`).
    fn grow(&mut self, p: &Profile, mss: u64, cwnd: u64, factor: u64) {
        let segments = (cwnd / mss).max(LEAST_CWND);
        let assumed = (mss + ASSUMED_HEADERS).next_power_of_two() + DESCRIPTOR;
        let memory = (factor * segments * assumed).max(p.stack.initial_send_buffer);
        let memory = memory.min(p.stack.send_buffer);
        self.capacity = self.capacity.max(room(memory, mss));
        // `sk_stream_is_writeable`: half of the used memory is free.
        self.low = self.low.max(2 * memory / 3 / (mss + SEGMENT_OVERHEAD) * mss);
        let limited = memory >= p.stack.send_buffer;
        self.outgrown = if limited { u64::MAX } else { cwnd.max(segments * mss) };
    }

    /// The application, whose data end at `end`, writes after `start`, up to which the memory is free. By Linux's
    /// rules a full buffer takes no data until a third of it is free (`sk_stream_write_space`). `pushes` is true if the
    /// end of the full buffer is pushed.
    fn write(&mut self, linux: bool, pushes: bool, start: u64, end: u64) {
        if self.refill > 0 {
            self.refill = self.writable.saturating_sub(self.low).max(1);
        }
        if start < self.refill {
            return;
        }
        self.writable = start + self.capacity;
        let full = linux && end >= self.writable;
        self.refill = 0;
        if full {
            self.refill = self.writable.saturating_sub(self.low).max(1);
            self.ends.extend(pushes.then_some(self.writable));
        }
    }

    /// True if a new segment that ends at `end` has PSH: it fills the buffer, or half of the peer's largest window
    /// has no PSH (`forced_push`).
    fn pushes(&mut self, end: u64, largest_window: u64) -> bool {
        let fills = self.ends.front().is_some_and(|full| *full <= end);
        if fills {
            self.ends.pop_front();
        }
        let pushes = fills || end > self.pushed + largest_window / 2;
        if pushes {
            self.pushed = end;
        }
        pushes
    }
}

impl Endpoint {
    /// Sets the size of the send buffer when the segment size is known. By Linux's rules it begins with
    /// [`initial_send_buffer`](crate::StackConfig::initial_send_buffer), and at least with room for the initial window
    /// (`tcp_init_buffer_space`), unless a layer above limits the data.
    pub(in crate::endpoint) fn open_buffer(&mut self, p: &Profile) {
        if p.stack.rules == Flavour::Linux && !self.layer.on {
            self.send.buffer = SendBuffer::new(0);
            let cwnd = p.stack.initial_window.bytes(self.agreed.mss);
            self.grow_buffer(p, cwnd);
        }
    }

    fn grow_buffer(&mut self, p: &Profile, cwnd: u64) {
        // `bbr_sndbuf_expand`: three times cwnd.
        let factor = if self.send.samples { 3 } else { 2 };
        self.send.buffer.grow(p, u64::from(self.agreed.mss), cwnd, factor);
    }

    /// One past the last byte that the application has written into the send buffer.
    #[inline]
    pub(in crate::endpoint) fn buffered(&mut self, p: &Profile) -> u64 {
        let (send, end) = (&self.send, self.stream.end);
        let buffer = &send.buffer;
        if end >= buffer.writable
            && (send.una + send.scoreboard.sacked() >= buffer.refill
                || self.control.cwnd > buffer.outgrown)
        {
            self.fill_buffer(p);
        }
        end.min(self.send.buffer.writable)
    }

    /// The application writes into the send buffer. While it waits for space, the buffer grows.
    fn fill_buffer(&mut self, p: &Profile) {
        let linux = p.stack.rules == Flavour::Linux;
        let start = self.send.una + if linux { self.merged() } else { 0 };
        if self.send.buffer.refill > 0 && self.control.cwnd > self.send.buffer.outgrown {
            self.grow_buffer(p, self.control.cwnd);
        }
        self.send.buffer.write(linux, linux && !self.layer.on, start, self.stream.end);
    }

    /// True if a new segment that ends at `end` has PSH by Linux's rules, although the application has more data.
    #[inline]
    pub(super) fn pushes(&mut self, p: &Profile, end: u64) -> bool {
        let linux = p.stack.rules == Flavour::Linux && !self.layer.on;
        linux && self.send.buffer.pushes(end, self.send.max_wnd)
    }

    /// Payload in full segments for which the send buffer has room because segments that SACK reports share
    /// their memory (`tcp_shift_skb_data`), bytes.
    fn merged(&self) -> u64 {
        let segment = u64::from(self.send.segment);
        match self.send.scoreboard.sacked() {
            sacked if self.send.selective && sacked > 0 => {
                sacked * SEGMENT_OVERHEAD / (segment + SEGMENT_OVERHEAD) / segment * segment
            }
            _ => 0,
        }
    }
}
