//! Rust declarations of the schema files. typify reads the schemas and declares every data type; every emitter takes declarations, value names and field types from its output.
//!
//! [`draft7`] expresses the schemas in draft 7, which typify reads. [`settings`] choose the Rust type for each JSON
//! type and the derives of each declaration. The passes of the emit phase add what typify has no setting for.
//!
//! Architecture invariant: no rule in this module names a definition; each applies to a form.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use syn::ext::IdentExt as _;

use crate::catch_panic::catch_panic;
use crate::load::SchemaSet;
use crate::mistake::{Mistake, Mistakes, bug};

mod draft7;
mod settings;

pub(crate) use draft7::packet_variant;

/// Output of typify, unchanged.
#[derive(Clone)]
pub(crate) struct Declarations {
    pub(crate) file: syn::File,
    /// Definitions that typify does not declare, each with the type that replaces it.
    pub(crate) replaced: BTreeMap<String, syn::Type>,
}

impl Declarations {
    /// Runs typify on a linted set.
    ///
    /// # Errors
    /// The definition on which typify fails. The lint phase refuses every form known to cause that.
    pub(crate) fn from_schemas(set: &SchemaSet) -> Result<Self, Mistakes> {
        let fed = draft7::definitions(set)?;
        catch_panic(|| typify(&fed)).map_err(|error| failing(set, &fed).unwrap_or(error).located(set.texts()))
    }

    /// Returns the variant of a union that holds a definition.
    pub(crate) fn variant_of(&self, union: &str, definition: &str) -> Result<&syn::Ident, Mistakes> {
        let holds = |variant: &&syn::Variant| {
            let mut fields = variant.fields.iter();
            matches!(fields.next().map(|field| &field.ty), Some(syn::Type::Path(path)) if path.path.is_ident(definition))
        };
        let variant = self.variants(union).find(holds).map(|variant| &variant.ident);
        variant.ok_or_else(|| bug(format!("typify declares no variant of `{union}` for `{definition}`")))
    }

    /// Returns the Rust name of an enum value, given its JSON name `wire`.
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

/// Prints the names of the declarations, because the syntax trees do not implement `Debug`.
impl std::fmt::Debug for Declarations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.file.items.iter().filter_map(|item| match item {
            syn::Item::Struct(item) => Some(item.ident.to_string()),
            syn::Item::Enum(item) => Some(item.ident.to_string()),
            _ => None,
        });
        f.debug_set().entries(names).finish()
    }
}

fn typify(fed: &Map<String, Value>) -> Result<Declarations, Mistakes> {
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
    Ok(Declarations { file, replaced })
}

/// Returns the first definition on which typify fails even if all other definitions are plain strings.
fn failing(set: &SchemaSet, fed: &Map<String, Value>) -> Option<Mistakes> {
    set.definitions().find_map(|definition| {
        let alone = fed.iter().map(|(name, schema)| {
            (name.clone(), if name == definition.name { schema.clone() } else { json!({ "type": "string" }) })
        });
        let alone = alone.collect();
        let error = catch_panic(|| typify(&alone)).err()?;
        let why = error.iter().next().map_or("", |mistake| mistake.problem.lines().next().unwrap_or_default());
        Some(Mistakes::from(Mistake {
            place: None,
            file: definition.file.to_owned(),
            pointer: definition.pointer,
            kind: "codegen",
            problem: format!("no Rust type can be declared for `{}`: {why}", definition.name),
            help: "write it in the same form as other definitions".to_owned(),
        }))
    })
}

/// Returns the serde name of a field or a value.
pub(crate) fn wire_name(ident: &syn::Ident, attrs: &[syn::Attribute]) -> String {
    let mut renamed = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // Arguments of any other form do not rename.
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
