//! Tests of the typed API and the validator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test prints what it has counted")]

mod depth;
mod episode;
mod examples;
mod matrix;
mod prelude;
mod rules;
mod time;
mod validator;
mod walks;
