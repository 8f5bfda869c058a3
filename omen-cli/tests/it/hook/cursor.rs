//! Events of Cursor about the calls of one tool, which come after its event for all tools.

use super::*;

/// Event about one tool, with its members.
fn special(folder: &Path, name: &str, members: Value) -> Value {
    let mut event = json!({
        "conversation_id": "u1", "generation_id": "g", "hook_event_name": name, "cursor_version": "3.12.17",
        "workspace_roots": [folder], "cwd": "",
    });
    event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    event
}

fn shell(folder: &Path, command: &str) -> Value {
    special(folder, "beforeShellExecution", json!({"command": command, "cwd": folder, "sandbox": false}))
}

/// Event of a command for all tools, or its outcome.
fn general(folder: &Path, is_after: bool, id: &str, command: &str) -> Value {
    let mut event =
        if is_after { hook_events::after("cursor", command) } else { hook_events::before("cursor", command) };
    (event["tool_use_id"], event["cwd"]) = (json!(id), json!(folder));
    event["tool_input"]["working_directory"] = json!(folder);
    event
}

fn is_ok(folder: &Path, event: &Value) -> bool {
    is_allowed(&hook(folder, "cursor", event))
}

#[test]
fn a_call_with_two_events_is_judged_twice_and_counted_once() {
    let folder = governed("cursor");
    let path = folder.path();
    for id in ["t1", "t2"] {
        assert!(is_ok(path, &general(path, false, id, "git status")));
        assert!(is_ok(path, &shell(path, "git status")));
        assert_eq!(hook(path, "cursor", &general(path, true, id, "git status")).code, 0);
    }
    assert_eq!(kinds(path), ["decision", "intent", "outcome"].repeat(2), "{:?}", entries(path));
    assert_eq!(verify(path).code, 0);
}

#[test]
fn an_event_about_one_tool_is_judged_by_itself_too() {
    let folder = governed("cursor");
    let path = folder.path();
    // The command line sends no other event.
    assert!(is_ok(path, &shell(path, "git status")));
    assert!(is_ok(path, &special(path, "beforeShellExecution", json!({"command": "git log"}))), "without a folder");
    assert!(!is_ok(path, &shell(path, "rm -rf /")));
    assert!(is_ok(path, &general(path, false, "t1", "git show")));
    // Another hook has changed the command, or the folder, since.
    assert!(!is_ok(path, &shell(path, "git show; rm -rf /")));
    assert!(!is_ok(path, &special(path, "beforeShellExecution", json!({"command": "git show", "cwd": "/"}))));
    // Another session has not decided on it.
    let mut other = shell(path, "git show");
    other["conversation_id"] = json!("u2");
    assert!(is_ok(path, &other));
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 4, "{:?}", entries(path));
}

#[test]
fn files_that_are_read_and_tools_of_servers_are_judged() {
    let folder = governed("cursor");
    let path = folder.path();
    let rule = format!("where = {{ \"/file_path\" = {{ under = '{}' }} }}", path.join("src").display());
    allow(path, &tool_of("cursor", "Read"), "cursor", "READ", &rule);
    let read = |file: &Path| special(path, "beforeReadFile", json!({"file_path": file, "content": "secret"}));
    let file = path.join("src/lib.rs");
    let mut event = general(path, false, "t1", "");
    (event["tool_name"], event["tool_input"]) = (json!("Read"), json!({"file_path": file}));
    assert!(is_ok(path, &event));
    assert!(is_ok(path, &read(&file)));
    assert!(!is_ok(path, &read(Path::new("/etc/passwd"))));
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 1, "{:?}", entries(path));
    assert!(!std::fs::read_to_string(path.join("audit.jsonl")).unwrap().contains("secret"));
    assert_eq!(hook(path, "cursor", &special(path, "afterShellExecution", json!({"output": "x"}))).code, 0);
}

/// The event for all tools names the tool of an MCP server alone, and the one after it names the server, too.
#[test]
fn tools_of_servers_are_judged_as_those_of_the_server_that_is_named() {
    let folder = governed("cursor");
    let path = folder.path();
    let object = |name: &str| json!({"name": name, "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}});
    let catalogue = json!({"files": [object("read"), object("log")], "git": [object("log"), object("push")]});
    write(path, "catalog.json", catalogue.to_string().as_bytes());
    let mut config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
    config.push_str("[servers.files]\n[servers.git]\n");
    write(path, "gate.toml", config.as_bytes());
    for (server, tool) in [("files", "read"), ("git", "log")] {
        let listed: Tool = serde_json::from_value(object(tool)).unwrap();
        allow(path, &listed, server, "READ", "");
    }
    let send = |event: &Value| hook_with(&["--catalog", "catalog.json"], path, "cursor", &event.to_string());
    let all = |id: &str, tool: &str, is_after: bool| {
        let mut event = general(path, is_after, id, "");
        (event["tool_name"], event["tool_input"]) = (json!(format!("MCP:{tool}")), json!({"path": "a"}));
        event
    };
    let of_server = |server: &str, tool: &str, args: &str| {
        let members = json!({"mcp_server_name": server, "tool_name": tool, "tool_input": args, "command": "server"});
        special(path, "beforeMCPExecution", members)
    };
    assert!(is_allowed(&send(&all("t1", "read", false))));
    assert!(is_allowed(&send(&of_server("files", "read", r#"{ "path": "a" }"#))));
    assert_eq!(send(&all("t1", "read", true)).code, 0);
    assert_eq!(kinds(path), ["decision", "intent", "outcome"], "{:?}", entries(path));
    // A server that the operator does not know has a tool of the same name, or another hook has changed the arguments.
    assert!(is_allowed(&send(&all("t2", "read", false))));
    for event in [of_server("evil", "read", r#"{"path":"a"}"#), of_server("files", "read", r#"{"path":1}"#)] {
        let denied = send(&event);
        assert!(denied.stdout.contains("\"permission\":\"deny\""), "{} {}", denied.stdout, denied.stderr);
    }
    // Which server it is, only the second event says.
    let denied = send(&all("t3", "log", false)).stdout;
    assert!(denied.contains("may be a tool of `files` or of `git`"), "{denied}");
    assert!(is_allowed(&send(&of_server("git", "log", "{}"))));
    assert!(!is_allowed(&send(&of_server("files", "log", "{}"))));
    let denied = send(&all("t4", "delete", false)).stdout;
    assert!(denied.contains("no catalogue lists the tool `MCP:delete`"), "{denied}");
    assert!(!is_allowed(&send(&of_server("git", "push", "{}"))));
    let nameless = special(path, "beforeMCPExecution", json!({"tool_name": "read", "tool_input": "{}"}));
    let denied = send(&nameless);
    assert!(denied.code == 2 && denied.stderr.contains("mcp_server_name"), "{}", denied.stderr);
}

/// Cursor reports what was denied as a failure of the tool: it did not run in spite of the gate.
#[test]
fn a_denied_call_that_is_reported_as_failed_is_no_finding() {
    let folder = governed("cursor");
    let path = folder.path();
    assert!(!is_ok(path, &general(path, false, "t1", "rm x")));
    let mut event = general(path, true, "t1", "rm x");
    (event["hook_event_name"], event["failure_type"]) = (json!("postToolUseFailure"), json!("permission_denied"));
    assert_eq!(hook(path, "cursor", &event).code, 0);
    assert_eq!(verify(path).code, 0);
    event["failure_type"] = json!("error");
    assert_eq!(hook(path, "cursor", &event).code, 2);
}
