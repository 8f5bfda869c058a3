//! Helps of single findings, generated from `helps` in `rules.json`.

include!(concat!(env!("OUT_DIR"), "/helps.rs"));
