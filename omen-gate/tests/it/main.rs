//! The gate's tests, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[cfg(unix)]
mod mcp;
mod server;
