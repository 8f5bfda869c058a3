//! Calls that would free an agent from its gate: its own files, the settings of agents, and folders outside the project.

use serde_json::Map;

use super::*;

/// Event of Claude Code before a tool.
fn before(folder: &Path, tool: &str, input: &Value) -> String {
    let mut event = hook_events::before("claude-code", "");
    (event["cwd"], event["tool_name"], event["tool_input"]) = (json!(folder), json!(tool), input.clone());
    event.to_string()
}

/// Reason of a denial of Claude Code, or an empty text.
fn reason(run: &Run) -> String {
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_files_of_the_gate_are_not_written_and_its_secrets_are_not_read() {
    let folder = governed("claude-code");
    let path = folder.path();
    write(path, "catalog.json", b"{}");
    std::fs::create_dir(path.join("docs")).unwrap();
    for tool in ["Write", "Read", "Grep"] {
        let place = if tool == "Grep" { "" } else { "where = { '/file_path' = { under = './' } }" };
        allow(path, &tool_of("claude-code", tool), "claude-code", "WRITE", place);
    }
    let call = |tool: &str, input: Value| {
        reason(&hook_with(&["--catalog", "catalog.json"], path, "claude-code", &before(path, tool, &input)))
    };
    let written = |file: &str| call("Write", json!({"file_path": file, "content": "x"}));
    for (file, name) in [
        ("gate.toml", "gate.toml"),
        ("./docs/../GATE.toml", "gate.toml"),
        ("catalog.json", "catalog.json"),
        ("audit.key", "audit.key"),
        ("audit.jsonl", "audit.jsonl"),
        ("audit.000002.jsonl", "audit.jsonl"),
        ("audit.jsonl.head", "audit.jsonl"),
        (".omen-gate/confirm.hook.url", "confirm.hook.url"),
        (".omen-gate/confirm.hook.sock", "confirm.hook.sock"),
    ] {
        let why = written(file);
        let expected = format!("{name}` belongs to the gate that judges this call; help: do this yourself");
        assert!(why.starts_with("PG-3: ") && why.contains(&expected), "{file}: {why}");
    }
    for file in ["other.toml", "docs/audit.jsonl", "docs/gate.toml", "audits.jsonl"] {
        assert_eq!(written(file), "", "{file}");
    }
    assert_eq!(call("Read", json!({"file_path": "gate.toml"})), "");
    for (tool, input) in
        [("Read", json!({"file_path": "audit.key"})), ("Grep", json!({"pattern": ".", "path": "docs/../audit.key"}))]
    {
        assert!(call(tool, input).contains("audit.key` belongs to the gate"), "{tool}");
    }
    // With the token, outcomes can be reported.
    let token = call("Read", json!({"file_path": ".omen-gate/confirm.hook.token"}));
    assert!(token.contains("confirm.hook.token` belongs to the gate"), "{token}");
    for command in
        ["ls gate.toml", "git add audit.k\"ey\"", "ls docs/../audit.*", "git diff ./audit.jsonl.head", "ls -fgate.toml"]
    {
        let why = call("Bash", json!({"command": command}));
        assert!(why.contains("belongs to the gate"), "{command}: {why}");
    }
    for command in ["ls audit.rs", "git log --grep audit", "ls investigate.toml"] {
        assert_eq!(call("Bash", json!({"command": command})), "", "{command}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_the_files_of_the_gate_are_followed() {
    let folder = governed("codex");
    let path = folder.path();
    std::os::unix::fs::symlink("../gate.toml", path.join("src/innocent.rs")).unwrap();
    std::fs::rename(path.join("audit.key"), path.join("src/real")).unwrap();
    std::os::unix::fs::symlink("src/real", path.join("audit.key")).unwrap();
    for file in ["src/innocent.rs", "src/real", "audit.key"] {
        let mut event = hook_events::before("codex", "");
        (event["cwd"], event["tool_name"]) = (json!(path), json!("apply_patch"));
        event["tool_input"]["command"] =
            json!(format!("*** Begin Patch\n*** Add File: src/a\n+x\n*** Delete File: {file}\n*** End Patch"));
        let why = reason(&hook(path, "codex", &event));
        assert!(why.contains("belongs to the gate"), "{file}: {why}");
    }
}

#[test]
fn tools_of_other_servers_reach_neither_settings_nor_the_gate() {
    let folder = governed("claude-code");
    let path = folder.path();
    let schema = json!({"type": "object", "properties": {"files": {}}});
    let tool = |name: &str| Tool {
        name: name.parse().unwrap(),
        description: None,
        input_schema: schema.as_object().cloned().unwrap(),
        output_schema: None,
        more: Map::new(),
    };
    let mut config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
    config.push_str("[servers.files]\n");
    write(path, "gate.toml", config.as_bytes());
    allow(path, &tool("edit"), "files", "WRITE", "");
    allow(path, &tool("show"), "files", "READ", "");
    let listed = ["edit", "show"].map(|name| json!({"name": name, "inputSchema": schema}));
    let listed = json!({"files": listed});
    write(path, "catalog.json", listed.to_string().as_bytes());
    #[cfg(unix)]
    {
        std::fs::create_dir(path.join(".claude")).unwrap();
        std::os::unix::fs::symlink(".claude", path.join("innocent")).unwrap();
    }
    let call = |tool: &str, text: &str| {
        let event = before(path, &format!("mcp__files__{tool}"), &json!({"files": [{"at": text}]}));
        reason(&hook_with(&["--catalog", "catalog.json"], path, "claude-code", &event))
    };
    let all = [
        ("echo {} > .claude/settings.json", "names settings of a coding agent", false),
        ("x\n.cl'aud'e/settings.json", "names settings of a coding agent", false),
        #[cfg(unix)]
        ("innocent/settings.json", "names settings of a coding agent", false),
        ("C:\\home\\.codex\\hooks.json", "names settings of a coding agent", false),
        ("gate.toml", "belongs to the gate", false),
        ("file:///srv/audit.jsonl.head", "belongs to the gate", false),
        ("cat aud'it'.key", "belongs to the gate", true),
    ];
    for (text, expected, is_secret) in all {
        let why = call("edit", text);
        assert!(why.contains(expected), "{text}: {why}");
        // A tool that only reads may read what an agent's own tools may read.
        assert_eq!(call("show", text).contains(expected), is_secret, "{text}");
    }
    assert_eq!(call("edit", "src/claude.rs"), "");
    assert_eq!(call("show", ".claude/settings.json"), "");
}

#[test]
fn the_folder_in_which_a_command_runs_is_below_the_root() {
    for (agent, tool, input, member) in [
        ("gemini-cli", "run_shell_command", "tool_input", "dir_path"),
        ("opencode", "bash", "args", "workdir"),
        ("cursor", "Shell", "tool_input", "working_directory"),
    ] {
        let folder = governed(agent);
        let path = folder.path();
        let elsewhere = tempfile::tempdir().unwrap();
        let call = |place: &Path| {
            let mut event = hook_events::before(agent, "ls");
            event["cwd"] = json!(path);
            event[input][member] = json!(place);
            hook(path, agent, &event)
        };
        for place in [Path::new("src"), path] {
            let run = call(place);
            assert!(is_allowed(&run), "{agent} {tool}: {} {}", run.stdout, run.stderr);
        }
        for place in [Path::new(".."), elsewhere.path(), Path::new("missing")] {
            let denied = call(place).stdout;
            assert!(denied.contains("the working directory of the call is not below"), "{agent}: {denied}");
            assert!(denied.contains(&format!("omit `{member}`")), "{agent}: {denied}");
        }
    }
}
