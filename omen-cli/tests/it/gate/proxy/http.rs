//! `omen gate proxy --listen`: the same server, over HTTP.

use std::io::Read as _;
use std::net::TcpStream;

use super::*;

const TOKEN: &str = "5f5e5d5c5b5a59585756555453525150";

/// A listening proxy, and its messages to the operator.
pub(super) struct Listening {
    proxy: Child,
    said: BufReader<std::process::ChildStderr>,
    /// What was said before it served.
    notes: String,
    /// `127.0.0.1:PORT`
    pub(super) address: String,
}

impl Listening {
    pub(super) fn start(folder: &TempDir, args: &[&str]) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
        command.args(["gate", "proxy", "--config", "gate.toml", "--no-socket", "--listen", "127.0.0.1:0"]).args(args);
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut proxy = command.spawn().expect("omen starts");
        let mut said = BufReader::new(proxy.stderr.take().unwrap());
        let mut notes = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "the proxy does not serve");
            let address =
                line.trim_end().strip_prefix("omen: serving http://").and_then(|rest| rest.strip_suffix("/mcp"));
            if let Some(address) = address {
                break address.to_owned();
            }
            notes.push_str(&line);
        };
        Self { proxy, said, notes, address }
    }

    /// Sends a message, and returns the whole response once the connection is closed.
    fn post(&self, headers: &str, message: &Value) -> String {
        let (body, host) = (message.to_string(), &self.address);
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Returns the header that identifies a new session.
    fn session(&self) -> String {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
        let answer = self.post("", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        format!("mcp-session-id: {}\r\n", id.unwrap_or_else(|| panic!("{answer}")))
    }

    fn call(&self, session: &str, id: u64, path: &str) -> Value {
        let params = json!({"name": "read_file", "arguments": {"path": path}});
        let answer = self.post(session, &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let data = answer.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        serde_json::from_str(data.unwrap_or_else(|| panic!("{answer}"))).unwrap()
    }

    pub(super) fn signal(&self, signal: &str) {
        let pid = self.proxy.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Ends the proxy, and returns the exit code and the standard error; standard output is empty.
    pub(super) fn end(mut self) -> (i32, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        let output = self.proxy.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        (output.status.code().unwrap_or(-1), said)
    }
}

#[test]
fn sessions_over_http_have_servers_of_their_own_and_one_log() {
    let folder = proxied();
    let proxy = Listening::start(&folder, &[]);
    let (one, other) = (proxy.session(), proxy.session());
    for session in [&one, &other] {
        assert_eq!(proxy.call(session, 1, "a")["result"]["content"][0]["text"], "read_file");
    }
    // A server that dies ends only its own session.
    assert_eq!(proxy.call(&one, 2, "die")["result"]["_meta"]["omen/decision"]["ran"], "unknown");
    until("the session is gone", || {
        proxy.post(&one, &json!({"jsonrpc": "2.0", "id": 3, "method": "ping"})).contains(" 404 ")
    });
    assert_eq!(proxy.call(&other, 2, "b")["result"]["content"][0]["text"], "read_file");
    assert_eq!(noted(&folder, "pids").len(), 2);
    proxy.signal("-TERM");
    let (code, said) = proxy.end();
    assert_eq!(code, 0, "{said}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 4, 4));
    none_is_left(&folder);
}

#[test]
fn rules_per_session_are_noted_where_clients_may_have_none() {
    let folder = proxied();
    let file = folder.path().join("gate.toml");
    let text = fs::read_to_string(&file).unwrap();
    for (rule, is_noted) in [("after = ['read_file']", true), ("max = { calls = 9, within = '1h' }", false)] {
        let entry = "tool = 'write_file'\n";
        fs::write(&file, text.replacen(entry, &format!("{entry}{rule}\n"), 1)).unwrap();
        let proxy = Listening::start(&folder, &[]);
        let note = "omen: note: `allow[1].after[0]` applies to the calls of a session, and all HTTP clients without sessions share one; for them, use `same` or `per = \"all\"`\n";
        assert_eq!(proxy.notes.contains(note), is_noted, "{rule}: {}", proxy.notes);
        // One that serves a session handles signals.
        proxy.session();
        proxy.signal("-TERM");
        assert_eq!(proxy.end().0, 0);
    }
}

#[test]
fn a_proxy_over_http_that_is_terminated_records_what_it_breaks_off() {
    let folder = proxied();
    let proxy = Listening::start(&folder, &[]);
    let session = proxy.session();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| proxy.call(&session, 1, "hang"));
        until("the call runs", || !noted(&folder, "calls").is_empty());
        proxy.signal("-TERM");
        // The client reads the result, if it still reads.
        let _ = call.join();
    });
    assert_eq!(proxy.end().0, 0);
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 1, 1));
    none_is_left(&folder);
}

#[test]
#[cfg(target_os = "linux")]
fn a_proxy_over_http_that_is_killed_leaves_no_server() {
    let folder = proxied();
    let proxy = Listening::start(&folder, &[]);
    let session = proxy.session();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| proxy.call(&session, 1, "hang"));
        until("the call runs", || !noted(&folder, "calls").is_empty());
        proxy.signal("-KILL");
        assert!(call.join().is_err(), "it was answered");
    });
    drop(proxy.end());
    none_is_left(&folder);
    let (verdict, entries) = log(&folder);
    assert!(["sound", "incomplete"].contains(&verdict.as_str()), "{verdict}");
    assert_eq!((count(&entries, "intent"), count(&entries, "outcome")), (1, 0));
}

#[test]
fn a_proxy_does_not_listen_where_others_could_use_it() {
    let folder = proxied();
    let token = folder.path().join("token");
    fs::write(&token, TOKEN).unwrap();
    let refused = |args: &[&str]| {
        let run = gate(&folder, &[&["proxy", "--config", "gate.toml", "--no-socket"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        run.stderr
    };
    let open = ["--listen", "0.0.0.0:0"];
    assert!(refused(&open).contains("is not a loopback address: require a token from clients (--token-file)"));
    // A file that others can read is not accepted as a secret.
    let with_token = [&open[..], &["--token-file", "token"]].concat();
    make_private(&token, 0o644);
    assert!(refused(&with_token).contains("accessible to others (mode 644)"));
    make_private(&token, 0o600);
    assert!(refused(&with_token).contains("use (--allow-host)"));
    fs::write(&token, "short").unwrap();
    assert!(refused(&with_token).contains("invalid token"));
    assert!(refused(&["--listen", "127.0.0.1:0", "--allow-origin", "*"]).contains("invalid origin `*`"));
    assert!(refused(&["--listen", "127.0.0.1:0", "--allow-host", "a/b"]).contains("invalid host `a/b`"));
    assert!(refused(&["--listen", "localhost"]).contains("invalid value 'localhost'"));
    assert!(refused(&["--allow-host", "a"]).contains("--listen"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = gate(&folder, &["proxy", "--config", "gate.toml", "--no-socket", "--listen", &address]);
    assert!(run.code == 3 && run.stderr.contains("cannot listen: "), "{}", run.stderr);
}

fn make_private(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the output of the official client in Python about a proxy with a token.
pub(super) fn python_client(folder: &TempDir, python: &Path, args: [&str; 4]) -> Vec<String> {
    let token = folder.path().join("token");
    fs::write(&token, format!("{TOKEN}\n")).unwrap();
    make_private(&token, 0o600);
    let proxy = Listening::start(folder, &["--token-file", "token"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxy/http_client.py");
    let mut client = std::process::Command::new("python3");
    client.arg(script).args([&format!("http://{}/mcp", proxy.address), TOKEN]).args(args).env("PYTHONPATH", python);
    let output = client.output().expect("python3 starts");
    proxy.signal("-TERM");
    let (code, said) = proxy.end();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains(TOKEN), "{said}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}
