//! The examples run, and their logs are accepted without a finding.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test prints what it has counted")]

mod agents;
mod twelve_agents;
