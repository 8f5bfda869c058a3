//! What shows that the crates agree with each other, and how fast they are.
//!
//! - [`referee`] compares the packet parser with an independent JSON Schema validator on mutated packets;
//! - [`walk`] walks at random over the typed API, and validates and resumes what it writes;
//! - [`mod@bench`] measures validation, the typed API, the gate and workers, on a corpus that a seed makes.
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

/// Why a measurement or a comparison cannot run.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The code of the README and the pages compiles: this is the one package that has every crate which they show.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/configuration.md")]
struct Configuration;

#[cfg(doctest)]
#[doc = include_str!("../../docs/gate.md")]
struct Gate;
