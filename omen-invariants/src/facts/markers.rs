//! Markers and predicates, generated from the schemas, `facts.json` and `rules.json`.

use super::rank::Place;
use super::{listed, sealed};

include!(concat!(env!("OUT_DIR"), "/facts.rs"));
include!(concat!(env!("OUT_DIR"), "/predicates.rs"));
