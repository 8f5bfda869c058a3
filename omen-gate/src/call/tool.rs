//! Tools and answers of the Model Context Protocol, as far as the gate reads them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::ToolName;
use crate::call::fault::Fault;

/// Tool as listed by `tools/list`. Members that the gate does not use are kept because a pin covers the whole description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Tool name.
    pub name: ToolName,
    /// Description from the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of the structured answer, if the tool declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Other members. Annotations are claims and grant nothing (D47).
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Answer of a tool to `tools/call`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Content for people and models: text, images, links.
    #[serde(default)]
    pub content: Vec<Value>,
    /// Structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool reports a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Other members, such as `_meta`.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Answer {
    /// Returns whether the tool requests input first (2026-07-28) and must be called again with it.
    #[must_use]
    pub fn asks_for_input(&self) -> bool {
        self.more.get("resultType").is_some_and(|kind| kind == "input_required") && self.says_nothing()
    }

    /// Returns whether the tool has started a task, whose result is fetched later.
    #[must_use]
    pub fn starts_task(&self) -> bool {
        let is_task = self.more.get("task").is_some_and(Value::is_object) && !self.more.contains_key("resultType");
        is_task && self.says_nothing()
    }

    /// Returns whether the tool has not yet reported what it did. Its `outputSchema` does not apply to such an answer.
    #[must_use]
    pub fn is_interim(&self) -> bool {
        self.asks_for_input() || self.starts_task()
    }

    fn says_nothing(&self) -> bool {
        let members = ["content", "structuredContent", "isError"];
        let is_empty = self.content.is_empty() && self.structured_content.is_none() && self.is_error.is_none();
        is_empty && !members.iter().any(|key| self.more.contains_key(*key))
    }

    /// Returns the fault that the tool reports if `isError` is set.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        if self.is_error != Some(true) {
            return None;
        }
        let texts = self.content.iter().filter_map(|content| content.get("text")?.as_str());
        Some(Fault::tool(&texts.collect::<Vec<_>>().join(" ")))
    }
}
