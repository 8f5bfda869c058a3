//! What most programs need: `use omen::prelude::*;`.

pub use omen_types::packet::*;
pub use omen_types::{Checked, Code, Diagnostic, Instant, Invalid, Metadata, Severity};

pub use crate::finding::{Finding, Stage};
pub use crate::validator::{Level, Levels, Options, Sink, Step, Summary, Validator};
