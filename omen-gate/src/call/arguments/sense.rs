//! Rules that can never hold: mistakes of the configuration, found before any call.

use std::path::Path;

use super::place::{Place, Step, index};
use super::rule::{Rule, Test};
use super::types::Types;

/// A rule that no call can satisfy, or that demands nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nonsense {
    /// Which rule.
    pub(crate) rule: usize,
    /// The key of it that is at fault; none if it is the rule as a whole.
    pub(crate) key: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// What makes no sense in the rules of one tool.
pub(crate) fn nonsense(rules: &[Rule]) -> Vec<Nonsense> {
    let mut found = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let place = &rule.place;
        let mut wrong = |key, message: String, help: &str| {
            found.push(Nonsense { rule: index, key, message, help: help.to_owned() });
        };
        match by_itself(rule) {
            Some((key, message, help)) => wrong(key, message, help),
            None => {
                for other in rules {
                    if let Some(why) = against(rule, other) {
                        let message = format!("the rule for `{place}` can never hold: {why}");
                        wrong(None, message, "remove one of the two rules, or make the member `optional`");
                    }
                }
            }
        }
    }
    found
}

type Found = (Option<&'static str>, String, &'static str);

/// What is wrong with a rule alone.
fn by_itself(rule: &Rule) -> Option<Found> {
    let place = &rule.place;
    let never = |why: &str| format!("the rule for `{place}` can never hold: {why}");
    let [first, others @ ..] = rule.tests.as_slice() else {
        let message = format!("the rule for `{place}` demands nothing");
        return Some((
            None,
            message,
            "say what the value has to be: `under`, `in`, `equals`, `min`, `max`, `matches`, `length`, `host`, or `absent`",
        ));
    };
    if rule.tests.contains(&Test::Absent) && (!others.is_empty() || rule.optional) {
        return Some((
            Some("absent"),
            never("a member that is absent has no value"),
            "keep `absent` alone, or remove it",
        ));
    }
    if *first == Test::Absent {
        return None;
    }
    for test in &rule.tests {
        let why = match test {
            Test::In(values) if values.is_empty() => "no value is in an empty list",
            Test::Under(under) if under.folders.is_empty() => "no path is under none of the folders",
            Test::Host(urls) if urls.hosts.is_empty() || urls.schemes.is_empty() => "no URL has no host or scheme",
            Test::Length(length) if length.is_empty() => "`min` is larger than `max`",
            Test::Min(min) if rule.tests.iter().any(|other| matches!(other, Test::Max(max) if max < min)) => {
                "`min` is larger than `max`"
            }
            _ => continue,
        };
        return Some((Some(test.key()), never(why), "write what a call may pass"));
    }
    if rule.types().is_none() {
        let keys: Vec<_> = rule.tests.iter().map(|test| format!("`{}`", test.key())).collect();
        let why = format!("no value is of the types that {} demand", keys.join(" and "));
        return Some((None, never(&why), "keep the demands for one type: a path, a URL, a number, a text or an array"));
    }
    let (listed, others): (Vec<_>, Vec<_>) =
        rule.tests.iter().partition(|test| matches!(test, Test::In(_) | Test::Equals(_)));
    // A folder is asked for when a call is judged, not here.
    let others = || others.iter().chain(listed.iter().skip(1)).filter(|test| !matches!(test, Test::Under(_)));
    let values = match listed.first() {
        Some(Test::In(values)) => values.as_slice(),
        Some(Test::Equals(value)) => std::slice::from_ref(value),
        _ => return None,
    };
    let passes = |value: &serde_json::Value| others().all(|test| test.judge(value, Path::new("")).is_ok());
    if values.iter().any(passes) {
        return None;
    }
    let key = listed.first().map(|test| test.key());
    Some((key, never("no value that it lists satisfies its other demands"), "list a value that does"))
}

/// Why a rule cannot hold if another one holds.
fn against(rule: &Rule, other: &Rule) -> Option<String> {
    let step = rule.place.beyond(&other.place)?;
    if rule.optional || rule.tests.contains(&Test::Absent) {
        return None;
    }
    let outer: &Place = &other.place;
    if other.tests.contains(&Test::Absent) {
        return Some(format!("`{outer}` has to be absent"));
    }
    let holds_members = match step {
        Step::Each => Types::ARRAY,
        Step::Key(key) if index(key).is_some() => Types::ARRAY.or(Types::OBJECT),
        Step::Key(_) => Types::OBJECT,
    };
    other.types().and(holds_members).is_none().then(|| format!("`{outer}` has to be {}", other.types()))
}
