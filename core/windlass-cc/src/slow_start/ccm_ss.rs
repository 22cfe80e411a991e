//! CCM-SS: HyStart between two bounds, which are computed from the rate of acknowledgement trains.

use super::{Described, Detect, HyStart, HyStartParams, SlowStart, TICK, ticks};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Definition of the paper's minD.
    pub enum Mode {
        /// The minimum RTT, which a window must fill (CS-6).
        Repaired = "repaired",
        /// Half of the minimum RTT, a one-way delay (equation 18).
        Literal = "literal",
    }
}

crate::choice! {
    /// Source of the paper's S, the free space in the bottleneck's buffer (CS-5).
    pub enum Buffer {
        /// The measured delay: rate times (maximum RTT - minimum RTT).
        Estimated = "estimated",
        /// The parameter `buffer_bytes`.
        Oracle = "oracle",
    }
}

/// Range of a time threshold.
const TIME: ParamKind = ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) };
/// Range of a factor.
const FACTOR: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio(4 * Ratio::ONE.0) };

crate::parameters! {
    /// Parameters of CCM-SS; those from `detect` on are HyStart's.
    pub struct CcmSsParams {
        /// Delay that converts a rate into a window: the minimum RTT, or half of it.
        mode: Mode = Mode::Repaired, Mode::KIND, "Ahmad et al. 2018, equation 18 (CS-6)";
        /// Factor on beta in the lower bound.
        mu: Ratio = Ratio::of(3, 2), FACTOR, "Ahmad et al. 2018, section VI.B";
        /// Lower bound as a share of rate times delay, before mu. It is not the share by which a
        /// loss cuts the window.
        beta: Ratio = Ratio::of(1, 5), FACTOR, "Ahmad et al. 2018, section VI.B (CS-8)";
        /// Source of the free space in the buffer.
        buffer: Buffer = Buffer::Estimated, Buffer::KIND, "Ahmad et al. 2018, equation 9 (CS-5)";
        /// Free space in the bottleneck's buffer, payload; used by buffer oracle only.
        buffer_bytes: u64 = 0, ParamKind::Bytes { min: 0, max: MAX_WINDOW },
            "Ahmad et al. 2018, equation 9 (CS-5)";
        /// End slow start when the window reaches the upper bound.
        upper: bool = true, ParamKind::Flag, "Ahmad et al. 2018, equation 19 (CS-4 a)";
        /// Ignore HyStart's signs while the window is below the lower bound.
        lower: bool = true, ParamKind::Flag, "Ahmad et al. 2018, equation 19 (CS-4 b)";
        /// Keep the threshold after an exit or a loss in slow start between the bounds.
        clamp: bool = true, ParamKind::Flag, "Ahmad et al. 2018, equation 19 (CS-4 c)";
        /// Acknowledgements of a train before it shows a rate.
        train_acks: u64 = 3, ParamKind::Count { min: 2, max: 255 },
            "Ahmad et al. 2018, section VI.B (N > 2)";
        /// Signs of a full path that HyStart detects.
        detect: Detect = Detect::Both, Detect::KIND, "Ha and Rhee 2011; Linux hystart_detect";
        /// Minimum window in which the signs count.
        low_window: u64 = 16, ParamKind::Segments { min: 0, max: 1 << 20 },
            "Linux hystart_low_window";
        /// Maximum gap between acknowledgements of one train, also of the trains that show the
        /// rate.
        ack_delta: Span = Span::from_millis(2), TIME, "Linux hystart_ack_delta_us";
        /// Longest train that the path holds, as a share of the minimum RTT.
        train_share: Ratio = Ratio::of(1, 2), FACTOR, "Linux hystart_update";
        /// RTT samples of a round before its delay counts.
        min_samples: u64 = 8, ParamKind::Count { min: 1, max: 255 }, "Linux HYSTART_MIN_SAMPLES";
        /// Tolerated delay as a share of the minimum RTT.
        delay_share: Ratio = Ratio::of(1, 8), FACTOR, "Linux HYSTART_DELAY_THRESH";
        /// Minimum tolerated delay.
        delay_min: Span = Span::from_millis(4), TIME, "Linux HYSTART_DELAY_MIN";
        /// Maximum tolerated delay.
        delay_max: Span = Span::from_millis(16), TIME, "Linux HYSTART_DELAY_MAX";
    }
}

impl CcmSsParams {
    fn hystart(&self) -> HyStartParams {
        HyStartParams {
            detect: self.detect,
            low_window: self.low_window,
            ack_delta: self.ack_delta,
            train_share: self.train_share,
            min_samples: self.min_samples,
            delay_share: self.delay_share,
            delay_min: self.delay_min,
            delay_max: self.delay_max,
        }
    }
}

/// A train of closely spaced acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
struct Train {
    /// Bytes acknowledged by all acknowledgements except the first, (N - 1)·L.
    bytes: u32,
    /// Time from the first to the last acknowledgement, Δ(N), nanoseconds.
    length: u32,
}

impl Train {
    const EMPTY: Train = Train { bytes: 0, length: 0 };

    /// The train with a further acknowledgement, `None` if a sum overflows.
    fn with(self, bytes: u64, length: u64) -> Option<Train> {
        let bytes = u64::from(self.bytes).checked_add(bytes)?.try_into().ok()?;
        Some(Train { bytes, length: length.try_into().ok()? })
    }

    /// Bytes that its rate b(N) carries in `time` nanoseconds (equation 11).
    fn carries(self, time: u64) -> u64 {
        mul_div(u64::from(self.bytes), time, u64::from(self.length)).min(MAX_WINDOW)
    }
}

/// The bounds of a window, bytes.
#[derive(Clone, Copy)]
struct Bounds {
    lower: u64,
    upper: u64,
}

/// CCM-SS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CcmSs {
    hystart: HyStart,
    /// Arrival time of the first acknowledgement of the train.
    train_start: Time,
    /// The present train.
    train: Train,
    /// The last sufficiently long train; of length zero before the first.
    measured: Train,
    /// Maximum RTT, ticks.
    max_rtt: u32,
    /// Acknowledgements in the train, counted up to 255; zero before the first.
    acks: u8,
    /// True if slow start was ended.
    left: bool,
}

impl CcmSs {
    /// Adds an acknowledgement to the train, or begins a new train with it. A new train begins after a
    /// gap and with each round, so that a rate is not averaged over many rounds.
    fn measure(&mut self, p: &CcmSsParams, c: &Conn, a: &Ack) {
        let length = c.now.since(self.train_start).0;
        let gap = length.saturating_sub(u64::from(self.train.length));
        let follows = self.acks > 0 && c.una <= self.hystart.round_end && gap <= p.ack_delta.0;
        let longer = if follows { self.train.with(a.acked, length) } else { None };
        let Some(longer) = longer else {
            (self.train_start, self.train, self.acks) = (c.now, Train::EMPTY, 1);
            return;
        };
        self.train = longer;
        self.acks = self.acks.saturating_add(1);
        // Simultaneous acknowledgements give no rate.
        if u64::from(self.acks) >= p.train_acks && longer.length > 0 {
            self.measured = longer;
        }
    }

    /// Equations 9 and 19; `None` before a train has shown a rate.
    fn bounds(&self, p: &CcmSsParams, min_rtt: Span) -> Option<Bounds> {
        if self.measured.length == 0 || !min_rtt.is_known() {
            return None;
        }
        let delay = match p.mode {
            Mode::Repaired => min_rtt.0,
            Mode::Literal => min_rtt.0 / 2,
        };
        let room = match p.buffer {
            Buffer::Oracle => p.buffer_bytes,
            Buffer::Estimated => {
                let largest = mul(u64::from(self.max_rtt), TICK);
                self.measured.carries(largest.saturating_sub(min_rtt.0))
            }
        };
        let held = self.measured.carries(delay);
        let upper = held.saturating_add(room);
        Some(Bounds { lower: p.mu.times(p.beta.times(held)).min(upper), upper })
    }

    fn leave(&mut self, p: &CcmSsParams, bounds: Option<Bounds>, w: &mut Window) {
        self.left = true;
        w.set_ssthresh(match bounds {
            Some(b) if p.clamp => w.cwnd().min(b.upper).max(b.lower),
            _ => w.cwnd(),
        });
    }
}

impl Described for CcmSs {
    const INFO: &'static Info = &Info {
        id: "ccm-ss",
        name: "CCM-SS",
        origin: "M. Ahmad et al., End-to-End Loss Based TCP Congestion Control Mechanism as a Secured \
            Communication Technology for Smart Healthcare Enterprises, IEEE Access 6, 2018",
        citation: "ahmad2018endtoend",
        description: "HyStart between two bounds. Trains of acknowledgements, each at most \
            ack_delta after the one before, show a rate B: the bytes of all acknowledgements \
            except the first, divided by the time from first to last. Slow start ends when the \
            window reaches B·minD + S. It also ends at a sign of HyStart in a window of at least \
            mu·beta·B·minD. The threshold is kept between the two bounds. This also applies after \
            a loss in slow start, where the threshold does not exceed the window with the loss. \
            The paper gives the bounds but not their use. This is the interpretation CS-4, and \
            upper, lower and clamp turn its parts off. The delay minD is the minimum RTT, or half \
            of it in mode literal (CS-6). S is the queue at the largest delay so far or, as an \
            oracle, buffer_bytes (CS-5). Equation 17, printed upside down, is interpreted as B = \
            cwnd/minD (CS-1), which is the rate of the train on an otherwise empty path. A train \
            restarts after a gap and with each round. Without a train of train_acks \
            acknowledgements, HyStart acts alone. Growth in congestion avoidance is the \
            algorithm's own, and not equation 3 or Algorithm 1 (CS-2, CS-3). The largest RTT is \
            kept in units of 1.024 µs.",
        params: CcmSsParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for CcmSs {
    type Params = CcmSsParams;

    fn init(p: &CcmSsParams, c: &Conn) -> CcmSs {
        CcmSs {
            hystart: HyStart::init(&p.hystart(), c),
            train_start: Time::ZERO,
            train: Train::EMPTY,
            measured: Train::EMPTY,
            max_rtt: 0,
            acks: 0,
            left: false,
        }
    }

    fn observe(&mut self, p: &CcmSsParams, c: &Conn, a: &Ack, w: &mut Window) {
        if a.rtt.is_known() {
            self.max_rtt = self.max_rtt.max(ticks(a.rtt));
        }
        if self.left || !w.in_slow_start() {
            return;
        }
        self.measure(p, c, a);
        let full = self.hystart.is_full(&p.hystart(), c, a, w);
        let bounds = self.bounds(p, c.min_rtt.min(a.rtt));
        let cwnd = w.cwnd();
        let over = p.upper && bounds.is_some_and(|b| cwnd >= b.upper);
        let early = p.lower && bounds.is_some_and(|b| cwnd < b.lower);
        if over || full && !early {
            self.leave(p, bounds, w);
        }
    }

    #[inline]
    fn grow(&mut self, _p: &CcmSsParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }

    fn threshold(&self, p: &CcmSsParams, c: &Conn, w: &Window, ssthresh: u64) -> u64 {
        match self.bounds(p, c.min_rtt) {
            Some(b) if p.clamp => {
                let raised = ssthresh.max(b.lower.min(w.cwnd()));
                raised.min(b.upper).max(mul(2, u64::from(c.mss)))
            }
            _ => ssthresh,
        }
    }

    fn restart(&mut self, p: &CcmSsParams, c: &Conn) {
        self.hystart.restart(&p.hystart(), c);
        self.acks = 0;
        self.left = false;
    }
}
