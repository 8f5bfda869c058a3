/// What the verification loop needs before it may close (E3, INV-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// Somebody asked.
    Asked,
    /// Somebody saw it.
    Seen,
}

impl Obligation {
    /// Every obligation, in order.
    pub const ALL: &'static [Obligation] = &[Obligation::Asked, Obligation::Seen];
    /// What is missing while it is not met.
    #[must_use]
    pub fn missing(self) -> &'static str {
        match self {
            Obligation::Asked => "nobody asked",
            Obligation::Seen => "nobody looked",
        }
    }
}
