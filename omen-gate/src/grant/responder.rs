//! Responder to a confirmation request.

use serde::{Deserialize, Serialize};

use crate::base::bounded;

/// Responder to a question, as identified by the confirmer and not by the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Responder {
    /// Channel of the answer, such as `socket`.
    pub via: String,
    /// Id of the user on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Name of the user on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Responder {
    /// Creates a responder of whom only the channel is known.
    #[must_use]
    pub fn via(via: &str) -> Self {
        Self { via: bounded(via), uid: None, user: None }
    }

    /// Adds the user of this system.
    #[must_use]
    pub fn user(self, uid: u32, name: Option<&str>) -> Self {
        Self { uid: Some(uid), user: name.map(bounded), ..self }
    }
}
