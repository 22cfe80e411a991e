//! Receive window autotuning and the acknowledgements that announce the window, as in Linux.

use windlass_cc::{Span, Time};

use super::{Endpoint, Profile};
use crate::segment::{DEFAULT_MSS, Segment};

/// Maximum window of a SYN, bytes.
const MOST_IN_SYN: u64 = 65_535;
/// `TCP_DEFAULT_SCALING_RATIO`: payload share of a buffer in 256ths, until a full segment arrives.
const PAYLOAD_RATIO: u64 = 128;
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
    /// Length of the longest segment so far, bytes. It determines the payload share of a buffer
    /// (`scaling_ratio`).
    segment: u32,
    /// Maximum window to offer now (`rcv_ssthresh`); zero before the first data.
    window: u64,
    /// Limit up to which the window may grow (`window_clamp`).
    room: u64,
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

    /// Limit up to which the window may grow, bytes.
    pub(super) fn clamp(&self, p: &Profile) -> u64 {
        match self.window {
            0 => first_window(p),
            _ => self.room.max(self.window),
        }
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

    /// `tcp_rcv_rtt_measure_ts`: takes an RTT sample from a full segment and updates the average. A segment is full if it
    /// has the length `full` of the peer's longest segment (`rcv_mss`), because options may shorten all of them.
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
            0 => Span(8 * sample),
            old => Span(old - old / 8 + sample),
        };
    }

    /// `tcp_rcv_space_adjust`: once per RTT, provides a window for twice the data of that RTT, and for more
    /// if these data exceed the previous maximum.
    fn adjust(&mut self, now: Time, read: u64, mss: u64, most: u64) {
        if self.rtt_8.0 == 0 || now.since(self.since).0 < self.rtt_8.0 / 8 {
            return;
        }
        let copied = read - self.start;
        if copied > self.space {
            let wanted = 2 * copied + CUSHION * mss;
            let growth = wanted.saturating_mul(copied - self.space) / self.space.max(1);
            self.room = self.room.max(wanted.saturating_add(2 * growth).min(most));
            self.space = copied;
        }
        (self.start, self.since) = (read, now);
    }
}

/// `scaling_ratio`: payload share of a buffer, in 256ths, for segments of this length. It is 157 for 1448
/// bytes, which take 2304 bytes of memory.
fn payload_ratio(len: u32) -> u64 {
    let taken = (len + PACKET_OVERHEAD).next_power_of_two() + BUFFER_OVERHEAD;
    (u64::from(len) << 8) / u64::from(taken)
}

/// Window of a new connection, bytes. At first half of Linux's buffer counts as payload
/// (`TCP_DEFAULT_SCALING_RATIO`).
pub(super) fn first_window(p: &Profile) -> u64 {
    let initial = match p.stack.receive_autotuning {
        true => p.stack.initial_receive_buffer.div_ceil(2),
        false => u64::MAX,
    };
    p.stack.receive_buffer.min(initial).min(MOST_IN_SYN)
}

impl Endpoint {
    /// Updates autotuning when data arrive. The growth depends on the data that the application has read so
    /// far.
    pub(super) fn follow_stream(&mut self, p: &Profile, now: Time, s: &Segment, in_order: bool) {
        let mss = u64::from(self.agreed.mss);
        // Without SACK an acknowledgement with a changed window is not a duplicate (RFC 5681 section 2), and
        // the sender must count duplicates (`tcp_data_queue_ofo`).
        let may_grow = in_order || self.agreed.sack;
        let tune = &mut self.recv.autotune;
        if tune.window == 0 {
            let most = p.stack.receive_buffer;
            let window = first_window(p);
            tune.window = if window > mss { window - window % mss } else { window };
            tune.room = most.min(p.stack.initial_receive_buffer * PAYLOAD_RATIO / 256);
            tune.space = tune.window.min(FIRST_SPACE * mss);
            (tune.start, tune.since) = (self.recv.read, now);
        }
        if self.autotunes(p) {
            let tune = &mut self.recv.autotune;
            if s.len > tune.segment && s.len >= DEFAULT_MSS.min(self.agreed.mss) {
                tune.segment = s.len;
                let room = p.stack.initial_receive_buffer * payload_ratio(s.len) / 256;
                tune.room = tune.room.max(room.min(p.stack.receive_buffer));
            }
            match self.agreed.timestamps {
                true => tune.measure(now, s, tune.segment.max(DEFAULT_MSS.min(self.agreed.mss))),
                false => tune.measure_window(now, self.recv.nxt, self.recv.adv - self.recv.nxt),
            }
            tune.adjust(now, self.recv.read, mss, p.stack.receive_buffer);
            // `tcp_grow_window`: by two segments per arriving segment, which is acknowledged at once.
            if may_grow && s.len >= LEAST_PAYLOAD && tune.window < tune.room {
                tune.window = tune.room.min(tune.window + 2 * mss);
                self.recv.acks.hasten_once();
            }
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
    fn autotunes(&self, p: &Profile) -> bool {
        p.stack.receive_autotuning
    }

    /// Maximum window to offer now, bytes.
    pub(super) fn offered(&self, p: &Profile) -> u64 {
        match self.recv.autotune.window {
            _ if !self.autotunes(p) => p.stack.receive_buffer,
            0 => first_window(p),
            window => window,
        }
    }
}
