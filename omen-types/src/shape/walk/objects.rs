//! Objects: their known, missing and unknown fields.

use std::borrow::Cow;
use std::ops::Range;

use omen_schema::json::{JsonType, Scanner};

use super::super::example;
use super::super::{ConditionalShape, FieldShape, ObjectShape, Shape, ShapeKind, WhenShape};
use super::Walk;
use super::remedy::Remedy;
use super::words::{first_sentence, quoted};
use crate::parser::Keys;
use crate::pointer;
use crate::suggest::{list, nearest};

/// Value of a field on which a conditional of an object depends.
enum MemberValue<'t> {
    Text(Cow<'t, str>),
    EmptyArray,
    Other,
}

impl Walk {
    pub(super) fn object(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, object: &'static ObjectShape) {
        let mut keys = Keys::default();
        let mut seen: Vec<(&'static str, MemberValue<'_>, Range<usize>)> = Vec::new();
        let mut misspelt: Vec<(usize, String, &'static str)> = Vec::new();
        let mut next = 0;
        let span = scanner.object(|scanner, key, key_span| {
            // Most packets have their fields in schema order.
            let field = match object.fields.get(next) {
                Some(field) if field.name == key => Some(field),
                _ => object.fields.iter().find(|field| field.name == key),
            };
            next += 1;
            let fresh = keys.insert(key.clone());
            if !fresh {
                self.repeated(&key, key_span.clone());
            }
            match field {
                Some(field) => {
                    let what = if object.conditionals.is_empty() { MemberValue::Other } else { remember(scanner) };
                    let start = scanner.at();
                    self.field(scanner, field);
                    if fresh {
                        seen.push((field.name, what, start..scanner.at()));
                    }
                }
                None if object.metadata && key.starts_with('_') => {
                    self.down(&key, |walk| walk.free(scanner));
                }
                None => {
                    let at = self.errors.len();
                    let near = self.unknown(shape, object, &key, key_span);
                    misspelt.extend(near.map(|near| (at, key.clone().into_owned(), near)));
                    self.down(&key, |walk| walk.free(scanner));
                }
            }
        });
        for (at, _, near) in &misspelt {
            let Some(error) = self.errors.get_mut(*at) else { continue };
            // Renaming it would duplicate the other field.
            if seen.iter().any(|(name, ..)| name == near) {
                error.help = Some(format!("remove it; `{near}` is there already"));
                error.edit = None;
            } else if misspelt.iter().filter(|(.., other)| other == near).count() > 1 {
                error.edit = None;
            }
        }
        let open = span.start..span.start + 1;
        for field in object.fields.iter().filter(|field| field.required) {
            if !seen.iter().any(|(name, ..)| *name == field.name) {
                let misspelt = misspelt.iter().find(|(.., near)| *near == field.name).map(|(_, key, _)| key.as_str());
                let also = consequence(object, field, |name| seen.iter().any(|(seen, ..)| *seen == name));
                self.missing(open.clone(), shape, field, misspelt, also);
            }
        }
        for conditional in object.conditionals {
            self.conditional(&open, object, conditional, &seen);
        }
    }

    pub(super) fn repeated(&mut self, key: &str, span: Range<usize>) {
        self.down(key, |walk| {
            let help = "remove one of the two: readers disagree about which value counts";
            walk.error(span, format!("duplicate field {}", quoted(key)), Some(help.to_owned()));
        });
    }

    /// Reports a field that the object does not have, and returns the field that it resembles.
    fn unknown(
        &mut self,
        shape: &Shape,
        object: &'static ObjectShape,
        key: &str,
        span: Range<usize>,
    ) -> Option<&'static str> {
        let names = || object.fields.iter().map(|field| field.name);
        let near = nearest(key, names());
        let help = match near {
            Some(near) => Remedy::near_name(near, key),
            None if key.starts_with('_') => {
                format!("move {} to the top level of the packet, where metadata is allowed, or remove it", quoted(key))
                    .into()
            }
            None => match home(self.root, key, &mut String::new()) {
                Some(place) => format!("move it to `{place}`, or remove it if it is there already").into(),
                None => format!("remove it; {} has the fields {}", shape.name, list(names())).into(),
            },
        };
        self.down(key, |walk| {
            walk.error(span, format!("unknown field {} in {}", quoted(key), shape.name), Some(help));
        });
        near
    }

    /// Reports a missing field; `misspelt` is the field that may be meant for it, and `also` one that its example requires.
    fn missing(
        &mut self,
        span: Range<usize>,
        shape: &Shape,
        field: &FieldShape,
        misspelt: Option<&str>,
        also: Option<&FieldShape>,
    ) {
        self.rules.push(field.rules);
        let help = match (misspelt, also) {
            (Some(key), _) => format!("rename {}, if that is meant", quoted(key)),
            (None, Some(also)) => self.add_both(field, also),
            (None, None) => self.add(field),
        };
        self.error(span, format!("missing field `{}` in {}", field.name, shape.name), Some(help));
        self.rules.pop();
    }

    fn conditional(
        &mut self,
        open: &Range<usize>,
        object: &'static ObjectShape,
        conditional: &'static ConditionalShape,
        seen: &[(&'static str, MemberValue<'_>, Range<usize>)],
    ) {
        let find = |name: &str| seen.iter().find(|(seen, ..)| *seen == name);
        let applies = match (find(conditional.subject), &conditional.when) {
            (Some((_, MemberValue::Text(text), _)), WhenShape::OneOf(values)) => values.contains(&text.as_ref()),
            (Some((_, MemberValue::EmptyArray, _)), WhenShape::Empty) => true,
            _ => false,
        };
        if !applies {
            return;
        }
        let span = match find(conditional.requires) {
            None => open.clone(),
            Some((_, MemberValue::Text(text), span)) if conditional.non_empty && text.is_empty() => span.clone(),
            Some((_, MemberValue::Text(_), _)) => return,
            Some((_, _, span)) if conditional.non_empty => span.clone(),
            Some(_) => return,
        };
        let field = object.fields.iter().find(|field| field.name == conditional.requires);
        self.rules.push(conditional.rules);
        self.rules.push(field.map_or(&[], |field| field.rules));
        let (name, why) = (conditional.requires, first_sentence(conditional.description));
        let message = match find(name) {
            None => format!("missing field `{name}`: {why}"),
            Some(_) => format!("expected a non-empty string for `{name}`: {why}"),
        };
        let help = field.map(|field| match find(name) {
            None => self.add(field),
            Some(_) => self.spell("write", field),
        });
        self.error(span, message, help);
        self.rules.truncate(self.rules.len().saturating_sub(2));
    }
}

/// Returns the field that an object needs besides a field with its example value, if it does not have it.
fn consequence(
    object: &'static ObjectShape,
    field: &FieldShape,
    has: impl Fn(&str) -> bool,
) -> Option<&'static FieldShape> {
    let value = example::of_field(field);
    let applies = |conditional: &&ConditionalShape| {
        let is_met = match &conditional.when {
            WhenShape::OneOf(values) => values.iter().any(|one| value == format!("\"{one}\"")),
            WhenShape::Empty => value == "[]",
        };
        conditional.subject == field.name && is_met && !has(conditional.requires)
    };
    let required = object.conditionals.iter().find(applies)?.requires;
    object.fields.iter().find(|field| field.name == required)
}

fn remember<'t>(scanner: &Scanner<'t>) -> MemberValue<'t> {
    match scanner.json_type() {
        JsonType::String => MemberValue::Text(scanner.clone().string().0),
        JsonType::Array if scanner.is_empty_array() => MemberValue::EmptyArray,
        _ => MemberValue::Other,
    }
}

/// Returns the object in a packet that has a field, as a JSON pointer. Objects in lists are not searched.
fn home(shape: &'static Shape, key: &str, pointer: &mut String) -> Option<String> {
    let ShapeKind::Object(object) = &shape.kind else { return None };
    if !pointer.is_empty() && object.fields.iter().any(|field| field.name == key) {
        return Some(pointer.clone());
    }
    object.fields.iter().find_map(|field| {
        let length = pointer.len();
        pointer::push(pointer, field.name);
        let found = home(field.shape, key, pointer);
        pointer.truncate(length);
        found
    })
}
