//! The parts of an envelope that the proxy tells apart: what it supplies, and where it looks. A test looks them up in the schema.

pub(super) const BUDGETS: &str = "budgets";
pub(super) const EVIDENCE: &str = "evidence";
pub(super) const EPISTEMICS: &str = "epistemics";
pub(super) const ROUTING: &str = "routing";
/// What a decision to act is about.
pub(super) const TOOLS: &str = "tools";
pub(super) const TOOLS_STATE: &str = "tools_state";
