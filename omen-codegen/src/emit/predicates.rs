//! Predicates: one trait for each thing that a rule asks of types.

use proc_macro2::TokenStream;
use quote::quote;

use super::markers::Markers;
use super::{bug, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Model, Predicate, Rule};

/// What is asked of the facts of an envelope.
pub(super) fn emit(model: &Model, markers: &Markers) -> Result<TokenStream, Mistakes> {
    markers.check(model)?;
    let mut tokens = TokenStream::new();
    for (rule, predicate) in all(model).filter(|(_, predicate)| predicate.requires.is_none()) {
        tokens.extend(one(rule, predicate, markers.proof_of(&predicate.name))?);
    }
    Ok(tokens)
}

/// What is asked where an episode moves.
pub(super) fn of_episode(model: &Model) -> Result<TokenStream, Mistakes> {
    let all = all(model).filter(|(_, predicate)| predicate.requires.is_some());
    all.map(|(rule, predicate)| one(rule, predicate, None)).collect()
}

fn all(model: &Model) -> impl Iterator<Item = (&Rule, &Predicate)> {
    model.rules.iter().flat_map(|rule| rule.predicates.iter().map(move |predicate| (rule, predicate)))
}

fn one(rule: &Rule, predicate: &Predicate, proof: Option<&str>) -> Result<TokenStream, Mistakes> {
    let Predicate { name, parameters, requires, message, label, note } = predicate;
    let (names, parameters): (Vec<_>, Vec<_>) = parameters.iter().map(|name| parameter(name)).unzip();
    let generics = (!parameters.is_empty()).then(|| quote!(<#(#parameters),*>));
    let docs = [
        doc(&format!("`{}`, {}.", rule.code, rule.title)),
        quote!(#[doc = ""]),
        doc(&rule.statement),
        quote!(#[doc = ""]),
        doc(&format!("Source: {}.", rule.source)),
    ];
    let name = ident(name);
    let body = match (proof, requires) {
        // A macro implements it in other crates, where privacy keeps nobody out; so each implementation has to name a
        // proof, whose trait is sealed.
        (Some(path), _) => {
            let proof: syn::Path =
                syn::parse_str(path).map_err(|error| bug(format!("`{path}` is no Rust path: {error}")))?;
            quote! {
                pub trait #name #generics: Sized {
                    #[doc(hidden)]
                    type Proof: #proof<Self, #(#names),*>;
                }
            }
        }
        (None, Some(required)) => {
            let required = ident(required);
            quote!(pub trait #name #generics: #required {})
        }
        (None, None) => quote!(pub trait #name #generics: sealed::FactSealed {}),
    };
    let notes = note.lines();
    Ok(quote! {
        #(#docs)*
        #[diagnostic::on_unimplemented(message = #message, label = #label, #(note = #notes),*)]
        #body
    })
}

/// A parameter's name, and how it is declared.
fn parameter(name: &str) -> (syn::Ident, TokenStream) {
    let name = ident(name);
    let declared = if name == super::NUMBER { quote!(const #name: usize) } else { quote!(#name) };
    (name, declared)
}
