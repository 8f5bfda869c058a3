//! `omen gate proxy`: a client and a server in separate processes. The server is this test binary run again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use super::*;

mod again;
mod conformance;
mod episode;
mod first_session;
mod http;
mod lines;
mod masking;
mod official;
mod remote;
mod second;
mod several;
#[cfg(target_os = "linux")]
mod stdio;
mod typescript;
#[cfg(unix)]
mod waiting;

/// Variable with the folder of the server. Without it, a test is a test.
const SERVER: &str = "OMEN_TEST_PROXIED";

/// A server that records its process and each call in files, if the environment requests it. The shell has moved standard output
/// to descriptor 3, because the test harness writes to it, too.
#[test]
fn a_server_behind_the_proxy() {
    let Ok(notes) = std::env::var(SERVER) else {
        let folder = proxied();
        let mut client = Client::start(&folder, &[]);
        let answer = client.call(1, "read_file", json!({"path": "a"}));
        assert_eq!(answer["result"]["content"][0]["text"], "read_file");
        assert_eq!(client.close().0, 0);
        return;
    };
    let note = |name: &str, what: &str| {
        let mut file = fs::File::options().create(true).append(true).open(Path::new(&notes).join(name)).unwrap();
        file.write_all(format!("{what}\n").as_bytes()).unwrap();
    };
    note("pids", &std::process::id().to_string());
    let mut out = fs::File::options().write(true).open("/dev/fd/3").unwrap();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let params = &request["params"];
        let result = match request["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}}),
            "tools/list" => json!({"tools": tools()}),
            "tools/call" => {
                note("calls", &params["arguments"].to_string());
                match params["arguments"]["path"].as_str() {
                    Some(path) if path.starts_with("hang") => loop {
                        std::thread::sleep(Duration::from_secs(60));
                    },
                    Some("die") => std::process::exit(9),
                    Some("malformed") => json!({"content": 1}),
                    // Like many tools, it repeats its arguments.
                    Some(path) if path.starts_with("echo") || path.starts_with("fail") => {
                        let text = params["arguments"].to_string();
                        json!({"content": [{"type": "text", "text": text}], "isError": path.starts_with("fail")})
                    }
                    _ => json!({"content": [{"type": "text", "text": params["name"]}]}),
                }
            }
            _ => continue,
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).unwrap();
    }
    std::process::exit(0);
}

/// Returns a configuration whose server is this binary, with a log and its key.
fn proxied() -> TempDir {
    let folder = folder(&[]);
    let test = std::env::current_exe().unwrap();
    let args = ["-c", r#"exec "$@" 3>&1 >/dev/null"#, "sh", test.to_str().unwrap()];
    let args = [&args[..], &["gate::proxy::a_server_behind_the_proxy", "--exact", "--nocapture"]].concat();
    let server = format!(
        "[servers.files]\ncommand = '/bin/sh'\nargs = {}\nenv = {{ {SERVER} = '{}' }}\n",
        json!(args),
        folder.path().display()
    );
    let text = config()
        .replace("[servers.files]\n", &server)
        .replace("key_env = 'KEY'", "key_file = 'audit.key'\nsync = false\narguments = 'full'");
    fs::write(folder.path().join("gate.toml"), text).unwrap();
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(&folder)).code, 0);
    folder
}

/// A client, and the proxy that it has started.
struct Client {
    proxy: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start(folder: &TempDir, args: &[&str]) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
        command.args(["gate", "proxy", "--config", "gate.toml", "--no-socket"]).args(args).current_dir(folder);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut std::process::Command) -> Self {
        Self::asking(command, &json!({}))
    }

    /// Starts a client with capabilities.
    fn asking(command: &mut std::process::Command, capabilities: &Value) -> Self {
        let mut proxy =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("omen starts");
        let to = proxy.stdin.take();
        let from = BufReader::new(proxy.stdout.take().unwrap());
        let mut client = Self { proxy, to, from };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        let answer = client.ask(0, "initialize", &params);
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).unwrap() > 0, "the proxy has ended");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn call(&mut self, id: u64, tool: &str, args: Value) -> Value {
        self.ask(id, "tools/call", &json!({"name": tool, "arguments": args}))
    }

    /// Requests a call that hangs, and waits until it runs.
    fn hang(&mut self, folder: &TempDir, id: u64) {
        self.hang_in(folder, id, "read_file", json!({"path": "hang"}));
    }

    fn hang_in(&mut self, folder: &TempDir, id: u64, tool: &str, args: Value) {
        let params = json!({"name": tool, "arguments": args});
        let before = noted(folder, "calls").len();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        until("the call runs", || noted(folder, "calls").len() > before);
    }

    fn signal(&self, signal: &str) {
        let pid = self.proxy.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Ends the session, and returns the exit code and the standard error.
    fn end(self) -> (i32, String) {
        drop(self.from);
        let output = self.proxy.wait_with_output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
    }

    fn close(mut self) -> (i32, String) {
        drop(self.to.take());
        self.end()
    }
}

fn noted(folder: &TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until a condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "this never comes about: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn none_is_left(folder: &TempDir) {
    let runs = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    until("the server has ended", || !noted(folder, "pids").iter().any(runs));
}

/// Returns the verdict on the log, and its entries.
fn log(folder: &TempDir) -> (String, Vec<Value>) {
    let verify = omen(["audit", "verify", "--key-file", "audit.key", "--format", "json", "audit.jsonl"]);
    let verdict: Value =
        serde_json::from_str(run({ verify }.current_dir(folder)).stdout.lines().last().unwrap()).unwrap();
    let lines = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let entries = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (verdict["verdict"].as_str().unwrap().to_owned(), entries)
}

fn count(entries: &[Value], kind: &str) -> usize {
    entries.iter().filter(|entry| entry["kind"] == kind).count()
}

#[test]
fn a_session_is_judged_and_ends_with_the_client() {
    let folder = proxied();
    let mut client = Client::start(&folder, &[]);
    let listed = client.ask(1, "tools/list", &json!({}));
    let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read_file", "write_file", "move_file", "expired"]);
    for (id, tool, code) in
        [(2, "write_file", "G3"), (3, "move_file", "G1"), (4, "not_allowed", "PG-3"), (5, "expired", "G2")]
    {
        let args = match tool {
            "write_file" => json!({"path": "a", "text": "b"}),
            "move_file" => json!({"from": "a", "to": "b"}),
            _ => json!({}),
        };
        let answer = client.call(id, tool, args);
        assert_eq!(answer["result"]["_meta"]["omen/decision"]["code"], code, "{answer}");
    }
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    let left_out = "omen: omitted 3 tools from the list: `changed`, `unpinned`, `not_allowed`; the audit log has the reasons, and so does the list with `--show-blocked`\n";
    assert!(stderr.contains(left_out), "{stderr}");
    assert_eq!((log(&folder).0.as_str(), noted(&folder, "calls").len()), ("sound", 0));
    none_is_left(&folder);
}

#[test]
fn a_refusal_is_an_event_with_its_code_and_its_call() {
    let folder = proxied();
    let refused = |format: &str, selected: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
        command.args(["gate", "proxy", "--no-socket", "--log-format", format]).current_dir(&folder);
        let mut client = Client::spawn(command.env("RUST_LOG", selected));
        assert_eq!(client.call(1, "unlisted", json!({}))["result"]["isError"], true);
        drop(client.to.take());
        let (code, said) = client.end();
        assert_eq!(code, 0, "{said}");
        said
    };
    let said = refused("json", "omen_proxy=debug");
    let events: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let event = events.iter().find(|event| event["fields"]["tool"] == "unlisted").unwrap_or_else(|| panic!("{said}"));
    let turn = &event["fields"]["turn"];
    assert!(event["fields"]["code"].is_string() && turn.as_str().unwrap().ends_with(".1"), "{event}");
    let call = json!([{"name": "call", "server": "files", "tool": "unlisted", "turn": turn}]);
    assert_eq!(event["spans"], call, "{event}");
    let said = refused("text", "");
    assert!(said.contains("omen: refused a call of `unlisted`: ") && !said.contains(".1"), "{said}");
    assert_eq!(refused("text", "off"), "");
}

#[test]
fn the_command_line_names_another_program_for_the_server() {
    let folder = proxied();
    let mut client = Client::start(
        &folder,
        &[
            "--server",
            "files",
            "--",
            "/bin/sh",
            "-c",
            "printf '' > other; exec sed -u -n 's/.*\"id\":\\([0-9]*\\).*/{\"jsonrpc\":\"2.0\",\"id\":\\1,\"result\":{\"serverInfo\":{}}}/p'",
        ],
    );
    assert!(client.ask(1, "ping", &json!({}))["result"].is_object());
    assert!(folder.path().join("other").exists() && noted(&folder, "pids").is_empty());
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_server_that_dies_ends_the_session_with_3() {
    let folder = proxied();
    let mut client = Client::start(&folder, &[]);
    let answer = client.call(1, "read_file", json!({"path": "die"}));
    assert_eq!(answer["result"]["structuredContent"]["ran"], "unknown", "{answer}");
    let (code, stderr) = client.end();
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("the server ended: exit status: 9"), "{stderr}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 1, 1));
}

#[test]
fn a_terminated_proxy_records_what_it_breaks_off() {
    let folder = proxied();
    let mut client = Client::start(&folder, &[]);
    client.hang(&folder, 1);
    client.signal("-TERM");
    let (code, stderr) = client.end();
    assert_eq!(code, 0, "{stderr}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 1, 1));
    let outcome = entries.iter().find(|entry| entry["kind"] == "outcome").unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!("cancelled"), &json!("unknown")));
    none_is_left(&folder);
}

/// However the proxy is killed, the log is as after a crash, and has the intent of each call that the server has received.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_proxy_leaves_a_log_that_has_every_call_and_no_server() {
    let folder = proxied();
    let rounds: u64 = if cfg!(debug_assertions) { 8 } else { 200 };
    for round in 1..=rounds {
        let mut client = Client::start(&folder, &[]);
        // At different points: before, during and after the call.
        if round % 4 == 0 {
            client.hang_in(&folder, 1, "read_file", json!({"path": format!("hang {round}")}));
        } else {
            for id in 1..=round % 4 {
                let params = json!({"name": "read_file", "arguments": {"path": format!("{round} {id}")}});
                client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
            }
            std::thread::sleep(Duration::from_micros(round % 7 * 1_500));
        }
        client.signal("-KILL");
        client.end();
        none_is_left(&folder);
        let (verdict, entries) = log(&folder);
        assert!(["sound", "incomplete"].contains(&verdict.as_str()), "round {round}: {verdict}");
        let intended: Vec<_> = entries
            .iter()
            .filter(|entry| entry["kind"] == "intent")
            .map(|entry| entry["data"]["args"].to_string())
            .collect();
        let called = noted(&folder, "calls");
        for call in &called {
            assert!(intended.contains(call), "round {round}: {call} is not in the log");
        }
        let distinct: BTreeSet<_> = called.iter().collect();
        assert_eq!(distinct.len(), called.len(), "round {round}: a call was repeated");
        assert_eq!(in_doubt(&folder), without_outcome(&entries), "round {round}");
    }
    // The log continues.
    let mut client = Client::start(&folder, &[]);
    assert!(client.call(1, "read_file", json!({"path": "last"}))["result"].get("isError").is_none());
    assert_eq!(client.close().0, 0);
    assert_eq!(log(&folder).0, "sound");
}

/// Returns the numbers of the intents in doubt, as the command reports them.
fn in_doubt(folder: &TempDir) -> BTreeSet<u64> {
    let shown =
        run(omen(["audit", "show", "--key-file", "audit.key", "--in-doubt", "--format", "json", "audit.jsonl"])
            .current_dir(folder));
    let entries = shown.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.map(|entry| entry["sequence"].as_u64().unwrap()).collect()
}

/// Returns the numbers of the intents without an outcome.
fn without_outcome(entries: &[Value]) -> BTreeSet<u64> {
    let call = |entry: &Value| (entry["turn"].to_string(), entry["data"]["call"].to_string());
    let of = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
    let ended: BTreeSet<_> = of("outcome").into_iter().map(call).collect();
    let open = of("intent").into_iter().filter(|intent| !ended.contains(&call(intent)));
    open.map(|intent| intent["sequence"].as_u64().unwrap()).collect()
}

/// A call that may have written something is not repeated until its effect was recorded.
#[test]
#[cfg(target_os = "linux")]
fn a_call_in_doubt_is_refused_until_it_is_settled() {
    let folder = proxied();
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    let given = "tool = 'write_file'\npermissions = ['WRITE']\n\n";
    assert!(text.contains(given));
    let without_question = format!("{}\npre_granted = true\n", given.trim_end());
    fs::write(&path, text.replace(given, &without_question)).unwrap();
    let args = || json!({"path": "hang", "text": "b"});
    let mut client = Client::start(&folder, &[]);
    client.hang_in(&folder, 1, "write_file", args());
    client.signal("-KILL");
    client.end();
    none_is_left(&folder);

    for _ in 0..2 {
        let mut client = Client::start(&folder, &[]);
        let refused = client.call(1, "write_file", args());
        assert_eq!(refused["result"]["_meta"]["omen/decision"]["code"], "PG-6", "{refused}");
        assert_eq!(noted(&folder, "calls").len(), 1, "it was not made again");
        // A different call is unaffected.
        let other = client.call(2, "write_file", json!({"path": "a", "text": "b"}));
        assert!(other["result"].get("isError").is_none(), "{other}");
        fs::write(folder.path().join("calls"), format!("{}\n", args())).unwrap();
        client.signal("-KILL");
        client.end();
    }
    let doubts = in_doubt(&folder);
    let intent = doubts.first().unwrap().to_string();
    assert_eq!(doubts.len(), 1);
    let settled = run(omen(["audit", "settle", "--key-file", "audit.key", "--ran", "no", "audit.jsonl", &intent])
        .current_dir(&folder));
    assert_eq!((settled.code, settled.stderr.as_str()), (0, ""));
    assert_eq!(in_doubt(&folder), BTreeSet::new());
    let mut client = Client::start(&folder, &[]);
    client.hang_in(&folder, 1, "write_file", args());
    client.signal("-TERM");
    assert_eq!(client.end().0, 0);
}

#[test]
fn a_reload_takes_tools_away_while_the_session_runs() {
    let folder = proxied();
    let mut client = Client::start(&folder, &[]);
    assert!(client.call(1, "read_file", json!({"path": "a"}))["result"].get("isError").is_none());
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    let other = text.replace(&format!("pin = '{}'", pin_of("read_file")), &format!("pin = 'v1:{}'", "0".repeat(64)));
    fs::write(&path, other).unwrap();
    client.signal("-HUP");
    assert_eq!(client.next()["method"], "notifications/tools/list_changed");
    let refused = client.call(2, "read_file", json!({"path": "a"}));
    assert_eq!(refused["result"]["_meta"]["omen/decision"]["code"], "PG-3", "{refused}");
    // An invalid configuration changes nothing.
    fs::write(&path, "nonsense").unwrap();
    client.signal("-HUP");
    assert_eq!(client.call(3, "read_file", json!({"path": "a"}))["result"]["isError"], true);
    // A change of the file is enough.
    fs::write(&path, &text).unwrap();
    assert_eq!(client.next()["method"], "notifications/tools/list_changed");
    assert!(client.call(4, "read_file", json!({"path": "a"}))["result"].get("isError").is_none());
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_session_that_cannot_begin_says_why() {
    let folder = proxied();
    let proxy = |args: &[&str]| {
        let run = gate(&folder, &[&["proxy", "--config", "gate.toml", "--no-socket"], args].concat());
        assert_eq!(run.stdout, "");
        (run.code, run.stderr)
    };
    let (code, stderr) = proxy(&["--server", "file"]);
    assert_eq!((code, stderr.as_str()), (2, "omen: the configuration has no server `file`; its servers are `files`\n"));
    let (code, stderr) = proxy(&["--pass", "everything"]);
    assert!(code == 2 && stderr.contains("expected one of `sampling`"), "{code}: {stderr}");
    // The client does not end the session: its input stays open.
    let mut absent = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    absent
        .args(["gate", "proxy", "--config", "gate.toml", "--no-socket", "--", "/no/such/program"])
        .current_dir(&folder);
    let mut absent = absent.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _open = absent.stdin.take();
    let output = absent.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("it could not be started") && stderr.contains("the server ended"), "{stderr}");
    // The log has one writer.
    let _client = Client::start(&folder, &[]);
    let (code, stderr) = proxy(&[]);
    assert!(code == 3 && stderr.contains("in use"), "{code}: {stderr}");
    fs::write(folder.path().join("gate.toml"), "[servers.a]\n[servers.b]\n").unwrap();
    let (code, stderr) = proxy(&[]);
    assert_eq!(
        (code, stderr.as_str()),
        (2, "omen: expected --server NAME, or --all-servers; its servers are `a`, `b`\n")
    );
}
