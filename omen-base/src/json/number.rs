//! Numbers that every parser reads alike.

use std::fmt;

use serde_json::Number;

/// Reason why parsers may read a number differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The number is beyond ±(2^53−1), where doubles have gaps (D49).
    Large,
    /// The text is not the shortest one for the nearest double: digits would be lost.
    Rounded,
    /// The number is `-0`, whose sign some parsers keep and some do not.
    NegativeZero,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Large => "is outside ±9007199254740991, where readers differ",
            Self::Rounded => "has more digits than a double carries, so readers differ",
            Self::NegativeZero => "is a negative zero, which readers take for different values",
        })
    }
}

/// Parses a JSON number if its value survives conversion to a double.
pub(super) fn exact(text: &str) -> Result<Number, Doubt> {
    let float: f64 = text.parse().map_err(|_| Doubt::Rounded)?;
    if !(-LARGEST..=LARGEST).contains(&float) {
        return Err(Doubt::Large);
    }
    let Some(written) = Decimal::parse(text) else { return Err(Doubt::Rounded) };
    if written.digits.is_empty() {
        return if text.starts_with('-') { Err(Doubt::NegativeZero) } else { number(text, float) };
    }
    // If the shortest text of the double is a different decimal, the double differs from the written number.
    if Decimal::parse(&format!("{float:e}")) == Some(written) { number(text, float) } else { Err(Doubt::Rounded) }
}

/// Converts a number: integers stay integers, and other numbers become doubles.
fn number(text: &str, float: f64) -> Result<Number, Doubt> {
    match text.parse::<i64>() {
        Ok(integer) => Ok(integer.into()),
        Err(_) => Number::from_f64(float).ok_or(Doubt::Large),
    }
}

/// Largest integer up to which doubles represent all integers exactly: 2^53−1.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;
const LARGEST: f64 = MAX_INTEGER as f64;

/// Decimal number: its digits without outer zeros, and the power of ten of the last digit.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Parses a text such as `-12.50e3`. `None` if the exponent is out of range.
    fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let exponent: i64 = exponent.parse().ok().filter(|exponent| (-100_000..=100_000).contains(exponent))?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
        let exponent = exponent - i64::try_from(fraction.len()).ok()? + dropped;
        let digits = significant.trim_start_matches('0').to_owned();
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Some(Self { negative: sign, digits, exponent })
    }
}
