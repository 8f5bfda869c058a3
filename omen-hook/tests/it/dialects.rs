//! The dialects themselves: they are read, say where they come from, and list the events that agents send.

use omen_hook::Dialect;

#[test]
fn every_dialect_is_read_and_has_its_sources() {
    let agents: Vec<_> = Dialect::agents().collect();
    assert_eq!(agents, ["claude-code", "codex", "copilot-cli", "cursor", "gemini-cli", "opencode"]);
    for agent in agents {
        let dialect = Dialect::from_agent(agent).unwrap();
        assert_eq!(dialect.agent.as_str(), agent);
        assert!(!dialect.sources.is_empty() && dialect.date.starts_with("20") && !dialect.seen.is_empty(), "{agent}");
        assert!(dialect.timeout_seconds >= 30, "{agent}");
        assert!(dialect.tools().len() >= 3, "{agent}");
    }
}

#[test]
fn an_unknown_agent_is_answered_with_the_known_ones() {
    let error = Dialect::from_agent("claude").unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown agent `claude`; expected one of claude-code, codex, copilot-cli, cursor, gemini-cli, opencode"
    );
}

#[test]
fn tools_have_forms_that_a_gate_can_check() {
    let codex = Dialect::from_agent("codex").unwrap().tools();
    let patch = codex.iter().find(|tool| tool.name.as_str() == "apply_patch").unwrap();
    assert_eq!(patch.input_schema["required"], serde_json::json!(["change", "patch", "path"]));
    let bash = codex.iter().find(|tool| tool.name.as_str() == "Bash").unwrap();
    assert_eq!(bash.input_schema["additionalProperties"], false);
    let opencode = Dialect::from_agent("opencode").unwrap().tools();
    assert!(opencode.iter().any(|tool| !tool.input_schema.contains_key("additionalProperties")), "`glob` is open");
}

#[test]
fn the_settings_of_every_agent_are_known() {
    let all = Dialect::settings_of_all();
    for part in [".claude", ".codex", ".gemini", ".copilot", ".github/hooks", ".cursor", ".opencode"] {
        assert!(all.iter().any(|known| known == part), "{part}");
    }
}
