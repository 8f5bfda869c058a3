//! How much a server may say.

use std::time::Duration;

/// What is accepted from one server. A message beyond a limit is refused, never cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of one message, without its line break. The memory for a message that was parsed is a multiple of it.
    pub line_bytes: usize,
    /// Tools in a list.
    pub tools: usize,
    /// Pages of a list.
    pub pages: usize,
    /// Bytes of a list, all pages together, as JSON without blanks.
    pub list_bytes: usize,
    /// Requests that somebody waits for. Of those that were cancelled, which a server need not answer, as many are
    /// remembered.
    pub open_requests: usize,
    /// Bytes that wait to be written because the server does not read. Each message counts 1 KiB more than it is long,
    /// for what it costs to have it wait.
    pub unread_bytes: usize,
    /// Time for the server to start, up to the end of the handshake.
    pub start: Duration,
    /// Time for the server to end by itself, once its input is closed. Then it is killed.
    pub stop: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            line_bytes: 4 << 20,
            tools: 1_000,
            pages: 100,
            list_bytes: 8 << 20,
            open_requests: 1_000,
            unread_bytes: 16 << 20,
            start: Duration::from_secs(15),
            stop: Duration::from_secs(2),
        }
    }
}
