//! What a sweep looks at: a metric, whose name may hold a `*`, and how well it is to be known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::warm::WarmUp;
use crate::claims::{Kind, Metric};
use crate::run::{RunRecord, World};
use crate::scenario::{Scenario, Traffic};
use crate::stats::sequential::Width;

/// A quantity of a run: `flow.download.goodput_bps`, or `flow.*.goodput_bps` for the mean over all
/// flows. A `*` in a name stands for any text.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    path: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// A result that every run has.
    Result(Metric),
    /// Goodput after the warm-up of the flows whose names match.
    Steady(String),
}

/// What a scenario must have for a metric to have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// The delay of each packet is measured.
    Delays,
    /// Losses and progress are counted by intervals.
    Bins,
    /// Messages have a deadline.
    Deadline,
    /// There is a Wi-Fi station.
    Radio,
    /// It is said what a radio draws.
    Power,
    /// A station has a battery.
    Battery,
}

/// The field of a flow that only a sweep with a warm-up has, bits per second.
pub const STEADY: &str = "steady_goodput_bps";

impl Measure {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// A sentence that says what would be right.
    pub fn parse(path: &str) -> Result<Measure, String> {
        let path = path.trim();
        let steady = path.strip_prefix("flow.").and_then(|p| p.strip_suffix(STEADY));
        let what = match steady.and_then(|p| p.strip_suffix('.')) {
            Some(name) if !name.is_empty() => What::Steady(name.to_owned()),
            _ => What::Result(Metric::parse(path)?),
        };
        Ok(Measure { path: path.to_owned(), what })
    }

    /// The path as it was written.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether only runs with a warm-up have it.
    pub fn needs_warm_up(&self) -> bool {
        matches!(self.what, What::Steady(_))
    }

    /// Unit, as far as the field's name tells: `bps`, `s`, `ms`, `bytes`; empty for counts and
    /// fractions.
    pub fn unit(&self) -> &'static str {
        const UNITS: [&str; 5] = ["bps", "ms", "s", "bytes", "packets"];
        let field = self.path.rsplit('.').next().unwrap_or("");
        UNITS
            .into_iter()
            .find(|u| field.strip_suffix(u).is_some_and(|f| f.ends_with('_')))
            .unwrap_or("")
    }

    /// The value in each run of a point: the mean over what the name matches. What has no value in any of the
    /// runs, as datagrams have no round trip, is not meant; where something that is has none, neither has the
    /// run, for the mean of some would be another quantity.
    pub fn of(&self, runs: &[&RunRecord]) -> Vec<Option<f64>> {
        let each: Vec<BTreeMap<String, f64>> = runs.iter().map(|run| self.values(run)).collect();
        let meant: BTreeSet<&String> = each.iter().flat_map(BTreeMap::keys).collect();
        let whole =
            |values: &&BTreeMap<String, f64>| !meant.is_empty() && values.len() == meant.len();
        let mean = |values: &BTreeMap<_, f64>| values.values().sum::<f64>() / values.len() as f64;
        each.iter().map(|values| Some(values).filter(whole).map(mean)).collect()
    }

    /// What the name matches in a run and has a value there.
    fn values(&self, run: &RunRecord) -> BTreeMap<String, f64> {
        match &self.what {
            What::Steady(pattern) => {
                let named = run.flows.iter().zip(&run.steady);
                let matching = named.filter(|(f, _)| matches(pattern, &f.name));
                matching.filter_map(|(f, s)| Some((f.name.clone(), (*s)?.goodput_bps))).collect()
            }
            What::Result(metric) => {
                let names = names_in(metric.kind, run);
                let matching = names.into_iter().filter(|n| matches(&metric.name, n));
                let of = |name: String| {
                    let metric = Metric { name, ..metric.clone() };
                    Some((metric.name.clone(), metric.of(run)?))
                };
                matching.filter_map(of).collect()
            }
        }
    }

    /// Whether only runs that measure the delay of each packet have it.
    pub fn needs_delays(&self) -> bool {
        self.need() == Some(Need::Delays)
    }

    /// What a scenario must have for the field to have a value.
    fn need(&self) -> Option<Need> {
        let What::Result(Metric { kind, field, .. }) = &self.what else { return None };
        let begins = |words: &[&str]| words.iter().any(|w| field.starts_with(w));
        match kind {
            Kind::Flow | Kind::Run if begins(&["delay_", "jitter_", "gap_"]) => Some(Need::Delays),
            Kind::Flow | Kind::Run if begins(&["message", "late_"]) => Some(Need::Deadline),
            Kind::Run if begins(&["convergence_"]) => Some(Need::Bins),
            Kind::Flow | Kind::Run if begins(&["radio_", "sender_radio", "receiver_radio"]) => {
                Some(Need::Radio)
            }
            Kind::Run if field == "first_death_s" => Some(Need::Radio),
            Kind::Flow | Kind::Run | Kind::Station if begins(&["battery_"]) => Some(Need::Battery),
            Kind::Flow | Kind::Run | Kind::Station
                if field == "energy_j" || begins(&["energy_per", "sender_en", "receiver_en"]) =>
            {
                Some(Need::Power)
            }
            _ => None,
        }
    }

    /// Why no run of the scenario in this world can have a value, as far as that is known without one.
    pub fn lacks(
        &self,
        scenario: &Scenario,
        world: World,
        warm_up: Option<WarmUp>,
    ) -> Option<&'static str> {
        if let (What::Steady(_), Some(WarmUp::Fixed(time))) = (&self.what, warm_up) {
            return (time >= scenario.duration).then_some("the warm-up leaves nothing of a run");
        }
        let simulated = world == World::Sim;
        let radios = || scenario.wifi.iter().map(|w| &w.radio);
        let has_deadline =
            |traffic: &Traffic| matches!(traffic, Traffic::Cbr { deadline: Some(_), .. });
        let flows = |metric: &Metric| {
            let meant = |name: &str| metric.kind == Kind::Run || matches(&metric.name, name);
            scenario.flows.iter().any(|f| meant(&f.name) && has_deadline(&f.traffic))
        };
        let (has, why) = match (self.need()?, &self.what) {
            (Need::Delays, _) => (simulated, "only the simulator measures the delay of a packet"),
            (Need::Bins, _) if !simulated => (false, "only the simulator counts by intervals"),
            (Need::Bins, _) if scenario.flows.len() != 2 => {
                (false, "it is of the second of two flows, and the scenario has not two")
            }
            (Need::Bins, _) => (
                scenario.record.bins.0 > 0,
                "the scenario counts by no intervals; --set record.bins=1s has it count by seconds",
            ),
            (Need::Deadline, What::Result(metric)) => {
                (flows(metric), "no flow has messages with a `deadline`")
            }
            (Need::Deadline, What::Steady(_)) => return None,
            (Need::Radio, _) => (radios().next().is_some(), "the scenario has no Wi-Fi station"),
            (Need::Power, _) => (
                radios().any(|r| r.consumption.is_some()),
                "the scenario does not say what a radio draws",
            ),
            (Need::Battery, _) => (
                radios().any(|r| r.stations.iter().any(|s| s.battery_uj.is_some())),
                "no station has a battery",
            ),
        };
        (!has).then_some(why)
    }

    /// Whether runs of the scenario have it.
    ///
    /// # Errors
    ///
    /// No name matches: a sentence with those that there are.
    pub fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let (kind, pattern) = match &self.what {
            What::Steady(pattern) => (Kind::Flow, pattern),
            What::Result(metric) => (metric.kind, &metric.name),
        };
        let (noun, known) = match kind {
            Kind::Flow => ("flow", scenario.flows.iter().map(|f| f.name.clone()).collect()),
            Kind::Link => ("link direction", directions(scenario)),
            Kind::Cell => ("cell", scenario.wifi.iter().map(|w| w.radio.name.clone()).collect()),
            Kind::Station => ("station", stations(scenario)),
            Kind::Multipath => {
                let multipath = scenario.flows.iter().filter(|f| f.multipath.is_some());
                ("multipath flow", multipath.map(|f| f.name.clone()).collect())
            }
            Kind::Subflow => ("subflow", scenario.tracks().split_off(scenario.flows.len())),
            Kind::Run => return Ok(()),
        };
        if known.iter().any(|n| matches(pattern, n)) {
            return Ok(());
        }
        const MOST: usize = 10;
        let mut shown: Vec<String> = known.iter().take(MOST).map(|n| format!("`{n}`")).collect();
        if known.len() > MOST {
            shown.push("...".to_owned());
        }
        let path = &self.path;
        let there = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
        Err(format!("metric `{path}` matches no {noun}; there are {there}"))
    }
}

fn names_in(kind: Kind, run: &RunRecord) -> Vec<String> {
    match kind {
        Kind::Flow => run.flows.iter().map(|f| f.name.clone()).collect(),
        Kind::Link => run.links.iter().map(|l| l.name.clone()).collect(),
        Kind::Cell => run.radios.iter().map(|r| r.name.clone()).collect(),
        Kind::Station => {
            let of_cell = |r: &windlass_sim::RadioResult| {
                let name = r.name.clone();
                let station = |s: &windlass_sim::StationResult| format!("{name}:{}", s.name);
                r.stations.iter().map(station).collect::<Vec<_>>()
            };
            run.radios.iter().flat_map(of_cell).collect()
        }
        Kind::Run => vec![String::new()],
        Kind::Multipath => {
            let multipath = run.flows.iter().filter(|f| f.multipath.is_some());
            multipath.map(|f| f.name.clone()).collect()
        }
        Kind::Subflow => run.flows.iter().flat_map(subflows).collect(),
    }
}

/// Names of the subflows as metrics have them: `flow:subflow`.
fn subflows(flow: &windlass_sim::FlowResult) -> Vec<String> {
    let subflows = flow.multipath.iter().flat_map(|m| &m.subflows);
    subflows.map(|s| format!("{}:{}", flow.name, s.name)).collect()
}

/// Names of the stations as metrics have them: `cell:node`.
fn stations(scenario: &Scenario) -> Vec<String> {
    let of_cell = |w: &crate::scenario::WifiSpec| {
        let node = |s: &windlass_sim::radio::StationConfig| {
            format!("{}:{}", w.radio.name, scenario.nodes[s.node])
        };
        w.radio.stations.iter().map(node).collect::<Vec<_>>()
    };
    scenario.wifi.iter().flat_map(of_cell).collect()
}

/// Names of the link directions as results have them.
fn directions(scenario: &Scenario) -> Vec<String> {
    let name = |node: usize| &scenario.nodes[node];
    let both = |l: &crate::scenario::LinkSpec| {
        [(l.a, l.b), (l.b, l.a)].map(|(from, to)| format!("{}:{}>{}", l.name, name(from), name(to)))
    };
    scenario.links.iter().flat_map(both).collect()
}

/// Whether the text is the pattern, in which each `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            let ends = (0..=rest.len()).filter(|i| rest.is_char_boundary(*i));
            ends.map(|i| &rest[i..]).any(|rest| matches(tail, rest))
        }),
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// A metric and how narrow its interval is to become: `flow.*.goodput_bps ±2%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The metric.
    pub measure: Measure,
    /// Half the width of its interval.
    pub width: Width,
}

impl Goal {
    /// Reads `METRIC ±WIDTH`, where the width is a percentage of the mean or a number in the
    /// metric's unit; `=` and `+-` will do for `±`.
    ///
    /// # Errors
    ///
    /// A sentence that says what would be right.
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
/// A sentence that says what would be right.
pub fn width_of(text: &str) -> Result<Width, String> {
    let (number, width): (&str, fn(f64) -> Width) = match text.trim().strip_suffix('%') {
        Some(number) => (number, |v| Width::Relative(v / 100.0)),
        None => (text.trim(), Width::Absolute),
    };
    match number.trim().parse::<f64>() {
        Ok(v) if v > 0.0 && v.is_finite() => Ok(width(v)),
        _ => Err(format!(
            "`{text}` is no width; write a percentage of the mean such as `2%`, or a number above \
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
        let of = |path: &str| Measure::parse(path).unwrap().of(&[&record]).remove(0);
        assert_eq!(of("flow.*.goodput_bps"), Some(2e6));
        assert_eq!(of("flow.up-*.goodput_bps"), Some(2e6));
        assert_eq!(of("flow.*-2.goodput_bps"), Some(3e6));
        assert_eq!(of("flow.up-1.goodput_bps"), Some(1e6));
        assert_eq!(of("flow.down*.goodput_bps"), None);
        assert_eq!(of("run.jain_index"), Some(0.8));
    }

    #[test]
    fn a_run_in_which_a_flow_has_no_value_has_none_unless_the_flow_never_has() {
        let mut all = run("e", "p", 1, 2.0);
        let (mut slow, mut datagrams) = (all.flows[0].clone(), all.flows[0].clone());
        all.flows[0].srtt_ms = Some(10.0);
        (slow.name, slow.srtt_ms) = ("slow".to_owned(), Some(30.0));
        (datagrams.name, datagrams.srtt_ms) = ("datagrams".to_owned(), None);
        all.flows.extend([slow, datagrams]);
        let mut lacking = all.clone();
        lacking.flows[1].srtt_ms = None;
        let srtt = Measure::parse("flow.*.srtt_ms").unwrap();
        assert_eq!(srtt.of(&[&all, &lacking]), [Some(20.0), None]);
        assert_eq!(srtt.of(&[&lacking]), [Some(10.0)]);
        assert_eq!(srtt.of(&[]), []);
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
            assert!(Goal::parse(&text).unwrap_err().contains("is no width"), "{text}");
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
