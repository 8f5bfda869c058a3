//! What is known of calls: tests, members, amounts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Event, Naive, No, Perhaps, Tell, Yes, both};

/// What a configuration reads of calls, as texts.
pub(super) fn read_by(policy: &Value) -> BTreeSet<String> {
    let mut read = BTreeSet::new();
    for (own, entry) in policy["tools"].as_object().unwrap() {
        for rule in entry["rules"].as_array().into_iter().flatten() {
            if let Some(test) = rule.get("if") {
                read.insert(format!("{own} args {test}"));
            }
            let premises: Vec<_> = match rule.get("any") {
                Some(any) => any.as_array().unwrap().iter().collect(),
                None => vec![&rule["premise"]],
            };
            for premise in premises {
                let tools = || premise["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap());
                for tool in tools() {
                    note(&mut read, tool, premise);
                    if let Some(sum) = rule.get("sum") {
                        read.insert(format!("{tool} sum {}", sum["at"]));
                    }
                }
                let owes = rule["kind"] == "owes";
                for pair in premise["same"].as_array().into_iter().flatten() {
                    // The later call is the deciding one, but for what is owed.
                    for tool in tools() {
                        read.insert(if owes { later(tool, pair) } else { earlier(tool, pair) });
                    }
                    read.insert(if owes { earlier(own, pair) } else { later(own, pair) });
                }
                for until in untils(premise) {
                    for tool in policy["tools"].as_object().unwrap().keys().filter(|tool| names(&until, tool)) {
                        note(&mut read, tool, &until);
                        for pair in until["same"].as_array().into_iter().flatten() {
                            read.insert(later(tool, pair));
                        }
                    }
                    for pair in until["same"].as_array().into_iter().flatten() {
                        read.extend(tools().map(|tool| earlier(tool, pair)));
                    }
                }
            }
        }
    }
    read
}

fn note(read: &mut BTreeSet<String>, tool: &str, matcher: &Value) {
    if let Some(test) = matcher.get("where") {
        read.insert(format!("{tool} args {test}"));
    }
    if let Some(test) = matcher.get("answer") {
        read.insert(format!("{tool} answer {test}"));
    }
}

fn later(tool: &str, pair: &Value) -> String {
    format!("{tool} member args {}", pair["arg"])
}

fn earlier(tool: &str, pair: &Value) -> String {
    match pair.get("answer") {
        Some(pointer) => format!("{tool} member answer {pointer}"),
        None => format!("{tool} member args {}", pair["earlier"]),
    }
}

pub(super) fn untils(premise: &Value) -> Vec<Value> {
    match premise.get("until") {
        None => Vec::new(),
        Some(Value::Array(untils)) => untils.clone(),
        Some(until) => vec![until.clone()],
    }
}

pub(super) fn names(matcher: &Value, tool: &str) -> bool {
    let is_named = matcher["tools"].as_array().unwrap().iter().any(|name| name == tool);
    is_named != (matcher["other"] == true)
}

/// Member of a call.
#[derive(Debug)]
pub(super) enum Item {
    Value(Value),
    Missing,
    Odd,
    Unknown,
    Coming,
}

fn comparable(value: Option<&Value>) -> Item {
    match value {
        None => Item::Missing,
        Some(Value::Number(number)) => match number.as_i64() {
            Some(integer) if integer.unsigned_abs() < 1 << 53 => Item::Value(integer.into()),
            _ => Item::Odd,
        },
        Some(value @ (Value::String(_) | Value::Bool(_))) => Item::Value(value.clone()),
        Some(_) => Item::Odd,
    }
}

pub(super) fn same(a: &Item, b: &Item) -> Tell {
    match (a, b) {
        (Item::Missing, _) | (_, Item::Missing) => No,
        (Item::Value(a), Item::Value(b)) => {
            if a == b {
                Yes
            } else {
                No
            }
        }
        _ => Perhaps,
    }
}

impl Naive {
    /// Whether all configurations since the call was made have read something of it.
    fn knows(&self, call: &Event, what: &str) -> bool {
        let since = if call.begun.is_some() { call.epoch } else { self.epochs.len() - 1 };
        self.epochs[since..].iter().all(|epoch| epoch.contains(what))
    }

    /// Whether a call fits `where` and `answer` of a matcher; `coming` is for an answer that has not come.
    pub(super) fn fits(&self, call: &Event, matcher: &Value, coming: Tell) -> Tell {
        let mut fit = Yes;
        if let Some(test) = matcher.get("where") {
            fit = both(fit, self.args_fit(call, test));
        }
        if let Some(test) = matcher.get("answer") {
            let known = self.knows(call, &format!("{} answer {test}", call.tool));
            fit = both(
                fit,
                match (&call.answer, known, call.state) {
                    (_, false, _) => Perhaps,
                    (Some(answer), true, "ok") => judge(test, answer),
                    (None, true, "ok") => Perhaps,
                    _ => coming,
                },
            );
        }
        fit
    }

    pub(super) fn args_fit(&self, call: &Event, test: &Value) -> Tell {
        match &call.args {
            Some(args) if self.knows(call, &format!("{} args {test}", call.tool)) => judge(test, args),
            _ => Perhaps,
        }
    }

    /// Member of the later call of a pair.
    pub(super) fn later(&self, call: &Event, pair: &Value) -> Item {
        self.arg(call, &later(&call.tool, pair), &pair["arg"])
    }

    fn arg(&self, call: &Event, what: &str, pointer: &Value) -> Item {
        match &call.args {
            Some(args) if self.knows(call, what) => comparable(args.pointer(pointer.as_str().unwrap())),
            _ => Item::Unknown,
        }
    }

    /// Member of the earlier call of a pair.
    pub(super) fn earlier(&self, call: &Event, pair: &Value) -> Item {
        let what = earlier(&call.tool, pair);
        match pair.get("answer") {
            None => self.arg(call, &what, &pair["earlier"]),
            Some(_) if !self.knows(call, &what) => Item::Unknown,
            Some(pointer) => match (&call.answer, call.state) {
                (Some(answer), "ok") => comparable(answer.pointer(pointer.as_str().unwrap())),
                (None, "ok") => Item::Unknown,
                _ => Item::Coming,
            },
        }
    }

    /// Amount of a call; an error if it is not one, nothing if it is not known.
    pub(super) fn amount(&self, call: &Event, at: &str) -> Option<std::result::Result<u64, ()>> {
        let args = call.args.as_ref().filter(|_| self.knows(call, &format!("{} sum {at:?}", call.tool)))?;
        let mut values = vec![args];
        for step in at.split('/').skip(1) {
            let mut next = Vec::new();
            for value in values {
                match (step, value) {
                    ("*", Value::Array(items)) => next.extend(items),
                    (step, value) => match value.get(step) {
                        Some(value) => next.push(value),
                        None => return Some(Err(())),
                    },
                }
            }
            values = next;
        }
        let numbers = values.into_iter().map(|value| value.as_u64().filter(|number| *number < 1 << 53).ok_or(()));
        Some(numbers.sum())
    }
}

fn judge(test: &Value, value: &Value) -> Tell {
    let mut all = Yes;
    for (pointer, demands) in test.as_object().unwrap() {
        let member = value.pointer(pointer);
        let is_optional = demands["optional"] == true;
        for (demand, wanted) in demands.as_object().unwrap() {
            let odd = matches!(comparable(member), Item::Odd) && member.is_some_and(Value::is_number);
            let yes = |yes: bool| if yes { Yes } else { No };
            let integer = || match comparable(member) {
                Item::Value(value) => value.as_i64(),
                _ => None,
            };
            let fit = match (demand.as_str(), member) {
                ("optional", _) | ("absent", None) => Yes,
                ("absent", Some(_)) => No,
                (_, None) if is_optional => Yes,
                (_, None) => Perhaps,
                ("equals" | "in", Some(_)) if odd => Perhaps,
                ("equals", Some(value)) => yes(value == wanted),
                ("in", Some(value)) => yes(wanted.as_array().unwrap().iter().any(|wanted| wanted == value)),
                ("min", Some(_)) => integer().map_or(Perhaps, |number| yes(wanted.as_i64().unwrap() <= number)),
                ("max", Some(_)) => integer().map_or(Perhaps, |number| yes(wanted.as_i64().unwrap() >= number)),
                (other, _) => unreachable!("{other}"),
            };
            all = both(all, fit);
        }
    }
    all
}
