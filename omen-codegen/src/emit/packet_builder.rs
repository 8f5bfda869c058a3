//! Builder of a packet: the type requires the header's fields, the envelope and the payload. The packet type has no
//! setter, because it is determined by the type of the packet. All packets share one builder.

use proc_macro2::TokenStream;
use quote::quote;

use super::branches::kept;
use super::typestate::{self, BuilderSpec, Builders, GroupSetter, Member, MissingMember};
use super::{Context, bug, doc, ident, packet_type};
use crate::mistake::Mistakes;
use crate::model::{Def, Field, Model, Object};

/// Header field that states the packet type.
const TYPE: &str = "packet_type";

/// Emits the implementation for one packet: the type of its payload, and its construction from parts.
pub(super) fn emit(context: &Context<'_>, def: &Def, packet: &Object) -> Result<TokenStream, Mistakes> {
    let of = ident(&def.name);
    let parts = Parts::from_packet(packet)?;
    let (header, mcp, payload) = (ident(parts.header), ident(parts.mcp), ident(parts.payload));
    let packet_type = packet_type(context.model, &def.name)?;
    let docs = doc(&format!("Starts a `{}`. The packet type in its header is set automatically.", def.name));
    // A header without a builder is refused.
    header_object(context, parts.header)?;
    Ok(quote! {
        impl #of {
            #docs
            pub fn builder() -> PacketBuilder<Self> {
                PacketBuilder::begin()
            }

            /// Returns the header.
            #[must_use]
            pub fn header(&self) -> &#header {
                &self.header
            }

            /// Replaces the header; its packet type is set to that of this packet.
            pub fn set_header(&mut self, header: #header) {
                self.header = #header { packet_type: Self::PACKET_TYPE, ..header };
            }
        }

        impl PacketParts for #of {
            type Payload = #payload;
            const PACKET_TYPE: PacketType = PacketType::#packet_type;

            fn from_parts(header: #header, mcp: #mcp, payload: #payload, metadata: Metadata) -> Self {
                Self { header, mcp, payload, metadata }
            }
        }

        impl PayloadParts for #payload {
            type Packet = #of;
        }
    })
}

/// Emits the builder that all packet types share.
pub(super) fn shared(context: &Context<'_>, packet: &Object) -> Result<Builders, Mistakes> {
    let of = ident("P");
    let parts = Parts::from_packet(packet)?;
    let header = header_object(context, parts.header)?;
    let mut members = Vec::new();
    for field in header.fields.iter().filter(|field| field.name != TYPE) {
        let kept = kept(context, parts.header, field, false, false)?;
        let missing = field.required.then(|| missing(parts.header, &field.name));
        let (takes, convert) = match has_layers(context.model, field) {
            true => (quote!(impl layers::Sends<#of>), quote!(layers::layer_of::<#of, _>(value))),
            false => (kept.takes, kept.convert),
        };
        members.push(member(field, takes, kept.keeps, convert, missing));
    }
    let mcp = ident(parts.mcp);
    for (name, ty) in [("mcp", quote!(#mcp)), ("payload", quote!(#of::Payload))] {
        let field = packet.field(name).ok_or_else(|| bug(format!("a packet has no `{name}`")))?;
        let missing = Some(missing("packet", name));
        let mut member = member(field, quote!(impl Into<#ty>), ty, quote!(value.into()), missing);
        if name == "payload" {
            // The field's description mentions one packet type.
            member.docs = "What the packet says; its type is that of the packet.".to_owned();
        }
        members.push(member);
    }
    members.push(Member {
        name: ident("metadata"),
        wire: "metadata".to_owned(),
        docs: "Additional members, whose names must begin with `_`; no rule checks them (D38).".to_owned(),
        takes: quote!(Metadata),
        keeps: quote!(Metadata),
        convert: quote!(value),
        missing: None,
    });
    let header_type = ident(parts.header);
    let own = header.fields.iter().map(|field| {
        let name = ident(&field.name);
        if field.name == TYPE { quote!(packet_type: #of::PACKET_TYPE) } else { quote!(#name) }
    });
    let builder = BuilderSpec {
        construct: quote! {
            #of::from_parts(#header_type { #(#own),* }, mcp, payload, metadata.unwrap_or_default())
        },
        begin: ident("builder"),
        docs: "Builds a packet: see the function `builder` of its type.".to_owned(),
        checks: Some(
            "The builders of the parts check what each of them has; what a packet has as a whole is checked here: its \
             length and depth, and what was changed in a part after it was built."
                .to_owned(),
        ),
        name: ident("PacketBuilder"),
        of,
        generic: Some(quote!(PacketParts)),
        members,
        left_out: Vec::new(),
        fallible: true,
        built: quote!(written),
        skippable: false,
        groups: groups(context.model, parts.header, header),
        explains: TokenStream::new(),
    };
    Ok(typestate::emit("Packet", &[builder]))
}

/// Types of a packet's fields.
struct Parts<'m> {
    header: &'m str,
    mcp: &'m str,
    payload: &'m str,
}

impl<'m> Parts<'m> {
    fn from_packet(packet: &'m Object) -> Result<Self, Mistakes> {
        let part = |name: &str| {
            packet
                .field(name)
                .and_then(|field| field.ty.reference())
                .ok_or_else(|| bug(format!("a packet has no `{name}`")))
        };
        Ok(Self { header: part("header")?, mcp: part("mcp")?, payload: part("payload")? })
    }
}

fn header_object<'m>(context: &Context<'m>, name: &str) -> Result<&'m Object, Mistakes> {
    context.model.object(name).ok_or_else(|| bug(format!("`{name}` is not an object")))
}

fn member(
    field: &Field,
    takes: TokenStream,
    keeps: TokenStream,
    convert: TokenStream,
    missing: Option<MissingMember>,
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

fn missing(of: &str, name: &str) -> MissingMember {
    MissingMember { code: "SCHEMA".to_owned(), why: format!("every `{of}` has the field `{name}`") }
}

/// Returns whether a header field states the layer and the state machine defines who sends what.
fn has_layers(model: &Model, field: &Field) -> bool {
    field.name == "layer_source" && field.required && !model.fsm.layers.senders.is_empty()
}

/// Emits the setters for the whole header, for id and time together, and for everything that an origin provides.
fn groups(model: &Model, header_name: &str, header: &Object) -> Vec<GroupSetter> {
    let ty = ident(header_name);
    let set = |field: &Field| {
        let name = ident(&field.name);
        (name.clone(), quote!(header.#name))
    };
    let mut groups = vec![GroupSetter {
        name: ident("header"),
        docs: quote! {
            /// Sets the whole header, except the packet type, which the builder determines.
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
        groups.push(GroupSetter {
            name: ident("stamp"),
            docs: quote! {
                /// Sets `packet_id` and `created_at` from a source of ids and times.
                ///
                /// # Errors
                /// An id from the source that is not a valid packet id.
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
    let known = ["packet_id", "created_at", "correlation_id", "layer_source", "campaign_id"];
    let all = known.iter().all(|name| header.field(name).is_some());
    if all && header.fields.iter().any(|field| has_layers(model, field)) {
        let fields = known.iter().map(|name| {
            let name = ident(name);
            (name.clone(), quote!(stamped.#name))
        });
        groups.push(GroupSetter {
            name: ident("origin"),
            docs: quote! {
                /// Sets everything that an origin provides: id and time, the episode with its campaign, and the layer
                /// that sends such a packet (D63).
                ///
                /// # Errors
                /// An id from the source that is not a valid packet id.
            },
            parameter: quote!(origin),
            takes: quote!(&mut Origin<impl Stamp, impl layers::Sends<P>>),
            before: quote!(let stamped = origin.stamp_of::<P>()?;),
            error: Some(quote!(Invalid)),
            sets: fields.collect(),
        });
    }
    groups
}
