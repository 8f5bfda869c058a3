//! Simulated agent: its sample events, and its reaction to an answer.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::dialect::install::FailureEffect;
use crate::dialect::member_types::MemberTypes;
use crate::dialect::{AnswerForm, Dialect, EventRole};

/// End of a hook's process, as an agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEnd {
    /// The program was not started.
    Missing,
    /// The process exceeded the agent's timeout.
    Slow,
    /// The process ended.
    Ended {
        /// Exit code; `None` if the process was killed by a signal.
        exit: Option<i32>,
        /// Standard output.
        stdout: String,
        /// Standard error.
        stderr: String,
    },
}

/// Reaction of an agent to the end of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentReaction {
    /// The agent runs the call, subject to its own rules; the hook has no objection.
    Proceeds,
    /// The call is refused, and the agent receives the reason.
    Refuses(String),
    /// The hook failed.
    HookFailed {
        /// What is wrong with the answer.
        why: String,
        /// Whether the agent runs the call nevertheless.
        runs: bool,
    },
}

impl Dialect {
    /// Returns the environment variable that states the agent's version, with a value, for agents that have one.
    #[must_use]
    pub fn version_variable(&self) -> Option<(&str, &str)> {
        Some((self.version.as_ref()?.env.as_deref()?, &self.seen))
    }

    /// Returns a sample event of a role, for a tool and its arguments; `None` if the agent has no such event.
    #[must_use]
    pub fn sample(&self, role: EventRole, tool: &str, input: Map<String, Value>, cwd: &Path) -> Option<Value> {
        let (name, form) = self.events.iter().find(|(_, form)| form.role == role && form.special.is_none())?;
        let mut event = self.common.sample();
        event.extend(form.members.sample());
        let mut set = |member: &str, value: Value| event.insert(member.to_owned(), value);
        set(&self.event_member, name.as_str().into());
        set(&self.members.cwd, cwd.to_string_lossy().into());
        if let Some(member) = self.version.as_ref().and_then(|version| version.member.as_deref()) {
            set(member, self.seen.as_str().into());
        }
        if matches!(role, EventRole::Before | EventRole::After) {
            set(&self.members.tool, tool.into());
            set(&self.members.input, input.into());
        }
        Some(event.into())
    }

    /// Returns the agent's reaction to the end of a hook. Any answer that is not exactly one of the dialect counts as a failure,
    /// since agents ignore what they do not understand.
    #[must_use]
    pub fn reaction(&self, end: &HookEnd) -> AgentReaction {
        let failures = &self.install.failures;
        let failed = |why: &str, effect: FailureEffect| AgentReaction::HookFailed {
            why: why.to_owned(),
            runs: effect == FailureEffect::Runs,
        };
        let HookEnd::Ended { exit, stdout, stderr } = end else {
            return match end {
                HookEnd::Missing => failed("the program was not started", failures.missing),
                _ => failed("the hook exceeded its timeout", failures.slow),
            };
        };
        let answers = &self.answers;
        match exit {
            Some(0) => {}
            Some(2) if !stderr.trim().is_empty() && stdout.is_empty() => {
                return AgentReaction::Refuses(stderr.trim().to_owned());
            }
            Some(2) => {
                return failed("exit code 2 without a reason on standard error, or with output", failures.unreadable);
            }
            Some(_) => return failed("the exit code does not stand for an answer", failures.crash),
            None => return failed("a signal killed the hook", failures.crash),
        }
        let object: Option<Value> = serde_json::from_str(stdout).ok();
        let fits = |form: &AnswerForm| match &form.stdout {
            _ if form.exit != 0 => None,
            None => stdout.is_empty().then(String::new),
            Some(expected) => {
                let mut reason = String::new();
                is_filled(expected, object.as_ref()?, &mut reason).then_some(reason)
            }
        };
        match (fits(&answers.allow), fits(&answers.deny)) {
            (Some(_), _) => AgentReaction::Proceeds,
            (None, Some(reason)) => AgentReaction::Refuses(reason),
            (None, None) => failed("standard output is not a valid answer in the dialect", failures.unreadable),
        }
    }
}

/// Returns whether a value matches a form, with a non-blank reason in place of `$reason`.
fn is_filled(form: &Value, value: &Value, reason: &mut String) -> bool {
    match (form, value) {
        (Value::String(form), Value::String(value)) if form == "$reason" => {
            value.clone_into(reason);
            !value.trim().is_empty()
        }
        (Value::Object(form), Value::Object(value)) => {
            form.len() == value.len()
                && form.iter().all(|(name, form)| value.get(name).is_some_and(|value| is_filled(form, value, reason)))
        }
        _ => form == value,
    }
}

impl MemberTypes {
    /// Returns the required members with sample values of their types.
    fn sample(&self) -> Map<String, Value> {
        let required = self.types().filter(|(name, _)| !name.ends_with('?'));
        let value = |types: &str| match types.split('|').next() {
            Some("string") => json!("omen-hook-doctor"),
            Some("object") => json!({}),
            Some("array") => json!([]),
            Some("number") => json!(1),
            Some("boolean") => json!(false),
            _ => Value::Null,
        };
        required.map(|(name, types)| (name.to_owned(), value(types))).collect()
    }
}
