//! Evidence that the crates agree with each other, and measurements of their speed.
//!
//! - [`referee`] compares the packet parser with an independent JSON Schema validator on mutated packets;
//! - [`walk`] makes random walks over the typed API, and validates and resumes what it writes;
//! - [`mod@bench`] measures validation, the typed API, the gate and workers, on a corpus generated from a seed.
//!
//! ```
//! let report = omen_proofs::referee::run(&omen_proofs::referee::Options { count: 20, ..Default::default() })?;
//! assert!(report.disagreements.is_empty());
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! Architecture invariant: nothing that is shipped depends on this package.

pub mod bench;
pub mod referee;
pub mod walk;

/// Reason why a measurement or a comparison cannot run.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Compiles the code of the README and the pages: only this package has all crates that they show.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/configuration.md")]
struct Configuration;

#[cfg(doctest)]
#[doc = include_str!("../../docs/gate.md")]
struct Gate;
