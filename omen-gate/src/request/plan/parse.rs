//! PG-1: plan parsing.

use super::{Plan, PlanLimits, form, text};
use crate::base::Blocked;

impl Plan {
    /// Parses the planner's text. Reports only the first error, in this order: size, text around the object, syntax,
    /// members, names.
    ///
    /// # Errors
    /// PG-1 for an invalid plan, PG-T for a `final_answer` without a question, and PG-2 for an invalid server or tool
    /// name, which no catalogue can contain.
    pub fn parse(text: &str, limits: &PlanLimits) -> Result<Self, Blocked> {
        form::plan(text::object(text, limits)?)
    }
}
