//! Schema as static data, and the walk that finds *all* errors of a packet.
//!
//! The parser only accepts or refuses a text. When it refuses, this module walks the same text with the same schema as
//! data ([`Shape`]), and reports every error with its JSON pointer, its position in the line, the expected value, and a
//! suggestion. A scanner walks the text without building a tree, so a hostile line uses no memory.

use crate::code::Code;

mod example;
mod syntax;
mod walk;

pub(crate) use example::of_shape as example_of;
pub(crate) use syntax::{syntax, too_deep};
pub(crate) use walk::walk;
pub use walk::{CLAIMS, SUCH_AS};

/// Type that the schema describes.
#[doc(hidden)]
pub trait HasShape {
    /// Returns the definition of the type in the schema.
    fn shape() -> &'static Shape;
}

pub(crate) static BOOL: Shape = Shape { name: "", kind: ShapeKind::Bool };
pub(crate) static PLAIN_TEXT: Shape =
    Shape { name: "", kind: ShapeKind::Text { expects: "a string", example: "…", holds: |_| true } };
pub(crate) static NULLABLE_TEXT: Shape = Shape { name: "", kind: ShapeKind::NullableText };
pub(crate) static ANY: Shape = Shape { name: "", kind: ShapeKind::Any };

/// Definition or field in the schema.
#[derive(Debug)]
#[doc(hidden)]
pub struct Shape {
    /// Name of the definition; empty for an anonymous one.
    pub name: &'static str,
    /// Kind of the values, with its constraints.
    pub kind: ShapeKind,
}

/// Kind of a value, including its constraints.
#[derive(Debug)]
#[doc(hidden)]
pub enum ShapeKind {
    /// A closed object.
    Object(ObjectShape),
    /// One of these strings.
    Enum(&'static [&'static str]),
    /// A string that passes a check, with a description and an example.
    Text { expects: &'static str, example: &'static str, holds: fn(&str) -> bool },
    /// A string or `null`.
    NullableText,
    /// An integer within bounds.
    Integer { min: u64, max: u64 },
    /// A number within bounds.
    Number { min: Option<f64>, max: Option<f64> },
    /// `true` or `false`.
    Bool,
    /// One of these shapes, distinguished by JSON type.
    Union(&'static [&'static Shape]),
    /// A free-form object with at least `min` fields.
    FreeObject { min: usize },
    /// Any value.
    Any,
    /// An array.
    Array { item: &'static Shape, min: usize, max: Option<usize> },
}

/// Closed object.
#[derive(Debug)]
#[doc(hidden)]
pub struct ObjectShape {
    /// Fields, in schema order.
    pub fields: &'static [FieldShape],
    /// Conditionals.
    pub conditionals: &'static [ConditionalShape],
    /// Whether fields that begin with `_` are also allowed.
    pub metadata: bool,
}

/// Field of an object.
#[derive(Debug)]
#[doc(hidden)]
pub struct FieldShape {
    pub name: &'static str,
    pub description: &'static str,
    pub required: bool,
    pub rules: &'static [Code],
    pub shape: &'static Shape,
    /// Example value as JSON, if the schema has one.
    pub example: Option<&'static str>,
}

/// Conditional: if one field has certain values, another one is required.
#[derive(Debug)]
#[doc(hidden)]
pub struct ConditionalShape {
    pub description: &'static str,
    pub subject: &'static str,
    pub when: WhenShape,
    pub requires: &'static str,
    pub non_empty: bool,
    pub rules: &'static [Code],
}

/// Condition under which a conditional applies.
#[derive(Debug)]
#[doc(hidden)]
pub enum WhenShape {
    /// The value is one of these strings.
    OneOf(&'static [&'static str]),
    /// The value is an empty array.
    Empty,
}
