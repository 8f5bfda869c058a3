//! What is done with episodes.

use std::fmt;
use std::str::FromStr;

/// What a proxy does with the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Each call is written as an episode of its own. Nothing is refused that would pass otherwise.
    Observe,
    /// The session is one episode, which the client's model drives; a call is made only where it is legal.
    Enforce,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Observe, Self::Enforce];

    /// The name by which an operator chooses it, such as `observe`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Enforce => "enforce",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An unknown name of a [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value `{0}`; expected `observe` or `enforce`")]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| UnknownMode(omen_gate::bounded(text)))
    }
}
