//! Quantities of energy: the power drawn by a radio, and the capacity of a battery.

use std::fmt;
use std::str::FromStr;

use super::{Dimension, UnitError, canonical};

const WATTS: Dimension = Dimension {
    noun: "a power",
    examples: "`190mW`, `0.9W` or `50uW`",
    whole: "microwatts",
    max: windlass_sim::radio::energy::MAX_UW,
    too_large: "is more than a radio draws (at most 1 kW)",
    factor: |unit| match unit {
        "uW" | "µW" | "μW" => Some(1),
        "mW" => Some(1_000),
        "W" => Some(1_000_000),
        "kW" => Some(1_000_000_000),
        _ => None,
    },
    hint: |unit| unit.ends_with("dBm").then_some("a radiated power; this is a power drawn"),
};

const JOULES: Dimension = Dimension {
    noun: "an energy",
    examples: "`20J`, `500mJ` or `2.6Wh`",
    whole: "microjoules",
    max: windlass_sim::radio::energy::MAX_UJ,
    too_large: "is more than a battery holds (at most 1 GJ)",
    factor: |unit| match unit {
        "uJ" | "µJ" | "μJ" => Some(1),
        "mJ" => Some(1_000),
        "J" => Some(1_000_000),
        "kJ" => Some(1_000_000_000),
        "Wh" => Some(3_600_000_000),
        _ => None,
    },
    hint: |unit| unit.ends_with("Ah").then_some("times volts, a charge is an energy in `Wh`"),
};

/// A power drawn, exact to the microwatt: `190mW`, `0.9W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watts {
    /// Microwatts.
    pub uw: u64,
}

impl FromStr for Watts {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Watts, UnitError> {
        WATTS.parse(text).map(|uw| Watts { uw })
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&canonical(self.uw, &[("uW", 1), ("mW", 1_000), ("W", 1_000_000)]))
    }
}

/// An energy, exact to the microjoule: `20J`, `500mJ`, `2.6Wh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Joules {
    /// Microjoules.
    pub uj: u64,
}

impl FromStr for Joules {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Joules, UnitError> {
        JOULES.parse(text).map(|uj| Joules { uj })
    }
}

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] =
            [("uJ", 1), ("mJ", 1_000), ("J", 1_000_000), ("kJ", 1_000_000_000)];
        f.write_str(&canonical(self.uj, &UNITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_energies_read_in_every_documented_spelling_and_as_they_are_written() {
        for (text, uw) in [("190mW", 190_000), ("0.9 W", 900_000), ("50uW", 50), ("0mW", 0)] {
            assert_eq!(text.parse(), Ok(Watts { uw }), "{text}");
            assert_eq!(Watts { uw }.to_string().parse(), Ok(Watts { uw }));
        }
        for (text, uj) in [("20J", 20_000_000), ("500mJ", 500_000), ("2.6Wh", 9_360_000_000)] {
            assert_eq!(text.parse(), Ok(Joules { uj }), "{text}");
            assert_eq!(Joules { uj }.to_string().parse(), Ok(Joules { uj }));
        }
    }

    #[test]
    fn errors_name_the_admissible_values() {
        let power = |text: &str| text.parse::<Watts>().unwrap_err().to_string();
        assert_eq!(
            power("16dBm"),
            "`16dBm` has the unknown unit `dBm` (a radiated power; this is a power drawn); \
             write a power such as `190mW`, `0.9W` or `50uW`"
        );
        let energy = |text: &str| text.parse::<Joules>().unwrap_err().to_string();
        assert!(energy("200mAh").contains("times volts, a charge is an energy in `Wh`"));
        assert!(energy("20").contains("has no unit"));
    }
}
