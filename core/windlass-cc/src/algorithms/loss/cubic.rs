//! CUBIC (RFC 9438): the window as a cubic function of time.

mod linux;

use crate::arithmetic::math::{cbrt, div, divisor, excess, mul, mul_div, mul_shift};
use crate::arithmetic::window::{FRACTION_BITS, MAX_WINDOW_Q, Window, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, kept_flight};
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, RATIO_BITS, Ratio};
use crate::time::Span;

use linux::{Epoch, Pace, Rules};

crate::parameters! {
    /// Parameters of CUBIC.
    pub struct Params {
        /// C, the steepness of the curve, segments per cubed second.
        // RFC 9438-5.1-1
        c: Ratio = Ratio::of(4, 10),
            ParamKind::Ratio { min: Ratio::of(1, 1000), max: Ratio(STEEPEST) },
            "RFC 9438 section 5.1";
        /// Share of the window that a loss leaves (beta_cubic).
        // RFC 9438-4.6-2
        keep: Ratio = Ratio::of(7, 10),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(99, 100) },
            "RFC 9438 section 4.6";
        /// Share of the window that an ECN echo leaves; RFC 8511 allows 0.85.
        keep_ecn: Ratio = Ratio::of(7, 10),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(99, 100) },
            "RFC 9438 section 4.6; RFC 8511 section 3.1";
        /// Set a lower target when a loss occurs below the last maximum, because another flow may
        /// need the capacity.
        // RFC 9438-4.7-2
        fast_convergence: bool = true,
            ParamKind::Flag,
            "RFC 9438 section 4.7";
        /// Keep the window at least at the window that Reno would have.
        friendliness: bool = true,
            ParamKind::Flag,
            "RFC 9438 section 4.3";
        /// Beyond the window before the last cut, let Reno's estimated window grow as Reno's, by a
        /// whole segment per RTT. Linux does not.
        reno_beyond: bool = true,
            ParamKind::Flag,
            "RFC 9438 section 4.3; Linux bictcp_update (false)";
        /// Grow to Reno's estimated window or to the cubic one minimum RTT ahead, whichever is
        /// larger, by the missing whole segments in each RTT and not at once. Before the first loss
        /// and after a timeout, grow by at least a twentieth. Windows are whole segments, times are
        /// ticks of 4 ms, and an undo does not restore the curve. Linux does this.
        reno_paced: bool = false,
            ParamKind::Flag,
            "RFC 9438 section 4.3; Linux bictcp_update (true)";
    }
}

impl Params {
    /// The constants of Linux before 2.6.29 (CUBIC 2.1: `beta` 819/1024, `bic_scale` 41).
    pub fn linux_2_6() -> Params {
        let keep = Ratio::of(819, 1024);
        Params { c: Ratio::of(410, 1024), keep, keep_ecn: keep, ..Params::default() }
    }
}

const TRACE: &[TraceField; 3] = &[
    TraceField { name: "w_max_q6", unit: "segments/64" },
    TraceField { name: "k_ns", unit: "ns" },
    TraceField { name: "w_est", unit: "bytes" },
];

/// Number of low bits removed from nanoseconds to get the unit of K and of the time since the epoch,
/// 2^-20 of 2^30 ns. 73 minutes fit 32 bits, and longer times count as 73 minutes.
const TICK_BITS: u32 = 10;

/// Factor that converts C from segments per cubed second to segments per (2^30 ns)³: (2^30 / 10^9)³,
/// with [`CURVE_BITS`] fractional bits.
const UNIT: u64 = 332_307_203;

/// Maximum C, with [`RATIO_BITS`].
const STEEPEST: u64 = 100 << RATIO_BITS;

/// Fractional bits of C if times are in units of 2^30 ns.
const CURVE_BITS: u32 = 28;

/// Fractional bits of a window kept in segments: 67 million segments fit 32 bits.
const SEGMENT_BITS: u32 = 6;

/// State of the clock that runs through an epoch of growth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Clock {
    /// The next growth begins an epoch.
    Unset,
    /// The epoch began at the stored time.
    Running,
    /// The window does not limit the sender; the stored value is the time that the epoch had run.
    Stopped,
}

/// Congestion avoidance of CUBIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Cubic {
    /// A time or a duration in nanoseconds, depending on [`Clock`]; a time wraps.
    epoch: u64,
    prior_epoch: u64,
    /// Window that Reno would have, bytes with [`FRACTION_BITS`] fractional bits.
    w_est_q: u64,
    /// Time from the epoch to W_max, ticks of 2^[`TICK_BITS`] ns.
    k: u32,
    /// Plateau of the cubic, segments with [`SEGMENT_BITS`] fractional bits. With zero, the next epoch
    /// takes the window.
    w_max: u32,
    /// Window before the last cut, in the unit of `w_max`.
    cwnd_prior: u32,
    /// With the parameter `reno_paced` the [`Pace`]. Otherwise `k`, `w_max`, `cwnd_prior` and W_est (in the unit of
    /// `w_max`) before the last cut, for an undo.
    memory: [u32; 4],
    clock: Clock,
    prior_clock: Clock,
}

/// Converts bytes with [`FRACTION_BITS`] fractional bits to segments with [`SEGMENT_BITS`], rounded.
#[inline(never)]
fn segments(c: &Conn, bytes_q: u64) -> u32 {
    let half = 1 << (FRACTION_BITS - SEGMENT_BITS - 1);
    let segments_q = div(bytes_q, divisor(c.mss.into()));
    ((segments_q + half) >> (FRACTION_BITS - SEGMENT_BITS)).min(u64::from(u32::MAX)) as u32
}

/// True if [`segments`] of `bytes_q` is at least `number`, computed without a division.
fn reaches(c: &Conn, bytes_q: u64, number: u32) -> bool {
    let half = 1 << (FRACTION_BITS - SEGMENT_BITS - 1);
    let least = excess(u64::from(number) << (FRACTION_BITS - SEGMENT_BITS), half);
    bytes_q >= mul(least, u64::from(c.mss.max(1)))
}

/// Inverse of [`segments`].
fn bytes_q(c: &Conn, segments: u32) -> u64 {
    // Below 2^58: each factor has at most 32 bits, and the window's limit is 2^56.
    mul(u64::from(segments) << (FRACTION_BITS - SEGMENT_BITS), c.mss.into()).min(MAX_WINDOW_Q)
}

fn ticks(ns: u64) -> u32 {
    (ns >> TICK_BITS).min(u64::from(u32::MAX)) as u32
}

/// C for times in units of 2^30 ns, [`CURVE_BITS`] fractional bits. Below 2^35.
#[inline]
fn curve(p: &Params) -> u64 {
    (p.c.0.min(STEEPEST) * UNIT) >> RATIO_BITS
}

/// K = cbrt(distance / C) in ticks, for a distance in segments with [`SEGMENT_BITS`] fractional bits,
/// to one part in a million (RFC 9438 figure 2).
fn time_to(p: &Params, distance: u32) -> u32 {
    // 18 fractional bits: six of the distance and 12 more.
    let mut cube = mul_div(u64::from(distance) << 12, 1 << CURVE_BITS, curve(p).max(1));
    // As many more bits as fit: three for each bit of the root, which needs 20 fractional bits.
    let mut lacking = 14;
    while lacking > 0 && cube >> 61 == 0 {
        cube <<= 3;
        lacking -= 1;
    }
    // Below 2^22.
    let root = cbrt(cube) as u32;
    if root > u32::MAX >> lacking { u32::MAX } else { root << lacking }
}

/// alpha_cubic = 3·(1 - beta)/(1 + beta), 16 fractional bits (RFC 9438 section 4.3). The arithmetic
/// uses 32-bit words, so that with constant parameters the processor does not divide.
#[inline]
fn alpha(p: &Params) -> u64 {
    let (cut, kept) = shares(p);
    // The quotient, by two digits of eight bits.
    let (first, rest) = (((3 * cut) << 8) / kept, ((3 * cut) << 8) % kept);
    u64::from((first << 8) + (rest << 8) / kept)
}

/// The eighths of a window that give Reno's window a segment (`beta_scale`): 8/alpha, cut.
#[inline]
fn reno_eighths(p: &Params) -> u64 {
    let (cut, kept) = shares(p);
    u64::from(8 * kept / 3 / cut.max(1))
}

/// 1 - beta and 1 + beta, 16 fractional bits.
#[inline]
fn shares(p: &Params) -> (u32, u32) {
    const ONE: u32 = Ratio::ONE.0 as u32;
    let keep = p.keep.0.min(Ratio::ONE.0) as u32;
    (ONE - keep, ONE + keep)
}

impl Cubic {
    /// Duration of the epoch. The clock's origin and its wrapping cancel out; a clock that goes back
    /// counts as no time.
    fn elapsed(&self, c: &Conn) -> u64 {
        match self.clock {
            Clock::Unset => 0,
            Clock::Stopped => self.epoch,
            Clock::Running => match c.now.0.wrapping_sub(self.epoch) {
                elapsed if elapsed > u64::MAX / 2 => 0,
                elapsed => elapsed,
            },
        }
    }

    /// Begins an epoch, or resumes a stopped epoch.
    fn start_clock(&mut self, p: &Params, c: &Conn, w: &Window) {
        match self.clock {
            Clock::Running => return,
            Clock::Stopped => self.epoch = c.now.0.wrapping_sub(self.epoch),
            Clock::Unset => self.begin_epoch(p, c, w),
        }
        self.clock = Clock::Running;
    }

    // RFC 9438-4.8-2
    #[cold]
    #[inline(never)]
    fn begin_epoch(&mut self, p: &Params, c: &Conn, w: &Window) {
        let cwnd = segments(c, w.cwnd_q());
        self.epoch = c.now.0;
        self.w_est_q = w.cwnd_q();
        self.k = time_to(p, self.w_max.saturating_sub(cwnd));
        self.w_max = self.w_max.max(cwnd);
    }

    /// W_max, segments with [`FRACTION_BITS`] fractional bits.
    fn w_max_q(&self) -> u64 {
        u64::from(self.w_max) << (FRACTION_BITS - SEGMENT_BITS)
    }

    /// W_cubic at `elapsed` nanoseconds, segments with [`FRACTION_BITS`] fractional bits (RFC 9438
    /// figure 1). The error is at most a thousandth of a segment plus 1/100,000 of the distance from
    /// W_max. Below 2^60.
    // RFC 9438-4.2-2
    fn segments_after(&self, p: &Params, elapsed: u64) -> u64 {
        let t = ticks(elapsed);
        let d = u64::from(t.abs_diff(self.k));
        // d has 20 fractional bits. Its square and its cube are cut to 20 fractional bits, and are
        // below 2^44 and 2^56. With the curve's 2^35 the distance is below 2^59.
        let cube = mul_shift(mul_shift(d, d, 20), d, 20);
        let distance = mul_shift(cube, curve(p), 19 + CURVE_BITS - FRACTION_BITS) >> 1;
        let w_max = self.w_max_q();
        if t < self.k { excess(w_max, distance) } else { w_max + distance }
    }

    /// W_cubic in bytes with [`FRACTION_BITS`] fractional bits.
    fn w_cubic_q(&self, p: &Params, c: &Conn, elapsed: u64) -> u64 {
        mul(self.segments_after(p, elapsed), c.mss.into()).min(MAX_WINDOW_Q)
    }

    /// W_cubic one RTT ahead, bytes with [`FRACTION_BITS`] fractional bits.
    fn ahead_q(&self, p: &Params, c: &Conn) -> u64 {
        let rtt = if c.srtt.is_known() { c.srtt.0 } else { 0 };
        self.w_cubic_q(p, c, self.elapsed(c).saturating_add(rtt))
    }

    /// Growth with the parameter `reno_paced`.
    fn avoid_as_linux(&mut self, p: &Params, c: &Conn, credit: u64, w: &mut Window) {
        let rules = Rules {
            scale: ((p.c.0.min(STEEPEST) << 10) >> RATIO_BITS).max(1),
            reno_eighths: reno_eighths(p),
            friendliness: p.friendliness,
            searching: self.cwnd_prior == 0,
        };
        let mut epoch = Epoch {
            runs: self.clock == Clock::Running,
            since: self.epoch,
            k: self.k,
            top: u64::from(self.w_max >> SEGMENT_BITS),
            reno_q: self.w_est_q,
        };
        let mut pace = Pace::of(self.memory);
        pace.grow(&rules, &mut epoch, c, credit, w);
        self.memory = pace.words();
        if epoch.runs {
            self.clock = Clock::Running;
            (self.epoch, self.k, self.w_est_q) = (epoch.since, epoch.k, epoch.reno_q);
            self.w_max = (epoch.top << SEGMENT_BITS).min(u32::MAX.into()) as u32;
        }
    }

    /// RFC 9438 figure 4: Reno's window grows by alpha segments per RTT, and by one segment per RTT
    /// above the window before the last cut.
    // RFC 9438-4.3-2
    fn grow_w_est(&mut self, p: &Params, c: &Conn, acked: u64, cwnd: u64) {
        // RFC 9438-4.3-3
        let alpha = if p.reno_beyond && reaches(c, self.w_est_q, self.cwnd_prior) {
            Ratio::ONE.0
        } else {
            alpha(p)
        };
        let more = mul_div(mul(alpha, u64::from(c.mss)), acked.min(cwnd), cwnd);
        self.w_est_q = (self.w_est_q + more.min(MAX_WINDOW_Q)).min(MAX_WINDOW_Q);
    }
}

impl CongestionAvoidance for Cubic {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "cubic",
        name: "CUBIC",
        origin: "RFC 9438, CUBIC for Fast and Long-Distance Networks",
        citation: "rfc9438",
        description: "After a loss the window follows C·(t-K)³ + W_max. It rises fast to the \
            window at which the loss occurred, is flat there, and then rises faster and faster. \
            The curve depends on time, not on round trips, and is never below an estimate of \
            Reno's window. A loss leaves 0.7 of FlightSize. The window moves towards the value of \
            the curve one smoothed RTT ahead, by at most half of itself per RTT. Time without data \
            to send, time in which the window did not limit the sender, and slow start do not \
            count. In the Reno-friendly region a window above the estimate does not change; the \
            RFC would reduce it to the estimate. A window below the estimate rises to it no faster \
            than in slow start. The curve counts the segments that the stack counts for an \
            acknowledgement, and the estimate counts all acknowledged bytes. W_max and the window \
            before the cut are kept to 1/64 segment, and undo restores the estimate to this \
            precision. Linux before 2.6.29 has c = 410/1024 and keep = 819/1024.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("hystart"), ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("c", Ratio::of(410, 1024).0, "`bic_scale` is 41, of 2^10 for each ten"),
        Departure::linux("keep", Ratio::of(717, 1024).0, "`beta`"),
        Departure::linux("keep_ecn", Ratio::of(717, 1024).0, "`beta`"),
        Departure::linux(
            "reno_beyond",
            0,
            "`bictcp_update` has one slope for Reno's window. RFC 9438 section 4.3 has Reno's own \
            slope beyond the window before the cut",
        ),
        Departure::linux(
            "reno_paced",
            1,
            "`bictcp_update` leaves the growth to Reno's window and to the curve to \
            `tcp_cong_avoid_ai`, over an RTT and in whole segments",
        ),
        Departure::ns3_filled(true, "`TcpCubic::IncreaseWindow` reads `m_isCwndLimited`"),
    ];

    fn init(_p: &Params, _c: &Conn) -> Cubic {
        Cubic {
            epoch: 0,
            prior_epoch: 0,
            w_est_q: 0,
            k: 0,
            w_max: 0,
            cwnd_prior: 0,
            memory: [0; 4],
            clock: Clock::Unset,
            prior_clock: Clock::Unset,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, _a: &Ack, w: &mut Window) {
        if p.reno_paced {
            // Only a reduction ends an epoch.
        } else if w.in_slow_start() {
            // The next congestion avoidance is a new stage.
            self.clock = Clock::Unset;
        } else if self.clock == Clock::Running && !c.cwnd_limited() {
            self.epoch = self.elapsed(c);
            // RFC 9438-4.2-1
            self.clock = Clock::Stopped;
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        if p.reno_paced {
            return self.avoid_as_linux(p, c, credit, w);
        }
        self.start_clock(p, c, w);
        let (cwnd, cwnd_q) = (w.cwnd(), w.cwnd_q());
        self.grow_w_est(p, c, a.acked, cwnd);
        let elapsed = self.elapsed(c);
        let counted = credit.max(u64::from(c.mss));
        // RFC 9438-4.3-1
        if p.friendliness && self.w_cubic_q(p, c, elapsed) < self.w_est_q {
            // At most the growth of slow start.
            w.add_q(excess(self.w_est_q, cwnd_q).min(counted << FRACTION_BITS));
            return;
        }
        let ahead = self.ahead_q(p, c);
        // The target is between the window and one and a half times it.
        // RFC 9438-4.2-3
        let gap_q = excess(ahead, cwnd_q).min(cwnd_q / 2);
        // RFC 9438-4.4-1, 9438-4.5-1
        w.add_q(mul_div(gap_q, counted, cwnd));
    }

    // RFC 9438-4.6-1
    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        self.prior_epoch = self.epoch;
        self.prior_clock = self.clock;
        if !p.reno_paced {
            let w_est = segments(c, self.w_est_q);
            self.memory = [self.k, self.w_max, self.cwnd_prior, w_est];
        }
        let keep = if why == CongestionEvent::Ecn { p.keep_ecn } else { p.keep };
        let cwnd = segments(c, w.cwnd_q());
        // RFC 9438-4.8-1
        self.w_max = if why == CongestionEvent::Timeout {
            0
        // RFC 9438-4.7-1
        } else if cwnd < self.w_max && p.fast_convergence {
            let raised = Ratio(Ratio::ONE.0 + keep.0).times(u64::from(cwnd)) / 2;
            raised.min(u64::from(u32::MAX)) as u32
        } else {
            cwnd
        };
        // In Linux, the state after a timeout is as before the first loss.
        let forgets = p.reno_paced && why == CongestionEvent::Timeout;
        self.cwnd_prior = if forgets { 0 } else { cwnd };
        if p.reno_paced {
            self.clock = Clock::Unset;
            self.memory = Pace::of(self.memory).reduced(forgets).words();
        }
        kept_flight(c, keep)
    }

    fn restart(&mut self, p: &Params, _c: &Conn, _w: &mut Window) {
        if !p.reno_paced {
            self.clock = Clock::Unset;
        }
    }

    /// RFC 9438 section 4.9.2: restores the state unless the window now exceeds the window before the
    /// cut.
    fn undo(&mut self, p: &Params, c: &Conn, w: &Window) {
        // RFC 9438-4.9.2-1
        if p.reno_paced || segments(c, w.cwnd_q()) > self.cwnd_prior {
            return;
        }
        self.epoch = self.prior_epoch;
        self.clock = self.prior_clock;
        let w_est;
        [self.k, self.w_max, self.cwnd_prior, w_est] = self.memory;
        self.w_est_q = bytes_q(c, w_est).min(w.cwnd_q());
    }

    // RFC 9438-4.2-1
    fn idle(&mut self, p: &Params, c: &Conn, gap: Span) {
        if self.clock != Clock::Running {
            return;
        }
        self.epoch = match p.reno_paced {
            true => Epoch::idled(self.epoch, c.now.0, gap.0),
            false => self.epoch.wrapping_add(gap.0),
        };
    }

    /// Begins a new stage of congestion avoidance. The Reno estimate of the last stage would cancel the
    /// restart window at once.
    fn fall_back(&mut self, p: &Params, _c: &Conn, _w: &Window) {
        if !p.reno_paced {
            self.clock = Clock::Unset;
        }
    }

    fn on_mss(&mut self, _p: &Params, c: &Conn, old: u32) {
        self.w_est_q = resized(c, old, self.w_est_q).min(MAX_WINDOW_Q);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [w_max, k, w_est] = TRACE;
        sink(w_max, u64::from(self.w_max));
        sink(k, u64::from(self.k) << TICK_BITS);
        sink(w_est, self.w_est_q >> FRACTION_BITS);
    }
}
