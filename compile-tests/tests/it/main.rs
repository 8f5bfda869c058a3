//! Tests of the illegal programs.
#![allow(clippy::print_stdout, reason = "the fixed programs show what they get")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../ui/fixed/mod.rs"]
mod fixed;
mod ui;
