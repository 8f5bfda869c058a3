//! Types that represent states, with the moves of each and their targets.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::functions::Implementation;
use super::super::{NUMBER, bug, ident};
use crate::load::FSM_FILE;
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Answer, Fsm, Move, Typestate};

/// Type that represents one or more states.
pub(super) struct StateType<'m> {
    pub(super) of: &'m Typestate,
    pub(super) ty: syn::Type,
    /// Type parameters, one capital letter each; `N` is a number.
    pub(super) parameters: Vec<syn::Ident>,
}

impl<'m> StateType<'m> {
    pub(super) fn parse(of: &'m Typestate) -> Result<Self, Mistakes> {
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

    /// Returns whether the type has no type parameters.
    pub(super) fn is_plain(&self) -> bool {
        self.parameters.is_empty()
    }

    pub(super) fn generics(&self) -> TokenStream {
        let parameters = self.parameters.iter().map(|parameter| match parameter == NUMBER {
            true => quote!(const #parameter: usize),
            false => quote!(#parameter),
        });
        quote!(<#(#parameters),*>)
    }
}

/// Returns the function of a move that is legal in every state and always leads to the same state.
pub(super) fn everywhere<'i>(
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

/// Returns the function for this state, or otherwise the function for any state.
pub(super) fn find<'i>(
    state: &StateType<'_>,
    mv: &Move,
    implementations: &'i [Implementation],
) -> Option<&'i Implementation> {
    let mut of = implementations.iter().filter(|implementation| implementation.method == mv.method);
    let exact = of.clone().find(|implementation| implementation.is_for(&state.ty));
    exact.or_else(|| {
        of.find(|implementation| implementation.is_for_any() && (state.is_plain() || !implementation.leads_on()))
    })
}

/// Returns the type of the state that a move leads to, if a type represents that state.
pub(super) fn next<'s>(
    fsm: &Fsm,
    states: &'s [StateType<'_>],
    state: &StateType<'_>,
    mv: &Move,
) -> Option<&'s syn::Type> {
    let mut targets = fsm.targets(state.of, &mv.events);
    targets.sort_unstable();
    let stands = |candidate: &&StateType<'_>| {
        let mut of: Vec<&str> = candidate.of.of.iter().map(String::as_str).collect();
        of.sort_unstable();
        of == targets && candidate.is_plain() && !candidate.of.open
    };
    states.iter().find(stands).map(|state| &state.ty)
}

pub(super) fn mistake(at: usize, problem: String) -> Mistakes {
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
