//! Names of envelope parts that the proxy supplies or reads. A test checks them against the schema.

pub(super) const BUDGETS: &str = "budgets";
pub(super) const EVIDENCE: &str = "evidence";
pub(super) const EPISTEMICS: &str = "epistemics";
pub(super) const ROUTING: &str = "routing";
/// Member with the tools that a decision to act names.
pub(super) const TOOLS: &str = "tools";
pub(super) const TOOLS_STATE: &str = "tools_state";
