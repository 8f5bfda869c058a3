//! Tests of the shared types of the tool boundary, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod canonical;
mod names;
mod rfc8785;
