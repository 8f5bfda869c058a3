//! Builders whose type records which fields are set, so `build()` compiles only when all required fields are set. Each
//! required field is a type parameter of the builder: initially `Unset`, then `Set` with its value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;

use super::names::{pascal, snake};
use super::{doc, ident};

/// Builder of an object.
pub(super) struct BuilderSpec {
    /// Type that the builder builds.
    pub(super) of: Ident,
    /// Parameter of a builder that serves several types, with its bound; `of` is then its name.
    pub(super) generic: Option<TokenStream>,
    /// Function of that type that returns an empty builder.
    pub(super) begin: Ident,
    /// Documentation of that function.
    pub(super) docs: String,
    /// Description of the run-time checks of `build()`, for the documentation.
    pub(super) checks: Option<String>,
    pub(super) name: Ident,
    pub(super) members: Vec<Member>,
    pub(super) left_out: Vec<ExcludedMember>,
    /// Expression that constructs the value. Each field is a local variable: the value of a required field, otherwise
    /// an `Option`.
    pub(super) construct: TokenStream,
    /// Whether the value can violate a bound that no type expresses.
    pub(super) fallible: bool,
    /// Function that performs the run-time checks.
    pub(super) built: TokenStream,
    /// Whether the crates of the typed API may skip these checks.
    pub(super) skippable: bool,
    /// Setters that set several fields at once.
    pub(super) groups: Vec<GroupSetter>,
    /// Additional traits that explain errors.
    pub(super) explains: TokenStream,
}

/// Field that the builder sets.
pub(super) struct Member {
    pub(super) name: Ident,
    /// JSON name.
    pub(super) wire: String,
    pub(super) docs: String,
    /// Parameter type of the setter.
    pub(super) takes: TokenStream,
    /// Type that the builder stores.
    pub(super) keeps: TokenStream,
    /// Conversion from parameter to stored type: an expression with `value`.
    pub(super) convert: TokenStream,
    /// Compile error if the field is not set; `None` for an optional field.
    pub(super) missing: Option<MissingMember>,
}

impl Member {
    /// Returns the name of the trait that only an unset field implements.
    fn once(&self) -> Ident {
        format_ident!("Once{}", pascal(&self.wire))
    }

    /// Emits the trait whose message is the compile error for a second call of the setter.
    fn once_trait(&self) -> TokenStream {
        let (name, wire) = (self.once(), &self.wire);
        let message = text(&format!("SCHEMA: duplicate field `{wire}`; it is set already"));
        let label = text(&format!("`{wire}` is set twice"));
        let note = text(&format!("set `{wire}` once"));
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            pub trait #name {}

            impl #name for Unset {}
        }
    }
}

/// Compile error for a missing field.
pub(super) struct MissingMember {
    pub(super) code: String,
    pub(super) why: String,
}

/// Field that the builder excludes.
pub(super) struct ExcludedMember {
    pub(super) name: Ident,
    pub(super) wire: String,
    pub(super) takes: TokenStream,
    pub(super) instead: String,
}

/// Setter of several fields.
pub(super) struct GroupSetter {
    pub(super) name: Ident,
    pub(super) docs: TokenStream,
    pub(super) parameter: TokenStream,
    pub(super) takes: TokenStream,
    /// Statements that prepare the parameter, with `?` if they can fail.
    pub(super) before: TokenStream,
    /// Error of the preparation, if it can fail.
    pub(super) error: Option<TokenStream>,
    /// Fields that the setter sets, each with an expression.
    pub(super) sets: Vec<(Ident, TokenStream)>,
}

impl BuilderSpec {
    pub(super) fn emit(&self, object: &str) -> TokenStream {
        let module = module(object);
        let (structure, setters, build) = (self.structure(object), self.setters(&module), self.build(object, &module));
        let refusals = self.refusals(&module);
        quote!(#structure #setters #refusals #build)
    }

    fn required(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.missing.is_some())
    }

    fn optional(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.missing.is_none())
    }

    /// Returns the name of a field's type parameter: a single letter, because rustc prints all of them.
    fn parameter(&self, member: &Member) -> Ident {
        let place = self.required().position(|other| other.name == member.name).unwrap_or_default();
        match u8::try_from(place).ok().and_then(|place| b'A'.checked_add(place)).filter(|c| (b'A'..b'P').contains(c)) {
            Some(letter) => format_ident!("{}", char::from(letter)),
            None => format_ident!("P{place}"),
        }
    }

    fn parameters(&self) -> Vec<Ident> {
        self.required().map(|member| self.parameter(member)).collect()
    }

    /// Returns the parameter that precedes those of the fields: the built type, if the builder serves several.
    fn shared(&self) -> Option<TokenStream> {
        let of = &self.of;
        self.generic.as_ref().map(|_| quote!(#of,))
    }

    /// Returns the parameter of `shared` with its bound, for the generics of an `impl`.
    fn declared(&self) -> Option<TokenStream> {
        let of = &self.of;
        self.generic.as_ref().map(|bound| quote!(#of: #bound,))
    }

    /// Returns the fields of the builder: name, type and initial value of each.
    fn parts(&self, object: &str) -> Vec<[TokenStream; 3]> {
        let parameters = self.parameters();
        let unset = parameters.iter().map(|_| quote!(Unset::NEW));
        let mut parts = Vec::new();
        if !parameters.is_empty() {
            parts.push([quote!(required), quote!((#(#parameters,)*)), quote!((#(#unset,)*))]);
        }
        if self.optional().next().is_some() {
            let rest = rest(object);
            parts.push([quote!(optional), quote!(#rest), quote!(#rest::default())]);
        }
        if self.generic.is_some() {
            let of = &self.of;
            parts.push([
                quote!(of),
                quote!(::std::marker::PhantomData<fn() -> #of>),
                quote!(::std::marker::PhantomData),
            ]);
        }
        parts
    }

    fn structure(&self, object: &str) -> TokenStream {
        let Self { of, begin, name, .. } = self;
        let (parameters, shared) = (self.parameters(), self.shared());
        let (parts, declared) = (self.parts(object), self.declared());
        let fields = parts.iter().map(|[name, ty, _]| quote!(#name: #ty));
        let values: Vec<_> = parts.iter().map(|[name, _, value]| quote!(#name: #value)).collect();
        let (says, needs) = (doc(&self.docs), self.needs());
        let (docs, begin) = if self.generic.is_some() {
            let begin = quote! {
                impl<#declared> #name<#of> {
                    pub(crate) fn begin() -> Self {
                        Self { #(#values),* }
                    }
                }
            };
            let docs = quote! {
                #says
                ///
                #[doc = #needs]
            };
            (docs, begin)
        } else {
            let begin = quote! {
                impl #of {
                    #says
                    ///
                    #[doc = #needs]
                    pub fn #begin() -> #name {
                        #name { #(#values),* }
                    }
                }
            };
            (doc(&format!("Builds a `{of}`: see `{of}::{}`.", self.begin)), begin)
        };
        let generics = (shared.is_some() || !parameters.is_empty()).then(|| quote!(<#shared #(#parameters = Unset),*>));
        quote! {
            #begin

            #docs
            #[derive(Clone, Debug)]
            #[must_use = "call `build()` to make the value"]
            pub struct #name #generics { #(#fields),* }
        }
    }

    /// Returns the documentation of the required fields.
    fn needs(&self) -> String {
        let names: Vec<_> = self.required().map(|member| format!("`{}`", member.wire)).collect();
        match names.as_slice() {
            [] => " No member is required.".to_owned(),
            [one] => format!(" `build()` compiles once {one} is set."),
            [all @ .., last] => format!(" `build()` compiles once {} and {last} are set.", all.join(", ")),
        }
    }

    /// Returns the builder's type after the fields in `sets` are set.
    fn with(&self, sets: &[&Ident]) -> TokenStream {
        let (name, shared) = (&self.name, self.shared());
        let arguments = self.required().map(|member| {
            let (parameter, keeps) = (self.parameter(member), &member.keeps);
            if sets.contains(&&member.name) { quote!(Set<#keeps>) } else { quote!(#parameter) }
        });
        quote!(#name<#shared #(#arguments),*>)
    }

    /// Returns the generics of an `impl` for any set of fields, and its type.
    fn head(&self) -> TokenStream {
        let (name, parameters) = (&self.name, self.parameters());
        let (shared, declared) = (self.shared(), self.declared());
        if shared.is_none() && parameters.is_empty() {
            return quote!(impl #name);
        }
        quote!(impl<#declared #(#parameters),*> #name<#shared #(#parameters),*>)
    }

    fn setters(&self, module: &Ident) -> TokenStream {
        let setters = self.members.iter().map(|member| {
            let Member { name, takes, convert, .. } = member;
            let docs = doc(&member.docs);
            if member.missing.is_none() {
                let (maybe, keeps) = (format_ident!("maybe_{}", name.unraw()), &member.keeps);
                return quote! {
                    #docs
                    pub fn #name(mut self, value: #takes) -> Self {
                        self.optional.#name = Some(#convert);
                        self
                    }

                    #docs
                    pub fn #maybe(mut self, value: Option<#keeps>) -> Self {
                        self.optional.#name = value;
                        self
                    }
                };
            }
            let (parameter, with, once) = (self.parameter(member), self.with(&[name]), member.once());
            let moved = self.moved(&[(name.clone(), quote!(#convert))]);
            quote! {
                #docs
                pub fn #name(self, value: #takes) -> #with where #parameter: needs::#module::#once { #moved }
            }
        });
        let groups = self.groups.iter().map(|group| {
            let GroupSetter { name, docs, parameter, takes, before, error, sets } = group;
            let names: Vec<_> = sets.iter().map(|(name, _)| name).collect();
            let (with, moved) = (self.with(&names), self.moved(sets));
            let free = self.required().filter(|member| names.contains(&&member.name)).map(|member| {
                let (parameter, once) = (self.parameter(member), member.once());
                quote!(#parameter: needs::#module::#once)
            });
            let (gives, moved) = match error {
                Some(error) => (quote!(Result<#with, #error>), quote!(let builder = { #moved }; Ok(builder))),
                None => (with, moved),
            };
            let allow = error
                .as_ref()
                .map(|_| quote!(#[allow(clippy::type_complexity, reason = "the type records which members are set")]));
            quote! {
                #docs
                #allow
                pub fn #name(self, #parameter: #takes) -> #gives where #(#free),* { #before #moved }
            }
        });
        let (head, groups) = (self.head(), groups.collect::<Vec<_>>());
        let setters: Vec<_> = setters.collect();
        if setters.is_empty() && groups.is_empty() {
            return TokenStream::new();
        }
        quote!(#head { #(#setters)* #(#groups)* })
    }

    /// Returns statements that evaluate to the builder with new values for some fields.
    fn moved(&self, sets: &[(Ident, TokenStream)]) -> TokenStream {
        let builder = &self.name;
        let value = |name: &Ident| sets.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        let kept: Vec<_> = self.required().map(|member| value(&member.name).is_none()).collect();
        let locals: Vec<_> = (0..kept.len()).map(|place| format_ident!("m{place}")).collect();
        let taken = locals.iter().zip(&kept).map(|(local, kept)| if *kept { quote!(#local) } else { quote!(_) });
        let given = self.required().zip(&locals).map(|(member, local)| match value(&member.name) {
            Some(value) => quote!(Set::new(#value)),
            None => quote!(#local),
        });
        let optional: Vec<_> = self
            .optional()
            .filter_map(|Member { name, .. }| value(name).map(|value| quote!(optional.#name = #value;)))
            .collect();
        let taken = kept.contains(&true).then(|| quote!(let (#(#taken,)*) = self.required;));
        let mut fields = vec![quote!(required: (#(#given,)*))];
        let mut before = TokenStream::new();
        if !optional.is_empty() {
            before = quote!(let mut optional = self.optional; #(#optional)*);
            fields.push(quote!(optional));
        } else if self.optional().next().is_some() {
            fields.push(quote!(optional: self.optional));
        }
        if self.generic.is_some() {
            fields.push(quote!(of: self.of));
        }
        quote!(#taken #before #builder { #(#fields),* })
    }

    /// Emits the setters of excluded fields: a call does not compile, and the error states the reason.
    fn refusals(&self, module: &Ident) -> Option<TokenStream> {
        let head = self.head();
        let refusals: Vec<_> = self
            .left_out
            .iter()
            .map(|ExcludedMember { name, takes, wire, .. }| {
                let of = self.trait_name(wire);
                quote! {
                    pub fn #name(self, _: #takes) -> Self where for<'never> &'never Unset: needs::#module::#of { self }
                }
            })
            .collect();
        (!refusals.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                #head { #(#refusals)* }
            }
        })
    }

    fn build(&self, object: &str, module: &Ident) -> TokenStream {
        let Self { of, construct, built, .. } = self;
        let shared = self.generic.as_ref().map(|_| quote!(<#of>));
        let bounds: Vec<_> = self
            .required()
            .map(|member| {
                let (parameter, of) = (self.parameter(member), self.trait_name(&member.wire));
                quote!(#parameter: needs::#module::#of #shared)
            })
            .collect();
        let bounds = (!bounds.is_empty()).then(|| quote!(where #(#bounds),*));
        let required: Vec<_> = self.required().map(|member| &member.name).collect();
        let optional: Vec<_> = self.optional().map(|member| &member.name).collect();
        let required = (!required.is_empty()).then(|| {
            quote! {
                let (#(#required,)*) = self.required;
                let (#(#required,)*) = (#(Given::given(#required),)*);
            }
        });
        let optional = (!optional.is_empty()).then(|| {
            let rest = rest(object);
            quote!(let #rest { #(#optional,)* .. } = self.optional;)
        });
        let value = quote!(#required #optional #construct);
        let docs = doc(&match self.generic {
            Some(_) => "Returns the packet.".to_owned(),
            None => format!("Returns the `{of}`."),
        });
        let checks = self.checks.as_deref().map(|checks| {
            let checks = doc(checks);
            quote! {
                ///
                #checks
            }
        });
        let build = if self.fallible {
            let error = doc(match self.checks {
                Some(_) => "The errors of a reader, with JSON pointers that begin at this object.",
                None => "The errors of a reader, if a bound that no type expresses is violated.",
            });
            let unchecked = self.skippable.then(|| {
                quote! {
                    #[doc(hidden)]
                    #[must_use]
                    pub fn unchecked(self) -> #of #bounds { #value }
                }
            });
            let value = if self.skippable { quote!(self.unchecked()) } else { quote!({ #value }) };
            quote! {
                #docs
                #checks
                ///
                /// # Errors
                #error
                pub fn build(self) -> Result<#of, Box<Rejected>> #bounds { #built(#value) }

                #unchecked
            }
        } else {
            quote! {
                #docs
                #[must_use]
                pub fn build(self) -> #of #bounds { #value }
            }
        };
        let head = self.head();
        quote!(#head { #build })
    }

    /// Returns the name of the trait of a set field: `SetData` for the plain builder, `FailureErrorDetails` for a
    /// branch builder.
    fn trait_name(&self, wire: &str) -> Ident {
        let begin = if self.begin == "builder" { "Set".to_owned() } else { pascal(&self.begin.to_string()) };
        format_ident!("{begin}{}", pascal(wire))
    }

    /// Emits one trait for each required field, implemented only by a set value; its message is the compile error.
    pub(super) fn traits(&self) -> TokenStream {
        let Self { of, begin, explains, .. } = self;
        let shared = self.generic.as_ref().map(|_| quote!(<#of>));
        let declared = self.generic.as_ref().map(|bound| quote!(<#of: #bound>));
        let shown = if self.generic.is_some() { format!("{{{of}}}") } else { of.to_string() };
        let required = self.required().filter_map(|member| {
            let (wire, keeps) = (&member.wire, &member.keeps);
            let MissingMember { code, why } = member.missing.as_ref()?;
            let name = self.trait_name(wire);
            let message = format!("{code}: missing field `{wire}`; `{shown}::{begin}()` requires it");
            let label = text(&format!("`{wire}` is not set"));
            let fix = text(&format!("add `.{wire}(..)` before `.build()`: {}", lower(&member.docs)));
            let why = text(why);
            Some(quote! {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #why, note = #fix)]
                pub trait #name #declared: Given<#keeps> {}

                #[diagnostic::do_not_recommend]
                impl #declared #name #shared for Set<#keeps> {}
            })
        });
        let left_out = self.left_out.iter().map(|ExcludedMember { wire, instead, .. }| {
            let name = self.trait_name(wire);
            let message = text(&format!("SCHEMA: unexpected field `{wire}`; `{of}::{begin}()` leaves it out"));
            let label = text(&format!("`{wire}` cannot be set here"));
            let instead = text(instead);
            quote! {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #instead)]
                pub trait #name {}
            }
        });
        quote!(#(#required)* #(#left_out)* #explains)
    }
}

/// Emits the builders of one object, with the struct of the fields that are optional in any of them and the traits that
/// explain missing fields.
pub(super) fn emit(object: &str, builders: &[BuilderSpec]) -> Builders {
    let mut optional: Vec<&Member> = Vec::new();
    for member in builders.iter().flat_map(BuilderSpec::optional) {
        if !optional.iter().any(|known| known.name == member.name) {
            optional.push(member);
        }
    }
    let rest = (!optional.is_empty()).then(|| {
        let rest = rest(object);
        let fields = optional.iter().map(|Member { name, keeps, .. }| quote!(#name: Option<#keeps>));
        quote! {
            #[derive(Clone, Debug, Default)]
            struct #rest { #(#fields),* }
        }
    });
    let mut required: Vec<&Member> = Vec::new();
    for member in builders.iter().flat_map(BuilderSpec::required) {
        if !required.iter().any(|known| known.name == member.name) {
            required.push(member);
        }
    }
    let once = required.into_iter().map(Member::once_trait);
    let traits = builders.iter().map(BuilderSpec::traits).chain(once);
    let traits: Vec<_> = traits.filter(|traits| !traits.is_empty()).collect();
    let needs = (!traits.is_empty()).then(|| explained(object, &traits));
    let builders = builders.iter().map(|builder| builder.emit(object));
    Builders { items: quote!(#(#builders)* #rest), needs }
}

/// Builders of an object.
pub(super) struct Builders {
    pub(super) items: TokenStream,
    /// Module of the traits that explain missing fields; [`needs`] collects them.
    pub(super) needs: Option<TokenStream>,
}

/// Returns the name of the struct with the optional fields of an object's builders.
fn rest(object: &str) -> Ident {
    format_ident!("{object}Optional")
}

/// Emits the module with all traits that explain missing fields. It is the only hidden item to review.
pub(super) fn needs(objects: &[TokenStream]) -> Option<TokenStream> {
    (!objects.is_empty()).then(|| {
        quote! {
            /// Requirements of the builders: each trait explains one missing or unexpected field.
            #[doc(hidden)]
            pub mod needs {
                use super::*;

                #(#objects)*
            }
        }
    })
}

fn explained(object: &str, traits: &[TokenStream]) -> TokenStream {
    let module = module(object);
    let docs = doc(&format!("What the builders of `{object}` require."));
    quote! {
        #docs
        pub mod #module {
            use super::*;

            #(#traits)*
        }
    }
}

/// Returns the name of the module with an object's traits. The name is short, because rustc prints the path.
fn module(object: &str) -> Ident {
    ident(&snake(object.trim_end_matches("Payload")))
}

/// Escapes braces in the text of an attribute, where they would denote parameters.
fn text(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Returns a description for use after a colon: without an initial capital and without a final full stop.
fn lower(docs: &str) -> String {
    let first = docs.split_once(". ").map_or(docs, |(first, _)| first).trim_end_matches('.');
    let mut chars = first.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(initial), Some(second)) if !second.is_uppercase() => initial.to_lowercase().chain(chars).collect(),
        _ => first.to_owned(),
    }
}
