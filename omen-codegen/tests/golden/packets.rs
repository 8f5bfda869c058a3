/// Packet of any type.
#[allow(
    clippy::large_enum_variant,
    reason = "a box would be an allocation a packet, and most are large"
)]
#[derive(::serde::Serialize, Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum Packet {
    /// A note.
    Note(NotePacket),
    /// A sign of life.
    Ping(PingPacket),
}

impl Packet {
    /// Returns the packet type.
    #[must_use]
    pub fn packet_type(&self) -> PacketType {
        match self {
            Packet::Note(_) => PacketType::NotePacket,
            Packet::Ping(_) => PacketType::PingPacket,
        }
    }
    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &PacketHeader {
        match self {
            Packet::Note(packet) => &packet.header,
            Packet::Ping(packet) => &packet.header,
        }
    }
    /// Returns the MCP envelope.
    #[must_use]
    pub fn mcp(&self) -> &McpEnvelope {
        match self {
            Packet::Note(packet) => &packet.mcp,
            Packet::Ping(packet) => &packet.mcp,
        }
    }
}

/// Payload of a packet of any type, without header and envelope.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "it becomes a packet at once, and those are large"
)]
pub enum Payload {
    /// A note.
    Note(NotePayload),
    /// A sign of life.
    Ping(PingPayload),
}

impl Payload {
    /// Returns the packet type of the payload.
    #[must_use]
    pub fn packet_type(&self) -> PacketType {
        match self {
            Payload::Note(_) => PacketType::NotePacket,
            Payload::Ping(_) => PacketType::PingPacket,
        }
    }
    /// Builds the packet, and sets the packet type in the header.
    #[must_use]
    pub fn into_packet(self, mut header: PacketHeader, mcp: McpEnvelope) -> Packet {
        header.packet_type = self.packet_type();
        self.with(header, mcp, Metadata::default())
    }
    pub(super) fn with(
        self,
        header: PacketHeader,
        mcp: McpEnvelope,
        metadata: Metadata,
    ) -> Packet {
        match self {
            Payload::Note(payload) => {
                Packet::Note(NotePacket {
                    header,
                    mcp,
                    payload,
                    metadata,
                })
            }
            Payload::Ping(payload) => {
                Packet::Ping(PingPacket {
                    header,
                    mcp,
                    payload,
                    metadata,
                })
            }
        }
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        of: PacketType,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        match of {
            PacketType::NotePacket => {
                NotePayload::deserialize(deserializer).map(Payload::Note)
            }
            PacketType::PingPacket => {
                PingPayload::deserialize(deserializer).map(Payload::Ping)
            }
        }
    }
}

impl From<NotePayload> for Payload {
    fn from(payload: NotePayload) -> Payload {
        Payload::Note(payload)
    }
}

impl NotePacket {
    /// Packet type that the header must state.
    pub const TYPE: PacketType = PacketType::NotePacket;
}

impl From<NotePacket> for Packet {
    fn from(packet: NotePacket) -> Packet {
        Packet::Note(packet)
    }
}

packet_of_type!(NotePacket, Note);

impl From<PingPayload> for Payload {
    fn from(payload: PingPayload) -> Payload {
        Payload::Ping(payload)
    }
}

impl PingPacket {
    /// Packet type that the header must state.
    pub const TYPE: PacketType = PacketType::PingPacket;
}

impl From<PingPacket> for Packet {
    fn from(packet: PingPacket) -> Packet {
        Packet::Ping(packet)
    }
}

packet_of_type!(PingPacket, Ping);

/// Fields of a packet that rules check.
#[derive(Clone, Debug)]
pub struct PacketFacts<'t> {
    /// Facts of the header.
    pub header: PacketHeaderFacts,
    /// Facts of the MCP envelope.
    pub mcp: McpEnvelopeFacts<'t>,
    /// Facts of the payload.
    pub payload: PayloadFacts<'t>,
    /// JSON pointers to the texts that are still placeholders: see [`placeholders`](crate::placeholder::find).
    pub placeholders: Vec<String>,
}

/// Fields of a payload that rules check.
#[derive(Clone, Debug)]
pub enum PayloadFacts<'t> {
    /// A note.
    Note(NotePayloadFacts<'t>),
    /// A sign of life.
    Ping,
}

impl PayloadFacts<'_> {
    /// Returns the packet type of the payload.
    #[must_use]
    pub fn packet_type(&self) -> PacketType {
        match self {
            PayloadFacts::Note(_) => PacketType::NotePacket,
            PayloadFacts::Ping => PacketType::PingPacket,
        }
    }
}

impl<P: PacketParts> PacketBuilder<P> {
    pub(crate) fn begin() -> Self {
        Self {
            required: (Unset::NEW, Unset::NEW),
            optional: PacketOptional::default(),
            of: ::std::marker::PhantomData,
        }
    }
}

/// Builds a packet: see the function `builder` of its type.
///
/// `build()` compiles once `mcp` and `payload` are set.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct PacketBuilder<P, A = Unset, B = Unset> {
    required: (A, B),
    optional: PacketOptional,
    of: ::std::marker::PhantomData<fn() -> P>,
}

impl<P: PacketParts, A, B> PacketBuilder<P, A, B> {
    /// The envelope.
    pub fn mcp(
        self,
        value: impl Into<McpEnvelope>,
    ) -> PacketBuilder<P, Set<McpEnvelope>, B>
    where
        A: needs::packet::OnceMcp,
    {
        let (_, m1) = self.required;
        PacketBuilder {
            required: (Set::new(value.into()), m1),
            optional: self.optional,
            of: self.of,
        }
    }
    /// What the packet says; its type is that of the packet.
    pub fn payload(
        self,
        value: impl Into<P::Payload>,
    ) -> PacketBuilder<P, A, Set<P::Payload>>
    where
        B: needs::packet::OncePayload,
    {
        let (m0, _) = self.required;
        PacketBuilder {
            required: (m0, Set::new(value.into())),
            optional: self.optional,
            of: self.of,
        }
    }
    /// Additional members, whose names must begin with `_`; no rule checks them (D38).
    pub fn metadata(mut self, value: Metadata) -> Self {
        self.optional.metadata = Some(value);
        self
    }
    /// Additional members, whose names must begin with `_`; no rule checks them (D38).
    pub fn maybe_metadata(mut self, value: Option<Metadata>) -> Self {
        self.optional.metadata = value;
        self
    }
    /// Sets the whole header, except the packet type, which the builder determines.
    pub fn header(self, header: PacketHeader) -> PacketBuilder<P, A, B> {
        let (m0, m1) = self.required;
        PacketBuilder {
            required: (m0, m1),
            optional: self.optional,
            of: self.of,
        }
    }
}

impl<P: PacketParts, A, B> PacketBuilder<P, A, B> {
    /// Returns the packet.
    ///
    /// The builders of the parts check what each of them has; what a packet has as a whole is checked here: its length and depth, and what was changed in a part after it was built.
    ///
    /// # Errors
    /// The errors of a reader, with JSON pointers that begin at this object.
    pub fn build(self) -> Result<P, Box<Rejected>>
    where
        A: needs::packet::SetMcp<P>,
        B: needs::packet::SetPayload<P>,
    {
        written({
            let (mcp, payload) = self.required;
            let (mcp, payload) = (Given::given(mcp), Given::given(payload));
            let PacketOptional { metadata, .. } = self.optional;
            P::from_parts(
                PacketHeader {
                    packet_type: P::PACKET_TYPE,
                },
                mcp,
                payload,
                metadata.unwrap_or_default(),
            )
        })
    }
}

#[derive(Clone, Debug, Default)]
struct PacketOptional {
    metadata: Option<Metadata>,
}

impl<'t> PayloadFacts<'t> {
    /// Parses the payload of a packet type. Inlined, because each return copies the value.
    #[inline(always)]
    fn parse(of: PacketType, cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        match of {
            PacketType::NotePacket => {
                <NotePayloadFacts<'t> as Parse<'t>>::parse(cursor)
                    .map(PayloadFacts::Note)
            }
            PacketType::PingPacket => {
                <Check<PingPayload> as Parse<'t>>::parse(cursor)
                    .map(|()| PayloadFacts::Ping)
            }
        }
    }
}

impl<'t> PacketFacts<'t> {
    /// Parses a packet into `out`. The facts are large, and returning them would copy them at each return.
    pub(super) fn from_cursor(
        cursor: &mut Cursor<'t>,
        out: &mut Option<Self>,
    ) -> ParseResult<()> {
        let mut root = Root::default();
        if !root.begins(cursor) {
            let first = root.begin(cursor)?;
            *out = Some(Self::in_any_order(cursor, root, first, None, None)?);
            return Ok(());
        }
        let header = <PacketHeaderFacts as Parse<'t>>::parse(cursor)?;
        if !root.goes_on_with_mcp(cursor) {
            let next = root.next(cursor)?;
            *out = Some(Self::in_any_order(cursor, root, next, Some(header), None)?);
            return Ok(());
        }
        let mcp = <McpEnvelopeFacts<'t> as Parse<'t>>::parse(cursor)?;
        if !root.goes_on_with_payload(cursor) {
            let next = root.next(cursor)?;
            *out = Some(
                Self::in_any_order(cursor, root, next, Some(header), Some(mcp))?,
            );
            return Ok(());
        }
        let payload = PayloadFacts::parse(header.packet_type, cursor)?;
        if !cursor.eat(b"}") && root.next(cursor)?.is_some() {
            return Err(Refusal);
        }
        *out = Some(PacketFacts {
            header,
            mcp,
            payload,
            placeholders: Vec::new(),
        });
        Ok(())
    }
    /// Parses a packet starting at a field's value, given the fields that were already parsed.
    #[inline(never)]
    fn in_any_order(
        cursor: &mut Cursor<'t>,
        mut root: Root<'t>,
        mut member: Option<PacketKey>,
        mut header: Option<PacketHeaderFacts>,
        mut mcp: Option<McpEnvelopeFacts<'t>>,
    ) -> ParseResult<Self> {
        let mut payload = None;
        while let Some(known) = member {
            match known {
                PacketKey::Header => {
                    header = Some(<PacketHeaderFacts as Parse<'t>>::parse(cursor)?);
                }
                PacketKey::Mcp => {
                    mcp = Some(<McpEnvelopeFacts<'t> as Parse<'t>>::parse(cursor)?);
                }
                PacketKey::Payload => {
                    match &header {
                        Some(header) => {
                            payload = Some(
                                PayloadFacts::parse(header.packet_type, cursor)?,
                            );
                        }
                        None => root.put_off(cursor)?,
                    }
                }
            }
            member = root.next(cursor)?;
        }
        let header = header.ok_or(Refusal)?;
        let payload = match payload {
            Some(payload) => payload,
            None => {
                root.put_off_payload(
                    cursor,
                    |cursor| PayloadFacts::parse(header.packet_type, cursor),
                )?
            }
        };
        Ok(PacketFacts {
            header,
            mcp: mcp.ok_or(Refusal)?,
            payload,
            placeholders: Vec::new(),
        })
    }
}

/// Returns the shape of a packet type or, without a type, the shape of the fields that all packets share.
pub(crate) fn packet_shape(packet_type: Option<PacketType>) -> &'static Shape {
    match packet_type {
        Some(PacketType::NotePacket) => &NOTE_PACKET_SHAPE,
        Some(PacketType::PingPacket) => &PING_PACKET_SHAPE,
        None => &UNKNOWN_PACKET_SHAPE,
    }
}

static UNKNOWN_PACKET_SHAPE: Shape = Shape {
    name: "a packet",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "header",
                description: "Says what a packet is.",
                required: true,
                rules: &[],
                shape: &PACKET_HEADER_SHAPE,
                example: None,
            },
            FieldShape {
                name: "mcp",
                description: "The envelope.",
                required: true,
                rules: &[],
                shape: &MCP_ENVELOPE_SHAPE,
                example: None,
            },
            FieldShape {
                name: "payload",
                description: "What the packet says; its type decides the shape.",
                required: true,
                rules: &[],
                shape: &ANY,
                example: Some("{…}"),
            },
        ],
        conditionals: &[],
        metadata: true,
    }),
};

/// Requirements of the builders: each trait explains one missing or unexpected field.
#[doc(hidden)]
pub mod needs {
    use super::*;
    /// What the builders of `Packet` require.
    pub mod packet {
        use super::*;
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `mcp`; `{P}::builder()` requires it",
            label = "`mcp` is not set",
            note = "every `packet` has the field `mcp`",
            note = "add `.mcp(..)` before `.build()`: the envelope"
        )]
        pub trait SetMcp<P: PacketParts>: Given<McpEnvelope> {}
        #[diagnostic::do_not_recommend]
        impl<P: PacketParts> SetMcp<P> for Set<McpEnvelope> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: missing field `payload`; `{P}::builder()` requires it",
            label = "`payload` is not set",
            note = "every `packet` has the field `payload`",
            note = "add `.payload(..)` before `.build()`: what the packet says; its type is that of the packet"
        )]
        pub trait SetPayload<P: PacketParts>: Given<P::Payload> {}
        #[diagnostic::do_not_recommend]
        impl<P: PacketParts> SetPayload<P> for Set<P::Payload> {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `mcp`; it is set already",
            label = "`mcp` is set twice",
            note = "set `mcp` once"
        )]
        pub trait OnceMcp {}
        impl OnceMcp for Unset {}
        #[diagnostic::on_unimplemented(
            message = "SCHEMA: duplicate field `payload`; it is set already",
            label = "`payload` is set twice",
            note = "set `payload` once"
        )]
        pub trait OncePayload {}
        impl OncePayload for Unset {}
    }
}
