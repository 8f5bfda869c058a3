//! PG-1 and PG-T: plans.
//!
//! A plan is exactly one JSON object, surrounded by nothing but JSON white space. Its `type` selects one of two forms;
//! no other member substitutes for it:
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

/// Plan of a planner.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Calls a tool.
    CallTool(ToolCall),
    /// Asks the user. This ends the request without a call (PG-T).
    FinalAnswer(FinalAnswer),
}

/// Non-blank question to the user. A plan ends a request only with `needs_more_info` (PG-T).
#[derive(Debug, PartialEq, Eq)]
pub struct FinalAnswer {
    answer: String,
}

/// Limits of a plan's size. The limits of numbers are fixed: each must be one that every reader parses alike, within
/// ±(2^53−1), with no more digits than a double carries, and not `-0` (D49).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// Longest text in bytes, white space included.
    pub bytes: usize,
    /// Deepest nesting of objects and arrays; the plan itself is level 1. Values above [`MAX_DEPTH`](crate::MAX_DEPTH)
    /// count as that, because deeper values have no canonical text.
    pub depth: usize,
}

impl Default for PlanLimits {
    /// Returns the defaults: 64 KiB, 32 levels.
    fn default() -> Self {
        Self { bytes: 64 * 1024, depth: 32 }
    }
}

impl config::Limits {
    /// Limits of plans (PG-1).
    #[must_use]
    pub fn plan(&self) -> PlanLimits {
        PlanLimits { bytes: self.plan_bytes as usize, depth: self.plan_depth as usize }
    }
}

impl FinalAnswer {
    /// Question to the user.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }
}
