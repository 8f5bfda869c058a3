//! Whether a Rust type takes all that a tool's `outputSchema` promises.
//!
//! Whether one JSON Schema is contained in another cannot be decided in general. What is decided here is what tools
//! and `schemars` write: types, `enum` and `const`, `properties` with `required` and `additionalProperties`, `items`
//! and `prefixItems`, bounds, `allOf`, `anyOf`, `oneOf` and references. A *yes* is a proof. All else is a
//! *no*, and it says which of the two it is: there is a promise that the type does not take, or one of which it
//! cannot be told.

mod judge;
mod promise;

use std::fmt;

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::base::bounded;
use judge::Judge;
use promise::Promise;

/// Why a type is not known to take what a tool promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Where in an answer: a JSON pointer, with `*` for any element or any other member.
    pub(super) at: String,
    pub(super) why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The tool promises more than the type takes.
    Refused(String),
    /// It cannot be told.
    Undecided(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.at.is_empty() { "the answer".to_owned() } else { format!("`{}`", bounded(&self.at)) };
        match &self.why {
            Why::Refused(what) => write!(f, "{place} {what}"),
            Why::Undecided(what) => write!(f, "it cannot be told of {place}: {what}"),
        }
    }
}

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

fn refused<T>(at: &str, what: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit { at: at.to_owned(), why: Why::Refused(what.into()) })
}

fn undecided<T>(at: &str, what: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit { at: at.to_owned(), why: Why::Undecided(what.into()) })
}

/// Resolves the references of one document.
#[derive(Clone, Copy, Debug)]
struct References<'v> {
    root: &'v Value,
    /// Whether what stands beside a reference counts.
    beside: bool,
    /// Whether there is `prefixItems`.
    prefix: bool,
}

impl<'v> References<'v> {
    fn of(root: &'v Value) -> Self {
        let draft = Draft::default().detect(root);
        Self { root, beside: draft > Draft::Draft7, prefix: draft > Draft::Draft201909 }
    }

    /// All schemas that apply together because of one: itself, what it refers to, and what `allOf` has.
    fn together(&self, schema: &'v Value) -> Result<Vec<&'v Value>, Unfit> {
        let (mut todo, mut seen, mut all): (_, Vec<&Value>, _) = (vec![schema], Vec::new(), Vec::new());
        while let Some(schema) = todo.pop() {
            if seen.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            if seen.len() >= MOST_TOGETHER {
                return undecided("", "too many schemas apply together");
            }
            seen.push(schema);
            let reference = schema.get("$ref").and_then(Value::as_str);
            if let Some(reference) = reference {
                match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                    Some(target) => todo.push(target),
                    None => return undecided("", format!("`$ref` to `{}` is not followed", bounded(reference))),
                }
            }
            if reference.is_none() || self.beside {
                all.push(schema);
                todo.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten());
            }
        }
        Ok(all)
    }
}

const MOST_TOGETHER: usize = 256;
