//! A server that was started or connected to.

use omen_gate::Fault;
use omen_gate::mcp::ServerProcess;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::end::Lost;
use omen_mcp::Id;
use omen_mcp::frame::Frame;

/// A server that was started or connected to.
pub(crate) struct Connection {
    /// Takes messages, each as a line.
    pub(crate) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) output: Output,
    pub(crate) process: Option<ServerProcess>,
}

/// How messages come from a server.
pub(crate) enum Output {
    /// As lines of a stream.
    Lines(Box<dyn AsyncRead + Send + Unpin>),
    /// As messages that were read already, each in the answer to the request that it belongs to.
    Messages(mpsc::Receiver<Said>),
}

/// What comes from a server that is not reached through streams.
#[derive(Debug)]
pub(crate) enum Said {
    Message(Frame),
    /// No answer comes to a request.
    Failed(Id, Fault),
    /// The connection is over.
    Lost(Lost),
    /// For the operator.
    Note(String),
}
