//! Replacement of the default grants while a gate runs (G1).

use super::grants::{Grants, ReservedGrant};
use super::{Grant, GrantId};
use crate::base::Blocked;

/// Pending change of the default grants. Dropping it leaves them unchanged.
#[derive(Debug)]
pub(crate) struct Replacement {
    grants: Grants,
    kept: Vec<(GrantId, Grant)>,
    pub(crate) added: Vec<ReservedGrant>,
    /// Grants to revoke.
    pub(crate) removed: Vec<GrantId>,
}

impl Grants {
    /// Determines which grants to add and revoke so that these become the default grants. Existing defaults keep their
    /// remaining uses, and revoked ones stay revoked, so reloading a configuration restores nothing.
    ///
    /// # Errors
    /// G1 if there are too many grants.
    pub(crate) fn replace(&self, defaults: &[Grant]) -> Result<Replacement, Blocked> {
        let mut before = self.0.store.lock().defaults.clone();
        let (mut kept, mut added) = (Vec::new(), Vec::new());
        for grant in defaults {
            match before.iter().position(|(_, old)| old == grant) {
                Some(at) => kept.push(before.remove(at)),
                None => added.push(self.reserve(grant.clone())?),
            }
        }
        let removed = before.into_iter().map(|(id, _)| id).collect();
        Ok(Replacement { grants: self.clone(), kept, added, removed })
    }
}

impl Replacement {
    /// Revokes grants that are no longer defaults and returns their ids.
    pub(crate) fn revoke(&self) -> Vec<GrantId> {
        let revoke = |id: &&GrantId| self.grants.revoke_id(**id).is_some();
        self.removed.iter().filter(revoke).copied().collect()
    }

    /// Puts the new grants into force. A grant revoked in the meantime stays revoked.
    pub(crate) fn give(self) -> Vec<GrantId> {
        let Self { grants, mut kept, added, .. } = self;
        kept.extend(added.iter().map(ReservedGrant::given).map(|given| (given.id, given.grant.clone())));
        let given = added.into_iter().filter_map(|reserved| reserved.give().ok()).collect();
        grants.0.store.lock().defaults = kept;
        given
    }
}
