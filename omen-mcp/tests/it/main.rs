//! Tests of the transports from outside the crate.
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod http;
