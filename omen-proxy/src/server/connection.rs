//! Server that was started or connected to.

use omen_gate::Fault;
use omen_gate::mcp::ServerProcess;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::end::Lost;
use omen_mcp::Id;
use omen_mcp::frame::Frame;

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
    Messages(mpsc::Receiver<Said>),
}

/// Output of a server that is not reached through streams.
#[derive(Debug)]
pub(crate) enum Said {
    Message(Frame),
    /// A request will not be answered.
    Failed(Id, Fault),
    /// The connection is over.
    Lost(Lost),
    /// A note for the operator.
    Note(String),
}
