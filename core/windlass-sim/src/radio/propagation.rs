//! Received power and propagation delay.

use windlass_cc::Span;

use crate::radio::config::{PathLoss, Position, RadioConfig};
pub use crate::radio::phy::LIGHT_M_PER_S;

/// Thermal noise at 290 K, dBm in 1 Hz: `10·log10(k·T / 1 mW)`.
const THERMAL_DBM_PER_HZ: f64 = -173.975;

/// Converts a power from dBm to milliwatts, or a ratio from dB to a factor.
pub fn from_db(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// Properties of the signal from one station to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Distance, metres.
    pub distance_m: f64,
    /// Propagation delay, rounded to a nanosecond.
    pub delay: Span,
    /// Received power, dBm; `None` with a disc, which has no powers.
    pub power_dbm: Option<f64>,
    /// True if frames can be received.
    pub receivable: bool,
    /// True if frames are sensed and interfere with others. Always true if frames can be received.
    pub audible: bool,
}

impl RadioConfig {
    /// Properties of the signal between stations at two positions, in either direction.
    pub fn reach(&self, a: Position, b: Position) -> Reach {
        let distance_m = a.distance_m(b);
        let delay = Span(libm::round(distance_m / LIGHT_M_PER_S * 1e9) as u64);
        let (power_dbm, receivable, audible) = match self.path_loss {
            PathLoss::Disc { receive_mm, sense_mm } => {
                let mm = distance_m * 1000.0;
                (None, mm <= receive_mm as f64, mm <= sense_mm as f64)
            }
            PathLoss::Friis => self.thresholds(self.friis_db(distance_m)),
            PathLoss::LogDistance { exponent, reference_loss_db } => {
                let loss = reference_loss_db + 10.0 * exponent * libm::log10(distance_m.max(1.0));
                self.thresholds(loss)
            }
        };
        Reach { distance_m, delay, power_dbm, receivable, audible: audible || receivable }
    }

    fn friis_db(&self, distance_m: f64) -> f64 {
        let wavelengths = distance_m * self.phy.frequency_hz as f64 / LIGHT_M_PER_S;
        (20.0 * libm::log10(4.0 * std::f64::consts::PI * wavelengths)).max(0.0)
    }

    fn thresholds(&self, loss_db: f64) -> (Option<f64>, bool, bool) {
        let power = self.tx_power_dbm - loss_db;
        (Some(power), power >= self.sensitivity_dbm, power >= self.carrier_sense_dbm)
    }

    /// Noise power at a receiver, dBm.
    pub fn noise_dbm(&self) -> f64 {
        let bandwidth = 10.0 * libm::log10(self.phy.bandwidth_hz as f64);
        THERMAL_DBM_PER_HZ + bandwidth + self.noise_figure_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::phy::Phy;

    fn at(x: i64) -> Position {
        Position::metres(x, 0)
    }

    #[test]
    fn log_distance_loses_ten_times_the_exponent_per_decade() {
        let radio = RadioConfig::new("r", Phy::G);
        let power = |x| radio.reach(at(0), at(x)).power_dbm.unwrap();
        assert!((power(1) - (16.0 - 40.18)).abs() < 0.01, "{}", power(1));
        assert!((power(10) - power(100) - 30.0).abs() < 1e-9);
        assert_eq!(power(0), power(1), "no gain nearer than 1 m");
    }

    #[test]
    fn friis_loses_80_db_at_100_m_and_2_4_ghz() {
        let mut radio = RadioConfig::new("r", Phy::G);
        radio.path_loss = PathLoss::Friis;
        let reach = radio.reach(at(0), at(100));
        // 20·log10(4π·100/0.12302 m)
        assert!((radio.tx_power_dbm - reach.power_dbm.unwrap() - 80.18).abs() < 0.01);
        assert_eq!(reach.delay, Span(334)); // 100 m at 3.3356 ns/m
        assert_eq!(radio.reach(at(5), at(5)).power_dbm, Some(16.0), "never a gain");
    }

    #[test]
    fn a_disc_ends_at_its_configured_distances() {
        let mut radio = RadioConfig::new("r", Phy::B_LONG);
        radio.path_loss = PathLoss::Disc { receive_mm: 250_000, sense_mm: 550_000 };
        let hears = |x| {
            let r = radio.reach(at(0), at(x));
            (r.receivable, r.audible)
        };
        assert_eq!(
            [hears(250), hears(251), hears(550), hears(551)].map(|(r, _)| r),
            [true, false, false, false]
        );
        assert_eq!(
            [hears(250), hears(251), hears(550), hears(551)].map(|(_, a)| a),
            [true, true, true, false]
        );
    }

    #[test]
    fn noise_in_20_mhz_with_a_figure_of_7_db_is_minus_94_dbm() {
        let noise = RadioConfig::new("r", Phy::G).noise_dbm();
        assert!((noise + 93.965).abs() < 0.01, "{noise}");
    }
}
