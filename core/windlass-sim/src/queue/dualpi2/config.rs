//! Parameters of DualPI2, and their derivation from RTTs.

use windlass_cc::Span;

use super::super::pie::MAX_GAIN;
use super::super::waiting::check_share;

/// Rules of the decisions. The variant also selects the defaults ([`DualPi2::of`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// RFC 9332 Appendix A: marks and drops follow each other without randomness. The L queue marks
    /// by its own delay only if it holds more than one packet of the largest size.
    Rfc9332,
    /// Linux's `sch_dualpi2` (7.3): marks and drops are drawn at random, and the controller's
    /// probability has no effect while less than two packets of the largest size wait. The weights
    /// are rounded as in the kernel ([`DualPi2::kernel_gain`]).
    Linux,
}

impl Variant {
    /// Every variant with its name in scenarios.
    pub const ALL: [(&'static str, Variant); 2] =
        [("rfc9332", Variant::Rfc9332), ("linux", Variant::Linux)];
}

/// Choice of the queue that is served if packets wait in both (RFC 9332 section 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Weighted round robin by bytes, with a credit that protects the C queue.
    Weighted,
    /// Time-shifted FIFO: the packet that waits longest, if [`DualPi2::shift`] is added to the waits
    /// of the L queue.
    TimeShifted,
}

impl Scheduler {
    /// Every scheduler with its name in scenarios.
    pub const ALL: [(&'static str, Scheduler); 2] =
        [("weighted", Scheduler::Weighted), ("time-shifted", Scheduler::TimeShifted)];
}

/// Dual-queue coupled AQM with a PI² controller (RFC 9332 Appendix A).
///
/// Packets with ECT(1) or CE wait in the L queue, all others in the C queue. One controller computes
/// a base probability `p` from the longer of both delays. C packets are marked, or dropped if they
/// are not ECN-capable, with `p²`, and L packets are marked with `coupling · p` or by the delay of
/// their own queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2 {
    /// Rules of the decisions.
    pub variant: Variant,
    /// Reference delay.
    pub target: Span,
    /// Time between adjustments, Tupdate; at least 1 ns.
    pub update: Span,
    /// Weight of the deviation from the target, per second.
    pub alpha: f64,
    /// Weight of the change since the last adjustment, per second.
    pub beta: f64,
    /// Coupling factor k, 1 to 100.
    pub coupling: f64,
    /// Delay above which the L queue marks some packets.
    pub ramp_start: Span,
    /// Delay above which the L queue marks all packets; equal to `ramp_start` for a step.
    pub ramp_end: Span,
    /// Choice of the queue that is served.
    pub scheduler: Scheduler,
    /// Share of the rate for the C queue with [`Scheduler::Weighted`].
    pub classic_share: f64,
    /// Advantage of the L queue with [`Scheduler::TimeShifted`].
    pub shift: Span,
    /// True to drop packets of both queues when `coupling · p` exceeds one. False to keep `p` at its
    /// value there, so that the queue grows to its limit.
    pub drop_on_overload: bool,
    /// Maximum number of IP bytes in both queues, in addition to the queue's limit.
    pub memory: u64,
}

/// Maximum coupling factor.
pub const MAX_COUPLING: f64 = 100.0;

impl DualPi2 {
    /// Values of RFC 9332 Appendix A for a maximum RTT of 100 ms: weights of 0.15 Hz and 3 Hz, and a
    /// ramp from 800 µs to 1200 µs. The share of the C queue is Linux's.
    pub const RFC9332: DualPi2 = DualPi2 {
        variant: Variant::Rfc9332,
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        alpha: 0.15,
        beta: 3.0,
        coupling: 2.0,
        ramp_start: Span(800_000),
        ramp_end: Span(1_200_000),
        scheduler: Scheduler::Weighted,
        classic_share: 0.1,
        shift: Span::from_millis(30),
        drop_on_overload: true,
        memory: 1 << 40,
    };

    /// Defaults of Linux's `sch_dualpi2`, except its limits.
    pub const LINUX: DualPi2 = DualPi2 {
        variant: Variant::Linux,
        update: Span::from_millis(16),
        alpha: 41.0 / 256.0,
        beta: 819.0 / 256.0,
        ramp_start: Span::from_millis(1),
        ramp_end: Span::from_millis(1),
        ..DualPi2::RFC9332
    };

    /// The defaults of a variant.
    pub const fn of(variant: Variant) -> DualPi2 {
        match variant {
            Variant::Rfc9332 => DualPi2::RFC9332,
            Variant::Linux => DualPi2::LINUX,
        }
    }

    /// The same discipline for flows with a typical and a maximum RTT (RFC 9332 Appendix A). The
    /// typical RTT becomes the target; without it, it is a sixth of the maximum, as in `tc`.
    pub fn for_rtts(self, max: Span, typical: Option<Span>) -> DualPi2 {
        let target = typical.unwrap_or(Span(max.0 / 6));
        let update = Span(target.0.min(max.0 / 3).max(1));
        let seconds = |span: Span| span.0 as f64 / 1e9;
        let rtt = seconds(max).max(1e-9);
        DualPi2 {
            target,
            update,
            alpha: (0.1 * seconds(update) / (rtt * rtt)).min(MAX_GAIN),
            beta: (0.3 / rtt).min(MAX_GAIN),
            ..self
        }
    }

    /// The weight that Linux's kernel uses for `gain`: whole 256ths, and then whole units of its
    /// arithmetic with 32 bits of probability.
    pub fn kernel_gain(gain: f64) -> f64 {
        kernel_units(gain) * UNIT / 256.0
    }

    pub(in super::super) fn check(&self) -> Result<(), String> {
        check_share("DualPI2's share of the C queue", self.classic_share)?;
        if self.update == Span::ZERO {
            return Err("DualPI2's time between adjustments must be at least 1 ns".to_string());
        }
        if let Some(gain) =
            [self.alpha, self.beta].iter().find(|gain| !(0.0..=MAX_GAIN).contains(*gain))
        {
            return Err(format!("DualPI2's weights must be from 0 to {MAX_GAIN}, not {gain}"));
        }
        if !(1.0..=MAX_COUPLING).contains(&self.coupling) {
            let k = self.coupling;
            return Err(format!("DualPI2's coupling must be from 1 to {MAX_COUPLING}, not {k}"));
        }
        if self.ramp_start > self.ramp_end {
            return Err("the start of DualPI2's ramp must not exceed its end".to_string());
        }
        Ok(())
    }
}

/// 256ths of a weight in one unit of the kernel: nanoseconds of a second over a quarter of 2³² - 1.
const UNIT: f64 = 4e9 / 4_294_967_295.0;

/// The weight in units of the kernel. `tc` computes it with single precision.
fn kernel_units(gain: f64) -> f64 {
    (f64::from((gain * 256.0) as f32).floor() / UNIT).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight that `tc` shows: whole 256ths of the kernel's units.
    fn shown(gain: f64) -> f64 {
        (kernel_units(gain) * UNIT).floor() / 256.0
    }

    #[test]
    fn weights_from_rtts_equal_the_known_answers_of_tc() {
        let millis = Span::from_millis;
        // tc-testing 2130 and 90c1, and the defaults as a kernel of Linux 7.3 shows them.
        let p = DualPi2::LINUX.for_rtts(millis(200), Some(millis(20)));
        assert_eq!((p.target, p.update), (millis(20), millis(20)));
        assert_eq!((shown(p.alpha), shown(p.beta)), (0.042_968_75, 1.496_093_75));
        let p = DualPi2::LINUX.for_rtts(millis(300), None);
        assert_eq!((p.target, p.update), (millis(50), millis(50)));
        assert_eq!((shown(p.alpha), shown(p.beta)), (0.050_781_25, 0.996_093_75));
        let p = DualPi2::LINUX;
        assert_eq!((shown(p.alpha), shown(p.beta)), (0.156_25, 3.195_312_5));
    }

    #[test]
    fn the_defaults_of_the_rfc_follow_from_its_rtts() {
        let p = DualPi2::RFC9332.for_rtts(Span::from_millis(100), Some(Span::from_millis(15)));
        assert!((p.alpha - 0.15).abs() < 1e-12 && (p.beta - 3.0).abs() < 1e-12);
        assert_eq!((p.target, p.update), (DualPi2::RFC9332.target, DualPi2::RFC9332.update));
    }
}
