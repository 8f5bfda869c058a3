//! Events: what agents send is read, and what two readers could take differently is refused.

use omen_hook::{Dialect, Event, EventError, MAX_EVENT_BYTES, ReportedOutcome};
use serde_json::{Value, json};

use crate::samples::{after, before, read};

#[test]
fn events_of_every_agent_are_read() {
    for agent in Dialect::agents() {
        let Event::Before(call) = read(agent, &before(agent, "git status").to_string()).unwrap() else {
            panic!("{agent}")
        };
        assert_eq!(call.input["command"], "git status", "{agent}");
        assert_eq!(call.cwd.to_str(), Some("/home/dev/p"), "{agent}");
        assert_eq!(call.call.is_none(), ["copilot-cli", "gemini-cli"].contains(&agent), "{agent}");
        let Event::After(_, outcome) = read(agent, &after(agent, "git status").to_string()).unwrap() else {
            panic!("{agent}")
        };
        let is_silent = ["codex", "gemini-cli"].contains(&agent);
        let expected = if is_silent { ReportedOutcome::Unknown } else { ReportedOutcome::Ok };
        assert_eq!(outcome, expected, "{agent}");
    }
}

#[test]
fn outcomes_are_read_where_agents_say_them() {
    let outcome = |agent: &str, event: Value| match read(agent, &event.to_string()).unwrap() {
        Event::After(_, outcome) => outcome,
        other => panic!("{other:?}"),
    };
    let mut failed = after("claude-code", "false");
    failed["hook_event_name"] = json!("PostToolUseFailure");
    failed["error"] = json!("Exit code 1");
    assert_eq!(outcome("claude-code", failed), ReportedOutcome::Failed);
    let mut gemini = after("gemini-cli", "false");
    gemini["tool_response"]["error"] = json!({"message": "x"});
    assert_eq!(outcome("gemini-cli", gemini), ReportedOutcome::Failed);
    for (result, expected) in [
        ("failure", ReportedOutcome::Failed),
        ("denied", ReportedOutcome::DidNotRun),
        ("rejected", ReportedOutcome::Unknown),
    ] {
        let mut copilot = after("copilot-cli", "false");
        copilot["tool_result"]["result_type"] = json!(result);
        assert_eq!(outcome("copilot-cli", copilot), expected);
    }
}

/// To the agents, a command that failed, was killed or still runs is a success of its tool.
#[test]
fn a_command_has_succeeded_only_if_the_event_says_so() {
    let outcome = |agent: &str, pointer: &str, value: Value| {
        let mut event = after(agent, "cargo test");
        *event.pointer_mut(pointer).unwrap() = value;
        match read(agent, &event.to_string()).unwrap() {
            Event::After(_, outcome) => outcome,
            other => panic!("{other:?}"),
        }
    };
    let running = json!({"stdout": "", "backgroundTaskId": "b1"});
    assert_eq!(outcome("claude-code", "/tool_response", running), ReportedOutcome::Unknown);
    let failed = json!("Output: Exit Code: 0\nExit Code: 3\nProcess Group PGID: 7");
    assert_eq!(outcome("gemini-cli", "/tool_response/llmContent", failed), ReportedOutcome::Unknown);
    for (exit, expected) in [(json!(3), ReportedOutcome::Failed), (Value::Null, ReportedOutcome::Unknown)] {
        assert_eq!(outcome("opencode", "/output/metadata/exit", exit), expected);
    }
    for (text, expected) in [
        ("x\n<shellId: 0 completed with exit code 0>", ReportedOutcome::Ok),
        ("<shellId: 0 completed with exit code 0>\n<shellId: 1 completed with exit code 3>", ReportedOutcome::Failed),
        ("<command started in background with shellId: 0>", ReportedOutcome::Unknown),
        (
            "<shellId: 0 completed with exit code 0>\n<command started in background with shellId: 1>",
            ReportedOutcome::Unknown,
        ),
        ("<shellId: 0 completed with exit code 0> ", ReportedOutcome::Unknown),
    ] {
        assert_eq!(outcome("copilot-cli", "/tool_result/text_result_for_llm", json!(text)), expected, "{text}");
    }
    // Of other tools, the event says it.
    let mut written = after("gemini-cli", "x");
    written["tool_name"] = json!("write_file");
    assert!(matches!(read("gemini-cli", &written.to_string()), Ok(Event::After(_, ReportedOutcome::Ok))));
}

#[test]
fn ambiguous_events_are_refused() {
    let good = before("claude-code", "git status").to_string();
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    for (event, expected) in [
        (String::new(), "unexpected end of JSON"),
        (good[..good.len() - 1].to_owned(), "unexpected end of JSON"),
        (format!("{good}{good}"), "unexpected text after the JSON value"),
        (format!("\u{feff}{good}"), "not valid JSON"),
        ("[]".to_owned(), "the event has no name"),
        (with(r#""tool_name":"Bash""#, r#""tool_name":"Read","tool_name":"Bash""#), "duplicate field `tool_name`"),
        (with(r#""command":"git status""#, r#""command":"ls","command":"git status""#), "duplicate field `command`"),
        (
            with(r#""tool_name":"Bash""#, r#""tool_name":"Bash","Tool_Name":"Read""#),
            "differs from `tool_name` only in case",
        ),
        (with(r#""tool_name":"Bash""#, r#""tool_name":7"#), "`tool_name`: expected string, found number"),
        (with(r#""tool_name":"Bash","#, ""), "missing field `tool_name`"),
        (with(r#""tool_use_id":"toolu_01""#, r#""tool_use_id":"""#), "expected a non-empty string"),
        (with(r#""PreToolUse""#, r#""PreToolUse2""#), "unknown event `PreToolUse2` of Claude Code"),
        (with(r#""git status""#, "1e999"), "number out of range"),
        (with(r#""git status""#, "123456789012345678901"), "the number `123456789012345678901`"),
        (with(r#""git status""#, &format!("{}{}", "[".repeat(90), "]".repeat(90))), "nested too deeply"),
        (with(r#""git status""#, r#""\ud800""#), "not valid JSON"),
    ] {
        let error = read("claude-code", &event).unwrap_err().to_string();
        assert!(error.contains(expected), "{event}\n{error}");
    }
    let dialect = Dialect::from_agent("claude-code").unwrap();
    assert_eq!(dialect.read(&vec![b' '; MAX_EVENT_BYTES + 1], |_| None), Err(EventError::Long));
    assert_eq!(dialect.read(b"{\"a\":\"\xff\"}", |_| None), Err(EventError::Encoding));
}

#[test]
fn unknown_members_are_ignored_and_answers_may_have_any_numbers() {
    let mut event = before("codex", "ls");
    event["new_in_the_next_release"] = json!(true);
    assert!(matches!(read("codex", &event.to_string()), Ok(Event::Before(_))));
    let event = after("claude-code", "ls").to_string().replace("124", "123456789012345678901234");
    assert!(matches!(read("claude-code", &event), Ok(Event::After(..))));
}

#[test]
fn a_version_that_the_dialect_is_not_for_is_refused() {
    let copilot = before("copilot-cli", "ls").to_string();
    let dialect = Dialect::from_agent("copilot-cli").unwrap();
    for (version, is_known) in [
        (Some("1.0.102"), true),
        (Some("1.0"), true),
        (Some("2.0.0"), false),
        (Some("0.9.9"), false),
        (Some("x"), false),
        (None, false),
    ] {
        let found = dialect.read(copilot.as_bytes(), |_| version.map(str::to_owned));
        assert_eq!(found.is_ok(), is_known, "{version:?}");
    }
    let mut cursor = before("cursor", "ls");
    cursor["cursor_version"] = json!("4.0.0");
    let error = read("cursor", &cursor.to_string()).unwrap_err().to_string();
    assert_eq!(error, "unsupported version `4.0.0` of Cursor; expected 3 or later, and below 4");
}

#[test]
fn an_mcp_tool_that_is_named_separately_keeps_its_names() {
    let mut event = before("gemini-cli", "ls");
    event["tool_name"] = json!("mcp_git_hub_list_issues");
    event["mcp_context"] = json!({"server_name": "git_hub", "tool_name": "list_issues"});
    let Ok(Event::Before(call)) = read("gemini-cli", &event.to_string()) else { panic!() };
    assert_eq!(call.mcp, Some(("git_hub".to_owned(), "list_issues".to_owned())));
    event["mcp_context"] = json!({"server_name": "git_hub"});
    assert!(read("gemini-cli", &event.to_string()).is_err());
}

#[test]
fn events_of_cursor_about_one_tool_are_calls_of_it() {
    let event = |name: &str, members: Value| {
        let mut event = json!({
            "conversation_id": "u1", "hook_event_name": name, "cursor_version": "3.12.17", "workspace_roots": ["/home/dev/p"],
        });
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        read("cursor", &event.to_string())
    };
    for (name, members, tool, input, cwd) in [
        ("beforeShellExecution", json!({"command": "ls", "cwd": "/x"}), "Shell", json!({"command": "ls"}), "/x"),
        ("beforeShellExecution", json!({"command": "ls", "cwd": ""}), "Shell", json!({"command": "ls"}), "/home/dev/p"),
        ("beforeReadFile", json!({"file_path": "a", "content": "x"}), "Read", json!({"file_path": "a"}), "/home/dev/p"),
        (
            "beforeMCPExecution",
            json!({"tool_name": "log", "tool_input": "{\"a\":[1]}", "mcp_server_name": "git"}),
            "MCP:log",
            json!({"a": [1]}),
            "/home/dev/p",
        ),
    ] {
        let Event::Before(call) = event(name, members).unwrap() else { panic!("{name}") };
        assert!(call.is_special && call.call.is_none() && call.session == "u1", "{name}");
        assert_eq!((call.tool.as_str(), json!(call.input), call.cwd.to_str()), (tool, input, Some(cwd)), "{name}");
    }
    for (name, members) in [
        ("beforeShellExecution", json!({})),
        ("beforeShellExecution", json!({"command": ["ls"]})),
        ("beforeMCPExecution", json!({"tool_name": "", "tool_input": "{}", "mcp_server_name": "git"})),
        ("beforeMCPExecution", json!({"tool_name": "log", "tool_input": "{}"})),
        ("beforeMCPExecution", json!({"tool_name": "log", "tool_input": "{}", "mcp_server_name": ""})),
        ("beforeMCPExecution", json!({"tool_name": "log", "tool_input": "[]", "mcp_server_name": "git"})),
        (
            "beforeMCPExecution",
            json!({"tool_name": "log", "tool_input": "{\"a\":1,\"a\":2}", "mcp_server_name": "git"}),
        ),
        ("beforeReadFile", json!({"File_Path": "a", "file_path": "b"})),
        // No dialect of omen knows what the agent would do with the answer.
        ("beforeTabFileRead", json!({"file_path": "a"})),
    ] {
        assert!(event(name, members).is_err(), "{name}");
    }
    assert_eq!(event("afterShellExecution", json!({"command": "ls"})), Ok(Event::Note));
    // The agent reports a call that was denied as one that failed.
    let failed = |why: Value| {
        let mut members = json!({"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "t1"});
        members["failure_type"] = why;
        let Ok(Event::After(_, outcome)) = event("postToolUseFailure", members) else { panic!("not an outcome") };
        outcome
    };
    assert_eq!(failed(json!("permission_denied")), ReportedOutcome::DidNotRun);
    assert_eq!((failed(json!("timeout")), failed(json!("new"))), (ReportedOutcome::Failed, ReportedOutcome::Unknown));
}
