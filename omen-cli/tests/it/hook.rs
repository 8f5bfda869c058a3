//! `omen hook`: decisions before a tool, outcomes after it, and what ran in spite of the gate.

#[cfg(unix)]
mod agents;
mod cursor;
mod doctor;
#[cfg(unix)]
mod episodes;
mod fake_agent;
#[cfg(unix)]
mod http;
mod install;
#[cfg(unix)]
mod killed;
mod order;
mod plugin;
mod protected;
#[cfg(unix)]
mod resident;
#[cfg(unix)]
mod waiting;

use std::path::Path;

use omen_gate::catalog::pin;
use omen_gate::tool::Tool;
use omen_hook::Dialect;
use omen_testkit::hook_events;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{GOOD, Run, folder, log, omen, run, write};

/// Folder with the configuration of a gate for an agent. Shell commands are limited to `git` and `ls`, patches to `src`.
fn governed(agent: &str) -> TempDir {
    let folder = folder(&[]);
    let mut config = format!("[servers.{agent}]\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n");
    for tool in Dialect::from_agent(agent).unwrap().tools() {
        let rules = match tool.name.as_str() {
            "Bash" | "run_shell_command" | "bash" | "Shell" => {
                r#"{ "/command" = { command = { program = ["git", "ls"] } } }"#
            }
            "apply_patch" => r#"{ "/path" = { under = "./src" } }"#,
            _ => continue,
        };
        let pin = pin(&tool).unwrap();
        config.push_str(&format!(
            "[[allow]]\nserver = '{agent}'\ntool = '{0}'\npermissions = ['EXECUTE']\npin = '{pin}'\nwhere = {rules}\n\
             [[grants]]\nserver = '{agent}'\ntool = '{0}'\npermissions = ['EXECUTE']\npre_granted = true\n",
            tool.name
        ));
    }
    write(folder.path(), "gate.toml", config.as_bytes());
    std::fs::create_dir(folder.path().join("src")).unwrap();
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(folder.path())).code, 0);
    folder
}

/// Runs the hook on an event.
fn hook(folder: &Path, agent: &str, event: &Value) -> Run {
    hook_on(folder, agent, &event.to_string())
}

fn hook_on(folder: &Path, agent: &str, event: &str) -> Run {
    hook_with(&[], folder, agent, event)
}

fn hook_with(args: &[&str], folder: &Path, agent: &str, event: &str) -> Run {
    let mut command = omen(["hook", "run", "--agent", agent].into_iter().chain(args.iter().copied()));
    command.env("COPILOT_CLI_BINARY_VERSION", "1.0.102").current_dir(folder).write_stdin(event.to_owned());
    run(&mut command)
}

/// Whether the answer has no objection.
fn is_allowed(run: &Run) -> bool {
    run.code == 0 && !run.stdout.contains("deny") && run.stderr.is_empty()
}

/// Adds an entry for a tool to the configuration, with its grant.
fn allow(folder: &Path, tool: &Tool, server: &str, permission: &str, more: &str) {
    let mut config = std::fs::read_to_string(folder.join("gate.toml")).unwrap();
    let (name, pin) = (tool.name.as_str(), pin(tool).unwrap());
    config.push_str(&format!(
        "[[allow]]\nserver = '{server}'\ntool = '{name}'\npin = '{pin}'\npermissions = ['{permission}']\n{more}\n\
         [[grants]]\nserver = '{server}'\ntool = '{name}'\npermissions = ['{permission}']\npre_granted = true\n"
    ));
    write(folder, "gate.toml", config.as_bytes());
}

/// Tool of an agent.
fn tool_of(agent: &str, name: &str) -> Tool {
    Dialect::from_agent(agent).unwrap().tools().into_iter().find(|tool| tool.name.as_str() == name).unwrap()
}

/// Event of Claude Code about a command.
fn claude(folder: &Path, event: &str, id: &str, command: &str) -> Value {
    let mut event = json!({
        "session_id": "s1", "transcript_path": "/t", "cwd": folder, "hook_event_name": event, "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
    });
    if event["hook_event_name"] == "PostToolUse" {
        event["tool_response"] = json!({"stdout": ""});
    }
    event
}

/// Entries of the log: kind and data, without those about the log itself and the start of gates.
fn entries(folder: &Path) -> Vec<(String, Value)> {
    let log = std::fs::read_to_string(folder.join("audit.jsonl")).unwrap_or_default();
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries = entries.map(|entry| (entry["kind"].as_str().unwrap().to_owned(), entry["data"].clone()));
    entries.filter(|(kind, _)| ["decision", "intent", "outcome", "bypass", "turn"].contains(&kind.as_str())).collect()
}

fn kinds(folder: &Path) -> Vec<String> {
    entries(folder).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn a_call_is_allowed_and_its_outcome_is_recorded() {
    let folder = governed("claude-code");
    let before = hook(folder.path(), "claude-code", &claude(folder.path(), "PreToolUse", "t1", "git status"));
    assert_eq!((before.code, before.stdout.as_str(), before.stderr.as_str()), (0, "", ""));
    assert_eq!(kinds(folder.path()), ["decision", "intent"]);
    let after = hook(folder.path(), "claude-code", &claude(folder.path(), "PostToolUse", "t1", "git status"));
    assert_eq!((after.code, after.stdout.as_str(), after.stderr.as_str()), (0, "", ""));
    let all = entries(folder.path());
    let (kind, outcome) = all.last().unwrap();
    assert_eq!(kind, "outcome");
    assert_eq!(
        (&outcome["ran"], &outcome["paired_by"], &outcome["class"]),
        (&json!("yes"), &json!("id"), &Value::Null)
    );
    assert_eq!(verify(folder.path()).code, 0);
}

#[test]
fn a_denial_says_why_in_the_dialect_of_the_agent() {
    let folder = governed("claude-code");
    let denied = hook(folder.path(), "claude-code", &claude(folder.path(), "PreToolUse", "t1", "git status; rm -rf /"));
    assert_eq!((denied.code, denied.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&denied.stdout).unwrap();
    let answer = &answer["hookSpecificOutput"];
    assert_eq!((&answer["hookEventName"], &answer["permissionDecision"]), (&json!("PreToolUse"), &json!("deny")));
    let why = answer["permissionDecisionReason"].as_str().unwrap();
    assert!(
        why.contains("PG-3")
            && why.contains("runs a program that is not listed")
            && why.contains("run only `git`, `ls`"),
        "{why}"
    );
    let all = entries(folder.path());
    assert_eq!(all.last().unwrap().1["outcome"], "denied");
    assert!(!kinds(folder.path()).contains(&"intent".to_owned()));
}

/// Verification of the log with its policy.
fn verify(folder: &Path) -> Run {
    run(omen(["audit", "verify", "--policy", "--key-file", "audit.key", "audit.jsonl"]).current_dir(folder))
}

#[test]
fn what_ran_in_spite_of_the_gate_is_an_entry_a_finding_and_an_exit_code() {
    for (name, before, after, finding) in [
        ("denied", Some("rm x"), "rm x", "the call ran although it was denied: `claude-code/Bash`"),
        ("undecided", None, "git status", "the call ran without a decision: `claude-code/Bash`"),
        (
            "changed",
            Some("git status"),
            "git log",
            "the call ran with arguments other than those that were allowed: `claude-code/Bash`",
        ),
    ] {
        let folder = governed("claude-code");
        let path = folder.path();
        if let Some(command) = before {
            hook(path, "claude-code", &claude(path, "PreToolUse", "t1", command));
        }
        let after = hook(path, "claude-code", &claude(path, "PostToolUse", "t1", after));
        assert_eq!((after.code, after.stdout.as_str()), (2, ""), "{name}");
        assert!(after.stderr.contains(finding), "{name}: {}", after.stderr);
        assert_eq!(kinds(path).last().map(String::as_str), Some("bypass"), "{name}");
        let found = verify(path);
        assert_eq!(found.code, 1, "{name}: {}", found.stdout);
        assert!(found.stdout.contains(finding), "{name}: {}", found.stdout);
        // It comes first in a report, before the refused call.
        write(path, "good.jsonl", log(GOOD).as_bytes());
        let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key", "good.jsonl"];
        let report = omen(["report", "-o", "report.html"].into_iter().chain(audit)).current_dir(path).output().unwrap();
        assert!(report.status.success(), "{report:?}");
        let page = std::fs::read_to_string(path.join("report.html")).unwrap();
        assert!(page.contains("No errors, 1 call that ran despite the gate"), "{name}");
        // Without its policy, the log is as sound as any.
        let sound = run(omen(["audit", "verify", "--key-file", "audit.key", "audit.jsonl"]).current_dir(path));
        assert_eq!(sound.code, 0, "{name}");
    }
}

#[test]
fn calls_without_ids_are_paired_by_order_and_content() {
    let folder = governed("gemini-cli");
    let path = folder.path();
    let event = |name: &str, command: &str| {
        let mut event = json!({
            "session_id": "g", "cwd": path, "hook_event_name": name, "tool_name": "run_shell_command",
            "tool_input": {"command": command},
        });
        if name == "AfterTool" {
            event["tool_response"] = json!({"llmContent": "x"});
        }
        event
    };
    for command in ["git status", "ls"] {
        assert_eq!(hook(path, "gemini-cli", &event("BeforeTool", command)).stdout, "");
    }
    // As they end, not as they began.
    for command in ["ls", "git status"] {
        assert_eq!(hook(path, "gemini-cli", &event("AfterTool", command)).code, 0);
    }
    let paired: Vec<_> = entries(path).into_iter().filter(|(kind, _)| kind == "outcome").collect();
    assert_eq!(paired.len(), 2);
    assert!(paired.iter().all(|(_, data)| data["paired_by"] == "order and content"), "{paired:?}");
    let denied = hook(path, "gemini-cli", &event("BeforeTool", "rm x"));
    assert!(denied.stdout.starts_with("{\"decision\":\"deny\""), "{}", denied.stdout);
    let ran = hook(path, "gemini-cli", &event("AfterTool", "rm x"));
    assert!(ran.stderr.contains("although it was denied"), "{}", ran.stderr);
    assert_eq!(verify(path).code, 1);
}

#[test]
fn a_patch_is_allowed_only_with_all_of_its_files() {
    let folder = governed("codex");
    let path = folder.path();
    let patch = |id: &str, files: &[&str]| {
        let files: String = files.iter().map(|file| format!("*** Add File: {file}\n+x\n")).collect();
        json!({
            "session_id": "c", "turn_id": "t", "transcript_path": null, "cwd": path, "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_use_id": id,
            "tool_input": {"command": format!("*** Begin Patch\n{files}*** End Patch")},
        })
    };
    let allowed = hook(path, "codex", &patch("p1", &["src/a.rs", "src/b.rs"]));
    assert_eq!((allowed.code, allowed.stdout.as_str()), (0, ""), "{}", allowed.stderr);
    assert_eq!(kinds(path).iter().filter(|kind| *kind == "intent").count(), 2);
    let denied = hook(path, "codex", &patch("p2", &["src/c.rs", "d.rs"]));
    assert!(denied.stdout.contains("\"permissionDecision\":\"deny\""), "{} {}", denied.stdout, denied.stderr);
    // The file that was let through is not written, either, and the log says so.
    let last: Vec<_> = entries(path).into_iter().filter(|(kind, _)| kind == "outcome").collect();
    assert_eq!(last.last().unwrap().1["ran"], "no", "{last:?}");
}

#[test]
fn a_call_without_an_outcome_does_not_block_the_next_one() {
    let folder = governed("codex");
    let path = folder.path();
    let event = |id: &str| {
        json!({
            "session_id": "c", "turn_id": "t", "transcript_path": null, "cwd": path, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": "git status"},
        })
    };
    for id in ["1", "2", "3"] {
        assert_eq!(hook(path, "codex", &event(id)).stdout, "", "{id}");
    }
    let unknown =
        entries(path).into_iter().filter(|(kind, data)| kind == "outcome" && data["ran"] == "unknown").count();
    assert_eq!(unknown, 2);
    // The outcome of the first comes late, which is not a finding.
    let mut late = event("1");
    late["hook_event_name"] = json!("PostToolUse");
    late["tool_response"] = json!("");
    assert_eq!(hook(path, "codex", &late).code, 0);
    let end = json!({"session_id": "c", "transcript_path": null, "cwd": path, "hook_event_name": "SessionEnd"});
    assert_eq!(hook(path, "codex", &end).code, 0);
    let unknown =
        entries(path).into_iter().filter(|(kind, data)| kind == "outcome" && data["ran"] == "unknown").count();
    assert_eq!(unknown, 3);
    assert_eq!(verify(path).code, 0);
}

#[test]
fn whatever_fails_is_a_denial() {
    for agent in Dialect::agents() {
        let folder = governed(agent);
        let path = folder.path();
        let is_denial = |run: &Run, what: &str| {
            let is_json = run.code == 0 && run.stdout.contains("\"deny\"") && run.stdout.ends_with("}\n");
            let is_exit = run.code == 2 && run.stdout.is_empty() && run.stderr.trim().len() > 10;
            assert!(is_json || is_exit, "{agent} {what}: {} {} {}", run.code, run.stdout, run.stderr);
        };
        for (what, event) in [("empty", ""), ("text", "hello"), ("array", "[]"), ("cut", "{\"a\":"), ("nameless", "{}")]
        {
            is_denial(&hook_on(path, agent, event), what);
        }
        let event = json!({
            "session_id": "s", "conversation_id": "s", "sessionID": "s", "cwd": path, "turn_id": "t", "transcript_path": null,
            "hook_event_name": "NoSuchEvent", "event": "no.such.event",
        });
        is_denial(&hook(path, agent, &event), "unknown event");
        // Neither configuration, nor key, nor a log that can be used.
        let good = |path: &Path| {
            let mut event = hook_events::before(agent, "git status");
            event["cwd"] = json!(path);
            event
        };
        let elsewhere = governed(agent);
        assert!(is_allowed(&hook(elsewhere.path(), agent, &good(elsewhere.path()))), "{agent}");
        let good = good(path).to_string();
        write(path, "audit.jsonl", b"not a log\n");
        is_denial(&hook_on(path, agent, &good), "log");
        std::fs::remove_file(path.join("audit.key")).unwrap();
        is_denial(&hook_on(path, agent, &good), "key");
        write(path, "gate.toml", b"[servers.other]\n");
        is_denial(&hook_on(path, agent, &good), "server");
        write(path, "gate.toml", b"[servers\n");
        is_denial(&hook_on(path, agent, &good), "configuration");
        std::fs::remove_file(path.join("gate.toml")).unwrap();
        is_denial(&hook_on(path, agent, &good), "no configuration");
    }
}

#[test]
fn a_log_that_stays_in_use_is_a_denial_in_time() {
    let folder = governed("claude-code");
    let path = folder.path();
    hook(path, "claude-code", &claude(path, "PreToolUse", "t1", "ls"));
    let log = std::fs::File::open(path.join("audit.jsonl")).unwrap();
    log.lock().unwrap();
    let mut command = omen(["hook", "run", "--agent", "claude-code", "--timeout", "1"]);
    command.current_dir(path).write_stdin(claude(path, "PreToolUse", "t2", "ls").to_string());
    let denied = run(&mut command);
    assert_eq!((denied.code, denied.stdout.as_str()), (2, ""));
    assert!(denied.stderr.contains("no decision within 80 % of 1 s"), "{}", denied.stderr);
}

#[test]
fn calls_outside_the_folder_and_changes_of_settings_are_refused() {
    let folder = governed("claude-code");
    let path = folder.path();
    let elsewhere = tempfile::tempdir().unwrap();
    let denied = hook(path, "claude-code", &claude(elsewhere.path(), "PreToolUse", "t1", "git status"));
    assert!(denied.stdout.contains("the working directory of the call is not below"), "{}", denied.stdout);
    assert_eq!(kinds(path), ["decision"]);
    let denied = hook(path, "claude-code", &claude(path, "PreToolUse", "t2", "ls .claude/settings.json"));
    assert!(denied.stdout.contains("`.claude` names settings of a coding agent"), "{}", denied.stdout);
    let change =
        json!({"session_id": "s1", "cwd": path, "hook_event_name": "ConfigChange", "source": "local_settings"});
    let refused = hook(path, "claude-code", &change);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("cannot change while the gate governs it"), "{}", refused.stderr);
}

#[test]
fn limits_hold_across_processes_and_sessions_share_them() {
    let folder = governed("claude-code");
    let path = folder.path();
    let config = std::fs::read_to_string(path.join("gate.toml")).unwrap();
    let config = config.replacen("tool = 'Bash'\n", "tool = 'Bash'\nmax = '2/day'\n", 1);
    write(path, "gate.toml", config.as_bytes());
    for (number, is_allowed) in [(1, true), (2, true), (3, false)] {
        let mut event = claude(path, "PreToolUse", "t", &format!("git log -n {number}"));
        event["session_id"] = json!(format!("s{number}"));
        assert_eq!(hook(path, "claude-code", &event).stdout.is_empty(), is_allowed, "{number}");
    }
}

/// Where the socket of `omen gate confirm` should be is a file.
#[cfg(unix)]
#[test]
fn a_call_that_nobody_can_confirm_is_denied_with_the_reason() {
    let folder = governed("claude-code");
    let config = std::fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    write(folder.path(), "gate.toml", config.replace("pre_granted = true\n", "").as_bytes());
    write(folder.path(), ".omen-gate", b"");
    let denied = hook(folder.path(), "claude-code", &claude(folder.path(), "PreToolUse", "a", "git status"));
    assert!(denied.stdout.contains("`omen gate confirm` is unavailable: "), "{}", denied.stdout);
}

#[test]
fn tools_are_printed_with_their_pins() {
    let listed = run(&mut omen(["hook", "tools", "codex"]));
    let catalogue: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(catalogue["codex"].as_array().unwrap().len(), 3);
    let pins = run(&mut omen(["hook", "tools", "codex", "--pins"]));
    assert!(
        pins.stdout.contains("[servers.codex]") && pins.stdout.contains("tool = \"apply_patch\""),
        "{}",
        pins.stdout
    );
    let bad = run(&mut omen(["hook", "run", "--agent", "nobody"]));
    assert_eq!((bad.code, bad.stdout.as_str()), (2, ""));
}
