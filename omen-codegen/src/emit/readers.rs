//! Which reader reads a member, and what it gives.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Context, bug, ident};
use crate::mistake::Mistakes;
use crate::model::{Field, Item, Kind, TextRule, Ty};

/// What a reader is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Builds the public type.
    Owned,
    /// Keeps what rules check.
    Facts,
    /// Keeps nothing that costs.
    Check,
}

/// A reader type, and the type that it gives.
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

/// The reader of a member of the object `owner`.
pub(super) fn member(context: &Context<'_>, owner: &str, field: &Field, mode: Mode) -> Result<Reader, Mistakes> {
    let depth = context.depths.get(owner).copied().unwrap_or(0);
    Ok(match &field.ty {
        Ty::Ref(name) => reference(context, name, depth.saturating_add(1), mode)?,
        Ty::Bool => same(quote!(bool)),
        Ty::PlainText => plain_text(mode),
        Ty::NullableText => match mode {
            Mode::Owned => pair(quote!(Nullable<String>), quote!(Option<String>)),
            Mode::Check => pair(quote!(Nullable<Check<String>>), quote!(Option<bool>)),
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
                _ => quote!(Vec<#out>),
            };
            let min = Literal::usize_unsuffixed(*min);
            let max = max.map(Literal::usize_unsuffixed).map_or(quote!({ usize::MAX }), |max| quote!(#max));
            pair(quote!(Array<#reader, #gathered, #min, #max>), gathered)
        }
    })
}

fn plain_text(mode: Mode) -> Reader {
    match mode {
        Mode::Owned => same(quote!(String)),
        Mode::Facts => pair(quote!(Borrowed<String>), quote!(Cow<'de, str>)),
        Mode::Check => pair(quote!(Check<String>), quote!(bool)),
    }
}

/// The reader of a definition whose value, if it nests, is at `depth`.
pub(super) fn reference(context: &Context<'_>, name: &str, depth: u8, mode: Mode) -> Result<Reader, Mistakes> {
    let def = context.model.def(name)?;
    let ty = ident(name);
    let depth = Literal::u8_unsuffixed(depth);
    let min = Literal::usize_unsuffixed(if let Kind::FreeObject { min } = def.kind { min } else { 0 });
    Ok(match (&def.kind, mode) {
        (Kind::Object(_), Mode::Check) => pair(quote!(Check<#ty>), quote!(())),
        (Kind::Object(_), Mode::Facts) => facts_reader(context, name),
        (Kind::Union(_), Mode::Check) => pair(quote!(Check<#ty>), quote!(())),
        (Kind::Object(_) | Kind::Union(_), _) | (Kind::Enum(_), _) => same(quote!(#ty)),
        (Kind::Text(TextRule::DateTime), Mode::Owned) => same(quote!(Timestamp)),
        (Kind::Text(TextRule::DateTime), _) => same(quote!(Instant)),
        (Kind::Text(_), Mode::Owned) => pair(quote!(OwnedText<#ty>), quote!(#ty)),
        (Kind::Text(_), Mode::Facts) => pair(quote!(BorrowedText<#ty>), quote!(Cow<'de, str>)),
        (Kind::Text(_), Mode::Check) => pair(quote!(CheckText<#ty>), quote!(bool)),
        (Kind::Integer { .. }, _) => pair(quote!(Integer<#ty>), quote!(#ty)),
        (Kind::Number { .. }, Mode::Check) => pair(quote!(CheckNumber<#ty>), quote!(())),
        (Kind::Number { .. }, _) => pair(quote!(Number<#ty>), quote!(#ty)),
        (Kind::FreeObject { .. }, Mode::Owned) => {
            pair(quote!(free::OwnedObject<#min, #depth>), quote!(::serde_json::Map<String, ::serde_json::Value>))
        }
        (Kind::FreeObject { .. }, Mode::Facts) => pair(quote!(free::RawObject<#min, #depth>), quote!(&'de str)),
        (Kind::FreeObject { .. }, Mode::Check) => pair(quote!(free::CheckObject<#min, #depth>), quote!(())),
        (Kind::Any, Mode::Owned) => pair(quote!(free::OwnedValue<#depth>), quote!(::serde_json::Value)),
        (Kind::Any, _) => pair(quote!(free::CheckValue<#depth>), quote!(())),
    })
}

/// The reader of an object in facts mode: its facts type if anything of it is kept.
fn facts_reader(context: &Context<'_>, name: &str) -> Reader {
    if !context.lens.looks_into(name) {
        let ty = ident(name);
        return pair(quote!(Check<#ty>), quote!(()));
    }
    let facts = ident(&format!("{name}Facts"));
    if borrows(context, name) { same(quote!(#facts<'de>)) } else { same(quote!(#facts)) }
}

/// Whether the facts of an object borrow from the text.
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
