//! The receive window that grows with what arrives, and the acknowledgements that tell of it, as in
//! Linux.

use windlass_cc::{Span, Time};

use super::{Endpoint, Profile};
use crate::segment::{DEFAULT_MSS, Segment};

/// What a SYN can say, bytes.
const MOST_IN_SYN: u64 = 65_535;
/// `TCP_DEFAULT_SCALING_RATIO`: 256ths of a buffer that are payload, as long as no full segment has come.
const PAYLOAD_RATIO: u64 = 128;
/// What the kernel keeps of a packet beside its payload, bytes: headers and room for more, and the end of the buffer, which
/// is a power of two; and the description of the buffer.
const PACKET_OVERHEAD: u32 = 40 + 64 + 320;
const BUFFER_OVERHEAD: u32 = 256;
/// Segments that a sender sends at first (`TCP_INIT_CWND`): what is expected of the first round trip.
const FIRST_SPACE: u64 = 10;
/// `tcp_rcv_space_adjust`: segments beyond twice what a round trip brought, against small variations.
const CUSHION: u64 = 16;
/// `tcp_event_data_recv`: data of less has no say in the window, bytes.
const LEAST_PAYLOAD: u32 = 128;

/// `tcp_comp_sack_nr`: reports of data beyond a hole that wait for another at most.
const MOST_COMPRESSED: u32 = 44;
/// Reports of a hole that go at once, for the sender to find the loss (`TCP_FASTRETRANS_THRESH`).
const FIRST_REPORTS: u32 = 3;
/// `tcp_comp_sack_delay_ns`: how long the others wait at most; otherwise a twentieth of a round trip.
const COMPRESSION: Span = Span::from_millis(1);
/// `tcp_comp_sack_slack_ns`: how much later the kernel's timer comes.
const COMPRESSION_SLACK: Span = Span::from_micros(100);

/// What an endpoint knows of the stream that it receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Autotune {
    /// The longest segment so far, bytes, which tells how much of a buffer is payload (`scaling_ratio`).
    segment: u32,
    /// Most that is offered (`rcv_ssthresh`); zero before the first data.
    window: u64,
    /// Most that may be offered by and by (`window_clamp`).
    room: u64,
    /// Most that the application read within a round trip (`rcvq_space.space`).
    space: u64,
    /// Where the round trip being measured began, stream offset and moment.
    start: u64,
    since: Time,
    /// Round trip by the echo of our timestamps, eight times as long as it is.
    rtt_8: Span,
    /// Without timestamps: stream offset whose arrival ends a round trip, and when that began.
    rtt_end: u64,
    rtt_since: Time,
    /// Our timestamp that was echoed last: each gives one sample.
    echo: u32,
    /// Stream offset of the hole that is being reported (`compressed_ack_rcv_nxt`).
    hole: u64,
    /// Reports of it that went at once (`dup_ack_counter`).
    reports: u32,
    /// Reports that wait to go with another (`compressed_ack`).
    compressed: u32,
}

impl Autotune {
    /// Whether reports of a hole wait for others.
    pub(super) fn reports_wait(&self) -> bool {
        self.compressed > 0
    }

    /// An acknowledgement goes out, which reports all that waits.
    pub(super) fn forget_reports(&mut self) {
        self.compressed = 0;
    }

    /// Most that the window may become by and by, bytes.
    pub(super) fn clamp(&self, p: &Profile) -> u64 {
        match self.window {
            0 => first_window(p),
            _ => self.room.max(self.window),
        }
    }

    /// Without timestamps a window's worth of data takes a round trip at most (`tcp_rcv_rtt_measure`).
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

    /// `tcp_rcv_rtt_measure_ts`: a round trip as the receiver sees it, and its average.
    fn measure(&mut self, now: Time, s: &Segment, mss: u32) {
        let Some(t) = s.options.timestamps else { return };
        if t.echo == self.echo || t.echo == 0 || s.len < mss {
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

    /// `tcp_rcv_space_adjust`: once a round trip, room for twice what it brought, and more if that is
    /// more than ever before.
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

/// `scaling_ratio`: 256ths of a buffer that are payload where segments have this length; 157 for 1448 bytes, which
/// take 2304.
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
    /// Data arrive. What the application has read until now decides.
    pub(super) fn follow_stream(&mut self, p: &Profile, now: Time, s: &Segment, in_order: bool) {
        let mss = u64::from(self.agreed.mss);
        // Without SACK an acknowledgement with another window is no duplicate (RFC 5681 section 2),
        // and the sender has to count those (`tcp_data_queue_ofo`).
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
                true => tune.measure(now, s, self.agreed.mss),
                false => tune.measure_window(now, self.recv.nxt, self.recv.adv - self.recv.nxt),
            }
            tune.adjust(now, self.recv.read, mss, p.stack.receive_buffer);
            // `tcp_grow_window`: by two segments for each that arrives, which is acknowledged at once.
            if may_grow && s.len >= LEAST_PAYLOAD && tune.window < tune.room {
                tune.window = tune.room.min(tune.window + 2 * mss);
                self.recv.acks.hasten_once();
            }
        }
    }

    /// Data arrived beyond a hole, which is to be told: at once, or together with what else arrives
    /// within a short time (`__tcp_ack_snd_check`).
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

    /// Whether the receive window grows with what arrives.
    fn autotunes(&self, p: &Profile) -> bool {
        p.stack.receive_autotuning
    }

    /// Most that may be offered now, bytes.
    pub(super) fn offered(&self, p: &Profile) -> u64 {
        match self.recv.autotune.window {
            _ if !self.autotunes(p) => p.stack.receive_buffer,
            0 => first_window(p),
            window => window,
        }
    }
}
