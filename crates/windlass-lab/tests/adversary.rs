//! The adversary finds what literature knows, the same each time, and what it finds stays found when it is made smaller.

use windlass_lab::adversary::{Bounds, Found, Goal, Search};
use windlass_lab::run::{Runner, World, simulate};
use windlass_lab::scenario::{Candidate, Scenario};

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

/// Bytes that BBR delivers in so many seconds, and its timeouts, where every second of 240 packets is lost while the path becomes two
/// seconds longer for 200 ms: retransmissions too, and what has arrived is told after the timer has expired.
fn with_acknowledgements_after_a_timeout(seconds: u64) -> (u64, u64) {
    let losses: Vec<String> = (0..120).map(|n| (4000 + 2 * n).to_string()).collect();
    let losses = format!("{{ model = \"list\", packets = [{}] }}", losses.join(", "));
    let changes = [
        ("duration", format!("{seconds}s")),
        ("flow.subject.algorithm", "bbr".to_owned()),
        ("link.access.delay", r#"[["0s", "1ms"], ["5s", "1001ms"], ["5.2s", "1ms"]]"#.to_owned()),
        ("link.bottleneck.loss", losses),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    let path = include_str!("../src/adversary/path.toml");
    let scenario = Scenario::with_overrides(path, "path.toml", &changes).expect("a scenario");
    let result = simulate(&scenario, 1).expect("a run");
    let flow = &result.flows[0];
    (flow.delivered_bytes, flow.rto_count)
}

/// Bytes that BBR delivers in so many seconds where one acknowledgement of 49 goes on, or the last one after 100 ms, and the access
/// link has this delay.
fn with_thinned_acknowledgements(seconds: u64, delay: &str) -> u64 {
    let changes = [
        ("duration", format!("{seconds}s")),
        ("flow.subject.algorithm", "bbr".to_owned()),
        ("link.access.delay", delay.to_owned()),
        ("link.bottleneck.acks", r#"{ rule = "thin", count = 49, within = "100ms" }"#.to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    let path = include_str!("../src/adversary/path.toml");
    let scenario = Scenario::with_overrides(path, "path.toml", &changes).expect("a scenario");
    simulate(&scenario, 1).expect("a run").flows[0].delivered_bytes
}

#[test]
fn a_path_that_was_longer_leaves_bbr_in_a_stall_for_good_where_acknowledgements_are_thinned_out() {
    // Linux 6.12 carries 0.44 Mbit/s too, two minutes later (docs/src/guides/break.md).
    let rate = |delay| {
        let late =
            with_thinned_acknowledgements(120, delay) - with_thinned_acknowledgements(80, delay);
        late as f64 * 8.0 / 40.0
    };
    let (usual, stalled) =
        (rate(r#""1ms""#), rate(r#"[["0s", "1ms"], ["129ms", "321603us"], ["10s", "1ms"]]"#));
    assert!(usual > 8.0e6, "{usual} bit/s on the path as it is");
    assert!(stalled < 0.6e6, "{stalled} bit/s long after it was longer");
}

#[test]
fn retransmissions_that_were_not_needed_do_not_stall_bbr_for_good() {
    // CC-Fuzz (HotNets 2022): each of them ends a round, ten rounds pass at once, and the estimate is of the last few packets.
    // Where a sample over less than the least round trip ends none, the rate comes back.
    let (until_20, timeouts) = with_acknowledgements_after_a_timeout(20);
    let (until_30, _) = with_acknowledgements_after_a_timeout(30);
    assert!(timeouts >= 2, "{timeouts} timeouts");
    let rate = (until_30 - until_20) as f64 * 8.0 / 10.0;
    assert!(rate > 9.0e6, "{rate} bit/s in the last ten seconds");
}
