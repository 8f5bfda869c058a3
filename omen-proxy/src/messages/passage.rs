//! Messages that pass only if the operator allows them.

use std::fmt;
use std::str::FromStr;

/// Kind of message that passes only if the operator allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Passage {
    /// A server asks the client's model to write something (`sampling/createMessage`).
    Sampling,
    /// A server asks the user for something that looks like a secret (`elicitation/create`).
    Secrets,
    /// A server asks the user to open an address (`elicitation/create` in URL mode).
    Urls,
    /// A client asks a server to report changes of resources (`resources/subscribe`, `subscriptions/listen`).
    Subscriptions,
    /// A server asks which folders its client works in (`roots/list`), and may use them instead of those given by the operator.
    Roots,
    /// A call is to run as a task, whose result is fetched later and not judged (`task` of `tools/call`).
    Tasks,
}

impl Passage {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Sampling, Self::Secrets, Self::Urls, Self::Subscriptions, Self::Roots, Self::Tasks];

    /// Returns the name by which an operator allows the messages, such as `sampling`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Secrets => "secrets",
            Self::Urls => "urls",
            Self::Subscriptions => "subscriptions",
            Self::Roots => "roots",
            Self::Tasks => "tasks",
        }
    }

    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Sampling => "the server asks for the client's model (`sampling/createMessage`)",
            Self::Secrets => "the server asks the user for a secret (`elicitation/create`)",
            Self::Urls => "the server asks the user to open an address (`elicitation/create`)",
            Self::Subscriptions => "the client subscribes to changes of resources",
            Self::Roots => "the server asks for the folders of its client (`roots/list`)",
            Self::Tasks => "the call asks to run as a task, whose result would not be judged",
        }
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for an unknown name of a [`Passage`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value `{0}`; expected one of `sampling`, `secrets`, `urls`, `subscriptions`, `roots`, `tasks`")]
pub struct UnknownPassage(String);

impl FromStr for Passage {
    type Err = UnknownPassage;

    fn from_str(text: &str) -> Result<Self, UnknownPassage> {
        let found = Self::ALL.into_iter().find(|passage| passage.as_str() == text);
        found.ok_or_else(|| UnknownPassage(omen_gate::bounded(text)))
    }
}
