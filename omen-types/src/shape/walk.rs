//! The walk: a shape and a scanner side by side.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use super::scan::JsonType;
use super::{ConditionalShape, FieldShape, ObjectShape, Scanner, Shape, ShapeKind, WhenShape};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::MAX_ERRORS_A_PACKET;
use crate::read::free::Keys;
use crate::suggest::nearest;
use crate::unseen::is_unseen;

/// All schema errors of a value.
pub(crate) fn walk(text: &str, shape: &'static Shape) -> Vec<Diagnostic> {
    let mut walk = Walk::default();
    walk.value(&mut Scanner::new(text), shape);
    walk.done()
}

#[derive(Default)]
struct Walk {
    pointer: String,
    rules: Vec<&'static [Code]>,
    errors: Vec<Diagnostic>,
    more: usize,
}

/// What is remembered of a member for the conditionals of its object.
enum Seen<'t> {
    Text(Cow<'t, str>),
    EmptyArray,
    Other,
}

impl Walk {
    fn done(mut self) -> Vec<Diagnostic> {
        if self.more > 0
            && let Some(last) = self.errors.pop()
        {
            self.errors.push(last.note(format!("and {} more schema errors in this packet", self.more)));
        }
        self.errors
    }

    fn error(&mut self, span: Range<usize>, message: String, help: Option<String>) {
        if self.errors.len() >= MAX_ERRORS_A_PACKET {
            self.more += 1;
            return;
        }
        let mut error = Diagnostic::error(Code::Schema, message).at(self.pointer.clone());
        error.span = Some(span);
        error.help = help;
        for code in self.rules.iter().flat_map(|rules| rules.iter()) {
            if !error.also.contains(code) {
                error.also.push(*code);
            }
        }
        self.errors.push(error);
    }

    /// Goes one step down for the time of `inner`.
    fn down(&mut self, step: &str, rules: &'static [Code], inner: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        self.rules.push(rules);
        inner(self);
        self.rules.pop();
        self.pointer.truncate(length);
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, shape: &'static Shape) {
        let found = scanner.json_type();
        match (&shape.kind, found) {
            (ShapeKind::Object(object), JsonType::Object) => self.object(scanner, shape, object),
            (ShapeKind::Enum(values), JsonType::String) => self.enumeration(scanner, shape, values),
            (ShapeKind::Text { expects, holds }, JsonType::String) => {
                let (text, span) = scanner.string();
                if !holds(&text) {
                    let problem = if text.is_empty() { "the string is empty".into() } else { quoted(&text) };
                    self.error(span, format!("{problem}, where {expects} is expected"), None);
                }
            }
            (ShapeKind::Integer { min, max }, JsonType::Number) => self.integer(scanner, *min, *max),
            (ShapeKind::Number { min, max }, JsonType::Number) => self.number(scanner, *min, *max),
            (ShapeKind::Array { item, min, max }, JsonType::Array) => self.array(scanner, item, *min, *max),
            (ShapeKind::Bool, JsonType::Bool) | (ShapeKind::NullableText, JsonType::String | JsonType::Null) => {
                scanner.scalar();
            }
            (ShapeKind::FreeObject { min }, JsonType::Object) => {
                let start = scanner.at();
                let mut count = 0;
                let span = self.free_object(scanner, &mut count);
                if count < *min {
                    self.error(start..span.end, format!("an object with at least {min} member is expected"), None);
                }
            }
            (ShapeKind::Any, _) => self.free(scanner),
            (ShapeKind::Union(branches), _) => {
                match branches.iter().find(|branch| json_types(branch).contains(&found)) {
                    Some(branch) => self.value(scanner, branch),
                    None => self.wrong_type(scanner, shape, found),
                }
            }
            _ => self.wrong_type(scanner, shape, found),
        }
    }

    fn wrong_type(&mut self, scanner: &mut Scanner<'_>, shape: &'static Shape, found: JsonType) {
        // What is inside is not looked at, save for repeated keys.
        let start = scanner.at();
        let mut span = start..start;
        let before = self.errors.len();
        self.free_spanned(scanner, &mut span);
        let inner = self.errors.split_off(before.min(self.errors.len()));
        let mut message = format!("{} is expected, but this is {}", expectation(shape), found.words());
        if found == JsonType::Null {
            message.push_str("; leave an absent member out");
        }
        self.error(span, message, None);
        self.errors.extend(inner);
    }

    fn enumeration(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, values: &[&'static str]) {
        let (text, span) = scanner.string();
        if values.contains(&text.as_ref()) {
            return;
        }
        let help = match nearest(&text, values.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the values are {}", list(values.iter().copied())),
        };
        self.error(span, format!("{} is no value of {}", quoted(&text), shape.name), Some(help));
    }

    fn integer(&mut self, scanner: &mut Scanner<'_>, min: u64, max: u64) {
        let span = scanner.scalar();
        let raw = scanner.slice(&span);
        let value = raw.parse::<u64>().ok().or_else(|| raw.parse::<f64>().ok().and_then(crate::scalar::integral));
        match value {
            Some(value) if (min..=max).contains(&value) => {}
            _ => {
                let problem = match (value, raw.parse::<f64>()) {
                    (None, Ok(value)) if value.fract() != 0.0 => "is no integer",
                    (Some(value), _) if value < min => "is too small",
                    (_, Ok(value)) if value < 0.0 => "is too small",
                    _ => "is too large",
                };
                self.error(
                    span,
                    format!("{} {problem}", quoted(raw)),
                    Some(format!("an integer from {min} to {max} is expected")),
                );
            }
        }
    }

    fn number(&mut self, scanner: &mut Scanner<'_>, min: Option<f64>, max: Option<f64>) {
        let span = scanner.scalar();
        let raw = scanner.slice(&span);
        let value: f64 = raw.parse().unwrap_or(f64::NAN);
        let problem = if min.is_some_and(|min| value < min) {
            "is too small"
        } else if max.is_some_and(|max| value > max) {
            "is too large"
        } else {
            return;
        };
        let help = match (min, max) {
            (Some(min), Some(max)) => format!("a number from {min} to {max} is expected"),
            (Some(min), None) => format!("a number not below {min} is expected"),
            (_, max) => format!("a number not above {} is expected", max.unwrap_or(f64::INFINITY)),
        };
        self.error(span, format!("{} {problem}", quoted(raw)), Some(help));
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, item: &'static Shape, min: usize, max: Option<usize>) {
        let mut count = 0;
        let span = scanner.array(|scanner, index| {
            count += 1;
            self.down(&index.to_string(), &[], |walk| walk.value(scanner, item));
        });
        let too = if count < min {
            "few"
        } else if max.is_some_and(|max| count > max) {
            "many"
        } else {
            return;
        };
        let wanted = match max {
            Some(max) => format!("from {min} to {max}"),
            None => format!("at least {min}"),
        };
        let plural = if count == 1 { "" } else { "s" };
        self.error(span, format!("too {too} elements: {count} element{plural}, where {wanted} are expected"), None);
    }

    fn object(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, object: &'static ObjectShape) {
        let mut keys = Keys::default();
        let mut seen: Vec<(&'static str, Seen<'_>, Range<usize>)> = Vec::new();
        let span = scanner.object(|scanner, key, key_span| {
            let field = object.fields.iter().find(|field| field.name == key);
            let fresh = keys.insert(key.clone());
            if !fresh {
                self.repeated(&key, key_span.clone());
            }
            match field {
                Some(field) => {
                    let what = remember(scanner);
                    let start = scanner.at();
                    self.down(field.name, field.rules, |walk| walk.value(scanner, field.shape));
                    if fresh {
                        seen.push((field.name, what, start..scanner.at()));
                    }
                }
                None if object.metadata && key.starts_with('_') => {
                    self.down(&key, &[], |walk| walk.free(scanner));
                }
                None => {
                    self.unknown(shape, object, &key, key_span);
                    self.down(&key, &[], |walk| walk.free(scanner));
                }
            }
        });
        let open = span.start..span.start + 1;
        for field in object.fields.iter().filter(|field| field.required) {
            if !seen.iter().any(|(name, ..)| *name == field.name) {
                self.missing(open.clone(), shape, field);
            }
        }
        for conditional in object.conditionals {
            self.conditional(&open, object, conditional, &seen);
        }
    }

    fn repeated(&mut self, key: &str, span: Range<usize>) {
        self.down(key, &[], |walk| {
            walk.error(
                span,
                format!("the member {} is repeated", quoted(key)),
                Some(
                    "give each member once; two values for one name would be read differently by different readers"
                        .into(),
                ),
            );
        });
    }

    fn unknown(&mut self, shape: &Shape, object: &'static ObjectShape, key: &str, span: Range<usize>) {
        let names = || object.fields.iter().map(|field| field.name);
        let help = match nearest(key, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the members of {} are {}", shape.name, list(names())),
        };
        self.down(key, &[], |walk| {
            walk.error(span, format!("{} is no member of {}", quoted(key), shape.name), Some(help));
        });
    }

    fn missing(&mut self, span: Range<usize>, shape: &Shape, field: &FieldShape) {
        self.rules.push(field.rules);
        self.error(
            span,
            format!("the member `{}` of {} is missing", field.name, shape.name),
            Some(format!("add `{}`: {}", field.name, first_sentence(field.description))),
        );
        self.rules.pop();
    }

    fn conditional(
        &mut self,
        open: &Range<usize>,
        object: &'static ObjectShape,
        conditional: &'static ConditionalShape,
        seen: &[(&'static str, Seen<'_>, Range<usize>)],
    ) {
        let find = |name: &str| seen.iter().find(|(seen, ..)| *seen == name);
        let applies = match (find(conditional.subject), &conditional.when) {
            (Some((_, Seen::Text(text), _)), WhenShape::OneOf(values)) => values.contains(&text.as_ref()),
            (Some((_, Seen::EmptyArray, _)), WhenShape::Empty) => true,
            _ => false,
        };
        if !applies {
            return;
        }
        let span = match find(conditional.requires) {
            None => open.clone(),
            Some((_, Seen::Text(text), span)) if conditional.non_empty && text.is_empty() => span.clone(),
            Some((_, Seen::Text(_), _)) => return,
            Some((_, _, span)) if conditional.non_empty => span.clone(),
            Some(_) => return,
        };
        let field = object.fields.iter().find(|field| field.name == conditional.requires);
        self.rules.push(conditional.rules);
        self.rules.push(field.map_or(&[], |field| field.rules));
        self.error(
            span,
            format!(
                "the member `{}` is missing{}: {}",
                conditional.requires,
                if conditional.non_empty { " or empty" } else { "" },
                first_sentence(conditional.description),
            ),
            field.map(|field| format!("add `{}`: {}", field.name, first_sentence(field.description))),
        );
        self.rules.truncate(self.rules.len().saturating_sub(2));
    }

    fn free(&mut self, scanner: &mut Scanner<'_>) {
        let mut span = 0..0;
        self.free_spanned(scanner, &mut span);
    }

    /// Free-form JSON: only repeated keys are wrong.
    fn free_spanned(&mut self, scanner: &mut Scanner<'_>, span: &mut Range<usize>) {
        *span = match scanner.json_type() {
            JsonType::Object => self.free_object(scanner, &mut 0),
            JsonType::Array => {
                scanner.array(|scanner, index| self.down(&index.to_string(), &[], |walk| walk.free(scanner)))
            }
            _ => scanner.scalar(),
        };
    }

    fn free_object(&mut self, scanner: &mut Scanner<'_>, count: &mut usize) -> Range<usize> {
        let mut keys = Keys::default();
        scanner.object(|scanner, key, key_span| {
            if keys.insert(key.clone()) {
                *count += 1;
            } else {
                self.repeated(&key, key_span);
            }
            self.down(&key, &[], |walk| walk.free(scanner));
        })
    }
}

fn remember<'t>(scanner: &Scanner<'t>) -> Seen<'t> {
    match scanner.json_type() {
        JsonType::String => Seen::Text(scanner.clone().string().0),
        JsonType::Array if !scanner.has_element() => Seen::EmptyArray,
        _ => Seen::Other,
    }
}

fn json_types(shape: &Shape) -> &'static [JsonType] {
    match shape.kind {
        ShapeKind::Object(_) | ShapeKind::FreeObject { .. } => &[JsonType::Object],
        ShapeKind::Enum(_) | ShapeKind::Text { .. } => &[JsonType::String],
        ShapeKind::NullableText => &[JsonType::String, JsonType::Null],
        ShapeKind::Integer { .. } | ShapeKind::Number { .. } => &[JsonType::Number],
        ShapeKind::Bool => &[JsonType::Bool],
        ShapeKind::Array { .. } => &[JsonType::Array],
        ShapeKind::Union(_) | ShapeKind::Any => &[],
    }
}

fn expectation(shape: &Shape) -> Cow<'static, str> {
    match &shape.kind {
        ShapeKind::Object(_) => Cow::Owned(format!("an object ({})", shape.name)),
        ShapeKind::FreeObject { .. } => Cow::Borrowed("an object"),
        ShapeKind::Enum(values) => Cow::Owned(format!("one of the strings {}", list(values.iter().copied()))),
        ShapeKind::Text { expects, .. } => Cow::Borrowed(expects),
        ShapeKind::NullableText => Cow::Borrowed("a string or null"),
        ShapeKind::Integer { min, max } => Cow::Owned(format!("an integer from {min} to {max}")),
        ShapeKind::Number { .. } => Cow::Borrowed("a number"),
        ShapeKind::Bool => Cow::Borrowed("a boolean"),
        ShapeKind::Array { .. } => Cow::Borrowed("an array"),
        ShapeKind::Any => Cow::Borrowed("any value"),
        ShapeKind::Union(branches) => {
            let words: Vec<_> = branches.iter().map(|branch| expectation(branch)).collect();
            Cow::Owned(words.join(" or "))
        }
    }
}

/// Input in backticks, at most 80 characters of it, what cannot be seen escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == 80 {
            out.push('…');
            break;
        }
        let _ = if is_unseen(c) { write!(out, "{}", c.escape_default()) } else { write!(out, "{c}") };
    }
    out.push('`');
    out
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").unwrap_or(text.len());
    lower(text.get(..end).unwrap_or(text)).trim_end_matches('.').to_owned()
}

/// Lowers the first letter, unless the word is an acronym or a name in capitals.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
