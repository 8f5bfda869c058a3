//! Fuzz targets: each function accepts any bytes, and panics if a property does not hold.
//!
//! - [`parse`]: one line. The parser agrees with the walk that explains errors, with the packet as a value, and with `serde_json`.
//! - [`validator`]: a whole log. Chunks, threads and rejected packets change no finding.
//! - [`propose`]: proposals of a model. The log of the episode is legal, also when it is dropped.
//! - [`resume`]: an episode that is resumed in the middle of its log continues like one that was never interrupted.
//!
//! The tests of `proofs` run the same functions on the corpus, which is why this file is a module there. For all but `parse`, the input is a
//! [script](script).

pub mod inputs;
mod parse;
mod propose;
mod resume;
pub mod script;
mod strict;
mod validator;
mod world;

pub use parse::parse;
pub use propose::propose;
pub use resume::resume;
pub use validator::validator;
