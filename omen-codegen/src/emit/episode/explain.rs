//! Answers to calls where a method is not legal.
//!
//! rustc says of a method that is not there only that it is not there. So every method is there
//! everywhere: for the states that do not have it, by a trait that asks what cannot be, and whose
//! message names the rule and the way out. The state's own methods come first, and completion lists
//! them alone. There is a trait for each method and answer, and a state has just one of them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::functions::Implementation;
use super::super::names::pascal;
use super::super::{bug, ident};
use super::State;
use crate::mistake::Mistakes;
use crate::model::{Answer, Model, Move, Refusal};

pub(super) fn emit(
    model: &Model,
    states: &[State<'_>],
    implementations: &[Implementation],
) -> Result<TokenStream, Mistakes> {
    let mut traits = TokenStream::new();
    for mv in &model.fsm.typed.moves {
        for (number, refusal) in mv.refused.iter().enumerate() {
            let within: Vec<&State<'_>> = states.iter().filter(|state| gets(model, state, mv, refusal)).collect();
            if within.is_empty() {
                return Err(bug(format!("no state ever gets refusal {number} of `{}`", mv.method)));
            }
            traits.extend(answer(model, mv, number, refusal, &within, implementations));
        }
    }
    Ok(quote! {
        /// What answers calls that are not legal. Nothing here can be called.
        #[doc(hidden)]
        pub mod explain {
            #[allow(clippy::wildcard_imports, reason = "the states are many")]
            use super::*;

            #traits
        }
    })
}

fn gets(model: &Model, state: &State<'_>, mv: &Move, refusal: &Refusal) -> bool {
    matches!(model.fsm.typed.answer(&model.fsm, state.of, mv), Answer::Refused(answer) if std::ptr::eq(answer, refusal))
}

fn answer(
    model: &Model,
    mv: &Move,
    number: usize,
    refusal: &Refusal,
    within: &[&State<'_>],
    implementations: &[Implementation],
) -> TokenStream {
    let name = name(mv, number, refusal);
    let (group, explain) = (format_ident!("In{name}"), format_ident!("Explain{name}"));
    let shared = model.rules.iter().find(|rule| rule.code == refusal.rule).and_then(|rule| rule.shared_with.as_ref());
    let code = match shared {
        Some(shared) => format!("{} ({shared})", refusal.rule),
        None => refusal.rule.clone(),
    };
    let (message, note) = (format!("{code}: {}", refusal.message), &refusal.note);
    let states = within.iter().map(|state| {
        let (generics, ty) = (state.generics(), &state.ty);
        quote!(impl #generics #group for #ty {})
    });
    let method = ident(&mv.method);
    let (generics, parameters) = signature(mv, implementations);
    let head = quote!(fn #method #generics (self, #(#parameters: impl Sized),*) -> <S as #name>::Out where S: #name);
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "illegal here: the state is `{Self}`", note = #note)]
        pub trait #name: Sized {
            type Out;
            fn out(episode: Episode<Self>) -> Self::Out;
        }
        pub trait #group {}
        #(#states)*
        pub trait #explain<S>: Sized { #head; }
        impl<S: #group> #explain<S> for Episode<S> {
            #head { S::out(self) }
        }
    }
}

/// `ActHereE1`; with a number from the second answer of a rule on.
fn name(mv: &Move, number: usize, refusal: &Refusal) -> syn::Ident {
    let before = mv.refused.iter().take(number).filter(|other| other.rule == refusal.rule).count();
    let number = if before == 0 { String::new() } else { (before + 1).to_string() };
    format_ident!("{}Here{}{number}", pascal(&mv.method), pascal(&refusal.rule))
}

/// What a call of the method may look like: its parameters that are named at the call, and the names
/// of the values that it takes.
fn signature(mv: &Move, implementations: &[Implementation]) -> (Option<syn::Generics>, Vec<syn::Ident>) {
    if mv.by_hand {
        return (None, mv.takes.iter().map(|name| format_ident!("_{name}")).collect());
    }
    let of = || implementations.iter().filter(|implementation| implementation.method == mv.method);
    let longest = of().map(|implementation| &implementation.parameters).max_by_key(|parameters| parameters.len());
    let names = match longest {
        Some(parameters) => parameters.iter().map(|(name, _)| format_ident!("_{name}")).collect(),
        // Legal nowhere, so nothing says what it takes.
        None => vec![format_ident!("_value")],
    };
    (of().find_map(Implementation::named_at_call), names)
}
