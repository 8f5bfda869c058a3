//! Builders whose type records which members are set, so that `build()` does not compile without the required members.
//! Each required member is a type parameter of the builder: first `Unset`, then `Set` with its value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::doc;
use super::names::{pascal, snake};

/// A builder.
pub(super) struct Typestate {
    /// The type that it builds.
    pub(super) of: Ident,
    /// The function of that type that returns the empty builder.
    pub(super) begin: Ident,
    /// The docs of the function.
    pub(super) docs: String,
    /// The name of the builder.
    pub(super) name: Ident,
    pub(super) members: Vec<Member>,
    pub(super) left_out: Vec<LeftOut>,
    /// Makes the value, with a local variable for each member: its value if it is required, else an `Option`.
    pub(super) construct: TokenStream,
    /// Whether the value can break a bound that no type expresses.
    pub(super) fallible: bool,
    /// Setters of several members at once.
    pub(super) groups: Vec<Group>,
}

/// A member that the builder sets.
pub(super) struct Member {
    pub(super) name: Ident,
    /// Its JSON name.
    pub(super) wire: String,
    pub(super) docs: String,
    /// The parameter type of its setter.
    pub(super) takes: TokenStream,
    /// The type that the builder stores.
    pub(super) keeps: TokenStream,
    /// Converts the one to the other: an expression with `value`.
    pub(super) convert: TokenStream,
    /// The compile error if it is missing; `None` if it is optional.
    pub(super) missing: Option<Missing>,
}

/// The compile error for a missing member.
pub(super) struct Missing {
    pub(super) code: String,
    pub(super) why: String,
}

/// A member that this builder excludes.
pub(super) struct LeftOut {
    pub(super) name: Ident,
    pub(super) wire: String,
    pub(super) takes: TokenStream,
    pub(super) instead: String,
}

/// A setter of several members.
pub(super) struct Group {
    pub(super) name: Ident,
    pub(super) docs: TokenStream,
    pub(super) parameter: TokenStream,
    pub(super) takes: TokenStream,
    /// Prepares the parameter, with `?` where that can fail.
    pub(super) before: TokenStream,
    /// The error of the preparation, if it can fail.
    pub(super) error: Option<TokenStream>,
    /// The members that it sets, each with an expression.
    pub(super) sets: Vec<(Ident, TokenStream)>,
}

impl Typestate {
    /// The builder, and the traits for the module that explains missing members.
    pub(super) fn emit(&self) -> (TokenStream, TokenStream) {
        let (structure, traits, module) = (self.structure(), self.traits(), module(&self.of.to_string()));
        let (setters, left_out, build) = (self.setters(), self.refusals(&module), self.build(&module));
        (quote!(#structure #setters #left_out #build), traits)
    }

    fn required(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.missing.is_some())
    }

    /// The name of a member's type parameter: a letter, since rustc prints all of them.
    fn parameter(&self, member: &Member) -> Ident {
        let place = self.required().position(|other| other.name == member.name).unwrap_or_default();
        match u8::try_from(place).ok().and_then(|place| b'A'.checked_add(place)).filter(u8::is_ascii_uppercase) {
            Some(letter) => format_ident!("{}", char::from(letter)),
            None => format_ident!("P{place}"),
        }
    }

    fn parameters(&self) -> Vec<Ident> {
        self.required().map(|member| self.parameter(member)).collect()
    }

    fn structure(&self) -> TokenStream {
        let Self { of, begin, name, .. } = self;
        let parameters = self.parameters();
        let unset: Vec<_> = parameters.iter().map(|_| quote!(Unset)).collect();
        let mut fields = Vec::new();
        let mut none = Vec::new();
        for member in &self.members {
            let (field, keeps) = (&member.name, &member.keeps);
            if member.missing.is_some() {
                let parameter = self.parameter(member);
                fields.push(quote!(#field: #parameter));
                none.push(quote!(#field: Unset::NEW));
            } else {
                fields.push(quote!(#field: ::std::option::Option<#keeps>));
                none.push(quote!(#field: None));
            }
        }
        let docs = doc(&format!("Builds a `{of}`: see `{of}::{begin}`."));
        let says = doc(&self.docs);
        let needs = self.needs();
        quote! {
            impl #of {
                #says
                ///
                #[doc = #needs]
                pub fn #begin() -> #name<#(#unset),*> {
                    #name { #(#none),* }
                }
            }

            #docs
            #[derive(Clone, Debug)]
            #[must_use = "call `build()` to make the value"]
            pub struct #name<#(#parameters),*> { #(#fields),* }
        }
    }

    /// The members that must be set, for the documentation.
    fn needs(&self) -> String {
        let names: Vec<_> = self.required().map(|member| format!("`{}`", member.wire)).collect();
        match names.as_slice() {
            [] => " No member is required.".to_owned(),
            [one] => format!(" `build()` compiles once {one} is set."),
            [all @ .., last] => format!(" `build()` compiles once {} and {last} are set.", all.join(", ")),
        }
    }

    /// The builder's type with the members in `sets` set.
    fn with(&self, sets: &[&Ident]) -> TokenStream {
        let name = &self.name;
        let arguments = self.required().map(|member| {
            let (parameter, keeps) = (self.parameter(member), &member.keeps);
            if sets.contains(&&member.name) { quote!(Set<#keeps>) } else { quote!(#parameter) }
        });
        quote!(#name<#(#arguments),*>)
    }

    fn setters(&self) -> TokenStream {
        let name = &self.name;
        let parameters = self.parameters();
        let setters = self.members.iter().map(|member| {
            let Member { name, takes, convert, .. } = member;
            let docs = doc(&member.docs);
            if member.missing.is_none() {
                let (maybe, keeps) = (format_ident!("maybe_{name}"), &member.keeps);
                return quote! {
                    #docs
                    pub fn #name(mut self, value: #takes) -> Self {
                        self.#name = Some(#convert);
                        self
                    }

                    #docs
                    pub fn #maybe(mut self, value: ::std::option::Option<#keeps>) -> Self {
                        self.#name = value;
                        self
                    }
                };
            }
            let (parameter, with) = (self.parameter(member), self.with(&[name]));
            let moved = self.moved(&[(name, quote!(Set::new(#convert)))]);
            quote! {
                #docs
                pub fn #name(self, value: #takes) -> #with where #parameter: NotSet { #moved }
            }
        });
        let groups = self.groups.iter().map(|group| {
            let Group { name, docs, parameter, takes, before, error, sets } = group;
            let is_required = |name: &Ident| self.required().find(|member| member.name == *name);
            let wrapped: Vec<_> = sets
                .iter()
                .map(|(name, value)| {
                    (name, if is_required(name).is_some() { quote!(Set::new(#value)) } else { quote!(#value) })
                })
                .collect();
            let names: Vec<_> = sets.iter().map(|(name, _)| name).collect();
            let (with, moved) = (self.with(&names), self.moved(&wrapped));
            let free = names.iter().filter_map(|name| is_required(name)).map(|member| self.parameter(member));
            let (gives, moved) = match error {
                Some(error) => (quote!(Result<#with, #error>), quote!(Ok(#moved))),
                None => (with, moved),
            };
            let allow = error
                .as_ref()
                .map(|_| quote!(#[allow(clippy::type_complexity, reason = "the type records which members are set")]));
            quote! {
                #docs
                #allow
                pub fn #name(self, #parameter: #takes) -> #gives where #(#free: NotSet),* { #before #moved }
            }
        });
        quote! {
            impl<#(#parameters),*> #name<#(#parameters),*> { #(#setters)* #(#groups)* }
        }
    }

    /// The builder with other values of some members.
    fn moved(&self, sets: &[(&Ident, TokenStream)]) -> TokenStream {
        let builder = &self.name;
        let fields =
            self.members.iter().map(|Member { name, .. }| match sets.iter().find(|(other, _)| *other == name) {
                Some((_, value)) => quote!(#name: #value),
                None => quote!(#name: self.#name),
            });
        quote!(#builder { #(#fields),* })
    }

    /// The setters of excluded members: a call does not compile, and the error gives the reason.
    fn refusals(&self, module: &Ident) -> Option<TokenStream> {
        let name = &self.name;
        let parameters = self.parameters();
        let refusals: Vec<_> = self
            .left_out
            .iter()
            .map(|LeftOut { name, takes, wire, .. }| {
                let of = self.trait_name(wire);
                quote! {
                    pub fn #name(self, _: #takes) -> Self where for<'never> &'never Unset: #module::#of { self }
                }
            })
            .collect();
        let generics = (!parameters.is_empty()).then(|| quote!(<#(#parameters),*>));
        (!refusals.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                impl #generics #name #generics { #(#refusals)* }
            }
        })
    }

    fn build(&self, module: &Ident) -> TokenStream {
        let Self { of, name, construct, .. } = self;
        let parameters = self.parameters();
        let bounds: Vec<_> = self
            .required()
            .map(|member| {
                let (parameter, of) = (self.parameter(member), self.trait_name(&member.wire));
                quote!(#parameter: #module::#of)
            })
            .collect();
        let bounds = (!bounds.is_empty()).then(|| quote!(where #(#bounds),*));
        let fields: Vec<_> = self.members.iter().map(|member| &member.name).collect();
        let given: Vec<_> = self.required().map(|member| &member.name).collect();
        let traits = self.required().map(|member| self.trait_name(&member.wire));
        let values = quote! {
            let Self { #(#fields),* } = self;
            #(let #given = #module::#traits::given(#given);)*
        };
        let docs = doc(&format!("The `{of}`."));
        let build = if self.fallible {
            quote! {
                #docs
                ///
                /// # Errors
                /// If a bound is not kept that no type carries: what a reader would report.
                pub fn build(self) -> Result<#of, Box<Rejected>> #bounds { #values built(#construct) }
            }
        } else {
            quote! {
                #docs
                #[must_use]
                pub fn build(self) -> #of #bounds { #values #construct }
            }
        };
        quote! {
            impl<#(#parameters),*> #name<#(#parameters),*> { #build }
        }
    }

    fn trait_name(&self, wire: &str) -> Ident {
        format_ident!("{}{}", pascal(&self.begin.to_string()), pascal(wire))
    }

    /// One trait a member, which only a value that was set has: its message is the compiler's.
    fn traits(&self) -> TokenStream {
        let Self { of, begin, .. } = self;
        let required = self.required().filter_map(|member| {
            let (wire, keeps) = (&member.wire, &member.keeps);
            let Missing { code, why } = member.missing.as_ref()?;
            let name = self.trait_name(wire);
            let message = text(&format!("{code}: missing field `{wire}`; `{of}::{begin}()` requires it"));
            let label = text(&format!("`{wire}` is not set"));
            let fix = text(&format!("add `.{wire}(..)` before `.build()`: {}", lower(&member.docs)));
            let why = text(why);
            Some(quote! {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #why, note = #fix)]
                pub trait #name {
                    #[allow(missing_docs)]
                    fn given(self) -> #keeps;
                }

                #[diagnostic::do_not_recommend]
                impl #name for Set<#keeps> {
                    fn given(self) -> #keeps { self.into_value() }
                }
            })
        });
        let left_out = self.left_out.iter().map(|LeftOut { wire, instead, .. }| {
            let name = self.trait_name(wire);
            let message = text(&format!("SCHEMA: unexpected field `{wire}`; `{of}::{begin}()` leaves it out"));
            let label = text(&format!("`{wire}` cannot be set here"));
            let instead = text(instead);
            quote! {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #instead)]
                pub trait #name {}
            }
        });
        quote!(#(#required)* #(#left_out)*)
    }
}

/// The module of the traits of an object's builders. Its name is short, since rustc writes the path.
pub(super) fn explained(object: &str, traits: &[TokenStream]) -> TokenStream {
    let module = module(object);
    let docs = doc(&format!("What the builders of `{object}` ask for: each trait explains itself."));
    quote! {
        #docs
        #[doc(hidden)]
        pub mod #module {
            use super::*;

            #(#traits)*
        }
    }
}

/// Name of the module of an object's traits.
fn module(object: &str) -> Ident {
    format_ident!("{}_needs", snake(object.trim_end_matches("Payload")))
}

/// A text of an attribute whose braces would be parameters.
fn text(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// A description behind a colon: without its capital and its full stop.
fn lower(docs: &str) -> String {
    let first = docs.split_once(". ").map_or(docs, |(first, _)| first).trim_end_matches('.');
    let mut chars = first.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(initial), Some(second)) if !second.is_uppercase() => initial.to_lowercase().chain(chars).collect(),
        _ => first.to_owned(),
    }
}
