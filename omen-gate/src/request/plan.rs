//! PG-1 and PG-T: plans.
//!
//! A plan is exactly one JSON object, surrounded only by JSON white space. Its `type` selects one of two forms; no
//! other member can replace it:
//!
//! ```json
//! {"type": "call_tool", "server": "files", "tool": "read_file", "args": {"path": "notes.txt"}}
//! {"type": "final_answer", "answer": "Which file do you mean?", "needs_more_info": true}
//! ```
//!
//! ```
//! use omen_gate::plan::{PlanLimits, Plan};
//!
//! let text = r#"{"type": "call_tool", "server": "files", "tool": "read_file", "args": {"path": "notes.txt"}}"#;
//! let Plan::CallTool(call) = Plan::parse(text, &PlanLimits::default())? else { return Ok(()) };
//! assert_eq!(call.tool().to_string(), "files/read_file");
//!
//! let chatty = Plan::parse(&format!("Sure! {text}"), &PlanLimits::default()).unwrap_err();
//! assert_eq!(chatty.to_string(), "PG-1: there is text before the plan, beginning with `Sure!`");
//! # Ok::<(), omen_gate::Blocked>(())
//! ```

#[cfg(feature = "mcp")]
mod client_call;
mod form;
mod parse;
mod refused;
mod text;

use crate::config;

pub use crate::call::ToolCall;

/// Planner's output: a tool call or a final answer.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Calls a tool.
    CallTool(ToolCall),
    /// Asks the user. This ends the request without a call (PG-T).
    FinalAnswer(FinalAnswer),
}

/// Non-blank question to the user. A plan can end a request only with `needs_more_info` (PG-T).
#[derive(Debug, PartialEq, Eq)]
pub struct FinalAnswer {
    answer: String,
}

/// Limits on the size of a plan. The limits on numbers are fixed: each number must be one that every parser reads
/// alike, within ±(2^53−1), with no more digits than a double carries, and not `-0` (D49).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// Maximum text length in bytes, including white space.
    pub bytes: usize,
    /// Maximum nesting of objects and arrays; the plan itself is level 1. A value above [`MAX_DEPTH`](crate::MAX_DEPTH)
    /// counts as `MAX_DEPTH`, because deeper values have no canonical text.
    pub depth: usize,
}

impl Default for PlanLimits {
    /// Returns the defaults: 64 KiB and 32 levels.
    fn default() -> Self {
        Self { bytes: 64 * 1024, depth: 32 }
    }
}

impl config::Limits {
    /// Returns the limits on plans (PG-1).
    #[must_use]
    pub fn plan(&self) -> PlanLimits {
        PlanLimits { bytes: self.plan_bytes as usize, depth: self.plan_depth as usize }
    }
}

impl FinalAnswer {
    /// Returns the question to the user.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }
}
