//! Setters generated from the schemas, one for each optional envelope field without a hand-written method, as listed
//! in `setters.json`.

#[allow(unused_imports, clippy::wildcard_imports, reason = "the schemas determine which members have setters")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/setters.rs"));
