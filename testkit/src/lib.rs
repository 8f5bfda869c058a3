//! What the tests of several packages share.
#![allow(clippy::panic, reason = "tests fail by panics")]

pub mod proofs;
