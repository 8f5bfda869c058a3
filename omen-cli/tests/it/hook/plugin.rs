//! The plug-in for OpenCode, in the engine that runs it: a tool runs only after an answer that allows it.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use omen_testkit::Need;

use super::install::{install, settings};
use super::{entries, governed, kinds};

/// Calls the plug-in as OpenCode does, and prints what became of the call.
const CALLER: &str = r#"
const { OmenGate } = await import(process.argv[2]);
const hooks = await OmenGate({ directory: process.argv[3] });
const call = { tool: "bash", sessionID: "s", callID: "c" };
const args = { command: process.argv[4] };
try {
  await hooks["tool.execute.before"](call, { args });
  await hooks["tool.execute.after"]({ ...call, args }, { title: "t", output: "o", metadata: { exit: 1 } });
  console.log("ran");
} catch (error) {
  console.log(error.message);
}
"#;

/// What becomes of a command, with the line of a constant in the plug-in replaced.
fn call(folder: &Path, command: &str, constants: &[(&str, &str)]) -> String {
    let mut source = fs::read_to_string(settings(folder, "opencode")).unwrap();
    for (name, value) in constants {
        let line = source.lines().find(|line| line.starts_with(&format!("const {name} = "))).unwrap().to_owned();
        source = source.replace(&line, &format!("const {name} = {value};"));
    }
    // Without a package around it, only this ending makes it a module for every version.
    let plugin = folder.join("omen.mjs");
    fs::write(&plugin, source).unwrap();
    fs::write(folder.join("caller.mjs"), CALLER).unwrap();
    let mut node = Command::new("node");
    let output = node.arg(folder.join("caller.mjs")).arg(&plugin).arg(folder).arg(command).output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_tool_runs_only_after_an_answer_that_allows_it() {
    if Command::new("node").arg("--version").output().is_err() {
        return Need::Node.skip("node is not installed");
    }
    let folder = governed("opencode");
    let folder = folder.path();
    assert_eq!(install(folder, "opencode", &[]).code, 0);
    assert_eq!(call(folder, "git status", &[]), "ran");
    assert_eq!(kinds(folder), ["decision", "intent", "outcome"]);
    // The command has failed.
    assert_eq!(entries(folder)[2].1["class"], "tool");
    let denied = call(folder, "rm x", &[]);
    assert!(denied.starts_with("omen: PG-3: ") && denied.contains("help: run only `git`, `ls`"), "{denied}");
    for (script, why) in [
        ("sleep 20", "omen: no decision within 1 s"),
        ("exit 1", "omen: the gate failed (1)"),
        ("echo why >&2; exit 2", "omen: why"),
        ("kill -9 $$", "omen: the gate failed (SIGKILL)"),
        ("true", "omen: the gate's reply is invalid"),
        ("echo hello", "omen: the gate's reply is invalid"),
        ("echo; echo '{\"decision\":\"allow\"}'", "omen: the gate refuses the call"),
        ("echo '{\"decision\":\"deny\"}'", "omen: the gate refuses the call"),
        ("echo '{\"decision\":\"allow\"}'; exit 3", "omen: the gate failed (3)"),
        ("exec 0<&-; head -c 3000000 /dev/zero", "omen: the gate's reply is too long"),
    ] {
        let command = serde_json::json!(["/bin/sh", "-c", script]).to_string();
        assert_eq!(call(folder, "git status", &[("COMMAND", &command), ("TIMEOUT_SECONDS", "1")]), why, "{script}");
    }
    let missing = call(folder, "git status", &[("COMMAND", "[\"/no/such/omen\"]")]);
    assert!(missing.starts_with("omen: the gate cannot be started: "), "{missing}");
}
