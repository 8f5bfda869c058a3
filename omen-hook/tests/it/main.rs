//! Tests of the hooks, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod answers;
mod calls;
mod dialects;
mod episodes;
mod events;
mod mutants;
mod reactions;
mod recorded;
mod samples;
mod trust;
