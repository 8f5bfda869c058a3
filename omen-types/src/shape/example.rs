//! An example value of a definition, for the help of a finding.

use super::{Shape, ShapeKind};

/// A value that the schema accepts, as JSON; of an object the required fields, of an object within it `{…}`.
pub(super) fn of(shape: &Shape) -> String {
    value(shape, true)
}

fn value(shape: &Shape, is_outermost: bool) -> String {
    match &shape.kind {
        ShapeKind::Object(_) if !is_outermost => "{…}".to_owned(),
        ShapeKind::Object(object) => {
            let required = object.fields.iter().filter(|field| field.required);
            let fields: Vec<_> =
                required.map(|field| format!("\"{}\": {}", field.name, value(field.shape, false))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        ShapeKind::Enum(values) => format!("\"{}\"", values.first().unwrap_or(&"")),
        ShapeKind::Text { example, .. } => format!("\"{example}\""),
        ShapeKind::NullableText | ShapeKind::Any => "\"…\"".to_owned(),
        ShapeKind::Integer { min, .. } => min.to_string(),
        ShapeKind::Number { min, max } => min.or(*max).unwrap_or_default().to_string(),
        ShapeKind::Bool => "true".to_owned(),
        ShapeKind::Union(branches) => branches.first().map_or_else(String::new, |branch| value(branch, is_outermost)),
        ShapeKind::FreeObject { min: 0 } => "{}".to_owned(),
        ShapeKind::FreeObject { .. } => "{\"key\": \"value\"}".to_owned(),
        ShapeKind::Array { item, min, .. } => {
            let elements = vec![value(item, false); *min];
            format!("[{}]", elements.join(", "))
        }
    }
}
