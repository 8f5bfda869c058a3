//! G1 and G2: what is granted, checked when a call is authorized and again when it is dispatched.

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
pub(crate) use grants::Reserved;
pub use lease::{Lease, Redeemed};
pub(crate) use replace::Replacement;
pub use store::MAX_GRANTS;

/// One permission for one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// The tool.
    pub tool: ToolId,
    /// What it may do.
    pub permission: Permission,
    /// Who granted it.
    pub source: Source,
    /// When it expires; there is no grace period (G2).
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "rfc3339")]
    pub expires: Option<SystemTime>,
    /// For how many calls it is good. Without it, for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<NonZeroU32>,
    /// Whether its use needs no confirmation (G3).
    pub pre_granted: bool,
}

/// Who granted something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The configuration, at start.
    Config,
    /// The operator, while running.
    Operator,
    /// The user whom the agent works for.
    User,
}

/// Identifies a grant; never used twice within a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct GrantId(u64);

/// A grant as it is recorded: decisions name grants by their ids alone.
#[derive(Debug, Serialize)]
pub(crate) struct Given<'g> {
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
