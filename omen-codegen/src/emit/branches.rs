//! Builders of an object: a plain one, whose `build()` checks at run time what types do not express, and one for each
//! branch, whose type requires the fields that conditionals require.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::names::pascal;
use super::typestate::{self, BuilderSpec, Builders, ExcludedMember, Member, MissingMember};
use super::{Context, bug, ident, restricted_enums, types, value};
use crate::mistake::Mistakes;
use crate::model::{Branch, Case, Conditional, Def, Field, Item, Kind, Object, Ty};

/// Emits the builders of an object: the plain one, and one for each branch.
pub(super) fn emit(context: &Context<'_>, def: &Def, object: &Object) -> Result<Builders, Mistakes> {
    let mut builders = vec![plain(context, def, object)?];
    let mut narrowed = TokenStream::new();
    for branch in &object.branches {
        builders.push(typestate(context, def, object, branch, &mut narrowed)?);
    }
    let Builders { items, needs } = typestate::emit(&def.name, &builders);
    Ok(Builders { items: quote!(#items #narrowed), needs })
}

/// Emits the plain builder, which requires only the fields that are always required, and checks the rest at run time.
fn plain(context: &Context<'_>, def: &Def, object: &Object) -> Result<BuilderSpec, Mistakes> {
    let of = ident(&def.name);
    let mut members = Vec::new();
    for field in &object.fields {
        let StoredMember { takes, keeps, convert, .. } = kept(context, &def.name, field, false, false)?;
        let missing = field.required.then(|| missing(def, field, None));
        let (name, wire, docs) = (ident(&field.name), field.name.clone(), field.description.clone());
        members.push(Member { name, wire, docs, takes, keeps, convert, missing });
    }
    let names = members.iter().map(|member| &member.name);
    let checks = match object.branches.as_slice() {
        [first, ..] => format!(
            "Conditionals and bounds that no type carries are checked here. The builders of the branches, such as \
             `{}::{}`, report what the conditionals require at compile time.",
            def.name, first.name
        ),
        [] => "Conditionals and bounds that no type carries are checked here.".to_owned(),
    };
    let fallible = is_checked(context, object)?;
    Ok(BuilderSpec {
        construct: quote!(#of { #(#names),* }),
        begin: ident("builder"),
        docs: format!("Starts a `{}`.", def.name),
        checks: fallible.then_some(checks),
        name: format_ident!("{}Builder", def.name),
        of,
        generic: None,
        members,
        left_out: Vec::new(),
        fallible,
        built: quote!(built),
        skippable: true,
        groups: Vec::new(),
        explains: TokenStream::new(),
    })
}

/// Returns whether an object can violate its schema although each field has the right type.
fn is_checked(context: &Context<'_>, object: &Object) -> Result<bool, Mistakes> {
    if !object.conditionals.is_empty() {
        return Ok(true);
    }
    for field in &object.fields {
        if has_bounds(context, field)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a field has bounds that its type does not express.
fn has_bounds(context: &Context<'_>, field: &Field) -> Result<bool, Mistakes> {
    let free = |name: &str| Ok(matches!(context.model.def(name)?.kind, Kind::FreeObject { min } if min > 0));
    match &field.ty {
        Ty::Ref(name) => free(name),
        Ty::Array { min, max, .. } if *min > 0 || max.is_some() => Ok(true),
        Ty::Array { item: Item::Ref(name), .. } => free(name),
        _ => Ok(false),
    }
}

/// Emits the builder of a branch, and adds the enums that it narrows to `narrowed`.
fn typestate(
    context: &Context<'_>,
    def: &Def,
    object: &Object,
    branch: &Branch,
    narrowed: &mut TokenStream,
) -> Result<BuilderSpec, Mistakes> {
    let of = ident(&def.name);
    let mut members = Vec::new();
    let mut explains = TokenStream::new();
    let mut left_out = Vec::new();
    let mut fields = Vec::new();
    let mut fallible = false;
    for field in &object.fields {
        let name = ident(&field.name);
        let demanded = object.demanded_by(branch).find(|conditional| conditional.requires == field.name);
        let is_subject = field.name == branch.subject;
        if is_subject && let Some(value) = fixed(context, field, &branch.case)? {
            fields.push(quote!(#name: #value));
            continue;
        }
        let instead = branch.leaves_out.iter().find(|(member, _)| *member == field.name).map(|(_, instead)| instead);
        if let Some(instead) = instead {
            let StoredMember { takes, .. } = kept(context, &def.name, field, false, false)?;
            left_out.push(ExcludedMember {
                name: name.clone(),
                wire: field.name.clone(),
                takes,
                instead: instead.clone(),
            });
            fields.push(quote!(#name: None));
            continue;
        }
        let is_required = field.required || demanded.is_some() || is_subject;
        let least = matches!(field.ty, Ty::Array { min, .. } if min > 0);
        let filled = is_required && (least || is_subject && branch.case == Case::Filled);
        let non_empty = demanded.is_some_and(|conditional| conditional.non_empty);
        let StoredMember { mut takes, keeps, mut convert, put, bounded } =
            kept(context, &def.name, field, filled, non_empty)?;
        if let Some(excluded) = branch.excludes.iter().find(|excluded| excluded.member == field.name) {
            let narrow = restricted_enums::emit(context, def, branch, field, excluded)?;
            (takes, convert) = (narrow.takes, narrow.convert);
            narrowed.extend(narrow.items);
            explains.extend(narrow.explains);
        }
        fallible |= bounded;
        let missing = is_required.then(|| missing(def, field, demanded));
        fields.push(match put {
            // Optional fields are stored in their final form.
            _ if !is_required => quote!(#name),
            Some(put) if field.required => {
                let value = put(quote!(#name));
                quote!(#name: #value)
            }
            None if field.required => quote!(#name),
            put => {
                let value = put.map_or_else(|| quote!(#name), |put| put(quote!(#name)));
                quote!(#name: Some(#value))
            }
        });
        members.push(Member {
            name,
            wire: field.name.clone(),
            docs: field.description.clone(),
            takes,
            keeps,
            convert,
            missing,
        });
    }
    // Requirements that depend on another field are checked at run time, unless this branch always requires the field.
    fallible |= object.conditionals.iter().filter(|other| other.subject != branch.subject).any(|other| {
        let here =
            object.demanded_by(branch).any(|mine| mine.requires == other.requires && mine.non_empty >= other.non_empty);
        !here
    });
    Ok(BuilderSpec {
        construct: quote!(#of { #(#fields),* }),
        begin: ident(&branch.name),
        docs: branch.description.clone(),
        name: format_ident!("{}{}Builder", def.name.trim_end_matches("Payload"), pascal(&branch.name)),
        of,
        generic: None,
        checks: None,
        members,
        left_out,
        fallible,
        built: quote!(built),
        skippable: false,
        groups: Vec::new(),
        explains,
    })
}

/// Returns the value of the subject that the branch determines, or `None` if the caller must set it.
fn fixed(context: &Context<'_>, field: &Field, case: &Case) -> Result<Option<TokenStream>, Mistakes> {
    let value = match (case, &field.ty) {
        (Case::Absent, _) => return Ok(Some(quote!(None))),
        (Case::Filled, _) => return Ok(None),
        (Case::Empty, _) => quote!(Vec::new()),
        (Case::Value(wire), Ty::Ref(of)) => {
            let value = value(context.model, of, wire)?;
            let of = ident(of);
            quote!(#of::#value)
        }
        _ => return Err(bug(format!("the branches of `{}` have an unknown form", field.name))),
    };
    Ok(Some(if field.required { value } else { quote!(Some(#value)) }))
}

/// Returns the compile error for a field that is not set.
fn missing(def: &Def, field: &Field, demanded: Option<&Conditional>) -> MissingMember {
    let rules = demanded.map_or(&field.rules, |demanded| &demanded.rules);
    let why = match demanded {
        Some(demanded) => demanded.description.clone(),
        None => format!("every `{}` has the field `{}`", def.name, field.name),
    };
    MissingMember { code: rules.first().map_or("SCHEMA", String::as_str).to_owned(), why }
}

/// Parameter type and stored type of a builder's field.
pub(super) struct StoredMember {
    pub(super) takes: TokenStream,
    pub(super) keeps: TokenStream,
    pub(super) convert: TokenStream,
    /// Converts the stored value to the field's value; `None` if they are the same.
    pub(super) put: Option<fn(TokenStream) -> TokenStream>,
    /// Whether the type leaves a bound unchecked.
    pub(super) bounded: bool,
}

/// Returns how a builder takes a field of the object `of`. With `filled`, the list type ensures at least one element.
/// With `non_empty`, a nullable text is neither `null` nor empty.
pub(super) fn kept(
    context: &Context<'_>,
    of: &str,
    field: &Field,
    filled: bool,
    non_empty: bool,
) -> Result<StoredMember, Mistakes> {
    let declared = context.types.member(of, field)?;
    let same = |ty: TokenStream, bounded| StoredMember {
        takes: ty.clone(),
        keeps: ty,
        convert: quote!(value),
        put: None,
        bounded,
    };
    let bounded = has_bounds(context, field)?;
    Ok(match &field.ty {
        Ty::PlainText if non_empty => {
            StoredMember { put: Some(|text| quote!(String::from(#text))), ..same(quote!(Text), false) }
        }
        Ty::NullableText if non_empty => {
            StoredMember { put: Some(|text| quote!(Some(String::from(#text)))), ..same(quote!(Text), false) }
        }
        Ty::PlainText => StoredMember {
            takes: quote!(impl Into<#declared>),
            convert: quote!(value.into()),
            ..same(quote!(#declared), false)
        },
        Ty::Array { item, min, max: None } if filled && *min <= 1 => {
            let element = types::argument(&declared);
            let inner = match item {
                Item::Ref(name) => matches!(context.model.def(name)?.kind, Kind::FreeObject { min } if min > 0),
                Item::PlainText => false,
            };
            StoredMember {
                takes: quote!(impl Into<AtLeastOne<#element>>),
                convert: quote!(value.into()),
                put: Some(|list| quote!(#list.into_vec())),
                ..same(quote!(AtLeastOne<#element>), inner)
            }
        }
        _ => same(quote!(#declared), bounded),
    })
}
