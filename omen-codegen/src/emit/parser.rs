//! Parsers of closed objects, without construction of the types.
//!
//! After each field, the parser compares the input with the complete text up to the value of each field that may come
//! next in schema order, in the two layouts that most programs write. If none matches, it looks up the field's name and
//! continues the prediction from there.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Lifetime;

use super::names::pascal;
use super::readers::{Mode, Reader, borrows, member};
use super::{Context, bug, ident, keywords, value};
use crate::mistake::Mistakes;
use crate::model::{Conditional, Def, Field, Kind, Object, Ty, When};

/// Maximum number of fields that are predicted at one position. Each costs a comparison if it is absent.
const PREDICTED: usize = 4;

/// Emits the enum of field names.
pub(super) fn keys(name: &str, object: &Object) -> Result<TokenStream, Mistakes> {
    if object.fields.len() > 64 {
        return Err(bug(format!("`{name}` has more than 64 members")));
    }
    let keys = key_type(name);
    let names: Vec<_> = object.fields.iter().map(|field| field.name.as_str()).collect();
    let variants: Vec<_> = names.iter().map(|name| ident(&pascal(name))).collect();
    let parser = keywords::emit(&keys, &names, &variants);
    Ok(quote! {
        #[derive(Clone, Copy)]
        enum #keys { #(#variants),* }

        impl #keys {
            fn from_text(name: &str) -> Option<Self> {
                match name { #(#names => Some(#keys::#variants),)* _ => None }
            }
        }

        #parser
    })
}

fn key_type(name: &str) -> Ident {
    format_ident!("{name}Key")
}

pub(super) fn emit(context: &Context<'_>, def: &Def, object: &Object, mode: Mode) -> Result<TokenStream, Mistakes> {
    let (name, keys) = (ident(&def.name), key_type(&def.name));
    let facts = ident(&format!("{}Facts", def.name));
    let (reader, out) = match mode {
        Mode::Check => (quote!(Check<#name>), quote!(())),
        Mode::Facts if borrows(context, &def.name) => (quote!(#facts<'t>), quote!(#facts<'t>)),
        Mode::Facts => (quote!(#facts), quote!(#facts)),
    };
    let mut lets = Vec::new();
    let mut steps = Vec::new();
    let mut kept = Vec::new();
    let mut required = 0_u64;
    for (index, field) in object.fields.iter().enumerate() {
        let keeps = mode == Mode::Facts && context.lens.keeps(&def.name, &field.name);
        let Reader { reader, out } = member(context, &def.name, field, if keeps { mode } else { Mode::Check })?;
        let bit = 1_u64 << index;
        if field.required {
            required |= bit;
        }
        let (local, variant) = (format_ident!("m_{}", field.name), ident(&pascal(&field.name)));
        let counted = matches!(field.ty, Ty::Array { .. });
        let mut read = quote!(<#reader as Parse<'t>>::parse(cursor)?);
        if keeps || asked(object, field) {
            lets.push(match counted {
                true => quote!(let mut #local: Option<(#out, usize)> = None;),
                false => quote!(let mut #local: Option<#out> = None;),
            });
            read = quote!(#local = Some(#read));
        }
        let bit = Literal::u64_unsuffixed(bit);
        let next = predicted(&keys, object, index + 1);
        steps.push(MemberCode { label: label(field), variant, code: quote!(once(&mut seen, #bit)?; #read; #next) });
        if keeps {
            let field_name = ident(&field.name);
            let value = match (counted, field.required) {
                (false, true) => quote!(#local.ok_or(Refusal)?),
                (false, false) => quote!(#local),
                (true, true) => quote!(#local.ok_or(Refusal)?.0),
                (true, false) => quote!(#local.map(|(all, _)| all)),
            };
            kept.push(quote!(#field_name: #value));
        }
    }
    let first = first(&keys, object);
    let steps = fall_through(&keys, &steps);
    let conditionals = object
        .conditionals
        .iter()
        .map(|conditional| check(context, object, conditional))
        .collect::<Result<Vec<_>, _>>()?;
    let result = match mode {
        Mode::Facts => quote!(Ok(#facts { #(#kept),* })),
        Mode::Check => quote!(Ok(())),
    };
    let required = Literal::u64_unsuffixed(required);
    Ok(quote! {
        impl<'t> Parse<'t> for #reader {
            type Out = #out;

            fn parse(cursor: &mut Cursor<'t>) -> ParseResult<#out> {
                let mut seen = 0_u64;
                #(#lets)*
                'object: {
                    let mut member = #first;
                    'members: loop { #steps }
                }
                need(seen, #required)?;
                #(#conditionals)*
                #result
            }
        }
    })
}

/// Code that parses one field and determines the next.
struct MemberCode {
    label: Lifetime,
    variant: Ident,
    code: TokenStream,
}

/// Nests the code of all fields. The nested blocks are labelled with the fields: a `break` out of a field's block
/// continues with its code, which falls through to the next, so fields in schema order are parsed without a jump.
fn fall_through(keys: &Ident, steps: &[MemberCode]) -> TokenStream {
    let arms = steps.iter().map(|MemberCode { label, variant, .. }| quote!(#keys::#variant => break #label));
    let enter = quote!(match member { #(#arms),* });
    steps.iter().fold(enter, |before, MemberCode { label, code, .. }| quote!(#label: { #before } #code))
}

/// Returns the label of a field's code.
fn label(field: &Field) -> Lifetime {
    Lifetime::new(&format!("'m_{}", field.name), Span::call_site())
}

/// Emits the dispatch of the first field: the first one in the schema, or any other.
fn first(keys: &Ident, object: &Object) -> TokenStream {
    let predicted = candidates(object, 0).0.into_iter().map(|field| {
        let literal = literals(field, "{", "{");
        let variant = ident(&pascal(&field.name));
        quote!(if cursor.predict(#literal) { #keys::#variant } else)
    });
    quote!(#(#predicted)* {
        match cursor.first_member::<#keys>()? {
            Some(member) => member,
            None => break 'object,
        }
    })
}

/// Emits the dispatch after a field: to a field that may come next in schema order, from the index `next` on, or to any
/// other. If no field follows, the object ends.
fn predicted(keys: &Ident, object: &Object, next: usize) -> TokenStream {
    let (candidates, may_end) = candidates(object, next);
    let predicted = candidates.iter().enumerate().map(|(at, field)| {
        let literal = literals(field, ",", ", ");
        // Falls through to the next field.
        let label = label(field);
        let go = (at > 0).then(|| quote!(break #label;));
        quote!(if cursor.predict(#literal) { #go } else)
    });
    let end = may_end.then(|| quote!(if cursor.eat(b"}") { break 'object; } else));
    quote!(#(#predicted)* #end {
        match cursor.next_member::<#keys>()? {
            Some(other) => member = other,
            None => break 'object,
        }
        continue 'members;
    })
}

/// Returns the fields that may come next in schema order, and whether the object may end instead.
fn candidates(object: &Object, next: usize) -> (Vec<&Field>, bool) {
    let mut rest = object.fields.iter().skip(next);
    let mut candidates = Vec::new();
    for field in rest.by_ref().take(PREDICTED) {
        candidates.push(field);
        if field.required {
            return (candidates, false);
        }
    }
    let may_end = rest.next().is_none();
    (candidates, may_end)
}

/// Returns a field's name with the text before and after it, in both layouts.
fn literals(field: &Field, compact: &str, spaced: &str) -> TokenStream {
    let compact = Literal::byte_string(format!("{compact}\"{}\":", field.name).as_bytes());
    let spaced = Literal::byte_string(format!("{spaced}\"{}\": ", field.name).as_bytes());
    quote!(#compact, #spaced)
}

/// Returns whether a conditional checks more than the presence of a field.
fn asked(object: &Object, field: &Field) -> bool {
    object.conditionals.iter().any(|c| c.subject == field.name || (c.non_empty && c.requires == field.name))
}

fn check(context: &Context<'_>, object: &Object, conditional: &Conditional) -> Result<TokenStream, Mistakes> {
    let field = |name: &str| {
        object.field(name).ok_or_else(|| bug(format!("a conditional names the member `{name}`, which does not exist")))
    };
    let subject = format_ident!("m_{}", conditional.subject);
    let applies = match (&conditional.when, &field(&conditional.subject)?.ty) {
        (When::Empty, _) => quote!(matches!(#subject, Some((_, 0)))),
        (When::OneOf(values), Ty::Ref(name)) => {
            let Kind::Enum(_) = &context.model.def(name)?.kind else {
                return Err(bug(format!("a conditional asks for a value of `{name}`, which is not an enum")));
            };
            let values = values.iter().map(|wire| value(context.model, name, wire)).collect::<Result<Vec<_>, _>>()?;
            let name = ident(name);
            quote!(matches!(#subject, Some(#(#name::#values)|*)))
        }
        _ => return Err(bug(format!("the conditional on `{}` has an unknown form", conditional.subject))),
    };
    field(&conditional.requires)?;
    let unmet = if conditional.non_empty {
        let local = format_ident!("m_{}", conditional.requires);
        quote!(!#local.as_ref().is_some_and(NonEmpty::non_empty))
    } else {
        let index = object.fields.iter().position(|field| field.name == conditional.requires).unwrap_or(0);
        let bit = Literal::u64_unsuffixed(1 << index);
        quote!(seen & #bit == 0)
    };
    Ok(quote! {
        if #applies && #unmet {
            return Err(Refusal);
        }
    })
}
