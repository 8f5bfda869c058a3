//! Tests of the validator and the command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

mod agents;
mod cli;
mod episode;
mod examples;
mod governed;
mod matrix;
#[path = "../ui/mended/mod.rs"]
mod mended;
mod prelude;
mod rules;
mod twelve_agents;
mod ui;
mod validator;
