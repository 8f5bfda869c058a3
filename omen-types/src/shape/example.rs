//! Example values of definitions, for the help of findings and for the packets that `omen new` prints.

use super::{ConditionalShape, FieldShape, ObjectShape, Shape, ShapeKind, WhenShape};

/// Returns a value that the schema accepts, as JSON. An object has only its required fields.
pub(crate) fn of_shape(shape: &Shape) -> String {
    value(shape, usize::MAX)
}

/// Returns a value for a field: the example in the schema, or otherwise a value that the schema accepts.
pub(crate) fn of_field(field: &FieldShape) -> String {
    member(field, usize::MAX)
}

/// Returns the value, or its outline if the value is too long to read: nested objects are then abbreviated to `{…}`.
pub(super) fn short(whole: String, shape: &Shape) -> String {
    if whole.chars().count() <= LONGEST { whole } else { value(shape, 1) }
}

/// Maximum length of a value in a help text, in characters.
const LONGEST: usize = 320;

/// Returns a value. `levels` is the number of nested objects that are written out.
fn value(shape: &Shape, levels: usize) -> String {
    match &shape.kind {
        ShapeKind::Object(_) if levels == 0 => "{…}".to_owned(),
        ShapeKind::Object(object) => {
            let fields: Vec<_> = wanted(object)
                .into_iter()
                .map(|field| format!("\"{}\": {}", field.name, member(field, levels - 1)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        ShapeKind::Enum(values) => format!("\"{}\"", values.first().unwrap_or(&"")),
        ShapeKind::Text { example, .. } => format!("\"{example}\""),
        ShapeKind::NullableText | ShapeKind::Any => "\"…\"".to_owned(),
        ShapeKind::Integer { min, .. } => min.to_string(),
        ShapeKind::Number { min, max } => min.or(*max).unwrap_or_default().to_string(),
        ShapeKind::Bool => "true".to_owned(),
        ShapeKind::Union(branches) => branches.first().map_or_else(String::new, |branch| value(branch, levels)),
        ShapeKind::FreeObject { min: 0 } => "{}".to_owned(),
        ShapeKind::FreeObject { .. } => "{\"key\": \"value\"}".to_owned(),
        ShapeKind::Array { item, min, .. } => {
            let elements = vec![value(item, levels); *min];
            format!("[{}]", elements.join(", "))
        }
    }
}

fn member(field: &FieldShape, levels: usize) -> String {
    field.example.map_or_else(|| value(field.shape, levels), str::to_owned)
}

/// Returns the fields that an object requires, including those that a conditional requires given their examples, in schema order.
fn wanted(object: &ObjectShape) -> Vec<&FieldShape> {
    let is_demanded = |field: &FieldShape| {
        object.conditionals.iter().any(|conditional| conditional.requires == field.name && applies(object, conditional))
    };
    object.fields.iter().filter(|field| field.required || is_demanded(field)).collect()
}

fn applies(object: &ObjectShape, conditional: &ConditionalShape) -> bool {
    let subject = object.fields.iter().find(|field| field.name == conditional.subject && field.required);
    let value = subject.map(|field| member(field, 0)).unwrap_or_default();
    match &conditional.when {
        WhenShape::OneOf(values) => values.contains(&value.trim_matches('"')),
        WhenShape::Empty => value == "[]",
    }
}
