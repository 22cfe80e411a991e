//! Bit-error rate as a function of the signal-to-noise ratio.
//!
//! * DSSS: the exact curve of DBPSK and the tight asymptotic curve of DQPSK in additive white Gaussian noise
//!   (Proakis, *Digital Communications*). CCK: the bound of IEEE 802.15.2-2003.
//! * OFDM: Gray-coded constellations (Proakis) with hard-decision Viterbi decoding of the standard's code
//!   (133, 171). The bound uses the first terms of the distance spectrum for rate 1/2, and of the spectra of
//!   the punctured codes (Haccoun and Bégin 1989, Frenger and others 1999).
//! * O-QPSK of IEEE 802.15.4: the standard's own curve (IEEE 802.15.4-2006 annex E.4.1.8) for non-coherent
//!   reception of symbols of 32 chips.

/// Modulation and coding of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// Differential BPSK over an 11-chip Barker code, 1 Mbit/s.
    Dbpsk,
    /// Differential QPSK over an 11-chip Barker code, 2 Mbit/s.
    Dqpsk,
    /// Complementary code keying, 5.5 Mbit/s.
    Cck5_5,
    /// Complementary code keying, 11 Mbit/s.
    Cck11,
    /// OFDM with a convolutional code.
    Coded {
        /// Bits per subcarrier: 1 BPSK, 2 QPSK, 4, 6, 8 square QAM.
        bits: u32,
        /// Code rate.
        code: Code,
    },
    /// OFDM with a convolutional code, with each symbol sent twice (S1G MCS 10).
    Repeated {
        /// Bits per subcarrier.
        bits: u32,
        /// Code rate.
        code: Code,
    },
    /// O-QPSK with 16 near-orthogonal sequences of 32 chips, 250 kbit/s.
    Oqpsk,
}

/// Rate of the convolutional code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// 1/2.
    Half,
    /// 2/3, punctured.
    TwoThirds,
    /// 3/4, punctured.
    ThreeQuarters,
    /// 5/6, punctured.
    FiveSixths,
}

/// Noise bandwidth of DSSS, hertz.
const DSSS_BANDWIDTH_HZ: f64 = 22e6;

/// Tail probability of the standard normal distribution.
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

impl Modulation {
    /// Probability of a bit error at this signal-to-noise ratio in the PHY's bandwidth (a factor, not dB);
    /// between 0 and 1/2.
    pub fn bit_error_rate(self, snr: f64) -> f64 {
        let rate = match self {
            Modulation::Dbpsk => 0.5 * libm::exp(-snr * DSSS_BANDWIDTH_HZ / 1e6),
            Modulation::Dqpsk => dqpsk(snr * DSSS_BANDWIDTH_HZ / 2e6),
            Modulation::Cck5_5 => 8.0 / 15.0 * cck(&[(14.0, 8.0), (1.0, 16.0)], snr),
            Modulation::Cck11 => {
                let words = [
                    (24.0, 4.0),
                    (16.0, 6.0),
                    (174.0, 8.0),
                    (16.0, 10.0),
                    (24.0, 12.0),
                    (1.0, 16.0),
                ];
                128.0 / 255.0 * cck(&words, snr)
            }
            Modulation::Coded { bits, code } => code.decoded(constellation(bits, snr)),
            Modulation::Repeated { bits, code } => code.decoded(constellation(bits, 2.0 * snr)),
            Modulation::Oqpsk => oqpsk(snr),
        };
        rate.clamp(0.0, 0.5)
    }
}

/// Asymptotic bit-error rate of DQPSK with Gray coding, by the ratio of energy per bit to noise density.
fn dqpsk(eb_n0: f64) -> f64 {
    let root2 = std::f64::consts::SQRT_2;
    let scale = (root2 + 1.0) / libm::sqrt(8.0 * std::f64::consts::PI * root2);
    if eb_n0 <= 0.0 {
        return 0.5;
    }
    scale / libm::sqrt(eb_n0) * libm::exp(-(2.0 - root2) * eb_n0)
}

/// Bit-error rate of O-QPSK of IEEE 802.15.4. The sent sequence is mistaken for each of the 15 others with
/// equal probability.
fn oqpsk(snr: f64) -> f64 {
    let mut choose = 16.0; // 16 over 1
    let mut sum = 0.0;
    for k in 2..=16 {
        let k = f64::from(k);
        choose *= (17.0 - k) / k;
        let sign = if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        sum += sign * choose * libm::exp(20.0 * snr * (1.0 / k - 1.0));
    }
    8.0 / 15.0 / 16.0 * sum
}

/// Probability that a code word is mistaken for another one. `words` has the number of other words at each
/// distance.
fn cck(words: &[(f64, f64)], snr: f64) -> f64 {
    words.iter().map(|(count, distance)| count * q(libm::sqrt(distance * snr))).sum()
}

/// Bit-error rate of a Gray-coded constellation before decoding, by the ratio of energy per symbol to noise
/// density.
fn constellation(bits: u32, snr: f64) -> f64 {
    match bits {
        1 => q(libm::sqrt(2.0 * snr)),
        2 => q(libm::sqrt(snr)),
        _ => {
            let points = f64::from(1u32 << bits.min(16));
            let side = libm::sqrt(points);
            4.0 / f64::from(bits) * (1.0 - 1.0 / side) * q(libm::sqrt(3.0 * snr / (points - 1.0)))
        }
    }
}

impl Code {
    /// Returns the encoder's input bits per step, the minimum distance of two paths, the step between
    /// distances, and the total number of wrong bits on the paths of each distance.
    fn spectrum(self) -> (f64, i32, i32, [f64; 5]) {
        match self {
            Code::Half => (1.0, 10, 2, [36.0, 211.0, 1404.0, 11_633.0, 77_433.0]),
            Code::TwoThirds => (2.0, 6, 1, [3.0, 70.0, 285.0, 1276.0, 6160.0]),
            Code::ThreeQuarters => (3.0, 5, 1, [42.0, 201.0, 1492.0, 10_469.0, 62_935.0]),
            Code::FiveSixths => (5.0, 4, 1, [92.0, 528.0, 8694.0, 79_453.0, 792_114.0]),
        }
    }

    /// Bit-error rate after decoding, from the rate before decoding: the union bound with Chernoff's bound
    /// for each distance.
    fn decoded(self, p: f64) -> f64 {
        let (inputs, least, step, weights) = self.spectrum();
        let d = libm::sqrt(4.0 * p * (1.0 - p));
        let sum: f64 =
            (0..5).map(|i| weights[i as usize] * libm::pow(d, f64::from(least + i * step))).sum();
        sum / (2.0 * inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of frames of 1024 bytes received without error at this power, with the noise of 22 MHz and a
    /// noise figure of 7 dB.
    fn success(modulation: Modulation, dbm: f64) -> f64 {
        let noise = -173.975 + 10.0 * libm::log10(22e6) + 7.0;
        let ber = modulation.bit_error_rate(libm::exp10((dbm - noise) / 10.0));
        libm::pow(1.0 - ber, 8.0 * 1024.0)
    }

    #[test]
    fn cck_is_within_a_decibel_of_published_reception_rates() {
        // Reception rates of 1024-byte frames from ns-3's regression tests, which integrate over the
        // receiver's decisions. The union bound is never better, and close.
        for (modulation, dbm, rate) in [
            (Modulation::Cck5_5, -91.0, 0.132),
            (Modulation::Cck5_5, -90.0, 0.744),
            (Modulation::Cck5_5, -89.0, 0.974),
            (Modulation::Cck11, -88.0, 0.128),
            (Modulation::Cck11, -87.0, 0.739),
            (Modulation::Cck11, -86.0, 0.973),
        ] {
            let (got, louder) = (success(modulation, dbm), success(modulation, dbm + 1.0));
            assert!(got <= rate + 0.01 && louder >= rate, "{modulation:?} {dbm}: {got} {louder}");
        }
    }

    #[test]
    fn oqpsk_loses_half_its_symbols_bits_in_noise_alone_and_none_at_5_db() {
        let at = |db: f64| Modulation::Oqpsk.bit_error_rate(libm::exp10(db / 10.0));
        assert!((at(-60.0) - 0.5).abs() < 1e-3, "{}", at(-60.0));
        // At a signal-to-noise ratio of 2, the first term of the standard's sum is 120/30·exp(-20). The next
        // term is 0.6 % of it.
        let twice = Modulation::Oqpsk.bit_error_rate(2.0);
        assert!((twice / (4.0 * libm::exp(-20.0)) - 1.0).abs() < 0.01, "{twice}");
        assert!(at(5.0) < 1e-12, "{}", at(5.0));
    }

    #[test]
    fn bit_errors_decrease_with_signal_and_increase_with_rate() {
        use crate::radio::phy::Phy;
        for (_, phy) in Phy::ALL {
            for db in -10..40 {
                let at = |rate: &crate::radio::phy::Rate, db: i32| {
                    rate.modulation.bit_error_rate(libm::exp10(f64::from(db) / 10.0))
                };
                for rate in phy.rates {
                    assert!(at(rate, db) >= at(rate, db + 1), "{} {} {db}", phy.name, rate.bps);
                }
            }
            let ten_per_cent = |rate: &crate::radio::phy::Rate| {
                (-200..600)
                    .find(|&d| {
                        let snr = libm::exp10(f64::from(d) / 100.0);
                        libm::pow(1.0 - rate.modulation.bit_error_rate(snr), 8000.0) > 0.9
                    })
                    .unwrap()
            };
            for ht in [false, true] {
                let rates = phy.rates.iter().filter(|r| r.ht == ht);
                let needed: Vec<i32> = rates.map(ten_per_cent).collect();
                // One exception is in the standard itself: 9 Mbit/s (BPSK 3/4) needs a higher ratio than QPSK
                // 1/2.
                let rising = needed.windows(2).filter(|w| w[0] <= w[1]).count();
                assert!(rising + 2 >= needed.len(), "{}: {needed:?}", phy.name);
            }
        }
    }
}
