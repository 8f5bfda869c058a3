//! Decisions on questions that the protocol's documents leave open.

use serde::Deserialize;

/// Decision that rules and texts refer to by its code.
#[derive(Clone, Debug, Deserialize)]
pub struct Decision {
    /// Code, such as `D29`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Paragraphs; those that begin with `- ` are list items.
    #[serde(default)]
    pub text: Vec<String>,
}
