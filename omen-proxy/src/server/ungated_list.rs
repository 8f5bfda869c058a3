//! Tool list of a server, without a gate.

mod era;

use std::time::Duration;

use omen_gate::mcp::{Broken, Line, Lines, Listing, ServerLimits, ServerProcess, fault_of, result_of};
use omen_gate::tool::Tool;
use omen_gate::{Fault, bounded, guarded};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::era::{WITH_HANDSHAKE, WITHOUT_HANDSHAKE};
use super::connection::{Connection, Output, http_fault};
use super::source::Source;
use crate::messages::methods::{DISCOVER, INITIALIZE, INITIALIZED, PING, TOOLS};
use omen_mcp::Id;
use omen_mcp::frame::{Frame, Kind};
use omen_mcp::handshake::Era;
use omen_mcp::http::client::ServerEvent;

/// Time for the end of the session.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Fraction of the time for a list, as a divisor, in which a server must say whether it needs a handshake.
const PART_TO_DISCOVER: u32 = 3;

impl Source {
    /// Asks the server for its tools, with a handshake, or without one if the server has none. No tool is called, and nothing is
    /// recorded. A server with an address is first asked which protocol versions it speaks, since one without a handshake may
    /// refuse a request that does not state its version. A server on streams is asked for a handshake first, since it may not
    /// survive another request. Must be called within a tokio runtime with time and I/O enabled.
    ///
    /// # Errors
    /// If the server cannot be reached, returns no valid list, or none within this time.
    pub async fn list(&self, limit: Duration) -> Result<Vec<Tool>, Fault> {
        let source = self.clone();
        guarded(limit, async move {
            if source.has_address && Asking::new(&source)?.era(limit / PART_TO_DISCOVER).await? == Era::Stateless {
                return Asking::new(&source)?.without_handshake().await;
            }
            let first = match Asking::new(&source)?.with_handshake().await {
                // The server has no handshake, or says so in its own way.
                Err(fault @ (Fault::Refused { .. } | Fault::Malformed { .. })) => fault,
                listed => return listed,
            };
            Asking::new(&source)?.without_handshake().await.map_err(|_| first)
        })
        .await
    }
}

/// Session in which only the tools are requested.
struct Asking {
    limits: ServerLimits,
    input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    output: Incoming,
    /// Process of the server. Dropping it leaves nothing of the server running.
    process: Option<ServerProcess>,
    asked: i64,
}

/// Input from the server.
enum Incoming {
    Lines(Lines<Box<dyn AsyncRead + Send + Unpin>>),
    Messages(mpsc::Receiver<ServerEvent>),
}

impl Incoming {
    async fn next(&mut self) -> Result<Option<ServerEvent>, Fault> {
        let lines = match self {
            Self::Messages(said) => return Ok(said.recv().await),
            Self::Lines(lines) => lines,
        };
        loop {
            match lines.next().await {
                Ok(None) => return Ok(None),
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => {
                    let frame = Frame::read(line).map_err(|malformed| Fault::malformed(&malformed.why))?;
                    return Ok(Some(ServerEvent::Message(frame)));
                }
                Err(broken @ Broken::Oversized) => return Err(Fault::malformed(&broken.to_string())),
                Err(Broken::Io(error)) => return Err(Fault::died(&bounded(&error.to_string()))),
            }
        }
    }
}

impl Asking {
    fn new(source: &Source) -> Result<Self, Fault> {
        let limits = *source.limits();
        let Connection { input, output, process } = source.connect()?;
        let output = match output {
            Output::Messages(said) => Incoming::Messages(said),
            Output::Lines(output) => Incoming::Lines(Lines::new(output, limits.line_bytes)),
        };
        Ok(Self { limits, input: Some(input), output, process, asked: 0 })
    }

    /// Asks which protocol versions the server speaks.
    async fn era(mut self, limit: Duration) -> Result<Era, Fault> {
        let answer = timeout(limit, self.exchange(DISCOVER, json!({ "_meta": meta() }))).await;
        let era = era::shown(answer.unwrap_or(Err(Fault::Timeout { after: limit })));
        self.end().await;
        era
    }

    async fn with_handshake(mut self) -> Result<Vec<Tool>, Fault> {
        let params = json!({"protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": client()});
        let shaken = self.ask(INITIALIZE, params).await?;
        result_of(&shaken)?;
        self.send(&json!({"jsonrpc": "2.0", "method": INITIALIZED})).await?;
        let tools = self.pages(&json!({})).await?;
        self.end().await;
        Ok(tools)
    }

    async fn without_handshake(mut self) -> Result<Vec<Tool>, Fault> {
        let tools = self.pages(&json!({ "_meta": meta() })).await?;
        self.end().await;
        Ok(tools)
    }

    async fn pages(&mut self, params: &Value) -> Result<Vec<Tool>, Fault> {
        let limits = self.limits;
        let (mut listing, mut params) = (Listing::new(&limits), params.clone());
        loop {
            let page = self.ask(TOOLS.method, params.clone()).await?;
            match listing.page(result_of(&page)?)? {
                None => return Ok(listing.finish()),
                Some(cursor) => {
                    if let Some(params) = params.as_object_mut() {
                        params.insert("cursor".to_owned(), cursor.into());
                    }
                }
            }
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Frame, Fault> {
        let response = self.exchange(method, params).await?;
        if response.kind == Kind::Result { Ok(response) } else { Err(fault_of(&response)) }
    }

    /// Returns the response to a request, which may be an error.
    async fn exchange(&mut self, method: &str, params: Value) -> Result<Frame, Fault> {
        self.asked += 1;
        let id = Id::Number(self.asked);
        self.send(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})).await?;
        loop {
            match self.output.next().await? {
                None => return Err(Fault::died("the connection was closed")),
                Some(ServerEvent::Lost(error)) => return Err(http_fault(error)),
                Some(ServerEvent::Failed(failed, error)) if failed == id => return Err(http_fault(error)),
                Some(ServerEvent::Failed(..) | ServerEvent::Note(_)) => {}
                Some(ServerEvent::Message(frame)) => match &frame.kind {
                    Kind::Request(method) => self.refuse(&frame, method == PING).await?,
                    Kind::Notification(_) => {}
                    Kind::Result | Kind::Error | Kind::Unsure(_) => return Ok(frame),
                },
            }
        }
    }

    /// Answers a request from the server: a ping with a result, all others with a refusal.
    async fn refuse(&mut self, frame: &Frame, is_ping: bool) -> Result<(), Fault> {
        let said = if is_ping {
            "\"result\":{}"
        } else {
            "\"error\":{\"code\":-32601,\"message\":\"this client does not support requests from servers\"}"
        };
        self.line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{said}}}", frame.raw_id())).await
    }

    async fn send(&mut self, message: &Value) -> Result<(), Fault> {
        self.line(&message.to_string()).await
    }

    async fn line(&mut self, line: &str) -> Result<(), Fault> {
        let closed = |_| Fault::died("the connection was closed");
        match &mut self.input {
            Some(input) => Line::new(line).write_to(input).await.map_err(closed),
            None => Err(Fault::died("the connection was closed")),
        }
    }

    /// Ends the session, also at the server.
    async fn end(mut self) {
        self.input = None;
        let rest = async { while let Ok(Some(_)) = self.output.next().await {} };
        let _ = timeout(LAST_WORDS, rest).await;
        if let Some(process) = self.process {
            process.stop().await;
        }
    }
}

/// Returns what a request without a handshake states about its sender.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn client() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}
