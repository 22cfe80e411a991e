//! Writes a cell with every default filled in.

use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::radio::{FrameErrors, Hops, Phy, RtsThreshold, StationConfig};

use super::{air, lowpan, routing, scheduling, sleep, used};
use crate::fields::word_of;
use crate::loss;
use crate::model::WifiSpec;
use crate::quote::{array, inline, quote};
use crate::units::{BitRate, Bytes, Decibels, Distance, Joules, Packets, Power};

/// The keys of a cell and their TOML text.
pub(in super::super) fn written(
    spec: &WifiSpec,
    nodes: &[String],
    flows: &[&str],
) -> Vec<(&'static str, String)> {
    let radio = &spec.radio;
    let dbm = |dbm: f64| quote(Power { dbm });
    let station = |s: &StationConfig| station(s, nodes);
    let mut pairs = vec![
        ("name", quote(&radio.name)),
        ("standard", quote(word_of(&Phy::ALL, &radio.phy))),
        ("rate", quote(BitRate(radio.data_rate_bps))),
        ("control_rate", quote(BitRate(radio.control_rate_bps))),
        ("broadcast_rate", quote(BitRate(radio.broadcast_rate_bps))),
        ("mtu", quote(Bytes(spec.mtu.into()))),
    ];
    match &radio.lowpan {
        Some(lowpan) => pairs.push(("lowpan", lowpan::written(lowpan))),
        None => pairs.extend([
            ("rts", quote(rts(radio.rts))),
            ("short_retry_limit", radio.retries.short.to_string()),
            ("long_retry_limit", radio.retries.long.to_string()),
        ]),
    }
    pairs.extend([
        ("power", dbm(radio.tx_power_dbm)),
        ("path_loss", air::written_path_loss(&radio.path_loss)),
        ("carrier_sense", dbm(radio.carrier_sense_dbm)),
        ("sensitivity", dbm(radio.sensitivity_dbm)),
        ("noise_figure", quote(Decibels(radio.noise_figure_db))),
        ("capture", quote(radio.capture_db.map_or("none".into(), |db| Decibels(db).to_string()))),
    ]);
    if radio.lowpan.is_none() {
        pairs.push(("eifs", radio.eifs.to_string()));
    }
    pairs.extend(used::written(radio));
    pairs.push(("scheduling", scheduling::written(&radio.scheduling)));
    match &radio.errors {
        FrameErrors::None => {}
        FrameErrors::Model(model) => pairs.push(("loss", inline(&loss::written(model)))),
        FrameErrors::Snr => pairs.push(("loss", inline(&[("model", quote("snr"))]))),
    }
    if !radio.off.is_empty() {
        pairs.push(("off", routing::written_off(radio, nodes)));
    }
    if let Some(c) = &radio.consumption {
        pairs.push(("consumption", air::consumed(c)));
    }
    let names =
        |pair: &[usize; 2]| array(pair, |station| quote(&nodes[radio.stations[*station].node]));
    let of_mode = match &radio.hops {
        Hops::Star { centre } => {
            let mut others = radio.stations.clone();
            let access_point = others.remove(*centre);
            vec![
                ("mode", quote("infrastructure")),
                ("access_point", station(&access_point)),
                ("stations", array(&others, station)),
            ]
        }
        Hops::Pairs(hops) => vec![
            ("mode", quote("ad-hoc")),
            ("stations", array(&radio.stations, station)),
            ("hops", array(hops, names)),
        ],
        Hops::InRange => vec![
            ("mode", quote("ad-hoc")),
            ("stations", array(&radio.stations, station)),
            ("hops", quote("in-range")),
        ],
        Hops::Aodv(aodv) => vec![
            ("mode", quote("ad-hoc")),
            ("stations", array(&radio.stations, station)),
            ("routing", routing::written(aodv, flows)),
        ],
    };
    pairs.extend(of_mode);
    pairs
}

fn station(station: &StationConfig, nodes: &[String]) -> String {
    let place = [station.position.x_mm, station.position.y_mm];
    let queue = match station.queue {
        SimQueue::Packets(n) => Packets(n).to_string(),
        SimQueue::Bytes(n) => Bytes(n).to_string(),
        SimQueue::Unlimited => "unlimited".to_owned(),
    };
    let mut pairs = vec![
        ("node", quote(&nodes[station.node])),
        ("at", array(&place, |mm| quote(Distance { mm: *mm }))),
        ("queue", quote(queue)),
    ];
    pairs.extend(station.battery_uj.map(|uj| ("battery", quote(Joules { uj }))));
    pairs.extend(
        station.sleep.as_ref().map(|polling| ("sleep", inline(&sleep::written_polling(polling)))),
    );
    inline(&pairs)
}

fn rts(rts: RtsThreshold) -> String {
    match rts {
        RtsThreshold::Never => "never".to_owned(),
        RtsThreshold::Always => "always".to_owned(),
        RtsThreshold::Above(bytes) => Bytes(bytes.into()).to_string(),
    }
}
