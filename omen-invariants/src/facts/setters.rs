//! Generated from the schemas: a setter for each optional member of the envelope that nothing here sets by hand, as
//! `setters.json` has it.

#[allow(unused_imports, clippy::wildcard_imports, reason = "which members have setters, the schemas say")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/setters.rs"));
