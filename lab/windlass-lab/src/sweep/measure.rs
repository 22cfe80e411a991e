//! The metrics of a sweep, whose names may contain a `*`, and the required precision.

use std::fmt;

use super::warm::WarmUp;
use crate::claims::{Kind, Metric, matches};
use crate::run::fields::Need;
use crate::run::{RunRecord, World};
use crate::scenario::{FlowSpec, Scenario, Traffic};
use crate::stats::sequential::Width;
use crate::stats::share::Range;
use windlass_sim::radio::Hops;

/// A quantity of a run: `flow.download.goodput_bps`, or `flow.*.goodput_bps` for the mean over all
/// flows. A `*` in a name stands for any text.
#[derive(Clone, Debug)]
pub struct Measure {
    path: String,
    metric: Metric,
}

impl Measure {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// A message that states the fault and the remedy.
    pub fn parse(path: &str) -> Result<Measure, String> {
        let path = path.trim();
        Ok(Measure { path: path.to_owned(), metric: Metric::parse(path)? })
    }

    /// The path as written.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if the metric exists only in runs with a warm-up.
    pub fn needs_warm_up(&self) -> bool {
        self.metric.field.need == Some(Need::WarmUp)
    }

    /// True if the metric exists only in runs that measure the delay of each packet.
    pub fn needs_delays(&self) -> bool {
        self.metric.field.need == Some(Need::Delays)
    }

    /// Unit, from the field's name; empty for counts and fractions.
    pub fn unit(&self) -> &'static str {
        self.metric.field.unit()
    }

    /// Range of possible values in runs of this length. Delays and latencies are within the run.
    pub fn range(&self, longest_s: f64) -> Range {
        match self.metric.field.unit() {
            _ if self.metric.field.share => Range::SHARE,
            "ms" => Range::up_to(longest_s * 1e3),
            _ => Range::POSITIVE,
        }
    }

    /// Number of the events of which the value is a share; `None` for other values.
    pub fn events(&self, run: &RunRecord) -> Option<f64> {
        let field = self.metric.kind.metric(self.metric.field.events?)?;
        let events = Metric { field, name: self.metric.name.clone(), ..self.metric };
        let all = events.values(run, |name| matches(&self.metric.name, name))?;
        Some(all.iter().sum())
    }

    /// The value in a run: the mean over all objects whose name matches; `None` if one of them has no value.
    pub fn of(&self, run: &RunRecord) -> Option<f64> {
        self.metric.mean(run, |name| matches(&self.metric.name, name))
    }

    /// The reason why no run of the scenario on this backend can have a value, if it is known before a run.
    pub fn lacks(
        &self,
        scenario: &Scenario,
        world: World,
        warm_up: Option<WarmUp>,
    ) -> Option<&'static str> {
        let simulated = world == World::Sim;
        let radios = || scenario.wifi.iter().map(|w| &w.radio);
        let of_links = || scenario.links.iter().filter_map(|link| link.radio.as_ref());
        let meant =
            |f: &&FlowSpec| self.metric.kind == Kind::Run || matches(&self.metric.name, &f.name);
        let mut flows = scenario.flows.iter().filter(meant);
        let (has, why) = match self.metric.field.need? {
            Need::WarmUp => {
                let fixed = match warm_up {
                    Some(WarmUp::Fixed(time)) => time,
                    _ => return None,
                };
                (fixed < scenario.duration, "the warm-up leaves nothing of a run")
            }
            Need::Connection => {
                let has_one = |f: &FlowSpec| f.controller.is_some() && f.ways().len() == 1;
                (flows.any(has_one), "no flow is a connection over one path")
            }
            Need::Delays => (simulated, "only the simulator measures the delay of a packet"),
            Need::Bins if !simulated => (false, "only the simulator counts by intervals"),
            Need::Bins if scenario.flows.len() != 2 => {
                (false, "the metric is for the second of exactly two flows")
            }
            Need::Bins => (
                scenario.record.bins.0 > 0,
                "the scenario does not count by intervals; --set record.bins=1s counts by seconds",
            ),
            Need::Deadline => {
                let has_one = |f: &FlowSpec| f.traffic.deadline().is_some();
                (flows.any(has_one), "no flow has messages with a `deadline`")
            }
            Need::Connections => (
                scenario.flows.iter().any(|f| f.connections.is_some())
                    || scenario.outages.iter().any(|outage| outage.reboot),
                "no flow has `connect`, `reconnect` or `dialogue`, and no node reboots",
            ),
            Need::Exchanges => (
                flows.any(|f| matches!(f.traffic, Traffic::Coap(coap) if coap.confirmable)),
                "no flow has confirmable requests of CoAP",
            ),
            Need::Radio => (
                radios().next().is_some() || of_links().next().is_some(),
                "the scenario has no Wi-Fi station and no link with a `radio`",
            ),
            Need::Power => (
                radios().any(|r| r.consumption.is_some()) || of_links().next().is_some(),
                "the scenario does not set the power of a radio",
            ),
            Need::Battery => (
                radios().any(|r| r.stations.iter().any(|s| s.battery_uj.is_some()))
                    || of_links().any(|spec| spec.radio.battery_uj.is_some()),
                "no station has a battery",
            ),
            Need::Routing => (
                radios().any(|r| matches!(r.hops, Hops::Aodv(_))),
                "no cell has a routing protocol",
            ),
        };
        (!has).then_some(why)
    }

    /// Checks that runs of the scenario have the metric.
    ///
    /// # Errors
    ///
    /// No name matches. The message lists the existing names.
    pub fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let meant = |name: &str| matches(&self.metric.name, name);
        let why = self.metric.check(scenario, meant);
        why.map_err(|why| format!("metric `{}`: {why}", self.path))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// A metric and the required width of its interval: `flow.*.goodput_bps ±2%`.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The metric.
    pub measure: Measure,
    /// Half the width of its interval.
    pub width: Width,
}

impl Goal {
    /// Parses `METRIC ±WIDTH`. The width is a percentage of the mean or a number in the metric's unit. `=` and `+-`
    /// may replace `±`.
    ///
    /// # Errors
    ///
    /// A message that states the fault and the remedy.
    pub fn parse(text: &str) -> Result<Goal, String> {
        let shape = || {
            format!("`{text}` must look like `flow.*.goodput_bps ±2%` or `run.jain_index ±0.01`")
        };
        let plain = text.replace("+-", "±");
        let split = ['±', '=', ' '].into_iter().find_map(|c| plain.trim().rsplit_once(c));
        let (metric, width) = split.map(|(m, w)| (m.trim(), w.trim())).ok_or_else(shape)?;
        if width.is_empty() || metric.is_empty() {
            return Err(shape());
        }
        Ok(Goal { measure: Measure::parse(metric)?, width: width_of(width)? })
    }
}

/// A half-width: `2%` of the mean, or a number in the metric's unit.
///
/// # Errors
///
/// A message that states the fault and the remedy.
pub fn width_of(text: &str) -> Result<Width, String> {
    let (number, width): (&str, fn(f64) -> Width) = match text.trim().strip_suffix('%') {
        Some(number) => (number, |v| Width::Relative(v / 100.0)),
        None => (text.trim(), Width::Absolute),
    };
    match number.trim().parse::<f64>() {
        Ok(v) if v > 0.0 && v.is_finite() => Ok(width(v)),
        _ => Err(format!(
            "invalid width `{text}`; expected a percentage of the mean such as `2%`, or a number above \
             zero in the metric's unit"
        )),
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.measure, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;

    #[test]
    fn a_star_takes_the_mean_over_every_flow_that_matches() {
        let mut record = run("e", "p", 1, 2.0);
        let mut second = record.flows[0].clone();
        record.flows[0].name = "up-1".to_owned();
        record.flows[0].goodput_bps = 1e6;
        second.name = "up-2".to_owned();
        second.goodput_bps = 3e6;
        record.flows.push(second);
        let of = |path: &str| Measure::parse(path).unwrap().of(&record);
        assert_eq!(of("flow.*.goodput_bps"), Some(2e6));
        assert_eq!(of("flow.up-*.goodput_bps"), Some(2e6));
        assert_eq!(of("flow.*-2.goodput_bps"), Some(3e6));
        assert_eq!(of("flow.up-1.goodput_bps"), Some(1e6));
        assert_eq!(of("flow.down*.goodput_bps"), None);
        assert_eq!(of("run.jain_index"), Some(0.8));
    }

    /// If one of the flows has no sample, the mean of the others would be another quantity. A stream of datagrams
    /// has no RTT.
    #[test]
    fn a_mean_needs_a_value_of_each_flow_that_can_have_one() {
        let mut record = run("e", "p", 1, 2.0);
        record.flows[0].multipath = None;
        let second = record.flows[0].clone();
        record.flows.push(second);
        record.flows[1].srtt_ms = Some(60.0);
        let of = |record: &RunRecord| Measure::parse("flow.*.srtt_ms").unwrap().of(record);
        assert_eq!(of(&record), Some(50.0));
        record.flows[1].srtt_ms = None;
        assert_eq!(of(&record), None);
        record.flows[1].algorithm = "none".to_owned();
        assert_eq!(of(&record), Some(40.0));
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, expected) in [
            ("a", "ab", false),
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("*b*", "abc", true),
            ("wire:*>b", "wire:a>b", true),
            ("é*", "éa", true),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn goals_are_read_in_every_spelling() {
        for text in [
            "flow.*.goodput_bps ±2%",
            "flow.*.goodput_bps±2%",
            "flow.*.goodput_bps=2%",
            "flow.*.goodput_bps +-2 %",
            "flow.*.goodput_bps = 2%",
        ] {
            let goal = Goal::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(goal.measure.path(), "flow.*.goodput_bps", "{text}");
            assert_eq!(goal.width, Width::Relative(0.02), "{text}");
        }
        let goal = Goal::parse("flow.a-b.loss_rate ±0.001").unwrap();
        assert_eq!(
            (goal.measure.path(), goal.width),
            ("flow.a-b.loss_rate", Width::Absolute(0.001))
        );
        assert_eq!(goal.to_string(), "flow.a-b.loss_rate ±0.001");
        for text in ["", "flow.a.goodput_bps", "flow.a.goodput_bps ±", "±2%"] {
            assert!(Goal::parse(text).is_err(), "{text}");
        }
        for width in ["0%", "x", "inf", "-2%", "NaN"] {
            let text = format!("flow.a.goodput_bps ±{width}");
            assert!(Goal::parse(&text).unwrap_err().contains("invalid width"), "{text}");
        }
    }

    #[test]
    fn units_come_from_the_fields_name() {
        for (path, unit) in [
            ("flow.*.goodput_bps", "bps"),
            ("flow.*.srtt_ms", "ms"),
            ("flow.*.completion_s", "s"),
            ("flow.*.loss_rate", ""),
            ("flow.*.steady_goodput_bps", "bps"),
        ] {
            assert_eq!(Measure::parse(path).unwrap().unit(), unit, "{path}");
        }
    }
}
