//! Replayed calls and the verdicts on them.

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::base::{Blocked, GateCode, ToolId};
use crate::catalog::Pin;
use crate::request::messages::EPISODE;
use crate::request::order_log::JudgedEntry;
use omen_audit::Logged;

/// Verdict of a policy on a replayed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// The policy allows the call.
    Allow,
    /// The policy allows the call after a confirmation (G3).
    Confirm,
    /// The policy refuses the call.
    Deny(Blocked),
    /// The recorded data is insufficient, for this reason.
    Undecidable(&'static str),
    /// The recorded data is insufficient for an order rule; names the rule and what the log lacks.
    UndecidableOrder(String),
}

impl ReplayVerdict {
    /// Combines the verdict with that of the order rules. A certain refusal takes precedence.
    pub(super) fn with_order(self, judged: &JudgedEntry) -> Self {
        match (self, judged.finding()) {
            (verdict, None) | (verdict @ Self::Deny(_), _) => verdict,
            (_, Some(finding)) if !finding.is_undecided => Self::Deny(finding.blocked()),
            (verdict @ Self::Undecidable(_), _) => verdict,
            (_, Some(finding)) => {
                let rule = finding.rule.as_ref().map(|rule| format!("`{rule}`: ")).unwrap_or_default();
                Self::UndecidableOrder(format!("{rule}{}", finding.message))
            }
        }
    }
}

/// Call in a log, with the verdicts of both policies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReplayedCall {
    /// Number of the call's entry.
    pub entry: u64,
    /// Time of the call's entry.
    pub time: String,
    /// Turn of the call.
    pub turn: Option<String>,
    /// Call as recorded.
    pub call: ReplayCall,
    /// Verdicts of the old and the new policy.
    pub verdicts: (ReplayVerdict, ReplayVerdict),
}

/// Requested call, for replay.
#[derive(Clone, Debug)]
pub struct ReplayCall {
    /// Called tool.
    pub tool: ToolId,
    /// Recorded arguments, as far as known.
    pub args: Option<Map<String, Value>>,
    /// Pin of the tool's form at that time, if known.
    pub pin: Option<Pin>,
    /// Time of the request. Calls without a time do not count towards rate limits.
    pub time: Option<SystemTime>,
    /// Refusal that does not depend on the policy, e.g. for arguments that do not match the schema (PG-2).
    pub refused: Option<Blocked>,
}

impl ReplayCall {
    /// Returns the call in a log entry, if the entry is an intent or a refusal. A refusal recorded in shadow mode is
    /// skipped, because the entry of the call follows it.
    #[must_use]
    pub fn of_entry(entry: Logged<'_>) -> Option<Self> {
        let data = entry.data();
        let text = |member: &str| data.get(member).and_then(Value::as_str);
        let is_denied = text("outcome") == Some("denied");
        let code = text("code").and_then(|code| code.parse::<GateCode>().ok());
        match entry.kind().as_str() {
            "intent" => {}
            // A gate's policy does not affect what an episode refuses.
            "decision" if text("stage") == Some(EPISODE) => return None,
            // Refused before the call; PG-4 and PG-5 refuse answers, after the call was made.
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
