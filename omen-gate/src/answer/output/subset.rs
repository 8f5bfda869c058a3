//! Containment check: does a Rust type accept every value that a tool's `outputSchema` promises?
//!
//! Whether one JSON Schema contains another is undecidable in general. This check covers what tools and `schemars`
//! write: types, `enum` and `const`, `properties` with `required` and `additionalProperties`, `items` and
//! `prefixItems`, bounds, `allOf`, `anyOf`, `oneOf` and references. Acceptance is a proof; a refusal says whether the
//! type rejects a promised value, or whether the check could not decide.

mod containment;
mod containment_error;
mod promise;
mod references;

use jsonschema::Draft;
use serde_json::{Map, Value};

use containment::ContainmentCheck;
use containment_error::{ContainmentError, undecided};
use promise::Promise;

/// Checks that every value valid against `promise` is also valid against `derived`, a schema of dialect 2020-12.
pub(super) fn takes(promise: &Map<String, Value>, derived: &Value) -> Result<(), ContainmentError> {
    let promised = Value::Object(promise.clone());
    if Draft::default().detect(&promised) < Draft::Draft7 {
        return undecided("", "its `outputSchema` uses a dialect older than draft 7");
    }
    let mut judge = ContainmentCheck::new(&promised, derived);
    let start = Promise::new(&promised, &judge.promised)?;
    judge.takes(&start, derived, "")
}
