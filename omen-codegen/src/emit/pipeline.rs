//! Path of a request through the gate: one method for each state that has a successor, and an explanation for every other call.
//!
//! The pipeline defines which method leads from which state to which; this module checks that the functions agree. A call out
//! of order also finds a method, but its bound is a trait that no state implements, and this trait has the compile error.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::{self, VisitMut};

use super::functions::{self, Implementation, Substitute};
use super::names::pascal;
use super::{doc, ident};
use crate::load::GATE_FILE;
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Model, OutOfTurn};

/// Type that carries the state.
const CARRIER: &str = "Request";

pub(super) fn emit(model: &Model, files: &[(String, String)]) -> Result<TokenStream, Mistakes> {
    let functions = functions::read(CARRIER, files)?;
    let steps = steps(model, &functions)?;
    let types = types(&functions);
    let methods = steps.iter().map(PipelineStep::method);
    let mut places: Vec<RequestState<'_>> = Vec::new();
    for (at, step) in model.gate.pipeline.iter().enumerate() {
        let own = step.next.as_ref().map(|next| (format!("{}First", pascal(&next.method)), &next.refused));
        places.push(RequestState { state: &step.state, ty: type_of(&types, &step.state)?, at: Some(at), own });
    }
    for end in &model.gate.ends {
        let own = Some((format!("{}Ends", end.state), &end.refused));
        places.push(RequestState { state: &end.state, ty: type_of(&types, &end.state)?, at: None, own });
    }
    if let Some(stray) = types.keys().find(|name| places.iter().all(|place| place.state != **name)) {
        return Err(mistake(format!("a function names the state `{stray}`, which no request is ever in")));
    }
    if let Some(step) = steps.iter().find(|step| !step.can_be_answered()) {
        let method = &step.function.method;
        return Err(mistake(format!("`{method}` has type parameters of its own besides its state's")));
    }
    let again = answer("OnlyOnce", &model.gate.again);
    let answers = places.iter().filter_map(|place| place.own.as_ref()).map(|(name, refused)| answer(name, refused));
    let explained = places.iter().map(|place| place.explain(&steps));
    let carrier = ident(CARRIER);
    Ok(quote! {
        #(#methods)*
        #(#explained)*
        /// Bounds of methods that are called out of order. No type implements these traits, and other crates cannot
        /// implement them for a state.
        #[doc(hidden)]
        pub mod explain {
            use super::#carrier;

            #again
            #(#answers)*
        }
    })
}

/// Step of the pipeline, with its function.
struct PipelineStep<'m> {
    description: &'m str,
    function: &'m Implementation,
}

/// Returns the steps with their functions, in order.
fn steps<'m>(model: &'m Model, functions: &'m [Implementation]) -> Result<Vec<PipelineStep<'m>>, Mistakes> {
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
                "`{}` is a step from `{}`, but its function takes another state",
                next.method, from.state
            )));
        }
        let mut states = StateCollector::default();
        states.visit_return_type_mut(&mut function.output.clone());
        if !states.0.contains_key(&to.state) {
            return Err(mistake(format!("`{}` leads to `{}`, but its function does not", next.method, to.state)));
        }
        steps.push(PipelineStep { description: &from.description, function });
    }
    match functions.iter().find(|function| steps.iter().all(|step| step.function.method != function.method)) {
        Some(stray) => Err(mistake(format!("steps/{}.rs is not a step of the pipeline", stray.method))),
        None => Ok(steps),
    }
}

impl PipelineStep<'_> {
    /// Returns whether either all type parameters or none are named at the call. Otherwise, a call out of order would
    /// name fewer parameters than the explaining method has.
    fn can_be_answered(&self) -> bool {
        let all = self.function.generics.type_params().count();
        self.function.named_at_call().is_none_or(|named| named.type_params().count() == all)
    }

    /// Returns the type parameters without their bounds: for a call out of order, only the order should be reported.
    fn generics(&self) -> syn::Generics {
        let mut generics = self.function.generics.clone();
        generics.where_clause = None;
        for parameter in generics.type_params_mut() {
            parameter.bounds.clear();
            parameter.colon_token = None;
        }
        generics
    }

    /// Returns the result type of a call out of order: that of the step, so that the rest of the program type-checks
    /// and this call is the only error.
    fn promised(&self) -> syn::Type {
        let output: syn::Type = match &self.function.output {
            syn::ReturnType::Default => syn::parse_quote!(()),
            syn::ReturnType::Type(_, output) => (**output).clone(),
        };
        match self.function.is_async {
            true => syn::parse_quote!(Never<#output>),
            false => output,
        }
    }

    /// Returns the method of the only state that has it.
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

struct RequestState<'m> {
    state: &'m str,
    ty: &'m syn::Type,
    /// Index of the step; `None` for a state in which a request ends early.
    at: Option<usize>,
    /// Explanation of the later methods, with the name of its trait.
    own: Option<(String, &'m OutOfTurn)>,
}

impl RequestState<'_> {
    /// Emits the explaining methods: methods with the same names, whose bounds no state satisfies. They are inherent,
    /// so programs need no import.
    fn explain(&self, steps: &[PipelineStep<'_>]) -> TokenStream {
        let carrier = ident(CARRIER);
        let (ty, parameters) = self.renamed();
        let mut methods = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let answer = match (&self.own, self.at) {
                (_, Some(at)) if number == at => continue,
                (Some((own, _)), at) if at.is_none_or(|at| number > at) => ident(own),
                _ => ident("OnlyOnce"),
            };
            let method = ident(&step.function.method);
            let generics = step.generics();
            let names = step.function.parameters.iter().map(|(name, _)| format_ident!("_{name}"));
            let output = step.promised();
            // rustc would check a bound without generic parameters where it is declared.
            methods.push(quote! {
                pub fn #method #generics (self, #(#names: impl Sized),*) -> #output where for<'never> #ty: explain::#answer {
                    explain::#answer::never(self)
                }
            });
        }
        quote! {
            #[doc(hidden)]
            impl<#(#parameters),*> #carrier<#ty> { #(#methods)* }
        }
    }

    /// Returns the state's type with renamed parameters, to avoid clashes with those of a step.
    fn renamed(&self) -> (syn::Type, Vec<syn::Ident>) {
        let old: Vec<_> = parameters_of(self.ty).iter().map(ToString::to_string).collect();
        let new: Vec<_> = old.iter().map(|name| format_ident!("Of{name}")).collect();
        let types: Vec<syn::Type> = new.iter().map(|name| syn::parse_quote!(#name)).collect();
        let mut ty = self.ty.clone();
        Substitute(old.iter().map(String::as_str).zip(&types).collect()).visit_type_mut(&mut ty);
        (ty, new)
    }
}

/// Emits a trait without implementations, with its compile error.
fn answer(name: &str, refused: &OutOfTurn) -> TokenStream {
    let OutOfTurn { code, message, note } = refused;
    let message = format!("{code}: {message}");
    let (name, carrier) = (ident(name), ident(CARRIER));
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "out of turn: the request is `{Self}`", note = #note)]
        pub trait #name: Sized {
            fn never<Out>(request: #carrier<Self>) -> Out;
        }
    }
}

/// Returns the states in the functions' signatures, by name.
fn types(functions: &[Implementation]) -> BTreeMap<String, syn::Type> {
    let mut states = StateCollector::default();
    for function in functions {
        states.0.extend(name(&function.state).map(|name| (name, function.state.clone())));
        states.visit_return_type_mut(&mut function.output.clone());
    }
    states.0
}

fn type_of<'t>(types: &'t BTreeMap<String, syn::Type>, state: &str) -> Result<&'t syn::Type, Mistakes> {
    types.get(state).ok_or_else(|| mistake(format!("no function takes or returns a request that is `{state}`")))
}

/// Collects the states of all carriers in a type.
#[derive(Default)]
struct StateCollector(BTreeMap<String, syn::Type>);

impl VisitMut for StateCollector {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let Some(state) = functions::state_of(CARRIER, ty)
            && let Some(name) = name(&state)
        {
            self.0.insert(name, state);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Returns the name of a type without its path and parameters.
fn name(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// Returns the parameters of a state's type: everything in its angle brackets.
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
        place: None,
        file: GATE_FILE.to_owned(),
        pointer: "/pipeline".to_owned(),
        kind: "pipeline",
        problem,
        help: "write the function, or change the pipeline".to_owned(),
    }
    .into()
}
