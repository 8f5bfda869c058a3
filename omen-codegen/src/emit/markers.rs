//! Marker types, which represent enum values and list lengths.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde::Deserialize;

use super::names::shouting;
use super::{doc, ident};
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Kind, Model, Ty, Variant};

/// File name of the markers, used in mistakes.
const FILE: &str = "facts.json";

/// Selection of the enums that get marker types and of the lists whose lengths become types, with their names.
///
/// ```
/// use omen_codegen::emit::{self, Markers};
///
/// let markers = Markers::parse(r#"{ "description": "One.", "markers": { "Impact": { "module": "impact" } } }"#)?;
/// # let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
/// let source = emit::markers(&model, &markers)?;
/// assert!(source.as_str().contains("pub trait ImpactFact"));
/// # Ok::<(), omen_codegen::mistake::Mistakes>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Markers {
    #[serde(rename = "description")]
    _description: String,
    /// Naming of the markers, by enum.
    #[serde(default)]
    markers: BTreeMap<String, Naming>,
    /// List whose lengths satisfy a predicate, by predicate.
    #[serde(default)]
    lengths: BTreeMap<String, Length>,
    /// Sealed trait of the hidden type that every implementation must name, by predicate. Macros in other crates can
    /// implement such a predicate; all other predicates are sealed.
    #[serde(default)]
    proofs: BTreeMap<String, String>,
}

/// Naming of an enum's markers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Naming {
    /// Module of the markers; `None` for the shared module.
    module: Option<String>,
    /// Suffix that follows the value in the markers' names.
    #[serde(default)]
    suffix: String,
    /// Module that exports the markers under the bare names of the values.
    alias: Option<String>,
    /// Whether the schema lists the values in ascending order, so that their ranks are also facts.
    #[serde(default)]
    ordered: bool,
}

/// List in the schema whose length is a fact.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Length {
    object: String,
    member: String,
    /// Maximum list length for which code is generated, if the schema has no bound.
    at_most: Option<usize>,
}

impl Markers {
    /// Parses the file: an object with `description` and optionally `markers`, `lengths` and `proofs`.
    ///
    /// # Errors
    /// A text that does not have this form. Its names are checked later against the schemas.
    pub fn parse(text: &str) -> Result<Self, Mistakes> {
        serde_json::from_str(text).map_err(|error| mistake(&[], format!("not a list of markers: {error}")).into())
    }

    /// Returns the proof trait of an open predicate, or `None` for a sealed one.
    pub(super) fn proof_of(&self, predicate: &str) -> Option<&str> {
        self.proofs.get(predicate).map(String::as_str)
    }

    /// Checks that all names exist in the model and are unambiguous.
    pub(super) fn check(&self, model: &Model) -> Result<(), Mistakes> {
        let mut mistakes = Vec::new();
        for (name, naming) in &self.markers {
            if let Err(mistake) = values(model, name) {
                mistakes.push(mistake);
            } else if naming.module.is_some() && naming.alias.is_some() {
                mistakes.push(mistake(&["markers", name], "markers in a module need no alias".to_owned()));
            }
        }
        let predicates: BTreeSet<&str> =
            model.rules.iter().flat_map(|rule| &rule.predicates).map(|predicate| predicate.name.as_str()).collect();
        for (part, names) in
            [("lengths", self.lengths.keys().collect::<Vec<_>>()), ("proofs", self.proofs.keys().collect())]
        {
            for name in names.into_iter().filter(|name| !predicates.contains(name.as_str())) {
                mistakes.push(mistake(&[part, name], format!("no rule has a predicate `{name}`")));
            }
        }
        for (name, length) in &self.lengths {
            mistakes.extend(bounds(model, name, length).err());
        }
        self.clashes(model, &predicates, &mut mistakes);
        Mistakes::none_in(mistakes)
    }

    /// Reports duplicate names. All markers share one module, so that the compiler can print each name without its path.
    fn clashes(&self, model: &Model, predicates: &BTreeSet<&str>, mistakes: &mut Vec<Mistake>) {
        let mut taken: BTreeMap<String, String> =
            predicates.iter().map(|name| ((*name).to_owned(), "a predicate".to_owned())).collect();
        for (name, naming) in &self.markers {
            let flat = match naming.module {
                Some(_) => Vec::new(),
                None => values(model, name).unwrap_or_default().iter().map(|value| naming.marker(value)).collect(),
            };
            let modules = naming.module.iter().chain(&naming.alias).cloned();
            for made in flat.into_iter().chain(modules).chain([fact(name)]) {
                if let Some(other) = taken.insert(made.clone(), format!("`{name}`")) {
                    mistakes.push(mistake(&["markers", name], format!("the name `{made}` is also used by {other}")));
                }
            }
        }
    }
}

impl Naming {
    fn marker(&self, value: &Variant) -> String {
        format!("{}{}", value.name, self.suffix)
    }
}

pub(super) fn emit(model: &Model, markers: &Markers) -> Result<TokenStream, Mistakes> {
    markers.check(model)?;
    let mut tokens = TokenStream::new();
    for (name, naming) in &markers.markers {
        tokens.extend(of_enum(name, naming, values(model, name)?));
    }
    tokens.extend(everywhere(model, markers)?);
    for (name, length) in &markers.lengths {
        let (min, max) = bounds(model, name, length)?;
        let predicate = ident(name);
        tokens.extend((min..=max).map(|n| {
            quote! {
                #[diagnostic::do_not_recommend]
                impl #predicate for [(); #n] {}
            }
        }));
    }
    Ok(tokens)
}

/// Emits all markers by enum and value, as unambiguous paths for generated code.
fn everywhere(model: &Model, markers: &Markers) -> Result<Option<TokenStream>, Mistake> {
    let mut modules = Vec::new();
    for (name, naming) in &markers.markers {
        let module = ident(&shouting(name).to_lowercase());
        let types = values(model, name)?.iter().map(|value| {
            let (short, marker) = (ident(&value.name), ident(&naming.marker(value)));
            let home = naming.module.as_deref().map(ident).map(|home| quote!(#home::));
            quote!(pub type #short = super::super::#home #marker;)
        });
        modules.push(quote!(pub mod #module { #(#types)* }));
    }
    Ok((!modules.is_empty()).then(|| {
        quote! {
            #[doc(hidden)]
            #[allow(missing_docs, reason = "for generated code")]
            pub mod values { #(#modules)* }
        }
    }))
}

/// Emits the markers of one enum, its trait, and the trait's implementations.
fn of_enum(name: &str, naming: &Naming, values: &[Variant]) -> TokenStream {
    let (of, fact) = (ident(name), ident(&fact(name)));
    let structs = values.iter().map(|value| {
        let marker = ident(&naming.marker(value));
        let docs = doc(&format!("`{}`: {}", value.wire, value.description));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct #marker;
        }
    });
    let module = naming.module.as_deref().map(ident);
    let structs = match &module {
        Some(module) => {
            let docs = doc(&format!("The type-level values of `{name}`."));
            quote!(#docs pub mod #module { #(#structs)* })
        }
        None => quote!(#(#structs)*),
    };
    let alias = naming.alias.as_deref().map(|alias| {
        let (alias, docs) = (ident(alias), doc(&format!("The values of `{name}` by their names alone.")));
        let types = values.iter().map(|value| {
            let (short, marker) = (ident(&value.name), ident(&naming.marker(value)));
            let docs = doc(&format!("`{}`: {}", value.wire, value.description));
            quote!(#docs pub type #short = super::#marker;)
        });
        let named = format_ident!("__{alias}");
        let shorts: Vec<_> = values.iter().map(|value| ident(&value.name)).collect();
        let first = shorts.first();
        let names: Vec<_> = shorts.iter().map(|short| format!("`{short}`")).collect();
        let expected = format!("` is not a `{name}`; expected one of {}", names.join(", "));
        quote! {
            #docs pub mod #alias { #(#types)* }

            /// Resolves the name in a macro's input to its type.
            #[doc(hidden)]
            #[macro_export]
            macro_rules! #named {
                #((#shorts) => { $crate::facts::#alias::#shorts };)*
                #((check #shorts) => {};)*
                (check $other:ident) => {
                    ::core::compile_error!(::core::concat!("SCHEMA: `", ::core::stringify!($other), #expected));
                };
                // A valid type as a placeholder, so that only the error of `check` is reported.
                ($other:ident) => { $crate::facts::#alias::#first };
            }
        }
    });
    let paths: Vec<_> = values
        .iter()
        .map(|value| {
            let marker = ident(&naming.marker(value));
            module.as_ref().map_or_else(|| quote!(#marker), |module| quote!(#module::#marker))
        })
        .collect();
    let impls = values.iter().zip(&paths).enumerate().map(|(place, (value, path))| {
        let variant = ident(&value.name);
        let place = naming.ordered.then(|| quote!(type Place = Place<#place>;));
        quote! {
            impl sealed::FactSealed for #path {}
            impl sealed::ValueSealed for #path {}

            #[diagnostic::do_not_recommend]
            impl #fact for #path {
                const VALUE: ::omen_types::#of = ::omen_types::#of::#variant;
                #place
            }
        }
    });
    let docs = doc(&format!("A type-level value of `{name}`."));
    let (message, note) = texts(name, &paths);
    let place = naming.ordered.then(|| {
        quote! {
            /// Rank of the value in the schema, which lists the lowest first.
            #[doc(hidden)]
            type Place;
        }
    });
    quote! {
        #structs
        #alias

        #docs
        #[diagnostic::on_unimplemented(message = #message, label = "a value of another sort", note = #note)]
        pub trait #fact: sealed::ValueSealed {
            /// The value at run time.
            const VALUE: ::omen_types::#of;
            #place
        }

        #(#impls)*
    }
}

/// Returns the compile error for a type that is not a marker of the enum.
fn texts(name: &str, paths: &[TokenStream]) -> (String, String) {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", path.to_string().replace(' ', ""))).collect();
    (format!("`{{Self}}` is not a value of `{name}`"), format!("expected one of {}", paths.join(", ")))
}

/// Returns the name of the trait of an enum's markers.
fn fact(name: &str) -> String {
    format!("{name}Fact")
}

fn values<'m>(model: &'m Model, name: &str) -> Result<&'m [Variant], Mistake> {
    match model.defs.get(name).map(|def| &def.kind) {
        Some(Kind::Enum(values)) => Ok(values),
        _ => Err(mistake(&["markers", name], format!("`{name}` is not an enum of the schemas"))),
    }
}

/// Returns the minimum and maximum length of a list.
fn bounds(model: &Model, name: &str, length: &Length) -> Result<(usize, usize), Mistake> {
    let Length { object, member, at_most } = length;
    let at = ["lengths", name];
    match model.object(object).and_then(|object| object.field(member)).map(|field| &field.ty) {
        Some(Ty::Array { min, max, .. }) => match max.or(*at_most) {
            Some(max) if max >= *min => Ok((*min, max)),
            Some(_) => Err(mistake(&at, format!("`{member}` of `{object}` has at least {min} elements"))),
            None => Err(mistake(&at, format!("`{member}` of `{object}` has no maximum length: use `at_most`"))),
        },
        _ => Err(mistake(&at, format!("`{object}` has no array `{member}`"))),
    }
}

fn mistake(place: &[&str], problem: String) -> Mistake {
    Mistake {
        place: None,
        file: FILE.to_owned(),
        pointer: place.iter().map(|step| format!("/{step}")).collect(),
        kind: "markers",
        problem,
        help: "change this file together with the schema".to_owned(),
    }
}
