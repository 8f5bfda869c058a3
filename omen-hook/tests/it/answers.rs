//! Answers, byte by byte, against what each agent was seen to take for a denial.

use omen_hook::{Dialect, HookAnswer};
use serde_json::Value;

const REASON: &str = "PG-3: not allowed; help: ask the operator";

/// Answers of a dialect that deny.
fn denials(dialect: &Dialect, reason: &str) -> [HookAnswer; 2] {
    [dialect.deny(reason), dialect.fail(reason)]
}

/// Members of an object on standard output, with their paths.
fn members(value: &Value, at: &str, all: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{at}/{name}");
        members(value, &path, all);
        if !value.is_object() {
            all.push(path);
        }
    }
}

#[test]
fn a_denial_has_the_bytes_of_its_agent() {
    let hook_specific = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}"#;
    for (agent, stdout) in [
        ("claude-code", hook_specific),
        ("codex", hook_specific),
        ("gemini-cli", r#"{"decision":"deny","reason":"R"}"#),
        ("copilot-cli", r#"{"permissionDecision":"deny","permissionDecisionReason":"R"}"#),
        ("cursor", r#"{"agent_message":"R","permission":"deny","user_message":"R"}"#),
        ("opencode", r#"{"decision":"deny","reason":"R"}"#),
    ] {
        let answer = Dialect::from_agent(agent).unwrap().deny("R");
        assert_eq!((answer.exit, answer.stdout, answer.stderr), (0, format!("{stdout}\n"), String::new()), "{agent}");
    }
}

/// Codex is reported not to be bound by exit code 2 on Windows, and Copilot's model does not read standard error.
#[test]
fn a_failure_has_the_bytes_of_a_denial_where_an_exit_code_is_less() {
    for agent in ["codex", "copilot-cli"] {
        let dialect = Dialect::from_agent(agent).unwrap();
        assert_eq!(dialect.fail("R"), dialect.deny("R"), "{agent}");
    }
}

/// The rows of the table of measured answers in which the call ran: no denial may look like one of them.
#[test]
fn no_denial_has_a_form_with_which_an_agent_runs_the_call() {
    for agent in Dialect::agents() {
        let dialect = Dialect::from_agent(agent).unwrap();
        for reason in
            [REASON, "", " \n ", "line\nbreak", "\"quoted\" \\ {\"x\":1}", "\u{202e}\u{0}\u{7}", &"long ".repeat(4000)]
        {
            for HookAnswer { exit, stdout, stderr, .. } in denials(&dialect, reason) {
                let context = format!("{agent} {reason:.20} {exit} {stdout} {stderr}");
                assert!(exit == 0 || exit == 2, "exit 1 and signals let calls run: {context}");
                if exit == 2 {
                    assert!(stdout.is_empty(), "{context}");
                    assert!(stderr.trim().len() > "omen:".len(), "an empty stderr lets calls run: {context}");
                    continue;
                }
                assert!(stderr.is_empty(), "{context}");
                assert_eq!(stdout.matches('\n').count(), 1, "one line, nothing before it: {context}");
                assert!(stdout.starts_with('{') && stdout.ends_with("}\n"), "{context}");
                let object: Value = serde_json::from_str(&stdout).expect("one object");
                let mut paths = Vec::new();
                members(&object, "", &mut paths);
                for word in ["ask", "allow", "block", "continue", "stopReason", "suppressOutput"] {
                    assert!(!stdout.contains(&format!("\"{word}\"")), "{context}");
                }
                // Unknown members void the answer: exactly these.
                let expected: &[&str] = match agent {
                    "claude-code" | "codex" => &[
                        "/hookSpecificOutput/hookEventName",
                        "/hookSpecificOutput/permissionDecision",
                        "/hookSpecificOutput/permissionDecisionReason",
                    ],
                    "gemini-cli" | "opencode" => &["/decision", "/reason"],
                    "copilot-cli" => &["/permissionDecision", "/permissionDecisionReason"],
                    "cursor" => &["/agent_message", "/permission", "/user_message"],
                    _ => panic!("{agent}"),
                };
                paths.sort();
                assert_eq!(paths, expected, "{context}");
                for path in paths.iter().filter(|path| path.to_lowercase().contains("reason")) {
                    let reason = object.pointer(path).and_then(Value::as_str).unwrap_or_default();
                    assert!(!reason.trim().is_empty(), "a deny without a reason lets calls run: {context}");
                    assert!(reason.chars().count() < 10_000, "longer strings are cut: {context}");
                }
            }
        }
    }
}

#[test]
fn a_plain_allow_is_silent_where_silence_means_no_objection() {
    for agent in Dialect::agents() {
        let answer = Dialect::from_agent(agent).unwrap().allow();
        let expected = match agent {
            "cursor" => "{\"permission\":\"allow\"}\n",
            "opencode" => "{\"decision\":\"allow\"}\n",
            // `allow` is an error of a hook for Codex, and lifts the questions of the others.
            _ => "",
        };
        assert_eq!((answer.exit, answer.stdout.as_str(), answer.stderr.as_str()), (0, expected, ""), "{agent}");
    }
}

#[test]
fn the_way_out_is_there_after_a_long_message() {
    let answer = Dialect::from_agent("codex").unwrap().deny(&format!("{}; help: do this instead", "x".repeat(9000)));
    assert!(answer.stdout.contains("do this instead"), "{}", answer.stdout);
}
