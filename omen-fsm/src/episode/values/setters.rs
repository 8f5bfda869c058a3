//! Setters generated from the schemas, one for each optional field without a hand-written method, as listed in `setters.json`.

#[allow(clippy::wildcard_imports, reason = "the schemas determine the types of the members")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/setters.rs"));
