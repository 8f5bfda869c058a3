//! A server over HTTP that a test plays, and a session of a client in front of it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::config::{Endpoint, HeaderSource};
use omen_gate::mcp::ServerLimits;
use omen_gate::{Config, SystemClock};
use omen_mcp::http::client::RemoteLimits;
use omen_proxy::{Ended, Proxy, Source, Transport};
use omen_testkit::logs::Logs;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, duplex, split,
};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::http::world::until;
use crate::support::{End, KEY, config, tools, within};

/// A request that the server has read.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) method: String,
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The message, if the body is one.
    pub(crate) message: Value,
    /// The number of the connection.
    pub(crate) connection: usize,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.method == "POST" && self.message["method"] == method
    }

    pub(crate) fn id(&self) -> &Value {
        &self.message["id"]
    }
}

/// What the server does then.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same again and again, until nobody reads it.
    Flood(Vec<u8>),
    /// Sends nothing more, and keeps the connection.
    Hang,
    /// Waits for another request on the connection.
    Next,
}

/// What is answered to a request. Without [`Step::Next`] at its end, the connection is closed.
pub(crate) type Reply = Vec<Step>;

pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// A whole answer, with a status line such as `200 OK`, headers that end in line breaks, and a body.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    vec![send(head), send(body), Step::Next]
}

pub(crate) fn json_answer(message: &Value) -> Reply {
    answer("200 OK", JSON, message.to_string())
}

pub(crate) const JSON: &str = "content-type: application/json\r\n";

/// A stream, up to what is sent of it here.
pub(crate) fn stream(text: impl AsRef<[u8]>) -> Reply {
    vec![send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"), send(text)]
}

pub(crate) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// The result of a call, for the request that has this id.
pub(crate) fn result(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "done"}]}})
}

/// What a test has the server do in place of what a good one does.
pub(crate) type Script = Arc<dyn Fn(&Got) -> Option<Reply> + Send + Sync>;

/// A server that runs.
#[derive(Clone)]
pub(crate) struct Stand {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Got>>>,
}

impl Stand {
    pub(crate) async fn new(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let stand = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&stand.seen);
        tokio::spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                number += 1;
                tokio::spawn(connection(stream, Arc::clone(&script), Arc::clone(&seen), number));
            }
        });
        stand
    }

    /// One that is served elsewhere.
    pub(crate) fn over(address: SocketAddr, seen: Arc<Mutex<Vec<Got>>>) -> Self {
        Self { address, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Got> {
        self.seen.lock().unwrap().clone()
    }

    /// How often a method was asked.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|got| got.is(method)).count()
    }

    /// Waits until the session has ended at the server, and gives all that it was sent.
    pub(crate) async fn ended(&self) -> Vec<Got> {
        until(|| self.seen().iter().any(|got| got.method == "DELETE")).await;
        self.seen()
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::new(&format!("http://{}/mcp", self.address), false).unwrap()
    }
}

/// Serves one connection.
pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    script: Script,
    seen: Arc<Mutex<Vec<Got>>>,
    connection: usize,
) {
    let mut stream = BufReader::new(stream);
    while let Some(got) = read(&mut stream, connection).await {
        seen.lock().unwrap().push(got.clone());
        let reply = script(&got).unwrap_or_else(|| good(&got));
        let mut goes_on = false;
        for step in reply {
            goes_on = false;
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
                Step::Flood(bytes) => while stream.write_all(&bytes).await.is_ok() {},
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Hang => {
                    // Until the other side closes.
                    let _ = stream.read_u8().await;
                    return;
                }
                Step::Next => goes_on = true,
            }
        }
        if !goes_on {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

async fn read(stream: &mut BufReader<impl AsyncRead + Unpin>, connection: usize) -> Option<Got> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8(body).unwrap();
    let message = serde_json::from_str(&body).unwrap_or(Value::Null);
    Some(Got { method, target, headers, body, message, connection })
}

/// What a server in good order does, with sessions.
pub(crate) fn good(got: &Got) -> Reply {
    let id = got.id();
    match (got.method.as_str(), got.message["method"].as_str()) {
        ("POST", Some("initialize")) => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}});
            let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
            answer("200 OK", &format!("{JSON}mcp-session-id: {SESSION}\r\n"), message.to_string())
        }
        ("POST", Some("tools/list")) => json_answer(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools()}})),
        ("POST", Some("tools/call")) => json_answer(&result(id)),
        ("POST", Some(_)) if !id.is_null() => json_answer(&json!({"jsonrpc": "2.0", "id": id, "result": {}})),
        ("POST", _) => answer("202 Accepted", "", ""),
        ("GET", _) => answer("405 Method Not Allowed", "", ""),
        _ => answer("204 No Content", "", ""),
    }
}

pub(crate) const SESSION: &str = "6d1e2f";

/// Limits for tests in which streams are opened again.
pub(crate) fn short() -> RemoteLimits {
    let mut limits = RemoteLimits::default();
    limits.backoff = Duration::from_millis(5);
    limits
}

/// Limits for tests in which something does not come.
pub(crate) fn impatient() -> RemoteLimits {
    let mut limits = short();
    limits.answer = Duration::from_millis(1_500);
    limits.idle = Duration::from_millis(1_500);
    limits
}

/// A session that runs.
pub(crate) struct Far {
    pub(crate) client: End,
    pub(crate) log: Memory,
    pub(crate) logs: Logs,
    pub(crate) stand: Stand,
    pub(crate) proxy: JoinHandle<Ended>,
    stop: Option<oneshot::Sender<()>>,
}

impl Far {
    pub(crate) async fn limited(
        script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static,
        limits: RemoteLimits,
        config: Config,
    ) -> Self {
        let stand = Stand::new(Arc::new(script)).await;
        let endpoint = stand.endpoint();
        Self::at(stand, &endpoint, limits, config)
    }

    /// A session with a server that is reached in some way.
    pub(crate) fn at(stand: Stand, endpoint: &Endpoint, limits: RemoteLimits, config: Config) -> Self {
        let server = ServerLimits { line_bytes: 1 << 20, ..ServerLimits::default() };
        let source = Source::remote(endpoint, server, limits).unwrap();
        let log = Memory::default();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
        let logs = Logs::capture();
        let proxy = Proxy::builder(config, "session".parse().unwrap());
        let proxy = proxy.audit(audit);
        let proxy = proxy.drain(Duration::from_millis(200)).server("s".parse().unwrap(), source).build().unwrap();
        let (client, near) = duplex(1 << 16);
        let (stop, until) = oneshot::channel::<()>();
        let until = async {
            if until.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let (input, output) = split(near);
        let serving =
            async move { proxy.serve(Transport::streams(input, output), until).await.expect("the session begins") };
        let proxy = tokio::spawn(serving.instrument(logs.span()));
        Self { client: End::new(client), log, logs, stand, proxy, stop: Some(stop) }
    }

    /// The same after the handshake.
    pub(crate) async fn begun(script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::begun_limited(script, RemoteLimits::default(), "").await
    }

    pub(crate) async fn begun_limited(
        script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static,
        limits: RemoteLimits,
        more: &str,
    ) -> Self {
        let mut far = Self::limited(script, limits, config(more)).await;
        far.client.shake_hands(json!({})).await;
        far
    }

    pub(crate) fn noted(&self, text: &str) -> bool {
        self.logs.find(&[text]).is_some()
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Closes the client's end, and waits for the session to end.
    pub(crate) async fn close(mut self) -> (Ended, Memory, Stand) {
        self.client.close().await;
        self.end().await
    }

    /// Waits for the session to end by itself.
    pub(crate) async fn end(mut self) -> (Ended, Memory, Stand) {
        let rest = async { while self.client.line().await.is_some() {} };
        let (ended, ()) = tokio::join!(within(&mut self.proxy), rest);
        (ended.unwrap(), self.log, self.stand)
    }
}

/// A header whose value comes from a variable that is always set.
pub(crate) fn with_secret(endpoint: Endpoint) -> (Endpoint, String) {
    let value = HeaderSource::Env { variable: "PATH".to_owned(), prefix: "Bearer ".to_owned() };
    (endpoint.header("Authorization", value).unwrap(), std::env::var("PATH").unwrap())
}
