//! Series of the inner state of algorithms and of their pacing rate.

use std::collections::BTreeSet;

use crate::common::{self, dumbbell};
use windlass_cc::{ALGORITHMS, AnyParams, Time};
use windlass_sim::config::Config;
use windlass_sim::{Sample, Series};

fn recorded(algorithms: [&'static str; 2], series: Vec<Series>) -> Vec<Sample> {
    let mut config: Config = dumbbell(2, algorithms[0], Time::from_secs(5));
    config.flows[1].profile_mut().params = AnyParams::by_name(algorithms[1]).expect("known");
    config.record.series = series;
    common::run(config).samples
}

/// Names of the series of one flow.
fn names(samples: &[Sample], flow: u32) -> BTreeSet<String> {
    let mine = samples.iter().filter(|s| s.flow == flow);
    mine.map(|s| s.series.name().into_owned()).collect()
}

/// Names of the state in an algorithm's description.
fn promised(id: &str) -> BTreeSet<String> {
    let params = AnyParams::by_name(id).expect("known");
    let fields = params.info().trace.iter().chain(params.common().slow_start.info().trace);
    fields.map(|field| format!("state.{}", field.name)).collect()
}

#[test]
fn the_recorded_state_belongs_to_each_flows_algorithm() {
    let samples = recorded(["cubic", "vegas"], vec![Series::States]);
    for (flow, id) in [(0, "cubic"), (1, "vegas")] {
        let (got, promised) = (names(&samples, flow), promised(id));
        assert!(!got.is_empty(), "{id} shows nothing");
        assert!(got.is_subset(&promised), "{id}: {got:?} of {promised:?}");
        // All of the algorithm's own state is recorded, independent of its slow start.
        for field in AnyParams::by_name(id).expect("known").info().trace {
            assert!(got.contains(&format!("state.{}", field.name)), "{id}: {}", field.name);
        }
    }
}

#[test]
fn one_state_field_is_recorded_only_for_algorithms_with_this_field() {
    let fields: BTreeSet<_> =
        AnyParams::by_name("vegas").expect("known").info().trace.iter().map(|f| f.name).collect();
    let field = *fields.first().expect("Vegas has state");
    let samples = recorded(["newreno", "vegas"], vec![Series::State(field), Series::Cwnd]);
    assert_eq!(names(&samples, 0), BTreeSet::from(["cwnd_bytes".to_owned()]));
    let both = BTreeSet::from(["cwnd_bytes".to_owned(), format!("state.{field}")]);
    assert_eq!(names(&samples, 1), both);
}

#[test]
fn a_rate_is_recorded_for_an_algorithm_that_paces_and_zero_for_one_that_does_not() {
    let samples = recorded(["bbr", "newreno"], vec![Series::Pacing]);
    let most = |flow| samples.iter().filter(|s| s.flow == flow).map(|s| s.value).max();
    assert_eq!(most(1), Some(0));
    // Before the first RTT sample, BBR assumes 1 ms. It sends the initial window of ten segments in this
    // time, with its gain of 2/ln 2.
    let first = samples.iter().find(|s| s.flow == 0 && s.value > 0).expect("BBR paces").value;
    let expected = 2.0 / std::f64::consts::LN_2 * 10.0 * 1448.0 * 8.0 / 1e-3;
    assert!((first as f64 / expected - 1.0).abs() < 0.01, "{first} bit/s, {expected} expected");
}

#[test]
fn every_state_field_has_a_distinct_series_name() {
    let known = Series::known();
    for field in ALGORITHMS.iter().flat_map(|info| info.trace) {
        let name = format!("state.{}", field.name);
        let (_, series) = known.iter().find(|(n, _)| *n == name).expect(field.name);
        assert_eq!(series.name(), name);
    }
    let distinct: BTreeSet<_> = known.iter().map(|(name, _)| name).collect();
    assert_eq!(distinct.len(), known.len());
}
