//! What the tool boundary shares, one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod canonical;
mod names;
mod rfc8785;
