//! Formats of values in cells and sentences.

/// The text for a missing value.
pub const NONE: &str = "–";

/// The text for an infinite time: the event never happened.
pub const NEVER: &str = "never";

/// At most five significant digits, without needless zeros; whole numbers in full.
pub fn number(v: f64) -> String {
    if v == f64::INFINITY {
        return NEVER.to_owned();
    }
    if v == 0.0 || !v.is_finite() {
        return if v == 0.0 { "0".to_owned() } else { v.to_string() };
    }
    let exponent = libm::floor(libm::log10(v.abs())) as i32;
    if !(-4..9).contains(&exponent) {
        let text = format!("{v:.4e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!("{mantissa}e{power}");
    }
    let text = format!("{v:.*}", (4 - exponent).max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A computed value, or a dash.
pub fn optional(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), number)
}

/// A published value with all its digits, or a dash.
pub fn printed(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(v) if v != 0.0 && v.abs() < 1e-4 => number(v),
        Some(v) => v.to_string(),
    }
}

/// A value with its interval, all with the same decimals. The interval's width determines the decimals, so that it has
/// two significant digits. Counts, and the halves between them, have no more decimals than they need. Small values have
/// a common power of ten.
pub fn interval(value: f64, low: f64, high: f64) -> String {
    let ([value, low, high], power) = aligned([value, low, high]);
    format!("{value} [{low}, {high}]{power}")
}

/// A value and the ends of its interval, for a sentence. The format is the format of [`interval`], but each small value
/// has a separate power of ten.
pub fn together(all: [f64; 3]) -> [String; 3] {
    match aligned(all) {
        (all, power) if power.is_empty() => all,
        _ => all.map(number),
    }
}

/// A number with two significant digits. A number above 50 has two decimals, so that a percentage near 100 is not
/// rounded to 100.
pub fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        v if v > 50.0 || v == 0.0 => 2.0,
        v => 1.0 - libm::floor(libm::log10(v)),
    };
    let scale = libm::exp10(decimals);
    number(libm::round(value * scale) / scale)
}

/// The three values with the same decimals, and their common power of ten, which is mostly empty.
fn aligned(all: [f64; 3]) -> ([String; 3], String) {
    if all.iter().any(|v| v.is_infinite()) {
        return (all.map(number), String::new());
    }
    let [_, low, high] = all;
    let whole = |factor: f64| all.iter().all(|v| (v * factor).fract() == 0.0);
    let digits = if whole(1.0) {
        0
    } else if whole(2.0) {
        1
    } else {
        (1.0 - libm::log10(high - low).floor()).clamp(0.0, 9.0) as usize
    };
    if digits > 5 {
        return in_powers_of_ten(all, digits);
    }
    (all.map(|v| fixed(v, digits)), String::new())
}

/// A number with this many decimals. Zero has no sign.
fn fixed(v: f64, decimals: usize) -> String {
    let text = format!("{v:.decimals$}");
    let zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Small values with a common power of ten, to `digits` decimals in total: `0.0 [0.0, 8.0]e-5`.
fn in_powers_of_ten(all: [f64; 3], digits: usize) -> ([String; 3], String) {
    let largest = all.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    let exponent = libm::log10(largest).floor();
    if exponent > -3.0 {
        return (all.map(|v| fixed(v, digits)), String::new());
    }
    let digits = (digits as f64 + exponent).max(0.0) as usize;
    let shown = all.map(|v| {
        let v = v / libm::exp10(exponent);
        if v == 0.0 { "0".to_owned() } else { format!("{v:.digits$}") }
    });
    (shown, format!("e{exponent}"))
}

/// A unit for these rates in bits per second, with its name in scenarios. It is the unit of the largest rate, or a
/// smaller unit in which the smallest rate is at least 0.01.
pub fn rate_unit(rates: impl Iterator<Item = f64>) -> (f64, &'static str) {
    let (least, most) =
        rates.fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)));
    let fits = |scale: f64| most >= scale && least >= scale / 100.0;
    let units = [(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")];
    units.into_iter().find(|(scale, _)| fits(*scale)).unwrap_or((1.0, "bps"))
}

/// A percentage with one decimal and sign.
pub fn signed(v: f64) -> String {
    let rounded = format!("{v:+.1}");
    if rounded == "-0.0" { "+0.0".to_owned() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_and_its_value_have_the_same_decimals() {
        for (value, low, high, text) in [
            (81.000_3, 77.020_4, 82.160_4, "81.0 [77.0, 82.2]"),
            (50.164, 50.164, 50.379, "50.16 [50.16, 50.38]"),
            (1047.18, 1017.56, 1067.52, "1047 [1018, 1068]"),
            (70.0, 68.0, 73.0, "70 [68, 73]"),
            (801.5, 794.0, 811.0, "801.5 [794.0, 811.0]"),
            (0.010_11, 0.009_682, 0.010_536, "0.01011 [0.00968, 0.01054]"),
            (0.0, 0.0, 8.03e-5, "0 [0, 8.0]e-5"),
            (1.5e-6, -2.4e-6, 3.0e-6, "1.5 [-2.4, 3.0]e-6"),
            (0.98, 0.979_999_1, 0.980_000_2, "0.9800000 [0.9799991, 0.9800002]"),
            (90.5, 80.25, f64::INFINITY, "90.5 [80.25, never]"),
        ] {
            assert_eq!(interval(value, low, high), text);
        }
    }

    #[test]
    fn rates_have_the_unit_that_fits_all_of_them() {
        for (rates, unit) in [
            (&[2.5e9, 4e7][..], "Gbps"),
            (&[2.5e9, 4e6], "Mbps"),
            (&[9.5e6, 1e4], "Mbps"),
            (&[9.5e6, 9e3], "kbps"),
            (&[999_999.0], "kbps"),
            (&[512.0], "bps"),
            (&[], "bps"),
        ] {
            assert_eq!(rate_unit(rates.iter().copied()).1, unit, "{rates:?}");
        }
    }

    #[test]
    fn the_papers_values_keep_the_digits_it_prints() {
        for (value, text) in
            [(1953.61, "1953.61"), (1_186_605.98, "1186605.98"), (0.0, "0"), (1.2e-5, "1.2e-5")]
        {
            assert_eq!(printed(Some(value)), text);
        }
    }

    #[test]
    fn no_change_has_a_plus() {
        assert_eq!((signed(-0.01), signed(-18.24)), ("+0.0".to_owned(), "-18.2".to_owned()));
    }

    #[test]
    fn numbers_are_written_with_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (60.21, "60.21"),
            (1_186_605.98, "1186606"),
            (0.000_119_99, "0.00011999"),
            (1e-9, "1e-9"),
            (1.2e-5, "1.2e-5"),
            (-9.476, "-9.476"),
            (100.0, "100"),
            (f64::INFINITY, "never"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
