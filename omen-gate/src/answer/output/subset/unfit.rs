//! Why a type is not known to take what a tool promises.

use std::fmt;

use crate::base::bounded;

/// Why a type is not known to take what a tool promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::answer::output) struct Unfit {
    /// Where in an answer: a JSON pointer, with `*` for any element or any other member.
    pub(in crate::answer::output) at: String,
    pub(in crate::answer::output) why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::answer::output) enum Why {
    /// The tool promises more than the type takes.
    Refused(String),
    /// It cannot be decided.
    Undecided(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.at.is_empty() { "the answer".to_owned() } else { format!("`{}`", bounded(&self.at)) };
        match &self.why {
            Why::Refused(what) => write!(f, "{place} {what}"),
            Why::Undecided(what) => write!(f, "{place} cannot be compared: {what}"),
        }
    }
}

pub(super) fn refused<T>(at: &str, what: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit { at: at.to_owned(), why: Why::Refused(what.into()) })
}

pub(super) fn undecided<T>(at: &str, what: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit { at: at.to_owned(), why: Why::Undecided(what.into()) })
}
