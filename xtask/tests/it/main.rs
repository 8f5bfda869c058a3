//! The integration tests of `xtask`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what is wrong by failing, and show what they counted"
)]

mod api;
mod bench;
mod ci;
mod docs;
mod expand;
mod hidden;
mod referee;
mod walk;
