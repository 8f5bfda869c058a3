//! Reloading of the configuration while sessions run.

use std::path::PathBuf;

use omen_gate::Gate;
use omen_gate::config::PolicyHash;
use tokio::sync::mpsc;
use tracing::{error, info};

/// File of the configuration, and signal to reload it.
pub(crate) struct Reload {
    pub(crate) path: PathBuf,
    pub(crate) when: mpsc::Receiver<()>,
}

impl Reload {
    /// Reloads the file, as a whole or not at all, whenever requested. Returns the next policy that differs from the
    /// current one.
    pub(crate) async fn next(&mut self, gate: &Gate) -> Option<PolicyHash> {
        loop {
            self.when.recv().await?;
            match gate.reload_file(&self.path).await {
                Ok(reloaded) if reloaded.before == reloaded.policy => info!("the configuration has not changed"),
                Ok(reloaded) => {
                    info!("the configuration was reloaded, as {}", reloaded.policy);
                    return Some(reloaded.policy);
                }
                Err(error) => error!("the previous configuration stays in force: {error}"),
            }
        }
    }
}
