//! Cells in which every station always has a datagram, compared with their summary before the run: Bianchi's
//! model.

use windlass_scenario::compile::compile;
use windlass_scenario::{Scenario, outlook};
use windlass_sim::Simulation;

/// Compares cells of 2 to `most` stations around their access point with the model. `keys` are the cell's.
/// The difference must be below `tolerance`, in %.
fn compare(standard: &str, keys: &str, seconds: u64, most: u32, tolerance: f64) {
    for n in [2, 5, 10, 20, 50].into_iter().filter(|n| *n <= most) {
        let text = format!(
            "duration = \"{seconds}s\"\n[[wifi]]\nstandard = \"{standard}\"\naccess_point = \"ap\"\n\
             stations = \"s*\"\ncount = {n}\n{keys}\n[[flow]]\nfrom = \"s*\"\ncount = {n}\nto = \"ap\"\n\
             algorithm = \"none\"\ntraffic = {{ kind = \"cbr\", transport = \"udp\", packet = \"1472B\", rate = \"{}kbps\" }}",
            130_000 / n
        );
        let scenario = Scenario::from_str(&text, "cell.toml").unwrap_or_else(|e| panic!("{e}"));
        let [cell] = outlook::cells(&scenario).expect("a summary").try_into().expect("one cell");
        assert_eq!((cell.stations, cell.packet_bytes), (n, 1500));
        let model = cell.together.expect("Bianchi's model");

        let config = compile(&scenario, 1).expect("a configuration");
        let mut simulation = Simulation::new(config).expect("valid");
        simulation.run();
        let result = simulation.finish().expect("packets conserved");
        let stations = &result.radios[0].stations[1..];
        assert!(stations.iter().all(|s| s.drops_queue > 0), "a station is not saturated");
        let delivered: u64 = stations.iter().map(|s| s.delivered).sum();
        let bps = 8.0 * 1500.0 * delivered as f64 / seconds as f64;
        let off = 100.0 * (bps / model.bps - 1.0);
        println!("{standard} {keys:?} n {n}: {bps:.0} bit/s, {off:+.2} % from Bianchi's model");
        assert!(off.abs() < tolerance, "{standard} {keys:?} n {n}: {off:+.2} %");
    }
}

/// About 5000 packets per run: the standard error of the rate is below 0.5 %.
const B: (&str, u64) = ("802.11b", 10);
const G: (&str, u64) = ("802.11g", 3);

/// The model has neither EIFS nor acknowledgement timeouts: after a collision and a DIFS, all stations
/// contend. Retry limits follow the standard in the model and in the simulation.
#[test]
fn the_rate_of_saturated_stations_follows_bianchi() {
    for (standard, seconds) in [B, G] {
        for rts in ["never", "always"] {
            compare(standard, &format!("rts = \"{rts}\"\neifs = false"), seconds, 50, 3.0);
        }
    }
}

/// With EIFS, collisions last longer in the model too. In the simulation, the colliding stations return after
/// their timeout, earlier than the others, and contend with fewer stations for some slots. This causes fewer
/// collisions than in the model. The effect is visible with many collisions and short frames (802.11g, 50
/// stations: 5 % more throughput).
#[test]
fn with_eifs_the_rate_follows_bianchi_with_longer_collisions() {
    compare(B.0, "", B.1, 50, 3.0);
    compare(G.0, "", G.1, 20, 3.5);
    for (standard, seconds) in [B, G] {
        compare(standard, "rts = \"always\"", seconds, 50, 3.0);
    }
}

#[test]
fn the_rate_of_stations_with_aggregates_follows_bianchi() {
    for rts in ["never", "always"] {
        for most in [1, 8, 16] {
            let keys =
                format!("rts = \"{rts}\"\neifs = false\naggregation = {{ max_frames = {most} }}");
            compare("802.11n", &keys, 20, 10, 4.0);
        }
    }
}
