//! Compile errors of the rules: one trait, a *predicate*, for each condition of a rule on types, with the text that rustc
//! shows when a type does not meet it.

use proc_macro2::TokenStream;
use quote::quote;

use super::markers::Markers;
use super::names::shouting;
use super::{bug, doc, ident, value};
use crate::mistake::Mistakes;
use crate::model::{By, Holds, Kind, Model, Predicate, Rule};

/// Emits the predicates on the facts of an envelope.
pub(super) fn emit(model: &Model, markers: &Markers) -> Result<TokenStream, Mistakes> {
    markers.check(model)?;
    let mut tokens = TokenStream::new();
    for (rule, predicate) in all(model).filter(|(_, predicate)| predicate.requires.is_none()) {
        tokens.extend(one(rule, predicate, markers.proof_of(&predicate.name))?);
        tokens.extend(holds(model, predicate, &quote!(values))?);
    }
    Ok(tokens)
}

/// Emits the predicates on the moves of an episode.
pub(super) fn of_episode(model: &Model) -> Result<TokenStream, Mistakes> {
    let all = all(model).filter(|(_, predicate)| predicate.requires.is_some());
    let values = quote!(::omen_invariants::facts::values);
    let mut tokens = TokenStream::new();
    for (rule, predicate) in all {
        tokens.extend(one(rule, predicate, None)?);
        tokens.extend(holds(model, predicate, &values)?);
    }
    Ok(tokens)
}

/// Emits the implementations for the values that satisfy a predicate, if the rules list them; `values` is the module of
/// all markers.
fn holds(model: &Model, predicate: &Predicate, values: &TokenStream) -> Result<TokenStream, Mistakes> {
    let Some(Holds { of, by }) = &predicate.holds else { return Ok(TokenStream::new()) };
    let name = ident(&predicate.name);
    let marker = |of: &str, wire: &str| {
        let (module, value) = (ident(&shouting(of).to_lowercase()), value(model, of, wire)?);
        Ok::<_, Mistakes>(quote!(#values::#module::#value))
    };
    let mut pairs = Vec::new();
    match by {
        By::Demand { object, requires, required } => {
            let no_demand = || bug(format!("nothing requires `{requires}` of `{object}`"));
            let demands = model.object(object).ok_or_else(no_demand)?.demands();
            let demand = demands.iter().find(|demand| demand.requires == requires).ok_or_else(no_demand)?;
            let Kind::Enum(variants) = &model.def(of)?.kind else { return Err(no_demand()) };
            let fulfils = |value: &str| demand.values.contains(&value) == *required;
            for value in variants.iter().map(|variant| &variant.wire).filter(|value| fulfils(value)) {
                pairs.push((TokenStream::new(), marker(of, value)?));
            }
        }
        By::Parameter { of: parameter, values } => {
            for (value, fulfil) in values {
                let parameter = marker(parameter, value)?;
                for value in fulfil {
                    pairs.push((quote!(<#parameter>), marker(of, value)?));
                }
            }
        }
    }
    let impls = pairs.into_iter().map(|(parameter, marker)| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #name #parameter for #marker {}
        }
    });
    Ok(quote!(#(#impls)*))
}

fn all(model: &Model) -> impl Iterator<Item = (&Rule, &Predicate)> {
    model.rules.iter().flat_map(|rule| rule.predicates.iter().map(move |predicate| (rule, predicate)))
}

fn one(rule: &Rule, predicate: &Predicate, proof: Option<&str>) -> Result<TokenStream, Mistakes> {
    let Predicate { name, parameters, requires, message, label, note, .. } = predicate;
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
        // Macros in other crates implement the predicate, where privacy does not help. So each implementation must name
        // a proof, whose trait is sealed.
        (Some(path), _) => {
            let proof: syn::Path =
                syn::parse_str(path).map_err(|error| bug(format!("`{path}` is not a Rust path: {error}")))?;
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

/// Returns a parameter's name and its declaration.
fn parameter(name: &str) -> (syn::Ident, TokenStream) {
    let name = ident(name);
    let declared = if name == super::NUMBER { quote!(const #name: usize) } else { quote!(#name) };
    (name, declared)
}
