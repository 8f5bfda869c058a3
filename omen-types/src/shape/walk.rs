//! Parallel walk of a shape and a scanner.
//!
//! Each value is passed to the module for its kind; the other modules contain the texts of messages and help.

mod expected;
mod free;
mod helps;
mod objects;
mod remedy;
mod values;
mod words;

use std::ops::Range;

use omen_schema::json::{JsonType, Scanner};

use super::{FieldShape, Shape, ShapeKind};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::MAX_ERRORS_A_PACKET;
use crate::pointer;
use expected::{json_types, takes};
pub use helps::SUCH_AS;
pub use remedy::CLAIMS;
use remedy::Remedy;
use words::quoted;

/// Returns all schema errors of a value.
pub(crate) fn walk(text: &str, shape: &'static Shape) -> Vec<Diagnostic> {
    let mut walk =
        Walk { root: shape, pointer: String::new(), field: None, rules: Vec::new(), errors: Vec::new(), more: 0 };
    let mut scanner = Scanner::new(text);
    walk.value(&mut scanner, shape);
    // For example, a value that a program has nested deeper than a text may be.
    if let Some(error) = scanner.error() {
        walk.error(0..text.len(), error.to_string(), None::<Remedy>);
    }
    walk.done()
}

struct Walk {
    /// Shape of the root value.
    root: &'static Shape,
    pointer: String,
    /// Field of the current value; `None` for elements, metadata and free-form values.
    field: Option<&'static FieldShape>,
    rules: Vec<&'static [Code]>,
    errors: Vec<Diagnostic>,
    more: usize,
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

    fn error(&mut self, span: Range<usize>, message: String, remedy: Option<impl Into<Remedy>>) {
        if self.errors.len() >= MAX_ERRORS_A_PACKET {
            self.more += 1;
            return;
        }
        let mut error = Diagnostic::error(Code::Schema, message).at(self.pointer.clone());
        error.span = Some(span);
        if let Some(remedy) = remedy {
            let Remedy { help, edit } = remedy.into().at(&self.pointer);
            (error.help, error.edit) = (Some(help), edit);
        }
        for code in self.rules.iter().flat_map(|rules| rules.iter()) {
            if !error.also.contains(code) {
                error.also.push(*code);
            }
        }
        self.errors.push(error);
    }

    /// Calls `inner` with the pointer extended by one step.
    fn down(&mut self, step: &str, inner: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        pointer::push(&mut self.pointer, step);
        let field = self.field.take();
        inner(self);
        self.field = field;
        self.pointer.truncate(length);
    }

    fn field(&mut self, scanner: &mut Scanner<'_>, field: &'static FieldShape) {
        self.rules.push(field.rules);
        self.down(field.name, |walk| {
            walk.field = Some(field);
            walk.value(scanner, field.shape);
        });
        self.rules.pop();
    }

    /// Returns the name of the field at the pointer, with any element index: `summary`, `assumptions[1]`.
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
            (ShapeKind::Text { expects, holds, .. }, JsonType::String) => self.text(scanner, shape, expects, *holds),
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
}
