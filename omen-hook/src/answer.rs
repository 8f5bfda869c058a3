//! Answers of hooks, in the bytes that the agent takes for a verdict.
//!
//! Every agent runs the call if it does not understand the answer, and each understands another one. So an answer has exactly
//! the members that the dialect lists, on one line, and a denial always has a reason.

use omen_base::bounded::bounded;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::{AnswerForm, Dialect};

/// Answer of a hook: what it writes, and how it exits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookAnswer {
    /// Exit code.
    pub exit: u8,
    /// Bytes on standard output.
    pub stdout: String,
    /// Bytes on standard error.
    pub stderr: String,
}

impl Dialect {
    /// Answer that has no objection to a call. The agent's own rules still hold.
    #[must_use]
    pub fn allow(&self) -> HookAnswer {
        written(&self.answers.allow, "")
    }

    /// Answer to an event that needs no verdict.
    #[must_use]
    pub fn note(&self) -> HookAnswer {
        HookAnswer { exit: 0, stdout: String::new(), stderr: String::new() }
    }

    /// Answer that denies a call.
    #[must_use]
    pub fn deny(&self, reason: &str) -> HookAnswer {
        written(&self.answers.deny, reason)
    }

    /// Answer that refuses a change of settings, and that reports a finding about a call that has ended.
    #[must_use]
    pub fn object_to(&self, reason: &str) -> HookAnswer {
        written(&self.answers.settings, reason)
    }

    /// Answer that denies whatever the event was, for a hook that could not read it, or has failed.
    #[must_use]
    pub fn fail(&self, reason: &str) -> HookAnswer {
        written(&self.answers.failure, reason)
    }
}

fn written(form: &AnswerForm, reason: &str) -> HookAnswer {
    // Each part is cut by itself, so that the way out is there even after a long message.
    let cut: String = reason.split_inclusive(HELP).map(bounded).collect();
    // Cutting turns invisible characters into blanks.
    let reason = if cut.trim().is_empty() { NO_REASON } else { cut.trim() };
    let stdout = form.stdout.as_ref().map(|object| format!("{}\n", filled(object, reason))).unwrap_or_default();
    let stderr = if form.stderr { format!("omen: {reason}\n") } else { String::new() };
    HookAnswer { exit: form.exit, stdout, stderr }
}

/// Replaces the text `$reason` in an object.
fn filled(form: &Value, reason: &str) -> Value {
    match form {
        Value::String(text) if text == "$reason" => reason.into(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value, reason))).collect())
        }
        other => other.clone(),
    }
}

/// Separator of what is wrong and how to fix it.
pub(crate) const HELP: &str = "; help: ";

/// Reason of a denial that has none: an agent runs a call that is denied without a reason.
const NO_REASON: &str = "the gate refuses the call";
