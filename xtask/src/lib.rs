//! Commands for contributors; `cargo xtask --help` lists them.
//!
//! Architecture invariant: this package depends on no other package of the workspace, so that `cargo xtask` starts quickly,
//! and nothing that is shipped depends on it.

pub mod ci;
pub mod dispatch;
mod environment;
pub mod figures;
pub mod package;
pub mod python;
pub mod rustdoc;
pub mod tests;
