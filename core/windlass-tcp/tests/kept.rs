//! Checksums of random exchanges: every segment with its time, and the endpoints at the end. They show whether a change
//! of the code has changed what an endpoint does. The other tests decide which behaviour is right. The segments have their
//! own checksum, so that a renamed field of the endpoint does not hide a changed segment.

use crate::hostile::ordeal;
use crate::mptcp_transfer::{short, situation};
use crate::multinet::Net;
use crate::pipe::Pipe;
use crate::transfer::{fate, millis, mostly_delivered, shortened, side, start};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use sha2::{Digest, Sha256};
use std::{env, fs};
use windlass_tcp::stack::PRESETS;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/kept.txt");
/// Exchanges that share a checksum.
const GROUP: usize = 10;

fn sum(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The segments of an exchange, and the endpoints at its end.
type Played = (String, String);

/// The first `groups` groups of values of a strategy, always the same, each with its checksum.
fn sums<S: Strategy>(
    name: &str,
    groups: usize,
    values: S,
    play: impl Fn(S::Value) -> Played,
) -> String {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut draw = || values.new_tree(&mut runner).expect("a value").current();
    let mut line = |n| {
        let (segments, ends): (String, String) = (0..GROUP).map(|_| play(draw())).unzip();
        format!("{name} {n} {} {}\n", sum(&segments), sum(&ends))
    };
    (0..groups).map(&mut line).collect()
}

/// Two endpoints over a path that drops, marks, delays and repeats segments.
fn transfers() -> String {
    let fates = prop_oneof![
        prop::collection::vec(fate(), 0..120),
        prop::collection::vec(mostly_delivered(), 0..600),
    ];
    let values = (side(), side(), start(), millis(0..300), any::<bool>(), fates);
    sums("transfer", 40, values, |(a, b, at, delay, both_connect, fates)| {
        let mut pipe = Pipe::new(shortened([a, b]), at, delay, both_connect, fates);
        for end in &mut pipe.ends {
            end.e.keep_journal();
        }
        pipe.log = Some(String::new());
        pipe.run_to_close(300_000);
        let mut ends = String::new();
        for end in &pipe.ends {
            let decisions = end.e.journal().map_or(&[][..], |journal| journal.decisions());
            let reductions: Vec<bool> =
                decisions.iter().map(|decision| decision.reduces()).collect();
            ends.push_str(&format!("{:?}{reductions:?}", end.e));
        }
        (pipe.log.take().unwrap_or_default(), ends)
    })
}

fn multipath_transfers() -> String {
    sums("multipath", 20, situation(150), |(p, mut apps, mut paths, seed)| {
        apps[0].closes_last = false;
        if seed % 2 == 0 {
            // Several bursts of a scheduler, with the buffers and rates of these paths.
            apps[0].bytes *= 8;
            paths.iter_mut().for_each(|path| path.loss = 0);
        }
        let mut net = Net::new(p, short(apps, 3_000), paths, seed);
        net.keep_log = true;
        net.run_to_rest(400_000);
        let stats = net.ends.each_ref().map(|end| (end.c.stats(), end.c.failure()));
        (format!("{:?}", net.log), format!("{stats:?}"))
    })
}

#[test]
fn random_exchanges_change_only_on_request() {
    let mut now: String = PRESETS
        .iter()
        .map(|preset| format!("preset {} {}\n", preset.name, sum(&format!("{:?}", preset.config))))
        .collect();
    now += &transfers();
    now += &multipath_transfers();
    now += &sums("hostile", 30, ordeal(), |ordeal| ordeal.play());
    let kept = fs::read_to_string(KEPT).unwrap_or_default();
    if env::var_os("WINDLASS_BLESS").is_some() {
        return fs::write(KEPT, now).expect("writable");
    }
    let moved: Vec<&str> =
        now.lines().filter(|line| !kept.lines().any(|old| old == *line)).collect();
    assert!(
        moved.is_empty(),
        "other exchanges: {}\nIf this is intended, call this test with WINDLASS_BLESS=1",
        moved.join(", ")
    );
}
