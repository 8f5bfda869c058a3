//! The walk: a shape and a scanner side by side.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use super::example;
use super::scan::JsonType;
use super::{ConditionalShape, FieldShape, ObjectShape, Scanner, Shape, ShapeKind, WhenShape};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::MAX_ERRORS_A_PACKET;
use crate::parser::Keys;
use crate::pointer;
use crate::suggest::nearest;
use crate::unseen::is_unseen;

/// All schema errors of a value.
pub(crate) fn walk(text: &str, shape: &'static Shape) -> Vec<Diagnostic> {
    let mut walk =
        Walk { root: shape, pointer: String::new(), field: None, rules: Vec::new(), errors: Vec::new(), more: 0 };
    walk.value(&mut Scanner::new(text), shape);
    walk.done()
}

/// The longest list of values that a message holds, in bytes.
const LONGEST_LIST: usize = 80;

struct Walk {
    /// The shape of all that is walked.
    root: &'static Shape,
    pointer: String,
    /// The field whose value is walked; `None` for elements, metadata and free-form values.
    field: Option<&'static FieldShape>,
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
    fn down(&mut self, step: &str, inner: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        pointer::push(&mut self.pointer, step);
        let field = self.field.take();
        inner(self);
        self.field = field;
        self.pointer.truncate(length);
    }

    /// Walks the value of a field.
    fn field(&mut self, scanner: &mut Scanner<'_>, field: &'static FieldShape) {
        self.rules.push(field.rules);
        self.down(field.name, |walk| {
            walk.field = Some(field);
            walk.value(scanner, field.shape);
        });
        self.rules.pop();
    }

    /// The field that the pointer leads to, with the index of an element: `summary`, `assumptions[1]`.
    fn name(&self, shape: &Shape) -> String {
        let mut index = String::new();
        for step in self.pointer.rsplit('/') {
            if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
                index = format!("[{step}]{index}");
            } else if !step.is_empty() {
                return quoted(&format!("{}{index}", pointer::unescape(step)));
            }
        }
        shape.name.to_owned()
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, shape: &'static Shape) {
        let found = scanner.json_type();
        match (&shape.kind, found) {
            (ShapeKind::Object(object), JsonType::Object) => self.object(scanner, shape, object),
            (ShapeKind::Enum(values), JsonType::String) => self.enumeration(scanner, shape, values),
            (ShapeKind::Text { expects, holds, .. }, JsonType::String) => {
                let (text, span) = scanner.string();
                if !holds(&text) {
                    let name = self.name(shape);
                    let message = if text.is_empty() {
                        format!("{name} is empty; expected {expects}")
                    } else {
                        format!("invalid {} {} for {name}; expected {expects}", shape.name, quoted(&text))
                    };
                    let help = corrected(shape, &text).unwrap_or_else(|| self.such_as(shape));
                    self.error(span, message, Some(help));
                }
            }
            (ShapeKind::Integer { min, max }, JsonType::Number) => self.integer(scanner, shape, *min, *max),
            (ShapeKind::Number { min, max }, JsonType::Number) => self.number(scanner, shape, *min, *max),
            (ShapeKind::Array { item, min, max }, JsonType::Array) => self.array(scanner, shape, item, (*min, *max)),
            (ShapeKind::Bool, JsonType::Bool) | (ShapeKind::NullableText, JsonType::String | JsonType::Null) => {
                scanner.scalar();
            }
            (ShapeKind::FreeObject { min }, JsonType::Object) => {
                let start = scanner.at();
                let mut count = 0;
                let span = self.free_object(scanner, &mut count);
                if count < *min {
                    let message = format!("expected at least {min} field in {}, found {count}", self.name(shape));
                    let help = self.such_as(shape);
                    self.error(start..span.end, message, Some(help));
                }
            }
            (ShapeKind::Any, _) => self.free(scanner),
            (ShapeKind::Union(branches), _) => {
                match branches.iter().find(|branch| json_types(branch).contains(&found)) {
                    Some(branch) if takes(branch, scanner) => self.value(scanner, branch),
                    Some(_) => self.outside(scanner, shape, branches, found),
                    None => self.wrong_type(scanner, shape, found),
                }
            }
            _ => self.wrong_type(scanner, shape, found),
        }
    }

    fn wrong_type(&mut self, scanner: &mut Scanner<'_>, shape: &'static Shape, found: JsonType) {
        // What is inside is not checked, save for repeated keys.
        let start = scanner.at();
        let mut span = start..start;
        let before = self.errors.len();
        self.free_spanned(scanner, &mut span);
        let inner = self.errors.split_off(before.min(self.errors.len()));
        let (name, expected) = (self.name(shape), expectation(shape));
        let raw = scanner.slice(&span);
        let help = match found {
            JsonType::Null if !self.pointer.is_empty() => {
                self.field.map_or_else(|| self.such_as(shape), instead_of_null)
            }
            _ => self.instead(shape, found, raw),
        };
        let found = match found {
            JsonType::String if is_written(shape, raw.trim_matches('"')) => format!("the string {}", quoted(raw)),
            _ => found.words().to_owned(),
        };
        let message = if self.pointer.is_empty() {
            format!("expected {expected}, found {found}")
        } else {
            format!("expected {expected} for {name}, found {found}")
        };
        self.error(span, message, Some(help));
        self.errors.extend(inner);
    }

    /// What to write instead of a value of another type.
    fn instead(&self, shape: &Shape, found: JsonType, raw: &str) -> String {
        let unquoted = raw.trim_matches('"');
        let is_short = raw.chars().count() <= LONGEST_LIST;
        let whole = if is_short { raw } else { "…" };
        match (&shape.kind, found) {
            (_, JsonType::String) if is_written(shape, unquoted) => {
                format!("write {} without the quotes", quoted(unquoted))
            }
            (ShapeKind::Text { holds, .. }, JsonType::Number | JsonType::Bool) if holds(raw) => {
                format!("write `\"{raw}\"`, in quotes")
            }
            (ShapeKind::Array { item, .. }, _) if json_types(item).contains(&found) => {
                format!("write `[{whole}]`: a list, even if it has one element")
            }
            _ if self.pointer.is_empty() && found == JsonType::Array => {
                "write each element on a line of its own, without the brackets and the commas between them".to_owned()
            }
            _ if self.pointer.is_empty() => "write one packet per line, as a JSON object".to_owned(),
            _ => self.such_as(shape),
        }
    }

    /// A value to write at the place that is walked.
    fn such_as(&self, shape: &Shape) -> String {
        // An element of a list has no example of its own.
        let value = match self.field {
            Some(field) => example::of_field(field),
            None => example::of(shape),
        };
        format!("write a value such as `{}`", example::short(value, shape))
    }

    /// A string or number that none of the branches of a union takes.
    fn outside(
        &mut self,
        scanner: &mut Scanner<'_>,
        shape: &'static Shape,
        branches: &[&'static Shape],
        found: JsonType,
    ) {
        let raw = scanner.slice(&scanner.clone().scalar());
        let text = raw.trim_matches('"');
        if is_written(shape, text) {
            return self.wrong_type(scanner, shape, found);
        }
        let span = scanner.scalar();
        let values = branches.iter().flat_map(|branch| match &branch.kind {
            ShapeKind::Enum(values) => *values,
            _ => &[],
        });
        let help = match nearest(text, values.copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => self.such_as(shape),
        };
        let message =
            format!("invalid value {} for {}; expected {}", quoted(text), self.name(shape), expectation(shape));
        self.error(span, message, Some(help));
    }

    fn enumeration(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, values: &[&'static str]) {
        let (text, span) = scanner.string();
        if values.contains(&text.as_ref()) {
            return;
        }
        let values = || values.iter().copied();
        let expected = format!("expected one of {}", list(values()));
        let mut message = format!("invalid value {} for {}", quoted(&text), self.name(shape));
        // A longer list would hide the value that is wrong.
        if expected.len() <= LONGEST_LIST {
            let _ = write!(message, "; {expected}");
        }
        let help = match nearest(&text, values()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", list(values())),
        };
        self.error(span, message, Some(help));
    }

    fn integer(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, min: u64, max: u64) {
        let span = scanner.scalar();
        let raw = scanner.slice(&span);
        if !is_integer(raw, min, max) {
            self.invalid(span, shape, raw);
        }
    }

    fn number(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, min: Option<f64>, max: Option<f64>) {
        let span = scanner.scalar();
        let raw = scanner.slice(&span);
        if !is_number(raw, min, max) {
            self.invalid(span, shape, raw);
        }
    }

    fn invalid(&mut self, span: Range<usize>, shape: &Shape, raw: &str) {
        let message =
            format!("invalid value {} for {}; expected {}", quoted(raw), self.name(shape), expectation(shape));
        let help = self.such_as(shape);
        self.error(span, message, Some(help));
    }

    fn array(
        &mut self,
        scanner: &mut Scanner<'_>,
        shape: &Shape,
        item: &'static Shape,
        bounds: (usize, Option<usize>),
    ) {
        let (min, max) = bounds;
        let mut count = 0;
        let span = scanner.array(|scanner, index| {
            count += 1;
            self.down(&index.to_string(), |walk| walk.value(scanner, item));
        });
        if count < min || max.is_some_and(|max| count > max) {
            let expected = match max {
                Some(max) => format!("{min} to {max} elements"),
                None if min == 1 => "at least 1 element".to_owned(),
                None => format!("at least {min} elements"),
            };
            let help = match count.checked_sub(min) {
                None => {
                    let element = example::short(example::of(item), item);
                    format!("add {}, such as `{element}`", elements(min - count))
                }
                Some(_) => format!("remove {}", elements(count - max.unwrap_or(count))),
            };
            self.error(span, format!("expected {expected} in {}, found {count}", self.name(shape)), Some(help));
        }
    }

    fn object(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, object: &'static ObjectShape) {
        let mut keys = Keys::default();
        let mut seen: Vec<(&'static str, Seen<'_>, Range<usize>)> = Vec::new();
        let mut misspelt: Vec<(usize, &'static str)> = Vec::new();
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
                    misspelt.extend(near.map(|near| (at, near)));
                    self.down(&key, |walk| walk.free(scanner));
                }
            }
        });
        for (at, near) in misspelt {
            // To rename it would repeat the other.
            if seen.iter().any(|(name, ..)| *name == near)
                && let Some(error) = self.errors.get_mut(at)
            {
                error.help = Some(format!("remove it; `{near}` is there already"));
            }
        }
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
        self.down(key, |walk| {
            let help = "remove one of the two: readers disagree about which value counts";
            walk.error(span, format!("duplicate field {}", quoted(key)), Some(help.into()));
        });
    }

    /// Reports a field that the object does not have; the field that it resembles.
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
            Some(near) => format!("did you mean `{near}`?"),
            None if key.starts_with('_') => {
                format!("move {} to the top level of the packet, where metadata is allowed, or remove it", quoted(key))
            }
            None => match home(self.root, key, &mut String::new()) {
                Some(place) => format!("remove it; `{key}` belongs in `{place}`"),
                None => format!("remove it; {} has the fields {}", shape.name, list(names())),
            },
        };
        self.down(key, |walk| {
            walk.error(span, format!("unknown field {} in {}", quoted(key), shape.name), Some(help));
        });
        near
    }

    fn missing(&mut self, span: Range<usize>, shape: &Shape, field: &FieldShape) {
        self.rules.push(field.rules);
        self.error(span, format!("missing field `{}` in {}", field.name, shape.name), Some(self.add(field)));
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

    /// How to add a field: its name with an example value, and what it means.
    fn add(&self, field: &FieldShape) -> String {
        self.spell("add", field)
    }

    fn spell(&self, verb: &str, field: &FieldShape) -> String {
        let whole = example::of_field(field);
        let value = example::short(whole.clone(), field.shape);
        let mut help = format!("{verb} `\"{}\": {value}`: {}", field.name, first_sentence(field.description));
        if value != whole && self.root.name.starts_with(char::is_uppercase) {
            let _ = write!(help, "; `omen new {}` prints a whole packet", self.root.name);
        }
        help
    }

    fn free(&mut self, scanner: &mut Scanner<'_>) {
        let mut span = 0..0;
        self.free_spanned(scanner, &mut span);
    }

    /// Free-form JSON: only repeated keys are wrong.
    fn free_spanned(&mut self, scanner: &mut Scanner<'_>, span: &mut Range<usize>) {
        *span = match scanner.json_type() {
            JsonType::Object => self.free_object(scanner, &mut 0),
            JsonType::Array => scanner.array(|scanner, index| self.down(&index.to_string(), |walk| walk.free(scanner))),
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
            self.down(&key, |walk| walk.free(scanner));
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
        ShapeKind::Enum([value]) => Cow::Owned(format!("`{value}`")),
        ShapeKind::Enum(values) => Cow::Owned(format!("one of {}", list(values.iter().copied()))),
        ShapeKind::Text { expects, .. } => Cow::Borrowed(expects),
        ShapeKind::NullableText => Cow::Borrowed("a string or null"),
        ShapeKind::Integer { min, max } => Cow::Owned(format!("an integer from {min} to {max}")),
        ShapeKind::Number { min, max } => Cow::Owned(match (min, max) {
            (None, None) => "a number".to_owned(),
            (Some(min), None) => format!("a number of at least {min}"),
            (None, Some(max)) => format!("a number of at most {max}"),
            (Some(min), Some(max)) => format!("a number from {min} to {max}"),
        }),
        ShapeKind::Bool => Cow::Borrowed("a boolean"),
        ShapeKind::Array { .. } => Cow::Borrowed("an array"),
        ShapeKind::Any => Cow::Borrowed("any value"),
        ShapeKind::Union(branches) => {
            let words: Vec<_> = branches.iter().map(|branch| expectation(branch)).collect();
            Cow::Owned(words.join(" or "))
        }
    }
}

fn is_integer(raw: &str, min: u64, max: u64) -> bool {
    let value = raw.parse::<u64>().ok().or_else(|| raw.parse::<f64>().ok().and_then(crate::scalar::integral));
    value.is_some_and(|value| (min..=max).contains(&value))
}

fn is_number(raw: &str, min: Option<f64>, max: Option<f64>) -> bool {
    let value: f64 = raw.parse().unwrap_or(f64::NAN);
    !min.is_some_and(|min| value < min) && !max.is_some_and(|max| value > max)
}

/// Whether a string holds the number or boolean that is expected.
fn is_written(shape: &Shape, text: &str) -> bool {
    let is_finite = || text.parse::<f64>().is_ok_and(f64::is_finite);
    match &shape.kind {
        ShapeKind::Integer { min, max } => is_finite() && is_integer(text, *min, *max),
        ShapeKind::Number { min, max } => is_finite() && is_number(text, *min, *max),
        ShapeKind::Bool => matches!(text, "true" | "false"),
        ShapeKind::Union(branches) => branches.iter().any(|branch| is_written(branch, text)),
        _ => false,
    }
}

/// Whether a branch of a union takes the string or number that comes next; its parts are walked.
fn takes(branch: &Shape, scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    match &branch.kind {
        ShapeKind::Enum(values) => values.contains(&ahead.string().0.as_ref()),
        ShapeKind::Integer { min, max } => is_integer(ahead.slice(&ahead.clone().scalar()), *min, *max),
        _ => true,
    }
}

/// What to write where a field is `null`.
fn instead_of_null(field: &FieldShape) -> String {
    let value = example::short(example::of_field(field), field.shape);
    if field.required {
        format!("`{}` is required; write a value such as `{value}`", field.name)
    } else {
        format!("leave `{}` out, or write a value such as `{value}`", field.name)
    }
}

/// What to write instead of a string that is not in its form, if the string shows it.
fn corrected(shape: &Shape, text: &str) -> Option<String> {
    let ShapeKind::Text { example, holds, .. } = &shape.kind else { return None };
    let trimmed = Some(text.trim()).filter(|trimmed| !trimmed.is_empty())?;
    let prefix = example.split_inclusive('_').next().filter(|_| example.contains('_')).unwrap_or_default();
    // Of an identifier in another form, what comes after the prefix is kept.
    let stem = prefix.trim_end_matches('_');
    let rest = trimmed.strip_prefix(stem).unwrap_or(trimmed).trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let safe = rest.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    let safe: String = safe.take(LONGEST_LIST).collect();
    let with_t = trimmed.replacen(' ', "T", 1);
    let write = |value: String| holds(&value).then(|| format!("write `\"{value}\"`"));
    let in_utc = |value: String| {
        let offset = "if it is UTC, or its offset instead of the `Z`, such as `+01:00`";
        Some(format!("{} {offset}", write(format!("{value}Z"))?))
    };
    let is_safe = !rest.is_empty() && !prefix.is_empty();
    is_safe
        .then(|| write(format!("{prefix}{safe}")))
        .flatten()
        .or_else(|| write(with_t.clone()))
        .or_else(|| in_utc(with_t.clone()))
        .or_else(|| in_utc(format!("{with_t}T00:00:00")))
}

/// The object of a packet that has a field, as a JSON pointer. Those in lists are not searched.
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

fn elements(count: usize) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
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
