//! The data of the paper CoCoA3+: references are valid, compared runs differ only in the compared
//! part, and the report shows the runs. The paper's runs last 300 s, and the runs in these tests seconds.

use std::collections::BTreeSet;

use crate::paper_support::{self, Setup};
use windlass_lab::claims::Verdict;
use windlass_lab::compile::senders;
use windlass_lab::papers::{FINDINGS, Material, Trace, Traces};
use windlass_lab::report::html::render;
use windlass_lab::report::model::{Block, NetworkMap, Report, Role, Section};
use windlass_lab::run::{RunRecord, simulate};

fn setup() -> Setup {
    paper_support::setup("cocoa3plus")
}

impl Setup {
    /// A run of a point over the first few seconds.
    fn short_run(&self, experiment: &str, point: &str, seed: u64) -> RunRecord {
        let short = [("duration", "4s"), ("flow.sensor.jitter", "1s")];
        let change = if experiment == "literal" { &[] } else { &short[..] };
        self.run_at(experiment, point, change, seed)
    }

    /// Short runs of every point of a quick reproduction, at most `seeds` per point.
    fn short_runs(&self, seeds: u64) -> Vec<RunRecord> {
        let mut records = Vec::new();
        for experiment in &self.plan.experiments {
            for point in experiment.points() {
                let wanted = experiment.seeds(&point, true).count() as u64;
                let seeds = 1..=seeds.min(wanted);
                records.extend(seeds.map(|s| self.short_run(&experiment.id, &point.id, s)));
            }
        }
        records
    }

    /// Traces of cwnd and ssthresh in short runs of the traced points.
    fn short_traces(&self) -> Traces {
        let one = |t: &windlass_lab::experiment::TraceRequest| {
            let point = (t.experiment.as_str(), t.point.as_str());
            let series = ("record.series", "[\"cwnd_bytes\", \"ssthresh_bytes\"]");
            let short = [("duration", "4s"), ("flow.sensor.jitter", "1s"), series];
            let result = simulate(&self.scenario_at(point.0, point.1, &short), 1).unwrap();
            (t.id.clone(), Trace::of(1, result))
        };
        self.plan.traces.iter().map(one).collect()
    }
}

#[test]
fn every_point_has_twenty_seeds_and_a_unique_hash_in_its_experiment() {
    let s = setup();
    for experiment in &s.plan.experiments {
        let mut hashes = BTreeSet::new();
        for point in experiment.points() {
            assert_eq!(experiment.seeds(&point, false), 1..=20, "{}/{}", experiment.id, point.id);
            let scenario = s.scenario_at(&experiment.id, &point.id, &[]);
            assert!(
                hashes.insert(scenario.hash()),
                "{}/{} changes nothing",
                experiment.id,
                point.id
            );
        }
    }
}

#[test]
fn the_senders_of_a_run_depend_on_the_seed_and_not_on_the_protocol() {
    let s = setup();
    let of = |point: &str, seed| senders(&s.scenario_at("size", point, &[]), seed);
    let ours = of("protocol=cocoa3plus,packet=300", 1);
    assert_eq!(ours.iter().collect::<BTreeSet<_>>().len(), 10);
    for point in ["protocol=newreno-cocoa+,packet=2100", "protocol=bc-cps,packet=900"] {
        assert_eq!(of(point, 1), ours);
    }
    assert_ne!(of("protocol=cocoa3plus,packet=300", 2), ours);
}

/// C3-27: a sensor receives only its four neighbours, for every spacing and path-loss model. The sensors in
/// the middle also receive the base station.
#[test]
fn each_sensor_receives_its_four_neighbours_on_every_spacing() {
    let s = setup();
    for radio in ["b-11", "disc", "spacing-166.7"] {
        let scenario = s.scenario_at("radio", &format!("protocol=icc-tcp,radio={radio}"), &[]);
        let cell = &scenario.wifi[0].radio;
        let places: Vec<_> = cell.stations.iter().map(|s| s.position).collect();
        let near = |k: usize| {
            let others = (0..places.len()).filter(|o| *o != k);
            others.filter(|o| cell.reach(places[k], places[*o]).receivable).count()
        };
        let heard: Vec<usize> = (0..places.len()).map(near).collect();
        // Corners have 2 neighbours, edges 3, inner sensors and the base station 4, and the four sensors around the
        // base 5.
        let count = |n| heard.iter().filter(|h| **h == n).count();
        assert_eq!([2, 3, 4, 5].map(count), [4, 32, 64 - 4 + 1, 4], "{radio}");
    }
}

#[test]
fn no_sensor_can_empty_its_battery_within_a_run() {
    let scenario = setup().scenario_at("time", "protocol=cocoa3plus,time=300", &[]);
    let radio = &scenario.wifi[0].radio;
    let powers = radio.consumption.expect("powers");
    let most = powers.transmit_uw as u128 * u128::from(scenario.duration.0) / 1_000_000_000;
    let with = radio.stations.iter().filter_map(|s| s.battery_uj);
    assert_eq!(with.clone().count(), 100);
    assert!(with.min().is_some_and(|least| u128::from(least) > most));
}

#[test]
fn probes_find_routes_before_the_connections_of_the_literal_run_start() {
    let s = setup();
    let record = s.short_run("literal", "protocol=newreno", 1);
    let probes: Vec<_> = record.flows.iter().filter(|f| f.name.starts_with("probe")).collect();
    assert_eq!(probes.len(), 10);
    for probe in probes {
        assert!(probe.delivered_bytes > 1000 / 2, "{}: {}", probe.name, probe.delivered_bytes);
    }
    let sensors = record.flows.iter().filter(|f| f.name.starts_with("sensor"));
    assert!(sensors.clone().count() == 10 && sensors.clone().all(|f| f.active_s < 0.301));
}

#[test]
fn each_part_of_the_ablation_changes_the_run() {
    let s = setup();
    // Not every short run finds two routes.
    let trail = |part: &str| {
        let run = |seed| s.short_run("ablation", &format!("part={part}"), seed);
        (1..=4).map(run).map(|r| (r.events, r.packet_hops)).collect::<Vec<_>>()
    };
    let whole = trail("full");
    let parts = ["no-detection", "no-two-dupack", "no-fpf", "no-inflation"];
    for part in parts.into_iter().chain(["with-path", "with-routes"]) {
        assert_ne!(trail(part), whole, "{part}");
    }
}

fn maps(sections: &[Section]) -> Vec<&NetworkMap> {
    let blocks = sections.iter().flat_map(|s| &s.blocks);
    blocks.filter_map(|b| if let Block::Map(map) = b { Some(map) } else { None }).collect()
}

#[test]
fn the_report_of_short_runs_is_complete_and_its_routes_end_at_the_base_station() {
    let s = setup();
    let (records, traces) = (s.short_runs(2), s.short_traces());
    let judgements = s.paper.judge(&s.plan, &s.claims, &records, &traces).unwrap();
    let open: Vec<&str> = judgements
        .iter()
        .filter(|j| j.verdict == Verdict::NotComparable)
        .map(|j| j.id.as_str())
        .filter(|id| !id.ends_with(".value") && !id.ends_with(".order"))
        .filter(|id| !id.starts_with("parts."))
        .collect();
    // The paper gives no number of senders, and BBR does not reduce cwnd at a retransmission.
    assert_eq!(open, ["fig5.goodput", "fig14.fall.bc-cps"]);
    let sections = s
        .paper
        .sections(&Material {
            paper: s.paper,
            plan: &s.plan,
            claims: &s.claims,
            records: &records,
            judgements: &judgements,
            traces: &traces,
        })
        .unwrap();
    let [map] = maps(&sections)[..] else { panic!("one map") };
    let count = |role| map.places.iter().filter(|p| p.role == role).count();
    assert_eq!((map.places.len(), count(Role::Base), count(Role::Sender)), (101, 1, 10));
    assert!(!map.routes.is_empty());
    for route in &map.routes {
        let ends = [route.first(), route.last()].map(|at| map.places[*at.unwrap()].role);
        assert_eq!(ends, [Role::Sender, Role::Base]);
    }
    let findings = sections.iter().find(|s| s.id == FINDINGS).expect("findings");
    assert!(matches!(&findings.blocks[0], Block::Text { text } if text.contains("All routes")));
    let report = Report { sections, ..Report::default() };
    let page = render(&report).unwrap_or_else(|e| panic!("{e}"));
    for id in ["ablation-forest", "grid-load", "fig-5", "fig-14", "table-3", "table-4"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id} is missing");
    }
}

#[test]
fn without_runs_nothing_is_measured() {
    let s = setup();
    let judgements = s.paper.judge(&s.plan, &s.claims, &[], &Traces::new()).unwrap();
    assert!(judgements.iter().all(|j| j.measured.is_none()));
}
