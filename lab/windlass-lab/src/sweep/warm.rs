//! The warm-up of a run, and the goodput of the rest.

use std::fmt;
use std::str::FromStr;

use windlass_cc::{Span, Time};
use windlass_sim::config::FlowConfig;
use windlass_sim::{RunResult, Series};

use crate::compile::compile;
use crate::run::{Ran, RunError, RunRecord, Steady, Task};
use crate::scenario::RecordSpec;
use crate::stats::warmup::mser5;
use crate::units::Duration;

/// Number of equal intervals of a flow's time, for MSER-5.
const INTERVALS: usize = 1000;

/// The part of each flow's beginning that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// This time from the flow's start.
    Fixed(Span),
    /// The warm-up that MSER-5 finds in the flow's goodput, separately in each run.
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
            .map_err(|_| format!("invalid warm-up `{text}`; {advice}"))
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
    /// The recording that a run of this length needs: the delivered bytes. The interval is short enough for MSER-5,
    /// and long enough that a long run does not keep every packet in memory.
    pub(crate) fn record(self, duration: Span) -> RecordSpec {
        let interval = Span(duration.0 / (10 * INTERVALS as u64));
        RecordSpec { series: vec![Series::Delivered], interval, ..RecordSpec::default() }
    }

    /// The steady part of each flow of a run, in the order of the configuration.
    pub(super) fn steady(self, flows: &[FlowConfig], result: &RunResult) -> Vec<Option<Steady>> {
        let mut delivered = vec![Vec::new(); flows.len()];
        for s in result.samples.iter().filter(|s| s.series == Series::Delivered) {
            if let Some(points) = delivered.get_mut(s.flow as usize) {
                points.push((seconds(s.time), s.value as f64));
            }
        }
        let flows = flows.iter().zip(&result.flows).zip(&mut delivered);
        flows
            .map(|((config, flow), points)| {
                let active = Activity::of(config, flow.active_s);
                // The last change may be missing from the series, because it came too soon after the previous one.
                let end = points.last().map_or(active.end, |(last, _)| active.end.max(*last));
                points.push((end, flow.delivered_bytes as f64));
                self.rest(&Activity { end, ..active }, points)
            })
            .collect()
    }

    /// The steady part of a flow that was active in that time. `delivered` has the delivered bytes at each time.
    fn rest(self, active: &Activity, delivered: &[(f64, f64)]) -> Option<Steady> {
        let at = |t: f64| match delivered.partition_point(|(time, _)| *time <= t) {
            0 => 0.0,
            after => delivered[after - 1].1,
        };
        let Activity { start, end, .. } = *active;
        let from = match self {
            WarmUp::Fixed(time) => start + time.0 as f64 / 1e9,
            WarmUp::Mser => {
                let instant = |i: usize| start + (end - start) * i as f64 / INTERVALS as f64;
                let bytes = |i: usize| at(instant(i + 1)) - at(instant(i));
                instant(mser5(&(0..INTERVALS).map(bytes).collect::<Vec<f64>>())?)
            }
        };
        let left = active.after(from);
        // A flow that ends within its warm-up has no steady part.
        (left > 0.0)
            .then(|| Steady { from_s: from, goodput_bps: 8.0 * (at(end) - at(from)) / left })
    }
}

/// Times at which a flow was active, seconds of the run.
#[derive(Clone, Debug, Default)]
struct Activity {
    /// Its start, as drawn in this run.
    start: f64,
    end: f64,
    /// Times in which its source was silent, ascending.
    pauses: Vec<[f64; 2]>,
}

impl Activity {
    /// The activity of a flow that was active for `active_s` seconds, pauses not counted.
    fn of(flow: &FlowConfig, active_s: f64) -> Activity {
        let start = seconds(flow.start);
        let pauses: Vec<[f64; 2]> = flow.pauses.iter().map(|p| p.map(seconds)).collect();
        let end = pauses.iter().fold(start + active_s, |end, [from, until]| {
            if *from < end { end + until - from } else { end }
        });
        Activity { start, end, pauses }
    }

    /// Seconds from `from` to the end, without pauses.
    fn after(&self, from: f64) -> f64 {
        let paused = |[a, b]: &[f64; 2]| (b.min(self.end) - a.max(from)).max(0.0);
        self.end - from - self.pauses.iter().map(paused).sum::<f64>()
    }
}

fn seconds(t: Time) -> f64 {
    t.as_nanos() as f64 / 1e9
}

/// The record of a run, with the steady part of its flows.
pub(crate) fn recorded(
    task: &Task,
    ran: &Ran,
    warm_up: Option<WarmUp>,
) -> Result<RunRecord, RunError> {
    let mut record = task.record(ran);
    if let Some(warm_up) = warm_up {
        let config = compile(&task.scenario, task.seed)?;
        record.steady = warm_up.steady(&config.flows, &ran.result);
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 bytes per second, after ten seconds at 10 bytes per second.
    fn ramp(start: f64) -> Vec<(f64, f64)> {
        let bytes = |t: f64| if t < 10.0 { 10.0 * t } else { 100.0 + 100.0 * (t - 10.0) };
        (0..=1000).map(|i| f64::from(i) / 10.0).map(|t| (start + t, bytes(t))).collect()
    }

    fn from_to(start: f64, end: f64) -> Activity {
        Activity { start, end, pauses: Vec::new() }
    }

    #[test]
    fn a_fixed_warm_up_counts_from_the_flows_start() {
        let half = WarmUp::Fixed(Span(10_000_000_000));
        for start in [0.0, 50.0] {
            let steady = half.rest(&from_to(start, start + 100.0), &ramp(start)).unwrap();
            assert_eq!(steady.from_s, start + 10.0);
            assert!((steady.goodput_bps - 800.0).abs() < 1e-6, "{steady:?}");
        }
        let none = WarmUp::Fixed(Span(0)).rest(&from_to(0.0, 100.0), &ramp(0.0)).unwrap();
        assert!((none.goodput_bps - 8.0 * 9100.0 / 100.0).abs() < 1e-6, "{none:?}");
        assert_eq!(
            WarmUp::Fixed(Span(100_000_000_000)).rest(&from_to(0.0, 100.0), &ramp(0.0)),
            None
        );
    }

    #[test]
    fn mser_finds_where_the_ramp_ends() {
        let steady = WarmUp::Mser.rest(&from_to(50.0, 150.0), &ramp(50.0)).unwrap();
        assert!((59.5..=60.5).contains(&steady.from_s), "{steady:?}");
        assert!((steady.goodput_bps - 800.0).abs() < 1.0, "{steady:?}");
    }

    /// The steady part of a flow of this scenario in the run with this seed, and the goodput of the whole flow.
    fn steady_of(flow: &str, warm_up: &str, seed: u64) -> (Steady, f64) {
        let text = format!(
            "duration = \"40s\"\n[[link]]\nname = \"l\"\nbetween = [\"s\", \"d\"]\nrate = \"10Mbps\"\n\
             delay = \"10ms\"\nqueue = \"50pkt\"\n[record]\nseries = [\"delivered_bytes\"]\n\
             interval = \"10ms\"\n[[flow]]\nname = \"f\"\nfrom = \"s\"\nto = \"d\"\n{flow}"
        );
        let scenario = crate::scenario::Scenario::from_str(&text, "warm.toml").unwrap();
        let config = crate::compile::compile(&scenario, seed).unwrap();
        let result = crate::run::simulate(&scenario, seed).unwrap();
        let warm_up: WarmUp = warm_up.parse().unwrap();
        let steady = warm_up.steady(&config.flows, &result);
        (steady[0].unwrap(), result.flows[0].goodput_bps)
    }

    /// A transfer of 20 MB fills 10 Mbit/s (9.6 of payload) whenever it starts.
    #[test]
    fn a_drawn_start_is_the_flows_start() {
        let flow = "algorithm = \"newreno\"\njitter = \"10s\"\n\
                    traffic = { kind = \"bulk\", bytes = \"20MB\" }\n";
        for seed in 1..=4 {
            let (steady, whole) = steady_of(flow, "3s", seed);
            assert!((9.3e6..9.7e6).contains(&steady.goodput_bps), "seed {seed}: {steady:?}");
            assert!(
                steady.from_s > 3.0 && steady.goodput_bps >= 0.99 * whole,
                "{steady:?} {whole}"
            );
        }
    }

    /// 100 bytes per second for 4 s, nothing for 2 s, then 100 bytes per second.
    #[test]
    fn pauses_of_a_source_are_left_out() {
        let bytes = |t: f64| 100.0 * (t.min(4.0) + (t - 6.0).max(0.0));
        let points: Vec<_> =
            (0..=100).map(|i| f64::from(i) / 10.0).map(|t| (t, bytes(t))).collect();
        let active = Activity { start: 0.0, end: 10.0, pauses: vec![[4.0, 6.0]] };
        for warm_up in ["0s", "2s", "5s", "7s"].map(|w| w.parse::<WarmUp>().unwrap()) {
            let steady = warm_up.rest(&active, &points).unwrap();
            assert!((steady.goodput_bps - 800.0).abs() < 1e-6, "{warm_up}: {steady:?}");
        }
    }

    /// A source of 1 Mbit/s while it sends.
    #[test]
    fn a_constant_rate_source_has_the_same_goodput_after_its_warm_up() {
        let flow = "algorithm = \"none\"\ntraffic = { kind = \"cbr\", transport = \"udp\", \
                    rate = \"1Mbps\", packet = \"1000B\", \
                    on = [[\"2s\", \"6s\"], [\"8s\", \"20s\"], [\"31s\", \"35s\"]] }\n";
        for (warm_up, seed) in [("0s", 1), ("5s", 1), ("9s", 2)] {
            let (steady, whole) = steady_of(flow, warm_up, seed);
            let ratio = steady.goodput_bps / whole;
            assert!((0.99..1.01).contains(&ratio), "{warm_up}: {steady:?} of {whole}");
        }
    }

    #[test]
    fn warm_ups_are_read_as_they_are_written() {
        for text in ["10s", "500ms", "mser"] {
            assert_eq!(text.parse::<WarmUp>().unwrap().to_string(), text);
        }
        assert!("10".parse::<WarmUp>().unwrap_err().contains("write a time such as `10s`"));
    }
}
