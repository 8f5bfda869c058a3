//! The examples run, and what they write is judged clean.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod agents;
mod twelve_agents;
