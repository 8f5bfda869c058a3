//! Notations of numbers, valid and invalid in JSON.

use fastrand::Rng;

use super::super::token::token;
use crate::referee::token::Role;
use crate::referee::values::NUMBERS;

/// Numbers whose notation matters more than their value.
const NOTATIONS: &[&str] = &[
    "0e0",
    "-0e-0",
    "0E+99999999999999999999",
    "1E+2",
    "1e02",
    "1e-02",
    "1.0e+00",
    "00",
    "01",
    "-01",
    "-00",
    "1.",
    "-.5",
    ".5",
    "1.e1",
    "1e",
    "1e+",
    "1e-",
    "1E",
    "e1",
    "-",
    "+1",
    "--1",
    "-+1",
    "1-1",
    "1+1",
    "1.1.1",
    "1e1e1",
    "1e1.5",
    "0x10",
    "0b1",
    "0o7",
    "1_000",
    "1,000",
    "NaN",
    "-NaN",
    "Infinity",
    "-Infinity",
    "inf",
    "1n",
    "1f",
    "1d",
    "\u{661}",
    "1\u{a0}",
    "1e308",
    "1e309",
    "-1e309",
    "2e308",
    "1.7976931348623159e308",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "0.1e309",
    "4.9e-324",
    "2e-324",
    "1e-320",
    "9007199254740991.4",
    "9007199254740993.0",
    "9007199254740992e0",
    "90071992547409910e-1",
    "18446744073709551614",
    "18446744073709551615.0",
    "18446744073709551616.0",
    "18446744073709551620",
    "1844674407370955161e1",
    "184467440737095516150e-1",
    "99999999999999999999",
    "100000000000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "4294967295",
    "4294967296",
    "-18446744073709551616",
    "255",
    "256",
    "1e19",
    "1e20",
    "1.8446744073709551615e19",
    "0.0000000000000000000000000001e28",
];

/// Replaces a number by one in another notation, often with the same value.
pub(super) fn respell(text: &mut String, rng: &mut Rng) {
    let Some(token) = token(text, rng, |token| token.role == Role::Number) else { return };
    let old = token.text(text);
    let zeros = |rng: &mut Rng| {
        let most = if rng.u8(..8) == 0 { 2_000 } else { 40 };
        "0".repeat(rng.usize(1..most))
    };
    let is_plain = !old.contains(['.', 'e', 'E']);
    let new = match rng.u8(..18) {
        0 if is_plain => format!("{old}.0"),
        0 => format!("{old}0"),
        1 if is_plain => format!("{old}.{}", zeros(rng)),
        1 => format!("{old}{}", zeros(rng)),
        2 => format!("{old}e0"),
        3 => format!("{old}E+{}", zeros(rng)),
        4 => format!("{old}0e-1"),
        5 if is_plain => {
            let zeros = zeros(rng);
            format!("{old}{zeros}e-{}", zeros.len())
        }
        5 => format!("{old}e-0"),
        6 => {
            let zeros = zeros(rng);
            format!("0.{zeros}{}e{}", old.trim_start_matches('-').replace('.', ""), zeros.len() + 1)
        }
        7 => format!("-{old}"),
        8 => format!("0{old}"),
        9 => format!("+{old}"),
        10 => format!("{old}."),
        11 => format!("{old}e"),
        12 => format!("{old}{}", rng.u64(..)),
        13 => format!("{}{}", rng.u64(..), rng.u64(..)),
        14 => format!("{}", f64::from_bits(rng.u64(..))),
        15 => format!("{:e}", f64::from_bits(rng.u64(..))),
        16 => (*rng.choice(NUMBERS).unwrap_or(&"0")).to_owned(),
        _ => (*rng.choice(NOTATIONS).unwrap_or(&"0")).to_owned(),
    };
    text.replace_range(token.range, &new);
}
