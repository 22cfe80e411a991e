//! Receive window autotuning and the acknowledgements that announce the window, as in Linux.

use windlass_cc::{Span, Time};

use super::{Endpoint, Profile};
use crate::segment::{DEFAULT_MSS, Segment};
use crate::stack::StackConfig;

/// Maximum window of a SYN, bytes.
const MOST_IN_SYN: u64 = 65_535;
/// `TCP_DEFAULT_SCALING_RATIO`: payload share of a buffer in 256ths, until a full segment arrives.
const FIRST_RATIO: u64 = 128;
/// The kernel's memory for a packet in addition to its payload, bytes: headers, headroom, and the end of the
/// buffer. The buffer's size is rounded up to a power of two. `BUFFER_OVERHEAD` is the size of the buffer's
/// descriptor.
const PACKET_OVERHEAD: u32 = 40 + 64 + 320;
const BUFFER_OVERHEAD: u32 = 256;
/// Initial window of a sender, segments (`TCP_INIT_CWND`): the data expected in the first RTT.
const FIRST_SPACE: u64 = 10;
/// `tcp_rcv_space_adjust`: segments added to twice the data of an RTT, to allow for small variations.
const CUSHION: u64 = 16;
/// `tcp_event_data_recv`: segments with a smaller payload do not change the window, bytes.
const LEAST_PAYLOAD: u32 = 128;

/// `tcp_comp_sack_nr`: maximum number of reports of data beyond a hole that wait for the next report.
const MOST_COMPRESSED: u32 = 44;
/// Number of reports of a hole that are sent at once, so that the sender detects the loss
/// (`TCP_FASTRETRANS_THRESH`).
const FIRST_REPORTS: u32 = 3;
/// `tcp_comp_sack_delay_ns`: maximum delay of later reports; the delay is a twentieth of an RTT if that is
/// shorter.
const COMPRESSION: Span = Span::from_millis(1);
/// `tcp_comp_sack_slack_ns`: additional delay of the kernel's timer.
const COMPRESSION_SLACK: Span = Span::from_micros(100);

/// State of receive window autotuning and of compressed acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Autotune {
    /// Length of the longest segment so far, bytes.
    segment: u32,
    /// Memory of the buffer, bytes (`sk_rcvbuf`), and the share of it that is payload, in 256ths
    /// (`scaling_ratio`).
    buffer: u64,
    ratio: u64,
    /// Maximum window to offer now (`rcv_ssthresh`); zero before the first data.
    window: u64,
    /// Payload for which the buffer has memory, bytes (`tcp_full_space`).
    room: u64,
    /// Limit of `window` (`window_clamp`). At first, one segment of the buffer stays free.
    limit: u64,
    /// Maximum number of bytes that the application has read within an RTT (`rcvq_space.space`).
    space: u64,
    /// Start of the current RTT: stream offset and time.
    start: u64,
    since: Time,
    /// Eight times the RTT that the echo of this end's timestamps measures.
    rtt_8: Span,
    /// Without timestamps: stream offset whose arrival ends the current RTT, and the start time of that RTT.
    rtt_end: u64,
    rtt_since: Time,
    /// Timestamp of this end that was echoed last. Each timestamp gives one sample.
    echo: u32,
    /// Stream offset of the reported hole (`compressed_ack_rcv_nxt`).
    hole: u64,
    /// Number of its reports that were sent at once (`dup_ack_counter`).
    reports: u32,
    /// Number of reports that wait for the next report (`compressed_ack`).
    compressed: u32,
}

impl Autotune {
    /// True if reports of a hole wait for the next report.
    pub(super) fn reports_wait(&self) -> bool {
        self.compressed > 0
    }

    /// An acknowledgement is sent. It includes all waiting reports.
    pub(super) fn forget_reports(&mut self) {
        self.compressed = 0;
    }

    /// Payload for which the buffer has memory, bytes.
    pub(super) fn clamp(&self, p: &Profile) -> u64 {
        match self.window {
            0 => first_buffer(p) * FIRST_RATIO / 256,
            _ => self.room,
        }
    }

    /// The connection is established: its first RTT begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.since = now;
    }

    /// Sets the memory of the buffer, and the payload share of it.
    fn resize(&mut self, buffer: u64, ratio: u64) {
        (self.buffer, self.ratio, self.room) = (buffer, ratio, buffer * ratio / 256);
        self.limit = self.room;
    }

    /// Measures the RTT without timestamps: a window of data takes at most one RTT (`tcp_rcv_rtt_measure`).
    fn measure_window(&mut self, now: Time, nxt: u64, window: u64) {
        if nxt < self.rtt_end {
            return;
        }
        if self.rtt_end > 0 {
            let sample = Span(8 * now.since(self.rtt_since).0.max(1_000));
            self.rtt_8 = if self.rtt_8.0 == 0 { sample } else { self.rtt_8.min(sample) };
        }
        (self.rtt_end, self.rtt_since) = (nxt + window, now);
    }

    /// `tcp_rcv_rtt_measure_ts`: takes an RTT sample from a full segment. A smaller sample replaces the average at once.
    /// A segment is full if it has the length `full` of the peer's longest segment (`rcv_mss`), because options may
    /// shorten all of them.
    fn measure(&mut self, now: Time, s: &Segment, full: u32) {
        let Some(t) = s.options.timestamps else { return };
        if t.echo == self.echo || t.echo == 0 || s.len < full {
            return;
        }
        self.echo = t.echo;
        let ms = Endpoint::timestamp(now).wrapping_sub(t.echo);
        if ms > i32::MAX as u32 {
            return; // an echo from the future
        }
        let sample = Span::from_millis(u64::from(ms.max(1))).0;
        self.rtt_8 = match self.rtt_8.0 {
            old if old == 0 || 8 * sample < old => Span(8 * sample),
            old => Span(old - old / 8 + sample),
        };
    }

    /// `tcp_rcv_space_adjust`: once per RTT, provides memory for twice the data of that RTT, and for more
    /// if these data exceed the previous maximum. The limit `most` is memory too.
    fn adjust(&mut self, now: Time, read: u64, mss: u64, most: u64) {
        if self.rtt_8.0 == 0 || now.since(self.since).0 < self.rtt_8.0 / 8 {
            return;
        }
        let copied = read - self.start;
        if copied > self.space {
            let wanted = 2 * copied + CUSHION * mss;
            let growth = wanted.saturating_mul(copied - self.space) / self.space.max(1);
            let memory = wanted.saturating_add(2 * growth).saturating_mul(256) / self.ratio;
            self.resize(self.buffer.max(memory.min(most)), self.ratio);
            self.space = copied;
        }
        (self.start, self.since) = (read, now);
    }
}

/// `scaling_ratio`: payload share of a buffer, in 256ths, for segments of this length. It is 160 for 1448
/// bytes, which take 2304 bytes of memory.
fn payload_ratio(len: u32) -> u64 {
    let taken = (len + PACKET_OVERHEAD).next_power_of_two() + BUFFER_OVERHEAD;
    ((u64::from(len) << 8) / u64::from(taken)).max(1)
}

/// Payload in segments of this length for which the receive buffer has room, bytes.
pub(super) fn most_received(stack: &StackConfig, mss: u32) -> u64 {
    match stack.receive_autotuning {
        true => stack.receive_buffer * payload_ratio(mss) / 256,
        false => stack.receive_buffer,
    }
}

/// Memory of a new connection's buffer, bytes.
fn first_buffer(p: &Profile) -> u64 {
    p.stack.initial_receive_buffer.min(p.stack.receive_buffer)
}

impl Endpoint {
    /// Window of a new connection, bytes: by autotuning a multiple of this end's MSS (`tcp_select_initial_window`). Only
    /// the answer to a SYN leaves room for the options.
    pub(super) fn first_window(&self, p: &Profile) -> u64 {
        if !p.stack.receive_autotuning {
            return p.stack.receive_buffer.min(MOST_IN_SYN);
        }
        let mss = u64::from(if self.passive { self.agreed.mss } else { p.mss() }.max(1));
        let window = (first_buffer(p) * FIRST_RATIO).div_ceil(256).min(MOST_IN_SYN);
        if window > mss { window - window % mss } else { window }
    }

    /// Measures RTT and length of segments when data arrive, before they are queued.
    pub(super) fn follow_stream(&mut self, p: &Profile, now: Time, s: &Segment) {
        if self.recv.autotune.window == 0 {
            let (mss, first) = (u64::from(self.agreed.mss), self.first_window(p));
            let tune = &mut self.recv.autotune;
            tune.resize(first_buffer(p), FIRST_RATIO);
            // One segment of the buffer stays free (`tcp_init_buffer_space`).
            let free = tune.room.saturating_sub(mss).max(tune.room.min(2 * mss));
            (tune.limit, tune.window) = (free, first.min(free));
            tune.space = tune.window.min(FIRST_SPACE * mss);
            tune.start = self.recv.read;
        }
        if self.autotunes(p) {
            let tune = &mut self.recv.autotune;
            if s.len > tune.segment && s.len >= DEFAULT_MSS.min(self.agreed.mss) {
                tune.segment = s.len;
                tune.resize(tune.buffer, payload_ratio(s.len));
            }
            match self.agreed.timestamps {
                true => tune.measure(now, s, tune.segment.max(DEFAULT_MSS.min(self.agreed.mss))),
                false => tune.measure_window(now, self.recv.nxt, self.recv.adv - self.recv.nxt),
            }
        }
    }

    /// The window grows by two segments for each arriving segment, which is acknowledged at once
    /// (`tcp_grow_window`). Segments in order are queued before, and segments beyond a hole after it.
    pub(super) fn grow_window(&mut self, p: &Profile, s: &Segment) {
        let tune = &self.recv.autotune;
        if s.len < LEAST_PAYLOAD || tune.window >= tune.limit || !self.autotunes(p) {
            return;
        }
        let room = self.unused(p).min(tune.limit);
        let tune = &mut self.recv.autotune;
        if tune.window < room {
            tune.window = room.min(tune.window + 2 * u64::from(self.agreed.mss));
            self.recv.acks.hasten_once();
        }
    }

    /// Moves the reader by `n` bytes. The kernel measures the data of an RTT after each segment that it copies
    /// to the application. Only the first segment of a large read belongs to the RTT that ends.
    pub(super) fn follow_reads(&mut self, p: &Profile, now: Time, n: u64) {
        let (mss, end) = (u64::from(self.agreed.mss), self.recv.read + n);
        if self.autotunes(p) && self.recv.autotune.window > 0 {
            let first = end.min(self.recv.read + mss);
            self.recv.autotune.adjust(now, first, mss, p.stack.receive_buffer);
        }
        self.recv.read = end;
    }

    /// Payload that still fits into the buffer, bytes (`tcp_space`). Data beyond a hole take memory too.
    #[inline]
    fn unused(&self, p: &Profile) -> u64 {
        let unread = self.recv.nxt.saturating_sub(self.recv.read);
        self.recv.autotune.clamp(p).saturating_sub(unread + self.recv.ranges.held())
    }

    /// True if less than half of the buffer is left.
    #[inline]
    pub(super) fn memory_is_short(&self, p: &Profile) -> bool {
        self.unused(p) < self.recv.autotune.clamp(p) / 2
    }

    /// The window by the buffer's memory, bytes (`__tcp_select_window`). A buffer that is nearly full closes
    /// it.
    #[inline]
    pub(super) fn window_by_memory(&self, p: &Profile) -> u64 {
        let (all, unused) = (self.recv.autotune.clamp(p), self.unused(p));
        let scale = self.agreed.rcv_scale;
        // The header's field is rounded up, so that it does not lose a part of the window.
        let announced = |window: u64| (window + (1 << scale) - 1) >> scale << scale;
        if unused >= all / 2 {
            return announced(unused.min(self.offered(p)));
        }
        let unused = unused >> scale << scale;
        if unused < (all / 16).max(self.recv.acks.segment()) {
            0
        } else {
            announced(unused.min(self.offered(p)))
        }
    }

    /// Reports data that arrived beyond a hole: at once, or together with data that arrive within a short
    /// time (`__tcp_ack_snd_check`).
    pub(super) fn report_hole(&mut self, p: &Profile, now: Time) {
        let tune = &mut self.recv.autotune;
        if tune.hole != self.recv.nxt {
            (tune.hole, tune.reports) = (self.recv.nxt, 0);
        }
        let many = tune.compressed >= MOST_COMPRESSED;
        if !p.stack.sack_compression || !self.agreed.sack || many || tune.rtt_8.0 == 0 {
            self.recv.ack_now = true;
        } else if tune.reports < FIRST_REPORTS {
            tune.reports += 1;
            self.recv.ack_now = true;
        } else {
            tune.compressed += 1;
            let rtt = Span(tune.rtt_8.0 / 8).min(self.send.rto.srtt());
            let delay = COMPRESSION.min(Span(rtt.0 / 20)) + COMPRESSION_SLACK;
            self.timers.report = self.timers.report.min(now + delay);
        }
    }

    /// True if the receive window grows with the received data.
    pub(super) fn autotunes(&self, p: &Profile) -> bool {
        p.stack.receive_autotuning
    }

    /// Maximum window to offer now, bytes.
    pub(super) fn offered(&self, p: &Profile) -> u64 {
        match self.recv.autotune.window {
            _ if !self.autotunes(p) => p.stack.receive_buffer,
            0 => self.first_window(p),
            window => window,
        }
    }
}
