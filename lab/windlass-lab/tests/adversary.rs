//! The adversarial search finds attacks known from the literature. It is deterministic, and a simplified attack keeps
//! its damage.

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
    search_from(1, algorithm, goal, bounds, runs)
}

fn search_from(
    seed: u64,
    algorithm: &str,
    goal: Goal,
    bounds: Bounds,
    runs: u64,
) -> Result<Found, String> {
    let subject = Candidate::parse(algorithm).expect("an algorithm");
    let world = World::Sim;
    let search = Search { subject, rival: None, goal, bounds, runs, seed, world };
    search.work(&Runner::new(0), || ()).map_err(|e| e.to_string())
}

#[test]
fn ten_losses_damage_reno_and_the_simplified_attack_keeps_the_damage() {
    let bounds = Bounds { losses: 10, ..NOTHING };
    let found = search("reno", Goal::Idleness, bounds, 121).expect("a search");
    assert!(found.worst > 2.0 * found.unharmed, "{found:?}");
    assert!(found.damage >= 0.9 * found.worst && found.attack.losses.len() <= 10, "{found:?}");
    let again = search("reno", Goal::Idleness, bounds, 121).expect("a search");
    assert_eq!((found.attack, found.damage), (again.attack, again.damage));
}

#[test]
fn the_low_rate_attack_is_found_with_few_bursts() {
    // Kuzmanovic and Knightly, SIGCOMM 2003: bursts with the period of the RTO.
    let bounds = Bounds { bursts: 0.15, ..NOTHING };
    let found = search("newreno", Goal::Idleness, bounds, 145).expect("a search");
    assert!(found.damage > 0.5, "{found:?}");
    assert!(found.attack.losses.is_empty() && found.attack.bursts.is_some(), "{found:?}");
}

#[test]
fn jitter_starves_one_of_two_flows_of_two_delay_based_algorithms() {
    // Arun, Alizadeh and Balakrishnan, SIGCOMM 2022: a flow with a smaller minimum RTT takes the additional delay for a
    // queue. A second flow that begins late harms Copa too.
    for (seed, algorithm, queue, jitter_ms) in [(3, "vegas", 33, 10), (1, "copa", 500, 30)] {
        let bounds = Bounds { queue: [queue, queue], jitter_ms, ..NOTHING };
        let found = search_from(seed, algorithm, Goal::Starvation, bounds, 97).expect("a search");
        assert!(found.damage > 0.6 && found.unharmed < 0.25, "{found:?}");
        assert!(!found.attack.delays.is_empty() && found.attack.losses.is_empty(), "{found:?}");
    }
}

#[test]
fn invalid_bounds_and_too_few_runs_are_errors() {
    let runs = search("reno", Goal::Idleness, NOTHING, 0).expect_err("no runs");
    assert!(runs.contains("0 runs are too few; expected 25 or more"), "{runs}");
    let queue = Bounds { queue: [0, 5], ..NOTHING };
    let queue = search("reno", Goal::Idleness, queue, 25).expect_err("no queue");
    assert!(queue.contains("at least one packet"), "{queue}");
    let bursts = Bounds { bursts: 0.9, ..NOTHING };
    let bursts = search("reno", Goal::Idleness, bursts, 25).expect_err("nothing left");
    assert!(bursts.contains("half of the time"), "{bursts}");
}

/// Result of a BBR flow on the adversary's path with these changes, after this number of seconds.
fn bbr(seconds: u64, changes: &[(&str, &str)]) -> FlowResult {
    let duration = format!("{seconds}s");
    let given = [("duration", &*duration), ("flow.subject.algorithm", "bbr")];
    let all: Vec<(String, String)> =
        given.iter().chain(changes).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let path = include_str!("../src/adversary/path.toml");
    let scenario = Scenario::with_overrides(path, "path.toml", &all).expect("a scenario");
    simulate(&scenario, 1).expect("a run").flows.remove(0)
}

/// Goodput of BBR between two times in seconds, bit/s.
fn rate_of_bbr([from, to]: [u64; 2], changes: &[(&str, &str)]) -> f64 {
    let carried = bbr(to, changes).delivered_bytes - bbr(from, changes).delivered_bytes;
    carried as f64 * 8.0 / (to - from) as f64
}

#[test]
fn a_temporary_longer_delay_with_thinned_acks_stalls_bbr_permanently() {
    // On Linux 6.12 BBR recovers after about 40 s (docs/src/guides/break.md).
    let acks = ("link.bottleneck.acks", r#"{ rule = "thin", count = 49, within = "100ms" }"#);
    let longer = r#"[["0s", "1ms"], ["129ms", "321603us"], ["10s", "1ms"]]"#;
    let usual = rate_of_bbr([80, 120], &[acks]);
    assert!(usual > 8.0e6, "{usual} bit/s on the unchanged path");
    let stalled = rate_of_bbr([80, 120], &[acks, ("link.access.delay", longer)]);
    assert!(stalled < usual / 10.0, "{stalled} bit/s long after the longer delay");
    // The rate rises by a quarter for one minimum RTT, and the rise ends before its packets are acknowledged. A larger
    // cwnd does not prevent the stall.
    let of = |when, value| {
        let params = ("flow.subject.params", value);
        rate_of_bbr(when, &[acks, ("link.access.delay", longer), params])
    };
    let wider = of([15, 25], "{ cwnd_gain = 8.0 }");
    assert!(wider < usual / 8.0, "{wider} bit/s with four times the cwnd");
    let bolder = of([80, 120], "{ probe_gain = 2.0 }");
    assert!(bolder > 6.0e6, "{bolder} bit/s with a probe gain of 2");
}

#[test]
fn spurious_retransmissions_do_not_stall_bbr_permanently() {
    // CC-Fuzz (HotNets 2022): each spurious retransmission ends a round, so that ten rounds pass at once and
    // the bandwidth estimate covers only the last few packets. The rate recovers if a sample over less than
    // the minimum RTT ends no round. The attack drops every second of 240 packets, including retransmissions,
    // while the delay rises by a second in each direction. The acknowledgements of the other packets arrive
    // after the RTO.
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
fn goodput_of_bbr_under_two_attacks_is_within_10_percent_of_linux() {
    // Goodput over 20 s on Linux 6.12: 6.28 and 4.08 Mbit/s. The simulator had 3.77 and 0.015 Mbit/s before
    // BBR received RTTs from timestamps, and before F-RTO used acknowledgements of any data that was not
    // retransmitted.
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
