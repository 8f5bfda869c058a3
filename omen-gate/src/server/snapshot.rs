//! Snapshot of the tools of all servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ToolServer;
use crate::base::ServerName;
use crate::call::{Fault, Tool};

/// Error of a server that does not list its tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{server}` does not list its tools: {fault}")]
pub struct Unlisted {
    /// Failing server.
    pub server: ServerName,
    /// Fault of the server.
    #[source]
    pub fault: Fault,
}

/// Asks every server for its tools, one after the other. As JSON, the result is a catalogue: `{"server": [tool, …]}`.
///
/// # Errors
/// At the first server that does not list its tools. A catalogue with a gap would look like a server without tools.
pub async fn snapshot(
    servers: &BTreeMap<ServerName, Arc<dyn ToolServer>>,
) -> Result<BTreeMap<ServerName, Vec<Tool>>, Unlisted> {
    let mut catalogue = BTreeMap::new();
    for (server, tools) in servers {
        let tools = tools.list().await.map_err(|fault| Unlisted { server: server.clone(), fault })?;
        catalogue.insert(server.clone(), tools);
    }
    Ok(catalogue)
}
