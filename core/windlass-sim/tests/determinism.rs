//! The same seed gives the same bytes, and the random streams are independent.

use crate::common::{Traffic, download, drops, dumbbell, flow, link, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::loss::{BerFormula, LossModel};
use windlass_sim::{PacketFate, RunResult, Series};
use windlass_tcp::stack::RIVERBED;

/// All results of a run as text, with packets and samples.
fn bytes(config: &Config) -> String {
    format!("{:?}", run(config.clone()))
}

/// A lossy dumbbell of four flows with complete recording.
fn recorded(seed: u64) -> Config {
    let mut config = dumbbell(4, "newreno", Time::from_secs(3));
    config.seed = seed;
    config.links[0].loss = [drops(0.01), drops(0.01)].into();
    config.record.series = Series::ALL.map(|s| s.1).to_vec();
    config.record.capture = (0..config.links.len()).collect();
    config
}

#[test]
fn the_same_seed_gives_the_same_bytes_twice() {
    let first = bytes(&recorded(7));
    assert!(first.len() > 1_000_000, "the record is too short: {}", first.len());
    assert!(first == bytes(&recorded(7)));
}

#[test]
fn two_parallel_threads_give_the_bytes_of_one() {
    let alone = [7, 8].map(|seed| bytes(&recorded(seed)));
    let together = std::thread::scope(|s| {
        let runs = [7, 8].map(|seed| s.spawn(move || bytes(&recorded(seed))));
        runs.map(|r| r.join().expect("a run that ends"))
    });
    assert!(alone == together);
}

#[test]
fn different_seeds_differ() {
    let a = run(recorded(7));
    let b = run(recorded(8));
    assert_ne!(a.links[0].drops_error, 0);
    assert_ne!(a.flows, b.flows);
}

#[test]
fn recording_changes_only_the_record() {
    let mut silent = recorded(7);
    silent.record = Default::default();
    let (silent, loud) = (run(silent), run(recorded(7)));
    assert_eq!(silent.flows, loud.flows);
    assert_eq!((silent.links, silent.events), (loud.links, loud.events));
}

#[test]
fn stopping_during_a_run_changes_nothing() {
    let config = recorded(7);
    let mut stepwise = windlass_sim::Simulation::new(config.clone()).expect("valid");
    let mut end = Time::ZERO;
    while stepwise.run_until(end) {
        end += Span::from_millis(37);
    }
    assert!(!stepwise.run_until(Time::ZERO), "time must not run backwards");
    let stepwise = stepwise.finish().expect("packets conserved");
    assert!(format!("{stepwise:?}") == bytes(&config));
}

/// Numbers, from 1, of the frames that a link direction lost, in the order of transmission.
fn lost_frames(r: &RunResult, link: u32) -> Vec<usize> {
    // A link is FIFO: frames arrive or are lost in the order of their transmission.
    let out = r.packets.iter().filter(|p| p.link == link);
    let out = out.filter(|p| matches!(p.fate, PacketFate::Delivered | PacketFate::DroppedError));
    let numbered = out.enumerate().filter(|(_, p)| p.fate == PacketFate::DroppedError);
    numbered.map(|(i, _)| i + 1).collect()
}

#[test]
fn exchanging_the_algorithm_keeps_every_links_loss_pattern() {
    // Two links without common flows, and a third link that the flow under test also crosses.
    let with = |algorithm| {
        let mut links = vec![link([0, 1], 10_000_000, 10), link([2, 3], 10_000_000, 10)];
        links[0].loss = [drops(0.02), drops(0.02)].into();
        let rate = 1e-6;
        links[1].loss[0] = Some(LossModel::Ber { rate, formula: BerFormula::Exact });
        let bulk = Traffic::Bulk { bytes: None };
        let flows =
            vec![flow([0, 1], rfc(algorithm), bulk.clone()), flow([2, 3], rfc("newreno"), bulk)];
        let mut config = network(links, flows, Time::from_secs(20));
        config.record.capture = vec![0, 1];
        run(config)
    };
    let (reno, tahoe) = (with("newreno"), with("tahoe"));
    assert_ne!(reno.flows[0], tahoe.flows[0], "both algorithms gave the same result");
    // The unrelated link: equal losses, and therefore an equal flow.
    assert_eq!(reno.flows[1], tahoe.flows[1]);
    assert!(!lost_frames(&reno, 2).is_empty());
    // The flow's own link: the same frame numbers are lost, up to the end of the shorter run.
    for direction in [0, 1] {
        let (a, b) = (lost_frames(&reno, direction), lost_frames(&tahoe, direction));
        let both = a.len().min(b.len());
        assert!(both > 20, "{both} losses");
        assert_eq!(a[..both], b[..both]);
    }
}

#[test]
fn events_after_the_end_are_not_logged() {
    // At 5 ms, the server has sent more packets to the link's queue than have left it.
    let mut config = download(RIVERBED, 1_000_000, None);
    config.flows[0].profile_mut().stack.initial_window = windlass_tcp::InitialWindow::Segments(6);
    config.duration = Time::from_millis(42);
    config.record.capture = vec![0, 1];
    let r = run(config);
    assert!(r.links[0].inside > 1, "{:?}", r.links[0]);
    assert!(r.packets.iter().all(|p| p.time <= r.end));
    assert!(r.packets.windows(2).all(|w| w[0].time <= w[1].time));
}
