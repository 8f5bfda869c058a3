//! Limits on waiting for a server over HTTP, and on the data read from it.

use std::time::Duration;

/// Limits on waiting for a server that is reached over HTTP, and on the data read from it. The maximum message length is a
/// limit of every server ([`ServerLimits`](crate::ServerLimits)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteLimits {
    /// Time for a connection, including the handshake of its encryption.
    pub connect: Duration,
    /// Time from a request to the head of its answer, and for the body of an answer that is not a stream. A call has less
    /// if the configuration gives it less.
    pub answer: Duration,
    /// Time between two signs of activity on the stream that answers a request.
    pub idle: Duration,
    /// Time for messages answered at once: notifications, responses, the end of a session.
    pub notice: Duration,
    /// Maximum number of open requests, each on a separate connection. Further ones fail without being sent.
    pub requests: usize,
    /// Maximum size of all answers read at once in all sessions, in bytes.
    pub buffered: usize,
    /// Maximum size of the head of an answer in bytes.
    pub head: usize,
    /// Maximum number of consecutive failed attempts to reopen a stream.
    pub retries: u32,
    /// Time before a stream is first reopened, if the server names none. Each failure doubles it, up to sixteen times
    /// the initial value.
    pub backoff: Duration,
}

impl Default for RemoteLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            idle: Duration::from_secs(300),
            notice: Duration::from_secs(10),
            requests: 128,
            buffered: 64 << 20,
            head: 64 << 10,
            retries: 5,
            backoff: Duration::from_secs(1),
        }
    }
}
