//! Other default grants while a gate runs (G1).

use super::grants::{Grants, Reserved};
use super::{Grant, GrantId};
use crate::base::Blocked;

/// What is to change, and nothing of it is in force yet. Dropped, nothing changes.
#[derive(Debug)]
pub(crate) struct Replacement {
    grants: Grants,
    kept: Vec<(GrantId, Grant)>,
    added: Vec<Reserved>,
    removed: Vec<GrantId>,
}

impl Grants {
    /// Finds out what has to be given and revoked so that these are the default grants. Those that are there already stay as
    /// they are: with the uses that are left, and revoked if they were, so that reading a configuration again revives
    /// nothing.
    ///
    /// # Errors
    /// G1 if there is no room for them.
    pub(crate) fn replace(&self, defaults: &[Grant]) -> Result<Replacement, Blocked> {
        let mut before = self.0.lock().defaults.clone();
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
    /// The grants that are to be given.
    pub(crate) fn added(&self) -> &[Reserved] {
        &self.added
    }

    /// The grants that are to be revoked.
    pub(crate) fn removed(&self) -> &[GrantId] {
        &self.removed
    }

    /// Revokes what is not a default grant any more, and says what it was.
    pub(crate) fn revoke(&self) -> Vec<GrantId> {
        let revoke = |id: &&GrantId| self.grants.revoke_id(**id).is_some();
        self.removed.iter().filter(revoke).copied().collect()
    }

    /// Gives what is new. What was revoked in the meantime stays so.
    pub(crate) fn give(self) -> Vec<GrantId> {
        let Self { grants, mut kept, added, .. } = self;
        kept.extend(added.iter().map(Reserved::given).map(|given| (given.id, given.grant.clone())));
        let given = added.into_iter().filter_map(|reserved| reserved.give().ok()).collect();
        grants.0.lock().defaults = kept;
        given
    }
}
