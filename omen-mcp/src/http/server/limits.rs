//! Limits of the server over HTTP.

use std::time::Duration;

/// Limits on clients over HTTP. The maximum message length is a limit of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Maximum number of sessions that run at once, each with a separate server.
    pub sessions: usize,
    /// Time after which an unused session is ended.
    pub idle: Duration,
    /// Maximum number of open connections. For a further one, the oldest connection that waits for a request is closed; if
    /// none does, the new one waits.
    pub connections: usize,
    /// Maximum number of connections from one address that wait for a request or the rest of its head; without a token, also for
    /// the rest of its body. For a further one, the oldest is closed.
    pub waiting: usize,
    /// Time for the head of a request, including the next one on a connection.
    pub head: Duration,
    /// Time for the body of a request.
    pub body: Duration,
    /// Maximum size of all bodies that are read at once, in bytes.
    pub bodies: usize,
    /// Time after which a connection is closed if its other side reads nothing.
    pub stall: Duration,
    /// Maximum size of a session's messages that wait to be read, or are kept for rereading, in bytes.
    pub kept: usize,
    /// Interval at which a stream without news sends a keep-alive.
    pub keep_alive: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            sessions: 64,
            idle: Duration::from_secs(30 * 60),
            connections: 512,
            waiting: 128,
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            bodies: 64 << 20,
            stall: Duration::from_secs(30),
            kept: 16 << 20,
            keep_alive: Duration::from_secs(15),
        }
    }
}
