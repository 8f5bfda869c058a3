/// Identifier of a ticket.
///
/// Takes a TicketId such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
pub struct TicketId(String);

impl TicketId {
    /// Checks and takes a text.
    ///
    /// # Errors
    /// If the text is not one.
    pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if <Self as TextScalar>::holds(&text) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("TicketId", <Self as TextScalar>::EXPECTS, text))
        }
    }
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl crate::scalar::sealed::Scalar for TicketId {}

impl TextScalar for TicketId {
    const EXPECTS: &'static str = "a TicketId such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`)";
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

impl crate::scalar::Trusted<String> for TicketId {
    #[inline]
    fn trusted(text: String) -> Self {
        Self(text)
    }
}

impl ::std::fmt::Display for TicketId {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for TicketId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<TicketId> for String {
    fn from(value: TicketId) -> String {
        value.0
    }
}

impl ::std::str::FromStr for TicketId {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl TryFrom<&str> for TicketId {
    type Error = Invalid;
    fn try_from(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl TryFrom<String> for TicketId {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl<'de> ::serde::Deserialize<'de> for TicketId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <OwnedText<Self> as Read<'de>>::read(deserializer)
    }
}

static TICKET_ID_SHAPE: Shape = Shape {
    name: "TicketId",
    kind: ShapeKind::Text {
        expects: "a TicketId such as `tkt_1` (pattern `^tkt_[a-z0-9-]+$`)",
        holds: <TicketId as TextScalar>::holds,
    },
};
