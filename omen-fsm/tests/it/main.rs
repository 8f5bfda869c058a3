//! Tests of the state machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod examples;
mod exhaustive;
mod findings;
mod origins;
mod own_limit;
mod own_words;
mod packed;
mod provenance;
mod rule_files;
mod simple;
mod table;
