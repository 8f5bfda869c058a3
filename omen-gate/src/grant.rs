//! G1 and G2: grants, checked at authorization and again at dispatch.

pub mod confirm;
pub(crate) mod decision;
mod grants;
mod lease;
mod responder;
mod store;

use std::num::NonZeroU32;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::base::{Blocked, Permission, ToolId};

pub(crate) use confirm::{ConfirmLimits, Nobody};
pub use confirm::{Confirmations, Confirmed, Confirmer};
pub use decision::{Decision, DecisionStage, Outcome, Ruling};
pub use grants::Grants;
pub(crate) use grants::ReservedGrant;
pub use lease::{Lease, Redeemed};
pub use store::MAX_GRANTS;

/// Grant of one permission for one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// Tool that may use the permission.
    pub tool: ToolId,
    /// Granted permission.
    pub permission: Permission,
    /// Origin of the grant.
    pub source: Source,
    /// Time of expiry; there is no grace period (G2).
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub expires: Option<SystemTime>,
    /// Number of calls that the grant allows; `None` for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<NonZeroU32>,
    /// Whether using the grant needs no confirmation (G3).
    pub pre_granted: bool,
}

/// Origin of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Configuration, at start.
    Config,
    /// Operator, at run time.
    Operator,
    /// User whom the agent works for.
    User,
}

/// Id of a grant, unique within a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct GrantId(u64);

/// Grant as it is recorded with its id, by which later decisions refer to it.
#[derive(Debug, Serialize)]
pub(crate) struct GrantRecord<'g> {
    pub(crate) id: GrantId,
    #[serde(flatten)]
    pub(crate) grant: &'g Grant,
}

fn rfc3339<S: serde::Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&crate::base::clock::instant(*time)),
        None => serializer.serialize_none(),
    }
}

/// Pending change of the default grants. Dropping it changes nothing.
#[derive(Debug)]
pub(crate) struct Replacement {
    grants: Grants,
    kept: Vec<(GrantId, Grant)>,
    pub(crate) added: Vec<ReservedGrant>,
    /// Grants to revoke.
    pub(crate) removed: Vec<GrantId>,
}

impl Grants {
    /// Determines which grants to add and revoke so that these are the default grants. Existing defaults keep their
    /// remaining uses and stay revoked if they were, so that reloading a configuration revives nothing.
    ///
    /// # Errors
    /// G1 if there are too many.
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
    /// Revokes grants that are no longer defaults, and returns their ids.
    pub(crate) fn revoke(&self) -> Vec<GrantId> {
        let revoke = |id: &&GrantId| self.grants.revoke_id(**id).is_some();
        self.removed.iter().filter(revoke).copied().collect()
    }

    /// Puts the new grants in force. A grant revoked in the meantime stays revoked.
    pub(crate) fn give(self) -> Vec<GrantId> {
        let Self { grants, mut kept, added, .. } = self;
        kept.extend(added.iter().map(ReservedGrant::given).map(|given| (given.id, given.grant.clone())));
        let given = added.into_iter().filter_map(|reserved| reserved.give().ok()).collect();
        grants.0.store.lock().defaults = kept;
        given
    }
}
