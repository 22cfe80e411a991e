//! The patient ward: the scenario with which the documentation compares algorithms.

use windlass_cc::Span;
use windlass_lab::claims::Metric;
use windlass_lab::hindsight;
use windlass_lab::outlook;
use windlass_lab::run::{RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;
use windlass_lab::sweep;

const WARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/patient-ward.toml");
const SWEEP: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/sweeps/patient-ward.toml");

/// The ward with these changes. Default: a duration of a minute, and an alarm every four seconds.
fn ward(changes: &[(&str, &str)]) -> Scenario {
    let short = [
        ("duration", "60s"),
        ("flow.pressure.jitter", "20s"),
        ("flow.alarm.jitter", "4s"),
        ("flow.alarm.traffic.rate", "136bps"),
    ];
    let all = short.iter().chain(changes).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let all: Vec<(String, String)> = all.collect();
    Scenario::from_file_with(WARD, &all).unwrap_or_else(|e| panic!("{e}"))
}

/// The record of a run.
fn run(scenario: Scenario, seed: u64) -> RunRecord {
    let hash = scenario.hash();
    let task = Task {
        experiment: "ward".to_owned(),
        point: "all".to_owned(),
        seed,
        scenario: scenario.into(),
        scenario_hash: hash.into(),
        world: World::Sim,
    };
    let ran = Runner::new(1).run(&task).unwrap_or_else(|e| panic!("{e}"));
    task.record(&ran)
}

fn of(record: &RunRecord, path: &str) -> f64 {
    let value = Metric::parse(path).unwrap_or_else(|e| panic!("{e}")).of(record);
    value.unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn every_sensor_of_every_bed_reports() {
    let scenario = ward(&[]);
    assert_eq!(scenario.flows.len(), 4 * 24);
    let warnings = outlook::warnings(&scenario).unwrap();
    assert!(warnings.iter().all(|w| !w.contains("nothing can arrive")), "{warnings:?}");
    let record = run(scenario.clone(), 1);
    assert_eq!(hindsight::warnings(&scenario, std::slice::from_ref(&record)), Vec::<String>::new());
    for flow in &record.flows {
        assert!(flow.delivered_bytes > 0, "{}", flow.name);
    }
    let cell = &record.radios[0];
    for s in &cell.stations {
        let out = s.delivered + s.drops_queue + s.drops_retry + s.drops_off + s.inside;
        assert_eq!(s.offered, out, "{}", s.name);
        assert_eq!(s.battery_left_j.is_none(), s.name == "base", "{}", s.name);
        let whole = s.battery_left_j.unwrap_or(0.0) + s.energy_j.unwrap();
        assert!(s.name == "base" || (whole - 13_300.0).abs() < 1e-6, "{}: {whole}", s.name);
    }
    // The farthest bed is four rooms away, and the nearest bed one room.
    let hops = cell.routing.as_ref().unwrap().mean_hops();
    assert!((1.5..3.5).contains(&hops), "{hops}");
}

/// The network carries the waveforms of two ECG leads, with few late alarms. It is overloaded by eight leads.
#[test]
fn alarms_are_late_when_the_ward_is_overloaded() {
    let seeds = 1..=3;
    let calm: Vec<RunRecord> = seeds.clone().map(|seed| run(ward(&[]), seed)).collect();
    let eight = [("flow.ecg.traffic.packet", "792B"), ("flow.ecg.traffic.rate", "31680bps")];
    let busy: Vec<RunRecord> = seeds.map(|seed| run(ward(&eight), seed)).collect();
    let mean = |runs: &[RunRecord], path| {
        runs.iter().map(|r| of(r, path)).sum::<f64>() / runs.len() as f64
    };
    let late = |runs| mean(runs, "run.late_fraction");
    assert!(late(&calm) < 0.03, "{}", late(&calm));
    assert!(late(&busy) > 0.06 && late(&busy) > 4.0 * late(&calm), "{}", late(&busy));
    let slowest = |runs| mean(runs, "run.message_p99_ms");
    assert!(slowest(&busy) > 1000.0 && slowest(&busy) > 2.0 * slowest(&calm), "{}", slowest(&busy));
    // Repeated retransmissions also drain batteries.
    let life = |runs| mean(runs, "run.battery_life_s");
    assert!(life(&busy) < 0.98 * life(&calm), "{} {}", life(&busy), life(&calm));
    assert!(life(&calm) < 13_300.0 / 0.277, "the receiver alone empties the battery in this time");
    assert_eq!(of(&calm[0], "run.first_death_s"), f64::INFINITY);
}

/// The beds next to the base forward the most packets, so that their batteries are empty first. The alarms of
/// the other beds take another route as long as a route exists.
#[test]
fn the_batteries_of_the_beds_next_to_the_base_are_empty_first() {
    let scenario = ward(&[("topology.wireless.battery", "10J")]);
    let record = run(scenario.clone(), 1);
    let deaths: Vec<(f64, &str)> = record.radios[0]
        .stations
        .iter()
        .filter_map(|s| Some((s.died_s?, s.name.as_str())))
        .collect();
    // 36 s at 277 mW, minus the energy of transmissions.
    assert_eq!(deaths.len(), 24, "{deaths:?}");
    let first = deaths.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    assert!((30.0..36.0).contains(&first.0), "{first:?}");
    assert!(["n9", "n10", "n15", "n16"].contains(&first.1), "{first:?}");
    assert_eq!(of(&record, "run.first_death_s"), first.0);
    assert_eq!(of(&record, "run.battery_life_s"), first.0);
    assert_eq!(of(&record, "run.battery_left_j"), 0.0);
    assert!(of(&record, "run.late_fraction") > 0.3, "all beds are off at the end");
    let [said] = &hindsight::warnings(&scenario, &[record])[..] else { panic!("one warning") };
    assert!(said.contains("24 stations at which flows begin or end went off"), "{said}");
}

/// The simulator accepts the points of the sweep, and their flows deliver data.
#[test]
fn the_sweep_compares_algorithms_and_timers() {
    let set = [("duration", "90s"), ("flow.pressure.jitter", "20s")];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    let request = sweep::Request { file: SWEEP.into(), set, ..sweep::Request::default() };
    let plan = sweep::Plan::of(&request).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.axes.len(), 2);
    assert!(plan.axes[1].values.len() >= 8, "{:?}", plan.axes[1]);
    assert!(plan.measures.iter().any(|m| m.path() == "run.late_fraction"));
    let shortest =
        |scenario: &Scenario| Scenario { duration: Span::from_secs(16), ..scenario.clone() };
    for point in plan.points.iter().take(plan.axes[1].values.len()) {
        let mut scenario = shortest(&point.scenario);
        for flow in &mut scenario.flows {
            flow.jitter = Span::from_millis(500);
        }
        let record = run(scenario, 1);
        assert!(of(&record, "run.goodput_bps") > 24.0 * 6000.0, "{}", point.point.id);
    }
}
