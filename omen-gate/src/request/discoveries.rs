//! Limits on tool lists, for all gates that share a state.

use std::sync::{Arc, Weak};

use omen_base::Mutex;

use crate::config::Limits;
use crate::server::Discovery;

/// Discoveries of all existing gates that share a state.
#[derive(Clone)]
pub(super) struct Discoveries(Arc<Mutex<Vec<Weak<Discovery>>>>);

impl Discoveries {
    pub(super) fn new(discovery: &Arc<Discovery>) -> Self {
        Self(Arc::new(Mutex::new(vec![Arc::downgrade(discovery)])))
    }

    pub(super) fn add(&self, discovery: &Arc<Discovery>) {
        let mut all = self.0.lock();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(discovery));
    }

    /// Sets the limits for reading lists on all discoveries.
    pub(super) fn set_limits(&self, limits: &Limits) {
        self.0.lock().iter().filter_map(Weak::upgrade).for_each(|discovery| discovery.set_limits(limits.clone()));
    }
}
