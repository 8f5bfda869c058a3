/// Code to which refusals, failures and entries of the audit log refer. Codes are stable: new ones are added,
/// existing ones never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum GateCode {
    /// `PG-0`: no shouting.
    Pg0,
    /// `PG-T`: the end.
    PgT,
    /// `A1`: book of guests.
    A1,
}

impl GateCode {
    /// All codes, in the order of the documentation.
    pub const ALL: &'static [GateCode] = &[GateCode::Pg0, GateCode::PgT, GateCode::A1];
    /// The code as it is written, such as `PG-3`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            GateCode::Pg0 => "PG-0",
            GateCode::PgT => "PG-T",
            GateCode::A1 => "A1",
        }
    }
    /// A few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            GateCode::Pg0 => "no shouting",
            GateCode::PgT => "the end",
            GateCode::A1 => "book of guests",
        }
    }
    /// What must be so.
    #[must_use]
    pub fn statement(self) -> &'static str {
        match self {
            GateCode::Pg0 => "A letter in CAPITALS stays outside.",
            GateCode::PgT => "Who leaves closes the gate.",
            GateCode::A1 => "Every visitor signs the book.",
        }
    }
    /// Why.
    #[must_use]
    pub fn rationale(self) -> &'static str {
        match self {
            GateCode::Pg0 => "It hurts the `ears`.",
            GateCode::PgT => "There is a dog.",
            GateCode::A1 => "Memory fades.",
        }
    }
    /// The way out.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            GateCode::Pg0 => "Write small letters.",
            GateCode::PgT => "Go back and close it.",
            GateCode::A1 => "Fetch a pen.",
        }
    }
    /// Its source: a section of the documents, or a decision.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            GateCode::Pg0 => "house rules",
            GateCode::PgT => "house rules",
            GateCode::A1 => "house rules",
        }
    }
}
