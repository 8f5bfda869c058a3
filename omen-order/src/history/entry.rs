//! Log records for the order rules: members of its entries, from which the state is restored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CallId;
use crate::rules::{ContentId, Tool};
use crate::values::Key;

/// Member `order` of an intent, a refusal or an outcome: what rules need to know about the call. It never contains arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMember {
    /// Number of the request. An outcome has that of its intent.
    pub arrival: u64,
    /// Time of the request in milliseconds since 1970, unless it is the time of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<i64>,
    /// Tests that the call fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<ContentId>,
    /// Tests that cannot be decided, and unknown members and amounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<ContentId>,
    /// Members and amounts that cannot be compared or added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomparable: Vec<ContentId>,
    /// Keys of members.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<ContentId, Key>,
    /// Amounts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<ContentId, u64>,
    /// Time in milliseconds that the call waited.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// Log entries of the premises on which the call rests.
    #[serde(rename = "for", default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// End of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Answered without an error.
    Ok,
    /// Answered with an error, or failed in a known way.
    Failed,
    /// May have run: there is no outcome, or it does not say.
    MayHaveRun,
    /// Did not run.
    DidNotRun,
}

/// Meaning of a log entry for the order rules. A log replays entries in the order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// Rules came into force.
    Rules {
        /// Contents that they read of calls.
        contents: Vec<ContentId>,
    },
    /// Intent of a call.
    Made {
        /// Tool.
        tool: Tool,
        /// Session; a turn without one is its own session.
        session: String,
        /// Turn.
        turn: String,
        /// Whether a human confirmed the call.
        #[serde(default)]
        confirmed: bool,
        /// Known facts about the call.
        #[serde(flatten)]
        order: OrderMember,
    },
    /// Refusal of a call.
    Refused {
        /// Tool.
        tool: Tool,
        /// Session.
        session: String,
        /// Turn.
        turn: String,
        /// Known facts about the call.
        #[serde(flatten)]
        order: OrderMember,
    },
    /// Outcome of a call.
    Ended {
        /// End.
        end: Ended,
        /// Known facts about the answer.
        #[serde(flatten)]
        order: OrderMember,
    },
    /// Finding about a call: the rule whose debt is closed.
    Found {
        /// Call that opened the debt.
        opener: CallId,
        /// Content of the rule.
        rule: ContentId,
    },
    /// Beginning of a session, at its first call.
    SessionBegan {
        /// Session.
        session: String,
        /// Whether it belongs to a client, so that it cannot outlive the gate.
        #[serde(default)]
        client: bool,
    },
    /// End of a session.
    SessionEnded {
        /// Session.
        session: String,
    },
}
