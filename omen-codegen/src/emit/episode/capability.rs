//! Capabilities: traits of the states that have a method, for code that is generic over the state.
//!
//! A state's own methods are inherent, and a generic `S` has none of them. So each capability comes with a trait that
//! has the method for every `S: CanX`. Where the bound is missing, rustc would list all traits that have a method of
//! this name, the answers to illegal calls among them. So there is one more, for a reference: rustc looks there when it
//! has found nothing for the episode itself, and what that trait asks first is the capability.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::functions::Implementation;
use super::super::{doc, ident};
use super::{State, explain, find, method, mistake, next};
use crate::mistake::Mistakes;
use crate::model::{Answer, Capability, Fsm, Model, Move};

/// The capabilities, and the methods that they give.
pub(super) struct Capabilities {
    pub(super) traits: TokenStream,
    pub(super) methods: TokenStream,
    /// The names of the traits that have the methods.
    pub(super) names: Vec<syn::Ident>,
}

pub(super) fn emit(
    model: &Model,
    states: &[State<'_>],
    implementations: &[Implementation],
) -> Result<Capabilities, Mistakes> {
    let mut all = Capabilities { traits: TokenStream::new(), methods: TokenStream::new(), names: Vec::new() };
    for (at, mv) in model.fsm.typed.moves.iter().enumerate() {
        let Some(capability) = &mv.capability else { continue };
        let within = within(&model.fsm, states, mv, implementations);
        let implementation = within.iter().find_map(|state| find(state, mv, implementations)).filter(|_| !mv.by_hand);
        let leads_on = implementation.is_some_and(Implementation::leads_on);
        all.traits.extend(one(model, states, &within, mv, leads_on).map_err(|problem| mistake(at, problem))?);
        if let Some(implementation) = implementation {
            let methods = methods(mv, capability, implementation, leads_on);
            all.methods.extend(methods.map_err(|problem| mistake(at, problem))?);
            all.names.push(carrier("Where", capability));
        }
        all.methods.extend(unknown(mv, capability, implementations));
        all.names.push(carrier("Unless", capability));
    }
    Ok(all)
}

/// The states whose method is the one that is written for any state.
fn within<'s, 'm>(
    fsm: &Fsm,
    states: &'s [State<'m>],
    mv: &Move,
    implementations: &[Implementation],
) -> Vec<&'s State<'m>> {
    let is_generic = |state: &State<'_>| {
        mv.by_hand || find(state, mv, implementations).is_some_and(|implementation| implementation.is_for_any())
    };
    let legal = states.iter().filter(|state| matches!(fsm.answer(state.of, mv), Answer::Legal));
    legal.filter(|state| is_generic(state)).collect()
}

/// The trait, and the states that implement it.
fn one(
    model: &Model,
    states: &[State<'_>],
    within: &[&State<'_>],
    mv: &Move,
    leads_on: bool,
) -> Result<TokenStream, String> {
    let Some(Capability { name, then }) = &mv.capability else { return Ok(TokenStream::new()) };
    let listed: Vec<String> = within.iter().map(|state| format!("`{}`", state.of.ty)).collect();
    let about = doc(&format!("States in which `{}` is legal: {}.", mv.method, listed.join(", ")));
    let message = format!("FSM: `{}` is not known to be legal in the state `{{Self}}`", mv.method);
    let label = format!("needs `{{Self}}: {name}`");
    let note = format!(
        "in code that is generic over the state, add the bound `{name}`; the states that meet it are {}",
        listed.join(", ")
    );
    let (name, then, leads) =
        (ident(name), ident(then), if leads_on { "Where it leads." } else { "The state itself." });
    let leads = doc(leads);
    let impls = within.iter().map(|state| {
        let (generics, ty) = (state.generics(), &state.ty);
        let to = match leads_on {
            true => next(&model.fsm, states, state, mv).ok_or_else(|| {
                format!("no plain type stands for where `{}` leads from `{}`", mv.method, state.of.ty)
            })?,
            false => ty,
        };
        Ok(quote! {
            #[diagnostic::do_not_recommend]
            impl #generics #name for #ty { type #then = #to; }
        })
    });
    let impls = impls.collect::<Result<Vec<_>, String>>()?;
    Ok(quote! {
        #about
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #name: Typestate {
            #leads
            type #then: Typestate;
        }
        #(#impls)*
    })
}

/// The trait that has the method.
fn carrier(prefix: &str, capability: &Capability) -> syn::Ident {
    format_ident!("{prefix}{}", capability.name)
}

/// The method, for every state with the capability.
fn methods(
    mv: &Move,
    capability: &Capability,
    implementation: &Implementation,
    leads_on: bool,
) -> Result<TokenStream, String> {
    let (carrier, can, then) = (carrier("Where", capability), ident(&capability.name), ident(&capability.then));
    let next: syn::Type = syn::parse_quote!(<S as #can>::#then);
    let method::Parts { docs, signature, body } = method::generic(mv, implementation, leads_on.then_some(&next))?;
    Ok(quote! {
        pub trait #carrier<S: #can>: Sized {
            #(#docs)*
            #signature;
        }
        impl<S: #can> #carrier<S> for Episode<S> {
            #signature { #body }
        }
    })
}

/// What a call comes to in a state of which the capability is not known.
fn unknown(mv: &Move, capability: &Capability, implementations: &[Implementation]) -> TokenStream {
    let (can, then, method) = (ident(&capability.name), ident(&capability.then), ident(&mv.method));
    let carrier = carrier("Unless", capability);
    let (generics, parameters) = explain::signature(mv, implementations);
    let head = quote! {
        fn #method #generics (self, #(#parameters: impl Sized),*) -> <<S as #can>::#then as ByReference>::Out
        where
            S: #can<#then: ByReference>
    };
    quote! {
        pub trait #carrier<S>: Sized { #head; }
        impl<S> #carrier<S> for &Episode<S> {
            #head { <S as #can>::#then::out() }
        }
    }
}
