//! What the schema says about a position in a packet.

use omen_types::shape::{FieldShape, Shape, ShapeKind};
use omen_types::{PacketType, definition};
use serde::Deserialize;

use crate::schema::files::SchemaFile;

/// A position in a packet that the schema describes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaPlace {
    /// The field at this position, or the one whose array contains it.
    pub(super) field: Option<&'static FieldShape>,
    pub(super) shape: &'static Shape,
}

impl SchemaPlace {
    /// Returns the position to which steps lead in a packet.
    pub(super) fn find<'s>(packet_type: Option<PacketType>, steps: impl IntoIterator<Item = &'s str>) -> Option<Self> {
        let mut place = Self { field: None, shape: definition::of_packet(packet_type) };
        for step in steps {
            let field = place.field;
            place = alternatives(place.shape).into_iter().find_map(|shape| match &shape.kind {
                ShapeKind::Object(object) => {
                    let field = object.fields.iter().find(|field| field.name == step)?;
                    Some(Self { field: Some(field), shape: field.shape })
                }
                ShapeKind::Array { item, .. } => step.parse::<usize>().ok().map(|_| Self { field, shape: item }),
                _ => None,
            })?;
        }
        Some(place)
    }

    /// Returns the fields that an object may have.
    pub(super) fn fields(self) -> impl Iterator<Item = &'static FieldShape> {
        alternatives(self.shape).into_iter().flat_map(|shape| match &shape.kind {
            ShapeKind::Object(object) => object.fields,
            _ => &[],
        })
    }

    /// Returns the names of the definitions that a value may match.
    pub(super) fn definitions(self) -> impl Iterator<Item = &'static str> {
        alternatives(self.shape).into_iter().map(|shape| shape.name).filter(|name| !name.is_empty())
    }

    /// Returns the possible values as JSON, each with its meaning.
    pub(super) fn values(self) -> Vec<(String, Option<String>)> {
        let mut all = Vec::new();
        for shape in alternatives(self.shape) {
            match &shape.kind {
                ShapeKind::Enum(values) => {
                    let meanings = meanings(shape.name);
                    all.extend(values.iter().map(|value| {
                        let meaning = meanings.iter().find(|meaning| meaning.values.iter().any(|one| one == value));
                        (format!("\"{value}\""), meaning.map(|meaning| meaning.description.clone()))
                    }));
                }
                ShapeKind::Bool => all.extend(["true", "false"].map(|value| (value.to_owned(), None))),
                ShapeKind::Integer { min, max } if max.saturating_sub(*min) < MOST_NUMBERS => {
                    all.extend((*min..=*max).map(|number| (number.to_string(), None)));
                }
                _ => {}
            }
        }
        all
    }
}

/// Returns the shapes that a value may have.
fn alternatives(shape: &'static Shape) -> Vec<&'static Shape> {
    match &shape.kind {
        ShapeKind::Union(shapes) => shapes.iter().flat_map(|shape| alternatives(shape)).collect(),
        _ => vec![shape],
    }
}

/// Enum values that share a description.
#[derive(Deserialize)]
struct EnumBranch {
    #[serde(rename = "enum", default)]
    values: Vec<String>,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct EnumDefinition {
    #[serde(rename = "oneOf", default)]
    branches: Vec<EnumBranch>,
}

/// Returns the descriptions of an enum's values.
fn meanings(definition: &str) -> Vec<EnumBranch> {
    let files = omen_schema::FILES.iter().filter_map(|(path, text)| SchemaFile::read(path, text).ok());
    let found = files.filter_map(|file| file.definitions.get(definition).copied()).next();
    let parsed = found.and_then(|text| serde_json::from_str::<EnumDefinition>(text.get()).ok());
    parsed.map(|definition| definition.branches).unwrap_or_default()
}

/// Maximum number of integers offered as choices; wider ranges are not listed.
const MOST_NUMBERS: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_an_enum_has_a_meaning() {
        let place = SchemaPlace::find(None, ["header", "packet_type"]);
        let values = place.map(SchemaPlace::values).unwrap_or_default();
        let types = PacketType::ALL.iter().map(|packet| (format!("\"{}\"", packet.as_str()), packet.description()));
        let types: Vec<_> = types.map(|(name, meaning)| (name, Some(meaning.to_owned()))).collect();
        assert_eq!(values, types);
    }

    #[test]
    fn items_and_alternatives_are_found() {
        let layer = SchemaPlace::find(Some(PacketType::DecisionPacket), ["header", "layer_source"]);
        let values = layer.map(SchemaPlace::values).unwrap_or_default();
        assert!(values.iter().any(|(value, _)| value == "6"), "{values:?}");
        assert!(values.iter().any(|(value, meaning)| value == "\"Integrity\"" && meaning.is_some()), "{values:?}");
        let item = SchemaPlace::find(None, ["mcp", "evidence", "evidence_refs", "3", "ref_type"]);
        assert!(item.is_some_and(|place| place.field.is_some_and(|field| field.name == "ref_type")));
        assert!(SchemaPlace::find(None, ["mcp", "no_such_field"]).is_none());
    }
}
