//! Whether a Rust type takes all that a tool's `outputSchema` promises.
//!
//! Whether one JSON Schema is contained in another cannot be decided in general. What is decided here is what tools
//! and `schemars` write: types, `enum` and `const`, `properties` with `required` and `additionalProperties`, `items`
//! and `prefixItems`, bounds, `allOf`, `anyOf`, `oneOf` and references. A *yes* is a proof. All else is a
//! *no*, and it says which of the two it is: there is a promise that the type does not take, or one of which it
//! cannot be decided.

mod judge;
mod promise;
mod references;
mod unfit;

use jsonschema::Draft;
use serde_json::{Map, Value};

use judge::Judge;
use promise::Promise;
use unfit::{Unfit, undecided};

/// Asks that everything that is valid against `promise` is valid against `derived`, which is of the dialect 2020-12.
pub(super) fn takes(promise: &Map<String, Value>, derived: &Value) -> Result<(), Unfit> {
    let promised = Value::Object(promise.clone());
    if Draft::default().detect(&promised) < Draft::Draft7 {
        return undecided("", "its `outputSchema` is of a dialect before draft 7");
    }
    let mut judge = Judge::new(&promised, derived);
    let start = Promise::of(&promised, &judge.promised)?;
    judge.takes(&start, derived, "")
}
