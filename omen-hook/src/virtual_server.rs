//! An agent's tools as a server behind the gate: a call is handed over to the agent, which runs it.

use std::sync::Arc;

use async_trait::async_trait;
use omen_gate::Fault;
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use tokio::sync::{mpsc, watch};

/// Server whose calls are run by the agent. They are handed over only after their intent has been recorded in the audit log.
#[derive(Clone, Debug)]
pub(crate) struct VirtualServer {
    pub(crate) tools: Arc<[Tool]>,
    pub(crate) handed_over: mpsc::UnboundedSender<()>,
    /// Whether calls already handed over are withdrawn, because another call of the same event was refused.
    pub(crate) withdrawn: watch::Receiver<bool>,
}

#[async_trait]
impl ToolServer for VirtualServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.tools.to_vec())
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        let _ = self.handed_over.send(());
        let mut withdrawn = self.withdrawn.clone();
        match withdrawn.wait_for(|is_withdrawn| *is_withdrawn).await {
            Ok(_) => Err(Fault::unreachable("another call of the same event was refused, so the agent is denied both")),
            Err(_) => Err(Fault::Cancelled),
        }
    }
}
