//! Refusals of calls, as a model and a program read them.

use omen_order::Refusal as OrderRefusal;
use serde_json::{Map, Value, json};

use crate::base::{Blocked, GateCode, TurnId};
use crate::call::arguments::Recordable;
use crate::call::{CallHash, Ran};
use crate::request::Stopped;

/// Reason why a call was not made, or why its answer is withheld, with the text that a model reads of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRefusal {
    /// Rule that refuses.
    pub code: GateCode,
    /// What is wrong.
    pub reason: String,
    /// The reason without what it quotes of the call or its answer.
    pub unquoted: String,
    /// What to do; may be empty.
    pub help: String,
    /// Whether the tool ran.
    pub ran: Ran,
    /// Whether the text states that the tool failed, in place of a refusal by the gate.
    pub failed: bool,
    /// The answer, where it is shown as text although it is not as its tool promises (PG-4).
    pub untyped: Option<String>,
    /// What the order rules say of it, as members of the decision.
    pub order: Map<String, Value>,
}

impl From<Blocked> for CallRefusal {
    fn from(why: Blocked) -> Self {
        let unquoted = why.unquoted().to_owned();
        let order = why.order().map(OrderRefusal::data).unwrap_or_default();
        Self { order, ..Self::new(why.code, why.message, unquoted, why.help, Ran::No) }
    }
}

impl From<Stopped> for CallRefusal {
    fn from(stopped: Stopped) -> Self {
        let (code, ran, help) = (stopped.code(), stopped.ran(), stopped.help().to_owned());
        match stopped {
            Stopped::Blocked(why) => why.into(),
            Stopped::BrokenOff(why) | Stopped::Unrecorded { why, .. } => Self { ran, ..why.into() },
            Stopped::Failed(fault) => {
                let unquoted = fault.unquoted();
                Self::new(code, fault.to_string(), unquoted, help, ran)
            }
            Stopped::Aborted { why, .. } => Self::new(code, why.to_string(), why.to_string(), help, ran),
        }
    }
}

impl CallRefusal {
    fn new(code: GateCode, reason: String, unquoted: String, help: String, ran: Ran) -> Self {
        Self { code, reason, unquoted, help, ran, failed: false, untyped: None, order: Map::new() }
    }

    /// Returns the reason as it may be written down of a call.
    #[must_use]
    pub fn noted(&self, recordable: &Recordable) -> &str {
        if recordable.may_quote(&self.reason) { &self.reason } else { &self.unquoted }
    }

    /// Returns a text on which a model can act: the rule, the reason, whether the tool ran, and what to do.
    #[must_use]
    pub fn text(&self) -> String {
        let ran = match (self.ran, &self.untyped) {
            (Ran::No, _) => "The tool was not called.",
            (Ran::Unknown, _) => "The tool may have run.",
            (Ran::Yes, _) if self.failed => "The tool ran and failed.",
            (Ran::Yes, Some(_)) => "The tool ran; its answer follows as text, and nothing was read from it.",
            (Ran::Yes, None) => "The tool ran; its answer is withheld.",
        };
        let begin = if self.failed { "The call failed" } else { "Refused by the gate" };
        let help = if self.help.is_empty() { String::new() } else { format!(" What to do: {}.", self.help) };
        format!("{begin} ({}): {}. {ran}{help}", self.code, self.reason)
    }

    /// Returns the decision as data, for programs.
    #[must_use]
    pub fn decision(&self, turn: &TurnId, call: Option<CallHash>) -> Value {
        let mut decision = json!({
            "call": call, "code": self.code.as_str(), "help": self.help, "ran": self.ran, "reason": self.reason,
            "turn": turn,
        });
        if let Value::Object(members) = &mut decision {
            members.extend(self.order.clone());
        }
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> CallRefusal {
        Blocked::new(GateCode::Pg3, "the operator has not allowed the tool", "ask the operator").into()
    }

    #[test]
    fn the_text_has_the_rule_the_reason_whether_the_tool_ran_and_what_to_do() {
        let begin = "Refused by the gate (PG-3): the operator has not allowed the tool.";
        let end = "What to do: ask the operator.";
        assert_eq!(refusal().text(), format!("{begin} The tool was not called. {end}"));
        let with = |ran, untyped: Option<&str>| CallRefusal { ran, untyped: untyped.map(str::to_owned), ..refusal() };
        assert_eq!(with(Ran::Unknown, None).text(), format!("{begin} The tool may have run. {end}"));
        assert_eq!(with(Ran::Yes, None).text(), format!("{begin} The tool ran; its answer is withheld. {end}"));
        let shown = "The tool ran; its answer follows as text, and nothing was read from it.";
        assert_eq!(with(Ran::Yes, Some("42")).text(), format!("{begin} {shown} {end}"));
    }

    #[test]
    fn a_failure_is_named_as_one_and_an_empty_help_is_left_out() {
        let failed = CallRefusal { ran: Ran::Yes, failed: true, help: String::new(), ..refusal() };
        assert_eq!(
            failed.text(),
            "The call failed (PG-3): the operator has not allowed the tool. The tool ran and failed."
        );
    }
}
