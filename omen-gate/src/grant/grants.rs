//! Grants of a gate, a handle that all clones share: adding, checking and revoking them in the [store](super::store).

use std::sync::Arc;

use tokio::sync::Notify;

use super::decision::{DecisionStage, Ruling};
use super::lease::Lease;
use super::store::{Death, SharedStore, StoredGrant, dead};
use super::{Grant, GrantId, GrantRecord};
use crate::base::{Blocked, GateClock, Permission, Ratchet, ToolId};
use crate::call::Call;

/// Grants of a gate. Clones share them, even across threads.
#[derive(Clone, Debug)]
pub struct Grants(pub(super) Arc<SharedStore>);

impl Grants {
    /// Creates an empty store, which denies everything. Grants expire by the clock's time of day, or by elapsed time if
    /// the time of day is set back (D56).
    #[must_use]
    pub fn new(clock: Arc<dyn GateClock>) -> Self {
        Self::with_clock(Ratchet::over(clock))
    }

    /// Creates an empty store with a shared clock.
    pub(crate) fn with_clock(clock: Arc<Ratchet>) -> Self {
        Self(Arc::new(SharedStore { clock, store: Default::default(), revoked: Notify::new() }))
    }

    /// Creates a store with default grants, such as those in a configuration (G1).
    ///
    /// # Errors
    /// If there are more than [`MAX_GRANTS`](super::MAX_GRANTS) grants.
    pub fn with_defaults(
        clock: Arc<dyn GateClock>,
        defaults: impl IntoIterator<Item = Grant>,
    ) -> Result<Self, Blocked> {
        let grants = Self::new(clock);
        defaults.into_iter().try_for_each(|grant| grants.grant(grant).map(drop))?;
        Ok(grants)
    }

    /// Adds a grant. A tool may have several grants of one permission.
    ///
    /// # Errors
    /// If [`MAX_GRANTS`](super::MAX_GRANTS) grants are in force.
    pub fn grant(&self, grant: Grant) -> Result<GrantId, Blocked> {
        self.reserve(grant)?.give()
    }

    /// Reserves an id for a grant, so that the grant can be recorded before it is in force (G4).
    pub(crate) fn reserve(&self, grant: Grant) -> Result<ReservedGrant, Blocked> {
        let id = self.0.store.lock().add(grant.clone(), self.0.clock.wall())?;
        Ok(ReservedGrant { grants: self.clone(), id, grant })
    }

    /// Revokes all grants of a permission for a tool and returns their ids. This takes effect immediately: a call that
    /// is authorized but not yet dispatched is refused, and a running call is cancelled (G2).
    pub fn revoke(&self, tool: &ToolId, permission: Permission) -> Vec<GrantId> {
        let revoke = |entry: &mut StoredGrant| {
            entry.revoked = true;
            entry.id
        };
        let mut store = self.0.store.lock();
        let revoked = store.of_mut(tool, permission).iter_mut().filter(|entry| !entry.revoked).map(revoke).collect();
        drop(store);
        self.0.revoked.notify_waiters();
        revoked
    }

    /// Revokes all grants that satisfy a predicate and returns them.
    pub(crate) fn revoke_where(&self, holds: impl Fn(&Grant) -> bool) -> Vec<(GrantId, Grant)> {
        let revoked = self.0.store.lock().revoke_where(holds);
        self.0.revoked.notify_waiters();
        revoked
    }

    /// Re-applies uses recorded before a restart; `spent` maps the remaining uses of a grant to those already spent.
    pub(crate) fn spend(&self, spent: impl FnMut(&Grant, u32) -> u32) {
        self.0.store.lock().spend(spent);
    }

    /// Revokes one grant and returns it; `None` if it does not exist or has already been revoked.
    pub fn revoke_id(&self, id: GrantId) -> Option<Grant> {
        let mut store = self.0.store.lock();
        let entry = store.by_id(id).filter(|entry| !entry.revoked)?;
        entry.revoked = true;
        let grant = entry.grant.clone();
        drop(store);
        self.0.revoked.notify_waiters();
        Some(grant)
    }

    /// Authorizes a call: checks that everything its tool needs is granted now. The lease does not permit the call to
    /// run; it must be redeemed at dispatch.
    pub fn check(&self, call: &Call) -> Ruling<Lease> {
        let picked = self.0.store.lock().pick(call, self.0.clock.wall());
        let ids = picked.as_ref().map(|picked| picked.iter().map(|pick| pick.id).collect()).unwrap_or_default();
        let lease = picked.map(|picked| Lease::new(Arc::clone(&self.0), call.clone(), picked));
        let needs_confirmation = lease.as_ref().is_ok_and(Lease::needs_confirmation);
        Ruling::new(call, DecisionStage::Authorization, ids, lease).needing_confirmation(needs_confirmation)
    }
}

/// Grant that is not yet in force. Dropping it discards the grant.
#[derive(Debug)]
pub(crate) struct ReservedGrant {
    grants: Grants,
    id: GrantId,
    grant: Grant,
}

impl ReservedGrant {
    pub(crate) fn given(&self) -> GrantRecord<'_> {
        GrantRecord { id: self.id, grant: &self.grant }
    }

    /// Puts the grant into force.
    ///
    /// # Errors
    /// G2 if the grant was revoked in the meantime.
    pub(crate) fn give(self) -> Result<GrantId, Blocked> {
        let mut store = self.grants.0.store.lock();
        match store.by_id(self.id).filter(|entry| !entry.revoked) {
            Some(entry) => entry.given = true,
            None => return Err(dead(&self.grant.tool, self.grant.permission, Some(Death::Revoked))),
        }
        Ok(self.id)
    }
}

impl Drop for ReservedGrant {
    fn drop(&mut self) {
        if let Some(entry) = self.grants.0.store.lock().by_id(self.id).filter(|entry| !entry.given) {
            entry.revoked = true;
        }
    }
}
