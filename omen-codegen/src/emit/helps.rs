//! Help texts of individual findings: a module for each rule, with a constant for each text and a function for each
//! text with placeholders.

use proc_macro2::TokenStream;
use quote::quote;

use super::{bug, ident};
use crate::mistake::Mistakes;
use crate::model::{Help, Model, Rule};
use crate::placeholders::placeholders;

/// Emits the help texts of some rules. They are private to the crate that checks the rules, so the compiler reports
/// unused texts.
pub(super) fn emit(model: &Model, is_wanted: impl Fn(&Rule) -> bool) -> Result<TokenStream, Mistakes> {
    let mut modules = TokenStream::new();
    for rule in model.rules.iter().filter(|rule| !rule.helps.is_empty() && is_wanted(rule)) {
        let module = ident(&rule.code.to_ascii_lowercase().replace('-', "_"));
        let helps = rule.helps.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let doc = format!(" Helps of `{}`.", rule.code);
        modules.extend(quote! {
            #[doc = #doc]
            pub(crate) mod #module { #(#helps)* }
        });
    }
    Ok(modules)
}

fn one(help: &Help) -> Result<TokenStream, Mistakes> {
    let text = &help.text;
    let names = placeholders(text).map_err(|problem| bug(format!("the help `{}`: {problem}", help.id)))?;
    if names.is_empty() {
        let name = ident(&help.id.to_ascii_uppercase());
        return Ok(quote!(pub(crate) const #name: &str = #text;));
    }
    let (name, names) = (ident(&help.id), names.into_iter().map(ident));
    Ok(quote! {
        pub(crate) fn #name(#(#names: impl ::core::fmt::Display),*) -> ::std::string::String {
            ::std::format!(#text)
        }
    })
}
