//! A client whose proxy cannot start: its output, and that for the operator.

use super::*;

/// Starts a proxy as a client does, initializes a session, and keeps the input open.
fn asked(folder: &TempDir, args: &[&str]) -> (Value, i32, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["gate", "proxy", "--config", "gate.toml"]).args(args).current_dir(folder);
    let mut proxy =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("omen starts");
    let mut to = proxy.stdin.take().unwrap();
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params})).unwrap();
    let output = proxy.wait_with_output().unwrap();
    drop(to);
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    (answer, output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

/// Two windows of one client start the same configuration. The second one, and its operator, first read why it has no server,
/// rather than that a socket is in use.
#[test]
fn the_second_client_reads_that_the_log_is_in_use() {
    let folder = proxied();
    let mut first = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    let mut first = Client::spawn(first.args(["gate", "proxy", "--config", "gate.toml"]).current_dir(&folder));
    let (answer, code, stderr) = asked(&folder, &[]);
    let log = folder.path().canonicalize().unwrap().join("audit.jsonl");
    let why = format!(
        "A1: the log `{}` is in use; another proxy runs with this configuration: end the client that started it, give each client a configuration with its own log, or have all of them share one proxy with `--listen`",
        log.display()
    );
    assert_eq!((code, stderr), (3, format!("omen: {why}\n")));
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32_603)));
    assert_eq!(answer["error"]["message"], format!("the gate did not start: {why}"));
    // The first one is unaffected.
    assert!(first.call(1, "read_file", json!({"path": "a"}))["result"].get("isError").is_none());
    assert_eq!(first.close().0, 0);
    assert_eq!(super::log(&folder).0, "sound");
}

/// Whatever prevents a session, its client sees more than a closed connection.
#[test]
fn a_client_reads_what_is_wrong_with_the_configuration() {
    let folder = proxied();
    fs::remove_file(folder.path().join("audit.key")).unwrap();
    let (answer, code, stderr) = asked(&folder, &["--no-socket"]);
    assert_eq!(code, 3);
    assert!(stderr.starts_with("omen: A1: ") && stderr.contains("audit.key"), "{stderr}");
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.starts_with("the gate did not start: A1: ") && said.contains("audit.key"), "{said}");

    write(folder.path(), "gate.toml", b"nonsense = 1\n");
    let (answer, code, stderr) = asked(&folder, &[]);
    assert!(code == 3 && stderr.starts_with("omen: gate.toml:1:1: unknown key `nonsense`"), "{code}: {stderr}");
    let said = "the gate did not start: C1: the configuration `gate.toml` cannot be used; `omen gate check --config gate.toml` \
                lists its errors";
    assert_eq!(answer["error"]["message"], said);
}
