//! `omen hook install`: settings of all kinds get the hook, and get back every byte of theirs.

use std::fs;
use std::path::{Path, PathBuf};

use omen_hook::{Dialect, EventRole};
use omen_testkit::proofs::Proofs;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::governed;
use crate::{Run, omen, run, write};

/// Runs a command on the settings below a folder.
pub(super) fn on(folder: &Path, args: &[&str]) -> Run {
    let mut command = omen(["hook"].into_iter().chain(args.iter().copied()));
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CODE_SIMPLE", "OPENCODE_PURE"] {
        command.env_remove(name);
    }
    run(command.env("HOME", folder).env("SHELL", "/bin/sh").current_dir(folder))
}

pub(super) fn install(folder: &Path, agent: &str, more: &[&str]) -> Run {
    on(folder, &[&["install", agent], more].concat())
}

/// Settings of the user for an agent.
pub(super) fn settings(folder: &Path, agent: &str) -> PathBuf {
    let place = &Dialect::from_agent(agent).unwrap().install.places["user"];
    place.path(folder, |name| (name == "HOME").then(|| folder.to_str().unwrap().to_owned())).unwrap()
}

/// Confirms all hooks in the settings of the user, for agents that run no others.
pub(super) fn confirm(folder: &Path, agent: &str) {
    let Some(trust) = Dialect::from_agent(agent).unwrap().install.trust else { return };
    let path = settings(folder, agent);
    let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let store = path.with_file_name("config.toml");
    let mut text = fs::read_to_string(&store).unwrap_or_default();
    for (event, elements) in written["hooks"].as_object().unwrap() {
        for (at, element) in elements.as_array().unwrap().iter().enumerate() {
            for (index, handler) in element["hooks"].as_array().unwrap().iter().enumerate() {
                let (key, hash) = (trust.key(&path, event, (at, index)), trust.hash(event, element, handler));
                text.push_str(&format!("[hooks.state.'{key}']\ntrusted_hash = '{}'\n", hash.unwrap()));
            }
        }
    }
    fs::write(store, text).unwrap();
}

const WITH_SETTINGS: [&str; 5] = ["claude-code", "codex", "copilot-cli", "cursor", "gemini-cli"];

/// One of many settings files: content and layout vary independently.
fn generated(agent: &str, seed: usize) -> String {
    let mut rest = seed;
    let mut choose = |from: usize| {
        let chosen = rest % from;
        rest /= from;
        chosen
    };
    let content = choose(7);
    let layout = ["  ", "    ", "\t", ""][choose(4)];
    let (comments, commas, crlf, bom, end) = (choose(4), choose(2), choose(2), choose(2), choose(2));
    let dialect = Dialect::from_agent(agent).unwrap();
    let event = dialect.governed_events().next().unwrap().0;
    let other = match dialect.hook_elements(&omen_hook::InstalledCommand {
        program: "other",
        args: &[],
        line: "other",
        timeout: 9,
    }) {
        elements if agent == "claude-code" => json!({"matcher": "Bash", "hooks": elements[0].1["hooks"]}),
        elements => elements[0].1.clone(),
    };
    let value = match content {
        0 => json!({}),
        1 => json!({"model": "x", "list": [1, [], {}], "text": "a // \" /* { ] ,"}),
        2 => json!({"a": 1.5, "hooks": {}}),
        3 => json!({"hooks": {"SomeOtherEvent": [other]}, "z": null}),
        4 => json!({"hooks": {event: [other, other]}}),
        5 => json!({"a": {"hooks": {event: [1]}}, "hooks": {event: [], "Stop": [other]}}),
        _ => json!({"version": 1, "hooks": {event: [other], "Stop": []}, "nested": {"b": [[1, 2], [3]]}}),
    };
    let mut text = match layout {
        "" => value.to_string(),
        indent => {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let indented = |line: &str| {
                let depth = (line.len() - line.trim_start().len()) / 2;
                format!("{}{}", indent.repeat(depth), line.trim_start())
            };
            let lines: Vec<_> = pretty.lines().map(indented).collect();
            let mut text = String::new();
            for (number, line) in lines.iter().enumerate() {
                let closes = lines.get(number + 1).is_some_and(|next| next.trim_start().starts_with([']', '}']));
                let comma = if commas == 1 && closes && !line.ends_with(['{', '[']) { "," } else { "" };
                let comment = match comments {
                    1 if closes => " // } ], \"hooks\": {",
                    2 if closes => " /* ] */",
                    3 => " // why",
                    _ => "",
                };
                text.push_str(&format!("{line}{comma}{comment}\n"));
                if comments == 2 && closes {
                    text.push_str("/* two\n   lines */\n");
                }
            }
            text.trim_end_matches('\n').to_owned()
        }
    };
    text.push_str(["", "\n"][end]);
    if crlf == 1 {
        text = text.replace('\n', "\r\n");
    }
    if bom == 1 { format!("\u{feff}{text}") } else { text }
}

/// Sources of settings: those that are generated, and some that are hardly there.
fn sources(agent: &str) -> Vec<String> {
    let count = Proofs::wanted().choose(30, 220);
    let few = ["", "\n", "\u{feff}", "{}", "{ }", "{\n}\n", "{\"hooks\":{}}", "// why\n{} // end\n"].map(str::to_owned);
    // A step that has no factor of the numbers of choices.
    few.into_iter().chain((0..count).map(|number| generated(agent, number * 97))).collect()
}

fn each_source(agent: &str) {
    let folder = governed(agent);
    let (path, folder) = (settings(folder.path(), agent), folder.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for source in sources(agent) {
        fs::write(&path, &source).unwrap();
        let installed = install(folder, agent, &[]);
        assert_eq!((installed.code, installed.stderr.as_str()), (0, ""), "{agent} {source}");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.starts_with('\u{feff}'), source.starts_with('\u{feff}'));
        assert!(!source.contains("\r\n") || !text.replace("\r\n", "").contains('\n'), "{agent} {text:?}");
        let plain = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'));
        if let Ok(before) = plain(&source) {
            let after = plain(&text).unwrap_or_else(|error| panic!("{agent} {error}: {text}"));
            for (name, value) in before.as_object().unwrap().iter().filter(|(name, _)| *name != "hooks") {
                assert_eq!(after[name], *value, "{agent} {text}");
            }
            let dialect = Dialect::from_agent(agent).unwrap();
            for (event, _) in dialect.governed_events() {
                let list = after["hooks"][event].as_array().unwrap_or_else(|| panic!("{agent} {event} {text}"));
                let others = before["hooks"][event].as_array().cloned().unwrap_or_default();
                assert_eq!(list[..others.len()], others[..], "the hooks of others stay, in their order: {text}");
                assert_eq!(list.len(), others.len() + 1, "{text}");
            }
        }
        let again = install(folder, agent, &[]);
        assert_eq!((again.code, fs::read_to_string(&path).unwrap()), (0, text.clone()), "{agent} {source}");
        assert!(again.stdout.starts_with("already installed: "), "{}", again.stdout);
        // Somebody writes elsewhere in the file, before and after the hook.
        if let (Some(brace), Some(end)) = (source.find('{'), source.rfind('}'))
            && source.contains("\"model\"")
        {
            let edited = |text: &str, brace: usize, end: usize| {
                format!("{}{{ \"new\": [7], {} \n{}", &text[..brace], &text[brace + 1..=end], &text[end + 1..])
            };
            let (first, last) = (text.find('{').unwrap(), text.rfind('}').unwrap());
            fs::write(&path, edited(&text, first, last)).unwrap();
            let undone = install(folder, agent, &["--undo"]);
            assert_eq!(undone.code, 0, "{agent} {source}: {}", undone.stderr);
            assert_eq!(fs::read_to_string(&path).unwrap(), edited(&source, brace, end), "{agent}");
            continue;
        }
        let undone = install(folder, agent, &["--undo"]);
        assert_eq!((undone.code, undone.stderr.as_str()), (0, ""), "{agent} {source}");
        assert_eq!(fs::read_to_string(&path).unwrap(), source, "{agent}");
        assert!(!path.with_extension("json.omen-undo").exists());
    }
}

#[test]
fn settings_of_claude_code_get_back_every_byte() {
    each_source("claude-code");
}

#[test]
fn settings_of_codex_get_back_every_byte() {
    each_source("codex");
}

#[test]
fn settings_of_copilot_get_back_every_byte() {
    each_source("copilot-cli");
}

#[test]
fn settings_of_cursor_get_back_every_byte() {
    each_source("cursor");
}

#[test]
fn settings_of_gemini_get_back_every_byte() {
    each_source("gemini-cli");
}

/// A program that writes the file anew moves every byte; the hooks of others that it adds stay.
#[test]
fn the_hook_is_found_in_a_file_that_was_written_anew() {
    for agent in WITH_SETTINGS {
        let folder = governed(agent);
        let path = settings(folder.path(), agent);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for source in [json!({}), json!({"a": 1, "hooks": {"Stop": []}})] {
            fs::write(&path, source.to_string()).unwrap();
            assert_eq!(install(folder.path(), agent, &[]).code, 0);
            let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let dialect = Dialect::from_agent(agent).unwrap();
            let event = dialect.governed_events().find(|(_, role)| *role == EventRole::Before).unwrap().0;
            value["hooks"][event].as_array_mut().unwrap().push(json!({"of": "another"}));
            fs::write(&path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
            let undone = install(folder.path(), agent, &["--undo"]);
            assert_eq!(undone.code, 0, "{agent}: {}", undone.stderr);
            let mut expected = source.clone();
            expected["hooks"][event] = json!([{"of": "another"}]);
            let found: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(found, expected, "{agent}");
        }
    }
}

#[test]
fn a_handler_has_the_form_of_its_agent() {
    for agent in WITH_SETTINGS {
        let folder = governed(agent);
        let installed = install(folder.path(), agent, &["--timeout", "20"]);
        assert_eq!(installed.code, 0, "{agent}: {}", installed.stderr);
        let text = fs::read_to_string(settings(folder.path(), agent)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let words = |handler: &Value| {
            let omen = env!("CARGO_BIN_EXE_omen");
            let config = folder.path().join("gate.toml");
            let args = ["hook", "run", "--agent", agent, "--config", config.to_str().unwrap(), "--root"];
            match handler["args"].as_array() {
                Some(found) => {
                    assert_eq!((&handler["command"], &found[..7]), (&json!(omen), &args.map(Value::from)[..]));
                }
                None => {
                    let line = handler["command"].as_str().or(handler["bash"].as_str()).unwrap();
                    assert!(line.starts_with(&format!("{omen} {} ", args.join(" "))), "{line}");
                }
            }
        };
        let before = &value["hooks"][if agent == "gemini-cli" { "BeforeTool" } else { "PreToolUse" }][0];
        match agent {
            "claude-code" => {
                let handler = &before["hooks"][0];
                words(handler);
                assert_eq!((&handler["onFailure"], &handler["timeout"]), (&json!("block"), &json!(20)));
                let after = &value["hooks"]["PostToolUse"][0]["hooks"][0];
                assert!(after["timeout"] == 20 && after["onFailure"].is_null());
                assert_eq!(value["hooks"]["ConfigChange"][0]["hooks"][0]["onFailure"], "block");
            }
            "codex" => {
                words(&before["hooks"][0]);
                // Codex refuses a file with other members.
                assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["hooks"]);
                assert!(installed.stdout.contains("confirm the hooks with `/hooks`"), "{}", installed.stdout);
            }
            "gemini-cli" => {
                words(&before["hooks"][0]);
                assert_eq!(before["hooks"][0]["timeout"], 20_000);
                assert!(installed.stdout.contains("cannot fail closed"), "{}", installed.stdout);
            }
            "copilot-cli" => {
                words(before);
                assert_eq!((&value["version"], &before["timeoutSec"]), (&json!(1), &json!(20)));
            }
            _ => {
                let before = &value["hooks"]["preToolUse"][0];
                words(before);
                assert_eq!((&value["version"], &before["failClosed"]), (&json!(1), &json!(true)));
            }
        }
        assert!(installed.stdout.contains("a hook that exceeds its timeout: "), "{}", installed.stdout);
    }
}

#[test]
fn a_file_and_folders_that_were_created_are_removed_again() {
    for agent in Dialect::agents() {
        let folder = governed(agent);
        let before = files(folder.path());
        let dry = install(folder.path(), agent, &["--dry-run"]);
        assert!(dry.code == 0 && dry.stdout.starts_with("--- /dev/null\n+++ b/"), "{}", dry.stdout);
        assert_eq!(files(folder.path()), before, "{agent}");
        assert_eq!(install(folder.path(), agent, &[]).code, 0, "{agent}");
        assert_eq!(files(folder.path()).len(), before.len() + 2, "{agent}");
        assert_eq!(install(folder.path(), agent, &["--undo"]).code, 0, "{agent}");
        assert_eq!(files(folder.path()), before, "{agent}");
        assert!(!settings(folder.path(), agent).parent().unwrap().exists(), "{agent}");
        let again = install(folder.path(), agent, &["--undo"]);
        assert!(again.code == 2 && again.stderr.contains("no hook is installed in"), "{}", again.stderr);
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn what_cannot_be_edited_safely_is_refused_with_the_text_to_paste() {
    let long = format!("{}{}", "[".repeat(600), "]".repeat(600));
    for (source, why) in [
        ("{\"a\": 1", "Unterminated object"),
        ("{'a': 1}", "Single-quoted strings are not allowed"),
        ("[]", "expected an object"),
        ("// nothing", "expected a JSON object"),
        ("7", "expected"),
        (&long, "nesting"),
        (r#"{"a": 1, "a": 2}"#, "the key `a` is repeated"),
        (r#"{"hooks": {"Stop": [], "Stop": []}}"#, "the key `Stop` is repeated"),
        (r#"{"hooks": []}"#, "`hooks`: expected an object"),
        (r#"{"hooks": {"PreToolUse": {}}}"#, "`hooks.PreToolUse`: expected an array"),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/old/omen", "args": ["hook", "run", "--agent", "claude-code"]}]}]}}"#,
            "another hook of omen, `/old/omen hook run --agent claude-code`",
        ),
    ] {
        let folder = governed("claude-code");
        let path = settings(folder.path(), "claude-code");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, source).unwrap();
        let refused = install(folder.path(), "claude-code", &[]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{source}");
        assert!(refused.stderr.contains(why), "{source}: {}", refused.stderr);
        assert!(refused.stderr.contains("insert this yourself") && refused.stderr.contains("\"ConfigChange\""));
        assert_eq!(fs::read_to_string(&path).unwrap(), source);
        assert!(!path.with_extension("json.omen-undo").exists());
    }
}

#[test]
fn a_hook_without_a_usable_policy_is_not_installed() {
    for (config, why) in [
        ("[servers\n", "gate.toml:1:"),
        ("[servers.other]\n", "no server `claude-code`"),
        ("[servers.claude-code]\nunknown = 1\n", "unknown"),
    ] {
        let folder = governed("claude-code");
        write(folder.path(), "gate.toml", config.as_bytes());
        let refused = install(folder.path(), "claude-code", &[]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{config}");
        assert!(refused.stderr.contains(why), "{config}: {}", refused.stderr);
        assert!(!settings(folder.path(), "claude-code").exists());
    }
    let folder = governed("claude-code");
    let refused = install(folder.path(), "claude-code", &["--write"]);
    assert!(refused.code == 2 && refused.stderr.contains("`--write` requires `--scope managed`"), "{}", refused.stderr);
    let refused = install(folder.path(), "gemini-cli", &["--scope", "managed"]);
    assert!(refused.code == 2 && refused.stderr.contains("no managed settings"), "{}", refused.stderr);
}

#[test]
fn a_hook_that_was_changed_is_not_taken_out() {
    for agent in Dialect::agents() {
        let folder = governed(agent);
        let path = settings(folder.path(), agent);
        assert_eq!(install(folder.path(), agent, &[]).code, 0);
        let changed = fs::read_to_string(&path).unwrap().replace("--config", "--catalog");
        fs::write(&path, &changed).unwrap();
        let refused = install(folder.path(), agent, &["--undo"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{agent}");
        assert!(refused.stderr.contains("remove the hook by hand"), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&path).unwrap(), changed);
        // Neither is another one put beside it.
        let refused = install(folder.path(), agent, &[]);
        assert_eq!(refused.code, 2, "{agent}: {}", refused.stdout);
        assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    }
}

#[cfg(unix)]
#[test]
fn links_stay_and_may_not_lead_out_of_the_project() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = governed("claude-code");
    let elsewhere = TempDir::new().unwrap();
    write(elsewhere.path(), "settings.json", b"{}");
    symlink(elsewhere.path(), folder.path().join(".claude")).unwrap();
    for scope in ["user", "project"] {
        let refused = install(folder.path(), "claude-code", &["--scope", scope]);
        assert!(refused.code == 2 && refused.stderr.contains("a link leads to"), "{}", refused.stderr);
    }
    assert_eq!(fs::read(elsewhere.path().join("settings.json")).unwrap(), b"{}");
    fs::remove_file(folder.path().join(".claude")).unwrap();
    fs::create_dir_all(folder.path().join(".claude")).unwrap();
    write(folder.path(), "dotfile", b"{}");
    fs::set_permissions(folder.path().join("dotfile"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink(folder.path().join("dotfile"), folder.path().join(".claude/settings.json")).unwrap();
    assert_eq!(install(folder.path(), "claude-code", &[]).code, 0);
    assert!(folder.path().join(".claude/settings.json").is_symlink());
    let dotfile = folder.path().join("dotfile");
    assert_eq!(fs::metadata(&dotfile).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&dotfile).unwrap().contains("PreToolUse"));
    assert_eq!(install(folder.path(), "claude-code", &["--undo"]).code, 0);
    assert_eq!(fs::read(&dotfile).unwrap(), b"{}");
}

#[test]
fn a_word_for_the_shell_stays_one_word() {
    let outer = governed("codex");
    let folder = outer.path().join("it's $HOME; a \"b\"");
    fs::create_dir(&folder).unwrap();
    for name in ["gate.toml", "audit.key"] {
        fs::copy(outer.path().join(name), folder.join(name)).unwrap();
    }
    assert_eq!(install(&folder, "codex", &[]).code, 0);
    let text = fs::read_to_string(settings(&folder, "codex")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let line = value["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let script = format!("for word in {line}; do printf '%s\\n' \"$word\"; done");
    let shown = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let words = String::from_utf8(shown.stdout).unwrap();
    assert!(words.lines().any(|word| Path::new(word) == folder.join("gate.toml")), "{words}");
    assert_eq!(words.lines().count(), 9, "{words}");
}

#[test]
fn managed_settings_are_printed() {
    for (agent, mark) in
        [("claude-code", "\"allowManagedHooksOnly\": true"), ("codex", "allow_managed_hooks_only = true\n")]
    {
        let folder = governed(agent);
        let printed = install(folder.path(), agent, &["--scope", "managed"]);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        assert!(printed.stdout.contains(mark) && printed.stderr.contains("`--write` writes it"), "{}", printed.stdout);
    }
}
