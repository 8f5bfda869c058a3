//! Names of servers, tools and turns, checked once.

use std::fmt;
use std::sync::Arc;

use omen_types::unseen::is_unseen;
use serde::{Deserialize, Serialize};

/// An invalid name. Its message shows invisible characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{got}`: {why}")]
pub struct BadName {
    what: &'static str,
    got: String,
    why: &'static str,
}

/// The turn of what is recorded when a gate is put together.
pub const START: &str = "gate.start";

/// The variables of the environment that every server process inherits: without them, programs are not found.
pub const INHERITED: &[&str] = if cfg!(windows) { &["PATH", "SystemRoot"] } else { &["PATH"] };

const FORM: &str = "expected 1 to 128 characters, none of them blank, a control character or invisible";

/// Whether a text has the form of a name.
fn is_name(text: &str) -> bool {
    (1..=128).contains(&text.chars().count()) && !text.chars().any(|c| c.is_whitespace() || is_unseen(c))
}

macro_rules! name {
    ($(#[$doc:meta])* $Name:ident, $what:literal $(, $reserved:path: $why:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $Name(Arc<str>);

        impl $Name {
            /// Takes a text of 1 to 128 characters, none of them blank, a control character or invisible: names that are
            /// not the same must not look the same.
            $(#[doc = concat!("\n\nOne is reserved: [`", stringify!($reserved), "`].")])?
            ///
            /// # Errors
            /// If the text is something else.
            pub fn new(text: impl AsRef<str>) -> Result<Self, BadName> {
                let text = text.as_ref();
                $(if text == $reserved {
                    return Err(BadName { what: $what, got: shown(text), why: $why });
                })?
                if is_name(text) { Ok(Self(text.into())) } else { Err(BadName { what: $what, got: shown(text), why: FORM }) }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $Name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $Name {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                Self::new(text)
            }
        }

        impl From<$Name> for String {
            fn from(name: $Name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl std::borrow::Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The name that the operator's configuration gives a server.
    ServerName, "server name"
);
name!(
    /// The name of a tool, as its server lists it.
    ToolName, "tool name"
);
name!(
    /// Links a user's request with everything that is done for it (A2). Nothing runs without one.
    TurnId, "turn id", START: "it is reserved for the entries of the gate's own start; use another id"
);

impl TurnId {
    /// The turn of what is recorded when a gate is put together. Nobody else can ask for anything under it.
    pub fn start() -> Self {
        Self(START.into())
    }

    /// Whether entries of the log may have such a turn.
    pub fn is_name(text: &str) -> bool {
        is_name(text)
    }
}

name!(
    /// The name of a step within a turn (R4).
    StepId, "step name"
);

/// As much of a text as a name may have, with invisible characters escaped.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(128) {
        if is_unseen(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolId {
    /// Its server.
    pub server: ServerName,
    /// Its name there.
    pub tool: ToolName,
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}
