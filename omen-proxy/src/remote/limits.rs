//! How long a server over HTTP is waited for, and how much is taken from it.

use std::time::Duration;

use omen_gate::config::Limits;

/// How long a server that is reached over HTTP is waited for, and how much of it. How long a message may be is a limit of every
/// server ([`ServerLimits`](omen_gate::mcp::ServerLimits)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteLimits {
    /// Time for a connection, with the handshake of its encryption.
    pub connect: Duration,
    /// Time from a request to the head of its answer, and for the body of one that is not a stream. A call has less, if the
    /// configuration gives it less.
    pub answer: Duration,
    /// Time between two signs of life on the stream that answers a request.
    pub idle: Duration,
    /// Time for what is answered at once: notifications, responses, the end of a session.
    pub notice: Duration,
    /// Requests that are open at once, each on a connection of its own. Further ones fail, and are not sent.
    pub requests: usize,
    /// Bytes of all answers that are read at once, in all sessions.
    pub buffered: usize,
    /// Bytes of the head of an answer.
    pub head: usize,
    /// How often in a row a stream is opened again in vain.
    pub retries: u32,
    /// Time before a stream is opened again the first time, if the server names none. Each failure doubles it, up to
    /// sixteen times.
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

impl RemoteLimits {
    /// As the configuration says; what it does not speak of, as by default.
    #[must_use]
    pub fn configured(limits: &Limits) -> Self {
        let longest = limits.call_timeout_seconds.max(limits.list_timeout_seconds);
        // The gate's own times end first, and say more.
        let answer = Duration::from_secs(u64::from(longest) + 5);
        Self { answer: answer.max(Self::default().answer), idle: answer.max(Self::default().idle), ..Self::default() }
    }
}
