//! Refusals as data, for programs: the rule, what it needs, and the nearest earlier call.
//!
//! Like the text of a refusal, the data names tools, members, durations and the operator's limits, never argument values.

use serde_json::{Map, Value, json};

use crate::judge::{Cause, Owed, Refusal, WhyNot};
use crate::rules::Tool;

impl Refusal {
    /// Returns the members of a decision: `rule`, `needs`, `nearest`, `retry_after_ms` and `owed`, each if present.
    #[must_use]
    pub fn data(&self) -> Map<String, Value> {
        let rule = self.rule.as_ref().map(|(_, _, path)| json!(path)).filter(|path| path != "");
        let owed = (!self.owed.is_empty()).then(|| self.owed.iter().map(Owed::data).collect());
        let (needs, nearest) = self.cause.data();
        let members = [
            ("rule", rule),
            ("needs", needs),
            ("nearest", nearest),
            ("retry_after_ms", self.retry_after_ms.map(Value::from)),
            ("owed", owed),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

impl Cause {
    /// Returns what the call needs, and the nearest or forbidding earlier call.
    fn data(&self) -> (Option<Value>, Option<Value>) {
        match self {
            Self::Missing(missing) => {
                let mut needs = needed(&missing.tools, &missing.members);
                needs.extend(missing.within_ms.map(|ms| ("within_ms".to_owned(), json!(ms))));
                needs.extend((missing.times.0 > 1).then(|| ("times".to_owned(), json!(missing.times.0))));
                let nearest = missing.nearest.as_ref();
                let nearest = nearest.map(|call| earlier(&call.tool, call.entry, call.age_ms, &call.why.short()));
                (Some(needs.into()), nearest)
            }
            Self::Forbidden { tool, age_ms, entry, may_have_run, lifted_by, members } => {
                let why = if *may_have_run { "may have run" } else { "was called" };
                let needs = (!lifted_by.is_empty()).then(|| needed(lifted_by, members).into());
                (needs, Some(earlier(tool, *entry, *age_ms, why)))
            }
            Self::Waited { tools, .. } => (Some(needed(tools, &[]).into()), None),
            Self::Member { pointer, .. } => (Some(needed(&[], std::slice::from_ref(pointer)).into()), None),
            Self::Full { limit, sum, used, .. } => {
                let mut needs = needed(&[], &[]);
                needs.insert("limit".to_owned(), json!(limit));
                needs.extend(sum.as_ref().filter(|at| !at.is_empty()).map(|at| ("members".to_owned(), json!([at]))));
                // The remainder is known only if every counted call belongs to this session.
                needs.extend(used.map(|used| ("left".to_owned(), json!(limit.saturating_sub(used)))));
                (Some(needs.into()), None)
            }
            Self::Condition(refusal) => refusal.cause.data(),
            Self::Unrecorded | Self::Changed(_) | Self::Memory => (None, None),
        }
    }
}

impl Owed {
    /// Returns the members `tools`, `entry` and `members` of the debt.
    #[must_use]
    pub fn data(&self) -> Value {
        let mut data = needed(&self.tools, &self.members);
        data.extend(self.opener.1.map(|entry| ("entry".to_owned(), json!(entry))));
        data.into()
    }
}

impl WhyNot {
    /// Returns the reason in a few words.
    fn short(&self) -> String {
        match self {
            Self::Outcome(outcome) => (*outcome).to_owned(),
            Self::TooOld => "too old".to_owned(),
            Self::Other(members) => format!("other {}", members.join(", ")),
            Self::Differs => "does not fit".to_owned(),
            Self::Cancelled(by) => format!("cancelled by {by}"),
            Self::OtherSession => "other session".to_owned(),
        }
    }
}

/// Returns the tools, any one of which suffices, and the members. Empty lists are omitted.
fn needed(tools: &[Tool], members: &[String]) -> Map<String, Value> {
    let names: Vec<_> = tools.iter().map(ToString::to_string).collect();
    let tools = (!names.is_empty()).then(|| ("tools".to_owned(), json!(names)));
    tools.into_iter().chain((!members.is_empty()).then(|| ("members".to_owned(), json!(members)))).collect()
}

fn earlier(tool: &Tool, entry: Option<u64>, age_ms: u64, why: &str) -> Value {
    let mut call = json!({ "tool": tool.to_string(), "age_ms": age_ms, "why": why });
    if let (Some(entry), Some(call)) = (entry, call.as_object_mut()) {
        call.insert("entry".to_owned(), json!(entry));
    }
    call
}
