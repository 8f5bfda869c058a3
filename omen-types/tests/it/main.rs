//! Integration tests of `omen-types`, in one binary.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests say what is wrong by failing"
)]

mod branches;
mod builders;
mod checked;
mod constraints;
mod errors;
mod examples;
mod form;
mod limits;
mod metadata;
mod missing;
mod order;
mod packets;
mod placeholder;
mod scalars;
#[cfg(feature = "schemars")]
mod schemars;
mod strict;
mod time;
