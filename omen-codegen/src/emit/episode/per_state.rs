//! Capabilities of moves that have a separate function and method for each state.
//!
//! The trait maps each state to the state that its function leads to. The methods of the states are inherent, so a generic `S`
//! has none of them; code that is generic over the state calls the function for any state through a hidden trait.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};

use super::super::functions::{self, Implementation};
use super::super::ident;
use super::method::{self, texts};
use super::states::StateType;
use crate::model::{Answer, Capability, Fsm, Move};

/// Emits the capability with its implementations, and the hidden trait with its method.
pub(super) fn emit(
    fsm: &Fsm,
    states: &[StateType<'_>],
    mv: &Move,
    capability: &Capability,
    implementations: &[Implementation],
) -> Result<(TokenStream, TokenStream), String> {
    let of = || implementations.iter().filter(|implementation| implementation.method == mv.method);
    let generic = of()
        .find(|implementation| implementation.is_for_any())
        .ok_or_else(|| format!("moves/{}.rs has no function for any state", mv.method))?;
    let over: Vec<syn::Ident> = capability.over.iter().map(|name| ident(name)).collect();
    let (can, then) = (ident(&capability.name), ident(&capability.then));
    let within: Vec<&StateType<'_>> =
        states.iter().filter(|state| matches!(fsm.answer(state.of, mv), Answer::Legal)).collect();
    let texts = texts(mv, &capability.name, &capability.over, &within);
    let mut traits = TokenStream::new();
    for state in &within {
        let own = of()
            .find(|implementation| implementation.is_for(&state.ty))
            .ok_or_else(|| format!("moves/{}.rs has no function for `{}`", mv.method, state.of.ty))?;
        traits.extend(implement(state, own, &can, &then, &over)?);
    }
    let numbers: Vec<_> = generic.generics.const_params().collect();
    let names = numbers.iter().map(|number| &number.ident);
    let carrier = carrier(capability);
    let next: syn::Type = syn::parse_quote!(<S as #can<#(#over),*>>::#then<#(#names),*>);
    let method::Method { docs, signature, body } = method::generic(mv, generic, &over, Some(&next))?;
    let methods = quote! {
        pub trait #carrier<S: #can<#(#over),*>, #(#over),*>: Sized {
            #(#docs)*
            #signature;
        }
        impl<S: #can<#(#over),*>, #(#over),*> #carrier<S, #(#over),*> for Episode<S> {
            #signature { #body }
        }
    };
    let traits = quote! {
        #texts
        pub trait #can<#(#over),*>: Typestate {
            /// State after the move.
            type #then<#(#numbers),*>: Typestate;
        }
        #traits
    };
    Ok((traits, methods))
}

/// Returns the name of the hidden trait that holds the method for generic states.
pub(super) fn carrier(capability: &Capability) -> syn::Ident {
    format_ident!("Where{}", capability.name)
}

/// Emits the capability of one state, with the bounds of its function.
fn implement(
    state: &StateType<'_>,
    own: &Implementation,
    can: &syn::Ident,
    then: &syn::Ident,
    over: &[syn::Ident],
) -> Result<TokenStream, String> {
    let mut leads = TargetState(None);
    leads.visit_return_type_mut(&mut own.output.clone());
    let next = leads.0.ok_or_else(|| format!("`{}` leads to no episode", own.function))?;
    let (mut parameters, mut numbers) = (Vec::new(), Vec::new());
    for parameter in &own.generics.params {
        match parameter {
            syn::GenericParam::Type(ty) if !state.parameters.contains(&ty.ident) && !over.contains(&ty.ident) => {
                return Err(format!("`{}` has the parameter `{}`: list it in `over`", own.function, ty.ident));
            }
            syn::GenericParam::Const(number) if !state.parameters.contains(&number.ident) => numbers.push(number),
            other => parameters.push(other),
        }
    }
    let is_of_numbers = |predicate: &&syn::WherePredicate| {
        let text = predicate.to_token_stream().to_string();
        numbers.iter().any(|number| text.split(|c: char| !c.is_alphanumeric()).any(|word| number.ident == word))
    };
    let clause = own.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let clause: Vec<_> = clause.filter(|predicate| !is_of_numbers(predicate)).collect();
    let clause = (!clause.is_empty()).then(|| quote!(where #(#clause),*));
    let ty = &state.ty;
    Ok(quote! {
        #[diagnostic::do_not_recommend]
        impl<#(#parameters),*> #can<#(#over),*> for #ty #clause { type #then<#(#numbers),*> = #next; }
    })
}

/// Finds the state of the first episode in a type.
struct TargetState(Option<syn::Type>);

impl VisitMut for TargetState {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if self.0.is_none() {
            self.0 = functions::state_of("Episode", ty);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}
