//! What an entry about a call says of the rules that the call was judged by (A2).

use serde_json::{Map, Value, json};

use crate::config::PolicyHash;
use crate::request::audit_queue::data;

/// The version of the gate, and the hashes of the protocol's schema and of the policy; and whether that is only tried.
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
