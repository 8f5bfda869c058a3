//! The integration tests of `omen-proofs`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests report by failing, and print what they counted"
)]

mod base;
mod bench;
mod fuzz;
mod referee;
mod sizes;
mod structured_output;
mod walk;
