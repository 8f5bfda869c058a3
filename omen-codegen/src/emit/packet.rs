//! `Packet`: dispatch by `header.packet_type`, with the fields in any order.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::readers::{Mode, Reader, reference};
use super::shapes::shape_name;
use super::typestate::Builders;
use super::{Context, DefinitionCode, bug, doc, ident, list, packet_builder, packet_type, packet_variant, senders};
use crate::mistake::Mistakes;
use crate::model::{Model, Ty};

pub(super) fn emit(context: &Context<'_>) -> Result<DefinitionCode, Mistakes> {
    let Some(first) = context.model.packets.first() else { return Ok(DefinitionCode::default()) };
    let enums = enums(context, first)?;
    let parser = parser(context, first)?;
    let shapes = packet_shapes(context, first)?;
    let root = context.model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    let Builders { items: builder, needs } = packet_builder::shared(context, root)?;
    let senders = senders::emit(context.model)?;
    let items = quote! {
        #enums
        #senders
        #builder
        #parser
        #shapes
    };
    Ok(DefinitionCode { items, needs: needs.into_iter().collect(), ..DefinitionCode::default() })
}

fn packet_types(model: &Model) -> Result<Vec<Ident>, Mistakes> {
    model.packets.iter().map(|packet| packet_type(model, packet)).collect()
}

fn payload<'m>(context: &Context<'m>, packet: &str) -> Result<&'m str, Mistakes> {
    context.model.payload_of(packet).ok_or_else(|| bug(format!("packet `{packet}` has no payload")))
}

/// Returns the parser of a field that all packets share.
fn part(context: &Context<'_>, first: &str, name: &str) -> Result<Reader, Mistakes> {
    let root = context.model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    match root.field(name).map(|field| &field.ty) {
        Some(Ty::Ref(def)) => reference(context, def, 2, Mode::Facts),
        _ => Err(bug(format!("packet `{first}` has no `{name}`"))),
    }
}

fn enums(context: &Context<'_>, first: &str) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let header_facts = part(context, first, "header")?.out;
    let mcp_facts = part(context, first, "mcp")?.out;
    let packets: Vec<_> = model.packets.iter().map(|packet| ident(packet)).collect();
    let variants = model.packets.iter().map(|packet| packet_variant(model, packet)).collect::<Result<Vec<_>, _>>()?;
    let types = packet_types(model)?;
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
    let declared = context.types.enumeration("Packet")?;
    Ok(quote! {
        /// Packet of any type.
        #[allow(clippy::large_enum_variant, reason = "a box would be an allocation a packet, and most are large")]
        #declared

        impl Packet {
            /// Returns the packet type.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(Packet::#variants(_) => PacketType::#types),* }
            }

            /// Returns the header.
            #[must_use]
            pub fn header(&self) -> &PacketHeader {
                match self { #(Packet::#variants(packet) => &packet.header),* }
            }

            /// Returns the MCP envelope.
            #[must_use]
            pub fn mcp(&self) -> &McpEnvelope {
                match self { #(Packet::#variants(packet) => &packet.mcp),* }
            }
        }

        /// Payload of a packet of any type, without header and envelope.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "it becomes a packet at once, and those are large")]
        pub enum Payload { #(#docs #variants(#payloads)),* }

        impl Payload {
            /// Returns the packet type of the payload.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(Payload::#variants(_) => PacketType::#types),* }
            }

            /// Builds the packet, and sets the packet type in the header.
            #[must_use]
            pub fn into_packet(self, mut header: PacketHeader, mcp: McpEnvelope) -> Packet {
                header.packet_type = self.packet_type();
                self.with(header, mcp, Metadata::default())
            }

            pub(super) fn with(self, header: PacketHeader, mcp: McpEnvelope, metadata: Metadata) -> Packet {
                match self {
                    #(Payload::#variants(payload) => Packet::#variants(#packets { header, mcp, payload, metadata })),*
                }
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(of: PacketType, deserializer: D) -> Result<Self, D::Error> {
                match of {
                    #(PacketType::#types => #payloads::deserialize(deserializer).map(Payload::#variants)),*
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
                /// Packet type that the header must state.
                pub const TYPE: PacketType = PacketType::#types;
            }

            impl From<#packets> for Packet {
                fn from(packet: #packets) -> Packet {
                    Packet::#variants(packet)
                }
            }

            packet_of_type!(#packets, #variants);
        )*

        /// Fields of a packet that rules check.
        #[derive(Clone, Debug)]
        pub struct PacketFacts<'t> {
            /// Facts of the header.
            pub header: #header_facts,
            /// Facts of the MCP envelope.
            pub mcp: #mcp_facts,
            /// Facts of the payload.
            pub payload: PayloadFacts<'t>,
            /// JSON pointers to the texts that are still placeholders: see [`placeholders`](crate::placeholder::find).
            pub placeholders: Vec<String>,
        }

        /// Fields of a payload that rules check.
        #[derive(Clone, Debug)]
        pub enum PayloadFacts<'t> { #(#docs #variants #payload_facts),* }

        impl PayloadFacts<'_> {
            /// Returns the packet type of the payload.
            #[must_use]
            pub fn packet_type(&self) -> PacketType {
                match self { #(PayloadFacts::#variants #payload_patterns => PacketType::#types),* }
            }
        }
    })
}

fn parser(context: &Context<'_>, first: &str) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let Reader { reader: header, out: header_out } = part(context, first, "header")?;
    let Reader { reader: mcp, out: mcp_out } = part(context, first, "mcp")?;
    let mut payloads = Vec::new();
    for packet in &model.packets {
        let payload = payload(context, packet)?;
        let Reader { reader, .. } = reference(context, payload, 2, Mode::Facts)?;
        let (of, variant) = (packet_type(model, packet)?, packet_variant(model, packet)?);
        let wrap = match context.lens.looks_into(payload) {
            true => quote!(PayloadFacts::#variant),
            false => quote!(|()| PayloadFacts::#variant),
        };
        payloads.push(quote!(PacketType::#of => <#reader as Parse<'t>>::parse(cursor).map(#wrap)));
    }
    Ok(quote! {
        impl<'t> PayloadFacts<'t> {
            /// Parses the payload of a packet type. Inlined, because each return copies the value.
            #[inline(always)]
            fn parse(of: PacketType, cursor: &mut Cursor<'t>) -> ParseResult<Self> {
                match of { #(#payloads),* }
            }
        }

        impl<'t> PacketFacts<'t> {
            /// Parses a packet into `out`. The facts are large, and returning them would copy them at each return.
            pub(super) fn from_cursor(cursor: &mut Cursor<'t>, out: &mut Option<Self>) -> ParseResult<()> {
                let mut root = Root::default();
                if !root.begins(cursor) {
                    let first = root.begin(cursor)?;
                    *out = Some(Self::in_any_order(cursor, root, first, None, None)?);
                    return Ok(());
                }
                let header = <#header as Parse<'t>>::parse(cursor)?;
                if !root.goes_on_with_mcp(cursor) {
                    let next = root.next(cursor)?;
                    *out = Some(Self::in_any_order(cursor, root, next, Some(header), None)?);
                    return Ok(());
                }
                let mcp = <#mcp as Parse<'t>>::parse(cursor)?;
                if !root.goes_on_with_payload(cursor) {
                    let next = root.next(cursor)?;
                    *out = Some(Self::in_any_order(cursor, root, next, Some(header), Some(mcp))?);
                    return Ok(());
                }
                let payload = PayloadFacts::parse(header.packet_type, cursor)?;
                // Only metadata may follow.
                if !cursor.eat(b"}") && root.next(cursor)?.is_some() {
                    return Err(Refusal);
                }
                *out = Some(PacketFacts { header, mcp, payload, placeholders: Vec::new() });
                Ok(())
            }

            /// Parses a packet starting at a field's value, given the fields that were already parsed.
            #[inline(never)]
            fn in_any_order(
                cursor: &mut Cursor<'t>,
                mut root: Root<'t>,
                mut member: Option<PacketKey>,
                mut header: Option<#header_out>,
                mut mcp: Option<#mcp_out>,
            ) -> ParseResult<Self> {
                let mut payload = None;
                while let Some(known) = member {
                    match known {
                        PacketKey::Header => header = Some(<#header as Parse<'t>>::parse(cursor)?),
                        PacketKey::Mcp => mcp = Some(<#mcp as Parse<'t>>::parse(cursor)?),
                        PacketKey::Payload => match &header {
                            Some(header) => payload = Some(PayloadFacts::parse(header.packet_type, cursor)?),
                            None => root.put_off(cursor)?,
                        },
                    }
                    member = root.next(cursor)?;
                }
                let header = header.ok_or(Refusal)?;
                let payload = match payload {
                    Some(payload) => payload,
                    None => root.put_off_payload(cursor, |cursor| PayloadFacts::parse(header.packet_type, cursor))?,
                };
                Ok(PacketFacts { header, mcp: mcp.ok_or(Refusal)?, payload, placeholders: Vec::new() })
            }
        }
    })
}

fn packet_shapes(context: &Context<'_>, first: &str) -> Result<TokenStream, Mistakes> {
    let model = context.model;
    let root = model.object(first).ok_or_else(|| bug(format!("packet `{first}` is not an object")))?;
    let types = packet_types(model)?;
    let shapes = model.packets.iter().map(|packet| shape_name(packet));
    // Header and envelope can be checked even if the type is unknown.
    let mut fields = Vec::new();
    for member in &root.fields {
        let (name, mut description) = (&member.name, "What the packet says; its type decides the shape.");
        // Only an outline, because a value of any type has no example.
        let (mut shape, mut example) = (quote!(ANY), quote!(Some("{…}")));
        if let (Ty::Ref(def), false) = (&member.ty, name == "payload") {
            // The field's description mentions one packet type.
            description = &model.def(def)?.description;
            let ident = shape_name(def);
            (shape, example) = (quote!(#ident), quote!(None));
        }
        fields.push(quote! {
            FieldShape {
                name: #name, description: #description, required: true, rules: &[], shape: &#shape, example: #example,
            }
        });
    }
    let fields = list(fields);
    Ok(quote! {
        /// Returns the shape of a packet type or, without a type, the shape of the fields that all packets share.
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
