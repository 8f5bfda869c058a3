//! The way of a request through the gate: one method for each state that has a next one, and an answer to
//! every other.
//!
//! The pipeline says which method leads from which state to which; that the functions say the same is
//! checked here. What answers calls out of turn is made as for an episode.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::{self, VisitMut};

use super::functions::{self, Implementation};
use super::names::pascal;
use super::{doc, ident};
use crate::load::GATE_FILE;
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Model, OutOfTurn};

/// What is in a state.
const CARRIER: &str = "Request";

pub(super) fn emit(model: &Model, files: &[(String, String)]) -> Result<TokenStream, Mistakes> {
    let functions = functions::read(CARRIER, files)?;
    let steps = steps(model, &functions)?;
    let types = types(&functions);
    let methods = steps.iter().map(Step::method);
    let mut places: Vec<Place<'_>> = Vec::new();
    for (at, step) in model.gate.pipeline.iter().enumerate() {
        let own = step.next.as_ref().map(|next| (format!("{}First", pascal(&next.method)), &next.refused));
        places.push(Place { state: &step.state, ty: type_of(&types, &step.state)?, at: Some(at), own });
    }
    for end in &model.gate.ends {
        let own = Some((format!("{}Ends", end.state), &end.refused));
        places.push(Place { state: &end.state, ty: type_of(&types, &end.state)?, at: None, own });
    }
    if let Some(stray) = types.keys().find(|name| places.iter().all(|place| place.state != **name)) {
        return Err(mistake(format!("a function names the state `{stray}`, which no request is ever in")));
    }
    let again = answer("OnlyOnce", &model.gate.again);
    let explained = places.iter().map(|place| place.explain(&steps));
    Ok(quote! {
        #(#methods)*
        /// What answers steps that are out of turn. Nothing here can be called.
        #[doc(hidden)]
        pub mod explain {
            #[allow(clippy::wildcard_imports, reason = "the states are many")]
            use super::*;

            #again
            #(#explained)*
        }
    })
}

/// A step, and the function that takes it.
struct Step<'m> {
    description: &'m str,
    function: &'m Implementation,
}

/// The steps with their functions, in order.
fn steps<'m>(model: &'m Model, functions: &'m [Implementation]) -> Result<Vec<Step<'m>>, Mistakes> {
    let mut steps = Vec::new();
    for pair in model.gate.pipeline.windows(2) {
        let [from, to] = pair else { continue };
        let Some(next) = &from.next else { continue };
        let mut of = functions.iter().filter(|function| function.method == next.method);
        let (Some(function), None) = (of.next(), of.next()) else {
            return Err(mistake(format!("there is not just one function in steps/{}.rs", next.method)));
        };
        if name(&function.state).is_none_or(|state| state != from.state) {
            return Err(mistake(format!(
                "`{}` is a step from `{}`, and its function takes another",
                next.method, from.state
            )));
        }
        let mut states = States::default();
        states.visit_return_type_mut(&mut function.output.clone());
        if !states.0.contains_key(&to.state) {
            return Err(mistake(format!("`{}` leads to `{}`, and its function does not", next.method, to.state)));
        }
        steps.push(Step { description: &from.description, function });
    }
    match functions.iter().find(|function| steps.iter().all(|step| step.function.method != function.method)) {
        Some(stray) => Err(mistake(format!("steps/{}.rs is no step of the pipeline", stray.method))),
        None => Ok(steps),
    }
}

impl Step<'_> {
    /// The method of the one state that has it.
    fn method(&self) -> TokenStream {
        let Implementation { function, docs, state, parameters, output, .. } = self.function;
        let method = ident(&self.function.method);
        let own = parameters_of(state);
        let mut generics = self.function.generics.clone();
        let clause = generics.where_clause.take();
        let (of_type, of_method): (Vec<_>, Vec<_>) = generics.params.into_iter().partition(
            |parameter| matches!(parameter, syn::GenericParam::Type(parameter) if own.contains(&parameter.ident)),
        );
        let of_method = (!of_method.is_empty()).then(|| quote!(<#(#of_method),*>));
        let (names, types): (Vec<_>, Vec<_>) = parameters.iter().map(|(name, ty)| (name, ty)).unzip();
        let (asynchronous, wait) = match self.function.is_async {
            true => (Some(quote!(async)), Some(quote!(.await))),
            false => (None, None),
        };
        let (heading, carrier) = (doc(self.description), ident(CARRIER));
        quote! {
            #heading
            impl<#(#of_type),*> #carrier<#state> {
                #(#docs)*
                pub #asynchronous fn #method #of_method (self, #(#names: #types),*) #output #clause {
                    steps::#method::#function(self, #(#names),*) #wait
                }
            }
        }
    }
}

/// A state that a request may be in.
struct Place<'m> {
    state: &'m str,
    ty: &'m syn::Type,
    /// Which step it is; `None` where a request ends early.
    at: Option<usize>,
    /// What answers the methods that come after it, with the name of the trait.
    own: Option<(String, &'m OutOfTurn)>,
}

impl Place<'_> {
    /// The answers that calls get here.
    fn explain(&self, steps: &[Step<'_>]) -> TokenStream {
        let (group, explain) = (format_ident!("In{}", self.state), format_ident!("Explain{}", self.state));
        let (ty, parameters, carrier) = (self.ty, parameters_of(self.ty), ident(CARRIER));
        let own = self.own.as_ref().map(|(name, refused)| answer(name, refused));
        let mut heads = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let answer = match (&self.own, self.at) {
                (_, Some(at)) if number == at => continue,
                (Some((own, _)), at) if at.is_none_or(|at| number > at) => ident(own),
                _ => ident("OnlyOnce"),
            };
            let method = ident(&step.function.method);
            let generics = step.function.named_at_call();
            let names = step.function.parameters.iter().map(|(name, _)| format_ident!("_{name}"));
            heads.push(
                quote!(fn #method #generics (self, #(#names: impl Sized),*) -> <S as #answer>::Out where S: #answer),
            );
        }
        quote! {
            #own
            pub trait #group {}
            impl<#(#parameters),*> #group for #ty {}
            pub trait #explain<S>: Sized { #(#heads;)* }
            impl<S: #group> #explain<S> for #carrier<S> { #(#heads { S::out(self) })* }
        }
    }
}

/// A trait that nothing has, with a text for the compiler to print.
fn answer(name: &str, refused: &OutOfTurn) -> TokenStream {
    let OutOfTurn { code, message, note } = refused;
    let message = format!("{code}: {message}");
    let (name, carrier) = (ident(name), ident(CARRIER));
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "out of turn: the request is `{Self}`", note = #note)]
        pub trait #name: Sized {
            type Out;
            fn out(request: #carrier<Self>) -> Self::Out;
        }
    }
}

/// The states that the functions speak of, by name.
fn types(functions: &[Implementation]) -> BTreeMap<String, syn::Type> {
    let mut states = States::default();
    for function in functions {
        states.0.extend(name(&function.state).map(|name| (name, function.state.clone())));
        states.visit_return_type_mut(&mut function.output.clone());
    }
    states.0
}

fn type_of<'t>(types: &'t BTreeMap<String, syn::Type>, state: &str) -> Result<&'t syn::Type, Mistakes> {
    types.get(state).ok_or_else(|| mistake(format!("no function takes or gives a request that is `{state}`")))
}

/// Collects the states of all carriers in a type.
#[derive(Default)]
struct States(BTreeMap<String, syn::Type>);

impl VisitMut for States {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let Some(state) = functions::state_of(CARRIER, ty)
            && let Some(name) = name(&state)
        {
            self.0.insert(name, state);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// The name of a type, without its path and its parameters.
fn name(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// The parameters of a state's type: all that stands in its angle brackets.
fn parameters_of(ty: &syn::Type) -> Vec<syn::Ident> {
    let syn::Type::Path(path) = ty else { return Vec::new() };
    let Some(syn::PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|last| &last.arguments)
    else {
        return Vec::new();
    };
    let argument = |argument: &syn::GenericArgument| match argument {
        syn::GenericArgument::Type(syn::Type::Path(path)) => path.path.get_ident().cloned(),
        _ => None,
    };
    arguments.args.iter().filter_map(argument).collect()
}

fn mistake(problem: String) -> Mistakes {
    Mistake {
        file: GATE_FILE.to_owned(),
        pointer: "/pipeline".to_owned(),
        kind: "pipeline",
        problem,
        mend: "write the function, or change the pipeline".to_owned(),
    }
    .into()
}
