//! Facts: the fields that rules check, borrowed from the input line.

use proc_macro2::TokenStream;
use quote::quote;

use super::readers::{Mode, Reader, borrows, member};
use super::{Context, doc, ident, parser};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind, Ty};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let (Kind::Object(object), true) = (&def.kind, context.lens.looks_into(&def.name)) else {
        return Ok(TokenStream::new());
    };
    let facts = ident(&format!("{}Facts", def.name));
    let mut fields = Vec::new();
    for field in object.fields.iter().filter(|field| context.lens.keeps(&def.name, &field.name)) {
        let Reader { out, .. } = member(context, &def.name, field, Mode::Facts)?;
        let out = if field.required { out } else { quote!(Option<#out>) };
        let is_any = matches!(&field.ty, Ty::Ref(name) if matches!(context.model.def(name)?.kind, Kind::Any));
        let about = if is_any { "Whether it has a value other than `null`. " } else { "" };
        let (field_name, docs) = (ident(&field.name), doc(&format!("{about}{}", field.description)));
        fields.push(quote!(#docs pub #field_name: #out));
    }
    let docs = doc(&format!("The members of `{}` that rules check.", def.name));
    let lifetime = borrows(context, &def.name).then(|| quote!(<'t>));
    let reader = parser::emit(context, def, object, Mode::Facts)?;
    Ok(quote! {
        #docs
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct #facts #lifetime { #(#fields),* }
        #reader
    })
}

/// Emits the module with the facts of all objects. Only the crates that judge packets name these types; other code gets
/// them as parts of `PacketFacts`.
pub(super) fn module(facts: &TokenStream) -> Option<TokenStream> {
    (!facts.is_empty()).then(|| {
        quote! {
            /// Facts of objects: the fields that rules check.
            #[doc(hidden)]
            pub mod facts {
                use super::*;

                #facts
            }

            #[doc(hidden)]
            pub use facts::*;
        }
    })
}
