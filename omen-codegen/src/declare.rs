//! Declare: schema files to Rust declarations. typify reads the schemas and declares every data type; every emitter takes
//! declarations, names of values and types of members from its output.
//!
//! [`feed`] expresses the schemas in draft 7, which typify reads. [`settings`] choose the Rust type for each JSON type, and
//! what each declaration derives. What typify has no setting for is added later, by the passes of the emit phase.
//!
//! Architecture invariant: no rule here names a definition; each is about a form.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use syn::ext::IdentExt as _;

use crate::load::SchemaSet;
use crate::mistake::{Mistake, Mistakes, bug};
use crate::quiet::quietly;

mod feed;
mod settings;

/// Output of typify, unchanged.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(crate) file: syn::File,
    /// The definitions that typify does not declare, each with the type that replaces it.
    pub(crate) replaced: BTreeMap<String, syn::Type>,
}

impl Declared {
    /// Runs typify on a linted set.
    ///
    /// # Errors
    /// The definition on which typify fails. The lint phase refuses every form on which it is known to.
    pub(crate) fn of(set: &SchemaSet) -> Result<Self, Mistakes> {
        let fed = feed::definitions(set)?;
        quietly(|| typify(&fed)).map_err(|error| failing(set, &fed).unwrap_or(error).located(set.texts()))
    }

    /// The variant of a union that holds a definition.
    pub(crate) fn variant_of(&self, union: &str, definition: &str) -> Result<&syn::Ident, Mistakes> {
        let holds = |variant: &&syn::Variant| {
            let mut fields = variant.fields.iter();
            matches!(fields.next().map(|field| &field.ty), Some(syn::Type::Path(path)) if path.path.is_ident(definition))
        };
        let variant = self.variants(union).find(holds).map(|variant| &variant.ident);
        variant.ok_or_else(|| bug(format!("typify declares no variant of `{union}` for `{definition}`")))
    }

    /// The Rust name of the value of an enum that is `wire` in JSON.
    pub(crate) fn value(&self, of: &str, wire: &str) -> Result<String, Mistakes> {
        let variant = self.variants(of).find(|variant| wire_name(&variant.ident, &variant.attrs) == wire);
        let name = variant.map(|variant| variant.ident.unraw().to_string());
        name.ok_or_else(|| bug(format!("typify declares no value `{wire}` of `{of}`")))
    }

    fn variants(&self, of: &str) -> impl Iterator<Item = &syn::Variant> {
        let enums = self.file.items.iter().filter_map(move |item| match item {
            syn::Item::Enum(item) if item.ident.unraw() == of => Some(&item.variants),
            _ => None,
        });
        enums.flatten()
    }
}

/// The names of what is declared; the syntax trees have no `Debug`.
impl std::fmt::Debug for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.file.items.iter().filter_map(|item| match item {
            syn::Item::Struct(item) => Some(item.ident.to_string()),
            syn::Item::Enum(item) => Some(item.ident.to_string()),
            _ => None,
        });
        f.debug_set().entries(names).finish()
    }
}

fn typify(fed: &Map<String, Value>) -> Result<Declared, Mistakes> {
    let (settings, replaced) = settings::settings(fed);
    let root = serde_json::from_value(json!({ "definitions": fed }))
        .map_err(|error| bug(format!("typify cannot read the schemas: {error}")))?;
    let mut space = typify::TypeSpace::new(&settings);
    space.add_root_schema(root).map_err(|error| bug(format!("typify cannot declare the types: {error}")))?;
    let file = syn::parse2(space.to_stream()).map_err(|error| bug(format!("invalid output of typify: {error}")))?;
    let replaced = replaced
        .into_iter()
        .map(|(name, ty)| Ok((name, syn::parse_str(ty)?)))
        .collect::<Result<_, syn::Error>>()
        .map_err(|error| bug(format!("invalid replacement: {error}")))?;
    Ok(Declared { file, replaced })
}

/// The first definition on which typify fails although all others are plain strings.
fn failing(set: &SchemaSet, fed: &Map<String, Value>) -> Option<Mistakes> {
    set.definitions().find_map(|definition| {
        let alone = fed.iter().map(|(name, schema)| {
            (name.clone(), if name == definition.name { schema.clone() } else { json!({ "type": "string" }) })
        });
        let alone = alone.collect();
        let error = quietly(|| typify(&alone)).err()?;
        let why = error.iter().next().map_or("", |mistake| mistake.problem.lines().next().unwrap_or_default());
        Some(Mistakes::from(Mistake {
            place: None,
            file: definition.file.to_owned(),
            pointer: definition.pointer,
            kind: "codegen",
            problem: format!("no Rust type can be declared for `{}`: {why}", definition.name),
            help: "write it in a form that other definitions have".to_owned(),
        }))
    })
}

/// The name of a packet as a variant, which is without `Packet` at its end.
pub(crate) fn packet_variant(packet: &str) -> &str {
    packet.strip_suffix("Packet").unwrap_or(packet)
}

/// The name that serde gives to a member or a value.
pub(crate) fn wire_name(ident: &syn::Ident, attrs: &[syn::Attribute]) -> String {
    let mut renamed = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // Arguments of another form are no name.
        let _ = attr.parse_nested_meta(|meta| {
            if let Ok(value) = meta.value() {
                let text: syn::LitStr = value.parse()?;
                if meta.path.is_ident("rename") {
                    renamed = Some(text.value());
                }
            }
            Ok(())
        });
    }
    renamed.unwrap_or_else(|| ident.unraw().to_string())
}
