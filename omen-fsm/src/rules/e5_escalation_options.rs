//! E5: an escalation presents options (also INV-009).
//!
//! The schema requires two or three options, a gap and the next step, so the schema stage has
//! refused what breaks the rule before the machine sees it (D37). Nothing is left to check here; the
//! rule keeps its place, so that all seven are found where one looks for them.

use omen_types::Diagnostic;

use super::Step;

pub(super) fn check(_: &Step<'_>) -> Option<Diagnostic> {
    None
}
