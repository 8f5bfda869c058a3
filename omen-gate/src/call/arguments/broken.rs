//! Why a value does not pass.

use serde_json::Value;

use super::types::Types;
use crate::base::bounded;

/// Why a value does not pass.
#[derive(Debug)]
pub(super) struct Why {
    pub(super) why: String,
    pub(super) help: String,
}

/// A value that does not pass: where it stands, by which rule, why, and what to do.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) at: String,
    /// Nothing if the value is not the rule's own, but lies before it.
    pub(super) rule: Option<String>,
    pub(super) why: String,
    pub(super) help: String,
}

impl Why {
    pub(super) fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { why: why.into(), help: help.into() }
    }

    pub(super) fn other_type(expected: Types, found: &Value) -> Self {
        Self::new(format!("expected {expected}, found {}", Types::of(found)), format!("pass {expected}"))
    }
}

impl Broken {
    /// A value on the way to the place, of a type that has no members of this kind.
    pub(super) fn undecided(at: &str, expected: &str, found: &Value) -> Self {
        let why = format!("expected {expected}, found {}", Types::of(found));
        Self { at: bounded(at), rule: None, why, help: format!("pass {expected}") }
    }
}
