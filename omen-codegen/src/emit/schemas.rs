//! schemars attributes that make the derived schema of a declaration equal its original schema.
//!
//! Bounds, conditionals and descriptions are written from the model instead of being copied from the files: if the
//! derived schemas equal the files, neither typify nor the model has misread them.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Attribute, Fields, ItemEnum, ItemStruct, parse_quote};

use super::types::{Types, argument};
use super::{bug, ident};
use crate::mistake::Mistakes;
use crate::model::{Conditional, Def, Field, Item, Kind, Model, Object, TextRule, Ty, When};

/// Makes every type derive its JSON schema.
pub(super) fn derive(types: &mut Types, model: &Model) -> Result<(), Mistakes> {
    let (mut structs, mut enums) = (std::mem::take(&mut types.structs), std::mem::take(&mut types.enums));
    for (name, item) in &mut structs {
        structure(item, model.def(name)?, types)?;
    }
    for (name, item) in &mut enums {
        enumeration(item, model.def(name)?, types)?;
    }
    (types.structs, types.enums, types.schemas) = (structs, enums, true);
    Ok(())
}

/// Adds the attributes of an object or a scalar.
fn structure(item: &mut ItemStruct, def: &Def, types: &Types) -> Result<(), Mistakes> {
    let mut container = describe(&def.description);
    match (&mut item.fields, &def.kind) {
        (Fields::Named(fields), Kind::Object(object)) => {
            for (made, field) in fields.named.iter_mut().zip(&object.fields) {
                made.attrs.push(schemars(&member(&made.ty, object, field, types)?));
            }
            container.extend(whole(object));
        }
        (Fields::Unnamed(fields), kind) => {
            for field in &mut fields.unnamed {
                field.attrs.extend(bounds(kind).map(|bounds| schemars(&bounds)));
            }
            if matches!(kind, Kind::Integer { .. }) {
                // `format` states the width of the Rust type; the bounds replace it.
                container.extend(quote!(, transform = |schema: &mut ::schemars::Schema| _ = schema.remove("format")));
            }
        }
        _ => return Err(bug(format!("`{}` is neither an object nor a scalar", def.name))),
    }
    add_derive(&mut item.attrs, &container);
    Ok(())
}

/// Adds the attributes of an enum or a union.
fn enumeration(item: &mut ItemEnum, def: &Def, types: &Types) -> Result<(), Mistakes> {
    let variants = item.variants.iter_mut();
    match &def.kind {
        Kind::Enum(values) => {
            for (variant, value) in variants.zip(values) {
                variant.attrs.push(schemars(&describe(&value.description)));
            }
        }
        Kind::Union(branches) => {
            for (variant, branch) in variants.zip(branches) {
                // The referenced definition has the description.
                let mut all = describe("");
                if types.is_replaced(branch) {
                    all.extend(quote!(, with = #branch));
                }
                variant.attrs.push(schemars(&all));
            }
        }
        _ => return Err(bug(format!("`{}` is neither an enum nor a union", def.name))),
    }
    add_derive(&mut item.attrs, &describe(&def.description));
    Ok(())
}

/// Emits the schema of a definition that typify does not declare, with a type for it if there is none.
pub(super) fn replaced(def: &Def) -> TokenStream {
    let (name, text, description) = (ident(&def.name), &def.name, &def.description);
    let (declaration, schema) = match &def.kind {
        Kind::Text(TextRule::DateTime) => (None, quote!("type": "string", "format": "date-time",)),
        Kind::FreeObject { min } => {
            let min = (*min > 0).then(|| quote!("minProperties": #min,));
            (Some(&name), quote!("type": "object", "additionalProperties": true, #min))
        }
        Kind::Any => (Some(&name), quote!()),
        _ => return TokenStream::new(),
    };
    let declaration = declaration.map(|name| quote!(enum #name {}));
    quote! {
        #declaration

        impl ::schemars::JsonSchema for #name {
            fn schema_name() -> Cow<'static, str> {
                #text.into()
            }

            fn schema_id() -> Cow<'static, str> {
                concat!(module_path!(), "::", #text).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "description": #description, #schema })
            }
        }
    }
}

fn add_derive(attrs: &mut Vec<Attribute>, container: &TokenStream) {
    attrs.push(parse_quote!(#[derive(::schemars::JsonSchema)]));
    attrs.push(schemars(container));
}

fn schemars(arguments: &TokenStream) -> Attribute {
    parse_quote!(#[schemars(#arguments)])
}

/// Returns the description as in the schema; the documentation would escape and extend it.
fn describe(description: &str) -> TokenStream {
    quote!(description = #description)
}

fn member(declared: &syn::Type, object: &Object, field: &Field, types: &Types) -> Result<TokenStream, Mistakes> {
    let mut all = describe(&field.description);
    // An optional field may be missing, but not `null`.
    let some = if field.required { Some(declared) } else { argument(declared) };
    let some = some.ok_or_else(|| bug(format!("typify requires the member `{}`", field.name)))?;
    let with = match &field.ty {
        Ty::Ref(name) if types.is_replaced(name) => Some(ident(name).to_token_stream()),
        Ty::Array { item: Item::Ref(name), .. } if types.is_replaced(name) => {
            let name = ident(name);
            Some(quote!(Vec<#name>))
        }
        _ => (!field.required).then(|| some.to_token_stream()),
    };
    if let Some(with) = with {
        let with = with.to_string();
        all.extend(quote!(, with = #with));
    }
    if let Ty::Array { min, max, .. } = field.ty {
        let bounds = between("length", (min > 0).then_some(quote!(#min)), max.map(|max| quote!(#max)));
        all.extend(bounds.map(|bounds| quote!(, #bounds)));
    }
    if let (Some(packet), "header") = (&object.packet, field.name.as_str()) {
        all.extend(quote!(, extend("properties" = { "packet_type": { "enum": [#packet] } })));
    }
    Ok(all)
}

/// Returns the constraints on the object as a whole.
fn whole(object: &Object) -> TokenStream {
    let mut all = TokenStream::new();
    if !object.conditionals.is_empty() {
        let conditionals = object.conditionals.iter().map(conditional);
        all.extend(quote!(, extend("allOf" = [#(#conditionals),*])));
    }
    if let Some((pattern, description)) = &object.metadata {
        all.extend(quote! {
            , extend("patternProperties" = { #pattern: { "description": #description } }, "additionalProperties" = false)
        });
    }
    all
}

fn conditional(conditional: &Conditional) -> TokenStream {
    let Conditional { description, subject, when, requires, non_empty, .. } = conditional;
    let when = match when {
        When::OneOf(values) => quote!("enum": [#(#values),*]),
        When::Empty => quote!("maxItems": 0),
    };
    let then = non_empty.then(|| quote!(, "properties": { #requires: { "type": "string", "minLength": 1 } }));
    quote!({
        "description": #description,
        "if": { "properties": { #subject: { #when } }, "required": [#subject] },
        "then": { "required": [#requires] #then }
    })
}

fn bounds(kind: &Kind) -> Option<TokenStream> {
    match kind {
        Kind::Text(TextRule::Pattern { source, .. }) => Some(quote!(regex(pattern = #source))),
        Kind::Text(TextRule::Length { min, max }) => {
            between("length", (*min > 0).then_some(quote!(#min)), max.map(|max| quote!(#max)))
        }
        Kind::Integer { min, max } => between("range", Some(quote!(#min)), Some(quote!(#max))),
        Kind::Number { min, max } => between("range", min.map(number), max.map(number)),
        _ => None,
    }
}

/// Returns a number as written in the files: an integer without a fraction.
fn number(value: f64) -> TokenStream {
    let integer = value as i64;
    let literal = if integer as f64 == value { Literal::i64_suffixed(integer) } else { Literal::f64_suffixed(value) };
    literal.into_token_stream()
}

fn between(what: &str, min: Option<TokenStream>, max: Option<TokenStream>) -> Option<TokenStream> {
    let bounds: Vec<_> =
        min.map(|min| quote!(min = #min)).into_iter().chain(max.map(|max| quote!(max = #max))).collect();
    let what = ident(what);
    (!bounds.is_empty()).then(|| quote!(#what(#(#bounds),*)))
}
