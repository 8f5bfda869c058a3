use std::fmt;

use crate::base::bounded;

/// Reason why a type is not proven to accept everything that a tool promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::answer::output) struct ContainmentError {
    /// Position in the answer: a JSON pointer in which `*` stands for any element or any other member.
    pub(in crate::answer::output) at: String,
    pub(in crate::answer::output) why: ContainmentFailure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::answer::output) enum ContainmentFailure {
    /// The tool promises a value that the type rejects.
    Refused(String),
    /// The check cannot decide the case.
    Undecided(String),
}

impl fmt::Display for ContainmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.at.is_empty() { "the answer".to_owned() } else { format!("`{}`", bounded(&self.at)) };
        match &self.why {
            ContainmentFailure::Refused(what) => write!(f, "{place} {what}"),
            ContainmentFailure::Undecided(what) => write!(f, "{place} cannot be compared: {what}"),
        }
    }
}

pub(super) fn refused<T>(at: &str, what: impl Into<String>) -> Result<T, ContainmentError> {
    Err(ContainmentError { at: at.to_owned(), why: ContainmentFailure::Refused(what.into()) })
}

pub(super) fn undecided<T>(at: &str, what: impl Into<String>) -> Result<T, ContainmentError> {
    Err(ContainmentError { at: at.to_owned(), why: ContainmentFailure::Undecided(what.into()) })
}
