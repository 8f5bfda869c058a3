//! Integers that every parser reads alike.

use omen_base::json::MAX_INTEGER;
use serde_json::Value;

use super::types::ValueTypes;
use super::violation::RefusalReason;

/// Returns the integer in a value.
///
/// Rules compare only integers. Programs read a fraction, an exponent or a number beyond ±(2^53−1) differently, so a
/// bound on such a number would bind only some programs.
pub(super) fn integer(value: &Value) -> Result<i64, RefusalReason> {
    let Value::Number(number) = value else { return Err(RefusalReason::other_type(ValueTypes::NUMBER, value)) };
    number.as_i64().filter(|number| is_exact(*number)).ok_or_else(|| {
        let why = "it is not written as an integer within ±9007199254740991, so programs may read different numbers";
        RefusalReason::new(why, "pass an integer, without a fraction or an exponent")
    })
}

/// Returns whether an integer is within ±(2^53−1).
pub(crate) fn is_exact(number: i64) -> bool {
    number.unsigned_abs() <= MAX_INTEGER
}
