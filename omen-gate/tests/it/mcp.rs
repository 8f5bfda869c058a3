//! Tool servers that are child processes. They are started through a shell, hence the `cfg(unix)`.

mod again;
mod behind_a_gate;
mod config_store;
mod faults;
mod gated;
#[cfg(target_os = "linux")]
mod guard;
mod hostile;
mod life;
mod npm;
mod processes;
mod revival;

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::{Launch, ServerLimits, StdioServer};
use omen_gate::server::ToolServer as _;
use omen_gate::tool::Answer;
use serde_json::Value;

use crate::support::unguarded;

/// Fails a test that hangs. No test depends on timing.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("this hangs")
}

/// Waits until a condition holds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(60), async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("this never comes about: {what}"));
}

async fn start(launch: Launch) -> StdioServer {
    within(StdioServer::start(launch)).await.unwrap()
}

async fn call(server: &StdioServer, tool: &str, args: Value) -> Result<Answer, Fault> {
    within(server.call(unguarded(tool, args))).await
}

/// Limits that a test reaches soon, with enough time for a machine under load.
fn limits() -> ServerLimits {
    ServerLimits {
        line_bytes: 1 << 20,
        start: Duration::from_secs(60),
        stop: Duration::from_secs(60),
        ..ServerLimits::default()
    }
}
