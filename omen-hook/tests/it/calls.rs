//! Calls of events: the names of tools, patches file by file, and the settings of agents.

use omen_hook::{CallError, Dialect, Event, HookCall};
use serde_json::{Value, json};

use crate::samples::{before, read};

/// Calls that an event asks for, where the configuration has some servers.
fn calls(agent: &str, event: &Value, servers: &[&str]) -> Result<Vec<HookCall>, CallError> {
    let servers: Vec<_> = servers.iter().map(|name| name.parse().unwrap()).collect();
    let Event::Before(call) = read(agent, &event.to_string()).unwrap() else { panic!("{event}") };
    Dialect::from_agent(agent).unwrap().calls(&call, servers.iter())
}

fn named(agent: &str, tool: &str, servers: &[&str]) -> Result<String, String> {
    let mut event = before(agent, "x");
    event[if agent == "opencode" { "tool" } else { "tool_name" }] = json!(tool);
    let calls = calls(agent, &event, servers).map_err(|error| error.to_string())?;
    Ok(calls[0].tool.to_string())
}

fn patch(lines: &[&str]) -> Value {
    let mut event = before("codex", "x");
    event["tool_name"] = json!("apply_patch");
    event["tool_input"] = json!({"command": lines.join("\n")});
    event
}

#[test]
fn tools_have_their_own_names() {
    let servers = ["claude-code", "git", "git__hub", "opencode"];
    for (agent, tool, expected) in [
        ("claude-code", "Bash", "claude-code/Bash"),
        ("claude-code", "mcp__git__log", "git/log"),
        ("claude-code", "SomethingNew", "claude-code/SomethingNew"),
        ("codex", "mcp__git__a__b", "git/a__b"),
        ("opencode", "git_log", "git/log"),
        ("opencode", "webfetch", "opencode/webfetch"),
        ("opencode", "unknown_tool", "opencode/unknown_tool"),
        ("copilot-cli", "Write", "copilot-cli/Write"),
    ] {
        assert_eq!(named(agent, tool, &servers).as_deref(), Ok(expected), "{agent} {tool}");
    }
    let error = named("claude-code", "mcp__git__hub__log", &servers).unwrap_err();
    assert_eq!(error, "`mcp__git__hub__log` may be a tool of `git` or of `git__hub`; help: rename one of the servers");
    let error = named("claude-code", "mcp__other__log", &servers).unwrap_err();
    assert!(error.starts_with("no configured server matches the tool `mcp__other__log`; help: "), "{error}");
    assert!(named("claude-code", "Ba sh", &servers).unwrap_err().contains("invalid tool name"));
}

#[test]
fn a_patch_is_one_call_for_each_file() {
    let event = patch(&[
        "*** Begin Patch",
        "*** Add File: a.txt",
        "+x",
        "*** Update File: src/b.rs",
        "*** Move to: src/c.rs",
        "@@",
        "-y",
        "+ *** Delete File: no marker, but text",
        "*** End of File",
        "*** Delete File: /etc/d",
        "*** End Patch",
        "",
    ]);
    let found = calls("codex", &event, &[]).unwrap();
    let found: Vec<_> =
        found.iter().map(|call| (call.args["path"].as_str().unwrap(), call.args["change"].as_str().unwrap())).collect();
    let expected = [
        ("/home/dev/p/a.txt", "add"),
        ("/home/dev/p/src/b.rs", "update"),
        ("/home/dev/p/src/c.rs", "add"),
        ("/etc/d", "delete"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_patch_that_is_not_understood_is_refused() {
    for (lines, expected) in [
        (vec![], "expected `*** Begin Patch`"),
        (vec!["*** Begin Patch"], "expected `*** Begin Patch`"),
        (vec!["*** Begin Patch", "*** End Patch"], "it changes no file"),
        (vec!["*** Begin Patch", "+x", "*** Add File: a", "*** End Patch"], "line 2: expected"),
        (vec!["*** Begin Patch", "*** Add File: a", "*** Add file: b", "*** End Patch"], "line 3: expected"),
        (vec!["*** Begin Patch", "*** Add File: a", " *** Delete File: b", "*** End Patch"], "line 3: expected"),
        (vec!["*** Begin Patch", "*** Add File: a", "*** Move to: b", "*** End Patch"], "line 3: expected"),
        (vec!["*** Begin Patch", "*** Add File: ", "*** End Patch"], "line 2: expected the path"),
        (vec!["*** Begin Patch", "*** Add File: a\r", "*** End Patch"], "line 2: expected the path"),
        (vec!["x", "*** Begin Patch", "*** Add File: a", "*** End Patch"], "expected `*** Begin Patch`"),
        (vec!["*** Begin Patch", "*** Add File: a", "*** End Patch", "*** Add File: b"], "expected `*** Begin Patch`"),
        (
            vec!["*** Begin Patch", "*** Add File: a", "*** End Patch", "*** Add File: b", "*** End Patch"],
            "line 3: expected",
        ),
    ] {
        let error = calls("codex", &patch(&lines), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{lines:?}: {error}");
    }
    let many: Vec<_> = (0..300).map(|number| format!("*** Delete File: f{number}")).collect();
    let mut lines = vec!["*** Begin Patch"];
    lines.extend(many.iter().map(String::as_str));
    lines.push("*** End Patch");
    assert!(calls("codex", &patch(&lines), &[]).unwrap_err().to_string().contains("more than 256 files"));
}

#[test]
fn no_agent_writes_settings_of_agents() {
    let write = |path: &str| {
        let mut event = before("claude-code", "x");
        event["tool_name"] = json!("Write");
        event["tool_input"] = json!({"file_path": path, "content": "{}"});
        calls("claude-code", &event, &[])
    };
    for path in [
        "/home/dev/p/.claude/settings.local.json",
        ".claude/settings.json",
        "/home/dev/p/src/../.codex/hooks.json",
        "/home/dev/p/.Gemini/settings.json",
        "/x/.github/hooks/a.json",
        "C:\\Users\\dev\\.cursor\\hooks.json",
    ] {
        assert!(matches!(write(path), Err(CallError::Settings(_))), "{path}");
    }
    for path in
        ["/home/dev/p/src/claude.rs", "docs/.claude.md", "my.claude/x", ".github/workflows/ci.yml", ".claudette/x"]
    {
        assert!(write(path).is_ok(), "{path}");
    }
    for (command, is_refused) in [
        ("echo '{}' > .claude/settings.json", true),
        ("cd .cl\"aud\"e && ls", true),
        ("rm -rf ~/.c\\odex", true),
        ("git add src/claude.rs", false),
    ] {
        assert_eq!(calls("claude-code", &before("claude-code", command), &[]).is_err(), is_refused, "{command}");
    }
    let event = patch(&["*** Begin Patch", "*** Add File: a", "*** Add File: .codex/hooks.json", "*** End Patch"]);
    assert!(matches!(calls("codex", &event, &[]), Err(CallError::Settings(_))));
}

#[cfg(unix)]
#[test]
fn a_link_to_settings_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    std::os::unix::fs::symlink(folder.path().join(".claude"), folder.path().join("innocent")).unwrap();
    let mut event = before("claude-code", "x");
    event["cwd"] = json!(folder.path());
    event["tool_name"] = json!("Write");
    event["tool_input"] = json!({"file_path": "innocent/settings.json", "content": "{}"});
    assert!(matches!(calls("claude-code", &event, &[]), Err(CallError::Settings(_))));
}
