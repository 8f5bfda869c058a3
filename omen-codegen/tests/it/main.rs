//! Integration tests of this crate, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod additive;
mod determinism;
mod edits;
mod forms;
mod golden;
mod lint;
mod markers;
mod panics;
mod reports;
mod rows;
mod schema_change;
mod setters;
mod typify;
