//! Ranges of values: `10ms..100ms step 10ms`, `1Mbps..64Mbps times 2`.

use rust_decimal::Decimal;

/// Maximum number of values of one range.
const MOST: usize = 10_000;

/// The values of a range; the unchanged text if it is not a range. All numbers of a range have the same unit. The
/// last value is the largest that does not exceed the end.
///
/// # Errors
///
/// A message that states the fault and the remedy.
pub(super) fn expand(text: &str) -> Result<Vec<String>, String> {
    let Some((from, rest)) = text.split_once("..") else { return Ok(vec![text.to_owned()]) };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let &[to, how @ ("step" | "times"), by] = words.as_slice() else {
        return Err(format!(
            "`{text}` must look like `10ms..50ms step 10ms` or `1Mbps..16Mbps times 2`"
        ));
    };
    let ends = [number(from.trim(), text)?, number(to, text)?];
    let by = number(by, text)?;
    let [(from, unit), (to, other)] = ends;
    let expected = if how == "step" { unit } else { "" };
    if other != unit || by.1 != expected {
        return Err(format!(
            "`{text}` mixes units; both ends and a step have the same unit, a factor none"
        ));
    }
    let grown = |v: Decimal| match how {
        "step" => v.checked_add(by.0),
        _ => v.checked_mul(by.0),
    };
    let mut values = Vec::new();
    let mut value = from;
    while value <= to {
        values.push(format!("{}{unit}", value.normalize()));
        let next = grown(value).ok_or_else(|| too_long(text))?;
        if values.len() == MOST {
            return Err(format!("`{text}` has more than {MOST} values"));
        }
        if next <= value {
            return Err(format!(
                "`{text}` never ends; a step is above 0, a factor is above 1, and multiplied values \
                 are above 0"
            ));
        }
        value = next;
    }
    if values.is_empty() {
        return Err(format!("`{text}` has no values; its end is below its beginning"));
    }
    Ok(values)
}

fn too_long(text: &str) -> String {
    format!("`{text}` has numbers with too many digits")
}

/// A number and its unit.
fn number<'a>(word: &'a str, text: &str) -> Result<(Decimal, &'a str), String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    match Decimal::from_str_exact(number) {
        Ok(number) => Ok((number, unit.trim())),
        Err(rust_decimal::Error::Underflow | rust_decimal::Error::ExceedsMaximumPossibleValue) => {
            Err(too_long(text))
        }
        Err(_) => {
            Err(format!("invalid number `{word}` in `{text}`; expected a number with a unit"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        expand(text).unwrap_or_else(|e| panic!("{text}: {e}")).join(" ")
    }

    #[test]
    fn ranges_are_exact_and_keep_their_unit() {
        assert_eq!(all("10ms..50ms step 20ms"), "10ms 30ms 50ms");
        assert_eq!(all("0.1..0.5 step 0.1"), "0.1 0.2 0.3 0.4 0.5");
        assert_eq!(all("1Mbps..20Mbps times 2"), "1Mbps 2Mbps 4Mbps 8Mbps 16Mbps");
        assert_eq!(all("0.5bdp..2bdp times 2"), "0.5bdp 1bdp 2bdp");
        assert_eq!(all("0%..1% step 0.25%"), "0% 0.25% 0.5% 0.75% 1%");
        assert_eq!(all("-1..1 step 1"), "-1 0 1");
        assert_eq!(all("-0.5..0 step 0.25"), "-0.5 -0.25 0");
        assert_eq!(all("10pkt"), "10pkt");
    }

    #[test]
    fn invalid_ranges_are_refused_with_a_reason() {
        for (text, part) in [
            ("1..5", "must look like"),
            ("1..5 by 2", "must look like"),
            ("1ms..5s step 1ms", "mixes units"),
            ("1ms..5ms step 1", "mixes units"),
            ("1ms..5ms times 2ms", "mixes units"),
            ("1..5 step 0", "never ends"),
            ("1..5 step -1", "never ends"),
            ("0..5 times 2", "never ends"),
            ("1..5 times 1", "never ends"),
            ("5..1 step 1", "no values"),
            ("a..b step c", "invalid number `a`"),
            ("0..1000000 step 1", "more than 10000 values"),
        ] {
            let message = expand(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
