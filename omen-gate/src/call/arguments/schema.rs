//! Comparison of rules with a tool's schema: a rule for a member that no call can have is a mistake.

use omen_types::pointer::unescape;
use omen_types::suggest::{list, nearest};
use serde_json::{Map, Value};

use super::pointer::{PointerStep, index};
use super::rule::{ArgumentTest, Rule};
use super::types::ValueTypes;
use crate::base::bounded;

/// Rule that contradicts a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// Pointer of the rule, as written in the configuration.
    pub pointer: String,
    /// Message in lower case, with input in backticks.
    pub message: String,
    /// Help: how to fix the error.
    pub help: String,
}

/// Returns the mismatch between a rule and a schema, if any. If the schema leaves members open, every rule fits.
pub(super) fn misfit(rule: &Rule, schema: &Map<String, Value>) -> Option<Misfit> {
    let place = rule.place.to_string();
    let found = |message: String, help: String| Some(Misfit { pointer: place.clone(), message, help });
    let (mut here, mut is_open) = applied(schema, [schema]);
    for (depth, step) in rule.place.steps().iter().enumerate() {
        match next(&here, step, depth == 0) {
            NextSchemas::Open => return None,
            NextSchemas::At(schemas) => {
                (here, is_open) = applied(schema, schemas.into_iter().filter_map(Value::as_object))
            }
            NextSchemas::NoMember(..) | NextSchemas::NoArray if is_open => return None,
            NextSchemas::NoMember(key, known) => {
                let message = format!(
                    "the rule for `{}` names `{}`, which the tool's `inputSchema` does not have",
                    bounded(&place),
                    bounded(&key)
                );
                let help = match nearest(&key, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{}`?", bounded(near)),
                    None if known.is_empty() => "remove the rule: there are no members".to_owned(),
                    None => format!("its members are {}", bounded(&list(known.iter().map(String::as_str)))),
                };
                return found(message, help);
            }
            NextSchemas::NoArray => {
                let message =
                    format!("the rule for `{}` has a `*` where the tool's `inputSchema` has no array", bounded(&place));
                return found(message, "remove the `/*`".to_owned());
            }
        }
    }
    let types = here.iter().filter_map(|schema| types(schema)).reduce(ValueTypes::and);
    // Different branches may allow different types.
    let is_one = here.iter().all(|schema| BRANCHES.iter().all(|key| !schema.contains_key(*key)));
    if let Some(types) = types
        && is_one
        && !rule.tests.contains(&ArgumentTest::Absent)
        && rule.types().and(types).is_none()
    {
        let message = format!(
            "the rule for `{}` can never hold: it requires {}, and the tool's `inputSchema` has {types}",
            bounded(&place),
            rule.types()
        );
        return found(message, "write a rule for that type".to_owned());
    }
    let listed = here.iter().find_map(|schema| schema.get("enum")?.as_array()).filter(|_| is_one)?;
    let wanted = rule.tests.iter().find_map(|test| match test {
        ArgumentTest::In(values) => Some(values.as_slice()),
        ArgumentTest::Equals(value) => Some(std::slice::from_ref(value)),
        _ => None,
    })?;
    if wanted.iter().any(|value| listed.contains(value)) {
        return None;
    }
    let message = format!(
        "the rule for `{}` can never hold: the tool's `inputSchema` allows none of its values",
        bounded(&place)
    );
    found(
        message,
        format!(
            "its values are {}",
            bounded(&listed.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "))
        ),
    )
}

enum NextSchemas<'s> {
    At(Vec<&'s Value>),
    /// The schema leaves the members open.
    Open,
    NoMember(String, Vec<String>),
    NoArray,
}

fn next<'s>(here: &[&'s SchemaObject], step: &PointerStep, is_top: bool) -> NextSchemas<'s> {
    let get = |key: &'static str| here.iter().filter_map(move |schema| schema.get(key));
    let may_be =
        |wanted: ValueTypes| here.iter().filter_map(|schema| types(schema)).all(|types| !types.and(wanted).is_none());
    let as_array = match step {
        PointerStep::Each => true,
        PointerStep::Key(key) => index(key).is_some() && may_be(ValueTypes::ARRAY) && !may_be(ValueTypes::OBJECT),
    };
    if as_array {
        if !may_be(ValueTypes::ARRAY) {
            return NextSchemas::NoArray;
        }
        let items: Vec<_> = get("items").collect();
        return if items.is_empty() || get("prefixItems").next().is_some() {
            NextSchemas::Open
        } else {
            NextSchemas::At(items)
        };
    }
    let PointerStep::Key(key) = step else { return NextSchemas::Open };
    let tables: Vec<_> = get("properties").filter_map(Value::as_object).collect();
    let schemas: Vec<_> = tables.iter().filter_map(|table| table.get(key)).collect();
    if !schemas.is_empty() {
        return NextSchemas::At(schemas);
    }
    // As in PG-2: at the top level, every key must be named; below it, an object without names is a free-form map.
    let is_open = get("patternProperties").next().is_some()
        || get("additionalProperties").any(|more| more.is_object())
        || tables.is_empty();
    if !is_top && is_open {
        return NextSchemas::Open;
    }
    let known = tables.iter().flat_map(|table| table.keys().cloned()).collect();
    NextSchemas::NoMember(key.clone(), known)
}

type SchemaObject = Map<String, Value>;

/// Returns all schemas that may apply along with the given ones, through references and branches, and whether some of
/// them cannot be resolved.
fn applied<'s>(
    root: &'s SchemaObject,
    schemas: impl IntoIterator<Item = &'s SchemaObject>,
) -> (Vec<&'s SchemaObject>, bool) {
    let (mut found, mut is_open): (Vec<&SchemaObject>, _) = (Vec::new(), false);
    let mut ahead: Vec<&SchemaObject> = schemas.into_iter().collect();
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

/// Resolves a reference within the document.
fn referred<'s>(root: &'s SchemaObject, reference: &str) -> Option<&'s SchemaObject> {
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

fn types(schema: &Map<String, Value>) -> Option<ValueTypes> {
    match schema.get("type")? {
        Value::String(name) => ValueTypes::named(name),
        Value::Array(names) => Some(
            names.iter().filter_map(|name| ValueTypes::named(name.as_str()?)).fold(ValueTypes::NONE, ValueTypes::or),
        ),
        _ => None,
    }
}

/// Keywords whose schemas apply to the same value.
const BRANCHES: [&str; 9] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];
/// Maximum number of schemas read for one value.
const MAX_SCHEMAS: usize = 1024;
