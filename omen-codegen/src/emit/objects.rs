//! Closed objects: a public struct with its builder.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::readers::Mode;
use super::typestate::Builders;
use super::{Context, DefinitionCode, branches, doc, ident, packet_builder, parser, value};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind, Model, Object, Ty};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<DefinitionCode, Mistakes> {
    let Kind::Object(object) = &def.kind else { return Ok(DefinitionCode::default()) };
    let (docs, declared) = (doc(&def.description), context.types.structure(&def.name)?);
    let structure = quote!(#docs #declared);
    if object.packet.is_some() {
        // Packets are parsed by the dispatching parser in `packet.rs`.
        let builder = packet_builder::emit(context, def, object)?;
        return Ok(DefinitionCode { items: quote!(#structure #builder), ..DefinitionCode::default() });
    }
    let Builders { items: builders, needs } = branches::emit(context, def, object)?;
    let keys = parser::keys(&def.name, object)?;
    let check = parser::emit(context, def, object, Mode::Check)?;
    let demands = demands(context.model, def, object)?;
    let items = quote! {
        #structure
        #builders
        #demands
        #keys
        #check
    };
    Ok(DefinitionCode { items, needs: needs.into_iter().collect(), ..DefinitionCode::default() })
}

/// Emits a function for each field that some values of another field require, so that those values are listed only once.
fn demands(model: &Model, def: &Def, object: &Object) -> Result<Option<TokenStream>, Mistakes> {
    let mut functions = Vec::new();
    for demand in object.demands() {
        let Some(Ty::Ref(of)) = object.field(demand.subject).map(|field| &field.ty) else { continue };
        let shared = object.demands().iter().filter(|other| other.requires == demand.requires).count() > 1;
        let function = match shared {
            true => format_ident!("requires_{}_by_{}", demand.requires, demand.subject),
            false => format_ident!("requires_{}", demand.requires),
        };
        let values = demand.values.iter().map(|wire| value(model, of, wire)).collect::<Result<Vec<_>, _>>()?;
        let (subject, of) = (ident(demand.subject), ident(of));
        let docs = doc(&format!("Whether `{}` is required where `{}` has a value.", demand.requires, demand.subject));
        functions.push(quote! {
            #docs
            #[must_use]
            pub const fn #function(#subject: #of) -> bool {
                matches!(#subject, #(#of::#values)|*)
            }
        });
    }
    let name = ident(&def.name);
    Ok((!functions.is_empty()).then(|| quote!(impl #name { #(#functions)* })))
}
