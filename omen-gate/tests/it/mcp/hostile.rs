//! Server that violates everything it can, one thing for each of its tools and roles.

#![allow(clippy::print_stderr, reason = "a server may chatter there")]

use std::fs::File;
use std::io::{self, Write as _};
use std::process::{Command, exit};
use std::thread;
use std::time::Duration;

use omen_gate::mcp::Launch;
use serde_json::{Value, json};

use super::again;

/// Starts the server in a role.
pub(super) fn hostile(role: &str) -> Launch {
    again::again("mcp::hostile::it_behaves_if_it_wants_to", role).limits(super::limits())
}

#[test]
fn it_behaves_if_it_wants_to() {
    if let Some((role, out)) = again::role() {
        let (role, starts) = noted(&role);
        Hostile { role, starts, out, hanging: Vec::new(), cancelled: Vec::new() }.serve();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = super::start(hostile("good")).await;
        let answer = super::call(&server, "echo", json!({"n": 1})).await.unwrap();
        assert_eq!(answer.structured_content, Some(json!({"n": 1})));
    });
}

/// Number of pings of a nagging server. The answers are some 360 KB.
pub(super) const PINGS: u32 = 10_000;

/// Bytes of one write of a flood.
pub(super) const PIECE: usize = 64 << 10;

/// Splits a role such as `good:FILE`, and counts the starts in the file, one byte each.
fn noted(role: &str) -> (String, u64) {
    let Some((role, note)) = role.split_once(':') else { return (role.to_owned(), 1) };
    let mut note = File::options().create(true).append(true).open(note).unwrap();
    note.write_all(b".").unwrap();
    (role.to_owned(), note.metadata().unwrap().len())
}

struct Hostile {
    role: String,
    /// Number of starts, including this one.
    starts: u64,
    out: File,
    hanging: Vec<Value>,
    cancelled: Vec<Value>,
}

impl Hostile {
    /// Answers line by line, and does not return.
    fn serve(mut self) -> ! {
        if self.role == "dead" {
            eprintln!("I am not configured");
            exit(7);
        }
        while let Some(message) = hear() {
            let id = message["id"].clone();
            match message["method"].as_str() {
                Some("initialize") => self.initialize(&id),
                Some("tools/list") => self.list(&id, &message["params"]),
                Some("tools/call") => self.call(&id, &message["params"]),
                Some("notifications/cancelled") => self.cancel(&message["params"]["requestId"]),
                _ => {}
            }
        }
        if self.role == "stubborn" {
            wait();
        }
        exit(0);
    }

    fn say(&mut self, message: &Value) {
        // A client that has disconnected does not read.
        let _ = self.out.write_all(format!("{message}\n").as_bytes());
    }

    fn result(&mut self, id: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Writes a line unchanged except for the request id.
    fn raw(&mut self, line: &str, id: &Value) {
        let _ = self.out.write_all(format!("{}\n", line.replace("$id", &id.to_string())).as_bytes());
    }

    fn changed(&mut self) {
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    }

    fn initialize(&mut self, id: &Value) {
        let version = if self.role == "ancient" { "1999-12-31" } else { "2025-06-18" };
        let welcome = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "hostile", "version": "0"},
        });
        match self.role.as_str() {
            "mute" => {}
            "rude" => self.say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "go away"}})),
            "chatty" => self.say(&json!("Server running on stdio")),
            "vague" => self.result(id, json!({"protocolVersion": version})),
            "huge" => self.flood(&Value::Null),
            "hasty" => {
                self.changed();
                self.result(id, welcome);
                self.changed();
            }
            "nagging" => {
                self.result(id, welcome);
                for n in 0..PINGS {
                    self.say(&json!({"jsonrpc": "2.0", "id": n, "method": "ping"}));
                }
                self.changed();
                wait();
            }
            "doubled-welcome" => self.raw(
                r#"{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"tools":{}},"serverInfo":{"name":"hostile","version":"0"}}}"#,
                id,
            ),
            "deaf" => {
                self.result(id, welcome);
                wait();
            }
            _ => self.result(id, welcome),
        }
    }

    fn list(&mut self, id: &Value, params: &Value) {
        let page: u64 = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}, "x-unknown": [page]});
        match self.role.as_str() {
            "endless" => {
                let tools = [tool(&format!("tool-{page}"))];
                self.result(id, json!({"tools": tools, "nextCursor": (page + 1).to_string()}));
            }
            "paged" if page < 2 => {
                self.result(
                    id,
                    json!({"tools": [tool(&format!("tool-{page}"))], "nextCursor": (page + 1).to_string()}),
                );
            }
            "mortal" => exit(101),
            "open" => {
                let names = ["echo", "error", "garbage", "huge", "die", "hang"];
                let mut tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
                let promised = json!({
                    "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
                });
                let frame = json!({"type": "object", "properties": {"frame": {"type": "string"}}});
                tools.push(json!({"name": "raw", "inputSchema": frame}));
                tools.push(json!({"name": "liar", "inputSchema": {"type": "object"}, "outputSchema": promised}));
                self.result(id, json!({"tools": tools}));
            }
            "fickle" => {
                let tool = json!({"name": "echo", "description": self.starts.to_string(), "inputSchema": {}});
                self.result(id, json!({"tools": [tool]}));
            }
            "doubled-list" => self.raw(
                r#"{"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"},"n\u0061me":"rm"}]}}"#,
                id,
            ),
            "twins" => self.result(id, json!({"tools": [tool("echo"), tool("echo")]})),
            "restless" => {
                self.changed();
                self.result(id, json!({"tools": [tool("echo")]}));
            }
            _ => self.result(id, json!({"tools": [tool("echo")]})),
        }
    }

    #[expect(clippy::zombie_processes, reason = "it leaves its children to others")]
    fn call(&mut self, id: &Value, params: &Value) {
        let args = &params["arguments"];
        let answer = |value: &Value| json!({"content": [], "structuredContent": value});
        match params["name"].as_str().unwrap() {
            "echo" => self.result(id, answer(args)),
            "hang" => self.hanging.push(id.clone()),
            "cancelled" => self.result(id, answer(&json!({"cancelled": self.cancelled, "hanging": self.hanging}))),
            "late" => {
                for id in std::mem::take(&mut self.cancelled) {
                    self.result(&id, answer(args));
                }
                self.result(id, answer(args));
            }
            "error" => self.say(&json!({
                "jsonrpc": "2.0", "id": id,
                "error": {"code": 9_000_000_000_u64, "message": format!("no\u{1b}[2J{}", "!".repeat(100_000)), "data": {}},
            })),
            "closing" => self.say(&json!({
                "jsonrpc": "2.0", "id": id,
                "error": {"code": -32603, "message": "m", "data": "io.modelcontextprotocol/transportClosed"},
            })),
            "liar" => self.result(id, answer(&json!({"n": "one"}))),
            "raw" => self.raw(args["frame"].as_str().unwrap(), id),
            "garbage" => self.say(&json!("I have no idea")),
            "torn" => {
                let _ = self.out.write_all(br#"{"jsonrpc":"2.0","id":"#);
                exit(0);
            }
            "half" => self.say(&json!({"jsonrpc": "2.0", "id": id})),
            "hollow" => self.result(id, json!({})),
            "text" => self.result(id, json!({"content": "text"})),
            "stranger" => self.result(&json!(id.as_i64().unwrap() + 1_000), answer(args)),
            "repeater" => {
                self.result(id, answer(args));
                self.result(id, answer(args));
            }
            "nobody" => self.say(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}})),
            "huge" => self.flood(args),
            "die" => exit(101),
            "hangup" => {
                self.result(id, answer(args));
                exit(0);
            }
            "changed" => {
                self.changed();
                self.result(id, answer(args));
            }
            "beg" => {
                for method in ["sampling/createMessage", "roots/list", "elicitation/create", "who/knows", "ping"] {
                    self.say(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": [[]]}));
                }
                let mut codes = serde_json::Map::new();
                for _ in 0..5 {
                    let heard = hear().unwrap();
                    codes.insert(heard["id"].as_str().unwrap().to_owned(), heard["error"]["code"].clone());
                }
                self.result(id, answer(&codes.into()));
            }
            "stderr" => {
                for _ in 0..10_000 {
                    eprintln!("{}", "noise ".repeat(200));
                }
                eprintln!("the end of the noise");
                self.result(id, answer(args));
            }
            "pid" => self.result(id, answer(&json!({"pid": std::process::id()}))),
            "breed" => {
                let child = Command::new("sleep").arg("1000").spawn().unwrap();
                self.result(id, answer(&json!({"pid": child.id()})));
            }
            // It begins a session of its own.
            "flee" => {
                let child = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
                self.result(id, answer(&json!({"pid": child.id()})));
            }
            // Its parent has ended, it has a session of its own and none of our streams, and only SIGKILL ends it.
            "daemon" => {
                let script = "setsid sh -c 'trap \"\" HUP INT TERM; exec sleep 1000' </dev/null >/dev/null 2>&1 & echo $!";
                let out = Command::new("sh").args(["-c", script]).output().unwrap().stdout;
                let pid: u64 = String::from_utf8(out).unwrap().trim().parse().unwrap();
                self.result(id, answer(&json!({ "pid": pid })));
            }
            "deafen" => {
                self.result(id, answer(args));
                wait();
            }
            "env" => {
                let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                self.result(id, answer(&json!({"names": names})));
            }
            _ => self.say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "unknown tool"}})),
        }
    }

    /// Answers a cancelled request late, or holds the answer back until `late` is called.
    fn cancel(&mut self, id: &Value) {
        self.cancelled.push(id.clone());
        if self.role != "patient" {
            self.result(id, json!({"content": []}));
        }
    }

    /// Writes 100 MB on one line, in pieces of 64 KiB, and appends a byte to a file, if one is given, for each piece
    /// that was read.
    fn flood(&mut self, args: &Value) {
        let mut note = args["note"].as_str().map(|note| File::create(note).unwrap());
        for _ in 0..1_600 {
            if self.out.write_all(&[b'x'; PIECE]).is_err() {
                return;
            }
            if let Some(note) = &mut note {
                note.write_all(b".").unwrap();
            }
        }
        self.say(&json!("the end"));
    }
}

/// Reads the next message; `None` at the end of the input.
fn hear() -> Option<Value> {
    let line = io::stdin().lines().next()?;
    Some(serde_json::from_str(&line.unwrap()).unwrap())
}

/// Waits longer than any test, but not forever if a test fails.
fn wait() -> ! {
    thread::sleep(Duration::from_secs(180));
    exit(1)
}
