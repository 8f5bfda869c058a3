//! OMEN for agents and auditors.
//!
//! Architecture invariant: nothing here judges a packet; it brings the judges of the crates to the
//! left together and shows what they say.

pub mod finding;
pub mod prelude;
pub mod render;
pub mod validator;

pub use finding::{Finding, Stage};
pub use omen_types::{Code, Diagnostic, Instant, Severity};
pub use validator::{Options, Sink, Summary, Validator};
