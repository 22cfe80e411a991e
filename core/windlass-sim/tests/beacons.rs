//! Cost of beacons, compared with their airtime.

use crate::common::wifi::{cell, delivered, result, saturated, seconds};
use windlass_cc::Span;
use windlass_sim::radio::{Beacons, Phy};

fn beacons(ms: u64, networks: u32) -> Option<Beacons> {
    Some(Beacons { interval: Span::from_millis(ms), size: 250, networks })
}

#[test]
fn beacons_take_their_airtime_and_all_stations_receive_them() {
    for (ms, networks) in [(100, 1), (100, 5), (20, 4)] {
        let mut radio = cell(Phy::B_LONG, 3, 5);
        radio.beacons = beacons(ms, networks);
        let one = seconds(Phy::B_LONG.airtime(250, Phy::B_LONG.rate(1_000_000).unwrap()));
        let share = f64::from(networks) * one / (ms as f64 / 1e3);
        let mut config = saturated(radio, 20);
        config.flows.clear();
        let r = result(config);
        println!(
            "{networks} networks each {ms} ms: {:.4} of the air, {share:.4} by the closed form",
            r.radios[0].busy
        );
        assert!((r.radios[0].busy / share - 1.0).abs() < 0.01, "{} {share}", r.radios[0].busy);
        let heard: Vec<u64> = r.radios[0].stations.iter().map(|s| s.beacons_heard).collect();
        assert_eq!(heard[1..], [r.radios[0].stations[0].beacons; 3]);
        assert!(heard[1].abs_diff(20_000 / ms * u64::from(networks)) <= u64::from(networks));
    }
}

/// A saturated station loses the time of each beacon, with its space and back-off.
#[test]
fn a_saturated_cell_loses_the_time_of_its_beacons() {
    let phy = Phy::G;
    let with = |beacons| {
        let mut radio = cell(phy, 1, 5);
        radio.beacons = beacons;
        delivered(radio, 20)
    };
    let (alone, got) = (with(None), with(beacons(20, 8)));
    let one = phy.airtime(250, phy.rate(6_000_000).unwrap());
    let taken = |each: f64| 8.0 * each / 20e-3;
    // Beacons follow one another while the station's back-off is frozen, or they collide. The cost is at
    // least the frames, and at most a whole space and back-off with each frame.
    let whole = seconds(one + phy.difs()) + 7.5 * seconds(phy.slot);
    let share = 1.0 - got / alone;
    println!(
        "8 networks each 20 ms: {:.1} % less, {:.1} to {:.1} % by the closed form",
        100.0 * share,
        100.0 * taken(seconds(one)),
        100.0 * taken(whole)
    );
    assert!((taken(seconds(one))..taken(whole)).contains(&share), "{share}");
}
