//! The limits of lists, of all gates that share a state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::config::Limits;
use crate::server::Discovery;

/// What the servers list, of each of the gates that share a state, for as long as it is there.
#[derive(Clone)]
pub(super) struct Discoveries(Arc<Mutex<Vec<Weak<Discovery>>>>);

impl Discoveries {
    pub(super) fn of(discovery: &Arc<Discovery>) -> Self {
        Self(Arc::new(Mutex::new(vec![Arc::downgrade(discovery)])))
    }

    pub(super) fn add(&self, discovery: &Arc<Discovery>) {
        let mut all = self.lock();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(discovery));
    }

    /// Has all of them read lists within other limits.
    pub(super) fn set_limits(&self, limits: &Limits) {
        self.lock().iter().filter_map(Weak::upgrade).for_each(|discovery| discovery.set_limits(limits.clone()));
    }

    /// Each change is a single one.
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Discovery>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
