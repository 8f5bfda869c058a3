//! Findings as text: for programs ([`json`]) and, with the feature `render`, for people (`human`).
//!
//! ```
//! use omen::render::json;
//! use omen::{Finding, Sink, Validator, validator::ValidatorOptions};
//!
//! struct Print(Vec<u8>);
//!
//! impl Sink for Print {
//!     type Error = std::io::Error;
//!
//!     fn finding(&mut self, finding: Finding, _line: Option<&str>) -> std::io::Result<()> {
//!         json::finding(&mut self.0, "episode.jsonl", &finding)
//!     }
//! }
//!
//! let mut print = Print(Vec::new());
//! let mut validator = Validator::new(ValidatorOptions::default());
//! validator.feed(b"not JSON\n", &mut print)?;
//! let summary = validator.finish(&mut print)?;
//! json::summary(&mut print.0, 1, &summary)?;
//! assert!(print.0.starts_with(br#"{"file":"episode.jsonl","line":1,"#));
//! # std::io::Result::Ok(())
//! ```
//!
//! Renderers only format: messages are already complete when they are called.

#[cfg(feature = "render")]
mod excerpt;
#[cfg(feature = "render")]
pub mod human;
#[cfg(feature = "render")]
mod indented;
pub mod json;
