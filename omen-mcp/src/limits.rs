//! Limits on a server's output.

use std::time::Duration;

/// Limits on one server's output. A message beyond a limit is refused, never truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Maximum size of a message in bytes, without its line break. A parsed message takes a multiple of this in memory.
    pub line_bytes: usize,
    /// Maximum number of tools in a list.
    pub tools: usize,
    /// Maximum number of pages in a list.
    pub pages: usize,
    /// Maximum size of a list in bytes: all pages together, as JSON without blanks.
    pub list_bytes: usize,
    /// Maximum number of open requests. Equally many cancelled ones, which a server need not answer, are remembered.
    pub open_requests: usize,
    /// Maximum number of bytes that wait to be written because the server does not read. Each message counts 1 KiB more
    /// than its length, for the cost of having it wait.
    pub unread_bytes: usize,
    /// Time for the server to start, including the handshake.
    pub start: Duration,
    /// Time for the server to end by itself once its input is closed. After that it is killed.
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
