//! Data on the rules in force, for entries about calls (A2).

use serde_json::{Map, Value, json};

use crate::config::PolicyHash;
use crate::request::audit_queue::data;

/// Returns the gate's version, hashes of the protocol's schema and of the policy, and whether the policy is in shadow mode.
pub(crate) fn stamp(policy: PolicyHash, shadow: bool) -> Map<String, Value> {
    let mut stamp = data(json!({
        "gate": env!("CARGO_PKG_VERSION"),
        "policy": policy,
        "schema": env!("OMEN_SCHEMA_SHA256"),
    }));
    if shadow {
        stamp.insert("shadow".to_owned(), true.into());
    }
    stamp
}
