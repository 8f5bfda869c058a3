//! Enums of strings.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::pascal;
use super::{Context, bug, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let Kind::Enum(values) = &def.kind else { return Ok(TokenStream::new()) };
    let made = context.skeleton.enumeration(&def.name)?;
    if made.variants.len() != values.len() {
        return Err(bug(format!(
            "typify made {} of the {} values of `{}`",
            made.variants.len(),
            values.len(),
            def.name
        )));
    }
    let (name, text) = (ident(&def.name), &def.name);
    let docs = doc(&def.description);
    let idents: Vec<_> = values.iter().map(|value| ident(&pascal(&value.wire))).collect();
    let wires: Vec<_> = values.iter().map(|value| &value.wire).collect();
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

        impl ::std::fmt::Display for #name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for #name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::of(text).ok_or_else(|| Invalid::new(#text, #expects, text.to_owned()))
            }
        }

        impl<'de> Read<'de> for #name {
            type Out = Self;

            #[inline]
            fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Seed::<Self>::new())
            }
        }

        impl Visitor<'_> for Seed<#name> {
            type Value = #name;

            fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(#expects)
            }

            #[inline]
            fn visit_str<E: Error>(self, text: &str) -> Result<#name, E> {
                #name::of(text).ok_or_else(|| E::custom(#expects))
            }
        }

        impl<'de> ::serde::Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <Self as Read<'de>>::read(deserializer)
            }
        }
    })
}
