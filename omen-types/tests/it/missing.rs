//! Helps for missing fields: a value that can be written there, for every field that a schema requires.

use std::collections::BTreeSet;

use omen_codegen::model::Kind;
use omen_types::{Diagnostic, Packet};
use serde_json::{Map, Value};

/// Definition or condition that requires a field, and the field.
type Missing = (String, String);

#[test]
fn the_help_of_a_missing_field_shows_a_value_that_fits() {
    let (mut seen, mut alike) = (BTreeSet::new(), BTreeSet::new());
    for packet in valid_packets() {
        let mut fields = Vec::new();
        places(&packet, &mut String::new(), &mut fields);
        for (object, field) in fields {
            // Objects at the same position with the same fields are alike.
            let names: Vec<_> = packet.pointer(&object).and_then(Value::as_object).unwrap().keys().cloned().collect();
            let place: Vec<_> = object.split('/').filter(|step| step.parse::<usize>().is_err()).collect();
            let packet_type = packet["header"]["packet_type"].to_string();
            if !alike.insert((packet_type, place.join("/"), names, field.clone())) {
                continue;
            }
            let broken = without(&packet, &object, &field);
            let Some(error) = missing(&broken, &object, &field) else { continue };
            if seen.insert((of(&error), field.clone())) {
                check(&broken, &object, &field, &error);
            }
        }
    }
    let unseen: Vec<Missing> = required().into_iter().filter(|missing| !seen.contains(missing)).collect();
    assert_eq!(unseen, [], "no packet of the examples has these");
}

/// If its type is unknown, a payload is only known to be an object.
#[test]
fn the_help_of_a_missing_part_fits_where_the_type_is_unknown() {
    let mut packet = valid_packets().next().unwrap();
    packet["header"]["packet_type"] = "Unknown".into();
    for part in ["header", "mcp", "payload"] {
        let broken = without(&packet, "", part);
        let error = missing(&broken, "", part).expect("an error for a missing part");
        assert!(error.help.as_deref().is_some_and(|help| help.starts_with(&format!("add `\"{part}\": {{"))), "{error}");
        check(&broken, "", part, &error);
    }
}

/// Returns every packet of the examples that matches its schema.
fn valid_packets() -> impl Iterator<Item = Value> {
    let lines = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let lines = lines.flat_map(|(_, text)| text.lines()).filter(|line| line.parse::<Packet>().is_ok());
    lines.map(|line| serde_json::from_str(line).unwrap())
}

/// Collects the fields of all objects in a packet, each with the pointer to its object.
fn places(value: &Value, pointer: &mut String, into: &mut Vec<(String, String)>) {
    let length = pointer.len();
    let mut down = |name: &str, value: &Value| {
        let step = name.replace('~', "~0").replace('/', "~1");
        pointer.push_str(&format!("/{step}"));
        places(value, pointer, into);
        pointer.truncate(length);
    };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| down(name, value));
            into.extend(fields.keys().map(|name| (pointer.clone(), name.clone())));
        }
        Value::Array(elements) => (0..).zip(elements).for_each(|(at, value): (usize, _)| down(&at.to_string(), value)),
        _ => {}
    }
}

fn without(packet: &Value, object: &str, field: &str) -> Value {
    let mut broken = packet.clone();
    broken.pointer_mut(object).and_then(Value::as_object_mut).unwrap().remove(field).expect("the field is there");
    broken
}

fn errors(packet: &Value) -> Vec<Diagnostic> {
    packet.to_string().parse::<Packet>().err().map(|rejected| rejected.errors).unwrap_or_default()
}

/// Returns the error that reports a field of an object as missing.
fn missing(broken: &Value, object: &str, field: &str) -> Option<Diagnostic> {
    let is_it = |error: &Diagnostic| {
        error.pointer.as_deref() == Some(object) && error.message.starts_with(&format!("missing field `{field}`"))
    };
    errors(broken).into_iter().find(is_it)
}

/// Returns what requires the field: the definition that the message names, or the condition that it cites.
fn of(error: &Diagnostic) -> String {
    let rest = error.message.splitn(3, '`').nth(2).unwrap_or_default();
    rest.strip_prefix(" in ").or_else(|| rest.strip_prefix(": ")).unwrap_or_else(|| panic!("{error}")).to_owned()
}

/// Returns every field that a definition requires, always or conditionally.
fn required() -> BTreeSet<Missing> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let mut all = BTreeSet::new();
    for (name, def) in &model.defs {
        let Kind::Object(object) = &def.kind else { continue };
        let always = object.fields.iter().filter(|field| field.required);
        all.extend(always.map(|field| {
            // Without a header, the type of a packet is unknown.
            let is_type = object.packet.is_some() && field.name == "header";
            (if is_type { "a packet".to_owned() } else { name.clone() }, field.name.clone())
        }));
        all.extend(object.conditionals.iter().map(|conditional| {
            let sentence = conditional.description.split(". ").next().unwrap_or_default().trim_end_matches('.');
            let mut letters = sentence.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            (first.chain(letters).collect(), conditional.requires.clone())
        }));
    }
    all
}

/// Writes what the help shows, and checks that it causes no error there.
#[track_caller]
fn check(broken: &Value, object: &str, field: &str, error: &Diagnostic) {
    let help = error.help.as_deref().unwrap_or_default();
    let shown = help.strip_prefix("add `").and_then(|rest| rest.split_once("`: "));
    let (shown, about) = shown.unwrap_or_else(|| panic!("{object}/{field}: {help}"));
    assert!(shown.starts_with(&format!("\"{field}\": ")) && !about.is_empty(), "{object}/{field}: {help}");
    // An object may be shown in outline: its own fields have helps of their own.
    let is_outline = shown.contains("{…}");
    // A second field is one that the value of the first requires.
    let shown = shown.replace("` and `", ", ").replace("{…}", "{}");
    let fields: Map<String, Value> = serde_json::from_str(&format!("{{{shown}}}"))
        .unwrap_or_else(|error| panic!("{object}/{field}: {error}: {help}"));
    let mut fixed = broken.clone();
    fixed.pointer_mut(object).and_then(Value::as_object_mut).unwrap().extend(fields);
    let place = format!("{object}/{field}");
    for error in errors(&fixed) {
        let pointer = error.pointer.as_deref().unwrap_or_default();
        let is_there = pointer == place || pointer.starts_with(&format!("{place}/"));
        let is_inside = is_outline && error.message.starts_with("missing field ");
        assert!(!is_there || is_inside, "{place}: {}: {help}", error.message);
    }
}
