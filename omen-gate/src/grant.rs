//! G1 and G2: grants, checked at authorization and again at dispatch.

pub mod confirm;
pub(crate) mod decision;
mod grants;
mod lease;
mod replace;
mod responder;
mod store;

use std::num::NonZeroU32;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::base::{Permission, ToolId};

pub(crate) use confirm::{ConfirmLimits, Nobody};
pub use confirm::{Confirmations, Confirmed, Confirmer};
pub use decision::{Decision, DecisionStage, Outcome, Ruling};
pub use grants::Grants;
pub(crate) use grants::ReservedGrant;
pub use lease::{Lease, Redeemed};
pub(crate) use replace::Replacement;
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
    /// Expiry time; there is no grace period (G2).
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub expires: Option<SystemTime>,
    /// Number of calls that the grant allows; `None` means any number.
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
    /// Configuration, at startup.
    Config,
    /// Operator, at run time.
    Operator,
    /// User for whom the agent works.
    User,
}

/// Grant id, unique within a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct GrantId(u64);

/// Grant as recorded, with the id by which later decisions refer to it.
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
