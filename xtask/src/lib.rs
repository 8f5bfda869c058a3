//! What people would else do by hand; `cargo xtask --help` lists it.
//!
//! ```
//! let report = xtask::referee::run(&xtask::referee::Options { count: 20, ..Default::default() })?;
//! assert!(report.disagreements.is_empty());
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! Architecture invariant: nothing that is shipped depends on this package.

pub mod bench;
pub mod ci;
pub mod docs;
pub mod evidence;
pub mod expand;
mod gallery;
pub mod referee;
pub mod rustdoc;
pub mod statements;
pub mod walk;

/// The code of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
