//! Events of coding agents' hooks, in the form in which each agent sends them.

use serde_json::{Value, json};

/// Returns the event before a shell command, with the members that the agent sends.
#[must_use]
pub fn before(agent: &str, command: &str) -> Value {
    match agent {
        "claude-code" => json!({
            "session_id": "5a", "transcript_path": "/t", "cwd": "/home/dev/p", "prompt_id": "p1", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command, "description": "State"},
            "tool_use_id": "toolu_01",
        }),
        "codex" => json!({
            "session_id": "01a2", "turn_id": "01a3", "transcript_path": null, "cwd": "/home/dev/p", "model": "m",
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "call_1",
        }),
        "gemini-cli" => json!({
            "session_id": "g1", "transcript_path": "/t", "cwd": "/home/dev/p", "hook_event_name": "BeforeTool",
            "timestamp": "2026-11-24T10:00:00.000Z", "tool_name": "run_shell_command",
            "tool_input": {"command": command, "description": "State"},
        }),
        "copilot-cli" => json!({
            "session_id": "c1", "cwd": "/home/dev/p", "hook_event_name": "PreToolUse",
            "timestamp": "2026-11-24T10:00:00.000Z", "tool_name": "Bash", "tool_input": {"command": command},
        }),
        "cursor" => json!({
            "conversation_id": "u1", "generation_id": "g", "model": "m", "hook_event_name": "preToolUse",
            "cursor_version": "3.12.17", "workspace_roots": ["/home/dev/p"], "user_email": null, "tool_name": "Shell",
            "tool_input": {"command": command}, "tool_use_id": "t1", "cwd": "/home/dev/p",
        }),
        "opencode" => json!({
            "event": "tool.execute.before", "tool": "bash", "sessionID": "ses_1", "callID": "call_1", "cwd": "/home/dev/p",
            "args": {"command": command, "description": "State"},
        }),
        other => panic!("no sample of {other}"),
    }
}

/// Returns the event after the same command.
#[must_use]
pub fn after(agent: &str, command: &str) -> Value {
    let mut event = before(agent, command);
    let (name, more) = match agent {
        "claude-code" => {
            ("PostToolUse", json!({"tool_response": {"stdout": "", "interrupted": false}, "duration_ms": 124}))
        }
        "codex" => ("PostToolUse", json!({"tool_response": "text"})),
        "gemini-cli" => ("AfterTool", json!({"tool_response": {"llmContent": "x", "returnDisplay": "x"}})),
        "copilot-cli" => (
            "PostToolUse",
            json!({"tool_result": {"result_type": "success", "text_result_for_llm": "x\n<shellId: 0 completed with exit code 0>"}}),
        ),
        "cursor" => ("postToolUse", json!({"tool_output": "x", "duration": 12.5})),
        "opencode" => ("tool.execute.after", json!({"output": {"title": "x", "metadata": {"exit": 0}, "output": "x"}})),
        other => panic!("no sample of {other}"),
    };
    let members = event.as_object_mut().unwrap();
    let member = if agent == "opencode" { "event" } else { "hook_event_name" };
    members.insert(member.to_owned(), name.into());
    members.extend(more.as_object().unwrap().clone());
    event
}
