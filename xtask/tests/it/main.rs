//! The integration tests of `xtask`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests report by failing, and print what they counted"
)]

mod api;
mod ci;
mod circles;
mod deny;
mod dispatch;
mod figures;
mod hermetic;
mod light;
mod measured;
mod package;
mod skips;
mod tests;
mod toolchain;
mod type_names;
