//! PG-1: parsing of plans.

use super::{Plan, PlanLimits, form, text};
use crate::base::Blocked;

impl Plan {
    /// Parses the planner's text. Reports one error, the first in this order: size, text around the object, syntax,
    /// members, names.
    ///
    /// # Errors
    /// PG-1 for an invalid plan, PG-T for a `final_answer` without a question, and PG-2 for an invalid name of a server
    /// or tool, which no catalogue can contain.
    pub fn parse(text: &str, limits: &PlanLimits) -> Result<Self, Blocked> {
        form::plan(text::object(text, limits)?)
    }
}
