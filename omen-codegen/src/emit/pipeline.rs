//! The path of a request through the gate: one method for each state that has a next one, and an answer to
//! every other.
//!
//! The pipeline says which method leads from which state to which; that the functions say the same is
//! checked here. A call out of turn finds a method, too: one that asks for a trait that no state has, and the
//! trait tells the compiler what to say.

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
        /// What steps that are out of turn ask for. Nothing has these traits, and nobody can give them to a state.
        #[doc(hidden)]
        pub mod explain {
            use super::#carrier;

            #again
            #(#answers)*
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
        Some(stray) => Err(mistake(format!("steps/{}.rs is not a step of the pipeline", stray.method))),
        None => Ok(steps),
    }
}

impl Step<'_> {
    /// Whether all of its type parameters are named where it is called, or none is. If some were, a call out of turn
    /// would name fewer than its answer has.
    fn can_be_answered(&self) -> bool {
        let all = self.function.generics.type_params().count();
        self.function.named_at_call().is_none_or(|named| named.type_params().count() == all)
    }

    /// The type parameters without what is asked of them: out of turn, the turn is what is wrong.
    fn generics(&self) -> syn::Generics {
        let mut generics = self.function.generics.clone();
        generics.where_clause = None;
        for parameter in generics.type_params_mut() {
            parameter.bounds.clear();
            parameter.colon_token = None;
        }
        generics
    }

    /// What a call out of turn would give if it could be made: what the step gives in its turn, so that the rest of the
    /// program is right, and the call is the one mistake.
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
    /// The answers that calls get here: methods of the same names, which ask for what no state has. They are methods of
    /// the type itself, so that no program has to import them.
    fn explain(&self, steps: &[Step<'_>]) -> TokenStream {
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
            // Of a bound without anything open in it, rustc would say here already that it does not hold.
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

    /// The state's type with other names for its parameters, so that they are not those of a step.
    fn renamed(&self) -> (syn::Type, Vec<syn::Ident>) {
        let old: Vec<_> = parameters_of(self.ty).iter().map(ToString::to_string).collect();
        let new: Vec<_> = old.iter().map(|name| format_ident!("Of{name}")).collect();
        let types: Vec<syn::Type> = new.iter().map(|name| syn::parse_quote!(#name)).collect();
        let mut ty = self.ty.clone();
        Substitute(old.iter().map(String::as_str).zip(&types).collect()).visit_type_mut(&mut ty);
        (ty, new)
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
            fn never<Out>(request: #carrier<Self>) -> Out;
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
        place: None,
        file: GATE_FILE.to_owned(),
        pointer: "/pipeline".to_owned(),
        kind: "pipeline",
        problem,
        help: "write the function, or change the pipeline".to_owned(),
    }
    .into()
}
