//! `enum GateCode` of the tool boundary, and the texts of each.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::pascal;
use super::{doc, ident};
use crate::model::{GateCode, Model};

/// A text: the name of its method, what the method says of itself, and where it stands.
type Text = (&'static str, &'static str, fn(&GateCode) -> &str);

/// The texts, each with the name of its method and what the method says of itself.
const TEXTS: &[Text] = &[
    ("as_str", "The code as it is written, such as `PG-3`.", |code| &code.code),
    ("title", "A few words.", |code| &code.title),
    ("statement", "What must be so.", |code| &code.statement),
    ("rationale", "Why.", |code| &code.rationale),
    ("help", "The way out.", |code| &code.help),
    ("source", "Where it comes from: a section of the documents, a decision.", |code| &code.source),
];

pub(super) fn emit(model: &Model) -> TokenStream {
    let codes = &model.gate.codes;
    let variants: Vec<_> = codes.iter().map(|code| ident(&pascal(&code.code))).collect();
    let docs = codes.iter().map(|code| doc(&format!("`{}`: {}.", code.code, code.title)));
    let methods = TEXTS.iter().map(|(name, about, text)| {
        let (name, about) = (ident(name), doc(about));
        let texts = codes.iter().map(text);
        quote! {
            #about
            #[must_use]
            pub fn #name(self) -> &'static str {
                match self { #(GateCode::#variants => #texts),* }
            }
        }
    });
    quote! {
        /// What a refusal, a failure or an entry of the audit log refers to. Stable: codes are added,
        /// never changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum GateCode { #(#docs #variants),* }

        impl GateCode {
            /// Every code, in the documents' order.
            pub const ALL: &'static [GateCode] = &[#(GateCode::#variants),*];

            #(#methods)*
        }
    }
}
