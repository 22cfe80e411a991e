//! CUBIC's growth in Linux (`bictcp_update`): in whole segments, with times in ticks.

use crate::arithmetic::math::{cbrt, div, divisor, excess, mul, mul_shift};
use crate::arithmetic::window::{Window, counted_segments, segment_q};
use crate::event::Conn;

/// A tick, nanoseconds. `HZ` is 250 in most distributions.
const TICK: u64 = 4_000_000;
/// Ticks in a second.
const RATE: u64 = 250;
/// Ticks for which the number of segments per growth holds while the window does not change (`HZ / 32`).
const HOLD: u32 = 7;
/// Fractional bits of seconds in the times of the curve (`BICTCP_HZ`).
const SECOND_BITS: u32 = 10;
/// Maximum time of the curve, half an hour with [`SECOND_BITS`]: its cube fits 64 bits.
const LONGEST: u64 = 1 << 21;
/// Length of 2^-10 s in the unit of [`Epoch::k`], with 11 fractional bits.
const K_UNITS: u64 = 1_953_125;

/// Constants of the growth.
pub(super) struct Rules {
    /// C, 2^-10 segments per cubed second (ten times `bic_scale`), at least 1.
    pub scale: u64,
    /// The eighths of a window that give Reno's window a segment (`beta_scale`).
    pub reno_eighths: u64,
    /// Keep the window at least at Reno's window.
    pub friendliness: bool,
    /// Grow by at least a twentieth per RTT, before the first loss and after a timeout.
    pub searching: bool,
}

/// An epoch of growth.
pub(super) struct Epoch {
    /// True if it has begun.
    pub runs: bool,
    /// Time at which it began, nanoseconds, at a tick.
    pub since: u64,
    /// Time from then to the plateau, in units of 2^10 ns.
    pub k: u32,
    /// The plateau, segments. Before the epoch begins, the window before the last reduction.
    pub top: u64,
    /// Reno's window, bytes, as in [`Window::cwnd_q`].
    pub reno_q: u64,
}

/// Growth by a segment per number of acknowledged segments.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Tick of the last computation of `per` (`last_time`), and the window then, segments (`last_cwnd`).
    at: u32,
    cwnd: u32,
    /// Segments acknowledged towards the next segment of Reno's window (`ack_cnt`).
    acks: u32,
    /// Number of acknowledged segments per segment of growth (`cnt`).
    per: u16,
    /// Segments acknowledged towards the next segment of growth (`snd_cwnd_cnt`).
    counted: u16,
}

/// The number of whole ticks at a time; it wraps after 198 days.
fn tick(ns: u64) -> u32 {
    div(ns, divisor(TICK)) as u32
}

fn time(tick: u32) -> u64 {
    mul(tick.into(), TICK)
}

impl Pace {
    /// Reads [`words`](Pace::words).
    pub(super) fn of([at, cwnd, acks, counts]: [u32; 4]) -> Pace {
        Pace { at, cwnd, acks, per: (counts >> 16) as u16, counted: counts as u16 }
    }

    pub(super) fn words(self) -> [u32; 4] {
        [self.at, self.cwnd, self.acks, u32::from(self.per) << 16 | u32::from(self.counted)]
    }

    /// The pace after a reduction: the segments towards the next growth are forgotten, and all after a timeout
    /// (`bictcp_reset`).
    pub(super) fn reduced(self, timeout: bool) -> Pace {
        if timeout { Pace::of([0; 4]) } else { Pace { counted: 0, ..self } }
    }

    /// Increases the window for `credit` acknowledged bytes (`bictcp_update`, `tcp_cong_avoid_ai`).
    pub(super) fn grow(&mut self, r: &Rules, e: &mut Epoch, c: &Conn, credit: u64, w: &mut Window) {
        let cwnd = w.whole_segments(c);
        let acked = counted_segments(credit, divisor(c.mss.into())).min(u32::MAX.into()) as u32;
        let now = tick(c.now.0);
        let since = now.wrapping_sub(self.at);
        self.acks = self.acks.saturating_add(acked);
        if u64::from(self.cwnd) != cwnd || since > HOLD {
            if !e.runs || since > 0 {
                (self.cwnd, self.at) = (cwnd.min(u32::MAX.into()) as u32, now);
                if !e.runs {
                    e.begin(r, c, cwnd);
                    self.acks = acked;
                }
                self.per = e.per_growth(r, c, cwnd);
            }
            self.follow_reno(r, e, c, cwnd);
        }
        self.counted = w.add_counted(c, self.counted.into(), credit, self.per.max(2).into()) as u16;
    }

    /// Reno's window grows by a segment per number of acknowledged segments. The window grows at least to it in an
    /// RTT.
    fn follow_reno(&mut self, r: &Rules, e: &mut Epoch, c: &Conn, cwnd: u64) {
        if !r.friendliness {
            return;
        }
        let segment = segment_q(c);
        let per = divisor(mul(cwnd, r.reno_eighths) >> 3);
        let grown = div(self.acks.saturating_sub(1).into(), per);
        self.acks = excess(self.acks.into(), mul(grown, per.get())) as u32;
        e.reno_q = e.reno_q.saturating_add(mul(grown, segment.get()));
        let beyond = excess(div(e.reno_q, segment), cwnd);
        if beyond > 0 {
            let most = div(cwnd, divisor(beyond)).min(u16::MAX.into()) as u16;
            self.per = self.per.min(most);
        }
    }
}

impl Epoch {
    fn begin(&mut self, r: &Rules, c: &Conn, cwnd: u64) {
        // Below 2^63.
        let lacking = excess(self.top, cwnd).min(1 << 23);
        let cube = mul(div(1 << (10 + 3 * SECOND_BITS), divisor(r.scale)), lacking);
        *self = Epoch {
            runs: true,
            since: time(tick(c.now.0)),
            k: (mul(cbrt(cube), K_UNITS) >> 11).min(u32::MAX.into()) as u32,
            top: self.top.max(cwnd),
            reno_q: mul(cwnd, segment_q(c).get()),
        };
    }

    /// The number of acknowledged segments per segment of growth, for the window of the curve one minimum RTT ahead.
    fn per_growth(&self, r: &Rules, c: &Conn, cwnd: u64) -> u16 {
        let rtt = if c.min_rtt.is_known() { c.min_rtt.0 } else { 0 };
        let since = u64::from(tick(c.now.0).wrapping_sub(tick(self.since)));
        let ahead = since + div(rtt.saturating_add(TICK - 1), divisor(TICK));
        let t = div(ahead << SECOND_BITS, divisor(RATE));
        // Rounded up, because K was cut to its unit.
        let k = div((u64::from(self.k) << 11) + K_UNITS - 1, divisor(K_UNITS));
        let offset = t.abs_diff(k).min(LONGEST);
        let away = mul_shift(mul(mul(offset, offset), offset), r.scale, 3 * SECOND_BITS) >> 10;
        let target = if t < k { excess(self.top, away) } else { self.top + away };
        let per = match excess(target, cwnd) {
            0 => mul(100, cwnd),
            lacking => div(cwnd, divisor(lacking)),
        };
        let most = if r.searching { 20 } else { u16::MAX.into() };
        per.min(most) as u16
    }

    /// Moves the beginning by an idle time, at most to now (`CA_EVENT_TX_START`).
    pub(super) fn idled(since: u64, now: u64, gap: u64) -> u64 {
        let (now, before) = (tick(now), tick(now.saturating_sub(gap)));
        let ran = now.wrapping_sub(tick(since));
        time(now.wrapping_sub(ran.saturating_sub(now.wrapping_sub(before))))
    }
}
