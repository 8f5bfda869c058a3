//! Gates that share everything except their servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::ServerName;
use crate::config::Limits;
use crate::grant::{Confirmations, Confirmer};
use crate::request::builder::BuildError;
use crate::request::gate::{Gate, GateParts};
use crate::server::{Discovery, ToolServer};

impl Gate {
    /// Creates another gate over the same state, for a client with its own servers and confirmer. Both share the
    /// configuration in force, the audit log, grants with their remaining uses, revocations, breakers, failure budgets
    /// and the calls in doubt; reloading one reloads both. Turn ids must be unique across both.
    ///
    /// # Errors
    /// If the servers do not match the configuration.
    pub async fn beside(
        &self,
        servers: BTreeMap<ServerName, Arc<dyn ToolServer>>,
        confirmer: Arc<dyn Confirmer>,
    ) -> Result<Self, BuildError> {
        // A reload in progress also sets the limits of the new gate, or has already set them.
        let _reloading = self.0.reloading.lock().await;
        if let Some(unknown) = servers.keys().find(|name| !self.discovery().servers().any(|known| known == *name)) {
            return Err(BuildError::UnknownServer(unknown.clone()));
        }
        if let Some(missing) = self.discovery().servers().find(|name| !servers.contains_key(*name)) {
            return Err(BuildError::NoServer(missing.clone()));
        }
        let limits = self.0.rules.with(|rules| (Limits::clone(&rules.limits), rules.confirm));
        let discovery = Arc::new(Discovery::new(servers, limits.0));
        self.0.discoveries.add(&discovery);
        let confirmations = Confirmations::with_clock(confirmer, Arc::clone(&self.0.clock), limits.1);
        Ok(Self(Arc::new(GateParts { discovery, confirmations, ..GateParts::clone(&self.0) })))
    }
}
