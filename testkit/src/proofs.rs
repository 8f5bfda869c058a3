//! Amount of testing, for tests with very many cases.
//!
//! By default, these tests try enough cases to find common mistakes within seconds. With `OMEN_PROOFS=full`, as in CI, they
//! try all.

/// Variable that sets the amount of testing.
pub const PROOFS: &str = "OMEN_PROOFS";

/// Amount of testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// Cases that take seconds.
    Usual,
    /// All cases.
    Full,
}

impl Proofs {
    /// Returns the amount set in the environment.
    ///
    /// # Panics
    /// If the variable has an unknown value.
    #[must_use]
    #[track_caller]
    pub fn wanted() -> Self {
        let value = std::env::var_os(PROOFS).unwrap_or_default();
        Self::parse(&value.to_string_lossy()).unwrap_or_else(|error| panic!("{PROOFS}: {error}"))
    }

    /// Parses a value of the variable.
    ///
    /// # Errors
    /// If the value is unknown.
    pub fn parse(value: &str) -> Result<Self, String> {
        match value {
            "" => Ok(Self::Usual),
            "full" => Ok(Self::Full),
            _ => Err(format!("unknown value `{value}`; expected `full` or nothing")),
        }
    }

    /// Returns one of two sizes of a test.
    #[must_use]
    pub fn choose<T>(self, usual: T, full: T) -> T {
        match self {
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}
