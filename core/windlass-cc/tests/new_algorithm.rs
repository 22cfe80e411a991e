//! The example of `docs/src/guides/new-algorithm.md`, compiled and run as in a user's crate.

#[path = "example/aimd.rs"]
mod aimd;

use aimd::{Aimd, Params};
use windlass_cc::loss_based::LossBased;
use windlass_cc::reno::{Reno, RenoAvoidance};
use windlass_cc::slow_start::{self, AnySlowStart, Standard};
use windlass_cc::{Ack, Conn, Controller, Phase, Ratio, Setup};

/// A registry with the line that the page adds, in a separate module.
mod registry {
    use super::*;

    windlass_cc::algorithms! {
        Aimd: LossBased<Aimd, AnySlowStart>;
        Reno: LossBased<RenoAvoidance<Reno>, AnySlowStart>;
    }
}

use registry::{ALGORITHMS, AnyController, AnyParams, STATE_BYTES};

const PAGE: &str = include_str!("../../../docs/src/guides/new-algorithm.md");

#[test]
fn the_page_shows_the_file_that_is_tested() {
    let file = include_str!("example/aimd.rs");
    assert!(PAGE.contains(&format!("```rust\n{file}```\n")), "the page's file is another one");
    let line =
        "    Aimd: LossBased<Aimd, AnySlowStart>;\n    Reno: LossBased<RenoAvoidance<Reno>, ";
    assert!(PAGE.contains(line) && include_str!("new_algorithm.rs").contains("Aimd: LossBased"));
}

#[test]
fn an_rtt_adds_the_increase_and_a_loss_leaves_the_kept_share() {
    let own = Params { increase: Ratio::of(3, 10), keep: Ratio::of(9, 11) };
    let p: Setup<Params, _> = Setup {
        initial_window: 10_000,
        initial_ssthresh: 10_000,
        own,
        ..Setup::<Params, slow_start::StandardParams>::default()
    };
    let mut c = Conn::new(1_000);
    let mut aimd = LossBased::<Aimd, Standard>::init(&p, &c);
    let mut model = 10_000.0;
    for _ in 0..10 {
        aimd.on_ack(&p, &c, &Ack::of(1_000));
        model += 0.3 * 1_000.0 * 1_000.0 / model;
    }
    assert!((aimd.cwnd() as f64 - model).abs() <= 1.0, "{} {model}", aimd.cwnd());
    c.flight_size = 11_000;
    c.phase = Phase::Recovery;
    aimd.on_phase(&p, &c, Phase::Open, Phase::Recovery);
    assert!(aimd.control(&p, &c).ssthresh.abs_diff(9_000) <= 1);
}

#[test]
fn one_line_in_the_registry_makes_it_an_algorithm_by_name() {
    let mut p = AnyParams::by_name("AIMD").expect("it is registered");
    assert_eq!(ALGORITHMS.iter().map(|info| info.id).collect::<Vec<_>>(), ["aimd", "reno"]);
    assert_eq!((STATE_BYTES.len(), ALGORITHMS[0].params[0].name), (2, "increase"));
    assert!(p.set(0, Ratio::of(3, 10).0) && !p.set(0, 0), "within the range only");
    let slow_start = slow_start::AnyParams::by_name("hystart").expect("a slow start");
    p.set_common(&Setup { slow_start, initial_window: 4_000, ..p.common() });
    let c = Conn::new(1_000);
    let mut any = AnyController::init(&p, &c);
    any.on_ack(&p, &c, &Ack::of(1_000));
    assert_eq!(any.control(&p, &c).cwnd, 5_000, "slow start");
    let other = AnyParams::by_name("reno").expect("it is registered");
    assert_eq!(any.control(&other, &c).cwnd, 0, "parameters of another algorithm");
}
