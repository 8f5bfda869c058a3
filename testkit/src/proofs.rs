//! How much the tests try that go through very many cases.
//!
//! By default they try as many as find the usual mistake, within seconds. With `OMEN_PROOFS=full`, as in CI, they try all of
//! them.

/// The variable that says how much they try.
pub const PROOFS: &str = "OMEN_PROOFS";

/// How much they try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// What takes seconds.
    Usual,
    /// Everything.
    Full,
}

impl Proofs {
    /// What the environment says.
    ///
    /// # Panics
    /// If the variable has an unknown value.
    #[must_use]
    #[track_caller]
    pub fn wanted() -> Self {
        let value = std::env::var_os(PROOFS).unwrap_or_default();
        Self::parse(&value.to_string_lossy()).unwrap_or_else(|error| panic!("{PROOFS}: {error}"))
    }

    /// Reads a value of the variable.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn parse(value: &str) -> Result<Self, String> {
        match value {
            "" => Ok(Self::Usual),
            "full" => Ok(Self::Full),
            _ => Err(format!("unknown value `{value}`; expected `full` or nothing")),
        }
    }

    /// One of two sizes of a test.
    #[must_use]
    pub fn choose<T>(self, usual: T, full: T) -> T {
        match self {
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}
