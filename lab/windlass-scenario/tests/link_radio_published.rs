//! Published figures of NB-IoT and LTE-M, and the same figures of the presets. The test compares the table with the
//! book's `docs/src/trust/link-radio.csv`; `WINDLASS_BLESS=1` writes the file.

use std::{env, fs};

use windlass_scenario::Scenario;
use windlass_sim::{PacketFate, RunResult, Simulation};

/// A published figure.
struct Figure {
    preset: &'static str,
    what: &'static str,
    source: &'static str,
    unit: &'static str,
    published: f64,
    /// True if a value of the preset is derived from this figure.
    calibrates: bool,
    simulated: fn() -> f64,
}

/// A datagram of `bytes` from a device that rests. It sends at 100 s.
fn datagram(radio: &str, bytes: u32) -> RunResult {
    let traffic = format!(
        "{{ kind = \"cbr\", transport = \"udp\", packet = \"{bytes}B\", rate = \"1bps\", stop = \"100.001s\" }}"
    );
    run(radio, "1000s", &format!("start = \"100s\"\ntraffic = {traffic}"))
}

/// A confirmable request with a response. Both have 200 bytes with their headers.
fn exchange(radio: &str) -> RunResult {
    let traffic = "{ kind = \"coap\", every = \"200s\", gaps = \"constant\", size = \"160B\", response = \"160B\", stop = \"250s\" }";
    run(radio, "1000s", &format!("traffic = {traffic}"))
}

fn run(radio: &str, duration: &str, flow: &str) -> RunResult {
    let text = format!(
        "duration = \"{duration}\"\n[[link]]\nname = \"radio\"\nbetween = [\"meter\", \"server\"]\n\
         radio = {{ {radio} }}\n[[flow]]\nname = \"f\"\nfrom = \"meter\"\nto = \"server\"\n\
         algorithm = \"none\"\n{flow}\n[record]\ncapture = [\"radio\"]\n"
    );
    let scenario = Scenario::from_str(&text, "published.toml").unwrap_or_else(|e| panic!("{e}"));
    let config = windlass_scenario::compile::compile(&scenario, 1).expect("a configuration");
    let mut simulation = Simulation::new(config).expect("a simulation");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

/// Time from the datagram to its arrival, seconds.
fn latency_s(run: &RunResult) -> f64 {
    let arrived = run.packets.iter().find(|p| p.fate == PacketFate::Delivered);
    arrived.map_or(f64::INFINITY, |p| p.time.0 as f64 / 1e9 - 100.0)
}

/// Energy beyond the rest, millijoules.
fn excess_mj(run: &RunResult) -> f64 {
    let device = &run.radios[0].stations[0];
    1e3 * (device.energy_j.unwrap_or(f64::NAN) - device.rest_j.unwrap_or(f64::NAN))
}

/// Life of a battery of 5 Wh with a datagram of `bytes` each `hours`, years.
fn life_years(radio: &str, bytes: u32, hours: u32) -> f64 {
    // The mean of whole periods.
    let every_s = 3600 * hours;
    let traffic = format!(
        "{{ kind = \"coap\", confirmable = false, every = \"{every_s}s\", gaps = \"constant\", size = \"{bytes}B\" }}"
    );
    let days = 10;
    let run = run(radio, &format!("{}s", 86_400 * days), &format!("traffic = {traffic}"));
    let watts = run.radios[0].stations[0].energy_j.unwrap_or(f64::NAN) / f64::from(86_400 * days);
    18_000.0 / watts / (365.25 * 86_400.0)
}

const CE0: &str = "preset = \"nb-iot-ce0\", release = \"after-uplink\"";
const CE1: &str = "preset = \"nb-iot-ce1\", release = \"after-uplink\"";
const CE2: &str = "preset = \"nb-iot-ce2\", release = \"after-uplink\"";
const LTE_M: &str = "preset = \"lte-m\", release = \"after-uplink\"";
/// The LTE-M network of the exchange, without release assistance.
const LTE_M_8S: &str = "preset = \"lte-m\", psm_active = \"8s\"";
const CE0_8S: &str = "preset = \"nb-iot-ce0\", psm_active = \"8s\", release = \"after-downlink\"";

const ROBINSON_E: &str = "Robinson 2019, Ericsson network";
const ROBINSON_H: &str = "Robinson 2019, Huawei network";
const UBLOX: &str = "u-blox application note, in Robinson 2019";
const ROSTAD: &str = "Rostad 2020, nRF9160";
const COAPS: &str = "zephyr-coaps-client 2022, nRF9160-DK";
const PAPER: &str = "Evaluation of LTE-M towards 5G IoT requirements, 2018";
const STUDY: &str = "3GPP TR 45.820, in Sauter 2017";

macro_rules! figures {
    ($($preset:literal $what:literal $source:ident $published:literal $unit:literal $role:ident $simulated:expr;)*) => {
        [$(Figure {
            preset: $preset,
            what: $what,
            source: $source,
            unit: $unit,
            published: $published,
            calibrates: stringify!($role) == "calibrates",
            simulated: || $simulated,
        }),*]
    };
}

fn figures() -> Vec<Figure> {
    figures! {
        "nb-iot-ce0" "latency of 16 B" ROBINSON_E 2.03 "s" predicts latency_s(&datagram(CE0, 16));
        "nb-iot-ce0" "latency of 16 B" ROBINSON_H 0.71 "s" predicts latency_s(&datagram(CE0, 16));
        "nb-iot-ce0" "latency of 64 B" ROBINSON_E 1.76 "s" calibrates latency_s(&datagram(CE0, 64));
        "nb-iot-ce0" "latency of 64 B" ROBINSON_H 0.51 "s" calibrates latency_s(&datagram(CE0, 64));
        "nb-iot-ce0" "latency of 512 B" ROBINSON_E 1.89 "s" predicts latency_s(&datagram(CE0, 512));
        "nb-iot-ce0" "latency of 512 B" ROBINSON_H 0.80 "s" predicts latency_s(&datagram(CE0, 512));
        "nb-iot-ce0" "energy of 16 B" ROBINSON_E 298.8 "mJ" predicts excess_mj(&datagram(CE0, 16));
        "nb-iot-ce0" "energy of 16 B" ROBINSON_H 50.4 "mJ" predicts excess_mj(&datagram(CE0, 16));
        "nb-iot-ce0" "energy of 512 B" ROBINSON_E 334.8 "mJ" predicts excess_mj(&datagram(CE0, 512));
        "nb-iot-ce0" "energy of 512 B" ROBINSON_H 129.6 "mJ" predicts excess_mj(&datagram(CE0, 512));
        "nb-iot-ce1" "latency of 16 B" ROBINSON_E 2.84 "s" predicts latency_s(&datagram(CE1, 16));
        "nb-iot-ce1" "latency of 16 B" ROBINSON_H 2.04 "s" predicts latency_s(&datagram(CE1, 16));
        "nb-iot-ce1" "latency of 64 B" ROBINSON_E 2.54 "s" calibrates latency_s(&datagram(CE1, 64));
        "nb-iot-ce1" "latency of 64 B" ROBINSON_H 2.47 "s" calibrates latency_s(&datagram(CE1, 64));
        "nb-iot-ce1" "latency of 512 B" ROBINSON_E 3.76 "s" calibrates latency_s(&datagram(CE1, 512));
        "nb-iot-ce1" "latency of 512 B" ROBINSON_H 3.37 "s" predicts latency_s(&datagram(CE1, 512));
        "nb-iot-ce1" "energy of 16 B" ROBINSON_E 1540.8 "mJ" predicts excess_mj(&datagram(CE1, 16));
        "nb-iot-ce1" "energy of 16 B" ROBINSON_H 698.4 "mJ" predicts excess_mj(&datagram(CE1, 16));
        "nb-iot-ce1" "energy of 512 B" ROBINSON_E 4590.0 "mJ" predicts excess_mj(&datagram(CE1, 512));
        "nb-iot-ce1" "energy of 512 B" ROBINSON_H 1933.2 "mJ" predicts excess_mj(&datagram(CE1, 512));
        "nb-iot-ce1" "energy that release assistance saves with 200 B" UBLOX 93.0 "%" predicts {
            let without = excess_mj(&datagram("preset = \"nb-iot-ce1\"", 200));
            100.0 * (1.0 - excess_mj(&datagram(CE1, 200)) / without)
        };
        "nb-iot-ce2" "latency of 16 B" ROBINSON_H 31.6 "s" predicts latency_s(&datagram(CE2, 16));
        "nb-iot-ce2" "latency of 64 B" ROBINSON_H 7.59 "s" calibrates latency_s(&datagram(CE2, 64));
        "nb-iot-ce2" "latency of 128 B" ROBINSON_H 10.5 "s" predicts latency_s(&datagram(CE2, 128));
        "nb-iot-ce2" "latency of 512 B" ROBINSON_H 10.1 "s" calibrates latency_s(&datagram(CE2, 512));
        "nb-iot-ce2" "latency of 200 B at a bad SNR" UBLOX 5.5 "s" predicts latency_s(&datagram(CE2, 200));
        "nb-iot-ce2" "energy of 200 B at a bad SNR" UBLOX 3852.0 "mJ" predicts excess_mj(&datagram(CE2, 200));
        "nb-iot-ce2" "life of 5 Wh with 200 B each 2 h" STUDY 1.7 "years" predicts life_years(CE2, 200, 2);
        "nb-iot-ce2" "life of 5 Wh with 50 B each 24 h" STUDY 18.1 "years" predicts life_years(CE2, 50, 24);
        "nb-iot-ce0" "energy of 584 B with an inactivity timer of 12 s" ROSTAD 1461.6 "mJ" predicts
            excess_mj(&datagram("preset = \"nb-iot-ce0\", inactivity = \"12s\"", 584));
        "nb-iot-ce0" "energy of 584 B with release assistance" ROSTAD 104.2 "mJ" predicts excess_mj(&datagram(CE0, 584));
        "nb-iot-ce0" "exchange of 200 B each way" COAPS 1.5 "s" predicts exchange_s(CE0_8S);
        "nb-iot-ce0" "energy of the exchange and 8 s of paging" COAPS 273.6 "mJ" predicts excess_mj(&exchange(CE0_8S));
        "lte-m" "exchange of 200 B each way" COAPS 0.8 "s" calibrates exchange_s(LTE_M_8S);
        "lte-m" "energy of the exchange with 10 s connected and 8 s of paging" COAPS 547.2 "mJ" predicts excess_mj(&exchange(LTE_M_8S));
        "lte-m" "latency of a message at the edge of normal coverage" PAPER 0.1 "s" predicts latency_s(&datagram(LTE_M, 105));
        "lte-m" "life of 5 Wh with 200 B each 24 h" PAPER 35.7 "years" predicts life_years(LTE_M, 200, 24);
    }
    .into()
}

fn exchange_s(radio: &str) -> f64 {
    let run = exchange(radio);
    run.flows[0].coap.as_ref().and_then(|coap| coap.mean_ms).map_or(f64::INFINITY, |ms| ms / 1e3)
}

#[test]
fn the_books_comparison_with_published_figures_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/trust/link-radio.csv");
    let now = table();
    if env::var_os("WINDLASS_BLESS").is_some() {
        return fs::write(path, now).expect("written");
    }
    let kept = fs::read_to_string(path).expect("link-radio.csv");
    assert!(now == kept, "WINDLASS_BLESS=1 writes it:\n{now}");
    assert!(now.lines().filter(|line| line.contains(",comparison,")).count() >= 6);
}

/// The comparison as CSV.
fn table() -> String {
    let mut csv =
        String::from("preset,figure,source,use,unit,published,simulated,deviation_percent\n");
    for figure in figures() {
        let simulated = (figure.simulated)();
        // A sum with zero has no negative zero.
        let deviation = (100.0 * (simulated / figure.published - 1.0)).round() + 0.0;
        let role = if figure.calibrates { "calibration" } else { "comparison" };
        let Figure { preset, what, source, unit, published, .. } = figure;
        csv += &format!(
            "{preset},{what},\"{source}\",{role},{unit},{published},{},{deviation:+.0}\n",
            rounded(simulated)
        );
    }
    csv
}

/// Three significant digits.
fn rounded(value: f64) -> String {
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}
