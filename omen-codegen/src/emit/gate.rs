//! `enum GateCode` of the tool boundary, and its texts.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::pascal;
use super::{doc, ident};
use crate::model::{GateCode, Model};

/// Name of a text's method, documentation of the method, and accessor of the text.
type TextAccessor = (&'static str, &'static str, fn(&GateCode) -> &str);

/// Texts of a code.
const TEXTS: &[TextAccessor] = &[
    ("as_str", "The code as it is written, such as `PG-3`.", |code| &code.code),
    ("title", "A few words.", |code| &code.title),
    ("statement", "What must be so.", |code| &code.statement),
    ("rationale", "Why.", |code| &code.rationale),
    ("help", "The way out.", |code| &code.help),
    ("source", "Its source: a section of the documents, or a decision.", |code| &code.source),
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
        /// Code to which refusals, failures and entries of the audit log refer. Codes are stable: new ones are added,
        /// existing ones never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum GateCode { #(#docs #variants),* }

        impl GateCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [GateCode] = &[#(GateCode::#variants),*];

            #(#methods)*
        }
    }
}
