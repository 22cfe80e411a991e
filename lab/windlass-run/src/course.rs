//! Summary of a run over time: convergence of two flows, and drops per interval.

use serde::{Deserialize, Serialize};
use windlass_cc::Span;
use windlass_sim::{RunResult, Timeline};

use windlass_scenario::Scenario;

/// Summary of a run's timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Length of an interval, seconds.
    pub bin_s: f64,
    /// Convergence time of two flows by cwnd, seconds. It is measured from the start of the second flow, without
    /// its jitter, to the end of the first interval at which its cwnd is at least four fifths of the other cwnd.
    /// `None` if no interval qualifies, or if the number of flows is not two. The rule of Li, Leith and Shorten
    /// (2007) and of CCM-SS, equation 6.
    pub convergence_cwnd_s: Option<f64>,
    /// Convergence time of two flows by the bytes that they received in an interval, seconds. The first interval
    /// that counts is the first whole interval after the start.
    pub convergence_rate_s: Option<f64>,
    /// Link directions that dropped packets.
    pub drops: Vec<Drops>,
}

/// The drops of a link direction by interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drops {
    /// `name:from>to`.
    pub link: String,
    /// Intervals with drops, from 0, each with the number of dropped packets.
    pub bins: Vec<(u32, u64)>,
}

/// Share of the first flow's cwnd or rate that the second flow must reach, %.
const SHARE: u64 = 80;

impl Course {
    /// Summarises a timeline.
    pub fn of(timeline: &Timeline, scenario: &Scenario, result: &RunResult) -> Course {
        let names = result.links.iter().map(|l| &l.name);
        let drops = names.zip(&timeline.drops).filter_map(|(link, bins)| {
            let bins = (0u32..).zip(bins.iter().copied()).filter(|(_, n)| *n > 0).collect();
            Some(Drops { link: link.clone(), bins }).filter(|d| !d.bins.is_empty())
        });
        let met = |value| convergence(timeline, scenario, value);
        Course {
            bin_s: timeline.bin.0 as f64 / 1e9,
            convergence_cwnd_s: met(Value::Cwnd),
            convergence_rate_s: met(Value::Rate),
            drops: drops.collect(),
        }
    }

    /// Packets that all links dropped in each of `bins` intervals.
    pub fn dropped(&self, bins: usize) -> Vec<u64> {
        let mut all = vec![0; bins];
        for (bin, n) in self.drops.iter().flat_map(|d| &d.bins) {
            if let Some(sum) = all.get_mut(*bin as usize) {
                *sum += n;
            }
        }
        all
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Cwnd,
    Rate,
}

fn convergence(timeline: &Timeline, scenario: &Scenario, value: Value) -> Option<f64> {
    let [a, b] = scenario.flows.as_slice() else { return None };
    let (first, second) = if a.start <= b.start { (0, 1) } else { (1, 0) };
    let start = scenario.flows[second].start + scenario.flows[second].jitter;
    let of = |flow: usize| match value {
        Value::Cwnd => &timeline.flows[flow].cwnd_bytes,
        Value::Rate => &timeline.flows[flow].delivered_bytes,
    };
    let bin = timeline.bin.0;
    // A cwnd counts at the end of an interval, a rate over the whole interval.
    let counts_from = match value {
        Value::Cwnd => start,
        Value::Rate => start + Span(bin),
    };
    let ends = (1..).map(|n: u64| Span(bin.saturating_mul(n)));
    let mut moments = ends.zip(of(first).iter().zip(of(second)));
    let (end, _) = moments.find(|(end, (one, two))| {
        *end >= counts_from && **two > 0 && two.saturating_mul(100) >= one.saturating_mul(SHARE)
    })?;
    Some((end.0 - scenario.flows[second].start.0) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sim::FlowTimeline;

    fn two_flows(starts: [&str; 2]) -> Scenario {
        let flow = |name: &str, start: &str| {
            format!(
                "[[flow]]\nname = {name:?}\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"reno\"\nstart = {start:?}\n"
            )
        };
        let text = format!(
            "duration = \"9s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbps\"\n{}{}",
            flow("one", starts[0]),
            flow("two", starts[1])
        );
        Scenario::from_str(&text, "two.toml").unwrap()
    }

    fn timeline(one: [&[u64]; 2], two: [&[u64]; 2]) -> Timeline {
        let flow = |[cwnd, delivered]: [&[u64]; 2]| FlowTimeline {
            cwnd_bytes: cwnd.to_vec(),
            delivered_bytes: delivered.to_vec(),
        };
        Timeline {
            bin: Span::from_secs(1),
            flows: vec![flow(one), flow(two)],
            drops: vec![],
            waiting: vec![],
        }
    }

    fn times(timeline: &Timeline, scenario: &Scenario) -> [Option<f64>; 2] {
        [convergence(timeline, scenario, Value::Cwnd), convergence(timeline, scenario, Value::Rate)]
    }

    #[test]
    fn flows_converge_when_the_second_first_has_four_fifths_of_the_first() {
        // The second starts at 2.5 s: its cwnd counts from 3 s on, its rate from the interval
        // that ends at 4 s.
        let t = timeline(
            [&[10, 10, 10, 10, 10, 10], &[100, 100, 100, 100, 100, 100]],
            [&[10, 10, 7, 8, 10, 10], &[0, 100, 100, 79, 80, 80]],
        );
        assert_eq!(times(&t, &two_flows(["0s", "2500ms"])), [Some(1.5), Some(2.5)]);
        // The order of the flows has no effect.
        let swapped = Timeline { flows: t.flows.iter().rev().cloned().collect(), ..t };
        assert_eq!(times(&swapped, &two_flows(["2500ms", "0s"])), [Some(1.5), Some(2.5)]);
    }

    #[test]
    fn flows_that_never_converge_have_no_convergence_time() {
        let t = timeline([&[10, 10, 10], &[9, 9, 9]], [&[7, 7, 7], &[7, 7, 7]]);
        assert_eq!(times(&t, &two_flows(["0s", "1s"])), [None, None]);
        // If both flows send nothing, they have not converged.
        let idle = timeline([&[0, 0, 0], &[0, 0, 0]], [&[0, 0, 0], &[0, 0, 0]]);
        assert_eq!(times(&idle, &two_flows(["0s", "1s"])), [None, None]);
    }

    #[test]
    fn drops_are_kept_where_and_when_they_were() {
        let course = Course {
            bin_s: 1.0,
            convergence_cwnd_s: None,
            convergence_rate_s: None,
            drops: vec![
                Drops { link: "l:a>b".to_owned(), bins: vec![(0, 3), (2, 1)] },
                Drops { link: "l:b>a".to_owned(), bins: vec![(2, 4)] },
            ],
        };
        assert_eq!(course.dropped(4), [3, 0, 5, 0]);
        assert_eq!(course.dropped(2), [3, 0]);
    }
}
