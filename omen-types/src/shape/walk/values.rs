//! Values that are not objects: their types, bounds and lists.

use std::fmt::Write as _;
use std::ops::Range;

use omen_schema::json::{JsonType, Scanner};

use super::super::example;
use super::super::{Shape, ShapeKind};
use super::Walk;
use super::expected::{expectation, is_integer, is_number, is_written};
use super::helps::{corrected, instead_of_null};
use super::remedy::Remedy;
use super::words::{LONGEST_LIST, elements, quoted};
use crate::suggest::{completed, list, nearest};

impl Walk {
    /// Walks a string with a check.
    pub(super) fn text(
        &mut self,
        scanner: &mut Scanner<'_>,
        shape: &'static Shape,
        expects: &str,
        holds: fn(&str) -> bool,
    ) {
        let (text, span) = scanner.string();
        if holds(&text) {
            return;
        }
        let name = self.name(shape);
        let message = if text.is_empty() {
            format!("{name} is empty; expected {expects}")
        } else {
            format!("invalid {} {} for {name}; expected {expects}", shape.name, quoted(&text))
        };
        let help = corrected(shape, &text).unwrap_or_else(|| self.such_as(shape).into());
        self.error(span, message, Some(help));
    }

    pub(super) fn wrong_type(&mut self, scanner: &mut Scanner<'_>, shape: &'static Shape, found: JsonType) {
        // The content is checked only for repeated keys.
        let start = scanner.at();
        let mut span = start..start;
        let before = self.errors.len();
        self.free_spanned(scanner, &mut span);
        let inner = self.errors.split_off(before.min(self.errors.len()));
        let (name, expected) = (self.name(shape), expectation(shape));
        let raw = scanner.slice(&span);
        let help = match found {
            JsonType::Null if !self.pointer.is_empty() => {
                self.field.map_or_else(|| self.such_as(shape), instead_of_null).into()
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

    /// Reports a string or number that no branch of a union accepts.
    pub(super) fn outside(
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
        let near = nearest(text, values.clone().copied()).or_else(|| completed(text, values.copied()));
        let help = match near {
            Some(near) => Remedy::near_value(near, text),
            None => self.such_as_described(shape).into(),
        };
        let message =
            format!("invalid value {} for {}; expected {}", quoted(text), self.name(shape), expectation(shape));
        self.error(span, message, Some(help));
    }

    pub(super) fn enumeration(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, values: &[&'static str]) {
        let (text, span) = scanner.string();
        if values.contains(&text.as_ref()) {
            return;
        }
        let values = || values.iter().copied();
        let expected = format!("expected one of {}", list(values()));
        let mut message = format!("invalid value {} for {}", quoted(&text), self.name(shape));
        // A longer list would obscure the wrong value.
        if expected.len() <= LONGEST_LIST {
            let _ = write!(message, "; {expected}");
        }
        let help = match nearest(&text, values()).or_else(|| completed(&text, values())) {
            Some(near) => Remedy::near_value(near, &text),
            None => format!("write one of {}", list(values())).into(),
        };
        self.error(span, message, Some(help));
    }

    pub(super) fn integer(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, min: u64, max: u64) {
        let span = scanner.scalar();
        let raw = scanner.slice(&span);
        if !is_integer(raw, min, max) {
            self.invalid(span, shape, raw);
        }
    }

    pub(super) fn number(&mut self, scanner: &mut Scanner<'_>, shape: &Shape, min: Option<f64>, max: Option<f64>) {
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

    pub(super) fn array(
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
                    let element = example::short(example::of_shape(item), item);
                    format!("add {}, such as `{element}`", elements(min - count))
                }
                Some(_) => format!("remove {}", elements(count - max.unwrap_or(count))),
            };
            self.error(span, format!("expected {expected} in {}, found {count}", self.name(shape)), Some(help));
        }
    }
}
