//! Wi-Fi cells in scenario files: their configuration, their summary, and their runs.

use windlass_lab::compile::compile;
use windlass_lab::outlook;
use windlass_lab::run::simulate;
use windlass_lab::scenario::{Hop, Scenario};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::LossModel;
use windlass_sim::radio::scheduling::fitness::Reading;
use windlass_sim::radio::scheduling::{Rule, Users};
use windlass_sim::radio::{FrameErrors, Hops, PathLoss, Phy, Position, RtsThreshold, Scheduling};

pub(crate) const CELL: &str = r#"duration = "2s"

[[wifi]]
standard = "802.11g"
access_point = "ap"
stations = ["s1", "s2"]

[[link]]
between = ["ap", "server"]
rate = "1Gbps"
delay = "5ms"

[[flow]]
from = "s1"
to = "server"
algorithm = "reno"
"#;

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn with(from: &str, to: &str) -> Scenario {
    assert!(CELL.contains(from), "{from}");
    read(&CELL.replacen(from, to, 1))
}

#[test]
fn only_the_standard_and_the_stations_have_no_default() {
    let s = read(CELL);
    assert_eq!(s.nodes, ["ap", "server", "s1", "s2"]);
    let radio = &s.wifi[0].radio;
    assert_eq!((radio.name.as_str(), radio.phy, s.wifi[0].mtu), ("wifi", Phy::G, 1500));
    assert_eq!((radio.data_rate_bps, radio.control_rate_bps), (54_000_000, 24_000_000));
    assert_eq!((radio.rts, radio.errors.clone()), (RtsThreshold::Never, FrameErrors::None));
    assert_eq!(radio.hops, Hops::Star { centre: 0 });
    let places: Vec<Position> = radio.stations.iter().map(|s| s.position).collect();
    let circle = [Position::metres(0, 0), Position::metres(10, 0), Position::metres(-10, 0)];
    assert_eq!(places, circle);
    assert!(radio.stations.iter().all(|s| s.queue == QueueLimit::Packets(100)));
}

#[test]
fn the_control_rate_follows_the_data_rate_unless_it_is_given() {
    let control = |more: &str| {
        let s = with("standard = \"802.11g\"", &format!("standard = \"802.11g\"\n{more}"));
        s.wifi[0].radio.control_rate_bps
    };
    assert_eq!(control("rate = \"18Mbps\""), 12_000_000);
    assert_eq!(control("rate = \"18Mbps\"\ncontrol_rate = \"6Mbps\""), 6_000_000);
}

#[test]
fn each_station_may_have_a_position_and_a_queue() {
    let stations = r#"stations = ["s1", { node = "s2", at = ["3m", "-4.5m"], queue = "20kB" }]"#;
    let s = with(
        "access_point = \"ap\"\nstations = [\"s1\", \"s2\"]",
        &format!(
            "access_point = {{ node = \"ap\", at = [\"1m\", \"1m\"] }}\nradius = \"5m\"\nqueue = \"unlimited\"\n{stations}"
        ),
    );
    let [ap, s1, s2] = s.wifi[0].radio.stations.as_slice() else { panic!("three") };
    assert_eq!((ap.position, s1.position), (Position::metres(1, 1), Position::metres(6, 1)));
    assert_eq!(s2.position, Position { x_mm: 3_000, y_mm: -4_500 });
    assert_eq!((s1.queue, s2.queue), (QueueLimit::Unlimited, QueueLimit::Bytes(20_000)));
}

#[test]
fn a_pattern_makes_count_stations() {
    let s = with("[\"s1\", \"s2\"]", "\"s*\"\ncount = 4");
    assert_eq!(s.nodes, ["ap", "server", "s1", "s2", "s3", "s4"]);
    assert_eq!(s.wifi[0].radio.stations[2].position, Position::metres(0, 10));
}

#[test]
fn path_loss_frame_loss_capture_and_retries_are_read() {
    let radio = |more: &str| {
        with("standard = \"802.11g\"", &format!("standard = \"802.11g\"\n{more}"))
            .wifi
            .remove(0)
            .radio
    };
    let friis = radio("path_loss = { model = \"friis\" }\nloss = { model = \"snr\" }");
    assert_eq!((friis.path_loss, friis.errors), (PathLoss::Friis, FrameErrors::Snr));
    let disc = radio("path_loss = { model = \"disc\", receive = \"20m\", sense = \"40m\" }");
    assert_eq!(disc.path_loss, PathLoss::Disc { receive_mm: 20_000, sense_mm: 40_000 });
    let lossy = radio("loss = { model = \"drop\", probability = \"5%\" }\ncapture = \"10dB\"");
    assert_eq!(lossy.errors, FrameErrors::Model(LossModel::Drop { probability: 0.05 }));
    assert_eq!(lossy.capture_db, Some(10.0));
    let tried = radio("rts = \"500B\"\nshort_retry_limit = 4\nlong_retry_limit = 9\neifs = false");
    assert_eq!((tried.rts, tried.eifs), (RtsThreshold::Above(500), false));
    assert_eq!((tried.retries.short, tried.retries.long), (4, 9));
}

#[test]
fn stations_of_an_ad_hoc_cell_send_to_each_other() {
    let text = CELL.replace(
        "access_point = \"ap\"\n",
        "mode = \"ad-hoc\"\nhops = [[\"s1\", \"s2\"], [\"s2\", \"ap\"]]\n",
    );
    let text = text.replace("[\"s1\", \"s2\"]\n\n", "[\"s1\", \"s2\", \"ap\"]\n\n");
    let s = read(&text);
    assert_eq!(s.wifi[0].radio.hops, Hops::Pairs(vec![[0, 1], [1, 2]]));
    let hops = s.ways().hops(s.flows[0].from, s.flows[0].to).unwrap();
    assert_eq!(hops[0], Hop::Air { cell: 0, from: 0, to: 1 });
    assert_eq!(hops[1], Hop::Air { cell: 0, from: 1, to: 2 });
    assert_eq!((hops.len(), hops[2]), (3, Hop::Link(0)));
    let s = read(&text.replace("hops = [[\"s1\", \"s2\"], [\"s2\", \"ap\"]]\n", ""));
    assert_eq!(s.wifi[0].radio.hops, Hops::InRange);
}

#[test]
fn the_compiled_configuration_has_the_radio_and_routes_of_the_scenario() {
    let s = read(CELL);
    let config = compile(&s, 7).unwrap();
    assert_eq!(config.radios, [s.wifi[0].radio.clone()]);
    let hops = s.ways().hops(s.flows[0].to, s.flows[0].from).unwrap();
    assert_eq!(hops, [Hop::Link(1), Hop::Air { cell: 0, from: 0, to: 1 }]);
    let text = CELL.replace("standard", "mtu = \"1000B\"\nstandard");
    let mss = |text: &str| compile(&read(text), 1).unwrap().flows[0].profile.mss();
    assert_eq!(mss(CELL) - mss(&text), 500, "the air's MTU counts");
}

#[test]
fn senders_of_a_dumbbell_may_be_wireless() {
    let dumbbell = |more: &str| {
        read(&format!(
            "duration = \"2s\"\n[topology]\nkind = \"dumbbell\"\npairs = 3\n\
             access = {{ rate = \"10Mbps\", delay = \"10ms\" }}\n\
             bottleneck = {{ rate = \"2Mbps\", delay = \"30ms\", queue = \"1bdp\" }}\n\
             wireless = {{ standard = \"802.11g\"{more} }}\n\
             [[flow]]\nfrom = \"s*\"\nto = \"d*\"\nalgorithm = \"reno\"\n"
        ))
    };
    let s = dumbbell("");
    assert_eq!(s.nodes[..5], ["r1", "s1", "s2", "s3", "r2"]);
    assert_eq!(s.links.len(), 4, "the bottleneck and the receivers'");
    let s = dumbbell(", rate = \"24Mbps\", backhaul = { rate = \"100Mbps\", delay = \"10ms\" }");
    assert_eq!(s.wifi[0].radio.data_rate_bps, 24_000_000);
    let names: Vec<&str> = s.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["backhaul", "bottleneck", "access-d1", "access-d2", "access-d3"]);
    assert_eq!(s.nodes[0], "ap");
    // The backhaul's delay replaces the access links' delay: 2 Mbit/s over 2 · (10 + 30 + 10) ms.
    assert_eq!(s.bdp_bytes()[1], 25_000);
    assert_eq!(s.flows.len(), 3);
}

#[test]
fn the_resolved_form_reads_back_as_the_same_cell() {
    for more in [
        "",
        "path_loss = { model = \"friis\" }\nloss = { model = \"snr\" }\nrts = \"always\"\n",
        "path_loss = { model = \"disc\", receive = \"20m\" }\ncapture = \"3.5dB\"\nqueue = \"9kB\"\n",
        "loss = { model = \"ber\", rate = 1e-6 }\npower = \"-3.25dBm\"\nsensitivity = \"-90dBm\"\n",
        "scheduling = { rule = \"fpf\", reading = \"repaired\", users = \"source\", window = 16 }\n",
        "scheduling = \"pf\"\n",
    ] {
        let s = with("access_point", &format!("{more}access_point"));
        let again = read(&s.resolved_toml());
        assert_eq!(again, s, "{more}");
        assert_eq!(again.hash(), s.hash());
    }
    for lowpan in [
        "",
        "lowpan = { retry_delay = \"40ms\", retry_busy = true, mac_header = \"23B\" }\n",
        "lowpan = { udp_header = \"4B\" }\n",
    ] {
        let s = with("\"802.11g\"", &format!("\"802.15.4\"\n{lowpan}"));
        assert_eq!(read(&s.resolved_toml()), s, "{lowpan}");
    }
    assert_ne!(with("\"802.11g\"", "\"802.11b\"").hash(), read(CELL).hash());
    assert_ne!(with("[\"s1\", \"s2\"]", "[\"s1\", \"s2\", \"s3\"]").hash(), read(CELL).hash());
}

#[test]
fn a_cell_may_set_the_scheduling_of_its_stations() {
    let scheduling = |text: &str| {
        with("access_point", &format!("{text}\naccess_point")).wifi[0].radio.scheduling
    };
    let usual = Scheduling::default();
    assert_eq!(read(CELL).wifi[0].radio.scheduling, usual);
    assert_eq!(scheduling("scheduling = \"fifo\""), usual);
    assert_eq!(scheduling("scheduling = \"pf\""), Scheduling { rule: Rule::Pf, ..usual });
    let fpf = Scheduling { rule: Rule::Fpf(Reading::Literal), ..usual };
    assert_eq!(scheduling("scheduling = \"fpf\""), fpf);
    let all = "{ rule = \"fpf\", window = 64, users = \"source\", reading = \"repaired\" }";
    let rule = Rule::Fpf(Reading::Repaired);
    let other = Scheduling { rule, window: 64, users: Users::Sources };
    assert_eq!(scheduling(&format!("scheduling = {all}")), other);
}

/// Two flows arrive at the access point over wired links, and one of them has small packets. The scheduler
/// decides whether they wait behind the other flow. It distinguishes flows or sources.
#[test]
fn fair_scheduling_at_the_access_point_does_not_increase_the_loss_of_a_small_flow() {
    let wait = |more: &str| {
        let text = format!(
            r#"duration = "5s"
[[wifi]]
standard = "802.11b"
access_point = "ap"
stations = ["s1", "s2"]
{more}
[[link]]
between = ["ap", "server"]
rate = "100Mbps"
delay = "1ms"
[[link]]
between = ["ap", "sensor"]
rate = "100Mbps"
delay = "1ms"
[[flow]]
from = "server"
to = "s1"
algorithm = "reno"
[[flow]]
name = "small"
from = "sensor"
to = "s2"
algorithm = "none"
traffic = {{ kind = "cbr", transport = "udp", packet = "100B", rate = "80kbps" }}
"#
        );
        let scenario = read(&text);
        let result = simulate(&scenario, 1).unwrap();
        let small = result.flows.iter().find(|f| f.name == "small").unwrap();
        (small.loss_rate, result.flows[0].goodput_bps)
    };
    let (lost, fast) = wait("");
    for more in [
        "scheduling = \"pf\"",
        "scheduling = { rule = \"pf\", users = \"source\" }",
        "scheduling = \"fpf\"",
    ] {
        let (fair, other) = wait(more);
        assert!(fair <= lost + 0.01, "{more}: {fair} after {lost}");
        assert!(other > 0.8 * fast, "{more}: {other} after {fast}");
        assert_ne!((fair, other), (lost, fast), "{more}");
    }
}

#[test]
fn overrides_select_a_cell_by_name_or_number() {
    let set = |key: &str, value: &str| {
        let named = CELL.replace("standard", "name = \"cell\"\nstandard");
        Scenario::with_overrides(&named, "s.toml", &[(key.to_owned(), value.to_owned())]).unwrap()
    };
    assert_eq!(set("wifi.cell.rate", "6Mbps").wifi[0].radio.data_rate_bps, 6_000_000);
    assert_eq!(set("wifi.0.rate", "6Mbps").wifi[0].radio.data_rate_bps, 6_000_000);
    let exponent = set("wifi.cell.path_loss.exponent", "4").wifi[0].radio.path_loss;
    assert!(matches!(exponent, PathLoss::LogDistance { exponent: 4.0, .. }));
}

/// A single station sends one frame after the other. With 802.11g at 54 Mbit/s a full packet takes 28 µs
/// (DIFS), 67.5 µs (mean back-off), 254 µs (frame), 10 µs (SIFS) and 34 µs (acknowledgement).
#[test]
fn the_goodput_of_a_single_station_follows_from_the_frame_times() {
    let text = CELL.replace(
        "algorithm = \"reno\"",
        "traffic = { kind = \"cbr\", rate = \"60Mbps\", packet = \"1472B\", transport = \"udp\" }",
    );
    let result = simulate(&read(&text), 1).unwrap();
    let expected = 1472.0 * 8.0 / (28.0 + 67.5 + 254.0 + 10.0 + 34.0);
    let mbps = result.flows[0].goodput_bps / 1e6;
    assert!((mbps / expected - 1.0).abs() < 0.01, "{mbps} instead of {expected} Mbit/s");
    let station = &result.radios[0].stations[1];
    assert_eq!((station.name.as_str(), station.retransmissions), ("s1", 0));
    assert!(station.drops_queue > 0);
}

#[test]
fn the_summary_gives_the_rate_of_the_channel_and_the_hidden_stations() {
    let s = read(CELL);
    let [path] = outlook::paths(&s).unwrap().try_into().unwrap();
    assert_eq!((path.bottleneck.as_str(), path.shared), ("wifi:s1>ap", true));
    assert_eq!(path.nodes, ["s1", "ap", "server"]);
    // 1500 bytes in 28 + 67.5 + 254 + 10 + 34 µs.
    assert_eq!(path.rate_bps, (1500.0 * 8.0 / 393.5e-6) as u64);
    assert!(outlook::text(&[path]).contains("at 30.496Mbps for one station alone, shared by all"));
    assert!(outlook::warnings(&s).unwrap().iter().all(|w| !w.contains("sense each other")));
    let far =
        with("access_point", "path_loss = { model = \"disc\", receive = \"15m\" }\naccess_point");
    let expected = "cell wifi: s1 and s2 do not sense each other, so that their frames collide at \
                    every station in range of both; `rts` may help";
    assert!(outlook::warnings(&far).unwrap().iter().any(|w| w == expected));
}

#[test]
fn the_goodput_of_the_example_is_below_the_channel_capacity() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/wifi-cell.toml");
    let scenario = Scenario::from_file(path).unwrap();
    assert_eq!(read(&scenario.resolved_toml()).hash(), scenario.hash());
    let result = simulate(&scenario, 1).unwrap();
    let payload: f64 = result.flows.iter().map(|flow| flow.goodput_bps).sum();
    let [cell] = outlook::cells(&scenario).unwrap().try_into().unwrap();
    // Acknowledgements of TCP also use the channel.
    let together = cell.together.expect("Bianchi's model").bps;
    assert!(payload < together && payload > 0.6 * together, "{payload}");
    let radio = &result.radios[0];
    assert!(radio.busy > 0.5 && radio.airtime > radio.busy, "{} {}", radio.busy, radio.airtime);
}
