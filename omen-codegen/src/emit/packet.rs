//! `Packet`: dispatch by `header.packet_type`, in any order of members.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::{packet_variant, pascal};
use super::readers::{Mode, Reader, reference};
use super::shapes::shape_name;
use super::typestate::Builders;
use super::{Context, Emitted, bug, doc, ident, list, packet_builder};
use crate::mistake::Mistakes;
use crate::model::Ty;

pub(super) fn emit(context: &Context<'_>) -> Result<Emitted, Mistakes> {
    let Some(first) = context.model.packets.first() else { return Ok(Emitted::default()) };
    let enums = enums(context, first)?;
    let owned = reader(context, first, Mode::Owned)?;
    let facts = reader(context, first, Mode::Facts)?;
    let shapes = packet_shapes(context, first)?;
    let root = context.model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    let Builders { items: builder, needs } = packet_builder::shared(context, root)?;
    let items = quote! {
        #enums
        #builder
        #owned
        #facts
        #shapes
    };
    Ok(Emitted { items, needs: needs.into_iter().collect(), ..Emitted::default() })
}

fn payload<'m>(context: &Context<'m>, packet: &str) -> Result<&'m str, Mistakes> {
    context.model.payload_of(packet).ok_or_else(|| bug(format!("packet `{packet}` has no payload")))
}

/// The reader of a member that all packets share.
fn part(context: &Context<'_>, first: &str, name: &str, mode: Mode) -> Result<Reader, Mistakes> {
    let root = context.model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    match root.field(name).map(|field| &field.ty) {
        Some(Ty::Ref(def)) => reference(context, def, 2, mode),
        _ => Err(bug(format!("packet `{first}` has no `{name}`"))),
    }
}

fn enums(context: &Context<'_>, first: &str) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let header_facts = part(context, first, "header", Mode::Facts)?.out;
    let mcp_facts = part(context, first, "mcp", Mode::Facts)?.out;
    let packets: Vec<_> = model.packets.iter().map(|packet| ident(packet)).collect();
    let variants: Vec<_> = model.packets.iter().map(|packet| ident(packet_variant(packet))).collect();
    let types: Vec<_> = model.packets.iter().map(|packet| ident(&pascal(packet))).collect();
    let mut docs = Vec::new();
    let mut payloads = Vec::new();
    let mut payload_facts = Vec::new();
    for packet in &model.packets {
        docs.push(doc(&model.def(packet)?.description));
        let payload = payload(context, packet)?;
        payloads.push(ident(payload));
        payload_facts.push(if context.lens.looks_into(payload) {
            let Reader { out, .. } = reference(context, payload, 2, Mode::Facts)?;
            quote!((#out))
        } else {
            quote!()
        });
    }
    let payload_patterns: Vec<_> =
        payload_facts.iter().map(|facts| if facts.is_empty() { quote!() } else { quote!((_)) }).collect();
    Ok(quote! {
        /// A packet of any type.
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
        #[serde(untagged)]
        #[allow(clippy::large_enum_variant, reason = "a box would be an allocation a packet, and most are large")]
        pub enum Packet { #(#docs #variants(#packets)),* }

        impl Packet {
            /// The type of packet.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(Packet::#variants(_) => PacketType::#types),* }
            }

            /// The header.
            #[must_use]
            pub fn header(&self) -> &PacketHeader {
                match self { #(Packet::#variants(packet) => &packet.header),* }
            }

            /// The MCP envelope.
            #[must_use]
            pub fn mcp(&self) -> &McpEnvelope {
                match self { #(Packet::#variants(packet) => &packet.mcp),* }
            }
        }

        /// What a packet of any type says, without header and envelope.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "it becomes a packet at once, and those are large")]
        pub enum Payload { #(#docs #variants(#payloads)),* }

        impl Payload {
            /// The type of packet that says it.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(Payload::#variants(_) => PacketType::#types),* }
            }

            /// The packet that says it; the header is made to state the type.
            #[must_use]
            pub fn into_packet(self, mut header: PacketHeader, mcp: McpEnvelope) -> Packet {
                header.packet_type = self.packet_type();
                match self {
                    #(Payload::#variants(payload) => Packet::#variants(#packets {
                        header, mcp, payload, metadata: Metadata::default(),
                    })),*
                }
            }
        }

        #(
            impl From<#payloads> for Payload {
                fn from(payload: #payloads) -> Payload {
                    Payload::#variants(payload)
                }
            }

            impl #packets {
                /// The packet type that the header must state.
                pub const TYPE: PacketType = PacketType::#types;
            }

            impl From<#packets> for Packet {
                fn from(packet: #packets) -> Packet {
                    Packet::#variants(packet)
                }
            }

            impl<'de> ::serde::Deserialize<'de> for #packets {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    match <Packet as Read<'de>>::read(deserializer)? {
                        Packet::#variants(packet) => Ok(packet),
                        other => Err(D::Error::custom(format_args!(
                            "expected `{}`, found `{}`", Self::TYPE, other.packet_type()
                        ))),
                    }
                }
            }
        )*

        deserialize!(Packet, Packet);

        /// The members of a packet that rules check.
        #[derive(Clone, Debug)]
        pub struct PacketFacts<'de> {
            /// Facts of the header.
            pub header: #header_facts,
            /// Facts of the MCP envelope.
            pub mcp: #mcp_facts,
            /// Facts of the payload.
            pub payload: PayloadFacts<'de>,
        }

        /// The members of a payload that rules check.
        #[derive(Clone, Debug)]
        pub enum PayloadFacts<'de> { #(#docs #variants #payload_facts),* }

        impl PayloadFacts<'_> {
            /// The type of packet.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(PayloadFacts::#variants #payload_patterns => PacketType::#types),* }
            }
        }
    })
}

fn reader(context: &Context<'_>, first: &str, mode: Mode) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let header_reader = part(context, first, "header", mode)?.reader;
    let mcp_reader = part(context, first, "mcp", mode)?.reader;
    let types: Vec<_> = model.packets.iter().map(|packet| ident(&pascal(packet))).collect();
    let mut streamed = Vec::new();
    let mut variants = Vec::new();
    let mut payload_types = Vec::new();
    for packet in &model.packets {
        let payload = payload(context, packet)?;
        let Reader { reader, out } = reference(context, payload, 2, mode)?;
        let variant = ident(packet_variant(packet));
        let kept = mode == Mode::Owned || context.lens.looks_into(payload);
        streamed.push((reader, kept));
        variants.push(variant);
        payload_types.push(out);
    }
    let (target, value, body, buffer, buffer_reader, metadata) = match mode {
        Mode::Owned => (
            quote!(Packet),
            quote!(Packet),
            quote!(Body),
            quote!(::serde_json::Value),
            quote!(free::OwnedValue<2>),
            quote!(Metadata),
        ),
        _ => (
            quote!(PacketFacts<'de>),
            quote!(PacketFacts<'de>),
            quote!(PayloadFacts::<'de>),
            quote!(&'de ::serde_json::value::RawValue),
            quote!(RawValueReader),
            quote!(MetadataCheck<'de>),
        ),
    };
    let body_type = match mode {
        Mode::Owned => quote!(Body),
        _ => quote!(PayloadFacts<'de>),
    };
    let read_payload = streamed.iter().zip(&variants).map(|((reader, kept), variant)| {
        if *kept {
            quote!(<#reader as Read<'de>>::read(deserializer).map(#body::#variant))
        } else {
            quote!(<#reader as Read<'de>>::read(deserializer).map(|()| #body::#variant))
        }
    });
    let seed = match mode {
        Mode::Owned => quote!(BodySeed),
        _ => quote!(PayloadFactsSeed),
    };
    let from_buffer = match mode {
        Mode::Owned => quote!(#seed(packet_type).deserialize(buffered)),
        _ => quote!(#seed(packet_type).deserialize(&mut ::serde_json::Deserializer::from_str(buffered.get()))),
    };
    let finish = match mode {
        Mode::Owned => {
            let packets = model.packets.iter().map(|packet| ident(packet));
            quote! {
                Ok(match must(payload)? {
                    #(Body::#variants(payload) => Packet::#variants(#packets {
                        header: must(header)?, mcp: must(mcp)?, payload, metadata,
                    })),*
                })
            }
        }
        _ => quote! {
            drop(metadata);
            Ok(PacketFacts { header: must(header)?, mcp: must(mcp)?, payload: must(payload)? })
        },
    };
    let body_enum = (mode == Mode::Owned).then(|| {
        quote! {
            /// A payload whose packet is not yet complete.
            #[allow(clippy::large_enum_variant, reason = "it lives for a moment, on the stack")]
            enum Body { #(#variants(#payload_types)),* }
        }
    });
    Ok(quote! {
        #body_enum

        /// Reads the payload of a known packet type.
        struct #seed(PacketType);

        impl<'de> DeserializeSeed<'de> for #seed {
            type Value = #body_type;

            #[inline]
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<#body_type, D::Error> {
                match self.0 { #(PacketType::#types => #read_payload),* }
            }
        }

        impl<'de> Read<'de> for #target {
            type Out = #value;

            fn read<D: Deserializer<'de>>(deserializer: D) -> Result<#value, D::Error> {
                deserializer.deserialize_map(Seed::<#target>::new())
            }
        }

        impl<'de> Visitor<'de> for Seed<#target> {
            type Value = #value;

            fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("a packet: an object with `header`, `mcp` and `payload`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<#value, A::Error> {
                let mut seen = 0_u64;
                let mut header = None;
                let mut mcp = None;
                let mut payload = None;
                // A payload that comes before the header waits here until its type is known.
                let mut buffered: Option<#buffer> = None;
                let mut metadata = <#metadata>::default();
                while let Some(key) = map.next_key_seed(RootKeySeed)? {
                    match key {
                        RootKey::Known(PacketKey::Header) => {
                            once(&mut seen, 1)?;
                            header = Some(map.next_value_seed(Seed::<#header_reader>::new())?);
                        }
                        RootKey::Known(PacketKey::Mcp) => {
                            once(&mut seen, 2)?;
                            mcp = Some(map.next_value_seed(Seed::<#mcp_reader>::new())?);
                        }
                        RootKey::Known(PacketKey::Payload) => {
                            once(&mut seen, 4)?;
                            match &header {
                                Some(header) => payload = Some(map.next_value_seed(#seed(header.packet_type))?),
                                None => buffered = Some(map.next_value_seed(Seed::<#buffer_reader>::new())?),
                            }
                        }
                        RootKey::Metadata(key) => metadata.read(key, &mut map)?,
                    }
                }
                need(seen, 7, &["header", "mcp", "payload"])?;
                if let (Some(buffered), Some(header)) = (buffered, &header) {
                    let packet_type = header.packet_type;
                    payload = Some(#from_buffer.map_err(A::Error::custom)?);
                }
                #finish
            }
        }
    })
}

fn packet_shapes(context: &Context<'_>, first: &str) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let root = model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    let types = model.packets.iter().map(|packet| ident(&pascal(packet)));
    let shapes = model.packets.iter().map(|packet| shape_name(packet));
    // When the type is unknown, header and envelope can be checked all the same.
    let mut fields = Vec::new();
    for member in &root.fields {
        let (name, mut description) = (&member.name, "What the packet says; its type decides the shape.");
        let mut shape = quote!(ANY);
        if let (Ty::Ref(def), false) = (&member.ty, name == "payload") {
            // The member's own description speaks of one type of packet.
            description = &model.def(def)?.description;
            let ident = shape_name(def);
            shape = quote!(#ident);
        }
        fields.push(quote! {
            FieldShape { name: #name, description: #description, required: true, rules: &[], shape: &#shape }
        });
    }
    let fields = list(fields);
    Ok(quote! {
        /// The shape of a packet; without a type, of what all packets share.
        pub(crate) fn packet_shape(packet_type: Option<PacketType>) -> &'static Shape {
            match packet_type {
                #(Some(PacketType::#types) => &#shapes,)*
                None => &UNKNOWN_PACKET_SHAPE,
            }
        }

        static UNKNOWN_PACKET_SHAPE: Shape = Shape {
            name: "a packet",
            kind: ShapeKind::Object(ObjectShape { fields: #fields, conditionals: &[], metadata: true }),
        };
    })
}
