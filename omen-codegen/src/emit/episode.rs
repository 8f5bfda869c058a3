//! The typed API: types for states, a method for each row of the table, and an explanation for each illegal call.

use proc_macro2::TokenStream;
use quote::quote;

use super::fsm::nodes;
use super::functions::{self, Implementation};
use super::{NUMBER, bug, doc, ident, predicates};
use crate::load::FSM_FILE;
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Answer, Fsm, Model, Move, Typestate};

mod capability;
mod explain;
mod method;
mod per_state;

pub(super) fn emit(model: &Model, files: &[(String, String)]) -> Result<TokenStream, Mistakes> {
    let fsm = &model.fsm;
    let states = fsm.typed.states.iter().map(StateType::parse).collect::<Result<Vec<_>, _>>()?;
    let implementations = functions::read("Episode", files)?;
    let mut tokens = predicates::of_episode(model)?;
    for state in &states {
        tokens.extend(marker(state));
        tokens.extend(typestate(fsm, state)?);
    }
    tokens.extend(common(fsm, &states, &implementations)?);
    for state in &states {
        tokens.extend(methods(fsm, &states, state, &implementations)?);
    }
    let capabilities = capability::emit(model, &states, &implementations)?;
    let explained = explain::emit(model, &states, &implementations, &capabilities)?;
    tokens.extend(capabilities.traits);
    tokens.extend(explained);
    Ok(tokens)
}

/// Type that stands for one or more states.
struct StateType<'m> {
    of: &'m Typestate,
    ty: syn::Type,
    /// Type parameters, one capital letter each; `N` is a number.
    parameters: Vec<syn::Ident>,
}

impl<'m> StateType<'m> {
    fn parse(of: &'m Typestate) -> Result<Self, Mistakes> {
        let ty: syn::Type =
            syn::parse_str(&of.ty).map_err(|error| bug(format!("`{}` is not a type: {error}", of.ty)))?;
        let mut parameters = Vec::new();
        let letters = |c: char| !c.is_ascii_alphanumeric();
        for word in of.ty.split(letters).filter(|word| word.len() == 1) {
            let word = ident(word);
            if !parameters.contains(&word) {
                parameters.push(word);
            }
        }
        Ok(Self { of, ty, parameters })
    }

    /// Whether it has no type parameters.
    fn is_plain(&self) -> bool {
        self.parameters.is_empty()
    }

    fn generics(&self) -> TokenStream {
        let parameters = self.parameters.iter().map(|parameter| match parameter == NUMBER {
            true => quote!(const #parameter: usize),
            false => quote!(#parameter),
        });
        quote!(<#(#parameters),*>)
    }
}

/// Returns the declaration of the marker type: `Idle`, or `Act` for `Decide<Act>`. Types with parameters are written by
/// hand.
fn marker(state: &StateType<'_>) -> Option<TokenStream> {
    let name =
        state.of.ty.split(['<', '>']).rfind(|name| !name.is_empty()).filter(|_| state.is_plain() && !state.of.open)?;
    let (name, text) = (ident(name), doc(&state.of.description));
    Some(quote! {
        #text
        #[derive(Debug)]
        pub enum #name {}
    })
}

fn typestate(fsm: &Fsm, state: &StateType<'_>) -> Result<TokenStream, Mistakes> {
    let known = nodes(fsm);
    let mut of = Vec::new();
    for id in &state.of.of {
        let node = known.iter().find(|node| node.id == *id);
        of.push(ident(&node.ok_or_else(|| bug(format!("there is no state `{id}`")))?.name));
    }
    let (ty, generics, name, open) = (&state.ty, state.generics(), &state.of.ty, state.of.open);
    Ok(quote! {
        impl #generics EpisodeSealed for #ty {}
        impl #generics Typestate for #ty {
            const NAME: &'static str = #name;
            const NODES: &'static [Node] = &[#(Node::#of),*];
            const OPEN: bool = #open;
        }
    })
}

/// Emits the methods of a state.
fn methods(
    fsm: &Fsm,
    states: &[StateType<'_>],
    state: &StateType<'_>,
    implementations: &[Implementation],
) -> Result<Option<TokenStream>, Mistakes> {
    let mut methods = Vec::new();
    for (at, mv) in fsm.typed.moves.iter().enumerate() {
        // Methods written by hand or shared by all states are not generated here.
        let legal = matches!(fsm.answer(state.of, mv), Answer::Legal);
        if !legal || mv.by_hand || everywhere(fsm, states, mv, implementations).is_some() {
            continue;
        }
        let implementation = find(state, mv, implementations).ok_or_else(|| {
            let method = &mv.method;
            mistake(
                at,
                format!("`{method}` is legal in `{}`, and moves/{method}.rs has no function for it", state.of.ty),
            )
        })?;
        // The states of a capability share one method: see `capability`.
        if mv.capability.as_ref().is_some_and(|capability| !capability.per_state) && implementation.is_for_any() {
            continue;
        }
        let next = next(fsm, states, state, mv);
        methods.push(method::emit(state, mv, implementation, next).map_err(|problem| mistake(at, problem))?);
    }
    if methods.is_empty() {
        return Ok(None);
    }
    let (ty, generics) = (&state.ty, state.generics());
    let heading = doc(&state.of.description);
    Ok(Some(quote! {
        #heading
        impl #generics Episode<#ty> { #(#methods)* }
    }))
}

/// Emits the methods that every state has. They are in one impl, so that generic code can call them in any state.
fn common(
    fsm: &Fsm,
    states: &[StateType<'_>],
    implementations: &[Implementation],
) -> Result<Option<TokenStream>, Mistakes> {
    let Some(first) = states.first() else { return Ok(None) };
    let any = StateType { of: first.of, ty: functions::any(), parameters: Vec::new() };
    let mut methods = Vec::new();
    for (at, mv) in fsm.typed.moves.iter().enumerate() {
        if let Some(implementation) = everywhere(fsm, states, mv, implementations) {
            methods.push(method::emit(&any, mv, implementation, None).map_err(|problem| mistake(at, problem))?);
        }
    }
    let ty = &any.ty;
    Ok((!methods.is_empty()).then(|| {
        quote! {
            /// Methods that are legal in every state.
            impl<#ty> Episode<#ty> { #(#methods)* }
        }
    }))
}

/// Returns the function of a move that is legal in every state and always leads to the same state.
fn everywhere<'i>(
    fsm: &Fsm,
    states: &[StateType<'_>],
    mv: &Move,
    implementations: &'i [Implementation],
) -> Option<&'i Implementation> {
    let mut of = implementations.iter().filter(|implementation| implementation.method == mv.method);
    let only = of.next().filter(|only| only.is_for_any() && !only.leads_on())?;
    let legal = states.iter().all(|state| matches!(fsm.answer(state.of, mv), Answer::Legal));
    (legal && !mv.by_hand && of.next().is_none()).then_some(only)
}

/// Returns the function for this state, or else the function for any state.
fn find<'i>(state: &StateType<'_>, mv: &Move, implementations: &'i [Implementation]) -> Option<&'i Implementation> {
    let mut of = implementations.iter().filter(|implementation| implementation.method == mv.method);
    let exact = of.clone().find(|implementation| implementation.is_for(&state.ty));
    exact.or_else(|| {
        of.find(|implementation| implementation.is_for_any() && (state.is_plain() || !implementation.leads_on()))
    })
}

/// Returns the type of the state to which a move leads, if a type stands for it.
fn next<'s>(fsm: &Fsm, states: &'s [StateType<'_>], state: &StateType<'_>, mv: &Move) -> Option<&'s syn::Type> {
    let mut targets = fsm.targets(state.of, &mv.events);
    targets.sort_unstable();
    let stands = |candidate: &&StateType<'_>| {
        let mut of: Vec<&str> = candidate.of.of.iter().map(String::as_str).collect();
        of.sort_unstable();
        of == targets && candidate.is_plain() && !candidate.of.open
    };
    states.iter().find(stands).map(|state| &state.ty)
}

fn mistake(at: usize, problem: String) -> Mistakes {
    Mistake {
        place: None,
        file: FSM_FILE.to_owned(),
        pointer: format!("/typed/moves/{at}"),
        kind: "typed",
        problem,
        help: "write the function, change the rows, or list the type in `except`".to_owned(),
    }
    .into()
}
