//! HyStart: leaves slow start at the first sign that the pipe is full.

use super::{Described, SlowStart, TICK, ticks};
use crate::arithmetic::math::mul;
use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Signs that HyStart detects.
    pub enum Detect {
        /// Both signs.
        Both = "both",
        /// A long train of closely spaced acknowledgements.
        Train = "train",
        /// An RTT above the minimum.
        Delay = "delay",
    }
}

/// Range of a time threshold.
const TIME: ParamKind = ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) };
/// Range of a share of the minimum RTT.
const SHARE: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio(4 * Ratio::ONE.0) };

crate::parameters! {
    /// Parameters of HyStart.
    pub struct HyStartParams {
        /// Signs that HyStart detects.
        detect: Detect = Detect::Both, Detect::KIND, "Ha and Rhee 2011; Linux hystart_detect";
        /// Minimum window in which the signs count.
        low_window: u64 = 16, ParamKind::Segments { min: 0, max: 1 << 20 },
            "Linux hystart_low_window";
        /// Maximum gap between acknowledgements of one train.
        ack_delta: Span = Span::from_millis(2), TIME, "Linux hystart_ack_delta_us";
        /// Longest train that the path holds, as a share of the minimum RTT: 0.5 in Linux, 1 in
        /// ns-3. Linux with pacing has 1, because pacing spreads a train over up to half an RTT.
        train_share: Ratio = Ratio::of(1, 2), SHARE, "Linux hystart_update; ns-3 HystartUpdate";
        /// RTT samples of a round before its delay counts.
        min_samples: u64 = 8, ParamKind::Count { min: 1, max: 255 },
            "Linux HYSTART_MIN_SAMPLES; ns-3 HyStartMinSamples";
        /// Tolerated delay as a share of the minimum RTT: 0.125 in Linux, 1 in ns-3.
        delay_share: Ratio = Ratio::of(1, 8), SHARE,
            "Linux HYSTART_DELAY_THRESH; ns-3 HystartDelayThresh";
        /// Minimum tolerated delay.
        delay_min: Span = Span::from_millis(4), TIME,
            "Linux HYSTART_DELAY_MIN; ns-3 HyStartDelayMin";
        /// Maximum tolerated delay: 16 ms in Linux, 1 s in ns-3.
        delay_max: Span = Span::from_millis(16), TIME,
            "Linux HYSTART_DELAY_MAX; ns-3 HyStartDelayMax";
    }
}

/// HyStart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct HyStart {
    /// Stream offset; the round ends when data beyond it is acknowledged.
    pub(super) round_end: u64,
    /// Arrival time of the first acknowledgement of the round.
    round_start: Time,
    /// Time from there to the last acknowledgement of the train, ticks.
    train: u32,
    /// Minimum RTT of the round, ticks; [`u32::MAX`] before the first sample.
    least: u32,
    /// Samples of the round, counted up to 255.
    samples: u8,
    /// True if the pipe was found full.
    found: bool,
}

impl HyStart {
    fn begin_round(&mut self, c: &Conn) {
        self.round_end = c.next_id;
        self.round_start = c.now;
        self.train = 0;
        self.least = u32::MAX;
        self.samples = 0;
    }

    /// True if this acknowledgement shows that the pipe is full.
    pub(super) fn is_full(&mut self, p: &HyStartParams, c: &Conn, a: &Ack, w: &Window) -> bool {
        if c.una > self.round_end {
            self.begin_round(c);
        }
        if w.cwnd() < mul(p.low_window, u64::from(c.mss)) {
            return false;
        }
        let min_rtt = c.min_rtt.min(a.rtt);
        let train = p.detect != Detect::Delay && self.train_is_long(p, c.now, min_rtt);
        let delay = p.detect != Detect::Train && self.delay_is_long(p, a.rtt, min_rtt);
        train || delay
    }

    /// True if the acknowledgements since the round's start were closely spaced for too long.
    fn train_is_long(&mut self, p: &HyStartParams, now: Time, min_rtt: Span) -> bool {
        let since = now.since(self.round_start);
        let gap = since.0.saturating_sub(mul(u64::from(self.train), TICK));
        if gap > p.ack_delta.0 {
            return false;
        }
        self.train = ticks(since);
        min_rtt.is_known() && since.0 > p.train_share.times(min_rtt.0)
    }

    /// True if every sample of the round exceeds the minimum RTT by too much.
    fn delay_is_long(&mut self, p: &HyStartParams, rtt: Span, min_rtt: Span) -> bool {
        if !rtt.is_known() {
            return false;
        }
        self.least = self.least.min(ticks(rtt));
        if u64::from(self.samples) < p.min_samples {
            self.samples = self.samples.saturating_add(1);
            return false;
        }
        // Not `clamp`, which panics if the minimum exceeds the maximum.
        let tolerated = p.delay_share.times(min_rtt.0).min(p.delay_max.0).max(p.delay_min.0);
        u64::from(self.least) > min_rtt.0.saturating_add(tolerated) / TICK
    }
}

impl Described for HyStart {
    const INFO: &'static Info = &Info {
        id: "hystart",
        name: "HyStart",
        origin: "S. Ha and I. Rhee, Taming the elephants: New TCP slow start, Computer Networks \
            55(9), 2011; thresholds of Linux's tcp_cubic.c",
        citation: "ha2011taming",
        description: "Standard slow start that can end without a loss, at one of two signs in a \
            window of at least low_window. The first sign is a train of acknowledgements, each at \
            most ack_delta after the one before, that lasts longer than train_share of the minimum \
            RTT. The second sign is a round in which all samples exceed the minimum RTT by \
            delay_share of it (within delay_min and delay_max). The threshold becomes the window. \
            The defaults are Linux's; ns-3 has train_share = 1, delay_share = 1 and delay_max = \
            1s. Deviations from Linux: the train also includes acknowledgements without an RTT \
            sample. Samples in the first second after a loss are included. The minimum RTT is the \
            connection's and survives a timeout. Times are kept in units of 1.024 µs.",
        params: HyStartParams::TABLE,
        trace: &[],
    };
    const FLAVOURS: &'static [Departure] = &[
        Departure::ns3(
            "train_share",
            Ratio::ONE.0,
            "`TcpCubic::HystartUpdate` compares with the minimum RTT",
        ),
        Departure::ns3(
            "delay_share",
            Ratio::ONE.0,
            "`TcpCubic::HystartDelayThresh` takes the whole minimum RTT",
        ),
        Departure::ns3(
            "delay_max",
            Span::from_secs(1).0,
            "`TcpCubic`, attribute `HyStartDelayMax`",
        ),
    ];
}

impl SlowStart for HyStart {
    type Params = HyStartParams;

    fn init(_p: &HyStartParams, c: &Conn) -> HyStart {
        let mut new = HyStart {
            round_end: 0,
            round_start: Time::ZERO,
            train: 0,
            least: u32::MAX,
            samples: 0,
            found: false,
        };
        new.begin_round(c);
        new
    }

    fn observe(&mut self, p: &HyStartParams, c: &Conn, a: &Ack, w: &mut Window) {
        if self.found || !w.in_slow_start() {
            return;
        }
        if self.is_full(p, c, a, w) {
            self.found = true;
            w.set_ssthresh(w.cwnd());
        }
    }

    #[inline]
    fn grow(&mut self, _p: &HyStartParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }

    fn restart(&mut self, _p: &HyStartParams, c: &Conn) {
        self.found = false;
        self.begin_round(c);
    }
}
