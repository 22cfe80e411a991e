//! Quantities of radio: distances, and levels in decibels.

use std::fmt;
use std::str::FromStr;

use super::decimal::Decimal;
use super::{Dimension, UnitError, canonical};

const DISTANCE: Dimension = Dimension {
    noun: "a distance",
    examples: "`10m`, `2.5m` or `1.2km`",
    whole: "millimetres",
    max: 1_000_000_000_000, // a million kilometres
    too_large: "is longer than the simulator can count (a million kilometres)",
    factor: |unit| match unit {
        "mm" => Some(1),
        "cm" => Some(10),
        "m" => Some(1_000),
        "km" => Some(1_000_000),
        _ => None,
    },
    hint: |_| None,
};

/// A distance or a coordinate, exact to the millimetre: `10m`, `2.5m`, `-3m`, `1.2km`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance {
    /// Millimetres.
    pub mm: i64,
}

impl FromStr for Distance {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Distance, UnitError> {
        let text = text.trim();
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        // `--1m` is not a number.
        let unsigned = if sign < 0 && unsigned.starts_with(['-', '+']) { text } else { unsigned };
        // Within the range of the dimension, hence of the integer.
        DISTANCE.parse(unsigned).map(|mm| Distance { mm: sign * mm as i64 })
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 3] = [("mm", 1), ("m", 1_000), ("km", 1_000_000)];
        if self.mm == 0 {
            return f.write_str("0m");
        }
        let sign = if self.mm < 0 { "-" } else { "" };
        write!(f, "{sign}{}", canonical(self.mm.unsigned_abs(), &UNITS))
    }
}

/// A level or a ratio with this unit, written as a decimal number.
fn level(text: &str, unit: &str, noun: &str, example: &str) -> Result<f64, UnitError> {
    let text = text.trim();
    let bad = |what: &str| UnitError(format!("`{text}` {what}; write {noun} such as `{example}`"));
    match Decimal::split(text) {
        None => Err(bad(&format!("is not {noun}"))),
        Some((_, "")) => Err(bad("has no unit")),
        Some((number, found)) if found.eq_ignore_ascii_case(unit) => {
            let value = number.to_f64(0);
            // -0 is 0.
            if value.abs() <= MOST_DECIBELS { Ok(value + 0.0) } else { Err(bad("is out of range")) }
        }
        Some((_, other)) => Err(bad(&format!("has the unknown unit `{other}`"))),
    }
}

/// Larger than any level in nature; the background radiation of the universe is above -1000 dBm.
const MOST_DECIBELS: f64 = 1_000.0;

/// A power relative to a milliwatt, in decibels: `16dBm`, `-82dBm`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Power {
    /// Decibels above one milliwatt.
    pub dbm: f64,
}

impl FromStr for Power {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Power, UnitError> {
        level(text, "dBm", "a power", "16dBm").map(|dbm| Power { dbm })
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}dBm", self.dbm)
    }
}

/// A ratio of two powers in decibels: `3dB`, `-1.5dB`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Decibels(pub f64);

impl FromStr for Decibels {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Decibels, UnitError> {
        level(text, "dB", "a ratio", "10dB").map(Decibels)
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}dB", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distances_read_in_every_documented_spelling() {
        for (text, mm) in [
            ("10m", 10_000),
            ("2.5 m", 2_500),
            ("-3m", -3_000),
            ("1.2km", 1_200_000),
            ("5cm", 50),
            ("7mm", 7),
            ("-0m", 0),
            ("+4m", 4_000),
        ] {
            assert_eq!(text.parse(), Ok(Distance { mm }), "{text}");
        }
        assert_eq!(Distance { mm: -2_500 }.to_string(), "-2500mm");
        assert_eq!(Distance { mm: 10_000 }.to_string(), "10m");
    }

    #[test]
    fn levels_read_with_their_unit_only() {
        assert_eq!("16dBm".parse(), Ok(Power { dbm: 16.0 }));
        assert_eq!("-82.5 dbm".parse(), Ok(Power { dbm: -82.5 }));
        assert_eq!("10dB".parse(), Ok(Decibels(10.0)));
    }

    #[test]
    fn errors_name_the_admissible_values() {
        let distance = |text: &str| text.parse::<Distance>().unwrap_err().to_string();
        let advice = "write a distance such as `10m`, `2.5m` or `1.2km`";
        assert_eq!(distance("10"), format!("`10` has no unit; {advice}"));
        assert_eq!(distance("--1m"), format!("`--1m` is not a distance; {advice}"));
        assert_eq!(distance("0.1mm"), "`0.1mm` is not a whole number of millimetres");
        assert!(
            distance("-1e9km")
                .ends_with("is longer than the simulator can count (a million kilometres)")
        );
        let power = |text: &str| text.parse::<Power>().unwrap_err().to_string();
        assert_eq!(power("16"), "`16` has no unit; write a power such as `16dBm`");
        assert_eq!(
            power("16dB"),
            "`16dB` has the unknown unit `dB`; write a power such as `16dBm`"
        );
        assert_eq!(power("1e9dBm"), "`1e9dBm` is out of range; write a power such as `16dBm`");
    }

    proptest! {
        #[test]
        fn written_values_read_back(mm in -1_000_000_000_000i64..=1_000_000_000_000, db in -1e3f64..=1e3) {
            for mm in [mm, mm / 1_000 * 1_000] {
                prop_assert_eq!(Distance { mm }.to_string().parse(), Ok(Distance { mm }));
            }
            prop_assert_eq!(Power { dbm: db }.to_string().parse(), Ok(Power { dbm: db }));
            prop_assert_eq!(Decibels(db).to_string().parse(), Ok(Decibels(db)));
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in "\\PC*|[-+0-9._eEdBkm ]{0,40}") {
            let _ = text.parse::<Distance>();
            let _ = text.parse::<Power>();
            let _ = text.parse::<Decibels>();
        }
    }
}
