//! Hoe's packet pair: sets the threshold to the estimated capacity of the path.

use super::{Described, SlowStart, TICK, ticks};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Computation of a rate from three closely spaced acknowledgements.
    pub enum Estimator {
        /// The slope of the least-squares line through the three points.
        LeastSquares = "least-squares",
        /// The bytes of the second or third acknowledgement over the gap before it; the shorter gap
        /// relative to its bytes is used.
        LeastGap = "least-gap",
    }
}

crate::parameters! {
    /// Parameters of Hoe's packet pair.
    pub struct PacketPairParams {
        /// Computation of a rate from three closely spaced acknowledgements.
        estimator: Estimator = Estimator::LeastSquares, Estimator::KIND,
            "Hoe 1996, section 3.3";
        /// Maximum gap between closely spaced acknowledgements, as a share of the minimum RTT; it
        /// keeps the acknowledgements of one flight together.
        spacing: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE }, "Windlass; the paper gives none";
    }
}

/// Maximum time, in ticks (34 s), and maximum number of bytes for which the products of an estimate do
/// not overflow.
const MAX_TICKS: u64 = 1 << 25;
const MAX_BYTES: u64 = 1 << 31;

/// Hoe's packet pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PacketPair {
    /// Arrival time of the first acknowledgement.
    first_at: Time,
    /// Bytes that the second acknowledgement covers beyond the first.
    second_bytes: u64,
    /// Time from the first to the second acknowledgement, ticks.
    second_at: u32,
    /// Number of stored acknowledgements.
    held: u8,
    /// True if the estimate is complete or no longer needed.
    done: bool,
}

/// A later acknowledgement relative to the first: ticks and bytes.
#[derive(Clone, Copy)]
struct Point {
    at: u64,
    bytes: u64,
}

impl PacketPair {
    fn begin(&mut self, now: Time) {
        *self = PacketPair { first_at: now, held: 1, ..PacketPair::EMPTY };
    }

    const EMPTY: PacketPair =
        PacketPair { first_at: Time::ZERO, second_bytes: 0, second_at: 0, held: 0, done: false };

    /// Bytes that arrive in an RTT of `rtt` ticks, at the slope of the line through the origin, `b` and
    /// `c`. With three points, the sums of squares equal the sums for centred times.
    fn least_squares(b: Point, c: Point, rtt: u64) -> u64 {
        let (sum_at, sum_bytes) = (b.at + c.at, b.bytes + c.bytes);
        let crossed = 3 * (b.at * b.bytes + c.at * c.bytes);
        let squared = 3 * (b.at * b.at + c.at * c.at);
        // Both differences are positive: time and bytes never decrease from point to point, and three
        // times a sum of squares exceeds the square of the sum.
        let rise = crossed.saturating_sub(sum_at * sum_bytes);
        let run = squared.saturating_sub(sum_at * sum_at);
        mul_div(rise, rtt, run)
    }

    fn least_gap(b: Point, c: Point, rtt: u64) -> u64 {
        let first = mul_div(b.bytes, rtt, b.at);
        let second = mul_div(c.bytes.saturating_sub(b.bytes), rtt, c.at.saturating_sub(b.at));
        first.max(second)
    }

    /// Takes the third acknowledgement. Returns the bytes that fit the path, `None` if all three
    /// arrived at once.
    fn estimate(&self, p: &PacketPairParams, third: Point, rtt: Span) -> Option<u64> {
        let second = Point {
            at: u64::from(self.second_at).min(MAX_TICKS),
            bytes: self.second_bytes.min(MAX_BYTES),
        };
        let third = Point { at: third.at.min(MAX_TICKS), bytes: third.bytes.min(2 * MAX_BYTES) };
        let rtt = u64::from(ticks(rtt));
        let bytes = match p.estimator {
            Estimator::LeastSquares => PacketPair::least_squares(second, third, rtt),
            Estimator::LeastGap => PacketPair::least_gap(second, third, rtt),
        };
        (bytes < MAX_WINDOW).then_some(bytes)
    }
}

impl Described for PacketPair {
    const INFO: &'static Info = &Info {
        id: "packet-pair",
        name: "Hoe's packet pair",
        origin: "J. C. Hoe, Improving the Start-up Behavior of a Congestion Control Scheme for TCP, \
            SIGCOMM 1996, section 3.3",
        citation: "hoe1996improving",
        description: "Standard slow start with an estimate of the path's capacity as its first \
            threshold, at least two segments. The estimate is a rate times the minimum RTT. The \
            rate is computed from the spacing of three closely spaced acknowledgements, by least \
            squares. It is estimated once, before the first loss or idle time. The paper does not \
            define closely spaced acknowledgements. Here they belong to one flight, with gaps of \
            at most half the minimum RTT. Cross traffic and delayed acknowledgements bias the \
            estimate. Times are kept in units of 1.024 µs.",
        params: PacketPairParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for PacketPair {
    type Params = PacketPairParams;

    fn init(_p: &PacketPairParams, _c: &Conn) -> PacketPair {
        PacketPair::EMPTY
    }

    fn observe(&mut self, p: &PacketPairParams, c: &Conn, a: &Ack, w: &mut Window) {
        let rtt = c.min_rtt.min(a.rtt);
        if self.done || !w.in_slow_start() || !rtt.is_known() {
            return;
        }
        let since = c.now.since(self.first_at);
        let gap = since.0.saturating_sub(mul(u64::from(self.second_at), TICK));
        if self.held == 0 || gap > p.spacing.times(rtt.0) {
            self.begin(c.now);
            return;
        }
        let bytes = self.second_bytes.saturating_add(a.acked);
        if self.held == 1 {
            self.held = 2;
            self.second_at = ticks(since);
            self.second_bytes = bytes;
            return;
        }
        match self.estimate(p, Point { at: u64::from(ticks(since)), bytes }, rtt) {
            Some(held) => {
                self.done = true;
                w.set_ssthresh(held.max(mul(2, u64::from(c.mss))));
            }
            // They arrived at once: compressed on the path, they give no rate.
            None => self.begin(c.now),
        }
    }

    #[inline]
    fn grow(&mut self, _p: &PacketPairParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }

    fn restart(&mut self, _p: &PacketPairParams, _c: &Conn) {
        self.done = true;
    }
}
