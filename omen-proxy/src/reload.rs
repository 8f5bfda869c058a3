//! A configuration that is read again while sessions run.

use std::path::PathBuf;

use omen_gate::Gate;
use omen_gate::config::PolicyHash;
use tokio::sync::mpsc;
use tracing::{error, info};

/// Where the configuration is read again, and when.
pub(crate) struct Reload {
    pub(crate) path: PathBuf,
    pub(crate) when: mpsc::Receiver<()>,
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
