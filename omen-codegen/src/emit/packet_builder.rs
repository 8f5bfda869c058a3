//! The builder of a whole packet: the header's members, the envelope and the payload, each required by type. The packet
//! type is no member of it, for it is the builder's own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::branches::kept;
use super::names::pascal;
use super::typestate::{Group, Member, Missing, Typestate, explained};
use super::{Context, bug, ident};
use crate::mistake::Mistakes;
use crate::model::{Def, Field, Object};

/// The member of a header that says the type of packet.
const TYPE: &str = "packet_type";

pub(super) fn emit(context: &Context<'_>, def: &Def, packet: &Object) -> Result<TokenStream, Mistakes> {
    let of = ident(&def.name);
    let part = |name: &str| {
        packet
            .field(name)
            .and_then(|field| field.ty.reference())
            .ok_or_else(|| bug(format!("a packet has no `{name}`")))
    };
    let header_name = part("header")?;
    let header = context.model.object(header_name).ok_or_else(|| bug(format!("`{header_name}` is no object")))?;
    let mut members = Vec::new();
    for field in header.fields.iter().filter(|field| field.name != TYPE) {
        let kept = kept(context, field, false, false)?;
        let missing = field.required.then(|| missing(header_name, &field.name));
        members.push(member(field, kept.takes, kept.keeps, kept.convert, missing));
    }
    for name in ["mcp", "payload"] {
        let (ty, field) = (ident(part(name)?), packet.field(name));
        let field = field.ok_or_else(|| bug(format!("a packet has no `{name}`")))?;
        let missing = Some(missing(&def.name, name));
        members.push(member(field, quote!(impl Into<#ty>), quote!(#ty), quote!(value.into()), missing));
    }
    members.push(Member {
        name: ident("metadata"),
        wire: "metadata".to_owned(),
        docs: "Members beside the three, which must begin with `_`; no rule looks at them (D38).".to_owned(),
        takes: quote!(Metadata),
        keeps: quote!(Metadata),
        convert: quote!(value),
        missing: None,
    });
    let (header_type, packet_type) = (ident(header_name), ident(&pascal(&def.name)));
    let own = header.fields.iter().map(|field| {
        let name = ident(&field.name);
        if field.name == TYPE { quote!(packet_type: PacketType::#packet_type) } else { quote!(#name) }
    });
    let builder = Typestate {
        construct: quote! {
            #of {
                header: #header_type { #(#own),* },
                mcp,
                payload,
                metadata: metadata.unwrap_or_default(),
            }
        },
        begin: ident("builder"),
        docs: format!("Begins a `{}`. Its header states the type of packet by itself.", def.name),
        name: format_ident!("{}Builder", def.name),
        of,
        members,
        left_out: Vec::new(),
        fallible: false,
        groups: groups(header_name, header),
    };
    let (builder, traits) = builder.emit();
    let needs = explained(&def.name, &[traits]);
    Ok(quote!(#builder #needs))
}

fn member(
    field: &Field,
    takes: TokenStream,
    keeps: TokenStream,
    convert: TokenStream,
    missing: Option<Missing>,
) -> Member {
    Member {
        name: ident(&field.name),
        wire: field.name.clone(),
        docs: field.description.clone(),
        takes,
        keeps,
        convert,
        missing,
    }
}

fn missing(of: &str, name: &str) -> Missing {
    Missing { code: "SCHEMA".to_owned(), why: format!("every `{of}` has the field `{name}`") }
}

/// The setters of a whole header, and of id and time together.
fn groups(header_name: &str, header: &Object) -> Vec<Group> {
    let ty = ident(header_name);
    let set = |field: &Field| {
        let name = ident(&field.name);
        (name.clone(), quote!(header.#name))
    };
    let mut groups = vec![Group {
        name: ident("header"),
        docs: quote! {
            /// Takes a header as it is, but for the type of packet, which is this builder's own.
        },
        parameter: quote!(header),
        takes: quote!(#ty),
        before: TokenStream::new(),
        error: None,
        sets: header.fields.iter().filter(|field| field.name != TYPE).map(set).collect(),
    }];
    let stamped = [("packet_id", "PacketId"), ("created_at", "Timestamp")];
    let has = |(name, ty): &(&str, &str)| {
        header.field(name).is_some_and(|field| field.required && field.ty.reference() == Some(ty))
    };
    if stamped.iter().all(has) {
        groups.push(Group {
            name: ident("stamp"),
            docs: quote! {
                /// Takes `packet_id` and `created_at` from a source of ids and times.
                ///
                /// # Errors
                /// If the source gives something that is not an id of a packet.
            },
            parameter: quote!(stamp),
            takes: quote!(&mut impl Stamp),
            before: quote!(let (packet_id, created_at) = (stamp.packet_id()?, stamp.created_at());),
            error: Some(quote!(Invalid)),
            sets: stamped
                .iter()
                .map(|(name, _)| {
                    (ident(name), {
                        let name = ident(name);
                        quote!(#name)
                    })
                })
                .collect(),
        });
    }
    groups
}
