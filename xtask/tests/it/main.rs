//! The integration tests of `xtask`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what is wrong by failing, and show what they counted"
)]

mod api;
mod base;
mod bench;
mod ci;
mod circles;
mod docs;
mod expand;
mod hermetic;
mod hidden;
mod light;
mod referee;
mod statements;
mod walk;
