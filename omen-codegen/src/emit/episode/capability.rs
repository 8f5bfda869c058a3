//! Capabilities: traits of the states that have a method, for code that is generic over the state.
//!
//! The states of a capability share one inherent method, whose impl has the bound: `impl<S: CanX> Episode<S>`. A closure over
//! `Episode<_>` therefore finds one method instead of one per state, and generic code calls the same method. Unlike a bound on
//! the method, a bound on the impl is checked during method lookup: in every other state, rustc continues with the traits that
//! explain why the call is illegal. For a generic state without the bound, it would list all of these traits. Therefore, an
//! additional trait is implemented for a reference: rustc tries it last, and its first requirement is the capability.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::functions::Implementation;
use super::super::{doc, ident};
use super::states::{StateType, find, mistake, next};
use super::{method, per_state};
use crate::mistake::Mistakes;
use crate::model::{Answer, Capability, Fsm, Model, Move};

/// Capabilities and their methods.
pub(super) struct Capabilities {
    pub(super) traits: TokenStream,
    /// Traits that explain calls in a generic state without the capability.
    pub(super) explained: TokenStream,
    /// Names of those traits.
    pub(super) names: Vec<syn::Ident>,
}

pub(super) fn emit(
    model: &Model,
    states: &[StateType<'_>],
    implementations: &[Implementation],
) -> Result<Capabilities, Mistakes> {
    let mut all = Capabilities { traits: TokenStream::new(), explained: TokenStream::new(), names: Vec::new() };
    for (at, mv) in model.fsm.typed.moves.iter().enumerate() {
        let Some(capability) = &mv.capability else { continue };
        if capability.per_state {
            let made = per_state::emit(&model.fsm, states, mv, capability, implementations);
            let (traits, methods) = made.map_err(|problem| mistake(at, problem))?;
            all.traits.extend(traits);
            all.explained.extend(methods);
            all.names.push(per_state::carrier(capability));
            continue;
        }
        let within = within(&model.fsm, states, mv, implementations);
        let implementation = within.iter().find_map(|state| find(state, mv, implementations)).filter(|_| !mv.by_hand);
        let leads_on = implementation.is_some_and(Implementation::leads_on);
        all.traits.extend(one(model, states, &within, mv, leads_on).map_err(|problem| mistake(at, problem))?);
        if let Some(implementation) = implementation {
            let shared = shared(mv, capability, implementation, leads_on);
            all.traits.extend(shared.map_err(|problem| mistake(at, problem))?);
        }
        all.explained.extend(unknown(mv, capability, implementations));
        all.names.push(unless(capability));
    }
    Ok(all)
}

/// Returns the states whose method is the function that applies to any state.
fn within<'s, 'm>(
    fsm: &Fsm,
    states: &'s [StateType<'m>],
    mv: &Move,
    implementations: &[Implementation],
) -> Vec<&'s StateType<'m>> {
    let is_generic = |state: &StateType<'_>| {
        mv.by_hand || find(state, mv, implementations).is_some_and(|implementation| implementation.is_for_any())
    };
    let legal = states.iter().filter(|state| matches!(fsm.answer(state.of, mv), Answer::Legal));
    legal.filter(|state| is_generic(state)).collect()
}

/// Emits the trait and its implementations.
fn one(
    model: &Model,
    states: &[StateType<'_>],
    within: &[&StateType<'_>],
    mv: &Move,
    leads_on: bool,
) -> Result<TokenStream, String> {
    let Some(Capability { name, then, .. }) = &mv.capability else { return Ok(TokenStream::new()) };
    let texts = method::texts(mv, name, &[], within);
    let (name, then, leads) =
        (ident(name), ident(then), if leads_on { "The next state." } else { "The state itself." });
    let leads = doc(leads);
    let impls = within.iter().map(|state| {
        let (generics, ty) = (state.generics(), &state.ty);
        let to = match leads_on {
            true => next(&model.fsm, states, state, mv).ok_or_else(|| {
                format!("`{}` leads from `{}` to a state without a plain type", mv.method, state.of.ty)
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
        #texts
        pub trait #name: Typestate {
            #leads
            type #then: Typestate;
        }
        #(#impls)*
    })
}

/// Returns the name of the trait that explains a call in a generic state without the capability.
fn unless(capability: &Capability) -> syn::Ident {
    format_ident!("Unless{}", capability.name)
}

/// Emits the method that all states with the capability share.
fn shared(
    mv: &Move,
    capability: &Capability,
    implementation: &Implementation,
    leads_on: bool,
) -> Result<TokenStream, String> {
    let (can, then) = (ident(&capability.name), ident(&capability.then));
    let next: syn::Type = syn::parse_quote!(S::#then);
    let method = method::generic(mv, implementation, &[], leads_on.then_some(&next))?.inherent();
    let heading = doc(&format!("In each state with [`{can}`]."));
    Ok(quote! {
        #heading
        impl<S: #can> Episode<S> { #method }
    })
}

/// Emits the explanation of a call in a generic state without the capability.
fn unknown(mv: &Move, capability: &Capability, implementations: &[Implementation]) -> TokenStream {
    let (can, then, method) = (ident(&capability.name), ident(&capability.then), ident(&mv.method));
    let carrier = unless(capability);
    let (generics, parameters) = method::signature(mv, implementations);
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
