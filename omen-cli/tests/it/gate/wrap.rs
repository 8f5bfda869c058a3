//! `omen gate wrap`: inserts the gate into a client's configuration.

use std::io::{BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};

use super::catalog::{ROLE, server};
use super::*;

fn wrap(folder: &TempDir, args: &[&str]) -> Run {
    gate(folder, &[&["wrap", "--omen", "/opt/omen"], args].concat())
}

fn text(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the first arguments of a wrapped server.
fn front(folder: &TempDir, config: &str, name: &str, more: &str) -> String {
    let config = folder.path().canonicalize().unwrap().join(config);
    format!(r#""gate", "proxy", "--config", {}, "--server", "{name}", {more}"--", "#, json!(config))
}

const CLIENT: &str = r#"{
  // The servers of this project.
  "mcpServers": {
    "files" : { "command": "npx", "args": ["-y",  "@modelcontextprotocol/server-filesystem", "./data"] },
    "git": {
      "env": {"TOKEN": "s\u0065cret", "HOME": "/h"}, /* both */
      "command": "uvx",
      "disabled": false,
    },
    "remote": {"type": "http", "url": "https://example.com/mcp"},
    "odd": {"args": []},
  },
  "theme":   "dark", "number": 1.0e5
}
"#;

#[test]
fn only_what_must_change_does() {
    let folder = folder(&[(".mcp.json", CLIENT.as_bytes())]);
    fs::set_permissions(folder.path().join(".mcp.json"), fs::Permissions::from_mode(0o640)).unwrap();
    let args = ["gate", "wrap", "--omen", "/opt/omen", "--config", "gates/{server}/gate.toml", ".mcp.json"];
    let run = super::run(omen(args).current_dir(&folder).env_remove("TOKEN").env("HOME", "/h"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let files_front = front(&folder, "gates/files/gate.toml", "files", "");
    let git_front = front(&folder, "gates/git/gate.toml", "git", r#""--pass-env", "TOKEN", "--pass-env", "HOME", "#);
    let expect = CLIENT
        .replace(r#""command": "npx", "args": ["#, &format!(r#""command": "/opt/omen", "args": [{files_front}"npx", "#))
        .replace(
            "\"command\": \"uvx\",",
            &format!("\"command\": \"/opt/omen\",\n      \"args\": [{git_front}\"uvx\"],"),
        );
    assert_eq!(text(&folder, ".mcp.json"), expect);
    let lines: Vec<_> = run.stdout.lines().collect();
    let at = |server: &str| folder.path().join("gates").join(server).join("gate.toml").display().to_string();
    assert_eq!(
        lines,
        [
            format!("`files` is behind the gate of {}", at("files")),
            format!(
                "  that file does not exist yet: omen gate init --config {} --server files -- npx -y \
                 @modelcontextprotocol/server-filesystem ./data",
                at("files")
            ),
            format!("`git` is behind the gate of {}", at("git")),
            format!(
                "  that file does not exist yet: omen gate init --config {} --server git --pass-env TOKEN --pass-env HOME -- \
                 uvx",
                at("git")
            ),
            "  set `TOKEN` first, as the client does".to_owned(),
            "`remote` is not wrapped: it is reached by HTTP, but the gate can be put only in front of servers that it starts"
                .to_owned(),
            "`odd` is not wrapped: it has no `command`".to_owned(),
            "each of these 2 servers has its own gate and log, whose order rules do not see the calls of the others; `omen gate proxy --all-servers` puts servers behind one gate"
                .to_owned(),
            ".mcp.json was rewritten; `omen gate wrap --undo .mcp.json` restores it".to_owned(),
        ]
    );

    // A second run changes nothing.
    let again = wrap(&folder, &["--config", "gates/{server}/gate.toml", ".mcp.json"]);
    assert_eq!((again.code, text(&folder, ".mcp.json")), (0, expect.clone()));
    assert!(again.stdout.starts_with("`files` is wrapped already\n`git` is wrapped already\n"), "{}", again.stdout);
    assert_eq!(files(&folder).len(), 2);

    // The original is restored byte for byte, with its permissions.
    let would = gate(&folder, &["wrap", "--undo", "--dry-run", ".mcp.json"]);
    assert!(would.code == 0 && would.stdout.contains(" would be restored from "), "{}", would.stdout);
    assert_eq!(text(&folder, ".mcp.json"), expect);
    let undone = gate(&folder, &["wrap", "--undo", ".mcp.json"]);
    assert_eq!((undone.code, undone.stderr.as_str()), (0, ""));
    assert_eq!((text(&folder, ".mcp.json").as_str(), files(&folder)), (CLIENT, vec![".mcp.json".to_owned()]));
    let mode = fs::metadata(folder.path().join(".mcp.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let nothing = gate(&folder, &["wrap", "--undo", ".mcp.json"]);
    assert_eq!(nothing.code, 3);
    assert!(nothing.stderr.contains(".mcp.json was not wrapped: there is no backup beside it"), "{}", nothing.stderr);
}

/// In every layout, an undo restores the file, and wrapping changes only one server in the JSON.
#[test]
fn every_layout_survives() {
    let value: Value = json!({"servers": {"a-b": {"command": "x \" y", "args": ["", "é\u{1f600}", "\\"], "cwd": "/"}, "z": {"url": "u"}}});
    let layouts = [
        value.to_string(),
        serde_json::to_string_pretty(&value).unwrap(),
        serde_json::to_string_pretty(&value).unwrap().replace("  ", "\t").replace('\n', "\r\n") + "\r\n",
        value.to_string().replace(',', " ,\n").replace(':', "\n:"),
        format!("// one\n{value}\n/* two */"),
    ];
    for layout in layouts {
        let folder = folder(&[("mcp.json", layout.as_bytes())]);
        let run = wrap(&folder, &["mcp.json"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{layout}");
        let wrapped = text(&folder, "mcp.json");
        let json: Value =
            serde_json::from_str(wrapped.trim_start_matches("// one\n").trim_end_matches("\n/* two */")).unwrap();
        let mut expect = value.clone();
        expect["servers"]["a-b"]["command"] = json!("/opt/omen");
        let config = folder.path().canonicalize().unwrap().join("gate.toml");
        expect["servers"]["a-b"]["args"] =
            json!(["gate", "proxy", "--config", config, "--server", "a-b", "--", "x \" y", "", "é\u{1f600}", "\\"]);
        assert_eq!(json, expect, "{wrapped}");
        assert_eq!(gate(&folder, &["wrap", "--undo", "mcp.json"]).code, 0);
        assert_eq!(text(&folder, "mcp.json"), layout);
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let folder = folder(&[("mcp.json", CLIENT.as_bytes())]);
    let run = wrap(&folder, &["--server", "files", "--dry-run", "mcp.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines[..2], ["--- a/mcp.json", "+++ b/mcp.json"]);
    assert!(lines[2].starts_with("@@ -1,7 +1,7 @@"), "{}", lines[2]);
    assert_eq!(lines[6].strip_prefix('-'), CLIENT.lines().nth(3));
    assert!(
        lines[7].starts_with(r#"+    "files" : { "command": "/opt/omen", "args": ["gate", "proxy", "#),
        "{}",
        lines[7]
    );
    assert!(lines[11].starts_with("`files` would be behind the gate of "), "{}", lines[11]);
    assert_eq!((text(&folder, "mcp.json").as_str(), files(&folder)), (CLIENT, vec!["mcp.json".to_owned()]));
}

#[test]
fn several_servers_need_several_configurations() {
    let folder = folder(&[("mcp.json", CLIENT.as_bytes())]);
    let run = wrap(&folder, &["mcp.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("omen: 2 servers cannot share one configuration, because "), "{}", run.stderr);
    assert_eq!(text(&folder, "mcp.json"), CLIENT);
    let one = wrap(&folder, &["--server", "git", "mcp.json"]);
    assert_eq!(one.code, 0, "{}", one.stderr);
    assert!(text(&folder, "mcp.json").contains(r#""files" : { "command": "npx""#));
}

/// Changes since the wrapping are not lost.
#[test]
fn a_file_that_was_changed_since_is_not_undone() {
    let folder = folder(&[("mcp.json", CLIENT.as_bytes())]);
    assert_eq!(wrap(&folder, &["--server", "git", "mcp.json"]).code, 0);
    let changed = text(&folder, "mcp.json").replace("dark", "light");
    write(folder.path(), "mcp.json", changed.as_bytes());
    let run = gate(&folder, &["wrap", "--undo", "mcp.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    assert!(run.stderr.contains("mcp.json has changed since it was wrapped; compare it with "), "{}", run.stderr);
    assert_eq!(text(&folder, "mcp.json"), changed);
    // A second server is wrapped, and its undo restores the file before that.
    assert_eq!(wrap(&folder, &["--server", "files", "mcp.json"]).code, 0);
    assert_eq!(gate(&folder, &["wrap", "--undo", "mcp.json"]).code, 0);
    assert_eq!(text(&folder, "mcp.json"), changed);
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    for (client, why) in [
        ("", "expected a JSON object"),
        ("[]", "expected a JSON object"),
        ("{}", "it has neither `mcpServers` nor `servers`"),
        (r#"{"servers": {}, "mcpServers": {}}"#, "it has both `mcpServers` and `servers`"),
        (r#"{"mcpServers": []}"#, "expected an object for `mcpServers`"),
        (r#"{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {}}"#, "the key `mcpServers` is repeated"),
        (r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#, "the key `a` is repeated"),
        (r#"{"mcpServers": {"a": {"command": 'x'}}}"#, "cannot wrap the servers of mcp.json: "),
        (r#"{"mcpServers": {"a": {"command": "x"}}"#, "cannot wrap the servers of mcp.json: "),
    ] {
        let folder = folder(&[("mcp.json", client.as_bytes())]);
        let run = wrap(&folder, &["mcp.json"]);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{client}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{client}: {}", run.stderr);
        assert_eq!(text(&folder, "mcp.json"), client);
    }
    // A server that cannot be wrapped leaves the others unchanged.
    for (server, why) in [
        (r#"{"command": "x", "command": "y"}"#, "the key `command` is repeated in `a`"),
        (r#"{"command": 1}"#, "its `command` is not a string"),
        (r#"{"command": "x", "args": "y"}"#, "its `args` is not an array"),
        (r#"{"command": "x", "args": [1]}"#, "its `args` are not all strings"),
        (r#"{"command": "x", "env": []}"#, "its `env` is not an object"),
        (r#"{"command": "x", "type": "sse"}"#, "it is reached by HTTP"),
        ("17", "it is not an object"),
    ] {
        let client = format!(r#"{{"mcpServers": {{"a": {server}}}}}"#);
        let folder = folder(&[("mcp.json", client.as_bytes())]);
        let run = wrap(&folder, &["mcp.json"]);
        assert_eq!(run.code, 0, "{server}: {}", run.stderr);
        assert!(run.stdout.starts_with(&format!("`a` is not wrapped: {why}")), "{server}: {}", run.stdout);
        assert_eq!((text(&folder, "mcp.json"), files(&folder).len()), (client, 1));
    }
    let folder = folder(&[("mcp.json", CLIENT.as_bytes())]);
    let missing = wrap(&folder, &["--server", "nobody", "mcp.json"]);
    assert!(missing.code == 3 && missing.stderr.contains("it has no server `nobody`"), "{}", missing.stderr);
    let none = wrap(&folder, &["none.json"]);
    assert!(none.code == 3 && none.stderr.starts_with("omen: cannot read none.json: "), "{}", none.stderr);
}

/// Returns the command of a client's server, which is started in the folder of its project.
fn client_command(more: &[&str]) -> Vec<String> {
    ["/bin/sh".to_owned()].into_iter().chain(server()).chain(more.iter().map(|word| (*word).to_owned())).collect()
}

fn client(command: &[String]) -> Value {
    json!({"mcpServers": {"files": {"command": command[0], "args": command[1..], "env": {ROLE: "good"}}}})
}

/// Starts the client's command, and runs a session without tools: nothing is allowed yet.
fn has_a_session(folder: &TempDir) {
    let wrapped: Value = serde_json::from_str(&text(folder, "mcp.json")).unwrap();
    let server = &wrapped["mcpServers"]["files"];
    let program = PathBuf::from(server["command"].as_str().unwrap());
    let args = server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut child = Command::new(program)
        .args(args)
        .env(ROLE, server["env"][ROLE].as_str().unwrap())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let hello =
        answer(&mut stdin, &mut stdout, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    assert_eq!(hello["result"]["serverInfo"]["name"], "test", "{hello}");
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    let list = answer(&mut stdin, &mut stdout, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(list["result"]["tools"], json!([]), "{list}");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Two commands lead from a client's configuration to a session through the gate: `wrap` prints the second one, which can be run
/// unchanged from any folder.
#[test]
fn the_command_that_is_printed_makes_the_configuration() {
    let client = client(&client_command(&["./data", "it's"]));
    let folder = folder(&[("mcp.json", client.to_string().as_bytes())]);
    fs::create_dir(folder.path().join("data")).unwrap();
    let wrapped = gate(&folder, &["wrap", "--config", "gates/{server}/gate.toml", "mcp.json"]);
    assert_eq!((wrapped.code, wrapped.stderr.as_str()), (0, ""));
    let printed =
        wrapped.stdout.lines().find_map(|line| line.strip_prefix("  that file does not exist yet: omen ")).unwrap();
    assert!(wrapped.stdout.contains(&format!("\n  set `{ROLE}` first, as the client does\n")), "{}", wrapped.stdout);
    let command = format!("{} {printed}", env!("CARGO_BIN_EXE_omen"));
    let made = run(assert_cmd::Command::new("/bin/sh").args(["-c", &command]).current_dir("/").env(ROLE, "good"));
    assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{printed}");
    // The server keeps its folder, although it is started elsewhere.
    let data = folder.path().canonicalize().unwrap().join("data");
    let config = text(&folder, "gates/files/gate.toml");
    assert!(config.contains(&format!("\"{}\", \"it's\"]\n", data.display())), "{config}");
    assert!(config.contains(&format!("under = [\"{}\"]", data.display())), "{config}");
    has_a_session(&folder);
}

/// A configuration that has the server determines its command, because its pins belong to that one.
#[test]
fn the_server_of_an_existing_configuration_is_used() {
    let command = client_command(&[]);
    let words: Vec<_> = command.iter().map(String::as_str).collect();
    // Under the client's name, or under another one with the same command.
    for name in ["files", "other"] {
        let folder = folder(&[("mcp.json", client(&command).to_string().as_bytes())]);
        let init = [&["gate", "init", "--server", name, "--pass-env", ROLE, "--"], &words[..]].concat();
        assert_eq!(run(omen(init).current_dir(&folder).env(ROLE, "good")).code, 0);
        let wrapped = gate(&folder, &["wrap", "mcp.json"]);
        assert_eq!((wrapped.code, wrapped.stderr.as_str()), (0, ""));
        let note = format!("\n  which reaches it as its server `{name}` says; the client's own command is dropped\n");
        assert!(wrapped.stdout.contains(&note), "{}", wrapped.stdout);
        let now: Value = serde_json::from_str(&text(&folder, "mcp.json")).unwrap();
        let config = folder.path().canonicalize().unwrap().join("gate.toml");
        let expect = json!(["gate", "proxy", "--config", config, "--server", name, "--pass-env", ROLE]);
        assert_eq!(now["mcpServers"]["files"]["args"], expect);
        has_a_session(&folder);
        assert_eq!(gate(&folder, &["wrap", "--undo", "mcp.json"]).code, 0);
        assert_eq!(text(&folder, "mcp.json"), client(&command).to_string());
    }
    // A server over HTTP inherits nothing, and one without a command is started like the client does.
    for (table, args) in [
        ("url = 'https://example.com/mcp'\n", json!(["--server", "files"])),
        ("", json!(["--server", "files", "--pass-env", "A", "--", "x"])),
    ] {
        let client = json!({"mcpServers": {"files": {"env": {"A": "1"}, "command": "x"}}});
        let folder = folder(&[("mcp.json", client.to_string().as_bytes())]);
        write(folder.path(), "gate.toml", format!("[servers.files]\n{table}").as_bytes());
        assert_eq!(gate(&folder, &["wrap", "mcp.json"]).code, 0);
        let now: Value = serde_json::from_str(&text(&folder, "mcp.json")).unwrap();
        assert_eq!(now["mcpServers"]["files"]["args"].as_array().unwrap()[4..], *args.as_array().unwrap());
    }
}

#[test]
fn a_configuration_that_does_not_fit_is_not_put_in_front() {
    let client = client(&client_command(&[])).to_string();
    for (config, why) in [
        (
            "[servers.one]\n[servers.two]\n",
            "has no server `files` (it has `one`, `two`); use the same name here and there",
        ),
        ("", "has no server `files` (it has none); use"),
        ("nonsense = 1\n", "has errors, which `omen gate check --config "),
    ] {
        let folder = folder(&[("mcp.json", client.as_bytes()), ("gate.toml", config.as_bytes())]);
        let run = gate(&folder, &["wrap", "mcp.json"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.starts_with("`files` is not wrapped: its configuration `"), "{}", run.stdout);
        assert!(run.stdout.contains(why), "{}", run.stdout);
        assert_eq!(text(&folder, "mcp.json"), client);
    }
}

fn answer(stdin: &mut ChildStdin, stdout: &mut impl std::io::BufRead, request: &Value) -> Value {
    writeln!(stdin, "{request}").unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}
