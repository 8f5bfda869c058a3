//! Explanations of illegal calls.
//!
//! For a missing method, rustc reports only that it does not exist. Therefore, every state has every method: where a
//! method is illegal, it comes from an unimplemented trait whose message names the rule and the fix. Inherent methods
//! take precedence, and completion lists only those. There is one trait for each combination of method and explanation,
//! and each state has exactly one of them per method.
//!
//! A bound on the method would suffice, but then rustc would show the source of the failed bound, which is in the build folder.
//! It makes one exception: the bound that a type implements the trait whose method is called. So this bound must fail, but only
//! after method lookup. The trait has a parameter and is implemented for two values of it, so rustc cannot choose one during
//! lookup. The method then requires the parameter to be the state, which is neither of the two.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::functions::Implementation;
use super::super::names::pascal;
use super::super::{bug, ident};
use super::capability::Capabilities;
use super::method::signature;
use super::states::StateType;
use crate::mistake::Mistakes;
use crate::model::{Answer, Model, Move, Text};

pub(super) fn emit(
    model: &Model,
    states: &[StateType<'_>],
    implementations: &[Implementation],
    capabilities: &Capabilities,
) -> Result<TokenStream, Mistakes> {
    let mut traits = TokenStream::new();
    let mut names = capabilities.names.clone();
    for mv in &model.fsm.typed.moves {
        for group in groups(model, states, mv)? {
            traits.extend(answer(model, mv, &group, implementations));
            names.push(group.name);
        }
    }
    let unknown = &capabilities.explained;
    Ok(quote! {
        /// Traits that explain illegal calls. Their methods cannot be called successfully.
        #[doc(hidden)]
        pub mod explain {
            #[allow(clippy::wildcard_imports, reason = "the states are many")]
            use super::*;

            /// Anonymous imports of the traits: `use ..::in_scope::*` brings only their methods into scope.
            pub mod in_scope {
                pub use super::{#(#names as _),*};
            }

            /// Maps an episode to its state.
            pub trait InState {
                type State;
            }

            impl<S> InState for Episode<S> {
                type State = S;
            }

            /// Types for which the traits are implemented. They are not states.
            pub enum Nowhere {}
            pub enum Elsewhere {}

            #traits

            // Calls in generic states without the capability.
            #unknown

            #[diagnostic::on_unimplemented(
                message = "FSM: expected an episode by value, found a reference",
                label = "the episode is borrowed here",
                note = "pass the episode by value; store an episode in a field as an `Option`, and take it out with `.take()`"
            )]
            pub trait ByReference: Sized {
                type Out;
                fn out() -> Self::Out;
            }
        }
    })
}

/// States in which a call has the same explanation.
struct SharedExplanation<'m> {
    name: syn::Ident,
    code: String,
    text: &'m Text,
    within: Vec<&'m StateType<'m>>,
}

/// Returns the explanations of a method, ordered by state.
fn groups<'m>(
    model: &'m Model,
    states: &'m [StateType<'m>],
    mv: &Move,
) -> Result<Vec<SharedExplanation<'m>>, Mistakes> {
    let mut groups: Vec<SharedExplanation<'m>> = Vec::new();
    for state in states {
        let Answer::Refused { code, text } = model.fsm.answer(state.of, mv) else { continue };
        let text =
            text.ok_or_else(|| bug(format!("nothing explains {code} of `{}` in `{}`", mv.method, state.of.ty)))?;
        if let Some(group) = groups.iter_mut().find(|group| group.code == code && std::ptr::eq(group.text, text)) {
            group.within.push(state);
            continue;
        }
        // `ActHereE1`; from the second explanation of a rule on, with a number appended.
        let before = groups.iter().filter(|group| group.code == code).count();
        let number = if before == 0 { String::new() } else { (before + 1).to_string() };
        let name = format_ident!("{}Here{}{number}", pascal(&mv.method), pascal(&code));
        groups.push(SharedExplanation { name, code, text, within: vec![state] });
    }
    Ok(groups)
}

fn answer(model: &Model, mv: &Move, group: &SharedExplanation<'_>, implementations: &[Implementation]) -> TokenStream {
    let SharedExplanation { name, code, text, within } = group;
    let list = format_ident!("In{name}");
    let shared = model.rules.iter().find(|rule| rule.code == *code).and_then(|rule| rule.shared_with.as_ref());
    let shared = shared.map(|shared| format!(" ({shared})")).unwrap_or_default();
    let message = format!("{code}{shared}: cannot `{}` in this state: {}", mv.method, text.message);
    let note = &text.note;
    let states = within.iter().map(|state| {
        let (generics, ty) = (state.generics(), &state.ty);
        quote!(impl #generics #list for #ty {})
    });
    let method = ident(&mv.method);
    let (generics, parameters) = signature(mv, implementations);
    let impls = ["Nowhere", "Elsewhere"].map(ident).into_iter().map(|value| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl<S: #list> #name<#value> for Episode<S> {
                type Out = Self;
                fn out(episode: Self) -> Self {
                    episode
                }
            }
        }
    });
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "illegal in the state `{S}`", note = #note)]
        pub trait #name<S>: Sized {
            type Out;
            fn out(episode: Self) -> Self::Out;
            fn #method #generics (self, #(#parameters: impl Sized),*) -> <Self as #name<S>>::Out
            where
                Self: InState<State = S>,
            {
                Self::out(self)
            }
        }
        pub trait #list {}
        #(#states)*
        #(#impls)*
    }
}
