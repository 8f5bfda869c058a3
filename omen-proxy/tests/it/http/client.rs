//! A small client: bytes over TCP, so that a test can send what no library would.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::within;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The messages of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The last message, of whichever form.
    pub(crate) fn last(&self) -> Value {
        match self.header("content-type") {
            Some("text/event-stream") => self.events().pop().unwrap_or_else(|| panic!("{self:?}")),
            _ => self.json(),
        }
    }
}

/// A connection.
pub(crate) struct Wire(pub(crate) BufReader<TcpStream>);

/// An answer whose body is still coming.
pub(crate) struct Coming {
    wire: Wire,
    pub(crate) reply: Reply,
    buffer: String,
}

impl Wire {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self(BufReader::new(within(TcpStream::connect(address)).await.unwrap()))
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that has answered already may have closed.
        let _ = within(self.0.get_mut().write_all(bytes.as_ref())).await;
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = within(self.0.read_line(&mut line)).await.ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The status and the headers of an answer; none at the end.
    pub(crate) async fn head(&mut self) -> Option<Reply> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Some(Reply { status, headers, body: String::new() })
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line().await?, 16).unwrap();
        let mut bytes = vec![0; size + 2];
        within(self.0.read_exact(&mut bytes)).await.ok()?;
        bytes.truncate(size);
        (size > 0).then_some(bytes)
    }

    /// A whole answer; none at the end.
    pub(crate) async fn reply(&mut self) -> Option<Reply> {
        let mut reply = self.head().await?;
        let mut body = Vec::new();
        match reply.header("content-length") {
            Some(length) => {
                body = vec![0; length.parse().unwrap()];
                within(self.0.read_exact(&mut body)).await.ok()?;
            }
            None if reply.header("transfer-encoding").is_some() => {
                while let Some(chunk) = self.chunk().await {
                    body.extend(chunk);
                }
            }
            None => {}
        }
        reply.body = String::from_utf8(body).unwrap();
        Some(reply)
    }

    /// Whether the other side has closed the connection, without another byte.
    pub(crate) async fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        within(self.0.read_to_end(&mut rest)).await.is_err() || rest.is_empty()
    }
}

impl Coming {
    /// The text of the next event or sign of life; none at the end.
    pub(crate) async fn text(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let event = event.to_owned();
                self.buffer = rest.to_owned();
                return Some(event);
            }
            self.buffer += &String::from_utf8(self.wire.chunk().await?).unwrap();
        }
    }

    /// The id and the message of the next event with one.
    pub(crate) async fn event(&mut self) -> Option<(Option<String>, Value)> {
        loop {
            let text = self.text().await?;
            let get = |name: &str| text.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            if let Some(data) = get("data: ") {
                return Some((get("id: "), serde_json::from_str(&data).unwrap()));
            }
        }
    }
}

/// Where a client speaks to, and what it sends with each request.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let headers = [
            ("host", address.to_string()),
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        Self { address, headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec() }
    }

    /// The same with another header, in place of one of the same name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// A further header, whatever there is already.
    pub(crate) fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn text(&self, method: &str, path: &str, body: &str) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Reply {
        let mut wire = Wire::connect(self.address).await;
        wire.send(self.text(method, path, body)).await;
        wire.reply().await.expect("an answer")
    }

    /// Sends a request whose answer is a stream.
    pub(crate) async fn open(&self, method: &str, body: &str) -> Coming {
        let mut wire = Wire::connect(self.address).await;
        wire.send(self.text(method, "/mcp", body)).await;
        let reply = wire.head().await.expect("an answer");
        Coming { wire, reply, buffer: String::new() }
    }

    pub(crate) async fn post(&self, message: &Value) -> Reply {
        self.send("POST", "/mcp", &message.to_string()).await
    }

    pub(crate) async fn ask(&self, id: u64, method: &str, params: Value) -> Reply {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await
    }

    pub(crate) async fn call(&self, id: u64, tool: &str, args: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": args})).await.last()
    }

    /// The handshake. Gives the client of the session.
    pub(crate) async fn shake_hands(&self, capabilities: Value) -> Self {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let reply = self.ask(0, "initialize", params).await;
        assert!(reply.json()["result"]["serverInfo"].is_object(), "{reply:?}");
        let id = reply.header("mcp-session-id").expect("a session");
        let client = self.clone().with("mcp-session-id", id).with("mcp-protocol-version", "2025-11-25");
        let reply = client.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!((reply.status, reply.body.as_str()), (202, ""));
        client
    }

    /// A request that says of itself what a handshake would, with the headers that it has to have.
    pub(crate) fn modern(&self, id: &Value, method: &str, mut params: Value) -> (Self, Value) {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let mut client = self.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        if let Some(name) = params.get("name").and_then(Value::as_str) {
            client = client.with("mcp-name", name);
        }
        (client, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    pub(crate) async fn ask_modern(&self, id: Value, method: &str, params: Value) -> Reply {
        let (client, message) = self.modern(&id, method, params);
        client.post(&message).await
    }
}
