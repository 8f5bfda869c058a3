//! Predicates: one trait for each thing that a rule asks of types.

use proc_macro2::TokenStream;
use quote::quote;

use super::markers::Markers;
use super::{bug, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Model, Predicate, Rule};

pub(super) fn emit(model: &Model, markers: &Markers) -> Result<TokenStream, Mistakes> {
    markers.check(model)?;
    let mut tokens = TokenStream::new();
    for rule in &model.rules {
        for predicate in &rule.predicates {
            tokens.extend(one(rule, predicate, markers.proof_of(&predicate.name))?);
        }
    }
    Ok(tokens)
}

fn one(rule: &Rule, predicate: &Predicate, proof: Option<&str>) -> Result<TokenStream, Mistakes> {
    let Predicate { name, parameters, message, label, note } = predicate;
    let parameters: Vec<_> = parameters.iter().map(|name| ident(name)).collect();
    let generics = (!parameters.is_empty()).then(|| quote!(<#(#parameters),*>));
    let docs = [
        doc(&format!("`{}`, {}.", rule.code, rule.title)),
        quote!(#[doc = ""]),
        doc(&rule.statement),
        quote!(#[doc = ""]),
        doc(&format!("Source: {}.", rule.source)),
    ];
    let name = ident(name);
    let body = match proof {
        // Who cannot be kept out by privacy has to show a proof that only a check hands out.
        Some(path) => {
            let proof: syn::Path =
                syn::parse_str(path).map_err(|error| bug(format!("`{path}` is no Rust path: {error}")))?;
            quote! {
                pub trait #name #generics: Sized {
                    #[doc(hidden)]
                    const PROOF: #proof<Self, #(#parameters),*>;
                }
            }
        }
        None => quote!(pub trait #name #generics: sealed::FactSealed {}),
    };
    Ok(quote! {
        #(#docs)*
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        #body
    })
}
