//! Answers of hooks, byte for byte in the form that an agent accepts as a verdict.
//!
//! Every agent runs the call if it does not understand the answer, and each understands a different form. An answer therefore
//! has exactly the members that the dialect lists, on one line, and a denial always states a reason.

use omen_base::bounded;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::{AnswerForm, Dialect};

/// Answer of a hook: its output and its exit code.
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
    /// Returns the answer that raises no objection to a call. The agent's own rules still apply.
    #[must_use]
    pub fn allow(&self) -> HookAnswer {
        written(&self.answers.allow, "")
    }

    /// Returns the answer to an event that needs no verdict.
    #[must_use]
    pub fn note(&self) -> HookAnswer {
        HookAnswer { exit: 0, stdout: String::new(), stderr: String::new() }
    }

    /// Returns the answer that denies a call.
    #[must_use]
    pub fn deny(&self, reason: &str) -> HookAnswer {
        written(&self.answers.deny, reason)
    }

    /// Returns the answer that refuses a change of settings, or reports a finding about a call that has ended.
    #[must_use]
    pub fn object_to(&self, reason: &str) -> HookAnswer {
        written(&self.answers.settings, reason)
    }

    /// Returns the answer that denies any kind of event, for a hook that could not read the event or has failed.
    #[must_use]
    pub fn fail(&self, reason: &str) -> HookAnswer {
        written(&self.answers.failure, reason)
    }
}

fn written(form: &AnswerForm, reason: &str) -> HookAnswer {
    // Each part is cut separately, so that the help text remains even after a long message.
    let cut: String = reason.split_inclusive(HELP).map(bounded).collect();
    // Cutting turns invisible characters into spaces.
    let reason = if cut.trim().is_empty() { NO_REASON } else { cut.trim() };
    let stdout = form.stdout.as_ref().map(|object| format!("{}\n", filled(object, reason))).unwrap_or_default();
    let stderr = if form.stderr { format!("omen: {reason}\n") } else { String::new() };
    HookAnswer { exit: form.exit, stdout, stderr }
}

/// Replaces `$reason` texts in an object by the reason.
fn filled(form: &Value, reason: &str) -> Value {
    match form {
        Value::String(text) if text == "$reason" => reason.into(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value, reason))).collect())
        }
        other => other.clone(),
    }
}

/// Separator between message and help text.
pub(crate) const HELP: &str = "; help: ";

/// Reason for a denial that has none: an agent would run a call that is denied without a reason.
const NO_REASON: &str = "the gate refuses the call";
