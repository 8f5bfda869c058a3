//! Trust of an agent in its hooks, against what the agent itself computes.

use std::path::Path;

use omen_hook::{Dialect, TrustStore};
use serde_json::{Value, json};

fn store() -> TrustStore {
    Dialect::from_agent("codex").unwrap().install.trust.unwrap()
}

/// Hashes that `hooks/list` of the app server of Codex 0.169.0 has given for these handlers.
#[test]
fn definitions_have_the_hashes_of_the_agent() {
    for (event, matcher, handler, expected) in [
        (
            "PreToolUse",
            None,
            json!({"type": "command", "command": "'/x/omen' hook run --agent codex", "timeout": 60}),
            "4957bceed6c46f14210b9e6749eaa3c770771c5df659f1978db00c69c5c24f44",
        ),
        (
            "PostToolUse",
            None,
            json!({"type": "command", "command": "o"}),
            "a8ca993e1d048f8b8d309382bd79423bf9e7ff0b68d177f645c09a1d3793cea6",
        ),
        (
            "PostToolUse",
            Some("Bash"),
            json!({"type": "command", "command": "ä\u{1}\"", "timeout": 0, "statusMessage": "s"}),
            "3842ebbf1b0ffa0927a76920b8d62a474fdae67fdae2e258974ec6ceb7b12eba",
        ),
        (
            "SessionEnd",
            None,
            json!({"type": "command", "command": "o", "timeout": 60}),
            "bdfe92b333b1c94a013dd0bbf118a979e78d254eeace65ce4357bf949d0a6f02",
        ),
    ] {
        let element = matcher.map_or_else(|| json!({}), |matcher| json!({ "matcher": matcher }));
        assert_eq!(store().hash(event, &element, &handler), Some(format!("sha256:{expected}")), "{event}");
    }
    assert_eq!(store().hash("PreToolUse", &json!({}), &json!({"type": "command"})), None);
}

#[test]
fn a_hook_is_confirmed_at_its_place_with_its_definition() {
    let (trust, file) = (store(), Path::new("/h/.codex/hooks.json"));
    let (element, handler) = (json!({}), json!({"type": "command", "command": "o"}));
    let hash = "sha256:a8ca993e1d048f8b8d309382bd79423bf9e7ff0b68d177f645c09a1d3793cea6";
    let confirms = |entry: Value, place: usize| {
        let store = json!({"hooks": {"state": {"/h/.codex/hooks.json:post_tool_use:0:0": entry}}});
        trust.confirms(&store, file, "PostToolUse", (place, &element), (0, &handler))
    };
    assert!(confirms(json!({ "trusted_hash": hash }), 0));
    assert!(confirms(json!({ "trusted_hash": hash, "enabled": true }), 0));
    assert!(!confirms(json!({ "trusted_hash": hash }), 1));
    assert!(!confirms(json!({ "trusted_hash": hash, "enabled": false }), 0));
    assert!(!confirms(json!({ "trusted_hash": "sha256:0" }), 0));
    assert!(!confirms(json!({}), 0) && !confirms(Value::Null, 0));
}
