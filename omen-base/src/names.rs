//! Names of servers, tools, turns and steps, validated on construction.

use std::fmt;
use std::sync::Arc;

use omen_types::scalar::invisible::is_invisible;
use serde::{Deserialize, Serialize};

/// Error for an invalid name. Its message escapes invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{got}`: {why}")]
pub struct BadName {
    what: &'static str,
    got: String,
    why: &'static str,
}

/// Turn of the entries recorded while a gate is built.
pub const START: &str = "gate.start";

/// Environment variables that every server process inherits: without them, programs are not found.
pub const INHERITED: &[&str] = if cfg!(windows) { &["PATH", "SystemRoot"] } else { &["PATH"] };

const FORM: &str = "expected 1 to 128 characters, none of them blank, a control character or invisible";

fn is_name(text: &str) -> bool {
    (1..=128).contains(&text.chars().count()) && !text.chars().any(|c| c.is_whitespace() || is_invisible(c))
}

macro_rules! name {
    ($(#[$doc:meta])* $Name:ident, $what:literal $(, $reserved:path: $why:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $Name(Arc<str>);

        impl $Name {
            /// Validates a text: 1 to 128 characters, without blanks, control characters and invisible characters, so
            /// that different names look different.
            $(#[doc = concat!("\n\nOne is reserved: [`", stringify!($reserved), "`].")])?
            ///
            /// # Errors
            /// If the text is invalid.
            pub fn new(text: impl AsRef<str>) -> Result<Self, BadName> {
                let text = text.as_ref();
                $(if text == $reserved {
                    return Err(BadName { what: $what, got: shown(text), why: $why });
                })?
                if is_name(text) { Ok(Self(text.into())) } else { Err(BadName { what: $what, got: shown(text), why: FORM }) }
            }

            /// Returns the name as text.
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
    /// Name of a server in the operator's configuration.
    ServerName, "server name"
);
name!(
    /// Name of a tool as listed by its server.
    ToolName, "tool name"
);
name!(
    /// Turn id, which links a user's request to everything done for it. Nothing runs without a turn id (A2).
    TurnId, "turn id", START: "it is reserved for the entries of the gate's own start; use another id"
);

impl TurnId {
    /// Returns the turn of the entries recorded while a gate is built. No request can use it.
    pub fn start() -> Self {
        Self(START.into())
    }

    /// Returns whether a text is a valid turn of a log entry.
    pub fn is_name(text: &str) -> bool {
        is_name(text)
    }
}

name!(
    /// Name of a step within a turn (R4).
    StepId, "step name"
);

/// Escapes invisible characters and truncates the text to the length of a name.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(128) {
        if is_invisible(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Tool on a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolId {
    /// Server that lists the tool.
    pub server: ServerName,
    /// Name of the tool on its server.
    pub tool: ToolName,
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}
