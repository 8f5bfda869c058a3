//! Unions of definitions that JSON types distinguish.

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
    let (name, docs) = (ident(&def.name), doc(&def.description));
    let mut variants = Vec::new();
    for branch in branches {
        let Reader { out, .. } = reference(context, branch, depth, Mode::Owned)?;
        let (variant, docs) = (ident(branch), doc(&context.model.def(branch)?.description));
        variants.push(quote!(#docs #variant(#out)));
    }
    let copy = branches
        .iter()
        .all(|b| matches!(context.model.defs.get(b).map(|d| &d.kind), Some(Kind::Integer { .. } | Kind::Enum(_))))
        .then(|| quote!(Copy, Eq, Hash,));
    let owned = visitor(context, def, branches, depth, Mode::Owned)?;
    let check = visitor(context, def, branches, depth, Mode::Check)?;
    Ok(quote! {
        #docs
        #[derive(Clone, #copy Debug, PartialEq, ::serde::Serialize)]
        #[serde(untagged)]
        pub enum #name { #(#variants),* }

        #owned
        #check

        deserialize!(#name, #name);
    })
}

/// Whether the union is the one of all packets, which has an emitter of its own.
pub(super) fn is_packets(context: &Context<'_>, branches: &[String]) -> bool {
    branches.iter().any(|branch| context.model.object(branch).is_some_and(|object| object.packet.is_some()))
}

fn visitor(
    context: &Context<'_>,
    def: &Def,
    branches: &[String],
    depth: u8,
    mode: Mode,
) -> Result<TokenStream, Mistakes> {
    let name = ident(&def.name);
    let (reader, out) = match mode {
        Mode::Check => (quote!(Check<#name>), quote!(())),
        _ => (quote!(#name), quote!(#name)),
    };
    let mut methods = Vec::new();
    for branch in branches {
        let Reader { reader, .. } = reference(context, branch, depth, mode)?;
        let variant = ident(branch);
        let wrap = match mode {
            Mode::Check => quote!(.map(drop)),
            _ => quote!(.map(#name::#variant)),
        };
        let scalar = |method: TokenStream, ty: TokenStream| {
            quote! {
                fn #method<E: Error>(self, value: #ty) -> Result<#out, E> {
                    <#reader as Read<'de>>::read(value.into_deserializer())#wrap
                }
            }
        };
        match &context.model.def(branch)?.kind {
            Kind::Text(_) | Kind::Enum(_) => methods.push(scalar(quote!(visit_str), quote!(&str))),
            Kind::Integer { .. } => {
                methods.push(scalar(quote!(visit_u64), quote!(u64)));
                methods.push(scalar(quote!(visit_f64), quote!(f64)));
            }
            Kind::Number { .. } => {
                methods.push(scalar(quote!(visit_u64), quote!(u64)));
                methods.push(scalar(quote!(visit_i64), quote!(i64)));
                methods.push(scalar(quote!(visit_f64), quote!(f64)));
            }
            Kind::Object(_) | Kind::FreeObject { .. } => methods.push(quote! {
                fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<#out, A::Error> {
                    <#reader as Read<'de>>::read(MapAccessDeserializer::new(map))#wrap
                }
            }),
            Kind::Union(_) | Kind::Any => {}
        }
    }
    let expects = format!("one of the forms of {}", def.name);
    Ok(quote! {
        impl<'de> Read<'de> for #reader {
            type Out = #out;

            fn read<D: Deserializer<'de>>(deserializer: D) -> Result<#out, D::Error> {
                deserializer.deserialize_any(Seed::<#reader>::new())
            }
        }

        impl<'de> Visitor<'de> for Seed<#reader> {
            type Value = #out;

            fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(#expects)
            }

            #(#methods)*
        }
    })
}
