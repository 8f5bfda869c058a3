//! Enums of strings.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::pascal;
use super::{bug, doc, ident, words};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind};

pub(super) fn emit(def: &Def) -> Result<TokenStream, Mistakes> {
    let Kind::Enum(values) = &def.kind else { return Ok(TokenStream::new()) };
    let (name, text) = (ident(&def.name), &def.name);
    let docs = doc(&def.description);
    let idents: Vec<_> = values.iter().map(|value| ident(&pascal(&value.wire))).collect();
    if let Some((at, twice)) =
        idents.iter().enumerate().find(|(at, ident)| idents.iter().take(*at).any(|i| i == *ident))
    {
        let wire = values.get(at).map_or("", |value| value.wire.as_str());
        return Err(bug(format!("two values of `{}` have the Rust name `{twice}`, one of them `{wire}`", def.name)));
    }
    let wires: Vec<_> = values.iter().map(|value| value.wire.as_str()).collect();
    let descriptions: Vec<_> = values.iter().map(|value| &value.description).collect();
    let value_docs = values.iter().map(|value| doc(&format!("`{}`: {}", value.wire, value.description)));
    let limits: Vec<_> =
        values.iter().filter_map(|value| Some((ident(&pascal(&value.wire)), value.stale_after?))).collect();
    let stale_after = (!limits.is_empty()).then(|| {
        let (limited, limits): (Vec<_>, Vec<_>) = limits.into_iter().unzip();
        let rest = (limited.len() < values.len()).then(|| quote!(_ => None,));
        quote! {
            /// The age in seconds beyond which evidence is stale where a packet does not say; `None` if there is no limit.
            #[must_use]
            pub fn stale_after_seconds(self) -> Option<u64> {
                match self { #(#name::#limited => Some(#limits),)* #rest }
            }
        }
    });
    let expects = format!("one of {}", wires.iter().map(|wire| format!("`{wire}`")).collect::<Vec<_>>().join(", "));
    let parser = words::emit(&name, &wires, &idents);
    Ok(quote! {
        #docs
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
        pub enum #name { #(#value_docs #[serde(rename = #wires)] #idents),* }

        impl #name {
            /// Every value, in schema order.
            pub const ALL: &'static [#name] = &[#(#name::#idents),*];

            /// The value as it is written in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(#name::#idents => #wires),* }
            }

            /// What the value means.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { #(#name::#idents => #descriptions),* }
            }

            #stale_after

            #[inline]
            fn of(text: &str) -> Option<Self> {
                match text { #(#wires => Some(#name::#idents),)* _ => None }
            }
        }

        text_enum!(#name, #text, #expects);

        #parser
    })
}
