//! Generated from the schemas: a setter for each optional member that no method here sets by hand, as
//! `setters.json` has it.

#[allow(clippy::wildcard_imports, reason = "which types the members have, the schemas say")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/setters.rs"));
