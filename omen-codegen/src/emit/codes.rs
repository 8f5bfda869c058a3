//! `enum Code`, and the texts of each code.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::pascal;
use super::{doc, ident, list};
use crate::model::Model;

pub(super) fn emit(model: &Model) -> TokenStream {
    let variants: Vec<_> = model.rules.iter().map(|rule| ident(&pascal(&rule.code))).collect();
    let codes: Vec<_> = model.rules.iter().map(|rule| &rule.code).collect();
    let docs = model.rules.iter().map(|rule| doc(&format!("`{}`: {}.", rule.code, rule.title)));
    let infos = model.rules.iter().map(|rule| {
        let (code, title, severity) = (&rule.code, &rule.title, &rule.severity);
        let stage = ident(&pascal(rule.stage.as_str()));
        let (condition, statement, rationale) = (&rule.condition, &rule.statement, &rule.rationale);
        let (help, failure, source, policy) = (&rule.help, &rule.failure, &rule.source, list(&rule.policy));
        let packet_types = list(&rule.packet_types);
        let other = |code: &Option<String>| match code {
            Some(code) => {
                let code = ident(&pascal(code));
                quote!(Some(Code::#code))
            }
            None => quote!(None),
        };
        let (shared, reported_as) = (other(&rule.shared_with), other(&rule.reported_as));
        quote!(RuleInfo {
            code: #code, title: #title, stage: Stage::#stage, severity: #severity, policy: #policy,
            condition: #condition, packet_types: #packet_types, statement: #statement, rationale: #rationale,
            help: #help, failure: #failure, source: #source, shared_with: #shared,
            reported_as: #reported_as,
        })
    });
    quote! {
        /// Code of a finding. Codes are stable: new ones are added, existing ones never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { #(#docs #variants),* }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Code] = &[#(Code::#variants),*];

            /// Returns the code as text, such as `INV-007`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(Code::#variants => #codes),* }
            }

            /// Returns the documentation of the code.
            #[must_use]
            pub fn info(self) -> &'static RuleInfo {
                match self { #(Code::#variants => const { &#infos }),* }
            }
        }
    }
}
