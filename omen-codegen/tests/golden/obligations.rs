/// Requirement for closing the verification loop (E3, INV-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// Somebody asked.
    Asked,
    /// Somebody saw it.
    Seen,
}

impl Obligation {
    /// All obligations, in order.
    pub const ALL: &'static [Obligation] = &[Obligation::Asked, Obligation::Seen];
    /// Returns the message for an unmet obligation.
    #[must_use]
    pub fn missing(self) -> &'static str {
        match self {
            Obligation::Asked => "nobody asked",
            Obligation::Seen => "nobody looked",
        }
    }
}
