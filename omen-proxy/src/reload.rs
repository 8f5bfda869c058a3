//! A configuration that is read again while sessions run.

use std::path::PathBuf;
use std::sync::Arc;

use omen_gate::Gate;
use omen_gate::config::PolicyHash;
use tokio::sync::{mpsc, watch};
use tracing::{error, info};

use crate::shared::Shared;

/// Where the configuration is read again, and when.
pub(crate) struct Reload {
    pub(crate) path: PathBuf,
    pub(crate) when: mpsc::Receiver<()>,
}

/// Reads the configuration again whenever it is asked for.
pub(crate) async fn reload_when(shared: Arc<Shared>, mut reload: Reload) {
    while reload.next(&shared.gate).await.is_some() {
        list_changed(&shared).await;
    }
}

/// Notifies the client whenever another policy is in force.
pub(crate) async fn notify_when(shared: Arc<Shared>, mut policy: watch::Receiver<PolicyHash>) {
    while policy.changed().await.is_ok() {
        list_changed(&shared).await;
    }
    std::future::pending().await
}

async fn list_changed(shared: &Shared) {
    if shared.session.has_handshake() {
        shared.downstream.send(LIST_CHANGED).await;
    }
}

impl Reload {
    /// Puts what the file has in force, whole or not at all, whenever it is asked for. Gives the next policy that is
    /// another one.
    pub(crate) async fn next(&mut self, gate: &Gate) -> Option<PolicyHash> {
        loop {
            self.when.recv().await?;
            match gate.reload_file(&self.path).await {
                Ok(reloaded) if reloaded.before == reloaded.policy => info!("the configuration has not changed"),
                Ok(reloaded) => {
                    info!("the configuration is in force anew, as {}", reloaded.policy);
                    return Some(reloaded.policy);
                }
                Err(error) => error!("the configuration is as it was: {error}"),
            }
        }
    }
}

/// Notifies a client that the list of tools has changed.
pub(crate) const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
