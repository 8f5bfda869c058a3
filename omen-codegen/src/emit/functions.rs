//! Functions that implement methods, in files named after the methods: `moves/<method>.rs` for an episode,
//! `steps/<method>.rs` for a request.

use quote::quote;
use syn::visit_mut::{self, VisitMut};

use super::{bug, ident};
use crate::mistake::Mistakes;

/// Function that implements a method.
pub(super) struct Implementation {
    pub(super) method: String,
    pub(super) function: syn::Ident,
    pub(super) docs: Vec<syn::Attribute>,
    pub(super) generics: syn::Generics,
    /// State `S` of the first parameter, `episode: Episode<S>` or `request: Request<S>`.
    pub(super) state: syn::Type,
    /// The other parameters.
    pub(super) parameters: Vec<(syn::Ident, syn::Type)>,
    pub(super) output: syn::ReturnType,
    pub(super) is_async: bool,
}

impl Implementation {
    /// Returns whether the function applies to every state that the table allows.
    pub(super) fn is_for_any(&self) -> bool {
        self.is_for(&any())
    }

    /// Returns whether the function applies to exactly this state.
    pub(super) fn is_for(&self, state: &syn::Type) -> bool {
        let own = &self.state;
        // Compared by their tokens: the `PartialEq` of syn would cost every build the feature `extra-traits`.
        quote!(#own).to_string() == quote!(#state).to_string()
    }

    /// Returns whether the table determines the target state; otherwise, the target is the same for all states.
    pub(super) fn leads_on(&self) -> bool {
        self.generics.type_params().any(|parameter| parameter.ident == "Next")
    }

    /// Returns the generic parameters that do not occur in any parameter type, so callers must name them.
    pub(super) fn named_at_call(&self) -> Option<syn::Generics> {
        let types = self.parameters.iter().map(|(_, ty)| quote!(#ty).to_string()).collect::<Vec<_>>().join(" ");
        let words: Vec<&str> = types.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let state = &self.state;
        let state = quote!(#state).to_string();
        let mut generics = syn::Generics::default();
        for parameter in &self.generics.params {
            let plain: syn::GenericParam = match parameter {
                syn::GenericParam::Type(parameter) => {
                    let name = &parameter.ident;
                    syn::parse_quote!(#name)
                }
                other => other.clone(),
            };
            let name = match parameter {
                syn::GenericParam::Type(parameter) => parameter.ident.to_string(),
                syn::GenericParam::Const(parameter) => parameter.ident.to_string(),
                syn::GenericParam::Lifetime(_) => continue,
            };
            let is_state =
                STATES.contains(&name.as_str()) || state.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
            if !is_state && !words.contains(&name.as_str()) {
                generics.params.push(plain);
            }
        }
        (!generics.params.is_empty()).then_some(generics)
    }
}

/// Type parameters of a function that represent the states before and after it.
pub(super) const STATES: [&str; 2] = ["S", "Next"];

/// Returns the type parameter that represents any state.
pub(super) fn any() -> syn::Type {
    let any = ident("S");
    syn::parse_quote!(#any)
}

/// Reads the public functions whose first parameter is a `carrier`, such as `Episode`, in some state.
pub(super) fn read(carrier: &str, files: &[(String, String)]) -> Result<Vec<Implementation>, Mistakes> {
    let mut all = Vec::new();
    for (method, text) in files {
        let wrong = |problem: String| bug(format!("{method}.rs: {problem}"));
        let file = syn::parse_file(text).map_err(|error| wrong(error.to_string()))?;
        for item in file.items {
            if let syn::Item::Fn(function) = item
                && !matches!(function.vis, syn::Visibility::Inherited)
            {
                all.push(implementation(carrier, method, function).map_err(wrong)?);
            }
        }
    }
    Ok(all)
}

fn implementation(carrier: &str, method: &str, function: syn::ItemFn) -> Result<Implementation, String> {
    let name = function.sig.ident.clone();
    let mut parameters = Vec::new();
    for input in function.sig.inputs {
        match input {
            syn::FnArg::Typed(syn::PatType { pat, ty, .. }) => match *pat {
                syn::Pat::Ident(pat) => parameters.push((pat.ident, *ty)),
                _ => return Err(format!("a parameter of `{name}` is not a plain name")),
            },
            syn::FnArg::Receiver(_) => return Err(format!("`{name}` is a method")),
        }
    }
    if parameters.is_empty() {
        return Err(format!("`{name}` takes no `{carrier}`"));
    }
    let (_, first) = parameters.remove(0);
    let state =
        state_of(carrier, &first).ok_or_else(|| format!("the first parameter of `{name}` is not `{carrier}<_>`"))?;
    Ok(Implementation {
        method: method.to_owned(),
        function: name,
        docs: function.attrs.into_iter().filter(|attribute| attribute.path().is_ident("doc")).collect(),
        generics: function.sig.generics,
        state,
        parameters,
        output: function.sig.output,
        is_async: function.sig.asyncness.is_some(),
    })
}

pub(super) fn state_of(carrier: &str, ty: &syn::Type) -> Option<syn::Type> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == carrier)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    }
}

/// Substitutes types for type parameters.
pub(super) struct Substitute<'s>(pub(super) Vec<(&'s str, &'s syn::Type)>);

impl VisitMut for Substitute<'_> {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if let syn::Type::Path(path) = ty
            && let Some(name) = path.path.get_ident()
            && let Some((_, other)) = self.0.iter().find(|(parameter, _)| name == parameter)
        {
            *ty = (*other).clone();
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }
}
