//! Whoever looks on changes nothing: with each observer alone, flows, links and events are those of a
//! run that nobody watches.

mod common;

use common::{drops, dumbbell, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::{FlowResult, RunResult, Series, Simulation};

/// Two lossy flows of an algorithm that draws random numbers.
fn drawing(algorithm: &'static str) -> Config {
    let mut config = dumbbell(2, algorithm, Time::from_secs(12));
    config.seed = 5;
    config.links[0].loss = [drops(0.001), drops(0.001)];
    config
}

fn assert_same(what: &str, seen: &RunResult, unseen: &RunResult) {
    for (seen, unseen) in seen.flows.iter().zip(&unseen.flows) {
        // The delays are what one of the observers is there for.
        assert_eq!(FlowResult { transit: None, ..seen.clone() }, *unseen, "{what}");
    }
    assert_eq!(seen.links, unseen.links, "{what}");
    assert_eq!(seen.events, unseen.events, "{what}");
}

#[test]
fn the_runs_depend_on_the_random_numbers_that_are_drawn() {
    // Otherwise nothing below could fail.
    for algorithm in ["bbr", "bbr3"] {
        let other = Config { seed: 6, ..drawing(algorithm) };
        assert_ne!(run(drawing(algorithm)).flows, run(other).flows, "{algorithm}");
    }
}

#[test]
fn a_record_of_each_kind_changes_nothing() {
    type Observer = fn(&mut Config);
    let observers: [(&str, Observer); 5] = [
        ("series", |c| c.record.series = Series::ALL.map(|s| s.1).to_vec()),
        ("inner state", |c| c.record.series = vec![Series::States, Series::Pacing]),
        ("capture", |c| c.record.capture = (0..c.links.len()).collect()),
        ("timeline", |c| c.record.bins = Span::from_millis(100)),
        ("delays", |c| c.record.delays = true),
    ];
    for algorithm in ["bbr", "bbr3"] {
        let unseen = run(drawing(algorithm));
        for (name, observe) in observers {
            let mut config = drawing(algorithm);
            observe(&mut config);
            assert_same(name, &run(config), &unseen);
        }
    }
}

#[test]
fn looking_at_the_lower_layers_changes_nothing() {
    // What the node below knows is told to the endpoint before each of its events; an algorithm
    // that has no use for it must draw the same numbers as if nobody had asked.
    for algorithm in ["bbr", "bbr3"] {
        let mut watched = Simulation::new(drawing(algorithm)).expect("a valid configuration");
        watched.watch(0);
        watched.watch(2);
        watched.run();
        let seen = watched.finish().expect("closed books");
        assert_same(algorithm, &seen, &run(drawing(algorithm)));
    }
}
