//! `omen gate proxy --url`, and a `url` in the configuration: a server over HTTP.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::official::{allowing_of, conversation, official, requests};
use super::*;

const SECRET: &str = "5ecre7-5ecre7-5ecre7";

/// A server of this test, and the requests that it received.
struct Remote {
    url: String,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Remote {
    /// Starts a server with a handshake.
    fn start() -> Self {
        Self::answering(handshake)
    }

    fn answering(result: fn(&str, &Value) -> Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                std::thread::spawn(move || answer(stream, result, &noted));
            }
        });
        Self { url, seen }
    }

    fn calls(&self) -> usize {
        self.seen.lock().unwrap().iter().filter(|(_, message)| message["method"] == "tools/call").count()
    }
}

/// Returns the response of a server with a handshake to a message; `null` for a notification.
fn handshake(_: &str, message: &Value) -> Value {
    let params = &message["params"];
    match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"}}),
        Some("tools/list") => json!({"tools": tools()}),
        Some("tools/call") => json!({"content": [{"type": "text", "text": params["name"]}]}),
        _ => Value::Null,
    }
}

/// Returns the response of a server that supports only 2026-07-28: an error to a request without its method in a header.
fn stateless(head: &str, message: &Value) -> Value {
    let method = message["method"].as_str().unwrap_or_default();
    if !head.contains(&format!("mcp-method: {method}\r\n")) || !head.contains("mcp-protocol-version: 2026-07-28\r\n") {
        return json!({"code": -32020, "message": "missing header"});
    }
    match method {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}),
        "tools/list" => json!({"resultType": "complete", "tools": tools(), "ttlMs": 0, "cacheScope": "private"}),
        _ => json!({"code": -32601, "message": "no such method"}),
    }
}

fn answer(stream: TcpStream, result: fn(&str, &Value) -> Value, seen: &Mutex<Vec<(String, Value)>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            head += &std::mem::take(&mut line).to_ascii_lowercase();
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
        if head.is_empty() || reader.read_exact(&mut body).is_err() {
            return;
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = result(&head, &message);
        seen.lock().unwrap().push((head, message.clone()));
        let (status, body) = match result {
            Value::Null => ("202 Accepted", String::new()),
            error if error.get("code").is_some() => {
                ("400 Bad Request", json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string())
            }
            result => ("200 OK", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        if reader.get_mut().write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Turns the configuration into that of an operator who allows everything.
fn allow_all(folder: &TempDir) {
    let path = folder.path().join("gate.toml");
    let text = fs::read_to_string(&path).unwrap();
    let line = |line: &str| match line.strip_prefix('#') {
        Some(entry) if !entry.is_empty() && !entry.starts_with(' ') => format!("{entry}\n"),
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let text = text
        .replace("arguments = \"hash\"", "sync = false\narguments = \"full\"")
        .replace("[[grants]]", "[[grants]]\npre_granted = true");
    fs::write(path, text).unwrap();
}

/// Starts a proxy for a client on its standard streams.
fn start(folder: &TempDir, args: &[&str]) -> Client {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["gate", "proxy", "--config", "gate.toml", "--no-socket"]).args(args).current_dir(folder);
    Client::spawn(command.env("TOKEN", SECRET))
}

#[test]
fn a_server_at_an_address_goes_from_init_to_a_call() {
    let (folder, server) = (folder(&[]), Remote::start());
    let init = [
        "gate",
        "init",
        "--url",
        &server.url,
        "--server",
        "files",
        "--bearer-env",
        "TOKEN",
        "--header-env",
        "X-More=TOKEN",
    ];
    let made = run(omen(init).current_dir(&folder).env("TOKEN", SECRET));
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    let table = format!(
        "[servers.\"files\"]\nurl = \"{}\"\nheaders.\"authorization\" = {{ env = \"TOKEN\", prefix = \"Bearer \" }}\n\
         headers.\"x-more\" = {{ env = \"TOKEN\" }}\n",
        server.url
    );
    assert!(text.contains(&table), "{text}");
    allow_all(&folder);
    assert_eq!(server.calls(), 0);

    let check = ["gate", "check", "--config", "gate.toml"];
    let checked = run(omen(check).current_dir(&folder).env("TOKEN", SECRET));
    assert_eq!(checked.code, 0, "{}", checked.stdout);
    let unset = run(omen(check).current_dir(&folder).env_remove("TOKEN"));
    assert!(
        unset.stdout.contains("the variable `TOKEN` for the header `authorization` is not set"),
        "{}",
        unset.stdout
    );

    let mut client = start(&folder, &[]);
    let answer = client.call(1, "read_file", json!({"path": "a"}));
    assert_eq!(answer["result"]["content"][0]["text"], "read_file", "{answer}");
    let (code, said) = client.close();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("are not encrypted"), "{said}");
    let (verdict, entries) = log(&folder);
    assert_eq!((verdict.as_str(), count(&entries, "intent"), count(&entries, "outcome")), ("sound", 1, 1));
    assert_eq!(server.calls(), 1);
    let seen = server.seen.lock().unwrap();
    assert!(seen.iter().all(|(head, _)| head.contains(&format!("authorization: bearer {SECRET}\r\n"))));
    assert!(seen.iter().all(|(head, _)| head.contains(&format!("x-more: {SECRET}\r\n"))));
    drop(seen);
    // The token is in no file, and was not printed.
    for file in fs::read_dir(folder.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let text = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
        assert!(!text.contains(SECRET), "{:?}", file.path());
    }
    for text in [made.stdout, made.stderr, checked.stdout, said, answer.to_string()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// The server refuses a handshake, and every request without its version: `init` and `catalog` list its tools all the same.
#[test]
fn the_tools_of_a_server_without_a_handshake_are_listed() {
    let (folder, server) = (folder(&[]), Remote::answering(stateless));
    let init = ["gate", "init", "--url", &server.url, "--server", "files"];
    let made = run(omen(init).current_dir(&folder));
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    assert!(text.contains(&format!("url = \"{}\"", server.url)) && text.contains("\"write_file\""), "{text}");
    let catalog = run(omen(["gate", "catalog", "--config", "gate.toml"]).current_dir(&folder));
    assert_eq!((catalog.code, catalog.stderr.as_str()), (0, ""));
    let listed: Value = serde_json::from_str(&catalog.stdout).unwrap();
    assert_eq!(listed["files"].as_array().unwrap().len(), tools().as_array().unwrap().len());
    let seen = server.seen.lock().unwrap();
    let methods: Vec<_> = seen.iter().map(|(_, message)| message["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["server/discover", "tools/list"].repeat(2));
}

#[test]
fn another_address_is_another_server() {
    let (folder, server) = (folder(&[]), Remote::start());
    let init = ["gate", "init", "--url", &server.url, "--server", "files"];
    assert_eq!(run(omen(init).current_dir(&folder)).code, 0);
    let refused = |args: &[&str], why: &str| {
        let all = ["gate", "proxy", "--config", "gate.toml", "--no-socket"].into_iter().chain(args.iter().copied());
        let refused = run(omen(all).current_dir(&folder));
        assert_eq!(refused.code, 2, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{args:?}: {}", refused.stderr);
    };
    refused(&["--url", "http://127.0.0.1:1/mcp"], "a different address is a different server");
    refused(&["--url", "http://example.com/mcp"], "not encrypted");
    refused(&["--url", "https://me:secret@example.com/mcp"], "a user name or a password");
    refused(&["--url", "example.com"], "invalid URL");
    refused(&["--url", &server.url, "--header-env", "X"], "expected HEADER=VARIABLE");
    refused(&["--url", &server.url, "--header-env", "Host=X"], "set by the proxy itself");
    refused(&["--", "cat"], "at an address");
    refused(&["--bearer-env", "X"], "--url");
    refused(&["--url", &server.url, "--", "cat"], "cannot be used with");
    let mut text = fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    text = text.replace(&format!("url = \"{}\"", server.url), "command = \"cat\"");
    fs::write(folder.path().join("gate.toml"), text.replace("key_file = \"audit.key\"", "key_env = \"KEY\"")).unwrap();
    refused(&["--url", &server.url], "starts the server `files` with a `command`");
    let text = fs::read_to_string(folder.path().join("gate.toml")).unwrap().replace("command = \"cat\"\n", "");
    fs::write(folder.path().join("gate.toml"), text).unwrap();
    refused(&["--url", &server.url, "--bearer-env", "KEY"], "holds the key of the audit log");
    assert_eq!(server.calls(), 0);
}

#[test]
fn what_is_missing_is_an_error_at_the_start() {
    let folder = folder(&[]);
    let init = |args: &[&str]| {
        let all = ["gate", "init"].into_iter().chain(args.iter().copied());
        run(omen(all).current_dir(&folder).env_remove("TOKEN"))
    };
    let unset = init(&["--url", "https://localhost:1/mcp", "--server", "x", "--bearer-env", "TOKEN"]);
    assert_eq!(unset.code, 3, "{}", unset.stderr);
    assert!(
        unset.stderr.contains("the variable `TOKEN` for the header `authorization` is not set"),
        "{}",
        unset.stderr
    );
    let away = init(&["--url", "http://127.0.0.1:1/mcp", "--server", "x"]);
    assert_eq!(away.code, 3, "{}", away.stderr);
    assert!(away.stderr.contains("check that its `url`, `http://127.0.0.1:1/mcp`, is correct"), "{}", away.stderr);
    let unnamed = init(&["--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(unnamed.code, 2, "{}", unnamed.stderr);
    let authority = init(&["--url", "https://localhost:1/mcp", "--server", "x", "--tls-ca", "missing.pem"]);
    assert!(authority.stderr.contains("cannot read the certificates"), "{}", authority.stderr);
    assert!(!folder.path().join("gate.toml").exists());
}

/// An official server that listens, and its address.
struct Everything {
    process: Child,
    address: String,
}

impl Everything {
    fn start() -> Option<Self> {
        let command = official("server-everything", &["streamableHttp"])?;
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut process = std::process::Command::new(&command[0]);
        process.args(&command[1..]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        process.env("PORT", address.port().to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = process.spawn().expect("it starts");
        until("it listens", || TcpStream::connect(address).is_ok());
        Some(Self { process, address: address.to_string() })
    }

    /// Sends a message, and returns the id of the session and the response.
    fn post(&self, session: &str, message: &Value) -> (String, String) {
        let (body, host) = (message.to_string(), &self.address);
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let (mut named, mut reader, id) = (String::new(), BufReader::new(stream), &message["id"]);
        loop {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the end, after {message}");
            if let Some(id) = line.trim_end().strip_prefix("mcp-session-id: ") {
                id.clone_into(&mut named);
            }
            // The response to a notification has no body.
            if id.is_null() && line.trim_end().is_empty() {
                return (named, line);
            }
            let Some(said) = line.strip_prefix("data: ") else { continue };
            let is_answer = |said: Value| said["id"] == *id && said.get("method").is_none() && !said["id"].is_null();
            if serde_json::from_str(said).is_ok_and(is_answer) {
                return (named, said.to_owned());
            }
        }
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn everything_over_http_gives_the_same_answers_with_and_without_the_proxy() {
    let Some(server) = Everything::start() else { return };
    let folder = folder(&[]);
    allowing_of(&format!("url = 'http://{}/mcp'\n", server.address), &folder, &[], &[]);
    let (mut session, mut direct) = (String::new(), Vec::new());
    for (id, (method, params)) in requests().iter().enumerate() {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let (named, said) = server.post(&session, &message);
        if *method == "initialize" {
            session = format!("mcp-session-id: {named}\r\nmcp-protocol-version: 2025-11-25\r\n");
            server.post(&session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        direct.push(said);
    }
    let mut through = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    through.args(["gate", "proxy", "--config", "gate.toml", "--no-socket"]).current_dir(&folder);
    let through = conversation(through, &requests());
    for ((request, direct), through) in requests().iter().zip(&direct).zip(&through) {
        assert_eq!(direct, through, "{request:?}");
    }
    assert_eq!(through.len(), direct.len());
    assert_eq!(log(&folder).0, "sound");
}
