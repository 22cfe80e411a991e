//! Decimal numbers without rounding.

/// A decimal number: `± digits · 10^exponent`, without leading or trailing zeros in `digits`.
#[derive(Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// Empty for zero.
    digits: String,
    exponent: i64,
}

/// A decimal number times an integer.
pub(super) enum Scaled {
    /// The product is this integer.
    Whole(u64),
    /// The product is an integer that does not fit.
    TooLarge,
    /// The product is not an integer.
    Fractional,
}

/// Length of the digits at the start, which may be grouped by single underscores (`10_000`).
fn digits_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end)
        || (end > 0
            && is_digit(end - 1)
            && bytes[end..].first() == Some(&b'_')
            && is_digit(end + 1))
    {
        end += 1;
    }
    end
}

impl Decimal {
    /// Splits `1.5e3 Mbps` into its number and its unit, both trimmed; `None` without a number.
    pub(super) fn split(text: &str) -> Option<(Decimal, &str)> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = unsigned.split_at(digits_len(unsigned));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(after) => after.split_at(digits_len(after)),
            None => ("", rest),
        };
        if whole.is_empty() || (fraction.is_empty() && rest.starts_with('.')) {
            return None;
        }
        let (power, unit) = split_power(rest)?;
        let all: String = [whole, fraction].concat().chars().filter(|c| *c != '_').collect();
        let fraction_digits = fraction.bytes().filter(u8::is_ascii_digit).count();
        let significant = all.trim_end_matches('0');
        let trailing = all.len() - significant.len();
        let digits = significant.trim_start_matches('0').to_owned();
        let exponent = power.checked_add(trailing as i64)?.checked_sub(fraction_digits as i64)?;
        Some((Decimal { negative, digits, exponent }, unit.trim()))
    }

    /// True if the number is less than zero; `-0` is not.
    pub(super) fn is_negative(&self) -> bool {
        self.negative && !self.digits.is_empty()
    }

    /// The number times `factor`.
    pub(super) fn scaled(&self, factor: u64) -> Scaled {
        if self.digits.is_empty() {
            return Scaled::Whole(0);
        }
        let product = self.digits.parse::<u128>().ok().and_then(|n| n.checked_mul(factor.into()));
        let Some(product) = product else {
            return if self.exponent < 0 { Scaled::Fractional } else { Scaled::TooLarge };
        };
        let power = u32::try_from(self.exponent.unsigned_abs()).ok().and_then(ten_to);
        let value = match power {
            _ if self.exponent == 0 => Some(product),
            Some(power) if self.exponent > 0 => product.checked_mul(power),
            Some(power) if product % power == 0 => Some(product / power),
            None if self.exponent > 0 => None,
            // Ten to the 39th is above every product, so it divides no product.
            _ => return Scaled::Fractional,
        };
        value.and_then(|v| u64::try_from(v).ok()).map_or(Scaled::TooLarge, Scaled::Whole)
    }

    /// The nearest `f64` to the number times `10^shift`, infinite when out of range.
    pub(super) fn to_f64(&self, shift: i64) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        let exponent = self.exponent.saturating_add(shift);
        // The text is a number by construction.
        format!("{sign}{digits}e{exponent}").parse().unwrap_or(f64::NAN)
    }
}

fn ten_to(power: u32) -> Option<u128> {
    10u128.checked_pow(power)
}

/// Takes the power `e-6` off the front. An `E` without digits belongs to the unit. `None` for a
/// power that no quantity can have.
fn split_power(text: &str) -> Option<(i64, &str)> {
    let Some(after) = text.strip_prefix(['e', 'E']) else { return Some((0, text)) };
    let signed = after.strip_prefix(['-', '+']).unwrap_or(after);
    let sign_len = after.len() - signed.len();
    let len = signed.bytes().take_while(u8::is_ascii_digit).count();
    if len == 0 {
        return Some((0, text));
    }
    let (power, unit) = after.split_at(sign_len + len);
    let power: i64 = power.parse().ok()?;
    (power.abs() <= 1_000_000).then_some((power, unit))
}
