//! Generated parts of the docs, a printout of the generated code, and checks of the evidence that the docs name.
//!
//! - [`docs`] fills the generated regions of the pages in `docs/`, from the schema files and the compile-fail cases;
//! - [`evidence`] and [`statements`] look up every file, item, test and example that the pages name;
//! - [`expand`] prints what the build scripts generate;
//! - [`python`] writes the generated files of the Python package.
//!
//! Architecture invariant: nothing that is shipped depends on this package. It depends on no crate above `omen-invariants`, whose
//! rules the Python stubs state, so that generating the docs does not wait for the crates that they describe.

// The build script of the command embeds the same cases.
#[path = "../../omen-cli/build/cases.rs"]
mod cases;
pub mod docs;
pub mod evidence;
pub mod expand;
mod gallery;
mod markdown;
pub mod python;
pub mod statements;
