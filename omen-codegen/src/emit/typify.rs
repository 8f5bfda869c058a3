//! typify makes the skeleton of structs and enums: names, members, docs.
//!
//! It is given only what it treats faithfully: objects and enums, without the constraints that it
//! would drop. Scalars, unions and free-form values are ours and stand in its output by name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::bug;
use crate::mistake::Mistakes;
use crate::model::{Def, Field, Item, Kind, Model, Object, Ty};

/// The structs and enums that typify made, by name.
pub(crate) struct Skeleton {
    structs: BTreeMap<String, syn::ItemStruct>,
    enums: BTreeMap<String, syn::ItemEnum>,
}

impl Skeleton {
    pub(super) fn structure(&self, name: &str) -> Result<&syn::ItemStruct, Mistakes> {
        self.structs.get(name).ok_or_else(|| bug(format!("typify made no struct `{name}`")))
    }

    pub(super) fn enumeration(&self, name: &str) -> Result<&syn::ItemEnum, Mistakes> {
        self.enums.get(name).ok_or_else(|| bug(format!("typify made no enum `{name}`")))
    }
}

pub(super) fn skeleton(model: &Model) -> Result<Skeleton, Mistakes> {
    let root = serde_json::from_value(json!({ "definitions": bundle(model) }))
        .map_err(|error| bug(format!("the bundle is no schema: {error}")))?;
    let file = run(model, root)?;
    let mut skeleton = Skeleton { structs: BTreeMap::new(), enums: BTreeMap::new() };
    for item in file.items {
        match item {
            syn::Item::Struct(item) => {
                skeleton.structs.insert(item.ident.to_string(), item);
            }
            syn::Item::Enum(item) => {
                skeleton.enums.insert(item.ident.to_string(), item);
            }
            _ => {}
        }
    }
    Ok(skeleton)
}

fn run(model: &Model, root: schemars_08::schema::RootSchema) -> Result<syn::File, Mistakes> {
    let mut settings = typify::TypeSpaceSettings::default();
    for def in model.defs.values().filter(|def| is_ours(def)) {
        settings.with_replacement(&def.name, &def.name, std::iter::empty());
    }
    let mut space = typify::TypeSpace::new(&settings);
    space.add_root_schema(root).map_err(|error| bug(format!("typify: {error}")))?;
    syn::parse2(space.to_stream()).map_err(|error| bug(format!("typify's output: {error}")))
}

fn is_ours(def: &Def) -> bool {
    !matches!(def.kind, Kind::Object(_) | Kind::Enum(_))
}

/// The definitions as typify is to see them.
fn bundle(model: &Model) -> Map<String, Value> {
    model.defs.values().map(|def| (def.name.clone(), definition(def))).collect()
}

fn definition(def: &Def) -> Value {
    let description = &def.description;
    match &def.kind {
        Kind::Object(Object { fields, .. }) => {
            let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| &field.name).collect();
            let properties: Map<_, _> = fields.iter().map(|field| (field.name.clone(), member(field))).collect();
            json!({
                "description": description, "type": "object", "properties": properties,
                "required": required, "additionalProperties": false,
            })
        }
        Kind::Enum(variants) => {
            let branches: Vec<_> = variants
                .iter()
                .map(|v| json!({ "type": "string", "enum": [v.wire], "description": v.description }))
                .collect();
            json!({ "description": description, "oneOf": branches })
        }
        _ => json!({ "description": description, "type": "string" }),
    }
}

fn member(field: &Field) -> Value {
    let description = &field.description;
    let reference = |name: &str| format!("#/definitions/{name}");
    match &field.ty {
        // Beside `$ref` older drafts ignore everything; `allOf` lets the description through.
        Ty::Ref(name) => json!({ "description": description, "allOf": [{ "$ref": reference(name) }] }),
        Ty::Bool => json!({ "description": description, "type": "boolean" }),
        Ty::PlainText => json!({ "description": description, "type": "string" }),
        Ty::NullableText => json!({ "description": description, "type": ["string", "null"] }),
        Ty::Array { item, .. } => {
            let items = match item {
                Item::Ref(name) => json!({ "$ref": reference(name) }),
                Item::PlainText => json!({ "type": "string" }),
            };
            json!({ "description": description, "type": "array", "items": items })
        }
    }
}
