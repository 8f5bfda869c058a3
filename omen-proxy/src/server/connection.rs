//! Server that was started or connected to.

use omen_gate::Fault;
use omen_gate::mcp::ServerProcess;
use omen_mcp::http::client::{RequestError, ServerEvent};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

/// Server that was started or connected to.
pub(crate) struct Connection {
    /// Input of the server, which takes messages as lines.
    pub(crate) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) output: Output,
    pub(crate) process: Option<ServerProcess>,
}

/// Output of a server.
pub(crate) enum Output {
    /// Lines of a stream.
    Lines(Box<dyn AsyncRead + Send + Unpin>),
    /// Messages that have already been read, each from the answer to the request that it belongs to.
    Messages(mpsc::Receiver<ServerEvent>),
}

/// Returns the fault of a request over HTTP that got no answer.
pub(crate) fn http_fault(error: RequestError) -> Fault {
    match error {
        RequestError::Timeout(after) => Fault::Timeout { after },
        RequestError::Cancelled => Fault::Cancelled,
        RequestError::NotSent(why) => Fault::unreachable(&why),
        RequestError::Died(why) => Fault::died(&why),
        RequestError::Malformed(why) => Fault::malformed(&why),
        RequestError::Refused(status, message) => Fault::refused(status.into(), &message),
    }
}
