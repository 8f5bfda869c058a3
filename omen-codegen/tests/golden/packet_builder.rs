/// A note.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[non_exhaustive]
pub struct NotePacket {
    /// Says that it is a note.
    pub header: PacketHeader,
    /// The envelope.
    pub mcp: McpEnvelope,
    /// The note itself.
    pub payload: NotePayload,
    /// Members beside the three, which must begin with `_`; no rule looks at them (D38).
    #[serde(flatten)]
    pub metadata: Metadata,
}

impl NotePacket {
    /// Begins a `NotePacket`. Its header states the type of packet by itself.
    ///
    /// `build()` compiles once `mcp` and `payload` are set.
    pub fn builder() -> NotePacketBuilder<Unset, Unset> {
        NotePacketBuilder {
            mcp: Unset::NEW,
            payload: Unset::NEW,
            metadata: None,
        }
    }
}

/// Builds a `NotePacket`: see `NotePacket::builder`.
#[derive(Clone, Debug)]
#[must_use = "call `build()` to make the value"]
pub struct NotePacketBuilder<A, B> {
    mcp: A,
    payload: B,
    metadata: ::std::option::Option<Metadata>,
}

impl<A, B> NotePacketBuilder<A, B> {
    /// The envelope.
    pub fn mcp(
        self,
        value: impl Into<McpEnvelope>,
    ) -> NotePacketBuilder<Set<McpEnvelope>, B>
    where
        A: NotSet,
    {
        NotePacketBuilder {
            mcp: Set::new(value.into()),
            payload: self.payload,
            metadata: self.metadata,
        }
    }
    /// The note itself.
    pub fn payload(
        self,
        value: impl Into<NotePayload>,
    ) -> NotePacketBuilder<A, Set<NotePayload>>
    where
        B: NotSet,
    {
        NotePacketBuilder {
            mcp: self.mcp,
            payload: Set::new(value.into()),
            metadata: self.metadata,
        }
    }
    /// Members beside the three, which must begin with `_`; no rule looks at them (D38).
    pub fn metadata(mut self, value: Metadata) -> Self {
        self.metadata = Some(value);
        self
    }
    /// Members beside the three, which must begin with `_`; no rule looks at them (D38).
    pub fn maybe_metadata(mut self, value: ::std::option::Option<Metadata>) -> Self {
        self.metadata = value;
        self
    }
    /// Takes a header as it is, but for the type of packet, which is this builder's own.
    pub fn header(self, header: PacketHeader) -> NotePacketBuilder<A, B> {
        NotePacketBuilder {
            mcp: self.mcp,
            payload: self.payload,
            metadata: self.metadata,
        }
    }
}

impl<A, B> NotePacketBuilder<A, B> {
    /// The `NotePacket`.
    #[must_use]
    pub fn build(self) -> NotePacket
    where
        A: note_packet_needs::BuilderMcp,
        B: note_packet_needs::BuilderPayload,
    {
        let Self { mcp, payload, metadata } = self;
        let mcp = note_packet_needs::BuilderMcp::given(mcp);
        let payload = note_packet_needs::BuilderPayload::given(payload);
        NotePacket {
            header: PacketHeader {
                packet_type: PacketType::NotePacket,
            },
            mcp,
            payload,
            metadata: metadata.unwrap_or_default(),
        }
    }
}

/// What the builders of `NotePacket` ask for: each trait explains itself.
#[doc(hidden)]
pub mod note_packet_needs {
    use super::*;
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `mcp`; `NotePacket::builder()` requires it",
        label = "`mcp` is not set",
        note = "every `NotePacket` has the field `mcp`",
        note = "add `.mcp(..)` before `.build()`: the envelope"
    )]
    pub trait BuilderMcp {
        #[allow(missing_docs)]
        fn given(self) -> McpEnvelope;
    }
    #[diagnostic::do_not_recommend]
    impl BuilderMcp for Set<McpEnvelope> {
        fn given(self) -> McpEnvelope {
            self.into_value()
        }
    }
    #[diagnostic::on_unimplemented(
        message = "SCHEMA: missing field `payload`; `NotePacket::builder()` requires it",
        label = "`payload` is not set",
        note = "every `NotePacket` has the field `payload`",
        note = "add `.payload(..)` before `.build()`: the note itself"
    )]
    pub trait BuilderPayload {
        #[allow(missing_docs)]
        fn given(self) -> NotePayload;
    }
    #[diagnostic::do_not_recommend]
    impl BuilderPayload for Set<NotePayload> {
        fn given(self) -> NotePayload {
            self.into_value()
        }
    }
}

static NOTE_PACKET_SHAPE: Shape = Shape {
    name: "NotePacket",
    kind: ShapeKind::Object(ObjectShape {
        fields: &[
            FieldShape {
                name: "header",
                description: "Says that it is a note.",
                required: true,
                rules: &[],
                shape: &PACKET_HEADER_SHAPE,
            },
            FieldShape {
                name: "mcp",
                description: "The envelope.",
                required: true,
                rules: &[],
                shape: &MCP_ENVELOPE_SHAPE,
            },
            FieldShape {
                name: "payload",
                description: "The note itself.",
                required: true,
                rules: &[],
                shape: &NOTE_PAYLOAD_SHAPE,
            },
        ],
        conditionals: &[],
        metadata: true,
    }),
};

impl HasShape for NotePacket {
    fn shape() -> &'static Shape {
        &NOTE_PACKET_SHAPE
    }
}
