//! A call that was asked for, and what a policy says of it.

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::base::{Blocked, GateCode, ToolId};
use crate::catalog::Pin;
use crate::request::messages::EPISODE;
use omen_audit::Logged;

/// What a policy says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// It would be made.
    Allow,
    /// It would be made if somebody confirmed it (G3).
    Confirm,
    /// It would be refused.
    Deny(Blocked),
    /// What was recorded does not say: why.
    Undecidable(&'static str),
}

/// A call that was asked for.
#[derive(Clone, Debug)]
pub struct ReplayCall {
    /// The tool.
    pub tool: ToolId,
    /// What is known of its arguments.
    pub args: Option<Map<String, Value>>,
    /// The form of the tool at that time, if it is known.
    pub pin: Option<Pin>,
    /// When it was asked for. Without a time, calls do not count for rates.
    pub time: Option<SystemTime>,
    /// It was refused for what no policy changes, such as arguments that do not fit the schema (PG-2).
    pub refused: Option<Blocked>,
}

impl ReplayCall {
    /// The call that an entry of a log is about: one that was about to be made, or was refused. An entry that says what a
    /// policy would have refused is followed by that of the call.
    #[must_use]
    pub fn of_entry(entry: Logged<'_>) -> Option<Self> {
        let data = entry.data();
        let text = |member: &str| data.get(member).and_then(Value::as_str);
        let is_denied = text("outcome") == Some("denied");
        let code = text("code").and_then(|code| code.parse::<GateCode>().ok());
        match entry.kind().as_str() {
            "intent" => {}
            // No policy of a gate changes what an episode refuses.
            "decision" if text("stage") == Some(EPISODE) => return None,
            // After the call was made, its answer was refused.
            "decision" if is_denied && !matches!(code, Some(GateCode::Pg4 | GateCode::Pg5)) => {}
            "confirmation" if is_denied => {}
            _ => return None,
        }
        let tool: ToolId = serde_json::from_value(data.get("tool")?.clone()).ok()?;
        let refused = code.filter(|code| *code == GateCode::Pg2).map(|code| {
            Blocked::new(code, text("why").unwrap_or_default(), "pass what the tool's `inputSchema` describes")
        });
        Some(Self {
            tool,
            args: data.get("args").and_then(Value::as_object).cloned(),
            pin: text("pin").and_then(|pin| pin.parse().ok()),
            time: humantime::parse_rfc3339(entry.time()).ok(),
            refused,
        })
    }
}
