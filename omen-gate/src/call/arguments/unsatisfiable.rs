//! Unsatisfiable and redundant rules: configuration mistakes, found before any call.

use std::path::Path;

use super::pointer::{PointerStep, RulePointer, index};
use super::rule::{ArgumentTest, Rule};
use super::types::ValueTypes;

/// Rule that no call can satisfy or that requires nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnsatisfiableRule {
    /// Index of the rule.
    pub(crate) rule: usize,
    /// Key at fault; `None` if the rule as a whole is.
    pub(crate) key: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// Returns the unsatisfiable and redundant rules of one tool.
pub(crate) fn unsatisfiable_rules(rules: &[Rule]) -> Vec<UnsatisfiableRule> {
    let mut found = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let place = &rule.place;
        let mut wrong = |key, message: String, help: &str| {
            found.push(UnsatisfiableRule { rule: index, key, message, help: help.to_owned() });
        };
        match check_alone(rule) {
            Some((key, message, help)) => wrong(key, message, help),
            None => {
                for other in rules {
                    if let Some(why) = conflict_with(rule, other) {
                        let message = format!("the rule for `{place}` can never hold: {why}");
                        wrong(None, message, "remove one of the two rules, or make the member `optional`");
                    }
                }
            }
        }
    }
    found
}

type RuleDefect = (Option<&'static str>, String, &'static str);

fn check_alone(rule: &Rule) -> Option<RuleDefect> {
    let place = &rule.place;
    let never = |why: &str| format!("the rule for `{place}` can never hold: {why}");
    let [first, others @ ..] = rule.tests.as_slice() else {
        let message = format!("the rule for `{place}` requires nothing");
        return Some((
            None,
            message,
            "say what the value has to be: `under`, `in`, `equals`, `min`, `max`, `matches`, `length`, `host`, `command`, or `absent`",
        ));
    };
    if rule.tests.contains(&ArgumentTest::Absent) && (!others.is_empty() || rule.optional) {
        return Some((
            Some("absent"),
            never("a member that is absent has no value"),
            "keep `absent` alone, or remove it",
        ));
    }
    if *first == ArgumentTest::Absent {
        return None;
    }
    for test in &rule.tests {
        let why = match test {
            ArgumentTest::In(values) if values.is_empty() => "an empty list contains no value",
            ArgumentTest::Under(under) if under.folders.is_empty() => "without a folder, no path is allowed",
            ArgumentTest::Host(urls) if urls.hosts.is_empty() || urls.schemes.is_empty() => {
                "without a host and a scheme, no URL is allowed"
            }
            ArgumentTest::Length(length) if length.is_empty() => "`min` is larger than `max`",
            ArgumentTest::Min(min)
                if rule.tests.iter().any(|other| matches!(other, ArgumentTest::Max(max) if max < min)) =>
            {
                "`min` is larger than `max`"
            }
            _ => continue,
        };
        return Some((Some(test.key()), never(why), "write what a call may pass"));
    }
    if rule.types().is_none() {
        let keys: Vec<_> = rule.tests.iter().map(|test| format!("`{}`", test.key())).collect();
        let why = format!("no value has all the types that {} require", keys.join(" and "));
        return Some((None, never(&why), "keep the tests for one type: a path, a URL, a number, a text or an array"));
    }
    let (listed, others): (Vec<_>, Vec<_>) =
        rule.tests.iter().partition(|test| matches!(test, ArgumentTest::In(_) | ArgumentTest::Equals(_)));
    // Folders are resolved when a call is checked, not here.
    let others = || others.iter().chain(listed.iter().skip(1)).filter(|test| !matches!(test, ArgumentTest::Under(_)));
    let values = match listed.first() {
        Some(ArgumentTest::In(values)) => values.as_slice(),
        Some(ArgumentTest::Equals(value)) => std::slice::from_ref(value),
        _ => return None,
    };
    let passes = |value: &serde_json::Value| others().all(|test| test.judge(value, Path::new("")).is_ok());
    if values.iter().any(passes) {
        return None;
    }
    let key = listed.first().map(|test| test.key());
    Some((key, never("none of the listed values passes its other tests"), "list a value that does"))
}

/// Returns the reason why a rule conflicts with another one, if it does.
fn conflict_with(rule: &Rule, other: &Rule) -> Option<String> {
    let step = rule.place.beyond(&other.place)?;
    if rule.optional || rule.tests.contains(&ArgumentTest::Absent) {
        return None;
    }
    let outer: &RulePointer = &other.place;
    if other.tests.contains(&ArgumentTest::Absent) {
        return Some(format!("`{outer}` has to be absent"));
    }
    let holds_members = match step {
        PointerStep::Each => ValueTypes::ARRAY,
        PointerStep::Key(key) if index(key).is_some() => ValueTypes::ARRAY.or(ValueTypes::OBJECT),
        PointerStep::Key(_) => ValueTypes::OBJECT,
    };
    other.types().and(holds_members).is_none().then(|| format!("`{outer}` has to be {}", other.types()))
}
