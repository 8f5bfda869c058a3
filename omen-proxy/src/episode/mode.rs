//! Ways in which a proxy uses episodes.

use std::fmt;
use std::str::FromStr;

/// Way in which a proxy uses the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Each call is written as a separate episode. Nothing is refused that would otherwise pass.
    Observe,
    /// The session is one episode, driven by the client's model; a call is made only where it is legal.
    Enforce,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Observe, Self::Enforce];

    /// Returns the name by which an operator chooses the mode, such as `observe`.
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

/// Error for an unknown name of a [`Mode`].
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
