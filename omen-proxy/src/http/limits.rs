//! How much of HTTP the proxy takes.

use std::time::Duration;

/// What is taken from clients over HTTP. How long a message may be is a limit of the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Sessions that run at once, each with a server of its own.
    pub sessions: usize,
    /// A session that nobody uses for so long is ended.
    pub idle: Duration,
    /// Connections that are open at once. For a further one, the oldest is closed of those that wait for a request; where none
    /// does, it waits.
    pub connections: usize,
    /// Connections of one address that wait for a request, or for the rest of its head; without a token, also for the rest of its
    /// body. For a further one, the oldest is closed.
    pub waiting: usize,
    /// Time for the head of a request, also of the next one of a connection.
    pub head: Duration,
    /// Time for the body of a request.
    pub body: Duration,
    /// Bytes of all bodies that are read at once.
    pub bodies: usize,
    /// A connection whose other side takes nothing for so long is closed.
    pub stall: Duration,
    /// Bytes of the messages of a session that wait to be read, or are kept to be read again.
    pub kept: usize,
    /// How often a stream without news sends a sign of life.
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
