//! Closed objects: the public struct with its builder, and its readers.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;

use super::names::pascal;
use super::readers::{Mode, Reader, member};
use super::typestate::Builders;
use super::{Context, Emitted, branches, bug, doc, ident, list, packet_builder};
use crate::mistake::Mistakes;
use crate::model::{Conditional, Def, Field, Kind, Object, Ty, When};

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<Emitted, Mistakes> {
    let Kind::Object(object) = &def.kind else { return Ok(Emitted::default()) };
    let structure = structure(context, def, object)?;
    if object.packet.is_some() {
        // Packets are read by the dispatching reader of `packet.rs`.
        let builder = packet_builder::emit(context, def, object)?;
        return Ok(Emitted { items: quote!(#structure #builder), ..Emitted::default() });
    }
    let Builders { items: builders, needs } = branches::emit(context, def, object)?;
    let keys = keys(&def.name, object)?;
    let owned = reader(context, def, object, Mode::Owned)?;
    let check = reader(context, def, object, Mode::Check)?;
    let demands = demands(def, object);
    let items = quote! {
        #structure
        #builders
        #demands
        #keys
        #owned
        #check
    };
    Ok(Emitted { items, needs: needs.into_iter().collect(), ..Emitted::default() })
}

/// The public struct, its members in schema order.
fn structure(context: &Context<'_>, def: &Def, object: &Object) -> Result<TokenStream, Mistakes> {
    let (name, docs) = (ident(&def.name), doc(&def.description));
    let mut fields = Vec::new();
    for field in &object.fields {
        let (docs, field_name) = (doc(&field.description), ident(&field.name));
        let Reader { out, .. } = member(context, &def.name, field, Mode::Owned)?;
        let ty = if field.required { out } else { quote!(Option<#out>) };
        let wire = &field.name;
        let rename = (field_name.unraw() != *wire).then(|| quote!(#[serde(rename = #wire)]));
        let skip = (!field.required).then(|| quote!(#[serde(skip_serializing_if = "Option::is_none")]));
        fields.push(quote!(#docs #rename #skip pub #field_name: #ty));
    }
    if object.packet.is_some() {
        fields.push(quote! {
            /// Members beside the three, which must begin with `_`; no rule checks them (D38).
            #[serde(flatten)]
            pub metadata: Metadata
        });
    }
    Ok(quote! {
        #docs
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
        #[non_exhaustive]
        pub struct #name { #(#fields),* }
    })
}

/// A function for each member that a value of another one requires, so that those values are listed once.
fn demands(def: &Def, object: &Object) -> Option<TokenStream> {
    let mut functions = Vec::new();
    for demand in object.demands() {
        let Some(Ty::Ref(of)) = object.field(demand.subject).map(|field| &field.ty) else { continue };
        let shared = object.demands().iter().filter(|other| other.requires == demand.requires).count() > 1;
        let function = match shared {
            true => format_ident!("requires_{}_by_{}", demand.requires, demand.subject),
            false => format_ident!("requires_{}", demand.requires),
        };
        let (subject, of) = (ident(demand.subject), ident(of));
        let values = demand.values.iter().map(|value| ident(&pascal(value)));
        let docs = doc(&format!("Whether `{}` is required where `{}` has a value.", demand.requires, demand.subject));
        functions.push(quote! {
            #docs
            #[must_use]
            pub const fn #function(#subject: #of) -> bool {
                matches!(#subject, #(#of::#values)|*)
            }
        });
    }
    let name = ident(&def.name);
    (!functions.is_empty()).then(|| quote!(impl #name { #(#functions)* }))
}

/// The enum of member names.
fn keys(name: &str, object: &Object) -> Result<TokenStream, Mistakes> {
    if object.fields.len() > 64 {
        return Err(bug(format!("`{name}` has more than 64 members")));
    }
    let keys = key_type(name);
    let names: Vec<_> = object.fields.iter().map(|field| &field.name).collect();
    let variants: Vec<_> = names.iter().map(|name| ident(&pascal(name))).collect();
    let all = list(&names);
    Ok(quote! {
        #[derive(Clone, Copy)]
        enum #keys { #(#variants),* }

        impl Key for #keys {
            const NAMES: &'static [&'static str] = #all;
            const ALL: &'static [Self] = &[#(#keys::#variants),*];

            #[inline]
            fn of(name: &str) -> Option<Self> {
                match name { #(#names => Some(#keys::#variants),)* _ => None }
            }
        }
    })
}

fn key_type(name: &str) -> proc_macro2::Ident {
    format_ident!("{name}Key")
}

/// A reader of an object.
pub(super) fn reader(context: &Context<'_>, def: &Def, object: &Object, mode: Mode) -> Result<TokenStream, Mistakes> {
    let (name, keys) = (ident(&def.name), key_type(&def.name));
    let facts = ident(&format!("{}Facts", def.name));
    let borrows = mode == Mode::Facts && super::readers::borrows(context, &def.name);
    let (reader, value) = match mode {
        Mode::Owned => (quote!(#name), quote!(#name)),
        Mode::Check => (quote!(Check<#name>), quote!(())),
        Mode::Facts if borrows => (quote!(#facts<'de>), quote!(#facts<'de>)),
        Mode::Facts => (quote!(#facts), quote!(#facts)),
    };
    let mut lets = Vec::new();
    let mut arms = Vec::new();
    let mut kept = Vec::new();
    let mut required = 0_u64;
    for (index, field) in object.fields.iter().enumerate() {
        let keeps = match mode {
            Mode::Owned => true,
            Mode::Facts => context.lens.keeps(&def.name, &field.name),
            Mode::Check => false,
        };
        let field_mode = if keeps { mode } else { Mode::Check };
        let Reader { reader, out } = member(context, &def.name, field, field_mode)?;
        let bit = 1_u64 << index;
        if field.required {
            required |= bit;
        }
        let (local, variant) = (format_ident!("m_{}", field.name), ident(&pascal(&field.name)));
        let counted = matches!(field.ty, Ty::Array { .. });
        let mut read = quote!(map.next_value_seed(Seed::<#reader>::new())?);
        if keeps || asked(object, field) {
            if counted && keeps {
                lets.push(quote!(let mut #local: Option<(#out, usize)> = None;));
            } else if counted {
                lets.push(quote!(let mut #local: Option<((), usize)> = None;));
            } else {
                lets.push(quote!(let mut #local: Option<#out> = None;));
            }
            read = quote!(#local = Some(#read));
        }
        let bit = Literal::u64_unsuffixed(bit);
        arms.push(quote!(#keys::#variant => { once(&mut seen, #bit)?; #read; }));
        if keeps {
            let field_name = ident(&field.name);
            let value = match (counted, field.required) {
                (false, true) => quote!(must(#local)?),
                (false, false) => quote!(#local),
                (true, true) => quote!(must(#local)?.0),
                (true, false) => quote!(#local.map(|(all, _)| all)),
            };
            kept.push(quote!(#field_name: #value));
        }
    }
    let conditionals = object
        .conditionals
        .iter()
        .map(|conditional| check(context, object, conditional))
        .collect::<Result<Vec<_>, _>>()?;
    let result = match mode {
        Mode::Owned => quote!(Ok(#name { #(#kept),* })),
        Mode::Facts => quote!(Ok(#facts { #(#kept),* })),
        Mode::Check => quote!(Ok(())),
    };
    let expects = format!("an object ({})", def.name);
    let required = Literal::u64_unsuffixed(required);
    Ok(quote! {
        impl<'de> Read<'de> for #reader {
            type Out = #value;

            #[inline]
            fn read<D: Deserializer<'de>>(deserializer: D) -> Result<#value, D::Error> {
                deserializer.deserialize_map(Seed::<#reader>::new())
            }
        }

        impl<'de> Visitor<'de> for Seed<#reader> {
            type Value = #value;

            fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(#expects)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<#value, A::Error> {
                let mut seen = 0_u64;
                let mut next = 0;
                #(#lets)*
                while let Some(key) = map.next_key_seed(KeySeed::<#keys>::new(next))? {
                    next = key as usize + 1;
                    match key { #(#arms)* }
                }
                need(seen, #required, #keys::NAMES)?;
                #(#conditionals)*
                #result
            }
        }
    })
}

/// Whether a conditional asks for more than the presence of a member.
fn asked(object: &Object, field: &Field) -> bool {
    object.conditionals.iter().any(|c| c.subject == field.name || (c.non_empty && c.requires == field.name))
}

fn check(context: &Context<'_>, object: &Object, conditional: &Conditional) -> Result<TokenStream, Mistakes> {
    let field = |name: &str| {
        object.field(name).ok_or_else(|| bug(format!("a conditional names the member `{name}`, which is not there")))
    };
    let subject = format_ident!("m_{}", conditional.subject);
    let applies = match (&conditional.when, &field(&conditional.subject)?.ty) {
        (When::Empty, _) => quote!(matches!(#subject, Some((_, 0)))),
        (When::OneOf(values), Ty::Ref(name)) => {
            let Kind::Enum(_) = &context.model.def(name)?.kind else {
                return Err(bug(format!("a conditional asks for a value of `{name}`, which is not an enum")));
            };
            let name = ident(name);
            let values = values.iter().map(|value| ident(&pascal(value)));
            quote!(matches!(#subject, Some(#(#name::#values)|*)))
        }
        _ => return Err(bug(format!("the conditional on `{}` is of no known form", conditional.subject))),
    };
    let required = field(&conditional.requires)?;
    let unmet = if conditional.non_empty {
        let local = format_ident!("m_{}", conditional.requires);
        match required.ty {
            Ty::NullableText => quote!(!#local.as_ref().and_then(Option::as_ref).is_some_and(NonEmpty::non_empty)),
            _ => quote!(!#local.as_ref().is_some_and(NonEmpty::non_empty)),
        }
    } else {
        let index = object.fields.iter().position(|field| field.name == conditional.requires).unwrap_or(0);
        let bit = Literal::u64_unsuffixed(1 << index);
        quote!(seen & #bit == 0)
    };
    let message = &conditional.description;
    Ok(quote! {
        if #applies && #unmet {
            return Err(A::Error::custom(#message));
        }
    })
}
