//! Tests of the order rules, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod config;
mod dogwood;
mod lint;
mod naive;
mod properties;
mod prove;
mod random;
mod tests_of_values;
mod worked;
