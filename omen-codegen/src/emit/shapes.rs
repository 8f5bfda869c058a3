//! Schema as static data, for the walk that finds all errors.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::names::{pascal, shouting};
use super::scalars::{example, expects, option};
use super::{Context, ident, list, unions};
use crate::mistake::Mistakes;
use crate::model::{Conditional, Def, Field, Item, Kind, Object, TextRule, Ty, When};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let (name, shape) = (&def.name, shape_name(&def.name));
    let kind = match &def.kind {
        Kind::Union(branches) if unions::is_packets(context, branches) => return Ok(TokenStream::new()),
        Kind::Object(inner) => object(inner),
        Kind::Enum(values) => {
            let values = list(values.iter().map(|value| &value.wire));
            quote!(ShapeKind::Enum(#values))
        }
        Kind::Text(rule) => {
            let (expects, example, ty) = (expects(rule), example(rule), ident(&def.name));
            match rule {
                TextRule::DateTime => {
                    quote!(ShapeKind::Text { expects: #expects, example: #example, holds: crate::time::is_date_time })
                }
                _ => {
                    quote!(ShapeKind::Text { expects: #expects, example: #example, holds: <#ty as TextScalar>::holds })
                }
            }
        }
        Kind::Integer { min, max } => quote!(ShapeKind::Integer { min: #min, max: #max }),
        Kind::Number { min, max } => {
            let (min, max) = (option(*min), option(*max));
            quote!(ShapeKind::Number { min: #min, max: #max })
        }
        Kind::Union(branches) => {
            let branches = list(branches.iter().map(|branch| reference(branch)));
            quote!(ShapeKind::Union(#branches))
        }
        Kind::FreeObject { min } => quote!(ShapeKind::FreeObject { min: #min }),
        Kind::Any => quote!(ShapeKind::Any),
    };
    // Packets have their own parser, which dispatches on the packet type.
    let of_its_own = match &def.kind {
        Kind::Object(object) if object.packet.is_some() => {
            let ty = ident(&def.name);
            Some(quote! {
                impl HasShape for #ty {
                    fn shape() -> &'static Shape {
                        &#shape
                    }
                }
            })
        }
        Kind::Object(_) => {
            let ty = ident(&def.name);
            Some(quote!(object!(#ty, #shape);))
        }
        _ => None,
    };
    Ok(quote! {
        static #shape: Shape = Shape { name: #name, kind: #kind };
        #of_its_own
    })
}

/// Emits the list of all named shapes, ordered by name.
pub(super) fn all(context: &Context<'_>) -> TokenStream {
    let defs = context.model.defs.values();
    let shapes = list(defs.filter_map(|def| match &def.kind {
        Kind::Union(branches) if unions::is_packets(context, branches) => None,
        _ => Some(reference(&def.name)),
    }));
    quote! {
        /// Shapes of all definitions, in the order of their names.
        pub(crate) static SHAPES: &[&Shape] = #shapes;
    }
}

pub(super) fn shape_name(name: &str) -> proc_macro2::Ident {
    format_ident!("{}_SHAPE", shouting(name))
}

fn reference(name: &str) -> TokenStream {
    let shape = shape_name(name);
    quote!(&#shape)
}

fn object(object: &Object) -> TokenStream {
    let fields = list(object.fields.iter().map(field));
    let conditionals = list(object.conditionals.iter().map(conditional));
    let metadata = object.packet.is_some();
    quote!(ShapeKind::Object(ObjectShape { fields: #fields, conditionals: #conditionals, metadata: #metadata }))
}

fn field(field: &Field) -> TokenStream {
    let Field { name, description, required, .. } = field;
    let (rules, shape) = (codes(&field.rules), ty(&field.ty));
    let example = match &field.example {
        Some(json) => quote!(Some(#json)),
        None => quote!(None),
    };
    quote!(FieldShape {
        name: #name, description: #description, required: #required,
        rules: #rules, shape: #shape, example: #example,
    })
}

fn codes(rules: &[String]) -> TokenStream {
    list(rules.iter().map(|code| {
        let code = ident(&pascal(code));
        quote!(Code::#code)
    }))
}

fn ty(ty: &Ty) -> TokenStream {
    match ty {
        Ty::Ref(name) => reference(name),
        Ty::Bool => quote!(&BOOL),
        Ty::PlainText => quote!(&PLAIN_TEXT),
        Ty::NullableText => quote!(&NULLABLE_TEXT),
        Ty::Array { item, min, max } => {
            let item = match item {
                Item::Ref(name) => reference(name),
                Item::PlainText => quote!(&PLAIN_TEXT),
            };
            let min = Literal::usize_unsuffixed(*min);
            let max = max.map(Literal::usize_unsuffixed).map_or(quote!(None), |max| quote!(Some(#max)));
            quote!(&Shape { name: "", kind: ShapeKind::Array { item: #item, min: #min, max: #max } })
        }
    }
}

fn conditional(conditional: &Conditional) -> TokenStream {
    let Conditional { description, subject, requires, non_empty, .. } = conditional;
    let rules = codes(&conditional.rules);
    let when = match &conditional.when {
        When::OneOf(values) => {
            let values = list(values);
            quote!(WhenShape::OneOf(#values))
        }
        When::Empty => quote!(WhenShape::Empty),
    };
    quote!(ConditionalShape {
        description: #description, subject: #subject, when: #when,
        requires: #requires, non_empty: #non_empty, rules: #rules,
    })
}
