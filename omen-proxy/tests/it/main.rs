//! The proxy and what belongs to it, as a user meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[cfg(unix)]
mod confirm;
