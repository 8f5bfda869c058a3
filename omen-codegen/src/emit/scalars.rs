//! Checked strings, integers and numbers.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{Context, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Def, Kind, TextRule};
use crate::pattern::Pattern;

pub(super) fn emit(context: &Context<'_>, def: &Def) -> Result<TokenStream, Mistakes> {
    let declared = || context.types.structure(&def.name);
    Ok(match &def.kind {
        Kind::Text(TextRule::DateTime) => {
            // `Timestamp` is hand-written, because it stores text and instant. Its name in the schema must equal its Rust name.
            quote! { pub use crate::time::Timestamp; }
        }
        Kind::Text(rule) => text(def, declared()?, rule),
        Kind::Integer { min, max } => integer(def, declared()?, *min, *max),
        Kind::Number { min, max } => number(def, declared()?, *min, *max),
        _ => TokenStream::new(),
    })
}

/// Returns a description of the strings that the scalar accepts.
pub(super) fn expects(rule: &TextRule) -> String {
    match rule {
        TextRule::Plain => "a string".to_owned(),
        TextRule::Length { min: 1, max: None } => "a non-empty string".to_owned(),
        TextRule::Length { min, max: None } => format!("a string of at least {min} characters"),
        TextRule::Length { min, max: Some(max) } => format!("a string of {min} to {max} characters"),
        TextRule::Pattern { source, .. } => format!("a string such as `{}` (pattern `{source}`)", example(rule)),
        TextRule::DateTime => format!("an RFC 3339 timestamp with an offset, e.g. `{}`", example(rule)),
    }
}

/// Returns an example of a string that the scalar accepts; `…` represents any text.
pub(super) fn example(rule: &TextRule) -> String {
    match rule {
        TextRule::Plain | TextRule::Length { .. } => "…".to_owned(),
        TextRule::Pattern { pattern, .. } => {
            let character = if pattern.holds(&format!("{}1", pattern.prefix)) { '1' } else { first(pattern) };
            format!("{}{character}", pattern.prefix)
        }
        TextRule::DateTime => "2026-03-01T10:00:00Z".to_owned(),
    }
}

/// Returns the first character of the pattern's class.
fn first(pattern: &Pattern) -> char {
    pattern.ranges.first().map_or('_', |(low, _)| *low)
}

fn holds(rule: &TextRule) -> TokenStream {
    match rule {
        TextRule::Plain | TextRule::DateTime => quote! { let _ = text; true },
        TextRule::Length { min, max } => {
            let min_check = if *min == 1 { quote!(!text.is_empty()) } else { quote!(text.chars().count() >= #min) };
            let max_check = max.map(|max| quote!(&& text.chars().count() <= #max));
            quote!(#min_check #max_check)
        }
        TextRule::Pattern { pattern, .. } => {
            let prefix = &pattern.prefix;
            let ranges = byte_ranges(pattern).map(|[low, high]| {
                if low.to_string() == high.to_string() { quote!(#low) } else { quote!(#low..=#high) }
            });
            quote! {
                text.strip_prefix(#prefix).is_some_and(|rest| {
                    !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, #(#ranges)|*))
                })
            }
        }
    }
}

/// Returns the ranges of the pattern's class.
fn byte_ranges(pattern: &Pattern) -> impl Iterator<Item = [Literal; 2]> {
    // The lint phase accepts only ASCII.
    let byte = |c: char| Literal::byte_character(u8::try_from(c).unwrap_or(b'?'));
    pattern.ranges.iter().map(move |(low, high)| [byte(*low), byte(*high)])
}

/// Emits the scalar with its pattern as byte ranges, for a parser that compares several bytes at once.
fn pattern_scalar(name: &Ident, pattern: &Pattern) -> TokenStream {
    let start = Literal::byte_string(format!("\"{}", pattern.prefix).as_bytes());
    let ranges = byte_ranges(pattern).map(|[low, high]| quote!(between(bytes, #low, #high)));
    quote! {
        impl PatternScalar for #name {
            const START: &'static [u8] = #start;

            #[inline(always)]
            fn class(bytes: Bytes) -> u32 {
                (#(#ranges)|*).to_bitmask()
            }
        }
    }
}

fn text(def: &Def, declared: &syn::ItemStruct, rule: &TextRule) -> TokenStream {
    let (name, wire, docs) = (ident(&def.name), &def.name, doc(&def.description));
    let (expects, holds) = (expects(rule), holds(rule));
    let is_for_readers = matches!(rule, TextRule::Length { min: 1.., .. });
    let expects_doc = doc(&match is_for_readers {
        true => format!("Accepts {expects}, with a visible character if a program creates it."),
        false => format!("Takes {expects}."),
    });
    let is_for_readers = is_for_readers.then(|| {
        quote!(
            const IS_FOR_READERS: bool = true;
        )
    });
    let open_ended = match rule {
        TextRule::Length { min: 1, max: None } => Some(quote!(non_empty_text!(#name);)),
        _ => None,
    };
    let pattern = match rule {
        TextRule::Pattern { pattern, .. } => Some(pattern_scalar(&name, pattern)),
        _ => None,
    };
    quote! {
        #docs
        ///
        #expects_doc
        #declared

        text_scalar!(#name, #wire);

        #open_ended
        #pattern

        impl TextScalar for #name {
            const EXPECTS: &'static str = #expects;
            #is_for_readers

            #[inline]
            fn holds(text: &str) -> bool {
                #holds
            }
        }
    }
}

/// Maximum number of values of an integer whose constants are listed individually.
const MOST_LISTED: u64 = 64;

fn integer(def: &Def, declared: &syn::ItemStruct, min: u64, max: u64) -> TokenStream {
    let (name, wire, docs) = (ident(&def.name), &def.name, doc(&def.description));
    let expects = format!("an integer from {min} to {max}");
    let expects_doc = doc(&format!("From {min} to {max}."));
    // If the bounds admit every `u32`, or every `u32` except 0, the conversion cannot fail.
    let from_u32 = match min {
        0 if max >= u64::from(u32::MAX) => quote! {
            impl From<u32> for #name {
                fn from(value: u32) -> Self {
                    Self(value.into())
                }
            }
        },
        1 if max >= u64::from(u32::MAX) => quote! {
            impl From<::std::num::NonZeroU32> for #name {
                fn from(value: ::std::num::NonZeroU32) -> Self {
                    Self(value.get().into())
                }
            }
        },
        _ => TokenStream::new(),
    };
    // A small range can be listed, so that `cargo check` reports a constant outside it.
    let constants = if max.saturating_sub(min) < MOST_LISTED {
        let values = (min..=max).map(Literal::u64_unsuffixed);
        quote!(few_integers!(#name, #(#values)*);)
    } else {
        quote!(many_integers!(#name, #wire, #expects);)
    };
    quote! {
        #docs
        ///
        #expects_doc
        #declared

        integer_scalar!(#name, #wire, #expects);

        #constants

        impl IntegerScalar for #name {
            const MIN: u64 = #min;
            const MAX: u64 = #max;
        }

        #from_u32
    }
}

/// Returns a description of a number's bounds.
pub(super) fn number_expects(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (None, None) => "a number".to_owned(),
        (Some(min), None) => format!("a number of at least {min}"),
        (None, Some(max)) => format!("a number of at most {max}"),
        (Some(min), Some(max)) => format!("a number from {min} to {max}"),
    }
}

pub(super) fn option(value: Option<f64>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}

fn number(def: &Def, declared: &syn::ItemStruct, min: Option<f64>, max: Option<f64>) -> TokenStream {
    let (name, wire, docs) = (ident(&def.name), &def.name, doc(&def.description));
    let expects = number_expects(min, max);
    let expects_doc = doc(&format!("Takes {expects}."));
    let literal = match (min, max) {
        // JSON cannot express a non-finite number, and every number between two bounds is finite.
        (Some(0.0), Some(max)) => quote! {
            impl #name {
                /// Checks a constant number; `None` if it is out of bounds. In a `const`, the check runs at compile time.
                #[must_use]
                pub const fn literal(value: f64) -> Option<NumberLiteral<Self>> {
                    if value >= 0.0 && value <= #max { Some(NumberLiteral::trusted(value)) } else { None }
                }
            }

            impl From<NumberLiteral<Self>> for #name {
                fn from(literal: NumberLiteral<Self>) -> Self {
                    Self(::serde_json::Number::from_f64(literal.get()).unwrap_or_else(|| 0.into()))
                }
            }
        },
        _ => TokenStream::new(),
    };
    let (min, max) = (option(min), option(max));
    quote! {
        #docs
        ///
        #expects_doc
        /// Preserves whether JSON wrote an integer (`1`) or a fraction (`1.0`).
        #declared

        number_scalar!(#name, #wire, #expects);

        #literal

        impl NumberScalar for #name {
            const MIN: Option<f64> = #min;
            const MAX: Option<f64> = #max;
        }
    }
}
