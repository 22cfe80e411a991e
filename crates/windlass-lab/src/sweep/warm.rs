//! The warm-up of a run: what is left out, and the goodput of the rest.

use std::fmt;
use std::str::FromStr;

use windlass_cc::Span;
use windlass_sim::{RunResult, Series};

use crate::run::Steady;
use crate::scenario::{RecordSpec, Scenario};
use crate::stats::warmup::mser5;
use crate::units::Duration;

/// Intervals of equal length that a flow's time is cut into for MSER-5.
const INTERVALS: usize = 1000;

/// What of each flow's beginning is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// This long from the flow's start.
    Fixed(Span),
    /// As much as MSER-5 says of the flow's goodput, run by run.
    Mser,
}

impl FromStr for WarmUp {
    type Err = String;

    fn from_str(text: &str) -> Result<WarmUp, String> {
        if text == "mser" {
            return Ok(WarmUp::Mser);
        }
        let advice = "write a time such as `10s`, or `mser`";
        text.parse()
            .map(|Duration(time)| WarmUp::Fixed(time))
            .map_err(|_| format!("`{text}` is no warm-up; {advice}"))
    }
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WarmUp::Fixed(time) => Duration(*time).fmt(f),
            WarmUp::Mser => f.write_str("mser"),
        }
    }
}

impl WarmUp {
    /// What a run of this length has to record for it: the bytes delivered, so often that
    /// intervals are told apart without holding every packet of a long run in memory.
    pub(super) fn record(self, duration: Span) -> RecordSpec {
        let interval = Span(duration.0 / (10 * INTERVALS as u64));
        RecordSpec { series: vec![Series::Delivered], interval, ..RecordSpec::default() }
    }

    /// The flows of a run after their warm-up, in the scenario's order.
    pub(super) fn steady(self, scenario: &Scenario, result: &RunResult) -> Vec<Option<Steady>> {
        let mut delivered = vec![Vec::new(); scenario.flows.len()];
        for s in result.samples.iter().filter(|s| s.series == Series::Delivered) {
            if let Some(points) = delivered.get_mut(s.flow as usize) {
                points.push((s.time.as_nanos() as f64 / 1e9, s.value as f64));
            }
        }
        let flows = scenario.flows.iter().zip(&result.flows).zip(&delivered);
        flows
            .map(|((spec, flow), points)| {
                let start = spec.start.0 as f64 / 1e9;
                let end = start + flow.active_s;
                // The last change may have come too soon after the one before to be recorded.
                let points = [points.as_slice(), &[(end, flow.delivered_bytes as f64)]].concat();
                self.rest(start, end, &points)
            })
            .collect()
    }

    /// A flow that was active from `start` to `end`, seconds, and had brought over so many bytes at
    /// each instant.
    fn rest(self, start: f64, end: f64, delivered: &[(f64, f64)]) -> Option<Steady> {
        let at = |t: f64| match delivered.partition_point(|(time, _)| *time <= t) {
            0 => 0.0,
            after => delivered[after - 1].1,
        };
        let from = match self {
            WarmUp::Fixed(time) => start + time.0 as f64 / 1e9,
            WarmUp::Mser => {
                let instant = |i: usize| start + (end - start) * i as f64 / INTERVALS as f64;
                let bytes = |i: usize| at(instant(i + 1)) - at(instant(i));
                instant(mser5(&(0..INTERVALS).map(bytes).collect::<Vec<f64>>())?)
            }
        };
        // Nothing is left of a flow that ends with its warm-up.
        (from < end).then(|| Steady {
            from_s: from,
            goodput_bps: 8.0 * (at(end) - at(from)) / (end - from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred bytes a second, after ten seconds at a tenth of that.
    fn ramp(start: f64) -> Vec<(f64, f64)> {
        let bytes = |t: f64| if t < 10.0 { 10.0 * t } else { 100.0 + 100.0 * (t - 10.0) };
        (0..=1000).map(|i| f64::from(i) / 10.0).map(|t| (start + t, bytes(t))).collect()
    }

    #[test]
    fn a_fixed_warm_up_counts_from_the_flows_start() {
        let half = WarmUp::Fixed(Span(10_000_000_000));
        for start in [0.0, 50.0] {
            let steady = half.rest(start, start + 100.0, &ramp(start)).unwrap();
            assert_eq!(steady.from_s, start + 10.0);
            assert!((steady.goodput_bps - 800.0).abs() < 1e-6, "{steady:?}");
        }
        let none = WarmUp::Fixed(Span(0)).rest(0.0, 100.0, &ramp(0.0)).unwrap();
        assert!((none.goodput_bps - 8.0 * 9100.0 / 100.0).abs() < 1e-6, "{none:?}");
        assert_eq!(WarmUp::Fixed(Span(100_000_000_000)).rest(0.0, 100.0, &ramp(0.0)), None);
    }

    #[test]
    fn mser_finds_where_the_ramp_ends() {
        let steady = WarmUp::Mser.rest(50.0, 150.0, &ramp(50.0)).unwrap();
        assert!((59.5..=60.5).contains(&steady.from_s), "{steady:?}");
        assert!((steady.goodput_bps - 800.0).abs() < 1.0, "{steady:?}");
    }

    #[test]
    fn warm_ups_are_read_as_they_are_written() {
        for text in ["10s", "500ms", "mser"] {
            assert_eq!(text.parse::<WarmUp>().unwrap().to_string(), text);
        }
        assert!("10".parse::<WarmUp>().unwrap_err().contains("write a time such as `10s`"));
    }
}
