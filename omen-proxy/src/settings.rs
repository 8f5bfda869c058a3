//! Settings of all sessions of a proxy.

use std::sync::Arc;
use std::time::Duration;

use omen_gate::confirm::{Confirmer, Nobody};
use omen_gate::{Config, GateClock};

use crate::messages::Passages;

/// Settings of all sessions of a proxy.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) confirmer: Arc<dyn Confirmer>,
    /// Minimum time for a human's answer, if the client may ask its user; anything faster does not count.
    pub(crate) elicitation: Option<Duration>,
    pub(crate) passages: Passages,
    pub(crate) show_blocked: bool,
    pub(crate) show_order: bool,
    /// Time that running work may continue when a session ends.
    pub(crate) drain: Duration,
    pub(crate) clock: Option<Arc<dyn GateClock>>,
}

impl Settings {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            confirmer: Arc::new(Nobody),
            elicitation: None,
            passages: Passages::default(),
            show_blocked: false,
            show_order: false,
            drain: Duration::from_secs(2),
            clock: None,
        }
    }
}
