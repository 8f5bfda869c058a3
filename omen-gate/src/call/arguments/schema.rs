//! Rules against the schema of the arguments that they are about: a rule for a member that no call has is a mistake.

use omen_types::pointer::unescape;
use omen_types::suggest::nearest;
use serde_json::{Map, Value};

use super::place::{Step, index};
use super::rule::{Rule, Test};
use super::types::Types;
use crate::base::bounded;

/// A rule that does not fit a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The pointer of the rule, as the configuration has it.
    pub pointer: String,
    /// What is wrong, in lower case, with input in backticks.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

/// What of a rule does not fit a schema. Where a schema leaves it open which members there are, nothing is wrong.
pub(super) fn misfit(rule: &Rule, schema: &Map<String, Value>) -> Option<Misfit> {
    let place = rule.place.to_string();
    let found = |message: String, help: String| Some(Misfit { pointer: place.clone(), message, help });
    let (mut here, mut is_open) = applied(schema, [schema]);
    for (depth, step) in rule.place.steps().iter().enumerate() {
        match next(&here, step, depth == 0) {
            Next::Open => return None,
            Next::At(schemas) => (here, is_open) = applied(schema, schemas.into_iter().filter_map(Value::as_object)),
            Next::NoMember(..) | Next::NoArray if is_open => return None,
            Next::NoMember(key, known) => {
                let message = format!(
                    "the rule for `{}` names `{}`, which the tool's `inputSchema` does not have",
                    bounded(&place),
                    bounded(&key)
                );
                let help = match nearest(&key, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{}`?", bounded(near)),
                    None if known.is_empty() => "remove the rule: there are no members".to_owned(),
                    None => format!("its members are {}", bounded(&quoted(&known))),
                };
                return found(message, help);
            }
            Next::NoArray => {
                let message =
                    format!("the rule for `{}` has a `*` where the tool's `inputSchema` has no array", bounded(&place));
                return found(message, "remove the `/*`".to_owned());
            }
        }
    }
    let types = here.iter().filter_map(|schema| types(schema)).reduce(Types::and);
    // Of alternatives, each may have its own type.
    let is_one = here.iter().all(|schema| BRANCHES.iter().all(|key| !schema.contains_key(*key)));
    if let Some(types) = types
        && is_one
        && !rule.tests.contains(&Test::Absent)
        && rule.types().and(types).is_none()
    {
        let message = format!(
            "the rule for `{}` can never hold: it demands {}, and the tool's `inputSchema` has {types}",
            bounded(&place),
            rule.types()
        );
        return found(message, "write a rule for that type".to_owned());
    }
    let listed = here.iter().find_map(|schema| schema.get("enum")?.as_array()).filter(|_| is_one)?;
    let wanted = rule.tests.iter().find_map(|test| match test {
        Test::In(values) => Some(values.as_slice()),
        Test::Equals(value) => Some(std::slice::from_ref(value)),
        _ => None,
    })?;
    if wanted.iter().any(|value| listed.contains(value)) {
        return None;
    }
    let message =
        format!("the rule for `{}` can never hold: the tool's `inputSchema` has none of its values", bounded(&place));
    found(
        message,
        format!(
            "its values are {}",
            bounded(&listed.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "))
        ),
    )
}

enum Next<'s> {
    At(Vec<&'s Value>),
    /// The schema does not say what is there.
    Open,
    NoMember(String, Vec<String>),
    NoArray,
}

fn next<'s>(here: &[&'s Object], step: &Step, is_top: bool) -> Next<'s> {
    let get = |key: &'static str| here.iter().filter_map(move |schema| schema.get(key));
    let may_be =
        |wanted: Types| here.iter().filter_map(|schema| types(schema)).all(|types| !types.and(wanted).is_none());
    let as_array = match step {
        Step::Each => true,
        Step::Key(key) => index(key).is_some() && may_be(Types::ARRAY) && !may_be(Types::OBJECT),
    };
    if as_array {
        if !may_be(Types::ARRAY) {
            return Next::NoArray;
        }
        let items: Vec<_> = get("items").collect();
        return if items.is_empty() || get("prefixItems").next().is_some() { Next::Open } else { Next::At(items) };
    }
    let Step::Key(key) = step else { return Next::Open };
    let tables: Vec<_> = get("properties").filter_map(Value::as_object).collect();
    let schemas: Vec<_> = tables.iter().filter_map(|table| table.get(key)).collect();
    if !schemas.is_empty() {
        return Next::At(schemas);
    }
    // As PG-2 has it: at the top, every key has to be named; below, an object without names is a free map.
    let is_open = get("patternProperties").next().is_some()
        || get("additionalProperties").any(|more| more.is_object())
        || tables.is_empty();
    if !is_top && is_open {
        return Next::Open;
    }
    let known = tables.iter().flat_map(|table| table.keys().cloned()).collect();
    Next::NoMember(key.clone(), known)
}

/// A schema, and what stands below it.
type Object = Map<String, Value>;

/// All schemas that may apply where some do: what they refer to, and their branches; and whether there are others, that
/// cannot be found here.
fn applied<'s>(root: &'s Object, schemas: impl IntoIterator<Item = &'s Object>) -> (Vec<&'s Object>, bool) {
    let (mut found, mut is_open): (Vec<&Object>, _) = (Vec::new(), false);
    let mut ahead: Vec<&Object> = schemas.into_iter().collect();
    while let Some(schema) = ahead.pop() {
        if found.len() >= MAX_SCHEMAS {
            is_open = true;
            break;
        }
        if found.iter().any(|other| std::ptr::eq(*other, schema)) {
            continue;
        }
        found.push(schema);
        for key in BRANCHES {
            match schema.get(key) {
                Some(Value::Array(branches)) => ahead.extend(branches.iter().filter_map(Value::as_object)),
                Some(Value::String(reference)) => match referred(root, reference) {
                    Some(schema) => ahead.push(schema),
                    None => is_open = true,
                },
                Some(Value::Object(branches)) if key == "dependentSchemas" => {
                    ahead.extend(branches.values().filter_map(Value::as_object));
                }
                Some(Value::Object(branch)) => ahead.push(branch),
                _ => {}
            }
        }
    }
    (found, is_open)
}

/// What a reference within the document refers to.
fn referred<'s>(root: &'s Object, reference: &str) -> Option<&'s Object> {
    let pointer = reference.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))?;
    let mut steps = pointer.split('/').skip(1);
    let Some(first) = steps.next() else { return Some(root) };
    let first = root.get(unescape(first).as_ref())?;
    let found = steps.try_fold(first, |value, step| match value {
        Value::Array(items) => items.get(index(step)?),
        other => other.get(unescape(step).as_ref()),
    });
    found?.as_object()
}

/// The types that a schema states.
fn types(schema: &Map<String, Value>) -> Option<Types> {
    match schema.get("type")? {
        Value::String(name) => Types::named(name),
        Value::Array(names) => {
            Some(names.iter().filter_map(|name| Types::named(name.as_str()?)).fold(Types::NONE, Types::or))
        }
        _ => None,
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The keywords behind which further schemas apply to the same value.
const BRANCHES: [&str; 9] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];
/// How many schemas are read for one value.
const MAX_SCHEMAS: usize = 1024;
