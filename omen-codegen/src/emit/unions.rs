//! Unions of definitions with different JSON types.

use proc_macro2::TokenStream;
use quote::quote;

use super::readers::{Mode, Reader, reference};
use super::{Context, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let Kind::Union(branches) = &def.kind else { return Ok(TokenStream::new()) };
    if is_packets(context, branches) {
        return Ok(TokenStream::new());
    }
    let depth = context.depths.get(&def.name).copied().unwrap_or(0);
    let docs = doc(&def.description);
    let declared = context.types.enumeration(&def.name)?;
    let copy = branches
        .iter()
        .all(|b| matches!(context.model.defs.get(b).map(|d| &d.kind), Some(Kind::Integer { .. } | Kind::Enum(_))));
    let deserialize = deserialize(context, def, branches)?;
    let check = parser(context, def, branches, depth, Mode::Check)?;
    // Facts keep only values that are cheap to copy.
    let facts = copy.then(|| parser(context, def, branches, depth, Mode::Facts)).transpose()?;
    Ok(quote! {
        #docs
        #declared

        #deserialize
        #check
        #facts
    })
}

/// Returns whether this is the union of all packets, which has a separate emitter.
pub(super) fn is_packets(context: &Context<'_>, branches: &[String]) -> bool {
    branches.iter().any(|branch| context.model.object(branch).is_some_and(|object| object.packet.is_some()))
}

/// Emits `Deserialize` for the union. The derived implementation for untagged enums would buffer the value and try
/// one branch after another.
fn deserialize(context: &Context<'_>, def: &Def, branches: &[String]) -> Result<TokenStream, Mistakes> {
    let name = ident(&def.name);
    let mut methods = Vec::new();
    for (branch, variant) in branches.iter().zip(context.types.variants(&def.name)?) {
        let out = context.types.reference(branch)?;
        let mut scalar = |method: TokenStream, ty: TokenStream| {
            methods.push(quote! {
                fn #method<E: Error>(self, value: #ty) -> Result<#name, E> {
                    <#out>::deserialize(value.into_deserializer()).map(#name::#variant)
                }
            });
        };
        match &context.model.def(branch)?.kind {
            Kind::Text(_) | Kind::Enum(_) => scalar(quote!(visit_str), quote!(&str)),
            Kind::Integer { .. } => {
                scalar(quote!(visit_u64), quote!(u64));
                scalar(quote!(visit_f64), quote!(f64));
            }
            Kind::Number { .. } => {
                scalar(quote!(visit_u64), quote!(u64));
                scalar(quote!(visit_i64), quote!(i64));
                scalar(quote!(visit_f64), quote!(f64));
            }
            Kind::Object(_) | Kind::FreeObject { .. } => methods.push(quote! {
                fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<#name, A::Error> {
                    <#out>::deserialize(MapAccessDeserializer::new(map)).map(#name::#variant)
                }
            }),
            Kind::Union(_) | Kind::Any => {}
        }
    }
    let expects = format!("one of the forms of {}", def.name);
    Ok(quote! {
        impl<'de> ::serde::Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Forms;

                impl<'de> Visitor<'de> for Forms {
                    type Value = #name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(#expects)
                    }

                    #(#methods)*
                }

                deserializer.deserialize_any(Forms)
            }
        }
    })
}

/// Emits the parser of the union: each branch has a different JSON type, which the first byte determines.
fn parser(
    context: &Context<'_>,
    def: &Def,
    branches: &[String],
    depth: u8,
    mode: Mode,
) -> Result<TokenStream, Mistakes> {
    let name = ident(&def.name);
    let (reader, out) = match mode {
        Mode::Check => (quote!(Check<#name>), quote!(())),
        Mode::Facts => (quote!(#name), quote!(#name)),
    };
    let mut arms = Vec::new();
    for (branch, variant) in branches.iter().zip(context.types.variants(&def.name)?) {
        let Reader { reader, .. } = reference(context, branch, depth, mode)?;
        let begins = match &context.model.def(branch)?.kind {
            Kind::Text(_) | Kind::Enum(_) => quote!(b'"'),
            Kind::Integer { .. } | Kind::Number { .. } => quote!(b'-' | b'0'..=b'9'),
            Kind::Object(_) | Kind::FreeObject { .. } => quote!(b'{'),
            Kind::Union(_) | Kind::Any => continue,
        };
        let wrap = match mode {
            Mode::Check => quote!(.map(drop)),
            Mode::Facts => quote!(.map(#name::#variant)),
        };
        arms.push(quote!(#begins => <#reader as Parse<'t>>::parse(cursor)#wrap));
    }
    Ok(quote! {
        impl<'t> Parse<'t> for #reader {
            type Out = #out;

            fn parse(cursor: &mut Cursor<'t>) -> ParseResult<#out> {
                match cursor.peek() {
                    #(#arms,)*
                    _ => Err(Refusal),
                }
            }
        }
    })
}
