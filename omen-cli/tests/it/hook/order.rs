//! Order rules between calls of an agent, each of which is decided and reported by a process of its own.

use super::*;

#[test]
fn a_call_needs_another_tool_to_have_succeeded_before_it() {
    let folder = governed("claude-code");
    let path = folder.path();
    allow(path, &tool_of("claude-code", "Write"), "claude-code", "WRITE", "");
    let config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
    let config = config.replacen("tool = 'Bash'\n", "tool = 'Bash'\nafter = ['Write']\n", 1);
    write(path, "gate.toml", format!("{config}[order]\nwait = '1s'\n").as_bytes());
    let write_call = |event: &str, id: &str| {
        let mut call = claude(path, event, id, "");
        (call["tool_name"], call["tool_input"]) = (json!("Write"), json!({"file_path": "src/a", "content": id}));
        call["error"] = json!("no space left");
        hook(path, "claude-code", &call)
    };
    let commit = |id: &str| hook(path, "claude-code", &claude(path, "PreToolUse", id, "git commit")).stdout;
    assert!(commit("c1").contains("O-1: `claude-code/Bash` needs `claude-code/Write`"), "{}", commit("c1"));
    // A failure permits nothing, nor does a success that is not reported yet.
    assert!(is_allowed(&write_call("PreToolUse", "w1")));
    assert!(is_allowed(&write_call("PostToolUseFailure", "w1")));
    assert!(commit("c2").contains("O-1: "), "{}", commit("c2"));
    assert!(is_allowed(&write_call("PreToolUse", "w2")));
    assert!(commit("c3").contains("O-1: "), "{}", commit("c3"));
    assert!(is_allowed(&write_call("PostToolUse", "w2")));
    assert_eq!(commit("c4"), "");
    // Another session has made no such call.
    let mut other = claude(path, "PreToolUse", "c5", "git commit");
    other["session_id"] = json!("s2");
    assert!(hook(path, "claude-code", &other).stdout.contains("O-1: "));
}
