//! The integration tests of `omen-pages`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests report by failing, and print what they counted"
)]

mod compile_errors;
mod docs;
mod expand;
mod hidden;
mod links;
mod statements;
mod words;
