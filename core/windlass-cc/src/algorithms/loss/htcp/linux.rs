//! H-TCP with the arithmetic of `tcp_htcp.c`: whole numbers of segments, of ticks of the kernel's
//! clock, and of segments per second. Some fields of [`Htcp`] have a different meaning here:
//!
//! | field | here |
//! | --- | --- |
//! | `round_delivered` | low half of SND.UNA at the start of the measurement (origin of `packetcount`) |
//! | `round_rate`, `rate` | `Bi` and `maxB`, segments per second |
//! | `cut` | `old_maxB` in all bits except the lowest, which is `modeswitch` |
//! | `factor` | growth before the factor of the back-off; `alpha` is `2·factor·(1 - beta)` |
//! | `counted` | segments acknowledged since the window last grew (`snd_cwnd_cnt`) |

use super::{Htcp, Params, TICK};
use crate::arithmetic::math::{divisor, mul};
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::event::{Ack, Conn, Phase};
use crate::params::Ratio;
use crate::time::Span;

const SECOND: u64 = 1_000_000_000;

/// RTTs after a loss in which the throughput is not smoothed.
const FRESH_ROUNDS: u64 = 3;

/// Maximum rise of RTTmax per sample: `msecs_to_jiffies(20)`.
const MAX_RTT_STEP: u64 = 20_000_000;

/// Minimum RTT above which the back-off adapts: `msecs_to_jiffies(10)`.
const ADAPTABLE: u64 = 10_000_000;

/// Fractional bits of the kernel's `alpha` and `beta`.
const SHIFT: u32 = 7;

/// Number of ticks in a time that is a whole number of ticks.
fn ticks(p: &Params, ns: u64) -> u64 {
    ns / divisor(p.clock.0)
}

/// Ticks of the kernel's clock from a moment until now, rounded to the nearest number because the phase
/// of the moment within a tick is arbitrary. A clock that goes back counts as no time.
fn ticks_since(p: &Params, c: &Conn, moment: u64) -> u64 {
    let ns = c.now.0.wrapping_sub(moment);
    let tick = divisor(p.clock.0);
    if ns > u64::MAX / 2 { 0 } else { (ns + tick.get() / 2) / tick }
}

/// A span rounded up to whole ticks (`usecs_to_jiffies`), in nanoseconds.
fn rounded(p: &Params, span: Span) -> u64 {
    let tick = divisor(p.clock.0);
    mul(span.0.saturating_add(tick.get() - 1) / tick, tick.get())
}

/// `minRTT`, nanoseconds.
fn least_rtt(p: &Params, c: &Conn) -> u64 {
    if c.min_rtt.is_known() { rounded(p, c.min_rtt) } else { 0 }
}

/// The window in whole segments.
fn segments(c: &Conn, w: &Window) -> u64 {
    w.segments_q(c) >> FRACTION_BITS
}

impl Htcp {
    /// `measure_achieved_throughput`, for every acknowledgement.
    pub(super) fn measure(&mut self, p: &Params, c: &Conn, a: &Ack, w: &Window) {
        let least = least_rtt(p, c);
        if a.rtt.is_known() && c.phase == Phase::Open {
            let rtt = rounded(p, a.rtt) / TICK;
            let longest = u64::from(self.max_rtt).max(least / TICK);
            let longest =
                if rtt <= longest + MAX_RTT_STEP / TICK { longest.max(rtt) } else { longest };
            self.max_rtt = longest.min(u64::from(u32::MAX)) as u32;
        }
        if c.phase != Phase::Open {
            self.begin_measurement(c);
            return;
        }
        let bytes = (c.una as u32).wrapping_sub(self.round_delivered);
        let packets = u64::from(bytes) / divisor(c.mss.into());
        let enough = segments(c, w).checked_sub(self.growth().max(1 << SHIFT) >> SHIFT);
        let time = ticks_since(p, c, self.round_start);
        let round = ticks(p, least);
        if enough.is_some_and(|enough| packets >= enough) && time >= round && round > 0 {
            let rate = mul(packets, SECOND / divisor(p.clock.0)) / divisor(time);
            self.take_rate(p, c, rate.min(u64::from(u32::MAX >> 4)) as u32, round);
            self.begin_measurement(c);
        }
    }

    fn begin_measurement(&mut self, c: &Conn) {
        self.round_start = c.now.0;
        self.round_delivered = c.una as u32;
    }

    /// Takes a throughput of `rate` segments per second; `round` is the minimum RTT in ticks.
    fn take_rate(&mut self, p: &Params, c: &Conn, rate: u32, round: u64) {
        if ticks_since(p, c, self.since) / divisor(round) <= FRESH_ROUNDS {
            (self.round_rate, self.rate) = (rate, rate);
        } else {
            self.round_rate = (3 * self.round_rate + rate) / 4;
            self.rate = self.rate.max(self.round_rate);
        }
    }

    /// `htcp_alpha_update`.
    pub(super) fn update_growth(&mut self, p: &Params, c: &Conn) {
        let hz = divisor(SECOND / divisor(p.clock.0));
        let beyond = ticks_since(p, c, self.since).saturating_sub(ticks(p, p.low_speed.0));
        // Limit of nine hours: the growth then exceeds any window.
        let beyond = beyond.min(1 << 23);
        let square = (beyond / 2) * (beyond / 2) / hz;
        let mut factor = 1 + (10 * beyond + square) / hz;
        let round = ticks(p, least_rtt(p, c));
        if p.rtt_scaling && round > 0 {
            let scale = (8 * hz.get() / divisor(10 * round)).clamp(4, 80);
            factor = (8 * factor / divisor(scale)).max(1);
        }
        self.factor = factor.min(u64::from(u16::MAX)) as u16;
    }

    /// `alpha`, growth per round trip in segments with [`SHIFT`] fractional bits.
    fn growth(&self) -> u64 {
        2 * u64::from(self.factor) * ((1 << SHIFT) - u64::from(self.keep >> (16 - SHIFT)))
    }

    /// `htcp_cong_avoid` for an acknowledgement that counts `credit` bytes.
    pub(super) fn count(&mut self, p: &Params, c: &Conn, credit: u64, w: &mut Window) {
        // At the limit of the count, the growth is always due.
        let full = self.counted == u16::MAX;
        if full || (u64::from(self.counted) * self.growth()) >> SHIFT >= segments(c, w) {
            w.add(c.mss.into());
            self.counted = 0;
            self.update_growth(p, c);
        } else {
            let covered = (credit / divisor(c.mss.into())).clamp(1, u64::from(u16::MAX)) as u16;
            self.counted = self.counted.saturating_add(covered);
        }
    }

    /// `htcp_param_update`: sets the share that a loss leaves, and the growth after it, which depends
    /// on the time since the previous loss.
    pub(super) fn update(&mut self, p: &Params, c: &Conn) {
        let least = least_rtt(p, c);
        self.keep = self.update_backoff(p, least);
        self.update_growth(p, c);
        self.counted = 0;
        let (least, longest) = (least / TICK, u64::from(self.max_rtt));
        if least > 0 && longest > least {
            // In ticks, as the other times.
            let above = ticks(p, (longest - least) * TICK) * 95 / 100;
            let faded = least + mul(above, p.clock.0) / TICK;
            self.max_rtt = faded.min(u64::from(u32::MAX)) as u32;
        }
    }

    /// `htcp_beta_update`: the back-off adapts after two consecutive losses at a steady throughput.
    fn update_backoff(&mut self, p: &Params, least: u64) -> u16 {
        let (old, confirmed) = (self.cut >> 1, self.cut & 1 == 1);
        let change = self.rate.abs_diff(old);
        // The share is cut to 16 fractional bits, so the true value may be larger by one unit in the
        // last bit.
        let tolerated = mul(p.throughput_change.0 + 1, old.into());
        let steady = u64::from(change) << 16 <= tolerated;
        self.cut = (self.rate << 1) | u32::from(steady);
        let adapts = steady && confirmed && p.adaptive_backoff;
        if !adapts || least <= rounded(p, Span(ADAPTABLE)) || self.max_rtt == 0 {
            return whole(p.keep_min);
        }
        let ratio = mul(least / TICK, 1 << 16) / divisor(self.max_rtt.into());
        whole(Ratio(ratio.clamp(p.keep_min.0, p.keep_max.0.max(p.keep_min.0))))
    }
}

/// Cuts a share to [`SHIFT`] fractional bits; the result has 16.
fn whole(share: Ratio) -> u16 {
    let bits = (share.0 >> (16 - SHIFT)).min((1 << SHIFT) - 1) as u16;
    bits << (16 - SHIFT)
}
