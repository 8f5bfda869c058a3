//! A client in front of two servers, `a` and `b`, that have the same tools, prompts and ids.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::mcp::ServerLimits;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, ServerName, SystemClock};
use omen_proxy::{Ended, Proxy, ProxyBuilder, Source, Transport};
use omen_testkit::logs::Logs;
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::support::{End, KEY, Seen, tools, within};

/// On both servers `read` may be called, and `ask` if somebody confirms it; `write` only on `a`.
pub(crate) fn config(more: &str) -> Config {
    let mut text =
        format!("{more}\n[audit]\nlog = 'l'\nkey_file = 'k'\narguments = 'full'\n[servers.a]\n[servers.b]\n");
    for server in ["a", "b"] {
        for tool in tools() {
            let tool: Tool = serde_json::from_value(tool).unwrap();
            let name = tool.name.as_str();
            let (permission, pre_granted) = match name {
                "read" => ("READ", false),
                "ask" => ("WRITE", false),
                "write" if server == "a" => ("WRITE", true),
                _ => continue,
            };
            let pin = pin(&tool).unwrap();
            let what = format!("server='{server}'\ntool='{name}'\npermissions=['{permission}']\n");
            text += &format!("[[allow]]\n{what}pin='{pin}'\n[[grants]]\n{what}pre_granted={pre_granted}\n");
        }
    }
    Config::parse(&text).unwrap()
}

pub(crate) fn proxy() -> ProxyBuilder {
    Proxy::builder(config(""), "session".parse().unwrap())
}

pub(crate) fn limits() -> ServerLimits {
    ServerLimits { line_bytes: 1 << 20, ..ServerLimits::default() }
}

/// A session with both servers.
pub(crate) struct Pair {
    pub(crate) client: End,
    pub(crate) log: Memory,
    pub(crate) logs: Logs,
    pub(crate) proxy: JoinHandle<Ended>,
    stop: Option<oneshot::Sender<()>>,
    servers: mpsc::UnboundedReceiver<(&'static str, End)>,
    waiting: Vec<(&'static str, End)>,
}

/// A way to each server, and the servers that were connected to.
pub(crate) fn sources(
    limits: ServerLimits,
) -> (BTreeMap<ServerName, Source>, mpsc::UnboundedReceiver<(&'static str, End)>) {
    let (connected, servers) = mpsc::unbounded_channel();
    let source = |name: &'static str| {
        let connected = connected.clone();
        let source = Source::streams(limits, move || {
            let (near, far) = duplex(1 << 16);
            let (output, input) = split(near);
            connected.send((name, End::new(far))).map_err(|_| Fault::unreachable("the test is over"))?;
            Ok((input, output))
        });
        (name.parse().unwrap(), source)
    };
    (BTreeMap::from([source("a"), source("b")]), servers)
}

impl Pair {
    /// A session with servers that a test plays.
    pub(crate) fn limited(proxy: ProxyBuilder, limits: ServerLimits) -> Self {
        let log = Memory::default();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
        let logs = Logs::capture();
        let proxy = proxy.audit(audit);
        let (sources, servers) = sources(limits);
        let (client, near) = duplex(1 << 16);
        let (stop, until) = oneshot::channel::<()>();
        let until = async {
            if until.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let proxy =
            sources.into_iter().fold(proxy, |proxy, (name, source)| proxy.server(name, source)).build().unwrap();
        let (input, output) = split(near);
        let serving =
            async move { proxy.serve(Transport::streams(input, output), until).await.expect("the session begins") };
        let proxy = tokio::spawn(serving.instrument(logs.span()));
        Self { client: End::new(client), log, logs, proxy, stop: Some(stop), servers, waiting: Vec::new() }
    }

    pub(crate) fn new(proxy: ProxyBuilder) -> Self {
        Self::limited(proxy, limits())
    }

    /// A server that was connected to.
    pub(crate) async fn server(&mut self, name: &str) -> End {
        loop {
            if let Some(at) = self.waiting.iter().position(|(own, _)| *own == name) {
                return self.waiting.remove(at).1;
            }
            let connected = within(self.servers.recv()).await.expect("a server");
            self.waiting.push(connected);
        }
    }

    /// A session with two servers in good order, after the handshake.
    pub(crate) async fn begun(proxy: ProxyBuilder) -> (Self, Seen, Seen) {
        let mut pair = Self::new(proxy);
        let (a, b) = (Seen::default(), Seen::default());
        tokio::spawn(serve("a", pair.server("a").await, a.clone()));
        tokio::spawn(serve("b", pair.server("b").await, b.clone()));
        pair.client.shake_hands(json!({})).await;
        until(|| [&a, &b].iter().all(|seen| seen.lines.lock().unwrap().len() == 2)).await;
        (pair, a, b)
    }

    /// The same, where the test plays `b` from the handshake on.
    pub(crate) async fn with_b(proxy: ProxyBuilder, limits: ServerLimits) -> (Self, End) {
        let mut pair = Self::limited(proxy, limits);
        tokio::spawn(serve("a", pair.server("a").await, Seen::default()));
        let mut b = pair.server("b").await;
        pair.client.send(initialize(0, json!({}))).await;
        let asked = b.value().await;
        b.send(result(&asked, answer("b", &asked).unwrap())).await;
        assert!(pair.client.value().await["result"].is_object());
        pair.client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(b.value().await["method"], "notifications/initialized");
        (pair, b)
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits for the end.
    pub(crate) async fn ended(mut self) -> (Ended, Memory) {
        let rest = async { while self.client.line().await.is_some() {} };
        let (ended, ()) = tokio::join!(within(&mut self.proxy), rest);
        (ended.unwrap(), self.log)
    }

    /// Closes the client's end, and waits for the end.
    pub(crate) async fn close(mut self) -> (Ended, Memory) {
        self.client.close().await;
        self.ended().await
    }

    pub(crate) fn noted(&self, text: &str) -> bool {
        self.logs.find(&[text]).is_some()
    }
}

pub(crate) fn initialize(id: u64, capabilities: Value) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}).to_string()
}

pub(crate) fn result(asked: &Value, result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string()
}

/// What a server in good order answers to a request; nothing to what is none.
pub(crate) fn answer(name: &str, message: &Value) -> Option<Value> {
    message.get("id")?;
    let params = &message["params"];
    Some(match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}, "logging": {}},
            "serverInfo": {"name": name, "version": "1"}, "instructions": format!("Use {name}.")}),
        "tools/list" => json!({"tools": tools()}),
        "prompts/list" => json!({"prompts": [{"name": "hello", "title": format!("Hello of {name}")}]}),
        "resources/list" => {
            json!({"resources": [{"uri": format!("{name}://own"), "name": "own"}, {"uri": "both://x", "name": "x"}]})
        }
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": format!("{name}://t/{{n}}"), "name": "t"}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": format!("{name} {}", params["arguments"])}]}),
        method => json!({"by": name, "method": method, "params": params}),
    })
}

/// A server in good order.
pub(crate) async fn serve(name: &'static str, mut end: End, seen: Seen) {
    while let Some(line) = end.line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        seen.lines.lock().unwrap().push(line);
        if let Some(value) = answer(name, &message) {
            end.send(result(&message, value)).await;
        }
    }
}

/// Answers what a server in good order answers, up to the next request that has this method.
pub(crate) async fn up_to(server: &mut End, name: &str, method: &str) -> Value {
    loop {
        let asked = server.value().await;
        if asked["method"] == method {
            return asked;
        }
        if let Some(value) = answer(name, &asked) {
            server.send(result(&asked, value)).await;
        }
    }
}

/// Waits until something has come about.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    within(async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}
