//! Person who answers a confirmation request.

use serde::{Deserialize, Serialize};

use crate::base::bounded;

/// Person who answers a question, as identified by the confirmer and not by the answer itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Responder {
    /// Channel through which the answer came, such as `socket`.
    pub via: String,
    /// User id on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// User name on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Responder {
    /// Creates a responder of whom only the channel is known.
    #[must_use]
    pub fn via(via: &str) -> Self {
        Self { via: bounded(via), uid: None, user: None }
    }

    /// Adds the user's id and name on this system.
    #[must_use]
    pub fn user(self, uid: u32, name: Option<&str>) -> Self {
        Self { uid: Some(uid), user: name.map(bounded), ..self }
    }
}
