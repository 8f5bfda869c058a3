//! Method of one state, and what it shares with the illegal calls in other states: signature, docs and compile error.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;

use super::super::functions::{self, Implementation, STATES, Substitute};
use super::super::{doc, ident};
use super::states::StateType;
use crate::model::Move;

pub(super) fn emit(
    state: &StateType<'_>,
    mv: &Move,
    implementation: &Implementation,
    next: Option<&syn::Type>,
) -> Result<TokenStream, String> {
    Ok(build(&state.ty, &state.parameters, mv, implementation, next)?.inherent())
}

/// Returns the method for a state that is a type parameter, `S`; `own` are the additional parameters of the impl.
pub(super) fn generic<'i>(
    mv: &Move,
    implementation: &'i Implementation,
    own: &[syn::Ident],
    next: Option<&syn::Type>,
) -> Result<Method<'i>, String> {
    build(&functions::any(), own, mv, implementation, next)
}

/// Parts of a method.
pub(super) struct Method<'i> {
    pub(super) docs: &'i [syn::Attribute],
    /// Everything from `fn` to the end of the bounds.
    pub(super) signature: TokenStream,
    pub(super) body: TokenStream,
}

impl Method<'_> {
    /// Returns the method of an inherent impl.
    pub(super) fn inherent(&self) -> TokenStream {
        let Self { docs, signature, body } = self;
        quote!(#(#docs)* pub #signature { #body })
    }
}

fn build<'i>(
    state: &syn::Type,
    own: &[syn::Ident],
    mv: &Move,
    implementation: &'i Implementation,
    next: Option<&syn::Type>,
) -> Result<Method<'i>, String> {
    let mut generics = implementation.generics.clone();
    let mut output = implementation.output.clone();
    let mut parameters = implementation.parameters.clone();
    let mut substitute = Substitute(Vec::new());
    if implementation.is_for_any() {
        substitute.0.push(("S", state));
    }
    if implementation.leads_on() {
        let next = next.ok_or_else(|| {
            format!("`{}` leads from `{}` to a state without a plain type", mv.method, quote!(#state))
        })?;
        substitute.0.push(("Next", next));
    }
    substitute.visit_return_type_mut(&mut output);
    for (_, ty) in &mut parameters {
        substitute.visit_type_mut(ty);
    }
    let bounds = take_states(own, &mut generics, &mut substitute);
    let clause = generics.where_clause.take().map(|clause| clause.predicates.into_iter().collect::<Vec<_>>());
    let clause: Vec<_> = bounds.into_iter().chain(clause.into_iter().flatten()).collect();
    let clause = (!clause.is_empty()).then(|| quote!(where #(#clause),*));
    let (method, function) = (ident(&mv.method), &implementation.function);
    let (names, types): (Vec<_>, Vec<_>) = parameters.iter().map(|(name, ty)| (name, ty)).unzip();
    Ok(Method {
        docs: &implementation.docs,
        signature: quote!(fn #method #generics (self, #(#names: #types),*) #output #clause),
        body: quote!(moves::#method::#function(self, #(#names),*)),
    })
}

/// Removes the parameters that represent states, and returns their bounds.
fn take_states(
    parameters: &[syn::Ident],
    generics: &mut syn::Generics,
    substitute: &mut Substitute<'_>,
) -> Vec<syn::WherePredicate> {
    let mut bounds = Vec::new();
    let own = |name: &syn::Ident| parameters.contains(name) || STATES.iter().any(|states| name == states);
    for parameter in generics.type_params().filter(|parameter| own(&parameter.ident)) {
        let (name, asked) = (&parameter.ident, &parameter.bounds);
        if !asked.is_empty() && !STATES.iter().any(|states| name == states) {
            bounds.push(syn::parse_quote!(#name: #asked));
        }
    }
    generics.params = std::mem::take(&mut generics.params)
        .into_iter()
        .filter(|parameter| match parameter {
            syn::GenericParam::Type(parameter) => !own(&parameter.ident),
            syn::GenericParam::Const(parameter) => !own(&parameter.ident),
            syn::GenericParam::Lifetime(_) => true,
        })
        .collect();
    if let Some(clause) = &mut generics.where_clause {
        clause.predicates = std::mem::take(&mut clause.predicates)
            .into_iter()
            .filter(|predicate| !is_about_states(predicate))
            .map(|mut predicate| {
                substitute.visit_where_predicate_mut(&mut predicate);
                predicate
            })
            .collect();
    }
    bounds
}

/// Returns whether a bound concerns `S` or `Next` itself. The generated types satisfy such bounds.
fn is_about_states(predicate: &syn::WherePredicate) -> bool {
    let syn::WherePredicate::Type(predicate) = predicate else { return false };
    matches!(&predicate.bounded_ty, syn::Type::Path(path)
        if STATES.iter().any(|states| path.path.is_ident(states)))
}

/// Returns the signature of a call: the generic parameters that the caller may name, and the names of the parameters.
pub(super) fn signature(mv: &Move, implementations: &[Implementation]) -> (Option<syn::Generics>, Vec<syn::Ident>) {
    if mv.by_hand {
        return (None, mv.takes.iter().map(|name| format_ident!("_{name}")).collect());
    }
    let of = || implementations.iter().filter(|implementation| implementation.method == mv.method);
    let longest = of().map(|implementation| &implementation.parameters).max_by_key(|parameters| parameters.len());
    let names = match longest {
        Some(parameters) => parameters.iter().map(|(name, _)| format_ident!("_{name}")).collect(),
        // The method is legal nowhere, so its parameters are unknown.
        None => vec![format_ident!("_value")],
    };
    (of().find_map(Implementation::named_at_call), names)
}

/// Returns the docs and the compile error of a capability.
pub(super) fn texts(mv: &Move, name: &str, over: &[String], within: &[&StateType<'_>]) -> TokenStream {
    let listed: Vec<String> = within.iter().map(|state| format!("`{}`", state.of.ty)).collect();
    let about = doc(&format!("States in which `{}` is legal: {}.", mv.method, listed.join(", ")));
    let arguments: Vec<String> = over.iter().map(|name| format!("{{{name}}}")).collect();
    let bound = if over.is_empty() { name.to_owned() } else { format!("{name}<{}>", arguments.join(", ")) };
    let message = format!("FSM: cannot `{}`: the state `{{Self}}` does not implement `{bound}`", mv.method);
    let label = format!("requires `{{Self}}: {bound}`");
    let note = format!(
        "in code that is generic over the state, add the bound `{bound}`; the states that satisfy it are {}",
        listed.join(", ")
    );
    quote! {
        #about
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
    }
}
