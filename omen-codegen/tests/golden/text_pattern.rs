/// Identifier of a ticket.
///
/// Takes a string such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`).
#[derive(::serde::Serialize, Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TicketId(String);

text_scalar!(TicketId, "TicketId");

impl PatternScalar for TicketId {
    const START: &'static [u8] = b"\"tkt_";
    #[inline(always)]
    fn class(bytes: Bytes) -> u32 {
        (between(bytes, b'a', b'z') | between(bytes, b'0', b'9')
            | between(bytes, b'-', b'-'))
            .to_bitmask()
    }
}

impl TextScalar for TicketId {
    const EXPECTS: &'static str = "a string such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`)";
    #[inline]
    fn holds(text: &str) -> bool {
        text.strip_prefix("tkt_")
            .is_some_and(|rest| {
                !rest.is_empty()
                    && rest
                        .bytes()
                        .all(|byte| matches!(byte, b'a'..= b'z' | b'0'..= b'9' | b'-'))
            })
    }
}

static TICKET_ID_SHAPE: Shape = Shape {
    name: "TicketId",
    kind: ShapeKind::Text {
        expects: "a string such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`)",
        example: "tkt_1",
        holds: <TicketId as TextScalar>::holds,
    },
};
