//! Errors by signal-to-noise ratio compared with their formula, capture, and adaptive rates.

use crate::common::radio::{Driver, us};
use crate::common::wifi::{cell, delivered, up_to};
use windlass_cc::Time;
use windlass_sim::radio::{
    FrameErrors, LateCapture, Minstrel, Outcome, Phy, Position, RadioConfig,
};

/// A cell at such a distance that frames arrive with a signal-to-noise ratio of `snr_db`.
fn at_snr(phy: Phy, n: usize, snr_db: f64) -> RadioConfig {
    let mut radio = cell(phy, n, 1);
    radio.errors = FrameErrors::Snr;
    (radio.sensitivity_dbm, radio.carrier_sense_dbm) = (-120.0, -120.0);
    // At one metre, the loss is the reference loss.
    let loss = radio.reach(Position::metres(0, 0), Position::metres(1, 0)).power_dbm.unwrap();
    radio.tx_power_dbm += radio.noise_dbm() + snr_db - loss;
    radio
}

/// Share of frames of `bytes` bytes that are lost at this rate, by textbook formulas. 1 Mbit/s is DBPSK
/// spread over 22 MHz. The other rates are QPSK with the code of rate 1/2, whose distance spectrum has the
/// nearest paths.
fn lost_share(mbps: u32, snr_db: f64, bytes: u32) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let ber = match mbps {
        1 => 0.5 * libm::exp(-22.0 * snr),
        _ => {
            let p = 0.5 * libm::erfc(libm::sqrt(snr / 2.0));
            let d = libm::sqrt(4.0 * p * (1.0 - p));
            let weights = [36.0, 211.0, 1404.0, 11_633.0, 77_433.0];
            let terms = weights.iter().enumerate();
            terms.map(|(i, w)| w * libm::pow(d, 10.0 + 2.0 * i as f64)).sum::<f64>() / 2.0
        }
    };
    1.0 - libm::pow(1.0 - ber.min(0.5), f64::from(8 * bytes))
}

/// Broadcasts are sent once. The number of lost broadcasts of each size is binomial with the formula's
/// probability.
#[test]
fn frame_loss_follows_modulation_signal_and_length() {
    const FRAMES: u32 = 3000;
    let (mut misfit, mut cells) = (0.0, 0);
    for (phy, mbps, levels) in [
        (Phy::B_LONG, 1, [-4.2, -3.8, -3.4]),
        (Phy::G, 12, [5.4, 5.8, 6.2]),
        (Phy::N, 13, [5.4, 5.8, 6.2]),
    ] {
        for snr_db in levels {
            for bytes in [100, 400, 1500] {
                let mut radio = at_snr(phy, 1, snr_db);
                radio.broadcast_rate_bps = mbps * 1_000_000;
                let mut d = Driver::new(&radio, 11);
                for i in 0..FRAMES {
                    d.broadcast(Time::from_secs(1) + us(30_000 * u64::from(i)), 0, bytes);
                }
                d.finish();
                let lost = f64::from(d.radio.stations()[1].counters.frame_errors as u32);
                let share = lost_share(mbps as u32, snr_db, bytes + phy.data_overhead());
                let (mean, variance) =
                    (f64::from(FRAMES) * share, f64::from(FRAMES) * share * (1.0 - share));
                println!(
                    "{} {mbps} Mbit/s, {snr_db} dB, {bytes} B: {lost} lost of {FRAMES}, {mean:.1} by the formula",
                    phy.name
                );
                if variance > 5.0 {
                    misfit += (lost - mean) * (lost - mean) / variance;
                    cells += 1;
                }
            }
        }
    }
    println!("chi-squared {misfit:.1} with {cells} degrees of freedom");
    assert!(cells >= 18, "{cells}");
    // 99th percentile: Wilson and Hilferty's approximation.
    let n = f64::from(cells);
    let limit = n * libm::pow(1.0 - 2.0 / (9.0 * n) + 2.326 * libm::sqrt(2.0 / (9.0 * n)), 3.0);
    assert!(misfit < limit, "{misfit} with {cells} degrees of freedom, limit {limit}");
}

/// A stronger frame begins while a weaker one arrives: during its preamble, and after it.
#[test]
fn late_capture_in_the_preamble_only_loses_both_frames_after_it() {
    let heard = |late: LateCapture, after_us: u64| {
        let mut radio = cell(Phy::G, 2, 10);
        radio.hops = windlass_sim::radio::Hops::InRange;
        // The two senders do not sense each other: they are 12 and 3 m from the receiver on opposite sides,
        // and frames reach 13 m.
        radio.stations[1].position = Position::metres(12, 0);
        radio.stations[2].position = Position::metres(-3, 0);
        let loss =
            |m| radio.reach(Position::metres(0, 0), Position::metres(m, 0)).power_dbm.unwrap();
        let least = loss(13);
        (radio.sensitivity_dbm, radio.carrier_sense_dbm) = (least, least);
        (radio.capture_db, radio.late_capture) = (Some(10.0), late);
        let mut d = Driver::new(&radio, 1);
        d.broadcast(Time::from_secs(1), 1, 1000);
        d.broadcast(Time::from_secs(1) + us(after_us), 2, 1000);
        d.finish();
        let at_middle = |o: &Outcome| match o {
            Outcome::Heard { at: 0, from, .. } => Some(*from),
            _ => None,
        };
        d.log.iter().filter_map(|(_, o)| at_middle(o)).collect::<Vec<u32>>()
    };
    for late in [LateCapture::Always, LateCapture::Preamble] {
        assert_eq!(heard(late, 5), [2], "within the preamble: {late:?}");
    }
    assert_eq!(heard(LateCapture::Always, 300), [2]);
    assert_eq!(heard(LateCapture::Preamble, 300), [0; 0]);
}

/// At every distance, the throughput is close to the throughput with the best fixed rate.
#[test]
fn minstrel_is_close_to_the_best_rate_at_every_distance() {
    for (phy, aggregates) in
        [(Phy::G, false), (Phy::B_SHORT, false), (Phy::N, false), (Phy::N, true)]
    {
        for snr_db in [1.0, 4.0, 7.0, 10.0, 13.0, 16.0, 19.0, 22.0, 26.0] {
            let run = |bps: Option<u64>| {
                let mut radio = at_snr(phy, 1, snr_db);
                if aggregates {
                    radio.aggregation = up_to(64);
                }
                match bps {
                    Some(bps) => {
                        radio.data_rate_bps = bps;
                        radio.control_rate_bps = phy.control_rate_for(bps);
                    }
                    None => radio.rate_adaptation = Some(Minstrel::default()),
                }
                delivered(radio, 6)
            };
            let fixed = phy.rates.iter().filter(|r| r.ht == phy.is_ht()).map(|r| r.bps);
            let (best, bps) = fixed
                .map(|bps| (run(Some(bps)), bps))
                .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
            let got = run(None);
            println!(
                "{}{} {snr_db} dB: {got:.0}/s, best fixed {best:.0}/s at {} Mbit/s ({:.1} %)",
                phy.name,
                if aggregates { " A-MPDU" } else { "" },
                bps as f64 / 1e6,
                100.0 * got / best
            );
            if best > 20.0 {
                assert!(got > 0.75 * best, "{} {snr_db} dB: {got} of {best}", phy.name);
            }
        }
    }
}
