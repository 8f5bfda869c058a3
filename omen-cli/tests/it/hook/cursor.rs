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
    // Cursor names no server.
    let server = json!({"tool_name": "log", "tool_input": "{}", "command": "server"});
    assert!(!is_ok(path, &special(path, "beforeMCPExecution", server)));
    assert_eq!(hook(path, "cursor", &special(path, "afterShellExecution", json!({"output": "x"}))).code, 0);
}
