//! Typed API: types for states, a method for each row of the table, and an explanation for each illegal call.

use proc_macro2::TokenStream;
use quote::quote;

use super::fsm::nodes;
use super::functions::{self, Implementation};
use super::{bug, compile_errors, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Answer, Fsm, Model};

mod capability;
mod explain;
mod method;
mod per_state;
mod states;

use states::{StateType, everywhere, find, mistake, next};

pub(super) fn emit(model: &Model, files: &[(String, String)]) -> Result<TokenStream, Mistakes> {
    let fsm = &model.fsm;
    let states = fsm.typed.states.iter().map(StateType::parse).collect::<Result<Vec<_>, _>>()?;
    let implementations = functions::read("Episode", files)?;
    let mut tokens = compile_errors::of_episode(model)?;
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

/// Returns the declaration of the marker type: `Idle`, or `Act` for `Decide<Act>`. Types with parameters are hand-written.
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
        // Hand-written methods and methods that all states share are not generated here.
        let legal = matches!(fsm.answer(state.of, mv), Answer::Legal);
        if !legal || mv.by_hand || everywhere(fsm, states, mv, implementations).is_some() {
            continue;
        }
        let implementation = find(state, mv, implementations).ok_or_else(|| {
            let method = &mv.method;
            mistake(
                at,
                format!("`{method}` is legal in `{}`, but moves/{method}.rs has no function for it", state.of.ty),
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

/// Emits the methods that every state has. They are in one impl, so generic code can call them in any state.
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
