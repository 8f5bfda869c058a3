//! Numbers that every reader takes for the same integer.

use serde_json::Value;

use super::broken::Why;
use super::types::Types;

/// The integer that a value is.
///
/// A rule compares integers only. A fraction, an exponent or a number beyond ±(2^53−1) is read as one number by one program and
/// as another by the next, so that a bound on it would bind only one of them.
pub(super) fn integer(value: &Value) -> Result<i64, Why> {
    let Value::Number(number) = value else { return Err(Why::other_type(Types::NUMBER, value)) };
    number.as_i64().filter(|number| is_exact(*number)).ok_or_else(|| {
        let why = "it is not written as an integer within ±9007199254740991, so programs may read different numbers";
        Why::new(why, "pass an integer, without a fraction or an exponent")
    })
}

/// Whether an integer is within ±(2^53−1).
pub(crate) fn is_exact(number: i64) -> bool {
    (-LARGEST..=LARGEST).contains(&number)
}

/// 2^53−1.
const LARGEST: i64 = 9_007_199_254_740_991;
