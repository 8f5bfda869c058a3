//! The integration tests of `xtask`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what is wrong by failing, and show what they counted"
)]

mod api;
mod ci;
mod circles;
mod dispatch;
mod hermetic;
mod light;
