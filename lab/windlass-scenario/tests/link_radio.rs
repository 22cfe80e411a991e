//! Radios of links in scenario files.

use windlass_scenario::{Scenario, link_radio_values};
use windlass_sim::Simulation;
use windlass_sim::link_radio::{Access, lora, presets};

const FLOW: &str = "algorithm = \"none\"\ntraffic = { kind = \"coap\", every = \"240s\", gaps = \"constant\", size = \"20B\" }";

fn with(link: &str, flow: &str) -> String {
    format!(
        "duration = \"1000s\"\n[[link]]\nname = \"radio\"\nbetween = [\"meter\", \"server\"]\n{link}\n\
         [[flow]]\nname = \"f\"\nfrom = \"meter\"\nto = \"server\"\n{flow}\n"
    )
}

fn read(link: &str) -> Scenario {
    Scenario::from_str(&with(link, FLOW), "test.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn refusal_of(link: &str, flow: &str) -> String {
    Scenario::from_str(&with(link, flow), "test.toml").expect_err(link).to_string()
}

/// `windlass presets NAME` prints these values.
#[test]
fn the_printed_values_of_a_radio_are_the_radio() {
    for name in presets::CELLULAR.into_iter().chain(presets::LORAWAN) {
        let preset = presets::by_name(name).expect(name);
        let [link, radio] = link_radio_values(&preset);
        let lines = |pairs: &[(&str, String)], end: &str| -> String {
            pairs.iter().map(|(key, value)| format!("{key} = {value}{end}")).collect()
        };
        let text = format!(
            "{}radio = {{ {} }}",
            lines(&link, "\n"),
            lines(&radio, ", ").trim_end_matches(", ")
        );
        assert_eq!(read(&text).hash(), read(&format!("radio = \"{name}\"")).hash(), "{text}");
    }
}

#[test]
fn a_written_scenario_reads_back_equal_and_runs() {
    for link in [
        "radio = \"nb-iot-ce0\"",
        "radio = \"NB-IoT-CE2\"\nqueue = \"2pkt\"",
        "radio = { preset = \"lte-m\", device = \"second\", battery = \"5Wh\", edrx_cycle = \"20.48s\", edrx_window = \"2.56s\", psm_active = \"1min\" }",
        "rate = \"9kbps\"\ndelay = \"1s\"\nradio = { preset = \"nb-iot-ce1\", power = { sleep = \"3uW\" }, release = \"after-uplink\" }",
        "radio = \"lte-m\"\nback = { rate = \"99kbps\" }\njitter = \"20ms\"",
        "radio = \"lorawan-sf7\"",
        "radio = { preset = \"lorawan-sf12\", duty_cycle = \"10%\", compressed = \"20B\" }\nmtu = \"71B\"\nback = { delay = \"1s\" }",
    ] {
        let scenario = read(link);
        let written = scenario.resolved_toml();
        let again = Scenario::from_str(&written, "test.toml").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again, scenario, "{written}");
        assert_eq!(again.resolved_toml(), written);
        assert_ne!(scenario.hash(), read("rate = \"1Mbps\"").hash(), "{link}");
        let config = windlass_scenario::compile::compile(&scenario, 1).expect(link);
        let mut simulation = Simulation::new(config).expect(link);
        simulation.run();
        let result = simulation.finish().expect("conserved");
        assert!(result.radios[0].stations[0].energy_j > Some(0.0), "{link}");
    }
}

#[test]
fn a_preset_sets_the_rates_of_the_devices_directions_and_the_mtu() {
    let link = |text: &str| read(text).links.remove(0);
    let first = link("radio = \"nb-iot-ce0\"");
    assert_eq!([0, 1].map(|d| first.direction(d).rate_bps), [62_000, 26_000]);
    let second = link("radio = { preset = \"nb-iot-ce0\", device = \"second\" }");
    assert_eq!([0, 1].map(|d| second.direction(d).rate_bps), [26_000, 62_000]);
    let own = link("radio = \"nb-iot-ce0\"\nrate = \"1Mbps\"");
    assert_eq!([0, 1].map(|d| own.direction(d).rate_bps), [1_000_000; 2]);
    assert_eq!((first.mtu, first.delay), (1_500, presets::by_name("nb-iot-ce0").unwrap().delay));
    for (sf, mtu) in [(7, 270), (8, 270), (9, 143), (10, 79), (12, 79)] {
        assert_eq!(link(&format!("radio = \"lorawan-sf{sf}\"")).mtu, mtu, "{sf}");
    }
    let radio = link("radio = { preset = \"lorawan-sf9\", power = { listen = \"1W\" } }").radio;
    let radio = radio.expect("a radio").radio;
    let usual = presets::by_name("lorawan-sf9").unwrap().radio;
    assert_eq!((radio.power.listen_uw, radio.power.sleep_uw), (1_000_000, usual.power.sleep_uw));
    let Access::ClassA(class_a) = radio.access else { panic!("another kind") };
    assert_eq!((class_a.spreading_factor, class_a.frame_bytes(48)), (9, 20 + lora::LORAWAN_BYTES));
}

#[test]
fn a_bad_radio_has_one_error_with_its_place() {
    for (link, says) in [
        ("radio = \"nb-iot\"", "`radio`: unknown value `nb-iot`; did you mean `nb-iot-ce0`"),
        ("radio = {}", "lacks the key `preset`"),
        ("radio = { preset = \"lte-m\", duty_cycle = \"1%\" }", "unknown key `duty_cycle`"),
        (
            "radio = { preset = \"lorawan-sf7\", paging_cycle = \"1s\" }",
            "unknown key `paging_cycle`",
        ),
        (
            "radio = { preset = \"lte-m\", inactivity = \"0s\" }",
            "`inactivity`: must be longer than",
        ),
        (
            "radio = { preset = \"lte-m\", drx_cycle = \"10.24s\" }",
            "longer than the inactivity timer",
        ),
        ("radio = { preset = \"lte-m\", inactivity = \"400ms\" }", "`drx_cycle`: `drx_after` and"),
        ("radio = { preset = \"lte-m\", drx_on = \"400ms\" }", "`drx_on`: the receiver is on for"),
        (
            "radio = { preset = \"lte-m\", edrx_cycle = \"48h\", edrx_window = \"20s\" }",
            "`edrx_cycle`: the eDRX cycle is longer than `psm_period`",
        ),
        (
            "radio = { preset = \"lte-m\", edrx_cycle = \"20.48s\", edrx_window = \"2.56s\", psm_active = \"10s\" }",
            "`edrx_cycle`: the eDRX cycle is longer than `psm_active`",
        ),
        (
            "radio = { preset = \"lte-m\", edrx_cycle = \"20s\" }",
            "`edrx_window`: the paging window",
        ),
        ("radio = { preset = \"lte-m\", psm_active = \"24h\" }", "`psm_active`: the device must"),
        ("radio = { preset = \"lte-m\", power = { transmit = \"-1mW\" } }", "`transmit`: `-1mW`"),
        ("radio = { preset = \"lte-m\", power = { send = \"1mW\" } }", "unknown key `send`"),
        ("radio = { preset = \"lte-m\", battery = \"0J\" }", "`battery`: must hold something"),
        ("radio = { preset = \"lorawan-sf7\", duty_cycle = 0 }", "`duty_cycle`: must be at least"),
        ("radio = { preset = \"lorawan-sf7\", duty_cycle = 2 }", "more than 100 %"),
        ("radio = { preset = \"lorawan-sf7\", rx2_delay = \"1s\" }", "`rx2_delay`: the second"),
        ("radio = \"lorawan-sf7\"\nrate = \"1kbps\"", "`rate`: the spreading factor of"),
        ("radio = \"lorawan-sf7\"\nback = { rate = \"1kbps\" }", "`rate`: the spreading factor of"),
        (
            "radio = \"lorawan-sf12\"\nmtu = \"80B\"",
            "`mtu`: 80B is more than `lorawan-sf12` carries",
        ),
        (
            "radio = \"lte-m\"\nquick_start = true",
            "`quick_start`: a link with a `radio` has no router",
        ),
        ("delay = \"1s\"", "lacks the key `rate`"),
    ] {
        let refusal = refusal_of(link, FLOW);
        assert!(refusal.contains(says) && refusal.contains("test.toml:"), "{link}: {refusal}");
    }
}

#[test]
fn a_payload_above_the_maximum_of_its_data_rate_is_refused() {
    let flow = "algorithm = \"none\"\ntraffic = { kind = \"cbr\", transport = \"udp\", packet = \"52B\", rate = \"1bps\" }";
    let refusal = refusal_of("radio = \"lorawan-sf12\"", flow);
    assert!(
        refusal.contains("exceed the MTU of 79B") && refusal.contains("at most `51B`"),
        "{refusal}"
    );
    assert!(refusal.contains("test.toml:11:"), "{refusal}");
}

#[test]
fn messages_that_a_duty_cycle_can_never_carry_are_refused_where_the_radio_is() {
    let coap =
        "algorithm = \"none\"\ntraffic = { kind = \"coap\", every = \"EVERY\", size = \"20B\" }";
    let every = |s: &str| coap.replace("EVERY", s);
    // 28 bytes of CoAP and LoRaWAN's 13 take 1.810 s with SF12, which 1 % allows each 181 s.
    let refusal = refusal_of("radio = \"lorawan-sf12\"", &every("60s"));
    assert!(
        refusal.contains("`radio`: the flows need") && refusal.contains("allows 1.000 %"),
        "{refusal}"
    );
    assert!(refusal.contains("test.toml:5:"), "{refusal}");
    for fits in
        ["radio = { preset = \"lorawan-sf12\", duty_cycle = \"10%\" }", "radio = \"lorawan-sf7\""]
    {
        Scenario::from_str(&with(fits, &every("60s")), "test.toml")
            .unwrap_or_else(|e| panic!("{e}"));
    }
    Scenario::from_str(&with("radio = \"lorawan-sf12\"", &every("240s")), "test.toml")
        .unwrap_or_else(|e| panic!("{e}"));
    // The downlink waits for receive windows and has no such limit.
    let down = every("60s").replace("algorithm", "from = \"server\"\nto = \"meter\"\nalgorithm");
    let text = with("radio = \"lorawan-sf12\"", "")
        .replace("from = \"meter\"\nto = \"server\"\n", &format!("{down}\n"));
    Scenario::from_str(&text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_timeout_shorter_than_the_set_up_of_a_connection_is_noted() {
    let warnings = |link: &str| {
        let all = windlass_scenario::outlook::warnings(&read(link)).expect("warnings");
        all.into_iter().filter(|w| w.contains("initial timeout")).collect::<Vec<_>>()
    };
    // 2.2 s to connect, 100 ms of network, and frames of 65 and 36 bytes at 2.9 kbit/s.
    let one = warnings("radio = \"nb-iot-ce1\"");
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(one[0].contains("below the RTT of 2579ms"), "{one:?}");
    assert!(warnings("radio = \"nb-iot-ce0\"").is_empty());
    // The airtime of 37 + 13 bytes with SF12, twice, and the delays.
    assert!(warnings("radio = \"lorawan-sf12\"")[0].contains("below the RTT of "));
}
