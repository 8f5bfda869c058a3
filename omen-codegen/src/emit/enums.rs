//! Enums of strings.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, doc, ident, keywords};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let Kind::Enum(values) = &def.kind else { return Ok(TokenStream::new()) };
    let (name, text) = (ident(&def.name), &def.name);
    let docs = doc(&def.description);
    let declared = context.types.enumeration(&def.name)?;
    let idents: Vec<_> = values.iter().map(|value| ident(&value.name)).collect();
    let wires: Vec<_> = values.iter().map(|value| value.wire.as_str()).collect();
    let descriptions: Vec<_> = values.iter().map(|value| &value.description).collect();
    let limits: Vec<_> =
        values.iter().zip(&idents).filter_map(|(value, ident)| Some((ident, value.stale_after?))).collect();
    let stale_after = (!limits.is_empty()).then(|| {
        let (limited, limits): (Vec<_>, Vec<_>) = limits.into_iter().unzip();
        let rest = (limited.len() < values.len()).then(|| quote!(_ => None,));
        quote! {
            /// Returns the default maximum age of evidence, in seconds, for packets that do not state one; `None` if
            /// there is no limit.
            #[must_use]
            pub fn stale_after_seconds(self) -> Option<u64> {
                match self { #(#name::#limited => Some(#limits),)* #rest }
            }
        }
    });
    let expects = format!("one of {}", wires.iter().map(|wire| format!("`{wire}`")).collect::<Vec<_>>().join(", "));
    let parser = keywords::emit(&name, &wires, &idents);
    Ok(quote! {
        #docs
        #declared

        impl #name {
            /// All values, in schema order.
            pub const ALL: &'static [#name] = &[#(#name::#idents),*];

            /// Returns the JSON name of the value.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(#name::#idents => #wires),* }
            }

            /// Returns the meaning of the value.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { #(#name::#idents => #descriptions),* }
            }

            #stale_after

            #[inline]
            fn from_text(text: &str) -> Option<Self> {
                match text { #(#wires => Some(#name::#idents),)* _ => None }
            }
        }

        text_enum!(#name, #text, #expects);

        #parser
    })
}
