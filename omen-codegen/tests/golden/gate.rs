/// What a refusal, a failure or an entry of the audit log refers to. Stable: codes are added,
/// never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// `PG-0`: no shouting.
    Pg0,
    /// `PG-T`: the end.
    PgT,
    /// `A1`: book of guests.
    A1,
}

impl Code {
    /// Every code, in the documents' order.
    pub const ALL: &'static [Code] = &[Code::Pg0, Code::PgT, Code::A1];
    /// The code as it is written, such as `PG-3`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Pg0 => "PG-0",
            Code::PgT => "PG-T",
            Code::A1 => "A1",
        }
    }
    /// A few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Code::Pg0 => "no shouting",
            Code::PgT => "the end",
            Code::A1 => "book of guests",
        }
    }
    /// What must be so.
    #[must_use]
    pub fn statement(self) -> &'static str {
        match self {
            Code::Pg0 => "A letter in CAPITALS stays outside.",
            Code::PgT => "Who leaves closes the gate.",
            Code::A1 => "Every visitor signs the book.",
        }
    }
    /// Why.
    #[must_use]
    pub fn rationale(self) -> &'static str {
        match self {
            Code::Pg0 => "It hurts the `ears`.",
            Code::PgT => "There is a dog.",
            Code::A1 => "Memory fades.",
        }
    }
    /// The way out.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Code::Pg0 => "Write small letters.",
            Code::PgT => "Go back and close it.",
            Code::A1 => "Fetch a pen.",
        }
    }
    /// Where it comes from: a section of the documents, a decision.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Code::Pg0 => "house rules",
            Code::PgT => "house rules",
            Code::A1 => "house rules",
        }
    }
}
