//! Rust type and parser of each field.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{Context, bug, ident};
use crate::mistake::Mistakes;
use crate::model::{Def, Field, Item, Kind, TextRule, Ty};

/// Result of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The fields that rules check.
    Facts,
    /// Nothing that requires an allocation.
    Check,
}

/// Parser of a value, and its return type.
pub(super) struct Reader {
    pub(super) reader: TokenStream,
    pub(super) out: TokenStream,
}

fn pair(reader: TokenStream, out: TokenStream) -> Reader {
    Reader { reader, out }
}

fn same(ty: TokenStream) -> Reader {
    Reader { reader: ty.clone(), out: ty }
}

/// Returns the parser of a field of the object `owner`.
pub(super) fn member(context: &Context<'_>, owner: &str, field: &Field, mode: Mode) -> Result<Reader, Mistakes> {
    let depth = context.depths.get(owner).copied().unwrap_or(0);
    Ok(match &field.ty {
        Ty::Ref(name) => reference(context, name, depth.saturating_add(1), mode)?,
        Ty::Bool => same(quote!(bool)),
        Ty::PlainText => plain_text(mode),
        Ty::NullableText => match mode {
            Mode::Check => pair(quote!(Nullable), quote!(bool)),
            Mode::Facts => return Err(bug(format!("the lens keeps `{}`, which may be null", field.name))),
        },
        Ty::Array { item, min, max } => {
            let Reader { reader, out } = match item {
                Item::Ref(name) => reference(context, name, depth.saturating_add(2), mode)?,
                Item::PlainText => plain_text(mode),
            };
            let gathered = match (mode, context.lens.fold_of(owner, &field.name)) {
                (Mode::Check, _) => quote!(()),
                (Mode::Facts, Some(fold)) => syn::parse_str::<syn::Type>(fold)
                    .map(|ty| quote!(#ty))
                    .map_err(|error| bug(format!("the lens folds into `{fold}`: {error}")))?,
                (Mode::Facts, None) => quote!(Vec<#out>),
            };
            let min = Literal::usize_unsuffixed(*min);
            let max = max.map(Literal::usize_unsuffixed).map_or(quote!({ usize::MAX }), |max| quote!(#max));
            pair(quote!(Array<#reader, #gathered, #min, #max>), gathered)
        }
    })
}

fn plain_text(mode: Mode) -> Reader {
    match mode {
        Mode::Facts => pair(quote!(Plain), quote!(Cow<'t, str>)),
        Mode::Check => pair(quote!(Check<Plain>), quote!(bool)),
    }
}

/// Returns the parser of a definition. Its value, if it is nested, is at `depth`.
pub(super) fn reference(context: &Context<'_>, name: &str, depth: u8, mode: Mode) -> Result<Reader, Mistakes> {
    let Def { kind, .. } = context.model.def(name)?;
    let ty = ident(name);
    let depth = Literal::u8_unsuffixed(depth);
    Ok(match (kind, mode) {
        (Kind::Enum(_), _) | (Kind::Union(_), Mode::Facts) => same(quote!(#ty)),
        (Kind::Object(_), Mode::Facts) => facts_reader(context, name),
        (Kind::Object(_) | Kind::Union(_), Mode::Check) => pair(quote!(Check<#ty>), quote!(())),
        (Kind::Text(rule), _) => text(&ty, rule, mode),
        (Kind::Integer { .. }, _) => pair(quote!(Integer<#ty>), quote!(#ty)),
        (Kind::Number { .. }, _) => pair(quote!(Number<#ty>), quote!(())),
        (Kind::FreeObject { min }, _) => {
            let min = Literal::usize_unsuffixed(*min);
            match mode {
                Mode::Facts => pair(quote!(FreeText<#min, #depth>), quote!(&'t str)),
                Mode::Check => pair(quote!(FreeObject<#min, #depth>), quote!(())),
            }
        }
        (Kind::Any, Mode::Facts) => pair(quote!(HasValue<#depth>), quote!(bool)),
        (Kind::Any, Mode::Check) => pair(quote!(AnyValue<#depth>), quote!(())),
    })
}

fn text(ty: &Ident, rule: &TextRule, mode: Mode) -> Reader {
    let kept = match rule {
        TextRule::DateTime => return same(quote!(Instant)),
        TextRule::Plain => return plain_text(mode),
        TextRule::Length { min: 1, max: None } => quote!(NonEmptyText),
        TextRule::Pattern { .. } => quote!(Pattern<#ty>),
        TextRule::Length { .. } if mode == Mode::Check => {
            return pair(quote!(crate::parser::values::CheckedTextPresence<#ty>), quote!(bool));
        }
        TextRule::Length { .. } => quote!(crate::parser::values::CheckedText<#ty>),
    };
    match mode {
        Mode::Facts => pair(kept, quote!(Cow<'t, str>)),
        Mode::Check => pair(quote!(Check<#kept>), quote!(bool)),
    }
}

/// Returns the parser of an object in facts mode. It returns the facts type if any field is kept.
fn facts_reader(context: &Context<'_>, name: &str) -> Reader {
    if !context.lens.looks_into(name) {
        let ty = ident(name);
        return pair(quote!(Check<#ty>), quote!(()));
    }
    let facts = ident(&format!("{name}Facts"));
    if borrows(context, name) { same(quote!(#facts<'t>)) } else { same(quote!(#facts)) }
}

/// Returns whether the facts of an object borrow from the text.
pub(super) fn borrows(context: &Context<'_>, name: &str) -> bool {
    let Some(object) = context.model.object(name) else { return false };
    object.fields.iter().filter(|field| context.lens.keeps(name, &field.name)).any(|field| {
        if context.lens.fold_of(name, &field.name).is_some() {
            return false;
        }
        match &field.ty {
            Ty::PlainText | Ty::Array { item: Item::PlainText, .. } => true,
            Ty::Ref(inner) | Ty::Array { item: Item::Ref(inner), .. } => {
                match context.model.defs.get(inner).map(|def| &def.kind) {
                    Some(Kind::Text(rule)) => !matches!(rule, TextRule::DateTime),
                    Some(Kind::FreeObject { .. }) => true,
                    Some(Kind::Object(_)) => borrows(context, inner),
                    _ => false,
                }
            }
            _ => false,
        }
    })
}
