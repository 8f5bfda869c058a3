//! Descriptions of several servers merged into one: their joint capabilities and instructions.

use omen_gate::ServerName;
use serde_json::{Map, Value, json};

/// Description of one server, from its handshake.
#[derive(Debug)]
pub(super) struct ServerDescription {
    pub(super) name: ServerName,
    pub(super) capabilities: Map<String, Value>,
    pub(super) instructions: Option<String>,
}

impl ServerDescription {
    pub(super) fn new(name: &ServerName, result: &Map<String, Value>) -> Self {
        let capabilities = result.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
        let instructions = result.get("instructions").and_then(Value::as_str).map(str::to_owned);
        Self { name: name.clone(), capabilities, instructions }
    }
}

/// Returns the capabilities that can be offered with several servers: those of at least one of them, if the recipient of their
/// messages is known. Changes of the tool list are always declared, because the list changes when a server is gone.
pub(super) fn capabilities(all: &[ServerDescription]) -> Value {
    let of = |name: &str| all.iter().filter_map(|about| about.capabilities.get(name)).collect::<Vec<_>>();
    let any =
        |name: &str, flag: &str| of(name).iter().any(|capability| capability.get(flag) == Some(&Value::Bool(true)));
    let mut merged = Map::new();
    merged.insert("tools".to_owned(), json!({ "listChanged": true }));
    for name in ["prompts", "resources"] {
        if !of(name).is_empty() {
            merged.insert(name.to_owned(), json!({ "listChanged": true }));
        }
    }
    if any("resources", "subscribe")
        && let Some(Value::Object(resources)) = merged.get_mut("resources")
    {
        resources.insert("subscribe".to_owned(), true.into());
    }
    for name in ["logging", "completions"] {
        if !of(name).is_empty() {
            merged.insert(name.to_owned(), json!({}));
        }
    }
    Value::Object(merged)
}

/// Returns the instructions of each server under its name, and how tool and prompt names are to be read.
pub(super) fn instructions(all: &[ServerDescription]) -> String {
    let mut text = "Tools and prompts of several servers are named SERVER__NAME.".to_owned();
    for about in all {
        let Some(own) = about.instructions.as_deref().map(str::trim).filter(|own| !own.is_empty()) else { continue };
        let end = own.floor_char_boundary(LONGEST.min(own.len()));
        let cut = if end < own.len() { " […]" } else { "" };
        text += &format!("\n\n## {}\n\n{}{cut}", about.name, own.get(..end).unwrap_or_default());
    }
    text
}

/// Returns the identity that answers for all servers.
pub(super) fn server_info() -> Value {
    json!({ "name": "omen-gate", "version": env!("CARGO_PKG_VERSION") })
}

/// Maximum number of bytes of one server's instructions that are passed on.
const LONGEST: usize = 16 << 10;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{LONGEST, ServerDescription, capabilities, instructions};

    fn about(name: &str, result: &Value) -> ServerDescription {
        ServerDescription::new(&name.parse().unwrap(), result.as_object().unwrap_or(&Map::new()))
    }

    #[test]
    fn only_what_can_be_kept_is_said() {
        let one =
            about("a", &json!({"capabilities": {"tools": {}, "prompts": {}, "experimental": {"x": {}}, "tasks": {}}}));
        let other = about("b", &json!({"capabilities": {"resources": {"subscribe": true}, "logging": {}}}));
        let merged = capabilities(&[one, other]);
        let expected = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true}, "logging": {}});
        assert_eq!(merged, expected);
        assert_eq!(capabilities(&[]), json!({"tools": {"listChanged": true}}));
    }

    #[test]
    fn instructions_stand_under_the_name_of_their_server_and_are_bounded() {
        let long = "é".repeat(LONGEST);
        let all = [
            about("a", &json!({"instructions": " Be careful.\n"})),
            about("b", &json!({"instructions": ""})),
            about("c", &json!({"instructions": long})),
        ];
        let text = instructions(&all);
        assert!(text.contains("\n\n## a\n\nBe careful.\n\n## c\n\né") && !text.contains("## b"), "{text}");
        assert!(text.ends_with("é […]") && text.len() < LONGEST + 200, "{}", text.len());
    }
}
