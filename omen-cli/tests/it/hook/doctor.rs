//! `omen hook doctor`: good installations, and each kind of broken one.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use omen_hook::Dialect;
use omen_testkit::hook_events;
use serde_json::{Value, json};

use super::install::{confirm, install, on, settings};
use super::{governed, hook};
use crate::{Run, write};

fn doctor(folder: &Path, agent: &str) -> Run {
    on(folder, &["doctor", agent])
}

/// Checks with their status and message.
fn checks(folder: &Path, agent: &str) -> Vec<(String, String, String)> {
    let run = on(folder, &["doctor", agent, "--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    let checks: Vec<_> = report["agents"][0]["checks"].as_array().unwrap().clone();
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let checks: Vec<_> =
        checks.iter().map(|one| (text(one, "status"), text(one, "check"), text(one, "message"))).collect();
    let problems = checks.iter().filter(|check| check.0 == "problem").count();
    assert_eq!((json!(problems), run.code), (report["problems"].clone(), i32::from(problems > 0)), "{}", run.stdout);
    checks
}

fn has(checks: &[(String, String, String)], status: &str, check: &str, message: &str) -> bool {
    checks.iter().any(|one| one.0 == status && one.1 == check && one.2.contains(message))
}

#[test]
fn a_good_installation_decides_as_it_should_and_the_log_stays() {
    for agent in Dialect::agents() {
        let folder = governed(agent);
        assert_eq!(install(folder.path(), agent, &[]).code, 0);
        confirm(folder.path(), agent);
        let found = checks(folder.path(), agent);
        assert_eq!(has(&found, "ok", "trust", "runs the hook"), agent == "codex", "{found:?}");
        assert!(!found.iter().any(|check| check.0 == "problem"), "{agent} {found:?}");
        for (check, message) in [
            ("installed", "(user)"),
            ("version", concat!("is omen ", env!("CARGO_PKG_VERSION"))),
            ("configuration", "gate.toml"),
            ("denied call", "would refuse it: PG-"),
            ("allowed call", "would proceed with it"),
        ] {
            assert!(has(&found, "ok", check, message), "{agent} {check}: {found:?}");
        }
        assert_eq!(has(&found, "ok", "change of settings", "would refuse it"), agent == "claude-code");
        assert!(has(&found, "unknown", "key", "where searches and commands read it; move it"), "{agent} {found:?}");
        assert!(has(&found, "unknown", "called", "configured, but not seen to be called"), "{agent} {found:?}");
        let trust = "runs only trusted hooks";
        assert_eq!(has(&found, "unknown", "called", trust), agent == "codex", "{found:?}");
        assert!(!folder.path().join("audit.jsonl").exists() && !folder.path().join(".omen-gate").exists(), "{agent}");
        let mut event = hook_events::before(agent, "git status");
        event["cwd"] = json!(folder.path());
        hook(folder.path(), agent, &event);
        let log = fs::read(folder.path().join("audit.jsonl")).unwrap();
        let found = checks(folder.path(), agent);
        assert!(has(&found, "ok", "called", "has events"), "{agent} {found:?}");
        assert!(!has(&found, "unknown", "called", ""), "{agent} {found:?}");
        assert_eq!(fs::read(folder.path().join("audit.jsonl")).unwrap(), log, "{agent}");
    }
}

#[test]
fn without_a_hook_there_is_a_problem() {
    let folder = governed("codex");
    let run = doctor(folder.path(), "codex");
    assert!(run.code == 1 && run.stdout.contains("run `omen hook install codex`"), "{}", run.stdout);
    let run = on(folder.path(), &["doctor"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "no hook is installed for any agent\n"));
    // Hooks of others do not count.
    let path = settings(folder.path(), "codex");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"other"}]}]}}"#).unwrap();
    assert!(doctor(folder.path(), "codex").stdout.contains("no hook is installed"));
    fs::write(&path, "{").unwrap();
    let unusable = doctor(folder.path(), "codex");
    assert!(unusable.code == 2 && unusable.stderr.contains("cannot use"), "{}", unusable.stderr);
}

#[test]
fn what_is_wrong_in_settings_is_found() {
    for (agent, from, to, check, message) in [
        ("claude-code", "\"PostToolUse\"", "\"Stop\"", "installed", "no hook for `PostToolUse`"),
        (
            "claude-code",
            "\"onFailure\": \"block\"",
            "\"async\": true",
            "installed",
            "the option to refuse calls if the hook fails is missing",
        ),
        (
            "claude-code",
            "\"onFailure\": \"block\"",
            "\"async\": true",
            "installed",
            "an asynchronous hook decides nothing",
        ),
        (
            "codex",
            "\"PreToolUse\": [\n      {",
            "\"PreToolUse\": [\n      {\"matcher\": \"Bash\",",
            "installed",
            "only for the tools \"Bash\"",
        ),
        ("cursor", "--root", "--rehearse", "command", "keeps decisions out of the log"),
        ("cursor", "--config", "--catalog", "configuration", "no `--config`"),
        ("opencode", "reject(", "resolve(", "installed", "the plug-in differs from the one that this version writes"),
        ("opencode", "const COMMAND", "const OTHER", "installed", "the plug-in was not written by omen"),
    ] {
        let folder = governed(agent);
        assert_eq!(install(folder.path(), agent, &[]).code, 0);
        let path = settings(folder.path(), agent);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{agent} {from} {text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let found = checks(folder.path(), agent);
        assert!(has(&found, "problem", check, message), "{agent} {to}: {found:?}");
    }
}

#[test]
fn what_switches_hooks_off_is_found() {
    for (agent, file, text, message) in [
        ("claude-code", ".claude/settings.local.json", r#"{"disableAllHooks": true}"#, "`disableAllHooks` in"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "`features.hooks` in"),
        ("gemini-cli", "p/.gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#, "`hooksConfig.enabled` in"),
        (
            "gemini-cli",
            "p/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["omen"]}}"#,
            "`hooksConfig.disabled` in",
        ),
        ("copilot-cli", ".copilot/settings.json", r#"{"disableAllHooks": true}"#, "`disableAllHooks` in"),
    ] {
        let folder = governed(agent);
        assert_eq!(install(folder.path(), agent, &[]).code, 0);
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        write(folder.path(), file, text.as_bytes());
        let project = folder.path().join("p");
        let mut args = vec!["doctor", agent];
        if project.exists() {
            args.extend(["--root", project.to_str().unwrap()]);
        }
        let run = on(folder.path(), &args);
        assert_eq!(run.code, 1, "{agent} {}", run.stdout);
        assert!(run.stdout.contains(message) && run.stdout.contains("disables hooks"), "{}", run.stdout);
        write(folder.path(), file, text.replace("true", "false").replace("= false", "= true").as_bytes());
        confirm(folder.path(), agent);
        if agent != "gemini-cli" {
            assert_eq!(on(folder.path(), &args).code, 0, "{agent}");
        }
    }
}

#[test]
fn a_policy_that_cannot_decide_is_found() {
    for (config, message) in [
        ("[servers\n", "gate.toml:1:"),
        ("[servers.other]\n[audit]\nlog = 'a.jsonl'\nkey_file = 'audit.key'\n", "no server `claude-code`"),
    ] {
        let folder = governed("claude-code");
        assert_eq!(install(folder.path(), "claude-code", &[]).code, 0);
        write(folder.path(), "gate.toml", config.as_bytes());
        let found = checks(folder.path(), "claude-code");
        assert!(has(&found, "problem", "configuration", message), "{found:?}");
    }
}

#[test]
fn a_hook_that_its_agent_does_not_run_is_found() {
    let folder = governed("codex");
    assert_eq!(install(folder.path(), "codex", &[]).code, 0);
    let store = folder.path().join(".codex/config.toml");
    let unconfirmed = |events: &str| {
        let found = checks(folder.path(), "codex");
        assert!(has(&found, "problem", "trust", &format!("does not run the hook for {events} because")), "{found:?}");
        assert!(has(&found, "problem", "trust", "confirm the hooks with `/hooks`"), "{found:?}");
    };
    unconfirmed("`PostToolUse`, `PreToolUse`, `SessionEnd`");
    confirm(folder.path(), "codex");
    let confirmed = fs::read_to_string(&store).unwrap();
    assert!(doctor(folder.path(), "codex").code == 0);
    // Another hook before it takes its place.
    fs::write(&store, confirmed.replace(":post_tool_use:0:0", ":post_tool_use:1:0")).unwrap();
    unconfirmed("`PostToolUse`");
    fs::write(&store, confirmed.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1)).unwrap();
    unconfirmed("`PostToolUse`");
    // The installed command is another one than was confirmed.
    fs::write(&store, &confirmed).unwrap();
    let path = settings(folder.path(), "codex");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"timeout\": 600", "\"timeout\": 500")).unwrap();
    unconfirmed("`PostToolUse`, `PreToolUse`");
    fs::write(&store, "[hooks").unwrap();
    let unusable = doctor(folder.path(), "codex");
    assert!(unusable.code == 2 && unusable.stderr.contains("config.toml"), "{}", unusable.stderr);
}

/// Programs in place of omen. Each says that it has the right version.
#[test]
fn a_program_that_does_not_decide_is_found() {
    let version = concat!("omen ", env!("CARGO_PKG_VERSION"));
    let denial = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    for (name, script, check, claude, codex) in [
        (
            "allows",
            "exit 0",
            "denied call",
            "would run a call that is not allowed",
            "would run a call that is not allowed",
        ),
        ("talks", "echo hello", "denied call", "Claude Code would run the call", "Codex CLI would run the call"),
        ("crashes", "exit 1", "denied call", "Claude Code would refuse every call", "Codex CLI would run the call"),
        (
            "is killed",
            "kill -9 $$",
            "denied call",
            "Claude Code would refuse every call",
            "Codex CLI would run the call",
        ),
        (
            "hangs",
            "sleep 5",
            "denied call",
            "exceeded its timeout; Claude Code would refuse",
            "timeout; Codex CLI would run the call",
        ),
        ("denies", &format!("echo '{denial}'"), "denied call", "has recorded no decision", "has recorded no decision"),
        ("denies all", &format!("echo '{denial}'"), "allowed call", "would refuse it: no", "would refuse it: no"),
        (
            "greets",
            &format!("echo hello; echo '{denial}'"),
            "denied call",
            "not a valid answer in the dialect",
            "not a valid answer in the dialect",
        ),
    ] {
        for (agent, message) in [("claude-code", claude), ("codex", codex)] {
            let folder = governed(agent);
            assert_eq!(install(folder.path(), agent, &["--timeout", "1"]).code, 0);
            let program = program(
                folder.path(),
                &format!("[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\ncat > /dev/null\n{script}\n"),
            );
            started_by(folder.path(), agent, &program);
            let found = checks(folder.path(), agent);
            assert!(has(&found, "problem", check, message), "{name} {agent}: {found:?}");
        }
    }
    for (program_text, message) in [(Some("echo omen 0.0.1"), "is not omen"), (None, "does not exist")] {
        let folder = governed("codex");
        assert_eq!(install(folder.path(), "codex", &[]).code, 0);
        let path = program_text.map_or_else(|| folder.path().join("none"), |text| program(folder.path(), text));
        started_by(folder.path(), "codex", &path);
        let found = checks(folder.path(), "codex");
        assert!(has(&found, "problem", "version", message), "{found:?}");
        if program_text.is_none() {
            assert!(
                has(&found, "problem", "denied call", "the program was not started; Codex CLI would run the call"),
                "{found:?}"
            );
        }
    }
}

fn program(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("program");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Has the settings name another program.
fn started_by(folder: &Path, agent: &str, program: &Path) {
    let path = settings(folder, agent);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(env!("CARGO_BIN_EXE_omen"), program.to_str().unwrap())).unwrap();
}
