//! A-MPDUs compared with closed forms: efficiency of one station by the length of its aggregates, and the
//! cost of errors under block acknowledgement.

use crate::common::radio::Driver;
use crate::common::wifi::{PACKET, cell, delivered, result, saturated, seconds, up_to};
use windlass_cc::Time;
use windlass_sim::loss::{BerFormula, LossModel};
use windlass_sim::radio::aggregation::BLOCK_ACK_BYTES;
use windlass_sim::radio::mac::CONTROL_BYTES;
use windlass_sim::radio::{FrameErrors, Outcome, Phy, RadioConfig};

const N: Phy = Phy::N;

/// Frames of an aggregate, and seconds from its beginning to the end of the DIFS after its acknowledgement.
fn exchange(radio: &RadioConfig) -> (u32, f64) {
    let rate = |bps| N.rate(bps).unwrap();
    let mpdu = PACKET + N.data_overhead();
    let (frames, bytes) =
        radio.aggregation.map_or((1, mpdu), |a| a.fill(mpdu, &N, rate(radio.data_rate_bps)));
    let answer = if frames > 1 { BLOCK_ACK_BYTES } else { CONTROL_BYTES };
    let data = N.airtime(bytes, rate(radio.data_rate_bps));
    let answer = N.airtime(answer, rate(radio.control_rate_bps));
    (frames, seconds(data + N.sifs + answer + N.difs()))
}

/// Each exchange takes AIFS, the mean back-off, the aggregate, a SIFS and the block acknowledgement.
#[test]
fn a_single_station_reaches_the_efficiency_of_its_aggregates() {
    for bps in [6_500_000, 26_000_000, 65_000_000] {
        for most in [1, 2, 4, 8, 16, 32, 64] {
            let mut radio = cell(N, 1, 5);
            radio.data_rate_bps = bps;
            radio.aggregation = up_to(most);
            let (frames, busy) = exchange(&radio);
            let flight = 2.0 * 17e-9;
            let back_off = f64::from(N.cw_min) / 2.0 * seconds(N.slot);
            let expected = f64::from(frames) / (busy + flight + back_off);
            let got = delivered(radio, 5);
            println!(
                "{} Mbit/s, up to {most}: {frames} frames, {:.2} Mbit/s of packets, {:.2} by the closed form, {:.0} % of the rate",
                bps as f64 / 1e6,
                got * 8e-6 * f64::from(PACKET),
                expected * 8e-6 * f64::from(PACKET),
                100.0 * got * 8.0 * f64::from(PACKET) / bps as f64
            );
            assert!((got / expected - 1.0).abs() < 0.01, "{bps} {most}: {got} and {expected}");
        }
    }
}

/// Only frames with errors are retransmitted, so that the throughput is proportional to the share of frames
/// without errors. If every error destroyed a whole aggregate, the throughput would be about zero.
#[test]
fn an_error_costs_one_frame_of_an_aggregate() {
    let clean = |rate: f64| {
        let mut radio = cell(N, 1, 5);
        radio.aggregation = up_to(16);
        // Errors in acknowledgements are rare: they have 32 bytes instead of 1538.
        radio.errors = FrameErrors::Model(LossModel::Ber { rate, formula: BerFormula::Exact });
        (delivered(radio.clone(), 10), radio)
    };
    let (all, _) = clean(0.0);
    for rate in [1e-6, 1e-5, 3e-5] {
        let (got, radio) = clean(rate);
        let good = libm::pow(1.0 - rate, 8.0 * f64::from(PACKET + N.data_overhead()));
        let answered = libm::pow(1.0 - rate, 8.0 * f64::from(BLOCK_ACK_BYTES));
        let expected = all * good * answered;
        println!("bit-error rate {rate}: {got:.0}/s of {all:.0}, {expected:.0} by the closed form");
        assert!((got / expected - 1.0).abs() < 0.015, "{rate}: {got} and {expected}");
        let r = result(saturated(radio, 2));
        let s = &r.radios[0].stations[1];
        // Seven attempts per frame.
        assert!(s.drops_retry as f64 <= 5.0 + 3.0 * s.offered as f64 * libm::pow(1.0 - good, 7.0));
        assert!(s.retransmissions > 0 && s.aggregated >= 15 * s.aggregates, "{s:?}");
    }
}

/// The receiver keeps packets that follow a missing one.
#[test]
fn packets_arrive_in_order_despite_losses() {
    let mut radio = cell(N, 1, 5);
    radio.aggregation = up_to(64);
    radio.retries.short = 3; // so that some packets are given up
    radio.errors = FrameErrors::Model(LossModel::Drop { probability: 0.4 });
    let mut d = Driver::new(&radio, 7);
    for i in 0..3000 {
        d.send(Time(400_000 * i), 1, 0, 200 + (i % 7) as u32);
    }
    d.finish();
    let taken: Vec<u32> = d
        .log
        .iter()
        .filter_map(|(_, o)| match o {
            Outcome::Delivered { handle, .. } => Some(handle.id),
            _ => None,
        })
        .collect();
    let given_up =
        d.log.iter().filter(|(_, o)| matches!(o, Outcome::GaveUp { taken: false, .. })).count();
    assert!(taken.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(taken.len() + given_up, 3000);
    assert!(given_up > 30, "{given_up}");
}

/// The access point sends packets in the order of their age. A station with many packets does not delay the
/// others.
#[test]
fn an_aggregate_holds_all_packets_for_the_station_of_the_first() {
    let mut radio = cell(N, 2, 5);
    radio.aggregation = up_to(64);
    let mut d = Driver::new(&radio, 1);
    let to_first: Vec<u32> = (0..4).map(|_| d.send(Time::from_secs(1), 0, 1, 1500)).collect();
    let to_second = d.send(Time::from_secs(1), 0, 2, 1500);
    let last = d.send(Time::from_secs(1), 0, 1, 1500);
    d.finish();
    // All packets for station 1 are in one frame, also the packet that arrived after the packet for station
    // 2.
    let at = |id| d.delivered(id)[0];
    assert!(to_first.iter().chain([&last]).all(|id| at(*id) == at(to_first[0])));
    assert!(at(to_second) > at(last));
    let c = d.radio.stations()[0].counters;
    assert_eq!((c.aggregates, c.aggregated, c.transmissions), (1, 5, 6));
}
