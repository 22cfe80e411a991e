//! `windlass presets`.

use std::fmt::Write;

use windlass_cc::Span;
use windlass_lab::catalogue::wrap;
use windlass_lab::scenario::{link_radio_values, stack_values};
use windlass_sim::link_radio::presets;
use windlass_sim::radio::Lowpan;
use windlass_sim::radio::Phy;
use windlass_sim::radio::lowpan::{ACK_BYTES, MAX_FRAME_BYTES};
use windlass_sim::radio::mac::DATA_OVERHEAD;
use windlass_tcp::Preset;
use windlass_tcp::stack::PRESETS;

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the presets, or prints the values of one preset.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&list()) };
    if let Some(preset) = Preset::by_name(name) {
        return print(&describe(preset));
    }
    if let Some((name, phy)) = Phy::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return print(&describe_standard(name, phy));
    }
    if let Some(radio) = presets::by_name(&name.to_ascii_lowercase()) {
        return print(&describe_radio(&radio));
    }
    let standards = Phy::ALL.iter().map(|(name, _)| *name);
    let radios = presets::CELLULAR.into_iter().chain(presets::LORAWAN);
    let known: Vec<&str> = PRESETS.iter().map(|p| p.name).chain(standards).chain(radios).collect();
    Err(Failure::unknown("preset", name, &known))
}

fn list() -> String {
    let mut out = String::new();
    for p in PRESETS {
        let _ = writeln!(out, "{:<12} {}", p.name, p.origin);
    }
    out.push_str("\nstandards of radio cells\n");
    for (name, phy) in Phy::ALL {
        let rates = [phy.rates.first(), phy.rates.last()].map(|r| r.map_or(0, |r| r.bps));
        let [slowest, fastest] = rates.map(|bps| bps as f64 / 1e6);
        let range = match slowest == fastest {
            true => format!("{slowest} Mbps"),
            false => format!("{slowest} to {fastest} Mbps"),
        };
        let _ = writeln!(out, "{name:<15} {range}, slots of {} µs", micros(phy.slot));
    }
    out.push_str("\nradios of links\n");
    for radio in presets::CELLULAR.into_iter().chain(presets::LORAWAN).filter_map(presets::by_name)
    {
        let [up, down] = radio.rates_bps.map(|bps| bps as f64 / 1e3);
        let _ = writeln!(out, "{:<15} {up} kbps up, {down} kbps down", radio.name);
    }
    out.push_str("\nwindlass presets NAME prints one value by value.\n");
    out
}

fn micros(span: Span) -> f64 {
    span.0 as f64 / 1e3
}

fn describe(preset: &Preset) -> String {
    let mut out = format!("{}\n{}\n\n", preset.name, preset.origin);
    out.push_str(&wrap(preset.description, 78, ""));
    out.push_str("\n[stack]\n");
    for (key, value) in stack_values(&preset.config) {
        let _ = writeln!(out, "{key} = {value}");
    }
    out
}

/// The values of a radio of a link.
fn describe_radio(radio: &presets::Preset) -> String {
    let mut out = format!("{}\n\n[[link]]\n", radio.name);
    let [link, keys] = link_radio_values(radio);
    for (key, value) in link {
        let _ = writeln!(out, "{key} = {value}");
    }
    out.push_str("[link.radio]\n");
    for (key, value) in keys {
        let _ = writeln!(out, "{key} = {value}");
    }
    out
}

/// The values of a standard. A value that a cell may change is written with the cell's key.
fn describe_standard(name: &str, phy: &Phy) -> String {
    let rate = |bps: u64| format!("{}Mbps", bps as f64 / 1e6);
    let mut out = format!("{name}\n\n[[wifi]]\nstandard = \"{name}\"\n\n");
    let rows = [
        ("slot", format!("{} µs", micros(phy.slot))),
        ("SIFS", format!("{} µs", micros(phy.sifs))),
        ("contention window", format!("{} to {} slots", phy.cw_min, phy.cw_max)),
        ("frequency", format!("{} MHz", phy.frequency_hz as f64 / 1e6)),
        ("bandwidth", format!("{} MHz", phy.bandwidth_hz as f64 / 1e6)),
        ("carrier_sense", format!("{} dBm", phy.carrier_sense_dbm)),
    ];
    for (what, value) in rows {
        let _ = writeln!(out, "{what:<18} {value}");
    }
    if phy.is_lowpan() {
        describe_frames(phy, &mut out);
        return out;
    }
    let _ = writeln!(out, "{:<18} {} µs", "DIFS", micros(phy.difs()));
    out.push_str("\nrate       acknowledged at   frame of 1500 B IP\n");
    for r in phy.rates {
        let frame = micros(phy.airtime(1500 + DATA_OVERHEAD, *r));
        let answer = rate(phy.control_rate_for(r.bps));
        let mandatory = if r.mandatory { "  mandatory" } else { "" };
        let _ = writeln!(out, "{:<10} {answer:<17} {frame} µs{mandatory}", rate(r.bps));
    }
    out
}

/// Frames and interframe spaces of IEEE 802.15.4.
fn describe_frames(phy: &Phy, out: &mut String) {
    let rate = phy.rates[0];
    for (what, span) in [
        ("assessment", Lowpan::assessment(phy)),
        ("longest frame", phy.airtime(MAX_FRAME_BYTES, rate)),
        ("acknowledgement", phy.airtime(ACK_BYTES, rate)),
        ("space after it", Lowpan::space(phy, MAX_FRAME_BYTES)),
    ] {
        let _ = writeln!(out, "{what:<18} {} µs", micros(span));
    }
}
