//! PG-1 and PG-T: what a planner may say.
//!
//! A plan is exactly one JSON object, and nothing else is in the text but JSON's own white space. Its `type`
//! says which of two forms it has; no other member stands for it:
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

mod form;
mod parse;
mod refused;
mod text;

use serde_json::{Map, Value};

use crate::base::ToolId;
use crate::config;

/// What a planner wants.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// A tool is to be called.
    CallTool(ToolCall),
    /// The user is to be asked. This ends the request, and calls nothing (PG-T).
    FinalAnswer(FinalAnswer),
}

/// A call as it was planned. It says nothing of whether the call may be made.
#[derive(Debug, PartialEq)]
pub struct ToolCall {
    tool: ToolId,
    args: Map<String, Value>,
}

/// A question to the user, which is not blank: only with `needs_more_info` does a plan end a request (PG-T).
#[derive(Debug, PartialEq, Eq)]
pub struct FinalAnswer {
    answer: String,
}

/// How large a plan may be. What its numbers may be is not a matter of choice: each must be one that every
/// reader takes for the same, within ±(2^53−1) (D49), with no more digits than a double carries, and no `-0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// The most bytes of text, white space included.
    pub bytes: usize,
    /// The most levels of objects and arrays, of which the plan itself is the first. More than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH) count as that: what is deeper has no canonical text.
    pub depth: usize,
}

impl Default for PlanLimits {
    /// 64 KiB, 32 levels.
    fn default() -> Self {
        Self { bytes: 64 * 1024, depth: 32 }
    }
}

impl config::Limits {
    /// What a plan may be (PG-1).
    #[must_use]
    pub fn plan(&self) -> PlanLimits {
        PlanLimits { bytes: self.plan_bytes as usize, depth: self.plan_depth as usize }
    }
}

impl ToolCall {
    /// What a directive of an episode asks for.
    pub(crate) fn new(tool: ToolId, args: Map<String, Value>) -> Self {
        Self { tool, args }
    }

    /// The tool. Whether there is one is not known yet.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.tool
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// Both.
    #[must_use]
    pub fn into_parts(self) -> (ToolId, Map<String, Value>) {
        (self.tool, self.args)
    }
}

impl FinalAnswer {
    /// What to ask the user.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }
}
