//! Official servers of the protocol, from npm, and its Python client, through the proxy. `.ci/install mcp-servers python-client`
//! installs them.

use super::*;

/// Returns the command of an official server, where they are installed.
pub(super) fn official(name: &str, args: &[&str]) -> Option<Vec<String>> {
    let script = Need::McpServers.path()?.join(format!("node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    assert!(script.is_file(), "there is no {}", script.display());
    let words = ["node", script.to_str().unwrap()].into_iter().chain(args.iter().copied());
    Some(words.map(str::to_owned).collect())
}

/// Writes a configuration that allows the tools of the server: each needs `READ`, except those that are named.
pub(super) fn allowing(command: &[String], folder: &TempDir, write: &[&str], without: &[&str]) {
    allowing_of(&format!("command = {}\nargs = {}\n", json!(command[0]), json!(command[1..])), folder, write, without);
}

/// Writes the same for a server that is started, or reached, according to a table of the configuration.
pub(super) fn allowing_of(table: &str, folder: &TempDir, write: &[&str], without: &[&str]) {
    let server = format!("[servers.files]\n{table}");
    let text = format!("[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\nsync = false\n{server}");
    fs::write(folder.path().join("gate.toml"), &text).unwrap();
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(folder)).code, 0);
    let listed = gate(folder, &["catalog", "--config", "gate.toml"]);
    let listed: std::collections::BTreeMap<String, Vec<omen_gate::tool::Tool>> =
        serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{}", listed.stderr));
    let mut text = text;
    for tool in listed.values().flatten().filter(|tool| !without.contains(&tool.name.as_str())) {
        let (name, pin) = (tool.name.as_str(), pin(tool).unwrap());
        let permission = if write.contains(&name) { "WRITE" } else { "READ" };
        let tool = format!("server = 'files'\ntool = '{name}'\npermissions = ['{permission}']\n");
        text += &format!("[[allow]]\n{tool}pin = '{pin}'\n[[grants]]\n{tool}");
    }
    fs::write(folder.path().join("gate.toml"), text).unwrap();
}

/// Returns a server's responses to requests, one after the other, unchanged except for the order of members.
pub(super) fn conversation(mut command: std::process::Command, requests: &[(&str, Value)]) -> Vec<String> {
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut to = process.stdin.take().unwrap();
    let mut from = BufReader::new(process.stdout.take().unwrap());
    let mut answers = Vec::new();
    for (id, (method, params)) in requests.iter().enumerate() {
        writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        loop {
            let mut line = String::new();
            assert!(from.read_line(&mut line).unwrap() > 0, "the end, after `{method}`");
            let message: Value = serde_json::from_str(&line).unwrap();
            // Unsolicited messages are not responses.
            if message["id"] == id && message.get("method").is_none() {
                answers.push(line);
                break;
            }
        }
        if *method == "initialize" {
            writeln!(to, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        }
    }
    drop(to);
    process.wait().unwrap();
    answers
}

/// Returns requests whose responses do not depend on their time.
pub(super) fn requests() -> Vec<(&'static str, Value)> {
    let call = |name: &str, args: Value| ("tools/call", json!({"name": name, "arguments": args}));
    vec![
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ),
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        call("echo", json!({"message": "\u{e9}\u{202e}"})),
        call("get-sum", json!({"a": 1.5, "b": 2})),
        call("get-structured-content", json!({"location": "Chicago"})),
        call("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        call("get-tiny-image", json!({})),
        call("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2})),
        ("prompts/get", json!({"name": "simple-prompt"})),
        ("prompts/get", json!({"name": "no-such-prompt"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "completable-prompt"}, "argument": {"name": "department", "value": "E"}}),
        ),
        ("logging/setLevel", json!({"level": "error"})),
        ("no/such/method", json!({"x": [1]})),
    ]
}

#[test]
fn everything_gives_the_same_answers_with_and_without_the_proxy() {
    let Some(command) = official("server-everything", &[]) else { return };
    let folder = folder(&[]);
    allowing(&command, &folder, &[], &[]);
    let requests = requests();
    let mut direct = std::process::Command::new(&command[0]);
    direct.args(&command[1..]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let direct = conversation(direct, &requests);
    let mut through = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    through.args(["gate", "proxy", "--config", "gate.toml", "--no-socket"]).current_dir(&folder);
    let through = conversation(through, &requests);
    for ((request, direct), through) in requests.iter().zip(&direct).zip(&through) {
        assert_eq!(direct, through, "{request:?}");
    }
    assert_eq!(log(&folder).0, "sound");
}

#[test]
fn the_python_client_completes_a_session_with_a_confirmation() {
    let data = folder(&[("note.txt", b"hello")]);
    let data_path = data.path().canonicalize().unwrap();
    let Some(command) = official("server-filesystem", &[data_path.to_str().unwrap()]) else { return };
    let Some(python) = Need::PythonClient.path() else { return };
    let folder = folder(&[]);
    allowing(&command, &folder, &["write_file"], &["move_file"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/client.py");
    let mut client = std::process::Command::new("python3");
    client.arg(script).arg(&data_path).args([env!("CARGO_BIN_EXE_omen"), "gate", "proxy", "--config", "gate.toml"]);
    client.args(["--no-socket", "--elicitation"]).current_dir(&folder).env("PYTHONPATH", python);
    let output = client.output().expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "listed, without move_file",
            "hello",
            "asked about files/write_file",
            "written",
            "refused: G3",
            "refused: PG-3"
        ]
    );
    assert_eq!(fs::read_to_string(data.path().join("new.txt")).unwrap(), "x");
    let (verdict, entries) = log(&folder);
    assert_eq!(verdict, "sound");
    let confirmed = entries.iter().find(|entry| entry["kind"] == "confirmation").unwrap();
    assert_eq!(confirmed["data"]["by"]["via"], "elicitation", "{confirmed}");
}

#[test]
fn the_python_client_is_governed_over_http() {
    let data = folder(&[("note.txt", b"hello")]);
    let data_path = data.path().canonicalize().unwrap();
    let Some(command) = official("server-filesystem", &[data_path.to_str().unwrap()]) else { return };
    let Some(python) = Need::PythonClient.path() else { return };
    let folder = folder(&[]);
    allowing(&command, &folder, &[], &["get_file_info"]);
    let path = format!("path={}/note.txt", data_path.display());
    // The client asks whether a handshake is supported, and makes it.
    for mode in ["auto", "legacy"] {
        let said = http::python_client(&folder, &python, [mode, "read_text_file", &path, "get_file_info"]);
        assert_eq!(said, ["2025-11-25", "listed: True False", "hello", "1", "refused: True PG-3", "not served: True"]);
    }
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 12, 12));
}

#[test]
fn the_python_client_is_governed_over_http_without_a_session() {
    let Some(python) = Need::PythonClient.path() else { return };
    let folder = folder(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/stateless_server.py");
    let command = ["/usr/bin/env".to_owned(), format!("PYTHONPATH={}", python.to_str().unwrap()), "python3".to_owned()];
    let command = [&command[..], &[script.to_str().unwrap().to_owned()]].concat();
    allowing(&command, &folder, &[], &["forget"]);
    for mode in ["auto", "2026-07-28"] {
        let said = http::python_client(&folder, &python, [mode, "greet", "name=you", "forget"]);
        assert_eq!(
            said,
            ["2026-07-28", "listed: True False", "hello, you", "1", "refused: True PG-3", "not served: True"]
        );
    }
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 12, 12));
}
