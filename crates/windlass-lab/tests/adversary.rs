//! The adversary finds what literature knows, the same each time, and what it finds stays found when it is made smaller.

use windlass_lab::adversary::{Bounds, Found, Goal, Search};
use windlass_lab::run::{Runner, World, simulate};
use windlass_lab::scenario::{Candidate, Scenario};
use windlass_sim::FlowResult;

const NOTHING: Bounds = Bounds {
    losses: 0,
    bursts: 0.0,
    outages_ms: 0,
    queue: [33, 33],
    rate: 1.0,
    jitter_ms: 0,
    acks_ms: 0,
};

fn search(algorithm: &str, goal: Goal, bounds: Bounds, runs: u64) -> Result<Found, String> {
    let subject = Candidate::parse(algorithm).expect("an algorithm");
    let world = World::Sim;
    let search = Search { subject, rival: None, goal, bounds, runs, seed: 1, world };
    search.work(&Runner::new(0), || ()).map_err(|e| e.to_string())
}

#[test]
fn a_few_losses_hurt_reno_and_the_smaller_attack_still_does() {
    let bounds = Bounds { losses: 10, ..NOTHING };
    let found = search("reno", Goal::Idleness, bounds, 121).expect("a search");
    assert!(found.worst > 2.0 * found.unharmed, "{found:?}");
    assert!(found.damage >= 0.9 * found.worst && found.attack.losses.len() <= 10, "{found:?}");
    let again = search("reno", Goal::Idleness, bounds, 121).expect("a search");
    assert_eq!((found.attack, found.damage), (again.attack, again.damage));
}

#[test]
fn the_low_rate_attack_is_found_with_few_bursts() {
    // Kuzmanovic and Knightly, SIGCOMM 2003: bursts in the rhythm of the retransmission timer.
    let bounds = Bounds { bursts: 0.15, ..NOTHING };
    let found = search("newreno", Goal::Idleness, bounds, 145).expect("a search");
    assert!(found.damage > 0.5, "{found:?}");
    assert!(found.attack.losses.is_empty() && found.attack.bursts.is_some(), "{found:?}");
}

#[test]
fn jitter_starves_one_of_two_flows_of_two_delay_based_algorithms() {
    // Arun, Alizadeh and Balakrishnan, SIGCOMM 2022: who once saw a shorter path takes the rest of it for a queue.
    for (algorithm, queue, jitter_ms) in [("vegas", 33, 10), ("copa", 500, 30)] {
        let bounds = Bounds { queue: [queue, queue], jitter_ms, ..NOTHING };
        let found = search(algorithm, Goal::Starvation, bounds, 97).expect("a search");
        assert!(found.damage > 0.6 && found.unharmed < 0.2, "{found:?}");
        assert!(!found.attack.delays.is_empty() && found.attack.losses.is_empty(), "{found:?}");
    }
}

#[test]
fn what_leaves_nothing_to_search_is_refused() {
    let runs = search("reno", Goal::Idleness, NOTHING, 0).expect_err("no runs");
    assert!(runs.contains("0 runs find nothing; 25 or more may"), "{runs}");
    let queue = Bounds { queue: [0, 5], ..NOTHING };
    let queue = search("reno", Goal::Idleness, queue, 25).expect_err("no queue");
    assert!(queue.contains("at least one packet"), "{queue}");
    let bursts = Bounds { bursts: 0.9, ..NOTHING };
    let bursts = search("reno", Goal::Idleness, bursts, 25).expect_err("nothing left");
    assert!(bursts.contains("half of the time"), "{bursts}");
}

/// What BBR does in so many seconds on the adversary's path with these changes.
fn bbr(seconds: u64, changes: &[(&str, &str)]) -> FlowResult {
    let duration = format!("{seconds}s");
    let given = [("duration", &*duration), ("flow.subject.algorithm", "bbr")];
    let all: Vec<(String, String)> =
        given.iter().chain(changes).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let path = include_str!("../src/adversary/path.toml");
    let scenario = Scenario::with_overrides(path, "path.toml", &all).expect("a scenario");
    simulate(&scenario, 1).expect("a run").flows.remove(0)
}

/// Its rate between two moments, bit/s.
fn rate_of_bbr([from, to]: [u64; 2], changes: &[(&str, &str)]) -> f64 {
    let carried = bbr(to, changes).delivered_bytes - bbr(from, changes).delivered_bytes;
    carried as f64 * 8.0 / (to - from) as f64
}

#[test]
fn a_path_that_was_longer_leaves_bbr_in_a_stall_for_good_where_acknowledgements_are_thinned_out() {
    // Linux 6.12 carries 0.44 Mbit/s too, two minutes later (docs/src/guides/break.md).
    let acks = ("link.bottleneck.acks", r#"{ rule = "thin", count = 49, within = "100ms" }"#);
    let longer = r#"[["0s", "1ms"], ["129ms", "321603us"], ["10s", "1ms"]]"#;
    let usual = rate_of_bbr([80, 120], &[acks]);
    assert!(usual > 8.0e6, "{usual} bit/s on the path as it is");
    let stalled = rate_of_bbr([80, 120], &[acks, ("link.access.delay", longer)]);
    assert!(stalled < 0.6e6, "{stalled} bit/s long after it was longer");
    // Its pace holds it, not its window: a rise of a quarter for one least round trip is over before it is acknowledged.
    let of =
        |key, value| rate_of_bbr([80, 120], &[acks, ("link.access.delay", longer), (key, value)]);
    let wider = of("flow.subject.params", "{ cwnd_gain = 8.0 }");
    assert!(wider < 1.0e6, "{wider} bit/s with four times the window");
    let bolder = of("flow.subject.params", "{ probe_gain = 2.0 }");
    assert!(bolder > 6.0e6, "{bolder} bit/s with a rise of twice");
}

#[test]
fn retransmissions_that_were_not_needed_do_not_stall_bbr_for_good() {
    // CC-Fuzz (HotNets 2022): each of them ends a round, ten rounds pass at once, and the estimate is of the last few packets.
    // Where a sample over less than the least round trip ends none, the rate comes back. Every second of 240 packets is lost while
    // the path becomes two seconds longer: retransmissions too, and what has arrived is told after the timer has expired.
    let losses: Vec<String> = (0..120).map(|n| (4000 + 2 * n).to_string()).collect();
    let losses = format!("{{ model = \"list\", packets = [{}] }}", losses.join(", "));
    let attack = [
        ("link.access.delay", r#"[["0s", "1ms"], ["5s", "1001ms"], ["5.2s", "1ms"]]"#),
        ("link.bottleneck.loss", &*losses),
    ];
    let timeouts = bbr(20, &attack).rto_count;
    assert!(timeouts >= 2, "{timeouts} timeouts");
    let rate = rate_of_bbr([20, 30], &attack);
    assert!(rate > 9.0e6, "{rate} bit/s in the last ten seconds");
}

#[test]
fn attacks_that_showed_where_we_were_not_like_linux_do_to_us_what_they_do_to_it() {
    // Goodput of 20 s on Linux 6.12: 6.28 and 4.08 Mbit/s. Before round trips by timestamps were told, and before F-RTO went by any
    // acknowledgement of what was not sent again, ours was 3.77 and 0.015.
    let queue = [
        ("link.access.delay", r#"[["0s", "1ms"], ["35ms", "350888us"], ["10s", "1ms"]]"#),
        ("link.bottleneck.queue", "62pkt"),
    ];
    let losses = r#"{ model = "list", packets = [2, 3, 10, 11, 13, 44, 45, 46, 48, 49, 50, 51, 52], direction = "forward" }"#;
    let lossy = [
        ("link.access.delay", r#"[["0s", "1ms"], ["79ms", "401ms"], ["10s", "1ms"]]"#),
        ("link.bottleneck.loss", losses),
    ];
    for (attack, linux) in [(&queue, 6.28e6), (&lossy, 4.08e6)] {
        let rate = bbr(20, attack).delivered_bytes as f64 * 8.0 / 20.0;
        assert!((rate / linux - 1.0).abs() < 0.1, "{rate} bit/s, and {linux} on Linux");
    }
}
