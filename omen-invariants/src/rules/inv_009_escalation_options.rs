//! INV-009: an escalation presents options, gaps and a next step.
//!
//! The schemas carry all of it: two or three options with their members, at least one gap, the next
//! step. The schema stage reports it and carries the codes of E5 and of this rule (D37).

use omen_types::{Code, Diagnostic};

/// Whether a schema error breaks this rule too.
#[must_use]
pub fn concerns(error: &Diagnostic) -> bool {
    error.also.contains(&Code::Inv009)
}
