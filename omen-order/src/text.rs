//! Texts of refusals and findings. The wording is in `gate.json`; this module fills in its placeholders.
//!
//! A text names tools, members, durations and the operator's limits, never argument values.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::engine::{Finding, HowEnded, JudgedCall};
use crate::judge::{Cause, MissingPremise, Owed, Refusal, Verdict, WhyNot};
use crate::rules::{Policy, Premise, Rule, RuleKind, Tool, Until, shown};

/// Message and help of a refusal or a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Description of the problem, in lower case, with input in backticks.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

#[derive(Deserialize)]
struct File {
    order: BTreeMap<String, String>,
}

static WORDING: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let json = omen_schema::file("gate.json").unwrap_or_default();
    serde_json::from_str::<File>(json).map_or_else(|_| BTreeMap::new(), |file| file.order)
});

/// Fills in the placeholders of a wording.
fn fill(key: &str, values: &[(&str, &str)]) -> String {
    let mut text = WORDING.get(key).cloned().unwrap_or_else(|| key.to_owned());
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// Returns the names in backticks, separated by commas and `word`.
fn any_of<T: ToString>(names: &[T], word: &str) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", name.to_string())).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn same(members: &[String]) -> String {
    if members.is_empty() { String::new() } else { fill("same", &[("members", &any_of(members, "and"))]) }
}

fn window(within: Option<u64>) -> String {
    within.map_or_else(String::new, |ms| fill("window", &[("time", &shown(ms))]))
}

impl Refusal {
    /// Returns the message and help.
    #[must_use]
    pub fn text(&self) -> Text {
        let tool = self.tool.to_string();
        let text = |message: &str, help: &str, values: &[(&str, &str)]| {
            let values: Vec<_> = values.iter().copied().chain([("tool", tool.as_str())]).collect();
            Text { message: fill(message, &values), help: fill(help, &values) }
        };
        let retry = self.retry_after_ms.map(shown);
        match &self.cause {
            Cause::Missing(missing) => missing_premise(&tool, missing),
            Cause::Forbidden { tool: by, age_ms, may_have_run, lifted_by, members, .. } => {
                let perhaps = if *may_have_run { fill("forbidden.perhaps", &[]) } else { String::new() };
                let help = match (lifted_by.is_empty(), &retry) {
                    (false, _) => "help.lifted",
                    (true, Some(_)) => "help.later",
                    (true, None) => "help.banned",
                };
                let values = [
                    ("by", by.to_string()),
                    ("same", same(members)),
                    ("age", shown(*age_ms)),
                    ("perhaps", perhaps),
                    ("lifts", any_of(lifted_by, "or")),
                    ("retry", retry.unwrap_or_default()),
                ];
                text("forbidden", help, &borrowed(&values))
            }
            Cause::Full { limit, sum, used, within_ms } => {
                let left = used.map(|used| limit.saturating_sub(used));
                let later = retry.map_or_else(String::new, |retry| fill("help.later_too", &[("retry", &retry)]));
                let (message, used_text, help) = match (sum.is_some(), left) {
                    (false, Some(_)) => ("full.calls", "used.calls", "help.wait"),
                    (true, Some(0)) => ("full.sum", "used.sum", "help.wait"),
                    (true, Some(_)) => ("full.sum", "used.sum", "help.smaller"),
                    (false, None) => ("full.calls", "used.hidden", "help.wait"),
                    (true, None) => ("full.sum", "used.hidden", "help.less"),
                };
                let left = left.unwrap_or(0).to_string();
                let count = used.unwrap_or(0).to_string();
                let values = [
                    ("limit", limit.to_string()),
                    ("member", sum.clone().unwrap_or_default()),
                    ("window", window(*within_ms)),
                    ("used", fill(used_text, &[("count", &count), ("left", &left)])),
                    ("left", left),
                    ("later", later),
                ];
                text(message, help, &borrowed(&values))
            }
            Cause::Waited { tools, ms, is_crowded } => {
                let message = match (is_crowded, ms) {
                    (true, _) => "crowded",
                    (false, 0) => "waited.observed",
                    (false, _) => "waited",
                };
                text(message, "help.waited", &[("premise", &any_of(tools, "and")), ("time", &shown(*ms))])
            }
            Cause::Member { pointer, is_missing, is_amount } => {
                let found = fill(if *is_missing { "found.missing" } else { "found.other" }, &[]);
                let message = if *is_amount { "amount" } else { "member" };
                text(message, "help.member", &[("member", pointer), ("found", &found)])
            }
            Cause::Condition(_) => text("condition", "help.condition", &[]),
            Cause::Unrecorded => text("unrecorded", "help.unrecorded", &[]),
            Cause::Changed(age) => text("changed", "help.unrecorded", &[("age", &shown(*age))]),
            Cause::Memory => text("memory", "help.memory", &[]),
        }
    }

    /// Returns the line about debts, for any refusal in the session; empty if there are none.
    #[must_use]
    pub fn owed_line(&self) -> String {
        owed_line(&self.owed)
    }
}

/// Returns the line about a session's debts before its end; empty if there are none.
#[must_use]
pub fn owed_line(owed: &[Owed]) -> String {
    let mut by_tools: BTreeMap<&[Tool], Vec<&Owed>> = BTreeMap::new();
    for owed in owed {
        by_tools.entry(&owed.tools).or_default().push(owed);
    }
    let lines = by_tools.into_iter().map(|(tools, owed)| {
        let entries: Vec<_> = owed.iter().take(SHOWN).map(|owed| opener(owed)).collect();
        let values = [
            ("premise", any_of(tools, "or")),
            ("count", owed.len().to_string()),
            ("s", if owed.len() == 1 { "" } else { "s" }.to_owned()),
            ("entries", entries.join(", ")),
        ];
        fill("owed", &borrowed(&values))
    });
    lines.collect::<Vec<_>>().join(" ")
}

impl Finding {
    /// Returns the message and help.
    #[must_use]
    pub fn text(&self) -> Text {
        let key = match (self.is_uncertain, self.how) {
            (true, _) => "undecidable",
            (false, HowEnded::Ended) => "ended",
            (false, HowEnded::Overdue) => "overdue",
        };
        let values = [
            ("premise", any_of(&self.owed.tools, "or")),
            ("same", same(&self.owed.members)),
            ("entries", opener(&self.owed)),
            ("age", shown(self.owed.age_ms)),
        ];
        Text { message: fill(key, &borrowed(&values)), help: fill("help.owed", &[]) }
    }
}

/// Returns a sentence about the rules on a tool's calls, for its description; `None` if there are no such rules.
#[must_use]
pub fn sentence(policy: &Policy, tool: &Tool) -> Option<String> {
    let rules: Vec<_> = policy.tools.get(tool)?.rules.iter().map(described).collect();
    (!rules.is_empty()).then(|| fill("describe", &[("rules", &rules.join("; "))]))
}

fn described(rule: &Rule) -> String {
    let members = |premise: &Premise| premise.same.iter().map(|pair| pair.arg.to_string()).collect::<Vec<_>>();
    let premise = |premise: &Premise| {
        let until = |until: &Until| if until.is_other { String::new() } else { any_of(&until.tools, "or") };
        let until: Vec<_> = premise.until.iter().map(until).filter(|names| !names.is_empty()).collect();
        let names = any_of(&premise.tools, "or");
        let times = premise.times.to_string();
        let names = if premise.times > 1 { fill("times", &[("times", &times), ("premise", &names)]) } else { names };
        let until = until.join(" or ");
        (format!("{names}{}{}", same(&members(premise)), window(premise.within_ms)), until)
    };
    let with_until = |key: &str, one: &Premise| {
        let (names, until) = premise(one);
        let until = if until.is_empty() { until } else { fill(key, &[("until", &until)]) };
        names + &until
    };
    let text = match &rule.kind {
        RuleKind::After(any) => {
            let any: Vec<_> = any.iter().map(|one| with_until("describe.since", one)).collect();
            fill("describe.after", &[("premise", &any.join(" or "))])
        }
        RuleKind::NeverAfter(one) => fill("describe.never_after", &[("premise", &with_until("describe.until", one))]),
        RuleKind::MaxCalls(limit, one) => {
            let (limit, names) = (limit.to_string(), premise(one).0);
            fill("describe.calls", &[("limit", &limit), ("premise", &names)])
        }
        RuleKind::MaxSum(limit, at, one) => {
            let (limit, names) = (limit.to_string(), premise(one).0);
            fill("describe.sum", &[("limit", &limit), ("member", at), ("premise", &names)])
        }
        RuleKind::BeforeEnd(one) => fill("describe.before_end", &[("premise", &premise(one).0)]),
    };
    if rule.condition.is_some() { fill("describe.if", &[("rule", &text)]) } else { text }
}

impl JudgedCall {
    /// Returns the message and help of a verdict against the call; `None` if it is allowed.
    #[must_use]
    pub fn text(&self) -> Option<Text> {
        let Verdict::Refuse(refusal) = &self.verdict else { return None };
        if !refusal.cause.is_undecided() {
            return Some(refusal.text());
        }
        let entries: Vec<_> = self.related.iter().filter_map(|related| related.entry).take(SHOWN).collect();
        let entries: Vec<_> = entries.iter().map(|entry| fill("entry", &[("number", &entry.to_string())])).collect();
        let key = if entries.is_empty() { "undecided.own" } else { "undecided.earlier" };
        let (tool, entries) = (refusal.tool.to_string(), entries.join(", "));
        let message = fill(key, &[("tool", &tool), ("entries", &entries)]);
        Some(Text { message, help: fill("help.undecided", &[]) })
    }
}

/// Returns the text for a call that was withdrawn while it waited, or that would have to wait again.
#[must_use]
pub fn withdrawn() -> Text {
    Text { message: fill("cancelled", &[]), help: fill("help.cancelled_call", &[]) }
}

/// Maximum number of log entries that a line names.
const SHOWN: usize = 8;

fn opener(owed: &Owed) -> String {
    let (id, entry) = owed.opener;
    fill("entry", &[("number", &entry.unwrap_or(id.0).to_string())])
}

fn missing_premise(tool: &str, missing: &MissingPremise) -> Text {
    let MissingPremise { tools, members, within_ms, times: (times, count), nearest, .. } = missing;
    let tools = any_of(tools, "or");
    let premise = match times {
        0 | 1 => tools.clone(),
        times => fill("times", &[("times", &times.to_string()), ("premise", &tools)]),
    };
    let (kind, by, age, others, outcome) = match nearest.as_ref().map(|nearest| (&nearest.why, nearest.age_ms)) {
        _ if *count > 0 => ("few", String::new(), 0, members.clone(), ""),
        None => ("none", String::new(), 0, members.clone(), ""),
        Some((why, age)) => match why {
            WhyNot::Outcome("still runs") => ("runs", String::new(), age, members.clone(), ""),
            WhyNot::Outcome(outcome) => ("outcome", String::new(), age, members.clone(), *outcome),
            WhyNot::TooOld => ("old", String::new(), age, members.clone(), ""),
            WhyNot::Other(others) => ("other", String::new(), age, others.clone(), ""),
            WhyNot::Differs => ("differs", String::new(), age, members.clone(), ""),
            WhyNot::Cancelled(by) => ("cancelled", by.to_string(), age, members.clone(), ""),
            WhyNot::OtherSession => ("session", String::new(), age, members.clone(), ""),
        },
    };
    let values = [
        ("tool", tool.to_owned()),
        ("premise", premise.clone()),
        ("same", same(members)),
        ("window", window(*within_ms)),
        ("count", count.to_string()),
        ("times", times.to_string()),
        ("members", any_of(&others, "and")),
        ("age", shown(age)),
        ("by", by),
        ("outcome", outcome.to_owned()),
    ];
    let values = borrowed(&values);
    let nearest = fill(&format!("nearest.{kind}"), &values);
    let for_help = values.iter().copied().map(|(name, value)| (name, if name == "premise" { &*tools } else { value }));
    let help: Vec<_> = for_help.collect();
    let message: Vec<_> = values.iter().copied().chain([("nearest", nearest.as_str())]).collect();
    Text { message: fill("missing", &message), help: fill(&format!("help.{kind}"), &help) }
}

fn borrowed<'v>(values: &'v [(&'v str, String)]) -> Vec<(&'v str, &'v str)> {
    values.iter().map(|(name, value)| (*name, value.as_str())).collect()
}
