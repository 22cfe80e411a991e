//! Observation changes nothing: a run with an observer gives exactly the same results as without it.

use crate::common::{self, Traffic, download, flow, link, network, radio::grid, rfc};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, Record};
use windlass_sim::loss::{BerFormula, LossModel};
use windlass_sim::queue::{CoDel, Discipline};
use windlass_sim::{RunResult, Series, Simulation};
use windlass_tcp::stack::LINUX;

/// Algorithms that use the random bits of their events, over a link with losses.
fn wired(algorithm: &'static str) -> Config {
    let loss = LossModel::Ber { rate: 1e-6, formula: BerFormula::Exact };
    let mut config = download(LINUX, 3_000_000, Some(loss));
    config.flows[0].profile = common::profile(LINUX, algorithm).into();
    config.duration = Time::from_secs(30);
    config
}

/// Like `wired`, with a queue that marks and drops.
fn queued(algorithm: &'static str) -> Config {
    let mut config = wired(algorithm);
    config.links[0].discipline = Discipline::CoDel(CoDel::DEFAULT);
    config.flows[0].profile_mut().stack.ecn = true.into();
    config
}

/// The same algorithms over four stations in a row that route by AODV.
fn meshed(algorithm: &'static str) -> Config {
    let flows = vec![flow([0, 3], rfc(algorithm), Traffic::Bulk { bytes: None })];
    let mut config = network(vec![link([4, 5], 1, 0)], flows, Time::from_secs(20));
    config.radios = vec![grid(1, 4)];
    config
}

/// Results of a run, without the results that only an observer gets.
fn outcome(
    config: Config,
    prepare: impl Fn(&mut Simulation),
    look: impl Fn(&mut Simulation),
) -> RunResult {
    let mut simulation = Simulation::new(config.clone()).expect("valid");
    prepare(&mut simulation);
    while simulation.run_until(simulation.now() + Span::from_millis(37)) {
        look(&mut simulation);
    }
    let mut result = simulation.finish().expect("closed");
    result.samples.clear();
    result.packets.clear();
    result.timeline = None;
    result.decisions = None;
    result.flows.iter_mut().for_each(|f| (f.rtt, f.transit) = (None, None));
    result
}

fn recording(record: Record, of: &dyn Fn(&'static str) -> Config) {
    for algorithm in ["bbr", "bbr3", "cubic", "cocoa3plus"] {
        let plain = outcome(of(algorithm), |_| (), |_| ());
        let watched = Config { record: record.clone(), ..of(algorithm) };
        assert_eq!(outcome(watched, |_| (), |_| ()), plain, "{algorithm}");
    }
}

#[test]
fn recording_every_series_changes_nothing() {
    let series = Series::known().into_iter().map(|(_, series)| series).collect();
    let record = Record { series, ..Record::default() };
    recording(record.clone(), &wired);
    recording(record, &meshed);
}

#[test]
fn capturing_packets_changes_nothing() {
    recording(Record { capture: vec![0, 1], ..Record::default() }, &wired);
}

#[test]
fn counting_by_intervals_changes_nothing() {
    let record = Record { bins: Span::from_millis(100), ..Record::default() };
    recording(record.clone(), &wired);
    recording(record, &meshed);
}

#[test]
fn measuring_delays_changes_nothing() {
    let record = Record { delays: true, ..Record::default() };
    recording(record.clone(), &wired);
    recording(record, &meshed);
}

#[test]
fn keeping_the_record_of_decisions_changes_nothing() {
    let record = Record { decisions: true, ..Record::default() };
    recording(record.clone(), &wired);
    recording(record.clone(), &meshed);
    recording(record, &queued);
}

/// Cross-layer data are given only on request. A request by an observer does not affect the run, whether or
/// not the controller also requests the data, and for any number of requests.
#[test]
fn reading_cross_layer_data_changes_nothing() {
    for of in [wired, meshed] {
        for algorithm in ["bbr", "bbr3", "cubic", "cocoa3plus"] {
            let plain = outcome(of(algorithm), |_| (), |_| ());
            let wants = of(algorithm).flows[0].profile.params.requirements().cross_layer;
            let watch = |s: &mut Simulation| {
                s.watch_cross_layer(1);
                if !wants {
                    s.watch_cross_layer(0);
                }
            };
            let look = |s: &mut Simulation| {
                assert!(s.cross_layer(0).is_some() && s.cross_layer(1).is_some())
            };
            assert_eq!(outcome(of(algorithm), watch, look), plain, "{algorithm}");
        }
    }
}
