//! Who answers the question whether a call may be made.

use serde::{Deserialize, Serialize};

use crate::base::bounded;

/// Who answered a question, as the confirmer knows it and not as the answer says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Responder {
    /// The way that the answer came, such as `socket`.
    pub via: String,
    /// The id of the user on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// The name of the user on this system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Responder {
    /// Somebody of whom only the way is known that the answer came.
    #[must_use]
    pub fn via(via: &str) -> Self {
        Self { via: bounded(via), uid: None, user: None }
    }

    /// The same as a user of this system.
    #[must_use]
    pub fn user(self, uid: u32, name: Option<&str>) -> Self {
        Self { uid: Some(uid), user: name.map(bounded), ..self }
    }
}
