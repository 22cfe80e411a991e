//! The page's part on a fleet: flows that are too many for a row and a curve each.

use std::collections::BTreeMap;

use windlass_sim::FlowResult;

use super::curves::{DRAWN, chart, point};
use crate::overview::{MANY, Slow, masked};
use crate::report::model::{Block, Chart, ChartSeries, Mark, Section, Timeline};
use crate::report::numbers::{number, rate_unit};
use crate::why::Case;

/// Number of intervals in which completions are counted.
const INTERVALS: usize = 100;

/// True if the page shows the flows together.
pub(super) fn is_fleet(case: &Case) -> bool {
    case.result.flows.len() > MANY
}

/// Indices of the flows that are drawn one by one: the first flows, and in a fleet the slowest.
pub(super) fn drawn(case: &Case) -> Vec<usize> {
    let flows = &case.result.flows;
    let mut order: Vec<usize> = (0..flows.len()).collect();
    if let (true, Some(slow)) = (is_fleet(case), Slow::of(flows)) {
        let value = |i: &usize| slow.value(&flows[*i]).unwrap_or(0.0);
        order.sort_by(|a, b| value(b).total_cmp(&value(a)));
    }
    order.truncate(DRAWN);
    order
}

/// The flows by their names without numbers.
fn groups(case: &Case) -> BTreeMap<String, Vec<&FlowResult>> {
    let mut groups: BTreeMap<String, Vec<&FlowResult>> = BTreeMap::new();
    for flow in &case.result.flows {
        groups.entry(masked(&flow.name)).or_default().push(flow);
    }
    groups
}

/// The finite values of flows in ascending order.
fn values(slow: Slow, flows: &[&FlowResult]) -> Vec<f64> {
    let known = flows.iter().filter_map(|f| slow.value(f)).filter(|v| v.is_finite());
    let mut values: Vec<f64> = known.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A part of a sentence on each group of flows.
pub(super) fn summary(case: &Case) -> Vec<String> {
    let slow = Slow::of(&case.result.flows);
    let one = |(name, flows): (&String, &Vec<&FlowResult>)| {
        let n = flows.len();
        // Nearest rank over all flows: one that did not end is later than all others.
        let within = |times: &[f64], share: f64| {
            let rank = ((share * n as f64).ceil() as usize).clamp(1, n);
            times.get(rank - 1).map_or("never".to_owned(), |t| format!("{t:.1} s"))
        };
        let times = |slow| {
            let times = values(slow, flows);
            let [median, most] = [0.5, 0.95].map(|share| within(&times, share));
            (format!("{median} at the median and {most} at the 95th percentile"), n - times.len())
        };
        match slow {
            Some(Slow::Completion) => {
                let (times, open) = times(Slow::Completion);
                format!("{n} flows {name}: completion {times}; {open} never completed")
            }
            Some(Slow::Reconnection) => {
                let (times, open) = times(Slow::Reconnection);
                format!(
                    "{n} flows {name}: connected again after {times}; {open} had no connection at the end"
                )
            }
            Some(Slow::Late) => {
                let messages = || flows.iter().filter_map(|f| f.messages.as_ref());
                let [sent, late] = [
                    messages().map(|m| m.sent).sum::<u64>(),
                    messages().map(|m| m.late).sum::<u64>(),
                ];
                format!("{n} flows {name}: {sent} messages, {late} of them late")
            }
            None => {
                let total: f64 = flows.iter().map(|f| f.goodput_bps).sum();
                let (rate, unit) = rate_unit(std::iter::once(total));
                let goodput = number((total / rate * 100.0).round() / 100.0);
                format!("{n} flows {name} had a goodput of {goodput} {unit} together")
            }
        }
    };
    groups(case).iter().map(one).collect()
}

/// The section on the fleet; `None` without many flows.
pub(super) fn section(case: &Case) -> Option<Section> {
    if !is_fleet(case) {
        return None;
    }
    let groups = groups(case);
    let slow = Slow::of(&case.result.flows);
    let shares = slow.and_then(|slow| shares(slow, &groups));
    let counts = if slow == Some(Slow::Completion) { counts(case, &groups) } else { None };
    let charts: Vec<Chart> = [shares, counts, together(case)].into_iter().flatten().collect();
    (!charts.is_empty()).then(|| Section {
        id: "fleet".into(),
        title: "All flows together".into(),
        blocks: vec![Block::Timeline(Timeline { charts, ..Timeline::default() })],
    })
}

/// The share of flows with at most this value.
fn shares(slow: Slow, groups: &BTreeMap<String, Vec<&FlowResult>>) -> Option<Chart> {
    let curve = |(name, flows): (&String, &Vec<&FlowResult>)| {
        let values = values(slow, flows);
        let share = |n: usize| 100.0 * n as f64 / flows.len() as f64;
        let start = (!values.is_empty()).then(|| point(0.0, 0.0));
        let steps = values.iter().enumerate().map(|(n, t)| point(*t, share(n + 1)));
        let points = start.into_iter().chain(steps).collect();
        ChartSeries { name: name.clone(), mark: Mark::Step, points }
    };
    let (id, caption, y, x) = match slow {
        Slow::Completion => (
            "completed",
            "Share of the flows that completed within this time after their start. Flows that never complete keep the curve \
             below 100 %.",
            "Completed (%)",
            "Time since the start of the flow (s)",
        ),
        Slow::Reconnection => (
            "reconnected",
            "Share of the flows that were connected again within this time after a loss or the return of the power, at their \
             longest. Flows without a connection at the end keep the curve below 100 %.",
            "Connected again (%)",
            "Time (s)",
        ),
        Slow::Late => (
            "late",
            "Share of the flows with at most this number of late messages.",
            "Flows (%)",
            "Late messages",
        ),
    };
    let mut chart = chart(id, caption, y, groups.iter().map(curve).collect())?;
    chart.x.label = x.to_owned();
    Some(chart)
}

/// Completions in each interval of the run.
fn counts(case: &Case, groups: &BTreeMap<String, Vec<&FlowResult>>) -> Option<Chart> {
    // Time of the run at which a flow completed.
    let starts = case.result.flows.iter().zip(&case.config.flows);
    let ended: BTreeMap<&str, f64> = starts
        .filter_map(|(flow, config)| {
            let start = config.start.as_nanos() as f64 / 1e9;
            Some((flow.name.as_str(), start + flow.completion_s?))
        })
        .collect();
    let last = ended.values().copied().fold(0.0, f64::max);
    let span = last / INTERVALS as f64;
    let curve = |(name, flows): (&String, &Vec<&FlowResult>)| {
        let mut bins = [0_u32; INTERVALS];
        for end in flows.iter().filter_map(|flow| ended.get(flow.name.as_str())) {
            bins[((end / span) as usize).min(INTERVALS - 1)] += 1;
        }
        let points = bins.iter().enumerate().map(|(n, c)| point(n as f64 * span, f64::from(*c)));
        ChartSeries { name: name.clone(), mark: Mark::Step, points: points.collect() }
    };
    if span <= 0.0 {
        return None;
    }
    let caption = format!("Completions in intervals of {span:.2} s, over the time of the run.");
    chart("completions", &caption, "Completions", groups.iter().map(curve).collect())
}

/// Goodput of all flows together, by the intervals of the timeline.
fn together(case: &Case) -> Option<Chart> {
    let timeline = case.result.timeline.as_ref()?;
    let bin = timeline.bin.0 as f64 / 1e9;
    let n = timeline.flows.iter().map(|f| f.delivered_bytes.len()).max()?;
    let bits = |i: usize| -> f64 {
        let bytes = timeline.flows.iter().filter_map(|f| f.delivered_bytes.get(i));
        bytes.sum::<u64>() as f64 * 8.0 / bin
    };
    let rates: Vec<f64> = (0..n).map(bits).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let (unit, name) = rate_unit(std::iter::once(most));
    let points = rates.iter().enumerate().map(|(i, rate)| point(i as f64 * bin, rate / unit));
    let series =
        ChartSeries { name: "all flows".into(), mark: Mark::Step, points: points.collect() };
    chart("load", "Goodput of all flows together.", &format!("Goodput ({name})"), vec![series])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_page::look;
    use crate::scenario::Scenario;

    fn star(count: usize) -> Scenario {
        let text = format!(
            r#"
duration = "60s"
[topology]
kind = "star"
count = {count}
access = {{ rate = "1Mbps", delay = "20ms" }}
bottleneck = {{ rate = "1Mbps", delay = "20ms", queue = "10pkt" }}
[[flow]]
name = "meter"
from = "s*"
to = "server"
algorithm = "newreno"
traffic = {{ kind = "bulk", bytes = "1kB" }}
"#
        );
        Scenario::from_str(&text, "star").expect("a scenario")
    }

    #[test]
    fn a_fleet_has_curves_of_all_flows_and_rows_that_combine_them() {
        let page = look(&star(40), 1, false).expect("a page");
        assert!(page.summary.contains("40 flows meter-*: completion "), "{}", page.summary);
        assert_eq!(page.sections[0].id, "fleet");
        let Block::Timeline(all) = &page.sections[0].blocks[0] else { panic!("no charts") };
        let ids: Vec<&str> = all.charts.iter().map(|chart| chart.id.as_str()).collect();
        assert_eq!(ids, ["completed", "completions", "load"]);
        let last = all.charts[0].series[0].points.last().expect("a point").y;
        let counted: f64 = all.charts[1].series[0].points.iter().map(|p| p.y).sum();
        assert_eq!((last, counted), (100.0, 40.0));
        let totals = page.sections.iter().find(|s| s.id == "totals").expect("totals");
        for block in &totals.blocks {
            if let Block::Table(table) = block {
                assert!(table.rows.len() < 12, "{}: {} rows", table.caption, table.rows.len());
            }
        }
    }

    #[test]
    fn the_successive_connections_of_a_flow_have_one_curve() {
        let text = r#"
duration = "60s"
[[link]]
between = ["meter", "server"]
rate = "1Mbps"
delay = "20ms"
[[flow]]
name = "reports"
from = "meter"
to = "server"
algorithm = "newreno"
connect = "per-message"
traffic = { kind = "messages", every = "10s", gaps = "constant", size = "400B" }
"#;
        let scenario = Scenario::from_str(text, "meter").expect("a scenario");
        let page = look(&scenario, 1, false).expect("a page");
        let Block::Timeline(time) = &page.sections[0].blocks[0] else { panic!("no charts") };
        let names: Vec<&str> = time.charts[0].series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["cwnd"], "ssthresh is never set");
        crate::report::html::render(&page).expect("a page in HTML");
    }

    #[test]
    fn a_few_flows_have_a_row_and_a_curve_each() {
        let page = look(&star(5), 1, false).expect("a page");
        assert_eq!(page.sections[0].id, "time");
        assert!(page.summary.contains("meter-5 (newreno) had a goodput"), "{}", page.summary);
    }
}
