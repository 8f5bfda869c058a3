//! Numbers that limits add up.

use serde_json::Value;

use super::plain;

/// Amount that a call adds to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Amount {
    Known(u64),
    /// A member is missing, or is not an integer from 0 to 2^53−1.
    Invalid,
    /// Not recorded.
    Unknown,
}

/// Maximum number of values that one call adds.
const MAX_VALUES: usize = 1024;

/// Adds the integers at a pointer, in which `*` matches every element of an array.
pub(crate) fn amount(value: &Value, pointer: &str) -> Amount {
    let (mut total, mut values) = (Some(0u64), 0);
    let steps: Vec<_> = pointer.split('/').skip(1).collect();
    add(value, &steps, &mut |number| {
        values += 1;
        let number = plain(number).and_then(|number| u64::try_from(number).ok());
        total = total.zip(number).and_then(|(total, number)| total.checked_add(number));
        if values > MAX_VALUES {
            total = None;
        }
    })
    .then_some(total)
    .flatten()
    .map_or(Amount::Invalid, Amount::Known)
}

/// Visits each value that the steps lead to; `false` if one is missing.
fn add(value: &Value, steps: &[&str], visit: &mut dyn FnMut(&Value)) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        visit(value);
        return true;
    };
    match value {
        Value::Array(items) if *step == "*" => items.iter().all(|item| add(item, rest, visit)),
        value if *step != "*" => value.pointer(&format!("/{step}")).is_some_and(|value| add(value, rest, visit)),
        _ => false,
    }
}
