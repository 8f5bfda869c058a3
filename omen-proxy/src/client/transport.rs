//! Ways in which clients reach the proxy.

use std::fmt;
use std::time::Duration;

use omen_gate::mcp::{Line, Lines};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::messages::refusal::{self, INTERNAL_ERROR};
use omen_mcp::frame::{Frame, Kind as FrameKind};
use omen_mcp::http::server::{Access, HttpLimits, HttpServer};

/// Way in which clients reach the proxy: one client over streams, or many over Streamable HTTP.
pub struct Transport(pub(crate) Kind);

pub(crate) enum Kind {
    Streams(Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>),
    Http(Box<HttpServer>),
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Streams(..) => "Transport::streams",
            Kind::Http(_) => "Transport::http",
        })
    }
}

impl Transport {
    /// Serves one client on the standard streams of this process.
    #[must_use]
    pub fn stdio() -> Self {
        let (input, output) = omen_mcp::stdio::stdio();
        Self::streams(input, output)
    }

    /// Serves one client: on the stream that it writes, and the one that it reads.
    pub fn streams(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self(Kind::Streams(Box::new(input), Box::new(output)))
    }

    /// Serves clients over HTTP, each in a separate session.
    #[must_use]
    pub fn http(listener: TcpListener, access: Access, limits: HttpLimits) -> Self {
        Self(Kind::Http(Box::new(HttpServer { listener, access, limits })))
    }

    /// Answers the first request of a client on streams, usually `initialize`, with an error that says why its session does not
    /// begin. Without this, the client would see only a closed connection. Gives up if no request comes within 5 seconds. The
    /// reason is truncated to [`MAX_TEXT`](omen_gate::MAX_TEXT) bytes.
    pub async fn refuse(self, why: &str) {
        let Kind::Streams(input, mut output) = self.0 else { return };
        // A client that is gone, or has sent nothing by then, is not waiting for an answer.
        let _ = timeout(PATIENCE, async {
            let Some(id) = first_request(input).await else { return };
            let _ = Line::new(refusal::error(&id, INTERNAL_ERROR, why)).write_to(&mut output).await;
        })
        .await;
    }
}

/// Returns the id of the first request, as written. Text that is not a message is skipped: nothing is done with it.
async fn first_request(input: impl AsyncRead + Unpin) -> Option<String> {
    let mut lines = Lines::new(input, LONGEST);
    loop {
        let line = lines.next().await.ok()??;
        if let Ok(frame) = Frame::read(line)
            && matches!(frame.kind, FrameKind::Request(_))
        {
            return Some(frame.raw_id().to_owned());
        }
    }
}

/// Time for the first request; a client says at once what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum length of a line in bytes.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};

    use super::Transport;

    /// Returns what a client receives after sending only this text.
    async fn answer(said: &[u8]) -> String {
        let (mut client, near) = duplex(4 << 20);
        client.write_all(said).await.unwrap();
        let (input, output) = split(near);
        Transport::streams(input, output).refuse("A1: the log is in use; end the other client").await;
        let mut read = String::new();
        client.read_to_string(&mut read).await.unwrap();
        read
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_request_is_answered_with_the_reason() {
        let said = "nonsense\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\
                    {\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"method\":\"initialize\",\"params\":{}}\n";
        let read = answer(said.as_bytes()).await;
        let error = r#"{"code":-32603,"message":"A1: the log is in use; end the other client"}"#;
        assert_eq!(read, format!("{{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"error\":{error}}}\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_asks_for_nothing_gets_nothing() {
        let endless = vec![b'x'; 2 << 20];
        for said in [&b""[..], b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", &endless] {
            assert_eq!(answer(said).await, "");
        }
    }
}
