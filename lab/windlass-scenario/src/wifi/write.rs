//! Writes a cell with every default filled in.

use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::radio::{Hops, Phy, StationConfig};

use super::{air, lowpan, routing, sleep};
use crate::codec::{Pairs, ordered};
use crate::fields::word_of;
use crate::model::WifiSpec;
use crate::quote::{array, inline, quote};
use crate::units::{BitRate, Bytes, Distance, Joules, Packets};

/// The keys of a cell and their TOML text.
pub(in super::super) fn written(spec: &WifiSpec, nodes: &[String], flows: &[&str]) -> Pairs {
    let radio = &spec.radio;
    let station = |s: &StationConfig| station(s, nodes);
    const ORDER: &str = "name standard rate control_rate broadcast_rate mtu lowpan rts short_retry_limit \
        long_retry_limit power path_loss carrier_sense sensitivity noise_figure capture eifs rate_adaptation \
        aggregation beacons late_capture scheduling loss off consumption mode access_point stations";
    let mut pairs = air::written_air(radio);
    pairs.extend([
        ("name", quote(&radio.name)),
        ("standard", quote(word_of(&Phy::ALL, &radio.phy))),
        ("rate", quote(BitRate(radio.data_rate_bps))),
        ("control_rate", quote(BitRate(radio.control_rate_bps))),
        ("broadcast_rate", quote(BitRate(radio.broadcast_rate_bps))),
        ("mtu", quote(Bytes(spec.mtu.into()))),
        ("path_loss", air::written_path_loss(&radio.path_loss)),
    ]);
    match &radio.lowpan {
        Some(lowpan) => {
            pairs.retain(|(key, _)| !air::DCF_KEYS.contains(key));
            pairs.push(("lowpan", lowpan::written(lowpan)));
        }
        None => pairs.extend([
            ("short_retry_limit", radio.retries.short.to_string()),
            ("long_retry_limit", radio.retries.long.to_string()),
        ]),
    }
    if !radio.off.is_empty() {
        pairs.push(("off", routing::written_off(radio, nodes)));
    }
    let names =
        |pair: &[usize; 2]| array(pair, |station| quote(&nodes[radio.stations[*station].node]));
    let mut stations = radio.stations.clone();
    let (mode, own) = match &radio.hops {
        Hops::Star { centre } => {
            ("infrastructure", ("access_point", station(&stations.remove(*centre))))
        }
        Hops::Pairs(hops) => ("ad-hoc", ("hops", array(hops, names))),
        Hops::InRange => ("ad-hoc", ("hops", quote("in-range"))),
        Hops::Aodv(aodv) => ("ad-hoc", ("routing", routing::written(aodv, flows))),
    };
    pairs.extend([("mode", quote(mode)), own, ("stations", array(&stations, station))]);
    ordered(pairs, ORDER)
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
