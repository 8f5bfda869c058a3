//! A session with a client and a server that a test plays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, LogVerdict, Options, verify};
use omen_gate::catalog::pin;
use omen_gate::mcp::ServerLimits;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, SystemClock};
use omen_proxy::{Ended, Proxy, ProxyBuilder, Source, Transport};
use omen_testkit::logs::Logs;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::Instrument as _;

pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A test that hangs fails. Nothing that is tested depends on how long something takes.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(120), future).await.expect("this hangs")
}

/// The tools of the server, by default.
pub(crate) fn tools() -> Vec<Value> {
    let takes = |name: &str| {
        json!({"name": name, "description": format!("Does `{name}`."), "inputSchema": {
            "type": "object", "properties": {"x": {}, "y": {}, "operation": {}}}})
    };
    let mut typed = takes("typed");
    typed["outputSchema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut all: Vec<_> = ["read", "write", "ask", "unlisted", "changed", "ungranted"].map(takes).to_vec();
    all.push(typed);
    all
}

/// A configuration for those tools: `read`, `write` and `typed` may be called, `ask` if somebody confirms it.
pub(crate) fn config(more: &str) -> Config {
    config_recording(more, "full")
}

/// The same, with so much of the arguments in the logs.
pub(crate) fn config_recording(more: &str, arguments: &str) -> Config {
    config_with(more, arguments, |_| "")
}

/// The same, with more keys for some tools.
pub(crate) fn config_with(more: &str, arguments: &str, keys: fn(&str) -> &'static str) -> Config {
    let audit = format!("[audit]\nlog = 'l'\nkey_file = 'k'\narguments = '{arguments}'\n");
    let mut text = format!("{more}\n{audit}[servers.s]\n[servers.other]\n");
    for tool in tools() {
        let tool: Tool = serde_json::from_value(tool).unwrap();
        let name = tool.name.as_str();
        let mut pinned = pin(&tool).unwrap().to_string();
        let (permission, pre_granted) = match name {
            "unlisted" => continue,
            "ask" => ("WRITE", false),
            "write" => ("WRITE", true),
            _ => ("READ", false),
        };
        if name == "changed" {
            pinned = format!("v1:{}", "0".repeat(64));
        }
        text += &format!(
            "[[allow]]\nserver='s'\ntool='{name}'\npermissions=['{permission}']\npin='{pinned}'\n{}\n",
            keys(name)
        );
        if name != "ungranted" {
            let grant = format!("server='s'\ntool='{name}'\npermissions=['{permission}']\npre_granted={pre_granted}\n");
            text += &format!("[[grants]]\n{grant}");
        }
    }
    Config::parse(&text).unwrap()
}

pub(crate) fn proxy() -> ProxyBuilder {
    Proxy::builder(config(""), "session".parse().unwrap())
}

/// One end of a line protocol.
pub(crate) struct End {
    pub(crate) to: Option<WriteHalf<DuplexStream>>,
    pub(crate) from: BufReader<ReadHalf<DuplexStream>>,
}

impl End {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        let (from, to) = split(stream);
        Self { to: Some(to), from: BufReader::new(from) }
    }

    pub(crate) async fn send(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), b"\n"].concat();
        within(self.to.as_mut().unwrap().write_all(&line)).await.unwrap();
    }

    /// Closes this end for writing.
    pub(crate) async fn close(&mut self) {
        if let Some(mut to) = self.to.take() {
            to.shutdown().await.unwrap();
        }
    }

    /// The next line, or none at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = within(self.from.read_line(&mut line)).await.unwrap_or(0);
        (read > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    pub(crate) async fn value(&mut self) -> Value {
        let line = self.line().await.expect("the end");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request, and gives what comes next.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        self.value().await
    }

    pub(crate) async fn call(&mut self, id: u64, tool: &str, args: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": args})).await
    }

    /// The handshake of a client.
    pub(crate) async fn shake_hands(&mut self, capabilities: Value) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.ask(0, "initialize", params).await;
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
}

/// A session that runs.
pub(crate) struct World {
    pub(crate) client: End,
    pub(crate) log: Memory,
    pub(crate) logs: Logs,
    pub(crate) proxy: JoinHandle<Ended>,
    stop: Option<oneshot::Sender<()>>,
}

impl World {
    /// A session with a server that the test plays, too.
    pub(crate) fn with_server(proxy: ProxyBuilder) -> (Self, End) {
        Self::limited(proxy, ServerLimits { line_bytes: 1 << 20, ..ServerLimits::default() })
    }

    pub(crate) fn limited(proxy: ProxyBuilder, limits: ServerLimits) -> (Self, End) {
        let log = Memory::default();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
        let logs = Logs::capture();
        let ((client, near_client), (server, near_server)) = (duplex(1 << 16), duplex(1 << 16));
        let (client_in, client_out) = split(near_client);
        let near_server = Mutex::new(Some(near_server));
        let source = Source::streams(limits, move || {
            let near = near_server.lock().unwrap().take().ok_or_else(|| Fault::unreachable("it was connected to"))?;
            let (output, input) = split(near);
            Ok((input, output))
        });
        let proxy = proxy.audit(audit).server("s".parse().unwrap(), source).build().unwrap();
        let (stop, until) = oneshot::channel::<()>();
        let until = async {
            // A test that does not stop it lets it run.
            if until.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let serving = async move {
            let served = proxy.serve(Transport::streams(client_in, client_out), until).await;
            served.expect("the session begins")
        };
        let proxy = tokio::spawn(serving.instrument(logs.span()));
        (Self { client: End::new(client), log, logs, proxy, stop: Some(stop) }, End::new(server))
    }

    /// A session with a server in good order, after the handshake.
    pub(crate) async fn begun(proxy: ProxyBuilder) -> (Self, Seen) {
        let (mut world, server) = Self::with_server(proxy);
        let seen = Seen::default();
        tokio::spawn(serve(server, seen.clone()));
        world.client.shake_hands(json!({})).await;
        (world, seen)
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Closes the client's end, and waits for the session to end.
    pub(crate) async fn close(mut self) -> (Ended, Memory) {
        self.client.close().await;
        // The client goes on reading until the end.
        let rest = async { while self.client.line().await.is_some() {} };
        let (ended, ()) = tokio::join!(within(&mut self.proxy), rest);
        (ended.unwrap(), self.log)
    }
}

/// What the server has read, line by line, and what it lists.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    /// Lists to give in place of the usual one, one after the other; the last one stays.
    pub(crate) lists: Arc<Mutex<VecDeque<Value>>>,
}

impl Seen {
    pub(crate) fn calls(&self) -> Vec<String> {
        self.lines.lock().unwrap().iter().filter(|line| line.contains("tools/call")).cloned().collect()
    }
}

/// A server in good order. Tools answer with what they were called with; `typed` with `x`, whatever it is.
pub(crate) async fn serve(mut end: End, seen: Seen) {
    while let Some(line) = end.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        seen.lines.lock().unwrap().push(line);
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { continue };
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}}),
            "tools/list" => {
                let mut lists = seen.lists.lock().unwrap();
                let listed = if lists.len() > 1 { lists.pop_front() } else { lists.front().cloned() };
                listed.unwrap_or_else(|| json!({"tools": tools()}))
            }
            "tools/call" if params["name"] == "typed" => {
                json!({"content": [], "structuredContent": params["arguments"]["x"]})
            }
            "tools/call" => json!({"content": [{"type": "text", "text": params["arguments"].to_string()}]}),
            _ => json!({}),
        };
        end.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
    }
}

/// The entries of turns, in order. The log is sound.
pub(crate) fn entries(log: &Memory) -> Vec<Value> {
    let key = Key::from_hex(KEY).unwrap();
    let found = verify(&log.bytes()[..], log.head_bytes().as_deref(), &key, None).unwrap();
    assert_eq!(found.verdict, LogVerdict::Sound);
    let text = String::from_utf8(log.bytes()).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|entry| entry["turn"].as_str().is_some_and(|turn| turn.starts_with("session"))).collect()
}

/// Their kinds, with the codes of those that refuse.
pub(crate) fn kinds(log: &Memory) -> Vec<String> {
    let kind = |entry: &Value| match (entry["kind"].as_str().unwrap(), entry["data"]["code"].as_str()) {
        (kind, Some(code)) => format!("{kind} {code}"),
        (kind, None) => kind.to_owned(),
    };
    entries(log).iter().map(kind).collect()
}

/// The code of a refusal, or the code of an error.
pub(crate) fn refusal(answer: &Value) -> String {
    let decision = &answer["result"]["_meta"]["omen/decision"]["code"];
    match (decision.as_str(), answer["error"]["code"].as_i64()) {
        (Some(code), None) => {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            code.to_owned()
        }
        (None, Some(code)) => code.to_string(),
        _ => panic!("it is not refused: {answer}"),
    }
}
