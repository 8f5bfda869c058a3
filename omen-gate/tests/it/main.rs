//! The gate's tests, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod catalog;
mod code;
mod conform;
mod output;
mod plan;
mod policy;
mod random;
mod summary;
