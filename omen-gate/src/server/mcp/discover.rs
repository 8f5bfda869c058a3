//! Tool lists of the servers in a configuration, without a gate.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{Launch, StdioServer};
use crate::base::ServerName;
use crate::call::{Fault, Tool, guarded};
use crate::config::Config;
use crate::server::ToolServer as _;

/// Starts every server in the configuration that has a `command`, asks for its tools, and stops it: all in parallel,
/// and each within `list_timeout_seconds`. No tool is called, and nothing is recorded.
///
/// A server that fails has its fault instead of a list, so it cannot be mistaken for a server without tools. Runs on
/// tokio with time and I/O enabled.
pub async fn discover(config: &Config) -> BTreeMap<ServerName, Result<Vec<Tool>, Fault>> {
    let limit = Duration::from_secs(u64::from(config.limits.list_timeout_seconds));
    let mut asked = JoinSet::new();
    let mut found = BTreeMap::new();
    for (name, server) in &config.servers {
        let Some(command) = &server.command else { continue };
        let (name, launch) = (name.clone(), super::launch(command, &config.limits));
        // A task that does not return leaves its server without a list.
        found.insert(name.clone(), Err(Fault::Panicked));
        asked.spawn(async move { (name, list(launch, limit).await) });
    }
    while let Some(asked) = asked.join_next().await {
        found.extend(asked.ok());
    }
    found
}

async fn list(launch: Launch, limit: Duration) -> Result<Vec<Tool>, Fault> {
    let (server, tools) = guarded(limit, async move {
        let server = StdioServer::start(launch).await?;
        let tools = server.list().await?;
        Ok((server, tools))
    })
    .await?;
    server.stop().await;
    Ok(tools)
}
