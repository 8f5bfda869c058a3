//! What the Model Context Protocol says of a tool and of its answer, as far as the gate reads it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::ToolName;
use crate::call::fault::Fault;

/// A tool, as `tools/list` gives it. Members that the gate has no use for are kept, for a tool is pinned
/// by what it says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// What it does, in the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of its structured answer, if it promises one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Everything else. Annotations are claims, not grants (D47).
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The answer of a tool, as `tools/call` gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Content for people and models: text, images, links.
    #[serde(default)]
    pub content: Vec<Value>,
    /// The structured answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool says that it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Everything else, such as `_meta`.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Answer {
    /// What the tool says of its failure, if it says that it failed.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        if self.is_error != Some(true) {
            return None;
        }
        let texts = self.content.iter().filter_map(|content| content.get("text")?.as_str());
        Some(Fault::tool(&texts.collect::<Vec<_>>().join(" ")))
    }
}
