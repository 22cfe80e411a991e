//! Rate adaptation, aggregation and beacons: their keys in a cell, and the errors with their places.

use windlass_scenario::Scenario;
use windlass_sim::radio::{Aggregation, Beacons, LateCapture, Minstrel};

const CELL: &str = r#"duration = "10s"

[[wifi]]
standard = "802.11n"
access_point = "ap"
stations = ["a"]

[[flow]]
from = "a"
to = "ap"
algorithm = "newreno"
"#;

fn with(line: &str) -> String {
    CELL.replace("access_point", &format!("{line}\naccess_point"))
}

#[test]
fn words_stand_for_the_usual_settings_and_tables_for_others() {
    let read = |text: &str| {
        let scenario = Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
        let again = Scenario::from_str(&scenario.resolved_toml(), "r.toml").expect("resolved");
        assert_eq!(again, scenario);
        let radio = scenario.wifi[0].radio.clone();
        (radio.rate_adaptation, radio.aggregation, radio.beacons, radio.late_capture)
    };
    assert_eq!(read(CELL), (None, None, None, LateCapture::Always));
    let (minstrel, aggregation, beacons) =
        (Minstrel::default(), Aggregation::default(), Beacons::default());
    let usual = "rate_adaptation = \"minstrel\"\naggregation = \"a-mpdu\"\nbeacons = \"usual\"\nlate_capture = \"preamble\"";
    let expected = (Some(minstrel), Some(aggregation), Some(beacons), LateCapture::Preamble);
    assert_eq!(read(&with(usual)), expected);
    let tables = "rate_adaptation = { memory = \"50%\" }\naggregation = { max_frames = 8 }\nbeacons = { networks = 3 }";
    let expected = (
        Some(Minstrel { memory: 0.5, ..minstrel }),
        Some(Aggregation { max_frames: 8, ..aggregation }),
        Some(Beacons { networks: 3, ..beacons }),
        LateCapture::Always,
    );
    assert_eq!(read(&with(tables)), expected);
}

#[test]
fn impossible_values_are_refused_at_their_place() {
    for (line, at, words) in [
        ("rate_adaptation = \"arf\"", "5:19", "is one of `none`, `minstrel`"),
        ("rate_adaptation = { interval = \"0s\" }", "5:19", "1 ms to 60 s"),
        ("rate_adaptation = { memory = 1.0 }", "5:19", "0 to 99 %"),
        ("rate_adaptation = { lookaround = \"0%\" }", "5:19", "1 to 50 %"),
        ("rate = \"6Mbps\"\nrate_adaptation = \"minstrel\"", "6:19", "6.5 Mbit/s and more"),
        ("aggregation = { max_frames = 65 }", "5:30", "from 1 to 64"),
        ("aggregation = { max_size = \"70000B\" }", "5:28", "65535B"),
        ("aggregation = { max_airtime = \"0s\" }", "5:15", "must be above 0 and at most 10 ms"),
        ("aggregation = { frames = 3 }", "5:17", "`max_frames`, `max_size`, `max_airtime`"),
        ("scheduling = \"pf\"\naggregation = \"a-mpdu\"", "6:15", "order of arrival"),
        ("beacons = { size = \"3B\" }", "5:20", "from 40B to 2332B"),
        ("beacons = { interval = \"1ms\", networks = 32 }", "5:11", "all the airtime"),
        ("late_capture = \"never\"", "5:16", "is one of `always`, `preamble`"),
    ] {
        let error = Scenario::from_str(&with(line), "s.toml").expect_err(line).to_string();
        assert!(error.starts_with(&format!("s.toml:{at}: ")), "{line}: {error}");
        assert!(error.contains(words), "{line}: {error}");
    }
    let g = with("aggregation = \"a-mpdu\"").replace("802.11n", "802.11g");
    let error = Scenario::from_str(&g, "s.toml").expect_err("g").to_string();
    assert!(error.contains("802.11g aggregates no frames; 802.11n does"), "{error}");
    let low = with("rate_adaptation = \"minstrel\"").replace("802.11n", "802.15.4");
    let error = Scenario::from_str(&low, "s.toml").expect_err("802.15.4").to_string();
    assert!(error.contains("802.15.4 has no `rate_adaptation`"), "{error}");
    let ad_hoc = CELL.replace("access_point = \"ap\"", "mode = \"ad-hoc\"\nbeacons = \"usual\"");
    let ad_hoc = ad_hoc.replace("[\"a\"]", "[\"a\", \"ap\"]");
    let error = Scenario::from_str(&ad_hoc, "s.toml").expect_err("ad hoc").to_string();
    assert!(error.contains("need an 802.11 access point"), "{error}");
}
