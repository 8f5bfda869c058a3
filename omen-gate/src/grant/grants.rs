//! Where grants are kept, given and taken back.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::decision::{DecisionStage, Ruling};
use super::lease::Lease;
use super::store::{Death, Entry, Shared, dead};
use super::{Given, Grant, GrantId};
use crate::base::{Blocked, GateClock, Permission, Ratchet, ToolId};
use crate::call::Call;

/// The grants of a gate. Clones share them, also across threads.
#[derive(Clone, Debug)]
pub struct Grants(pub(super) Arc<Shared>);

impl Grants {
    /// A store with nothing in it, so that everything is denied. Grants expire by the clock's time of day, or by the time
    /// that has passed if the time of day is set back (D56).
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>) -> Self {
        Self::by(Ratchet::over(clock))
    }

    /// With a clock that is shared.
    pub(crate) fn by(clock: Arc<Ratchet>) -> Self {
        Self(Arc::new(Shared { clock, store: Mutex::default(), revoked: Notify::new() }))
    }

    /// A store with the default grants in it, such as those of a configuration (G1).
    ///
    /// # Errors
    /// If they are more than [`MAX_GRANTS`](super::MAX_GRANTS).
    pub fn with_defaults(
        clock: Arc<dyn GateClock>,
        defaults: impl IntoIterator<Item = Grant>,
    ) -> Result<Self, Blocked> {
        let grants = Self::new(clock);
        defaults.into_iter().try_for_each(|grant| grants.grant(grant).map(drop))?;
        Ok(grants)
    }

    /// Adds a grant. Several for the same tool and permission stand side by side.
    ///
    /// # Errors
    /// If [`MAX_GRANTS`](super::MAX_GRANTS) are in force.
    pub fn grant(&self, grant: Grant) -> Result<GrantId, Blocked> {
        self.reserve(grant)?.give()
    }

    /// A grant that is to be given: so that it can be recorded under its id before it is in force (G4).
    pub(crate) fn reserve(&self, grant: Grant) -> Result<Reserved, Blocked> {
        let id = self.0.lock().add(grant.clone(), self.0.clock.wall())?;
        Ok(Reserved { grants: self.clone(), id, grant })
    }

    /// Revokes all grants of a permission for a tool, and says which they were. It takes effect at once: a call that is
    /// authorized but not yet dispatched is refused, and one that runs is broken off (G2).
    pub fn revoke(&self, tool: &ToolId, permission: Permission) -> Vec<GrantId> {
        let revoke = |entry: &mut Entry| {
            entry.revoked = true;
            entry.id
        };
        let mut store = self.0.lock();
        let revoked = store.of_mut(tool, permission).iter_mut().filter(|entry| !entry.revoked).map(revoke).collect();
        drop(store);
        self.0.revoked.notify_waiters();
        revoked
    }

    /// Revokes all grants of which something holds, and says which they were.
    pub(crate) fn revoke_where(&self, holds: impl Fn(&Grant) -> bool) -> Vec<(GrantId, Grant)> {
        let revoked = self.0.lock().revoke_where(holds);
        self.0.revoked.notify_waiters();
        revoked
    }

    /// Takes uses of grants that were taken before; `spent` says how many of those that are left, which it is given.
    pub(crate) fn spend(&self, spent: impl FnMut(&Grant, u32) -> u32) {
        self.0.lock().spend(spent);
    }

    /// Revokes one grant, and says what it was; nothing if it is not there or already revoked.
    pub fn revoke_id(&self, id: GrantId) -> Option<Grant> {
        let mut store = self.0.lock();
        let entry = store.by_id(id).filter(|entry| !entry.revoked)?;
        entry.revoked = true;
        let grant = entry.grant.clone();
        drop(store);
        self.0.revoked.notify_waiters();
        Some(grant)
    }

    /// Whether everything that the call's tool needs is granted now: the authorization of a call. The lease
    /// is not a permission to run; it must be redeemed at the moment of dispatch.
    pub fn check(&self, call: &Call) -> Ruling<Lease> {
        let picked = self.0.lock().pick(call, self.0.clock.wall());
        let ids = picked.as_ref().map(|picked| picked.iter().map(|pick| pick.id).collect()).unwrap_or_default();
        let lease = picked.map(|picked| Lease::new(Arc::clone(&self.0), call.clone(), picked));
        let needs_confirmation = lease.as_ref().is_ok_and(Lease::needs_confirmation);
        Ruling::new(call, DecisionStage::Authorization, ids, lease).needing_confirmation(needs_confirmation)
    }
}

/// A grant that is not in force yet. Dropped, it never will be.
#[derive(Debug)]
pub(crate) struct Reserved {
    grants: Grants,
    id: GrantId,
    grant: Grant,
}

impl Reserved {
    /// The grant as it is to be recorded.
    pub(crate) fn given(&self) -> Given<'_> {
        Given { id: self.id, grant: &self.grant }
    }

    /// Puts the grant in force.
    ///
    /// # Errors
    /// G2 if it was revoked before it came to that.
    pub(crate) fn give(self) -> Result<GrantId, Blocked> {
        let mut store = self.grants.0.lock();
        match store.by_id(self.id).filter(|entry| !entry.revoked) {
            Some(entry) => entry.given = true,
            None => return Err(dead(&self.grant.tool, self.grant.permission, Some(Death::Revoked))),
        }
        Ok(self.id)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(entry) = self.grants.0.lock().by_id(self.id).filter(|entry| !entry.given) {
            entry.revoked = true;
        }
    }
}
