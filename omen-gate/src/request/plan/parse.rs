//! PG-1: from a planner's text to a plan.

use super::{Plan, PlanLimits, form, text};
use crate::base::Blocked;

impl Plan {
    /// Reads the planner's output. One error is reported, the first in this order: size, what stands around the object,
    /// its syntax, its members, the names.
    ///
    /// # Errors
    /// PG-1 for an invalid plan, PG-T for a `final_answer` that does not ask for more, and PG-2 for a server or tool
    /// whose name is invalid, so that no catalogue can hold it.
    pub fn parse(text: &str, limits: &PlanLimits) -> Result<Self, Blocked> {
        form::plan(text::object(text, limits)?)
    }
}
