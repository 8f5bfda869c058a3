/// A note.
#[non_exhaustive]
#[derive(::serde::Serialize, Clone, Debug, PartialEq)]
pub struct NotePacket {
    /// Says that it is a note.
    header: PacketHeader,
    /// The envelope.
    pub mcp: McpEnvelope,
    /// The note itself.
    pub payload: NotePayload,
    /// Additional members, whose names must begin with `_`; no rule checks them (D38).
    #[serde(flatten)]
    pub metadata: Metadata,
}

impl NotePacket {
    /// Starts a `NotePacket`. The packet type in its header is set automatically.
    pub fn builder() -> PacketBuilder<Self> {
        PacketBuilder::begin()
    }
    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &PacketHeader {
        &self.header
    }
    /// Replaces the header; its packet type is set to that of this packet.
    pub fn set_header(&mut self, header: PacketHeader) {
        self.header = PacketHeader {
            packet_type: Self::PACKET_TYPE,
            ..header
        };
    }
}

impl PacketParts for NotePacket {
    type Payload = NotePayload;
    const PACKET_TYPE: PacketType = PacketType::NotePacket;
    fn from_parts(
        header: PacketHeader,
        mcp: McpEnvelope,
        payload: NotePayload,
        metadata: Metadata,
    ) -> Self {
        Self {
            header,
            mcp,
            payload,
            metadata,
        }
    }
}

impl PayloadParts for NotePayload {
    type Packet = NotePacket;
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
                description: "The note itself.",
                required: true,
                rules: &[],
                shape: &NOTE_PAYLOAD_SHAPE,
                example: None,
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
