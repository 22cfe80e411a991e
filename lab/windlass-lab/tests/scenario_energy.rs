//! Scenarios with the consumption of radios, batteries, and sources that pause.

use windlass_cc::{Span, Time};
use windlass_lab::compile::compile;
use windlass_lab::run::simulate;
use windlass_lab::scenario::Scenario;
use windlass_sim::config::Traffic;
use windlass_sim::radio::Consumption;

const METER: &str = r#"
duration = "10s"
[[wifi]]
name = "cell"
standard = "802.11b"
consumption = "esp32-c3"
battery = "1.2J"
access_point = "ap"
stations = ["meter", { node = "other", battery = "1h" }]
[[flow]]
name = "readings"
from = "meter"
to = "ap"
traffic = { kind = "cbr", transport = "udp", rate = "80kbps", packet = "1000B", on = [["1s", "2s"], ["3s", "9s"]] }
"#;

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::from_str(text, "s.toml").map_err(|e| e.to_string())
}

fn meter() -> String {
    METER.replace("\"1h\"", "\"2.6Wh\"")
}

#[test]
fn the_battery_of_a_cell_applies_to_stations_and_not_to_the_access_point() {
    let scenario = parse(&meter()).unwrap();
    let radio = &scenario.wifi[0].radio;
    assert_eq!(radio.consumption, Some(Consumption::ESP32_C3));
    let batteries: Vec<Option<u64>> = radio.stations.iter().map(|s| s.battery_uj).collect();
    assert_eq!(batteries, [None, Some(1_200_000), Some(9_360_000_000)]);
    let table = "consumption = { transmit = \"1W\", receive = \"0.5W\", idle = \"1mW\" }";
    let scenario = parse(&meter().replace("consumption = \"esp32-c3\"", table)).unwrap();
    let c = scenario.wifi[0].radio.consumption.unwrap();
    assert_eq!((c.listen_uw, c.idle_uw), (500_000, 1_000));
    let ap = "access_point = { node = \"ap\", battery = \"5J\" }";
    let scenario = parse(&meter().replace("access_point = \"ap\"", ap)).unwrap();
    assert_eq!(scenario.wifi[0].radio.stations[0].battery_uj, Some(5_000_000));
}

#[test]
fn a_resolved_scenario_reads_back_as_the_same() {
    let scenario = parse(&meter()).unwrap();
    let text = scenario.resolved_toml();
    assert_eq!(parse(&text).unwrap(), scenario, "{text}");
}

#[test]
fn a_source_sends_in_its_intervals_and_a_dead_station_not_at_all() {
    let scenario = parse(&meter()).unwrap();
    let config = compile(&scenario, 1).unwrap();
    assert_eq!(config.flows[0].start, Time::from_secs(1));
    assert_eq!(config.flows[0].pauses, [[Time::from_secs(2), Time::from_secs(3)]]);
    let Traffic::CbrUdp(cbr) = config.flows[0].traffic else { panic!("datagrams") };
    assert_eq!(cbr.stop, Time::from_secs(9));
    let result = simulate(&scenario, 1).unwrap();
    let [_, meter, other] = &result.radios[0].stations[..] else { panic!("three stations") };
    let died = meter.died_s.expect("1.2 J last 4.3 s at 277 mW, and less with transmissions");
    assert!((4.0..4.33).contains(&died), "{died}");
    // Ten packets per second, while the source is on and the battery is not empty.
    let sent = 10 + ((died - 3.0) * 10.0) as u64 + 1;
    assert_eq!(result.flows[0].delivered_bytes, 1000 * sent);
    assert_eq!(result.flows[0].packets_sent, 70);
    assert_eq!(meter.drops_off, 70 - sent);
    assert_eq!(result.flows[0].active_s, 7.0);
    assert_eq!(other.died_s, None);
}

#[test]
fn jitter_moves_all_intervals_of_a_source_together_and_stagger_moves_each_source() {
    let jittered = meter().replace("to = \"ap\"", "to = \"ap\"\njitter = \"500ms\"");
    let config = compile(&parse(&jittered).unwrap(), 7).unwrap();
    let flow = &config.flows[0];
    let moved = flow.start - Time::from_secs(1);
    assert!(moved > Span::ZERO && moved <= Span::from_millis(500));
    assert_eq!(flow.pauses, [[Time::from_secs(2) + moved, Time::from_secs(3) + moved]]);
    let twice = meter().replace("to = \"ap\"", "to = \"ap\"\ncount = 2\nstagger = \"250ms\"");
    let scenario = parse(&twice).unwrap();
    let config = compile(&scenario, 1).unwrap();
    assert_eq!(config.flows[1].pauses, [[Time::from_millis(2250), Time::from_millis(3250)]]);
    assert_eq!(parse(&scenario.resolved_toml()).unwrap(), scenario);
}

#[test]
fn errors_of_invalid_energies_and_intervals_give_the_remedy() {
    let on = "on = [[\"1s\", \"2s\"], [\"3s\", \"9s\"]]";
    for (old, new, expected) in [
        ("\"1.2J\"", "\"1200\"", "`battery`: `1200` has no unit; write an energy such as `20J`"),
        ("\"1.2J\"", "\"0J\"", "`battery`: must hold something, for example `20J`"),
        ("consumption = \"esp32-c3\"", "", "set it in the cell, for example `consumption = "),
        ("\"esp32-c3\"", "\"esp\"", "`consumption`: "),
        ("\"esp32-c3\"", "{ transmit = \"1W\" }", "lacks the key `receive`"),
        (on, "on = []", "`on`: needs at least one interval"),
        (on, "on = [[\"1s\"]]", "an interval has two ends, not 1"),
        (on, "on = [[\"2s\", \"1s\"]]", "the interval from 2s to 1s has no length"),
        (
            on,
            "on = [[\"1s\", \"3s\"], [\"3s\", \"4s\"]]",
            "must begin after the one before has ended",
        ),
        (on, "on = [[\"10s\", \"11s\"]]", "begins at 10s, when the run has ended (10s)"),
        (on, "on = [[\"1s\", \"2s\"]], stop = \"5s\"", "sets the end of the traffic"),
        ("transport = \"udp\"", "transport = \"tcp\"", "`on`: is for datagrams"),
        (on, "spread = \"1s\"", "`spread`: must be less than the mean time between two datagrams"),
        (on, "on = [[\"1s\", \"2s\"]], spread = \"-1s\"", "`spread`: "),
        ("to = \"ap\"", "to = \"ap\"\nstart = \"1s\"", "starts with the first interval of `on`"),
    ] {
        let text = meter().replacen(old, new, 1);
        let message = parse(&text).unwrap_err();
        assert!(message.starts_with("s.toml:"), "{message}");
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}
